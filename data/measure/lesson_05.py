"""What lesson 05 shows in one run each, measured over seeds: stopping early, and cloning first.

    python -m data.measure.lesson_05 stopping|after_cloning

writes data/results/05_<name>.json after each seed; the second was ended after nine. One core, about
six CPU minutes each.
"""

import re
import sys
from collections.abc import Iterator
from typing import Any

import torch

from helpers.agents import TD3
from helpers.agents.base import Agent
from helpers.agents.cloning import as_shown, pretrain
from helpers.agents.off_policy import as_stored
from helpers.demos.files import Demos
from helpers.evaluation import evaluate
from helpers.training.callbacks import CallbackList, Evaluate, StopAtReturn
from helpers.training.results import DATA, RESULTS, write_json
from helpers.training.settings import get_setting
from helpers.training.study import circumstances

LESSON = DATA.parent / "lessons" / "05_td3_in_practice.md"
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


def reminded() -> type[TD3]:
    """The class of the lesson's cell `reminded`."""
    names: dict[str, Any] = {}
    exec("import numpy as np, torch", names)
    from helpers.agents.base import gradient_step
    from helpers.algorithms.cloning import bc_loss, minibatches

    names |= {"TD3": TD3, "gradient_step": gradient_step}
    names |= {"bc_loss": bc_loss, "minibatches": minibatches}
    text = LESSON.read_text(encoding="utf-8")
    exec(re.search(r"^class Reminded.*?^(?=pupil)", text, re.M | re.S)[0], names)
    return names["Reminded"]


def gone_on(pupil: Any, copied: TD3, demos: Demos, remembers: bool) -> list[float]:
    """What a pupil that begins with a copy's networks gets after each 500 of 2,500 steps."""
    pupil.set_parameters(copied.get_parameters())
    pupil.shown = as_shown(pupil, demos)
    for transition in zip(*as_stored(pupil, demos), strict=True) if remembers else ():
        pupil.buffer.add(*transition)
    after = Evaluate(every=500, episodes=5)
    pupil.learn(2500, callback=after)
    return [round(result.mean, 2) for _, result in after.curve]


def after_cloning(seeds: range = range(10)) -> Iterator[dict[str, Any]]:
    """A copy of the clumsy teacher, and how TD3 goes on from it in each variant."""
    demos, whole = get_setting("ddpgfd", SPARSE).load_demos(), reminded()
    results: list[dict[str, Any]] = []
    for seed in seeds:
        copied = TD3(SPARSE, seed=seed)
        pretrain(copied, demos)
        row: dict[str, Any] = {"seed": seed, "copied": round(evaluate(copied).mean, 2)}
        for name, (random_first, remembers, imitates) in VARIANTS.items():
            parts: dict[str, Any] = {"explore": TD3.explore} if random_first else {}
            parts |= {} if imitates else {"update": TD3.update}
            pupil = type("Pupil", (whole,), parts)(SPARSE, seed=seed, learning_starts=200)
            row[name] = gone_on(pupil, copied, demos, remembers)
        results.append(row)
        print(row, flush=True)
        yield {"every": 500, "results": results}


MEASUREMENTS = {each.__name__: each for each in (stopping, after_cloning)}


def main() -> None:
    torch.set_num_threads(1)
    for name in sys.argv[1:]:
        command = {"command": f"python -m data.measure.lesson_05 {name}", **circumstances()}
        for found in MEASUREMENTS[name]():  # stored after each seed
            write_json(RESULTS / f"05_{name}.json", command | found, indent=1)


if __name__ == "__main__":
    main()
