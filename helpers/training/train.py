"""Train for as long as it takes: progress, evaluations, checkpoints; the same command goes on.

`python course.py train td3 Walker2d-v5 --steps 1000000 --seed 0 --out runs/walker`

With `--seeds 0-2 --jobs 3` each seed is a `course.py train` of its own, in its folder.

In the folder of `--out`: `checkpoint.pt` (the whole state of training, replay memory included),
`best.pt` (the agent of the best evaluation), `evaluations.json` (the curve) and, where it is
installed, logs for TensorBoard. The checkpoint alone says how far the training is, and holds the
evaluations up to there; the other files are written anew from it when training goes on.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from helpers.agents.base import Agent, Callback
from helpers.training.asked import add_arguments, make_agent
from helpers.training.callbacks import CallbackList, Checkpoint, Evaluate, TensorBoard
from helpers.training.runs import STOPPED, Plan, Run, claimed, make_plan
from helpers.training.study import Parser, parse_seeds

# ---- what is said --------------------------------------------------------------------------------


class ProgressLine:
    """On a terminal one line that is written over; elsewhere (a log) a line every minute."""

    def __init__(self, total: int, evaluations: Evaluate) -> None:
        self.total, self.evaluations = total, evaluations
        self.live = sys.stdout.isatty()
        self.shown = ""

    def start(self, agent: Agent, total_steps: int) -> None:
        # Speed is that of the last minute: it falls when learning begins.
        self.marks = deque([(time.monotonic(), agent.steps)], maxlen=120 if self.live else 2)
        self.due = time.monotonic() + (0.5 if self.live else 10)

    def __call__(self, agent: Agent) -> None:
        now = time.monotonic()
        if now < self.due:
            return
        self.due = now + (0.5 if self.live else 60)
        self.marks.append((now, agent.steps))
        self.show(self.text(agent))

    def stop(self, agent: Agent) -> None:
        self.clear()

    def text(self, agent: Agent) -> str:
        (then, first), (now, last) = self.marks[0], self.marks[-1]
        speed = (last - first) / max(now - then, 1e-9)
        parts = [f"{agent.steps:,} of {self.total:,} steps ({100 * agent.steps // self.total} %)"]
        if speed > 0:
            parts.append(f"{clock((self.total - agent.steps) / speed)} left")
        parts.append(f"{speed:,.0f} steps/s")
        returns = [value for _, value in agent.history.get("return", [])[-10:]]
        if returns:
            parts.append(f"last returns {np.mean(returns):,.1f}")
        if self.evaluations.best:
            parts.append(f"best evaluation {self.evaluations.best[1].mean:,.1f}")
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
    return str(timedelta(seconds=round(seconds)))


def because(error: OSError) -> str:
    """Why the system refused, without its number."""
    return error.strerror or "perhaps the disk is full"


# ---- while it trains -----------------------------------------------------------------------------


class Results:
    """A callback that writes and says how each evaluation went."""

    def __init__(self, run: Run, say: Callable[[str], None]) -> None:
        self.run, self.say, self.seen = run, say, len(run.evaluations.curve)

    def __call__(self, agent: Agent) -> None:
        curve = self.run.evaluations.curve
        if len(curve) == self.seen:
            return
        self.seen = len(curve)
        step, result = curve[-1]
        best = " (the best so far)" if self.run.evaluations.best is curve[-1] else ""
        self.say(f"step {step:,}: {result}{best}")
        try:
            self.run.write_results()
        except OSError as error:
            self.say(
                f"The evaluation cannot be written to {self.run.plan.out} ({because(error)}): "
                "it is kept in memory, and training goes on."
            )


class Keep(Checkpoint):
    """Writes the run's checkpoint every so many minutes; a full disk does not end the training."""

    def __init__(self, run: Run, say: Callable[[str], None]) -> None:
        super().__init__(run.checkpoint, minutes=run.plan.minutes)
        self.run, self.say = run, say

    def save(self, agent: Agent) -> None:
        try:
            self.run.save()
        except OSError as error:
            self.say(
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
    run, interrupt = Run(plan, make_agent(plan.setting, plan.seed)), Interrupt()
    with claimed(plan.out), interrupt.listening():
        if run.checkpoint.exists():
            run.resume()
            if is_finished(run):
                return say_finished(run)
            print(f"Going on at step {run.agent.steps:,} of {plan.setting.steps:,}.", flush=True)
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
    progress = ProgressLine(run.plan.setting.steps, run.evaluations)
    results, run.began = Results(run, progress.say), time.monotonic()
    if run.agent.steps < run.plan.setting.steps:
        # In this order: what a checkpoint holds comes before it.
        keep = Keep(run, progress.say)
        every: list[Callback] = [run.evaluations, results, *logs(run), keep, interrupt, progress]
        run.agent.learn(run.plan.setting.steps - run.agent.steps, CallbackList(*every))
    if interrupt.forced:  # `learn` has answered it
        raise KeyboardInterrupt
    if run.agent.steps >= run.plan.setting.steps and not is_finished(run):
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
    asked = run.plan.setting
    params = ", ".join(f"{name}={value}" for name, value in asked.params.items())
    print(
        f"Training {asked.algorithm} on {asked.env_id} for {asked.steps:,} steps, seed "
        f"{run.plan.seed}; everything goes to {run.plan.out}.\n  {params or 'the usual settings'}",
        flush=True,
    )


def logs(run: Run) -> list[TensorBoard]:
    """What writes logs for TensorBoard, if that is installed."""
    try:
        return [TensorBoard(run.plan.out / "tensorboard", run.evaluations)]
    except ImportError:
        print("(`pip install tensorboard` in .venv would give logs for TensorBoard.)", flush=True)
        return []


def is_finished(run: Run) -> bool:
    """Whether all steps are made, and the end is evaluated."""
    curve, steps = run.evaluations.curve, run.plan.setting.steps
    return run.agent.steps >= steps and bool(curve) and curve[-1][0] >= steps


def say_finished(run: Run) -> int:
    last_step, last = run.evaluations.curve[-1]
    step, result = run.evaluations.best or (last_step, last)
    kind = run.plan.setting.kind.__name__
    print(
        f"Finished: {run.agent.steps:,} steps in {clock(run.seconds)}.\n"
        f"  at the end (step {last_step:,}): {last}\n"
        f"  the best (step {step:,}): {result}\n"
        f'To use the best one: {kind}.load("{run.best.as_posix()}"). '
        f"To train on: the same command with more --steps."
    )
    return 0


# ---- several seeds -------------------------------------------------------------------------------


def train_apart(words: Sequence[str], seed: int) -> int:
    """Train in a process of its own, whose lines are printed with the seed; its exit status.

    That of a process which a signal ended is the signal's number, and not below 0: the worst of
    all seeds' is what the command ends with.
    """
    words = [sys.executable, "-u", "-m", "helpers.training.train", *words, "--seeds", str(seed)]
    one_thread = {"OMP_NUM_THREADS": "1", **os.environ}  # seeds run side by side
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", env=one_thread
    ) as child:
        for line in child.stdout or ():
            print(f"seed {seed}: {line}", end="", flush=True)
    return abs(child.returncode)


def train_several(words: Sequence[str], seeds: Sequence[int], jobs: int) -> int:
    """Train each seed as these arguments of `course.py train` say; the worst exit status.

    Ctrl-C reaches every process of a terminal: trainings under way end by themselves and keep a
    checkpoint, so this process waits for them, and begins no other.
    """
    stopped = threading.Event()

    def unless_stopped(seed: int) -> int:
        return STOPPED if stopped.is_set() else train_apart(words, seed)

    before = signal.signal(signal.SIGINT, lambda *_: stopped.set())
    try:
        return max(Parallel(n_jobs=jobs, prefer="threads")(map(delayed(unless_stopped), seeds)))
    finally:
        signal.signal(signal.SIGINT, before)


# ---- the command ---------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(
        prog="python course.py train",
        description="Train an agent, for hours if need be. Whatever stops it, the same command "
        "goes on from the last checkpoint as if nothing had happened.",
    )
    add_arguments(parser)
    one_or_several = parser.add_mutually_exclusive_group()
    one_or_several.add_argument("--seed", type=int, help="without it 0")
    one_or_several.add_argument(
        "--seeds", help="several, 0-2 or 0,4: each is trained in OUT/seed_0 ..."
    )
    parser.add_argument("--out", type=Path, help="a folder; without it one in runs/")
    parser.add_argument("--evaluate-every", type=int, help="steps; without it at most 5000")
    parser.add_argument("--episodes", type=int, default=10, help="of an evaluation")
    parser.add_argument("--checkpoint-minutes", type=float, default=5.0)
    words = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args(words)
    try:
        seeds = [options.seed or 0] if options.seeds is None else parse_seeds(options.seeds)
        if options.jobs > 1 and options.seeds is None:
            raise ValueError("--jobs is for several seeds: add --seeds 0-2.")
        plan = make_plan(options, seeds[0], parser.command(words))
        if len(seeds) == 1:
            return train(plan)
        make_agent(plan.setting, plan.seed)  # what cannot be is said once
        but_seeds = Parser(add_help=False, allow_abbrev=False)
        but_seeds.add_argument("--seeds")
        return train_several(but_seeds.parse_known_args(words)[1], seeds, options.jobs)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{options.out or 'runs'} cannot be written ({because(error)}).", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
