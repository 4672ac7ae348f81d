"""What the page "Try it" asks of the visitor's file, in the browser's Python as in this one."""

import importlib
import json
import math
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

NAME = "td3_numpy"
EVERY = 500  # steps between evaluations
EPISODE = 200  # steps
STARTS = range(10_000, 10_005)  # the seeds of the five episodes that an evaluation consists of


def load(source: str) -> ModuleType:
    """Import the visitor's text, from a file: an error then knows its line."""
    Path(f"{NAME}.py").write_text(source, encoding="utf-8")
    sys.dont_write_bytecode = True  # else a change within the same second could be missed
    sys.modules.pop(NAME, None)
    importlib.invalidate_caches()
    return importlib.import_module(NAME)


class Run:
    """One training of a file that has `Settings`, `Pendulum` and `train`, in pieces."""

    def __init__(self, module: ModuleType, settings: dict[str, Any], seed: int) -> None:
        self.module, self.settings = module, module.Settings(**settings)
        self.training = module.train(self.settings, seed)
        self.agent: Any = None
        self.step, self.total = 0, 0.0

    def advance(self, seconds: float = math.inf) -> dict[str, Any]:
        """Train for so long, or to the next evaluation, or to the end; what has happened since."""
        end = time.perf_counter() + seconds
        news: dict[str, Any] = {"episodes": []}
        for agent, reward in self.training:
            self.agent = agent
            self.step += 1
            self.total += float(reward)
            if self.step % EPISODE == 0:
                news["episodes"].append((self.step, self.total))
                self.total = 0.0
            if self.step % EVERY == 0:
                news |= self.evaluate()
                break
            if time.perf_counter() > end:
                break
        else:
            news["finished"] = True
        return news | {"step": self.step}

    def evaluate(self) -> dict[str, Any]:
        """Five greedy episodes, what the critic promised for them, and one that begins hanging."""
        pendulums = [self.module.Pendulum(np.random.default_rng(seed)) for seed in STARTS]
        first = np.array([pendulum.obs() for pendulum in pendulums])
        shown, rewards = self.play([self.hanging(), *pendulums])
        discounted = self.settings.gamma ** np.arange(EPISODE) @ rewards[:, 1:]
        found = {
            "mean": float(rewards[:, 1:].sum(0).mean()),
            "promised": float(self.agent.value(first).mean()),
            "obtained": float(discounted.mean()),
        }
        if not np.isfinite(list(found.values())).all():
            raise FloatingPointError(
                "the networks give no numbers any more: lower the learning rate"
            )
        return found | {"shown": shown}

    def hanging(self, angle: float = math.pi) -> Any:
        """A pendulum at rest; it hangs at an angle of pi."""
        pendulum = self.module.Pendulum(np.random.default_rng(0))
        pendulum.angle, pendulum.speed = angle, 0.0
        return pendulum

    def play(self, pendulums: list[Any]) -> tuple[dict[str, list[float]], np.ndarray]:
        """Greedy episodes side by side: the first one to be drawn, and all rewards, (200, n)."""
        shown: dict[str, list[float]] = {"angles": [pendulums[0].angle], "actions": []}
        rewards = []
        for _ in range(EPISODE):
            actions = self.agent.act(np.array([pendulum.obs() for pendulum in pendulums]))
            pairs = zip(pendulums, actions[:, 0], strict=True)
            rewards.append([pendulum.step(float(action)) for pendulum, action in pairs])
            shown["angles"].append(float(pendulums[0].angle))
            shown["actions"].append(float(actions[0, 0]))
        return shown, np.array(rewards)


def attempt(action: Callable[[], Any]) -> str:
    """What the action gives, as JSON; or the error, with the line of the visitor's file."""
    try:
        return json.dumps(action())
    except Exception as error:
        said = traceback.format_exception_only(error)[-1].strip()
        return json.dumps({"error": said, "line": line_of(error)})


def line_of(error: Exception) -> int | None:
    """The last line of the visitor's file on the way to the error."""
    if isinstance(error, SyntaxError) and str(error.filename).endswith(f"{NAME}.py"):
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename.endswith(f"{NAME}.py")]
    return lines[-1] if lines else None


# --- What the worker calls --------------------------------------------------------------------

RUNS: list[Run] = []  # the one that goes on


def start(source: str, settings: str, seed: int) -> str:
    """Begin anew; the settings are JSON."""

    def begin() -> dict[str, int]:
        run = Run(load(source), json.loads(settings), seed)
        RUNS[:] = [run]
        return {"steps": run.settings.steps}

    return attempt(begin)


def advance(seconds: float) -> str:
    return attempt(lambda: RUNS[0].advance(seconds))


def play(angle: float) -> str:
    return attempt(lambda: {"shown": RUNS[0].play([RUNS[0].hanging(angle)])[0]})
