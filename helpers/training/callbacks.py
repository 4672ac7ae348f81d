"""What happens beside training: evaluations, lines, checkpoints, an early end, TensorBoard's logs.

    evaluations = Evaluate(every=1000)
    callbacks = CallbackList(evaluations, StopAtReturn(-150, evaluations=evaluations))
    agent.learn(20_000, callback=callbacks)

A callback is any function: `learn` calls it with the agent after every `train_step`, and ends if it
gives False, Python's or numpy's. If it has `start(agent, total_steps)` and `stop(agent)`, they are
called before the first step and after the last. It may look at `agent.steps`, `agent.history` and
`agent.last`, the last transitions and losses. None of these here changes the training: they draw no
random numbers of the agent's and act in environments of their own.
"""

import copy
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from helpers.agents import checkpoint
from helpers.agents.base import Agent, Callback
from helpers.agents.limits import COUNT, check_callback, number, says_stop
from helpers.envs.make import EnvLike
from helpers.evaluation import Evaluation, check_starts, evaluate, fitting_env
from helpers.names import explained

LOG_SECONDS = 5.0  # between two looks at the history


class CallbackList:
    """Several callbacks as one. All are called, in their order; the first False ends training.

    What only looks at others, such as a `Checkpoint`, comes after them.
    """

    def __init__(self, *callbacks: Callback) -> None:
        for callback in callbacks:
            check_callback(callback)
        self.callbacks = callbacks

    def start(self, agent: Agent, total_steps: int) -> None:
        self._tell("start", agent, total_steps)

    def __call__(self, agent: Agent) -> bool | None:
        # A list, so that the others are called as well when one gives False.
        answers = [callback(agent) for callback in self.callbacks]
        return False if any(map(says_stop, answers)) else None

    def stop(self, agent: Agent) -> None:
        self._tell("stop", agent)

    def _tell(self, hook: str, *arguments: Any) -> None:
        for callback in self.callbacks:
            if hasattr(callback, hook):
                getattr(callback, hook)(*arguments)


class Milestones:
    """Says when another multiple of `every` steps is reached; agents may make many steps at once.

    Raises `ValueError`, which calls it `name`, unless `every` is a whole number from 1 up.
    """

    def __init__(self, every: int, name: str = "every") -> None:
        COUNT(name, every)
        self.every, self.steps = every, 0

    def start(self, steps: int) -> None:
        """`steps` are behind us."""
        self.steps = steps

    def reached(self, steps: int) -> bool:
        before, self.steps = self.steps, steps
        return steps // self.every > before // self.every


class Evaluate:
    """Evaluates the greedy policy every `every` steps, in an environment of its own.

    Each time from the same `episodes` starts (`helpers.evaluation.evaluate`), in `env` or in a copy
    of the environment that the agent was given. `curve` holds (step, Evaluation) pairs, `best` the
    one with the highest mean. The agent as it was then is kept: `restore_best` puts its weights
    back, and with `path` it is written to a file whenever there is a new best.
    """

    @explained
    def __init__(
        self,
        every: int,
        episodes: int = 10,
        env: EnvLike | None = None,
        seed: int = 10_000,
        path: str | os.PathLike | None = None,
    ) -> None:
        check_starts(episodes, seed)
        self.milestones, self.episodes = Milestones(every), episodes
        self.env, self.seed, self.path = env, seed, path and checkpoint.file_path(path)
        self.curve: list[tuple[int, Evaluation]] = []
        self.best: tuple[int, Evaluation] | None = None
        self.best_contents: dict | None = None  # what `agent.save` would have written then

    def start(self, agent: Agent, total_steps: int) -> None:
        """Raises `ValueError` now, not after `every` steps, if there can be no environment."""
        fitting_env(agent, agent.env_source if self.env is None else self.env).close()
        self.milestones.start(agent.steps)
        if self.curve and agent.steps < self.curve[-1][0]:  # of another agent
            self.curve, self.best, self.best_contents = [], None, None

    def __call__(self, agent: Agent) -> None:
        if self.milestones.reached(agent.steps):
            self.evaluate(agent)

    def evaluate(self, agent: Agent) -> Evaluation:
        """Evaluate now."""
        result = evaluate(agent, self.env, self.episodes, self.seed)
        self.curve.append((agent.steps, result))
        if self.best is None or result.mean > self.best[1].mean:
            # A copy: the next update changes the weights themselves.
            self.best = self.curve[-1]
            self.best_contents = copy.deepcopy(checkpoint.contents(agent, replay=False))
            if self.path is not None:
                checkpoint.write(self.path, self.best_contents)
        return result

    def restore_best(self, agent: Agent) -> None:
        """Give the agent the networks and optimisers of the best evaluation."""
        if self.best_contents is None:
            every = self.milestones.every
            raise ValueError(f"There was no evaluation yet: the first comes after {every:,} steps.")
        agent.set_parameters(self.best_contents["state"])


class Print:
    """Prints a line every `every` steps: for scripts. In a notebook `LiveCurves` shows more.

    Steps, episodes, mean return of the last `episodes` of them, steps a second since the line
    before.
    """

    @explained
    def __init__(self, every: int = 1000, episodes: int = 10) -> None:
        COUNT("episodes", episodes)
        self.milestones, self.episodes = Milestones(every), episodes

    def start(self, agent: Agent, total_steps: int) -> None:
        self.milestones.start(agent.steps)
        self._mark = time.monotonic(), agent.steps

    def __call__(self, agent: Agent) -> None:
        if not self.milestones.reached(agent.steps):
            return
        before, self._mark = self._mark, (time.monotonic(), agent.steps)
        seconds, steps = (now - then for now, then in zip(self._mark, before, strict=True))
        returns = [value for _, value in agent.history["return"]]
        parts = [f"step {agent.steps:,}", f"{len(returns):,} episodes"]
        if returns:
            latest = returns[-self.episodes :]
            parts.append(f"mean return of the last {len(latest)}: {sum(latest) / len(latest):,.1f}")
        parts.append(f"{steps / max(seconds, 1e-9):,.0f} steps/s")
        print(" · ".join(parts), flush=True)


class Checkpoint:
    """Saves the agent every so many `steps` or `minutes`, and when `learn` ends.

    With `replay` all that training needs is in the file: `TD3.load(path).learn(...)` goes on as if
    nothing had happened. The file appears whole or not at all, in the place of the one before.
    """

    @explained
    def __init__(
        self,
        path: str | os.PathLike,
        *,
        steps: int | None = None,
        minutes: float | None = None,
        replay: bool = True,
    ) -> None:
        if (steps is None) == (minutes is None):
            raise ValueError(
                "A checkpoint comes every so many steps or every so many minutes: say "
                "which, Checkpoint(path, steps=10_000) or Checkpoint(path, minutes=5)."
            )
        if minutes is not None and not minutes > 0:
            raise ValueError(f"minutes must be above 0, got {minutes}.")
        self.path, self.replay = checkpoint.file_path(path), replay
        self.milestones = None if steps is None else Milestones(steps, "steps")
        self.seconds = 60 * (minutes or 0)

    def start(self, agent: Agent, total_steps: int) -> None:
        self._saved = time.monotonic()
        if self.milestones:
            self.milestones.start(agent.steps)

    def __call__(self, agent: Agent) -> None:
        if self._is_due(agent):
            self.save(agent)
            self._saved = time.monotonic()

    def stop(self, agent: Agent) -> None:
        self.save(agent)

    def save(self, agent: Agent) -> None:
        """Save now."""
        agent.save(self.path, self.replay)

    def _is_due(self, agent: Agent) -> bool:
        if self.milestones:
            return self.milestones.reached(agent.steps)
        return time.monotonic() >= self._saved + self.seconds


class StopAtReturn:
    """Ends training once the mean return reaches `target`; `reached` is then the step.

    The mean is that of the last training `episodes`, which explore, or that of the last of the
    given `evaluations`, which do not: put that callback into the list as well, before this one.
    """

    @explained
    def __init__(
        self, target: float, episodes: int = 10, evaluations: Evaluate | None = None
    ) -> None:
        COUNT("episodes", episodes)
        number()("target", target)
        self.target, self.evaluations = target, evaluations
        self.number = 1 if evaluations else episodes  # an evaluation is a mean already
        self.reached: int | None = None
        self._seen = 0

    def start(self, agent: Agent, total_steps: int) -> None:
        self.reached = None
        self._seen = min(self._seen, len(self._curve(agent)))  # less of another agent

    def _curve(self, agent: Agent) -> Sequence[tuple]:
        return self.evaluations.curve if self.evaluations else agent.history["return"]

    def __call__(self, agent: Agent) -> bool | None:
        curve = self._curve(agent)
        if len(curve) == self._seen:  # almost always
            return None
        self._seen = len(curve)
        latest = curve[-self.number :]
        last = [each.mean if isinstance(each, Evaluation) else each for _, each in latest]
        if len(last) < self.number or sum(last) / len(last) < self.target:
            return None
        self.reached = agent.steps
        return False


class TensorBoard:
    """Writes the agent's history, and what the callback `evaluations` finds, for TensorBoard.

    `tensorboard --logdir runs` shows what is in `logdir`, say runs/td3, while training goes on.
    Give each training a folder of its own. In one that has logs already TensorBoard shows the new
    ones alone; a training that goes on writes its whole history once more.

    Raises `ImportError` if the package tensorboard is not installed.
    """

    @explained
    def __init__(self, logdir: str | os.PathLike, evaluations: Evaluate | None = None) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.logdir, self.evaluations = logdir, evaluations
        self._new_writer: Callable = SummaryWriter
        self._writer: Any = None
        self._agent: Agent | None = None
        self._written: dict[str, int] = {}
        self._due = 0.0

    def start(self, agent: Agent, total_steps: int) -> None:
        if agent is self._agent:
            return  # one file for all calls of `learn`: TensorBoard reads a tenth before a ninth
        if self._writer:
            self._writer.close()
        self._agent, self._written = agent, {}
        self._writer = self._new_writer(self.logdir, purge_step=0)  # older logs are not shown

    def __call__(self, agent: Agent) -> None:
        if time.monotonic() >= self._due:
            self._write(agent)
            self._due = time.monotonic() + LOG_SECONDS

    def stop(self, agent: Agent) -> None:
        self._write(agent)

    def _write(self, agent: Agent) -> None:
        """What is new since the last time."""
        values = {f"training/{name}": series for name, series in agent.history.items()}
        if self.evaluations:
            curve = [(step, result.mean) for step, result in self.evaluations.curve]
            values["evaluation/return"] = curve
        for name, series in values.items():
            for step, value in series[self._written.get(name, 0) :]:
                self._writer.add_scalar(name, value, step)
            self._written[name] = len(series)
        self._writer.flush()
