"""What lesson 04 says of cloned policies, of a bug and of a corridor, measured once.

    python -m data.measure.lesson_04 handicaps|copies|bug|corridor

writes data/results/04_<name>.json. One core; the longest takes some minutes.
"""

from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from numpy.typing import NDArray

from data.measure.stored import bug_of, measure
from helpers.agents import BehaviourCloning
from helpers.algorithms import cloning, ddpgfd, shared
from helpers.algorithms.cloning import bc_loss
from helpers.evaluation import evaluate
from helpers.memory.buffers import n_step_return
from helpers.training.settings import get_setting
from tools import demos as teachers

SPARSE = "SparsePendulum-v0"
UPDATES = (1000, 2000, 4000, 7000, 10_000)  # after which a cloned policy is evaluated


def copies() -> dict[str, Any]:
    """Twenty policies cloned from the clumsy teacher: loss and return after several updates.

    And the same by `cloning.train`, which stops early and keeps the epoch that is best on held-out
    episodes, as lesson 05 does.
    """
    s = cloning.SPARSE_PENDULUM
    env = shared.scaled_env(s.env_id)
    demos = ddpgfd.read_demos(s.demos, env)
    obs, action = torch.from_numpy(demos["obs"]), torch.from_numpy(demos["action"])
    results = []
    for seed in range(100, 120):
        torch.manual_seed(seed)
        rng, agent = np.random.default_rng(seed), cloning.Agent(env, s)
        row: dict[str, Any] = {"seed": seed, "loss": [], "mean": []}
        for update in range(1, UPDATES[-1] + 1):
            rows = torch.from_numpy(rng.integers(0, len(obs), 128))
            cloning.update(agent, obs[rows], action[rows])
            if update in UPDATES:
                with torch.no_grad():
                    row["loss"].append(round(bc_loss(agent.actor, obs, action).item(), 5))
                row["mean"].append(round(evaluate(agent, SPARSE).mean, 2))
        stopped = cloning.train(s, seed)
        epochs, losses = zip(*stopped.history["validation_loss"], strict=True)
        row |= {"held out": round(evaluate(stopped, SPARSE).mean, 2)}
        row |= {"best epoch": epochs[int(np.argmin(losses))], "epochs": len(epochs)}
        results.append(row)
        print(row, flush=True)
    return {"updates": UPDATES, "results": results}


def handicaps(seeds: range = range(10)) -> dict[str, Any]:
    """The teacher with each choice of its three handicaps, and ten policies cloned from each."""
    bc, agent = get_setting("bc", SPARSE), teachers.teacher()
    delay, levels, slips = teachers.DELAY, teachers.LEVELS, teachers.SLIPS
    results = []
    for late, few, slipping in product((False, True), repeat=3):
        teachers.DELAY = delay if late else 0
        teachers.LEVELS = levels if few else 4001  # as good as any torque
        teachers.SLIPS = slips if slipping else 0.0
        demos = teachers.one_by_one(agent, range(teachers.CLUMSY), "lesson 02's DDPG")
        cloned = [BehaviourCloning(SPARSE, seed=k).remember(demos).learn(bc.steps) for k in seeds]
        results.append(
            {"late": late, "few torques": few, "slips": slipping}
            | {"teacher": demos.returns.tolist()}
            | {"copies": [round(evaluate(each).mean, 2) for each in cloned]}
        )
        print(results[-1], flush=True)
    return {"results": results}


def bug(seeds: range = range(3), every: int = 200) -> dict[str, Any]:
    """DDPGfD as it is and with the bug of exercise 4.10: returns, and what its critic says.

    The critic's mean value of the actor's own actions in the demonstrated states.
    """
    s = replace(ddpgfd.SPARSE_PENDULUM, steps=4000)
    demos = ddpgfd.read_demos(s.demos, shared.scaled_env(s.env_id))
    obs = torch.from_numpy(demos["obs"])
    results: dict[str, Any] = {}

    def watched(values, steps, agent, history):
        for step in steps:
            yield step
            if step % every == 0:
                with torch.no_grad():
                    values.append(round(agent.critic(obs, agent.actor(obs)).mean().item(), 2))

    for name, target in {"right": ddpgfd.n_step_target, "broken": bug_of("4.10")}.items():
        kept: dict[str, list] = {"returns": [], "values": []}
        for seed in seeds:
            values: list[float] = []
            with patch.object(ddpgfd, "n_step_target", target):
                agent = ddpgfd.train(s, seed, watch=partial(watched, values))
            kept["values"].append(values)
            kept["returns"].append([each for _, each in agent.history["return"]])
            print(name, seed, values[-1], kept["returns"][-1], flush=True)
        results[name] = kept
    return {"every": every, "results": results}


# ---- the corridor --------------------------------------------------------------------------------

ROOMS, OWN, GAMMA = 16, 2000, 0.95  # rooms; the agent's own transitions; the discount
DRAWS, EVERY = 40_000, 400
VARIANTS: dict[str, dict[str, float]] = {
    "uniform sampling": {},
    "by TD error": {"alpha": 0.3},
    "by TD error, with bonus": {"alpha": 0.3, "bonus": 1.0},
    "uniform, 5-step target too": {"n_weight": 0.5},
    "all three": {"alpha": 0.3, "bonus": 1.0, "n_weight": 0.5},
}


def stored(rng: np.random.Generator) -> tuple[NDArray, NDArray, NDArray]:
    """A buffer: a demonstration all the way to the reward, then random walks that end early.

    Of each transition the room, whether the action was the right one, and whether it was the last.
    """
    room, right, end = [*range(ROOMS)], [1] * ROOMS, [*[False] * (ROOMS - 1), True]
    while len(room) < ROOMS + OWN:
        length = min(int(rng.geometric(0.5)), ROOMS)  # coins tossed up to the first wrong one
        room += range(length)
        right += [1] * (length - 1) + [0]
        end += [False] * (length - 1) + [True]
    return np.array(room), np.array(right), np.array(end)


def replay(
    seed: int, alpha: float = 0.0, bonus: float = 0.0, n_weight: float = 0.0, n: int = 5
) -> tuple[int | None, list[float]]:
    """Q-learning in a table: the samples until the greedy way is right, and the first room's value.

    No importance weights: in a table they would not change the values that are reached.
    """
    rng = np.random.default_rng(seed)
    room, right, end = stored(rng)
    places = np.arange(len(room))
    reward = 1.0 * ((right == 1) & (room == ROOMS - 1))
    following = np.where(end, ROOMS, room + 1)  # row ROOMS of the table stays 0
    window = np.minimum(places[:, None] + np.arange(n), len(room) - 1)
    n_reward, k = n_step_return(reward[window], end[window], GAMMA)
    n_following = following[places + k - 1]
    extra = 1e-3 + bonus * (places < ROOMS)  # for demonstrations more
    table, scaled = np.zeros((ROOMS + 1, 2)), (1 + extra) ** alpha
    found, values = None, []
    for draw in range(1, DRAWS + 1):
        ends = scaled.cumsum()
        i = min(ends.searchsorted(rng.random() * ends[-1]), len(room) - 1)
        cell = room[i], right[i]
        error = reward[i] + GAMMA * table[following[i]].max() - table[cell]
        n_error = n_reward[i] + GAMMA ** k[i] * table[n_following[i]].max() - table[cell]
        table[cell] += 0.25 * (error + n_weight * n_error) / (1 + n_weight)
        scaled[i] = (error**2 + extra[i]) ** alpha
        if found is None and (table[:ROOMS, 1] > table[:ROOMS, 0]).all():
            found = draw
        if draw % EVERY == 0:
            values.append(float(table[0, 1] / GAMMA ** (ROOMS - 1)))
    return found, values


def corridor(seeds: range = range(10)) -> dict[str, Any]:
    """Each variant with ten seeds."""
    results = {}
    for name, settings in VARIANTS.items():
        runs = [replay(seed, **settings) for seed in seeds]
        results[name] = {
            "found": [found for found, _ in runs],
            "values": [[round(float(v), 4) for v in values] for _, values in runs],
        }
        print(name, results[name]["found"], flush=True)
    return {"every": EVERY, "draws": DRAWS, "results": results}


if __name__ == "__main__":
    measure("04", handicaps, copies, bug, corridor)
