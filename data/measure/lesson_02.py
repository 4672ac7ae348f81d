"""Lesson 02's own measurements.

    python -m data.measure.lesson_02 first_at_bar     # about five minutes
    python -m data.measure.lesson_02 bug              # about two minutes

`first_at_bar`: after how many steps A2C and DDPG first reach Pendulum's threshold. `bug`: DDPG
trained with the bug of exercise 2.9.
"""

from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from data.measure.stored import bug_of, measure
from helpers.algorithms import ddpg
from helpers.evaluation import evaluate
from helpers.labs.break_it import POINTS, curve
from helpers.training.callbacks import CallbackList, Evaluate, StopAtReturn
from helpers.training.settings import get_setting

EVERY = {"ddpg": 500, "a2c": 10_000}  # steps between two evaluations of 20 episodes each


def steps_to_bar(algorithm: str, seed: int) -> int | None:
    """The steps after which it was there; None if it never was."""
    setting = get_setting(algorithm, "Pendulum-v1")
    evaluations = Evaluate(EVERY[algorithm], episodes=20)
    stop = StopAtReturn(setting.bar, evaluations=evaluations)
    setting.make(seed).learn(setting.steps, CallbackList(evaluations, stop))
    return stop.reached


def first_at_bar(seeds: range = range(10)) -> dict[str, Any]:
    record: dict[str, Any] = {"env_id": "Pendulum-v1", "every": EVERY, "seeds": list(seeds)}
    for algorithm in EVERY:
        setting = get_setting(algorithm, "Pendulum-v1")
        params = {name: str(value) for name, value in setting.params.items()}
        steps = [steps_to_bar(algorithm, seed) for seed in seeds]
        record[algorithm] = {"params": params, "bar": setting.bar, "steps": steps}
        print(algorithm, steps, flush=True)
    return record


def bug(seeds: range = range(5)) -> dict[str, Any]:
    """Returns and values, in the buffer's units, while DDPG trains with gradients cleared late."""
    s, wrong = ddpg.PENDULUM, bug_of("2.9")

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


if __name__ == "__main__":
    measure("02", first_at_bar, bug)
