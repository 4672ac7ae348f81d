"""Trains a lab's variants: a lesson's training with one idea switched off, over several seeds.

`python course.py break-it 01 --seeds 0-9 --jobs 2` trains every variant of lesson 01 and writes
data/results/01_break_it.json, which the lesson shows. Stopped halfway, the same command goes on.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed

from helpers.agents.base import Agent
from helpers.agents.cloning import OfflineAgent
from helpers.envs.make import make_env
from helpers.evaluation import evaluate
from helpers.labs.variants import LABS, Variant, variants
from helpers.training.overestimation import values_and_returns
from helpers.training.results import RESULTS, load_results, write_json
from helpers.training.study import circumstances, parse_seeds

POINTS = 25
UNFINISHED = Path("runs") / "break_it"  # the runs of a lab that is not stored yet


def curve(agent: Agent, total_steps: int) -> list[float]:
    """Mean return of the training episodes that ended in each of POINTS equal stretches of steps.

    A stretch in which no episode ended repeats the one before it, at the start the first that has
    one.
    """
    steps, returns = np.array(agent.history["return"]).T
    stretch = np.minimum(steps * POINTS // total_steps, POINTS - 1).astype(int)
    means = [float(returns[stretch == stretch[0]].mean())]
    for point in range(POINTS):
        inside = returns[stretch == point]
        means.append(float(inside.mean()) if len(inside) else means[-1])
    return means[1:]


def value_at_start(agent: Agent, starts: int = 20) -> float:
    """The critic's mean value of fresh starts, in units of 1 / (1 - gamma), the value of
    earning 1 for ever.
    """
    env = make_env(agent.env_source)
    obs = np.array([env.reset(seed=10_000 + i)[0] for i in range(starts)])
    with torch.no_grad():
        value = agent.value(agent.flat(obs)).mean().item()
    return value / agent.reward_factor * (1 - agent.gamma)


def run(variant: Variant, seed: int) -> tuple[str, int, dict[str, Any]]:
    """Train one variant with one seed: its name, the seed, and what is worth keeping."""
    offline, steps = issubclass(variant.setting.kind, OfflineAgent), variant.setting.steps
    found: list[Any] = []

    def watch(agent: Any) -> None:
        """POINTS times. Who learns offline has no episodes: two are played here."""
        if agent.steps % (steps // POINTS) == 0 and len(found) < POINTS:
            found.append(evaluate(agent, episodes=2).mean if offline else values_and_returns(agent))

    agent = variant.train(seed, watch if offline or variant.watched else None)
    with variant.applied():
        score = evaluate(agent).mean
    returns = found if offline else curve(agent, steps)
    kept = {
        "returns": [round(point, 1) for point in returns],
        "evaluations": round(score, 1),
        "values": round(value_at_start(agent), 3),
    }
    if variant.watched:
        estimated, obtained = np.round(found, 2).T.tolist()
        kept |= {"estimated": estimated, "obtained": obtained}
    return variant.name, seed, kept


def run_named(lesson: str, name: str, seed: int) -> tuple[str, int, dict[str, Any]]:
    """`run` in another process, which makes the variant itself, or what an earlier start kept."""
    variant = next(each for each in variants(lesson) if each.name == name)
    path = unfinished(lesson, name, seed)
    made_of = repr((variant.setting, variant.changes, [*variant.replaced]))
    if path.exists():
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored["made of"] == made_of:  # not of a variant that has changed since
            return name, seed, stored["kept"]
    result = run(variant, seed)
    write_json(path, {"made of": made_of, "kept": result[2]})
    return result


def unfinished(lesson: str, name: str, seed: int) -> Path:
    """Where a run is kept until all are done."""
    return UNFINISHED / lesson / f"{name}, seed {seed}.json"


def study(lesson: str, names: Sequence[str], seeds: Sequence[int], jobs: int) -> dict[str, Any]:
    """The variants of these names over `seeds`: name -> what `load_lab` gives."""
    chosen = [variant for variant in variants(lesson) if variant.name in names]
    tasks = [(lesson, variant.name, seed) for seed in seeds for variant in chosen]
    done: dict[tuple[str, int], dict[str, Any]] = {}
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for name, seed, kept in pool(delayed(run_named)(*task) for task in tasks):
        done[name, seed] = kept
        final = kept["evaluations"]
        print(f"{len(done):3d}/{len(tasks)}  {name}, seed {seed}: {final:.1f}", flush=True)
    return {variant.name: _record(variant, seeds, done) for variant in chosen}


def _record(variant: Variant, seeds: Sequence[int], done: dict) -> dict[str, Any]:
    """One variant's results, a list over seeds for each thing that was kept."""
    stretch = variant.setting.steps / POINTS
    kept = [done[variant.name, seed] for seed in seeds]
    return {
        "bar": variant.setting.bar,
        "seeds": list(seeds),
        "steps": [round((point + 1) * stretch) for point in range(POINTS)],
        **{key: [each[key] for each in kept] for key in kept[0]},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python course.py break-it",
        description='Train every variant of a lesson\'s "break it" lab and store the results.',
    )
    parser.add_argument("lesson", choices=sorted(LABS), help="such as 01")
    parser.add_argument("--seeds", default="0-9", help="0-9, 3 or 0-4,7 (default 0-9)")
    parser.add_argument("--jobs", type=int, default=2, help="seeds trained side by side")
    parser.add_argument("--only", metavar="NAME", help="train this variant alone, keep the others")
    options = parser.parse_args(arguments)
    names = [variant.name for variant in variants(options.lesson)]
    if options.only and options.only not in names:
        parser.error(f"no variant is called {options.only!r}; there are: {', '.join(names)}.")
    path = RESULTS / f"{options.lesson}_break_it.json"
    trained = [options.only] if options.only else names
    try:
        seeds = parse_seeds(options.seeds)
        new = study(options.lesson, trained, seeds, options.jobs)
    except ValueError as error:
        parser.error(str(error))
    kept = load_results(path.stem) if options.only else {}
    command = f"python course.py break-it {options.lesson} --seeds {options.seeds}"
    runs = {name: new[name] if name in new else kept[name] for name in names}
    write_json(path, {"command": command, **circumstances("mujoco"), **runs})
    for variant in variants(options.lesson):
        for seed in seeds if variant.name in trained else ():
            unfinished(options.lesson, variant.name, seed).unlink(missing_ok=True)
    print(f"Written to data/results/{path.name}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
