"""Train for as long as it takes: progress, evaluations, checkpoints; the same command goes on.

`python course.py train td3 Walker2d-v5 --steps 1000000 --seed 0 --out runs/walker`

In the folder of `--out`: `checkpoint.pt` (the whole state of training, replay memory included),
`best.pt` (the agent of the best evaluation), `evaluations.json` (the curve) and, where it is
installed, logs for TensorBoard. The checkpoint alone says how far the training is, and holds the
evaluations up to there; the other files are written anew from it when training goes on.
"""

import argparse
import ast
import json
import os
import shlex
import shutil
import signal
import sys
import textwrap
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any

import gymnasium as gym
import numpy as np

import helpers.agents
from helpers.agents import checkpoint
from helpers.agents.base import Agent
from helpers.callbacks import CallbackList, Checkpoint, Evaluate, TensorBoard
from helpers.envs import one_line
from helpers.evaluation import Evaluation
from helpers.noise import KINDS as NOISES
from helpers.settings import LONG, MUJOCO, SETTINGS, Setting
from helpers.study import Parser, circumstances

ALGORITHMS = {"a2c": "A2C", "a2c-by-the-book": "A2CByTheBook", "ddpg": "DDPG", "td3": "TD3"}
EVALUATE_EVERY = 5000  # steps, as the authors of TD3 do; more often where training is short
STOPPED = 130  # the exit status after Ctrl-C


# ---- what is asked for ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """One command line, understood."""

    algorithm: str
    env_id: str
    steps: int
    seed: int
    out: Path
    params: dict[str, Any]
    every: int
    episodes: int
    minutes: float

    @property
    def kind(self) -> type[Agent]:
        return getattr(helpers.agents, ALGORITHMS[self.algorithm])

    def make(self) -> Agent:
        """The untrained agent. Raises `ValueError` for settings that it cannot take."""
        known = self.kind(self.env_id, seed=self.seed).hyperparameters.keys() - {"seed"}
        for name in self.params.keys() - known:
            raise ValueError(
                f"{self.algorithm} has no setting '{name}'; there are: {', '.join(sorted(known))}."
            )
        try:
            return self.kind(self.env_id, seed=self.seed, **self.params)
        except Exception as error:  # a setting of the wrong kind may fail in any way
            raise ValueError(
                f"{self.algorithm} cannot take these settings ({one_line(error)})."
            ) from error

    def settings(self, agent: Agent) -> dict[str, Any]:
        """All that two trainings must have in common so that one can go on as the other."""
        return {
            "algorithm": self.algorithm,
            "environment": self.env_id,
            "evaluate-every": self.every,
            "episodes": self.episodes,
            **checkpoint.plain_hyperparameters(agent),
        }


def make_plan(options: argparse.Namespace) -> Plan:
    """Raises `ValueError` for what cannot be."""
    algorithm, env_id = options.algorithm, options.environment
    if algorithm not in ALGORITHMS:
        raise ValueError(f"There is no '{algorithm}' to train; there are: {', '.join(ALGORITHMS)}.")
    setting = find_setting(algorithm, env_id)
    steps = options.steps or (setting.steps if setting else None)
    if steps is None:
        raise ValueError(f"No lesson says how long to train on {env_id}: add --steps 100000.")
    every = options.evaluate_every or EVALUATE_EVERY
    if setting and not options.evaluate_every:
        every = min(every, max(1, setting.steps // 20))
    params = setting.params if setting else usual_params(algorithm, env_id)
    out = options.out or Path("runs") / f"{algorithm}_{env_id}_{options.seed}".replace("/", "_")
    for name in ("steps", "evaluate_every", "episodes", "checkpoint_minutes"):
        value = getattr(options, name)
        if value is not None and not value > 0:
            raise ValueError(f"--{name.replace('_', '-')} must be above 0, it cannot be {value}.")
    return Plan(
        algorithm, env_id, steps, options.seed, out, params | parse_settings(options.set),
        every, options.episodes, options.checkpoint_minutes,
    )  # fmt: skip


def find_setting(algorithm: str, env_id: str) -> Setting | None:
    """What a lesson trains so, if one does."""
    return (SETTINGS | LONG).get((algorithm, env_id))


def usual_params(algorithm: str, env_id: str) -> dict[str, Any]:
    """What to begin with where no lesson says it: an agent's defaults, or those for robots."""
    spec = gym.registry.get(env_id)
    is_robot = spec is not None and "mujoco" in str(spec.entry_point)
    return MUJOCO if is_robot and algorithm in ("ddpg", "td3") else {}


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """['tau=0.01', 'noise=OUNoise(0.3)'] -> {'tau': 0.01, 'noise': OUNoise(sigma=0.3)}."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier() or name in ("env", "seed"):
            raise ValueError(f"Settings are written as --set gamma=0.98, not as '{text}'.")
        settings[name] = parse_value(value)
    return settings


def parse_value(text: str) -> Any:
    """A number, None, True, or a noise such as GaussianNoise(0.2); nothing is run."""
    try:
        parsed = ast.parse(text.strip(), mode="eval").body
        if not isinstance(parsed, ast.Call):
            return ast.literal_eval(parsed)
        arguments = [ast.literal_eval(each) for each in parsed.args]
        named = {each.arg: ast.literal_eval(each.value) for each in parsed.keywords}
        return NOISES[parsed.func.id](*arguments, **named)
    except Exception as error:  # whatever was written there
        raise ValueError(
            f"'{text}' is no value that a setting can have: write a number, None, True, or a noise "
            f"such as GaussianNoise(0.1); there are: {', '.join(NOISES)}."
        ) from error


# ---- what is said --------------------------------------------------------------------------------


class ProgressLine:
    """On a terminal one line that is written over; elsewhere (a log) a line every minute."""

    WINDOW = 60.0  # seconds over which speed is measured: it falls when learning begins

    def __init__(self, total: int, evaluations: Evaluate) -> None:
        self.total, self.evaluations = total, evaluations
        self.live = sys.stdout.isatty()
        self.shown = ""

    def start(self, agent: Agent, total_steps: int) -> None:
        self.marks = deque([(time.monotonic(), agent.steps)])
        self.due = time.monotonic() + (0.5 if self.live else 10)

    def __call__(self, agent: Agent) -> None:
        now = time.monotonic()
        if now < self.due:
            return
        self.due = now + (0.5 if self.live else 60)
        self.marks.append((now, agent.steps))
        while len(self.marks) > 2 and now - self.marks[0][0] > self.WINDOW:
            self.marks.popleft()
        self.show(self.text(agent))

    def stop(self, agent: Agent) -> None:
        self.clear()

    def text(self, agent: Agent) -> str:
        (then, first), (now, last) = self.marks[0], self.marks[-1]
        speed = (last - first) / max(now - then, 1e-9)
        parts = [
            f"{agent.steps:,} of {self.total:,} steps ({100 * agent.steps // self.total} %)",
            f"{speed:,.0f} steps/s",
        ]
        returns = [value for _, value in agent.history.get("return", [])[-10:]]
        if returns:
            parts.append(f"last returns {np.mean(returns):,.1f}")
        if self.evaluations.best:
            parts.append(f"best evaluation {self.evaluations.best[1].mean:,.1f}")
        if speed > 0:
            parts.append(f"{clock((self.total - agent.steps) / speed)} left")
        return " · ".join(parts)

    def show(self, text: str) -> None:
        if not self.live:
            print(text, flush=True)
            return
        text = text[: shutil.get_terminal_size().columns - 1]
        print("\r" + text.ljust(len(self.shown)), end="", flush=True)
        self.shown = text

    def clear(self) -> None:
        if self.shown:
            print("\r" + " " * len(self.shown) + "\r", end="", flush=True)
            self.shown = ""

    def say(self, sentence: str) -> None:
        """A line that stays."""
        self.clear()
        print(sentence, flush=True)


def clock(seconds: float) -> str:
    """83.4 -> '0:01:23'."""
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def because(error: OSError) -> str:
    """Why the system refused, without its number."""
    return error.strerror or "perhaps the disk is full"


# ---- what is written -----------------------------------------------------------------------------


class OtherSettings(ValueError):
    """The folder belongs to another training."""


class Run:
    """A training and its folder: how it stands, and how that is written and read."""

    def __init__(self, plan: Plan, agent: Agent) -> None:
        self.plan, self.agent = plan, agent
        self.settings = plan.settings(agent)
        self.evaluations = Evaluate(plan.every, plan.episodes)
        self.progress = ProgressLine(plan.steps, self.evaluations)
        self.seconds_before, self.began = 0.0, None
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
        state = {
            "settings": self.settings,
            "seconds": self.seconds,
            "evaluations": evaluations_state(self.evaluations),
        }
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
            self.check_settings(content["run"]["settings"])
            agent = self.plan.kind.from_contents(content, self.plan.env_id, self.checkpoint)
            restore_evaluations(self.evaluations, content["run"]["evaluations"])
            self.seconds_before = float(content["run"]["seconds"])
        except OtherSettings:
            raise
        except Exception as error:  # what a damaged file holds may fail in any way
            reason = textwrap.shorten(str(error).rstrip("."), 200, placeholder=" ...")
            raise ValueError(
                f"No training can go on from {self.checkpoint} ({reason}): choose another --out, "
                "or delete that file to begin anew."
            ) from error
        self.agent, self.kept = agent, agent.steps
        self.write_results()

    def check_settings(self, there: dict[str, Any]) -> None:
        """Raise `OtherSettings` unless these, of the checkpoint, are ours."""
        here = self.settings
        differences = "; ".join(
            f"{name} is {there.get(name)} there, {here.get(name)} here"
            for name in here | there
            if there.get(name) != here.get(name)
        )
        if differences:
            raise OtherSettings(
                f"{self.plan.out} holds a training with other settings ({differences}): give it "
                "the same ones, or choose another --out."
            )

    # The results

    def write_results(self) -> None:
        """Bring best.pt and evaluations.json to where the evaluations are. Raises `OSError`."""
        best = self.evaluations.best
        if best is None:
            self.best.unlink(missing_ok=True)
        elif best[0] != self.best_step:
            checkpoint.write(self.best, self.evaluations.best_contents)
            self.best_step = best[0]
        text = json.dumps({**self.record(), "curve": []}, indent=1)
        rows = ",\n".join("  " + json.dumps(row) for row in curve_rows(self.evaluations))
        text = text.replace('"curve": []', f'"curve": [\n{rows}\n ]') + "\n"
        new = self.curve.with_name(self.curve.name + ".unfinished")
        new.write_text(text, encoding="utf-8")
        os.replace(new, self.curve)

    def record(self) -> dict[str, Any]:
        """What one needs to know to train it again, and how far it is."""
        plan, best = self.plan, self.evaluations.best
        return {
            "command": command(plan),
            "settings": self.settings,
            "steps": self.agent.steps,
            "seconds": round(self.seconds, 1),
            "best": {"step": best[0], "mean": best[1].mean} if best else None,
            "evaluation": {"episodes": plan.episodes, "seed": self.evaluations.seed},
            **circumstances(*extra_packages(plan.env_id)),
        }


def evaluations_state(evaluations: Evaluate) -> dict[str, Any]:
    """Curve and best, as plain values and tensors."""
    return {
        "curve": [
            {"step": step, "returns": each.returns.tolist(), "lengths": each.lengths.tolist()}
            for step, each in evaluations.curve
        ],
        "best": evaluations.best[0] if evaluations.best else None,
        "best_contents": evaluations.best_contents,
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
        {"step": step, "mean": each.mean, "std": each.std, "returns": each.returns.tolist()}
        for step, each in evaluations.curve
    ]


def command(plan: Plan) -> str:
    """The command line that trains this."""
    words = ["python", "course.py", "train", plan.algorithm, plan.env_id]
    words += ["--steps", str(plan.steps), "--seed", str(plan.seed), "--out", str(plan.out)]
    words += ["--evaluate-every", str(plan.every), "--episodes", str(plan.episodes)]
    setting = find_setting(plan.algorithm, plan.env_id)
    usual = setting.params if setting else usual_params(plan.algorithm, plan.env_id)
    for name, value in plan.params.items():
        if name not in usual or usual[name] != value:
            words += ["--set", f"{name}={value}"]
    return shlex.join(words)


def extra_packages(env_id: str) -> list[str]:
    """What the environment needs beside gymnasium."""
    try:
        version("mujoco")
    except PackageNotFoundError:
        return []
    return ["mujoco"] if "mujoco" in str(gym.spec(env_id).entry_point) else []


# ---- while it trains -----------------------------------------------------------------------------


class Results:
    """A callback that writes and says how each evaluation went."""

    def __init__(self, run: Run) -> None:
        self.run, self.seen = run, len(run.evaluations.curve)

    def __call__(self, agent: Agent) -> None:
        curve = self.run.evaluations.curve
        if len(curve) == self.seen:
            return
        self.seen = len(curve)
        step, result = curve[-1]
        best = " (the best so far)" if self.run.evaluations.best == curve[-1] else ""
        self.run.progress.say(f"step {step:,}: {result}{best}")
        try:
            self.run.write_results()
        except OSError as error:
            self.run.progress.say(
                f"The evaluation cannot be written to {self.run.plan.out} ({because(error)}): "
                "it is kept in memory, and training goes on."
            )


class Keep(Checkpoint):
    """Writes the run's checkpoint every so many minutes; a full disk does not end the training."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.checkpoint, minutes=run.plan.minutes)
        self.run = run

    def save(self, agent: Agent) -> None:
        try:
            self.run.save()
        except OSError as error:
            self.run.progress.say(
                f"The checkpoint cannot be written ({because(error)}): the one of step "
                f"{self.run.kept:,} stays, and training goes on."
            )

    def stop(self, agent: Agent) -> None:
        """Not here: a step that was stopped halfway is nothing to go on from."""


class Interrupt:
    """The first Ctrl-C (or SIGTERM) ends training after the step, the second one at once."""

    def __init__(self) -> None:
        self.asked = self.forced = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        signals = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(each, self._heard) for each in signals]
        try:
            yield
        finally:
            for each, handler in zip(signals, before, strict=True):
                signal.signal(each, handler)

    def _heard(self, *_: Any) -> None:
        if self.asked:
            self.forced = True
            raise KeyboardInterrupt
        self.asked = True

    def __call__(self, agent: Agent) -> bool | None:
        return False if self.asked else None


def train(plan: Plan) -> int:
    """Begin or go on; returns the exit status. Raises `ValueError` for what cannot be."""
    run, interrupt = Run(plan, plan.make()), Interrupt()
    with claimed(plan.out), interrupt.listening():
        if run.checkpoint.exists():
            run.resume()
            if is_finished(run):
                return say_finished(run)
            print(f"Going on at step {run.agent.steps:,} of {plan.steps:,}.", flush=True)
        else:
            begin(run)
        try:
            go_on(run, interrupt)
        except KeyboardInterrupt:
            print(f"Left at once: the checkpoint of step {run.kept:,} stays.")
            return STOPPED
        except OSError as error:
            print(
                f"The checkpoint cannot be written ({because(error)}): the one of step "
                f"{run.kept:,} stays, and the same command goes on from there.",
                file=sys.stderr,
            )
            return 1
        if is_finished(run):
            return say_finished(run)
        print(f"Stopped at step {run.agent.steps:,}; the same command goes on from there.")
        return STOPPED


def go_on(run: Run, interrupt: Interrupt) -> None:
    """Train to the end or until somebody asks to stop, and write the last checkpoint."""
    results, run.began = Results(run), time.monotonic()
    if run.agent.steps < run.plan.steps:
        every = callbacks(run, results, interrupt)
        run.agent.learn(run.plan.steps - run.agent.steps, every)
    if interrupt.forced:  # `learn` has answered it
        raise KeyboardInterrupt
    if run.agent.steps >= run.plan.steps and not is_finished(run):
        run.evaluations.evaluate(run.agent)
        results(run.agent)
    run.save()


def begin(run: Run) -> None:
    """A first checkpoint: from now on the folder is this training's, and can be written to."""
    if run.best.exists():
        raise ValueError(
            f"{run.plan.out} has the results of a training but no checkpoint to go on from: choose "
            "another --out."
        )
    run.save()
    params = ", ".join(f"{name}={value}" for name, value in run.plan.params.items())
    print(
        f"Training {run.plan.algorithm} on {run.plan.env_id} for {run.plan.steps:,} steps, seed "
        f"{run.plan.seed}; everything goes to {run.plan.out}.\n  {params or 'the usual settings'}",
        flush=True,
    )


def callbacks(run: Run, results: Results, interrupt: Interrupt) -> CallbackList:
    """In this order: what a checkpoint holds comes before it."""
    every = [run.evaluations, results]
    try:
        every.append(TensorBoard(run.plan.out / "tensorboard", run.evaluations))
    except ImportError:
        print("(`pip install tensorboard` in .venv would give logs for TensorBoard.)", flush=True)
    return CallbackList(*every, Keep(run), interrupt, run.progress)


def is_finished(run: Run) -> bool:
    """Whether all steps are made, and the end is evaluated."""
    curve, steps = run.evaluations.curve, run.plan.steps
    return run.agent.steps >= steps and bool(curve) and curve[-1][0] >= steps


def say_finished(run: Run) -> int:
    (step, result), (last_step, last) = run.evaluations.best, run.evaluations.curve[-1]
    kind = run.plan.kind.__name__
    print(
        f"Finished: {run.agent.steps:,} steps in {clock(run.seconds)}.\n"
        f"  at the end (step {last_step:,}): {last}\n"
        f"  the best (step {step:,}): {result}\n"
        f'To use the best one: {kind}.load("{run.best.as_posix()}"). '
        f"To train on: the same command with more --steps."
    )
    return 0


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Make the folder ours as long as this process lives. Raises `ValueError` if it is another's.

    Who is stopped with `kill -9` may have left a child that still trains: two would mix their
    files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "a") as file:
        if not lock(file):
            raise ValueError(
                f"Another process is training in {folder}: wait for it, stop it, or choose another "
                "--out."
            )
        yield


def lock(file: IO) -> bool:
    """Take the file for this process until it ends, however it ends; False if it is taken."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # some network folders know no locks
        pass
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(
        prog="python course.py train",
        description="Train an agent, for hours if need be. Whatever stops it, the same command "
        "goes on from the last checkpoint as if nothing had happened.",
    )
    parser.add_argument("algorithm", help=", ".join(ALGORITHMS))
    parser.add_argument("environment", help="such as Walker2d-v5")
    parser.add_argument("--steps", type=int, help="in all; without it what the lesson takes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a folder; without it one in runs/")
    parser.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE",
        help="settings other than the lesson's: --set tau=0.01 noise='OUNoise(0.3)'",
    )  # fmt: skip
    parser.add_argument("--evaluate-every", type=int, help="steps; without it at most 5000")
    parser.add_argument("--episodes", type=int, default=10, help="of an evaluation")
    parser.add_argument("--checkpoint-minutes", type=float, default=5.0)
    options = parser.parse_args(arguments)
    try:
        return train(make_plan(options))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{options.out or 'runs'} cannot be written ({because(error)}).", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
