"""What lesson 05 says of stopping early, of kept weights and of a copied actor, measured once.

    python -m lessons.claims.measure_05 best_kept|head_start

writes data/results/05_<name>.json. On one core a quarter of an hour each.
"""

import copy
import re
import sys
from functools import cache
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed

from helpers.agents import TD3
from helpers.agents.base import Agent, gradient_step
from helpers.agents.cloning import as_shown, bc_loss, minibatches, pretrain
from helpers.agents.off_policy import as_stored
from helpers.evaluation import evaluate
from helpers.labs.variants import variants
from helpers.memory.buffers import Batch
from helpers.training.callbacks import Evaluate, Milestones
from helpers.training.results import DATA, RESULTS, write_json
from helpers.training.settings import get_setting
from helpers.training.study import circumstances

LESSON = DATA.parent / "lessons" / "05_td3_in_practice.md"
SEEDS = range(10)

# ---- stopping early, and the weights that were best ----------------------------------------------

FEW, MANY, TARGET = 10, 100, -150
# A steady training, and one that is not: a lesson's lab and the name of a variant there.
TRAININGS = {"as taught": ("05", "TD3 as taught"), "without replay": ("02", "no replay")}


class Keeper:
    """A callback that keeps a copy of the actor and its mean return from FEW starts."""

    def __init__(self, every: int) -> None:
        self.milestones = Milestones(every)
        self.kept: list[tuple[int, float, dict]] = []

    def __call__(self, agent: Agent) -> None:
        if self.milestones.reached(agent.steps):
            mean = evaluate(agent, episodes=FEW).mean
            self.kept.append((agent.steps, mean, copy.deepcopy(agent.actor.state_dict())))


def best_kept_row(name: str, seed: int) -> dict[str, Any]:
    """Evaluations of a training, and what several choices of weights get from 100 other starts.

    The choices: the first evaluation that reaches the target ("stopped"; the last if none does),
    the same if each evaluation has 100 starts ("stopped_many"), the best, and the last.
    """
    torch.set_num_threads(1)
    lesson, variant = TRAININGS[name]
    keeper = Keeper(1000)
    [training] = [each for each in variants(lesson) if each.name == variant]
    agent = training.train(seed, keeper)
    means = [mean for _, mean, _ in keeper.kept]
    every = range(len(means))

    @cache
    def from_many(i: int, starts: int) -> float:
        agent.actor.load_state_dict(keeper.kept[i][2])
        return evaluate(agent, episodes=MANY, seed=starts).mean

    choices = {
        "stopped": next((i for i in every if means[i] >= TARGET), every[-1]),
        "best": int(np.argmax(means)),
        "last": every[-1],
    }
    if name == "as taught":
        enough = (i for i in every if from_many(i, 10_000) >= TARGET)
        choices["stopped_many"] = next(enough, every[-1])
    row = {
        choice: {
            "step": keeper.kept[i][0],
            "reported": round(means[i], 1),
            "fresh": round(from_many(i, 20_000), 1),
        }
        for choice, i in choices.items()
    }
    if name == "as taught":
        row["stopped_many"]["reported"] = round(from_many(choices["stopped_many"], 10_000), 1)
    steps = [step for step, *_ in keeper.kept]
    return {"seed": seed, "steps": steps, "means": [round(mean, 1) for mean in means]} | row


def best_kept() -> dict[str, Any]:
    pool = Parallel(n_jobs=2)
    return {
        name: {"target": TARGET, "few": FEW, "many": MANY, "rows": pool(
            delayed(best_kept_row)(name, seed) for seed in SEEDS
        )}
        for name in TRAININGS
    }  # fmt: skip


# ---- TD3 goes on from a copy ---------------------------------------------------------------------


class OwnSteps(TD3):
    """TD3 whose first steps are its actor's own, with noise, in place of random ones."""

    wait = 0  # updates in which the critics learn alone

    def explore(self, obs: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            action = self.actor(torch.from_numpy(obs)).numpy()
        return np.clip(action + self.noise.sample(action.shape, self.rng), -1, 1)

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        rate = 0.0 if self.updates < self.wait else 1e-3
        self.actor_optimizer.param_groups[0]["lr"] = rate
        return super().update(batch)


class CriticsFirst(OwnSteps):
    wait = 2000


def reminded() -> type[TD3]:
    """The class of the lesson's own cell `reminded`."""
    names = {"TD3": TD3, "np": np, "torch": torch, "minibatches": minibatches, "bc_loss": bc_loss,
             "gradient_step": gradient_step}  # fmt: skip
    text = LESSON.read_text(encoding="utf-8")
    exec(re.search(r":slug: reminded\n(.*?)^```", text, re.M | re.S)[1], names)
    return names["Reminded"]


# name -> (kind, whether demonstrations are in the memory)
VARIANTS: dict[str, tuple[Any, bool]] = {
    "random steps first": (lambda: TD3, False),
    "its own steps first": (lambda: OwnSteps, False),
    "+ demonstrations in the memory": (lambda: OwnSteps, True),
    "+ 2,000 updates of the critics alone": (lambda: CriticsFirst, True),
    "+ imitation goes on": (reminded, True),
}
STEPS = 4000


def head_start_row(name: str, seed: int) -> dict[str, Any]:
    """Greedy returns every 500 steps of TD3 that goes on from a copy; 0 is the copy itself."""
    torch.set_num_threads(1)
    kind, kept = VARIANTS[name]
    sparse = get_setting("ddpgfd", "SparsePendulum-v0")
    demos, agent = sparse.load_demos(), kind()(sparse.env_id, seed=seed, learning_starts=200)
    pretrain(agent, demos)
    agent.shown = as_shown(agent, demos)
    if kept:
        for transition in zip(*as_stored(agent, demos), strict=True):
            agent.buffer.add(*transition)
    after = Evaluate(every=500, episodes=10)
    after.curve.append((0, evaluate(agent, episodes=10)))
    agent.learn(STEPS, after)
    return {
        "steps": [step for step, _ in after.curve],
        "returns": [round(result.mean, 1) for _, result in after.curve],
        "fresh": round(evaluate(agent, episodes=20, seed=20_000).mean, 1),
    }


def head_start() -> dict[str, Any]:
    found = {}
    for name in VARIANTS:
        rows = Parallel(n_jobs=2)(delayed(head_start_row)(name, seed) for seed in SEEDS)
        found[name] = {
            "bar": 120,
            "seeds": list(SEEDS),
            "steps": rows[0]["steps"],
            "returns": [row["returns"] for row in rows],
            "evaluations": [row["fresh"] for row in rows],
        }
    return found


MEASUREMENTS = {each.__name__: each for each in (best_kept, head_start)}


def main() -> None:
    for name in sys.argv[1:]:
        found = MEASUREMENTS[name]()
        command = {"command": f"python -m lessons.claims.measure_05 {name}", **circumstances()}
        write_json(RESULTS / f"05_{name}.json", command | found)


if __name__ == "__main__":
    main()
