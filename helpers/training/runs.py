"""A long training as it was asked for, and its folder: how it stands, how that is kept.

`helpers.training.train` does the training.
"""

import argparse
import errno
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from helpers.agents import checkpoint
from helpers.agents.base import Agent
from helpers.evaluation import Evaluation
from helpers.training.asked import ask, lessons_own
from helpers.training.callbacks import Evaluate
from helpers.training.results import write_json
from helpers.training.settings import Setting
from helpers.training.study import circumstances

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)  # some network folders
STOPPED = 130  # the exit status after Ctrl-C
EVALUATE_EVERY = 5000  # steps, as the authors of TD3 do; more often where training is short


# ---- what is asked for ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """One training, as a command line asks for it."""

    setting: Setting
    seed: int
    out: Path
    every: int
    episodes: int
    minutes: float
    command: str


def make_plan(options: argparse.Namespace, seed: int, command: str) -> Plan:
    """Raises `ValueError` for what cannot be."""
    setting = ask(options)
    every = options.evaluate_every or EVALUATE_EVERY
    own = lessons_own(setting.algorithm, setting.env_id)
    if own and not options.evaluate_every:
        every = min(every, max(1, own.steps // 20))
    out = options.out
    if out is None:
        out = Path("runs") / f"{setting.algorithm}_{setting.env_id}_{seed}".replace("/", "_")
    elif options.seeds is not None:
        out = out / f"seed_{seed}"
    return Plan(setting, seed, out, every, options.episodes, options.checkpoint_minutes, command)


# ---- what is written -----------------------------------------------------------------------------


class Run:
    """A training and its folder: how it stands, and how that is written and read."""

    def __init__(self, plan: Plan, agent: Agent) -> None:
        self.plan, self.agent = plan, agent
        # All that two trainings must have in common so that one can go on as the other.
        self.settings = {
            "algorithm": plan.setting.algorithm,
            "environment": plan.setting.env_id,
            "evaluate-every": plan.every,
            "episodes": plan.episodes,
            **checkpoint.plain_hyperparameters(agent),
        }
        self.evaluations = Evaluate(plan.every, plan.episodes)
        self.seconds_before = 0.0
        self.began: float | None = None
        self.kept = agent.steps  # the step of the last checkpoint
        self.best_step: int | None = None  # of the agent in best.pt
        self.checkpoint, self.best, self.curve = (
            plan.out / name for name in ("checkpoint.pt", "best.pt", "evaluations.json")
        )

    @property
    def seconds(self) -> float:
        """How long this training has taken, over all times that it was begun."""
        now = 0.0 if self.began is None else time.monotonic() - self.began
        return self.seconds_before + now

    # The checkpoint

    def save(self) -> None:
        """Write all that training needs. Raises `OSError`; the old checkpoint is then kept."""
        best = self.evaluations.best
        evaluations = {
            "curve": curve_rows(self.evaluations),
            "best": best[0] if best else None,
            "best_contents": self.evaluations.best_contents,
        }
        state = {"settings": self.settings, "seconds": self.seconds, "evaluations": evaluations}
        content = checkpoint.contents(self.agent, replay=True) | {"run": state}
        checkpoint.write(self.checkpoint, content)
        self.kept = self.agent.steps

    def resume(self) -> None:
        """Go on from the checkpoint. Raises `ValueError` if it is another training's, or damaged.

        What the folder holds of later evaluations, they will come again, is forgotten.
        """
        try:
            content = checkpoint.read(self.checkpoint)
            if "run" not in content:
                raise ValueError("it holds an agent and no training")
            agent = checkpoint.agent_from(
                self.plan.setting.kind, content, self.plan.setting.env_id, self.checkpoint,
                {"device": self.agent.device},
            )  # fmt: skip
            # Settings that are newer than the file are the agent's defaults.
            there = content["run"]["settings"] | checkpoint.plain_hyperparameters(agent)
            restore_evaluations(self.evaluations, content["run"]["evaluations"])
            self.seconds_before = float(content["run"]["seconds"])
        except Exception as error:  # what a damaged file holds may fail in any way
            reason = textwrap.shorten(str(error).rstrip("."), 200, placeholder=" ...")
            raise ValueError(
                f"No training can go on from {self.checkpoint} ({reason}): choose another --out."
            ) from error
        differences = "; ".join(
            f"{name} is {there.get(name)} there, {here} here"
            for name, here in self.settings.items()
            if there.get(name) != here
        )
        if differences:
            raise ValueError(
                f"{self.plan.out} holds a training with other settings ({differences}): give it "
                "the same ones, or choose another --out."
            )
        self.agent, self.kept = agent, agent.steps
        self.write_results()

    # The results

    def write_results(self) -> None:
        """Bring best.pt and evaluations.json to where the evaluations are. Raises `OSError`."""
        best, contents = self.evaluations.best, self.evaluations.best_contents
        if best is None or contents is None:
            self.best.unlink(missing_ok=True)
        elif best[0] != self.best_step:
            checkpoint.write(self.best, contents)
            self.best_step = best[0]
        record = {**self.record(), "curve": curve_rows(self.evaluations)}
        write_json(self.curve, record, rows="curve")

    def record(self) -> dict[str, Any]:
        """What one needs to know to train it again, and how far it is."""
        plan, best = self.plan, self.evaluations.best
        return {
            "command": plan.command,
            "settings": self.settings,
            "steps": self.agent.steps,
            "seconds": round(self.seconds, 1),
            "best": {"step": best[0], "mean": best[1].mean} if best else None,
            "evaluation": {"episodes": plan.episodes, "seed": self.evaluations.seed},
            **circumstances("mujoco"),
        }


def restore_evaluations(evaluations: Evaluate, state: dict[str, Any]) -> None:
    for row in state["curve"]:
        each = Evaluation(np.array(row["returns"], float), np.array(row["lengths"], int))
        evaluations.curve.append((row["step"], each))
        if row["step"] == state["best"]:
            evaluations.best = evaluations.curve[-1]
    evaluations.best_contents = state["best_contents"]


def curve_rows(evaluations: Evaluate) -> list[dict[str, Any]]:
    return [
        {
            "step": step,
            "mean": each.mean,
            "std": each.std,
            "returns": each.returns.tolist(),
            "lengths": each.lengths.tolist(),
        }
        for step, each in evaluations.curve
    ]


# ---- whose folder it is --------------------------------------------------------------------------


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Make the folder ours as long as this process lives. Raises `ValueError` if it is another's.

    A training that was stopped with `kill -9` may have left a child that still trains: two would
    mix their files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Not the soft kind, whose file would outlive a `kill -9` and keep its own training out.
    lock = FileLock(folder / "lock", timeout=0, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise ValueError(
            f"Another process is training in {folder}: wait for it, stop it, or choose another "
            "--out."
        ) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    try:
        yield
    finally:
        lock.release()
