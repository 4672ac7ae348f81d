"""What lesson 04 says of copies, handicaps, silent actors and a corridor, measured once.

    python -m data.measure.lesson_04 handicaps|copies|silent|corridor

writes data/results/04_<name>.json. One core; the longest takes some minutes.
"""

import sys
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import torch

from helpers.agents import BehaviourCloning
from helpers.agents.off_policy import as_stored
from helpers.algorithms.cloning import bc_loss
from helpers.demos.files import Demos, load_demos
from helpers.evaluation import evaluate
from helpers.training.results import RESULTS, write_json
from helpers.training.settings import DEMOS, get_setting
from helpers.training.study import circumstances
from lessons.evidence.lesson_04 import cells
from tools import demos as teachers

SPARSE = "SparsePendulum-v0"


def copy(demos: Demos, seed: int) -> dict[str, Any]:
    """A copy of the demonstrations: how well it imitates them, and what it gets."""
    setting = get_setting("bc", SPARSE)
    agent = BehaviourCloning(SPARSE, seed=seed).remember(demos).learn(setting.steps)
    obs, action = (torch.from_numpy(np.asarray(part)) for part in as_stored(agent, demos)[:2])
    with torch.no_grad():
        loss = bc_loss(agent.actor, obs, action).item()
    return {"seed": seed, "loss": round(loss, 5), "mean": round(evaluate(agent).mean, 2)}


def copies() -> dict[str, Any]:
    """Twenty copies of the clumsy teacher, with the loss that each ended with."""
    demos = load_demos(DEMOS / "clumsy_pendulum.npz")
    return {"results": [copy(demos, seed) for seed in range(100, 120)]}


def handicaps(seeds: range = range(10)) -> dict[str, Any]:
    """The teacher with each choice of its three handicaps, and ten copies of each."""
    setting = get_setting("ddpg", "Pendulum-v1")
    agent = setting.make(seed=teachers.AGENT_SEED).learn(setting.steps)
    delay, levels, slips = teachers.DELAY, teachers.LEVELS, teachers.SLIPS
    results = []
    for late, few, slipping in product((False, True), repeat=3):
        teachers.DELAY = delay if late else 0
        teachers.LEVELS = levels if few else 4001  # as good as any torque
        teachers.SLIPS = slips if slipping else 0.0
        demos = teachers.one_by_one(agent, range(teachers.CLUMSY), "lesson 02's DDPG")
        runs = [copy(demos, seed) for seed in seeds]
        results.append(
            {"late": late, "few torques": few, "slips": slipping}
            | {"teacher": demos.returns.tolist(), "copies": [run["mean"] for run in runs]}
        )
        print(results[-1], flush=True)
    return {"results": results}


def silent() -> dict[str, Any]:
    """The actors of seeds that ended near 0 and of others: how far in the tanh's flat part."""
    asked = [
        ("five demonstrations", {"episodes": 5}, {}, (0, 2)),
        ("no L2", {}, {"weight_decay": 0.0}, (0, 1)),
    ]
    results = []
    for name, of_setting, changes, seeds in asked:
        setting = replace(get_setting("ddpgfd", SPARSE), **of_setting)
        for seed in seeds:
            agent = setting.make(seed, **changes).learn(setting.steps)
            size = len(agent.buffer)
            obs = torch.from_numpy(agent.buffer.arrays.obs[:size])
            with torch.no_grad():
                action = agent.actor(obs)
            slope = (1 - action**2).mean().item()
            row = {
                "variant": name, "seed": seed, "mean": round(evaluate(agent).mean, 2),
                "rewards in the memory": int(agent.buffer.arrays.reward[:size].sum()),
                "mean action": round(action.mean().item(), 4),
                "share beyond 0.99": round((action.abs() > 0.99).float().mean().item(), 4),
                "mean slope of the tanh": float(f"{slope:.3g}"),
            }  # fmt: skip
            results.append(row)
            print(row, flush=True)
    return {"results": results}


def corridor(seeds: range = range(10)) -> dict[str, Any]:
    """The lesson's own cells of the corridor, for ten seeds."""
    names = cells("corridor", "corridor-replay", "corridor-variants")
    results = {}
    for name, settings in names["variants"].items():
        runs = [names["replay"](seed, **settings) for seed in seeds]
        results[name] = {
            "found": [found for found, _ in runs],
            "values": [[round(float(v), 4) for v in values] for _, values in runs],
        }
        print(name, results[name]["found"], flush=True)
    return {"every": names["EVERY"], "draws": names["DRAWS"], "results": results}


MEASUREMENTS = {each.__name__: each for each in (handicaps, copies, silent, corridor)}


def main() -> None:
    torch.set_num_threads(1)
    for name in sys.argv[1:]:
        found = MEASUREMENTS[name]()
        command = {"command": f"python -m data.measure.lesson_04 {name}", **circumstances()}
        write_json(RESULTS / f"04_{name}.json", command | found, indent=1)


if __name__ == "__main__":
    main()
