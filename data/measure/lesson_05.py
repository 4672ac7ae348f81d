"""What lesson 05 says of seeds: stopping early, going on after cloning, a heated room.

    python -m data.measure.lesson_05 stopping|after_cloning|room

writes data/results/05_<name>.json after each seed; the second was ended after nine. One core, about
six CPU minutes each, the third one.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from gymnasium.wrappers import TimeLimit

from data.measure.stored import measure
from helpers.agents import TD3
from helpers.agents.base import Agent, gradient_step
from helpers.agents.cloning import as_shown, bc_loss, minibatches, pretrain
from helpers.agents.off_policy import as_rows
from helpers.demos.files import Demos
from helpers.envs.heated_room import HeatedRoom
from helpers.evaluation import evaluate
from helpers.memory.buffers import Batch
from helpers.training.callbacks import CallbackList, Evaluate, StopAtReturn
from helpers.training.settings import get_setting

SPARSE = "SparsePendulum-v0"
VARIANTS = {
    # name: (200 random steps first, demonstrations in the memory, the actor goes on imitating)
    "as TD3 is": (True, False, False),
    "its own first steps": (False, False, False),
    "its own first steps, goes on imitating": (False, False, True),
    "all three": (False, True, True),
}


def on_fresh_starts(agent: Agent) -> float:
    return round(evaluate(agent, episodes=100, seed=20_000).mean, 2)


def stopping(seeds: range = range(10)) -> Iterator[dict[str, Any]]:
    """Stopped at the first evaluation of -150, trained to the end, and the best put back."""
    setting, results = get_setting("td3", "Pendulum-v1"), []
    for seed in seeds:
        agent = setting.make(seed)
        evaluations = Evaluate(every=1000, episodes=10)
        watch = CallbackList(evaluations, StopAtReturn(-150, evaluations=evaluations))
        agent.learn(setting.steps, callback=watch)
        row: dict[str, Any] = {"seed": seed, "stopped": agent.steps}
        row |= {"chosen": round(evaluations.curve[-1][1].mean, 2), "fresh": on_fresh_starts(agent)}
        agent.learn(setting.steps - agent.steps, callback=evaluations)
        row |= {"last": round(evaluations.curve[-1][1].mean, 2)}
        row |= {"last, fresh": on_fresh_starts(agent)}
        evaluations.restore_best(agent)
        row |= {"best": round(evaluations.best[1].mean, 2), "best step": evaluations.best[0]}
        row |= {"best, fresh": on_fresh_starts(agent)}
        results.append(row)
        print(row, flush=True)
        yield {"results": results}


class Reminded(TD3):
    """TD3 that goes on from a copy of `shown`, (observations, actions), and goes on imitating."""

    shown: tuple[torch.Tensor, torch.Tensor]

    def explore(self, obs: np.ndarray) -> np.ndarray:
        """The actor's own action with noise, from the first step on."""
        with torch.no_grad():
            action = self.actor(torch.from_numpy(obs)).numpy()
        return action + self.noise.sample(action.shape, self.rng)  # the agent clips it

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        """TD3's update; after one of the actor, another towards what was demonstrated."""
        losses = super().update(batch)
        if "actor_loss" in losses:
            rows = next(minibatches(len(self.shown[0]), self.batch_size, self.rng))
            loss = bc_loss(self.actor, *(part[rows] for part in self.shown))
            gradient_step(self.actor_optimizer, loss)
        return losses


def gone_on(pupil: Any, copied: TD3, demos: Demos, remembers: bool) -> list[float]:
    """What a pupil that begins with a copy's networks gets after each 500 of 2,500 steps."""
    pupil.set_parameters(copied.get_parameters())
    pupil.shown = as_shown(pupil, demos)
    for transition in zip(*as_rows(pupil, demos), strict=True) if remembers else ():
        pupil.buffer.add(*transition)
    after = Evaluate(every=500, episodes=5)
    pupil.learn(2500, callback=after)
    return [round(result.mean, 2) for _, result in after.curve]


def after_cloning(seeds: range = range(10)) -> Iterator[dict[str, Any]]:
    """A copy of the clumsy teacher, and how TD3 goes on from it in each variant."""
    demos = get_setting("ddpgfd", SPARSE).load_demos()
    results: list[dict[str, Any]] = []
    for seed in seeds:
        copied = TD3(SPARSE, seed=seed)
        pretrain(copied, demos)
        row: dict[str, Any] = {"seed": seed, "copied": round(evaluate(copied).mean, 2)}
        for name, (random_first, remembers, imitates) in VARIANTS.items():
            parts: dict[str, Any] = {"explore": TD3.explore} if random_first else {}
            parts |= {} if imitates else {"update": TD3.update}
            pupil = type("Pupil", (Reminded,), parts)(SPARSE, seed=seed, learning_starts=200)
            row[name] = gone_on(pupil, copied, demos, remembers)
        results.append(row)
        print(row, flush=True)
        yield {"every": 500, "results": results}


def room(seeds: range = range(200, 220)) -> Iterator[dict[str, Any]]:
    """TD3 in the heated room, and beside it a thermostat that switches at 20 degrees."""

    def make() -> TimeLimit:
        return TimeLimit(HeatedRoom(), 72)

    by_hand = evaluate(lambda obs: np.array([3.0 * (obs[0] < 20)], np.float32), make).mean
    results = []
    for seed in seeds:
        agent = TD3(make, seed=seed, gamma=0.95, tau=0.02, learning_starts=300).learn(4000)
        results.append({"seed": seed, "mean": round(evaluate(agent).mean, 2)})
        print(results[-1], flush=True)
        yield {"thermostat": round(by_hand, 2), "results": results}


if __name__ == "__main__":
    measure("05", stopping, after_cloning, room)
