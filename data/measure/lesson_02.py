"""Lesson 02's own measurements.

    python -m data.measure.lesson_02 first     # 02_first_at_bar.json, about five minutes
    python -m data.measure.lesson_02 bug       # 02_bug.json, about two minutes

`first`: after how many steps A2C and DDPG first reach Pendulum's threshold. `bug`: DDPG trained
with the bug of exercise 2.11.
"""

import sys
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from helpers.agents.base import Agent
from helpers.algorithms import ddpg
from helpers.checks import find
from helpers.evaluation import evaluate
from helpers.labs.break_it import POINTS, curve
from helpers.training.results import RESULTS, write_json
from helpers.training.settings import get_setting
from helpers.training.study import circumstances

EVERY = {"ddpg": 500, "a2c": 10_000}  # steps between two evaluations of 20 episodes each


class FirstAtBar:
    """A callback that ends the training at the first evaluation that reaches the threshold."""

    def __init__(self, bar: float, every: int) -> None:
        self.bar, self.every, self.due = bar, every, every
        self.steps: int | None = None

    def __call__(self, agent: Agent) -> bool:
        if agent.steps >= self.due:
            self.due += self.every
            if evaluate(agent).mean >= self.bar:
                self.steps = agent.steps
        return self.steps is None


def first_at_bar(algorithm: str, seed: int) -> int | None:
    """The steps after which it was there; None if it never was."""
    setting = get_setting(algorithm, "Pendulum-v1")
    watch = FirstAtBar(setting.bar, EVERY[algorithm])
    setting.make(seed).learn(setting.steps, watch)
    return watch.steps


def first(seeds: range = range(10)) -> dict[str, Any]:
    record: dict[str, Any] = {"env_id": "Pendulum-v1", "every": EVERY, "seeds": list(seeds)}
    for algorithm in EVERY:
        setting = get_setting(algorithm, "Pendulum-v1")
        params = {name: str(value) for name, value in setting.params.items()}
        steps = [first_at_bar(algorithm, seed) for seed in seeds]
        record[algorithm] = {"params": params, "bar": setting.bar, "steps": steps}
        print(algorithm, steps, flush=True)
    return record


def bug(seeds: range = range(5)) -> dict[str, Any]:
    """Returns and values, in the buffer's units, while DDPG trains with gradients cleared late."""
    torch.set_num_threads(1)
    s, exercise = ddpg.PENDULUM, find("2.11")
    wrong: Any = next(m for m in exercise.mistakes if m.name == exercise.bug).function

    def update(agent: ddpg.Agent, batch: Any, s: ddpg.Settings) -> dict[str, torch.Tensor]:
        wrong(agent, batch, ddpg.td_target(batch, agent.target_actor, agent.target_critic, s.gamma))
        for name in ("critic", "actor"):
            target, online = getattr(agent, f"target_{name}"), getattr(agent, name)
            ddpg.polyak_update(target.parameters(), online.parameters(), s.tau)
        with torch.no_grad():
            return {"value": agent.critic(batch.obs, agent.actor(batch.obs)).mean()}

    record: dict[str, Any] = {"seeds": list(seeds), "returns": [], "values": [], "evaluations": []}
    record["steps"] = [(point + 1) * s.steps // POINTS for point in range(POINTS)]
    for seed in seeds:
        with patch.object(ddpg, "update", update):
            agent = ddpg.train(s, seed)
        returns = curve(SimpleNamespace(history=agent.history), s.steps)  # type: ignore[arg-type]
        values = np.interp(record["steps"], *np.transpose(agent.history["value"]))
        record["returns"].append([round(point, 1) for point in returns])
        record["values"].append(values.round(1).tolist())
        record["evaluations"].append(round(evaluate(agent, s.env_id).mean, 1))
        print(seed, record["evaluations"][-1], record["values"][-1][::6], flush=True)
    return record


def main(arguments: list[str]) -> int:
    for name in arguments or ("first", "bug"):
        measure, file = {"first": (first, "02_first_at_bar"), "bug": (bug, "02_bug")}[name]
        command = {"command": f"python -m data.measure.lesson_02 {name}"}
        write_json(RESULTS / f"{file}.json", {**command, **circumstances(), **measure()}, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
