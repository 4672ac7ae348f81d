"""Two small studies of lesson 05, over seeds: the probes, and pre-training by cloning.

`python -m tools.practice probes --seeds 100-119` writes data/results/05_probes.json, and
`python -m tools.practice pretraining --seeds 100-109` data/results/05_pretraining.json.
"""

import argparse
import time
from collections.abc import Sequence

from helpers.agents import A2C, DDPG, TD3, DDPGfD
from helpers.agents.base import Agent
from helpers.agents.cloning import pretrain
from helpers.demos.files import Demos, load_demos
from helpers.evaluation import evaluate
from helpers.training.probes import probe, quick
from helpers.training.results import RESULTS, write_json
from helpers.training.settings import DEMOS
from helpers.training.study import circumstances, parse_seeds

TEACHERS = {"pendulum": "Pendulum-v1", "clumsy_pendulum": "SparsePendulum-v0"}
EPOCHS, PATIENCE = 150, 50


def probes(seeds: Sequence[int]) -> dict:
    """What right agents answer, and the processor time of all five probes."""
    results = {}
    for kind in (A2C, DDPG, TD3, DDPGfD):
        began = time.process_time()
        answers = [probe(quick(kind), seed) for seed in seeds]
        results[kind.__name__] = {
            "seconds": round((time.process_time() - began) / len(seeds), 1),
            **{
                column[0].name: {
                    "passed": sum(one.passed for one in column),
                    "expected": column[0].expected,
                    "tolerance": column[0].tolerance,
                    "got": [[round(number, 3) for number in one.got] for one in column],
                }
                for column in zip(*answers, strict=True)
            },
        }
        print(
            kind.__name__,
            {n: r["passed"] for n, r in results[kind.__name__].items() if n != "seconds"},
            flush=True,
        )
    return results


def pretraining(seeds: Sequence[int]) -> dict:
    """Losses with and without the early stop, and returns before and after."""
    results = {}
    for file, env_id in TEACHERS.items():
        demos = load_demos(DEMOS / f"{file}.npz")
        for kind in (TD3, A2C):
            rows = [_pretrained(kind, env_id, demos, seed) for seed in seeds]
            results[f"{kind.__name__} on {env_id}"] = {
                "demonstrations": str(demos), "epochs": EPOCHS, "patience": PATIENCE, "rows": rows,
            }  # fmt: skip
            print(kind.__name__, env_id, [row["pretrained"] for row in rows], flush=True)
    return results


def _pretrained(kind: type[Agent], env_id: str, demos: Demos, seed: int) -> dict:
    """One agent pre-trained with the early stop, and one to the end."""
    agent, other = (kind(env_id, hidden=64, seed=seed) for _ in range(2))
    untrained = evaluate(agent, episodes=10).mean
    how = {"epochs": EPOCHS, "learning_rate": 3e-3}
    stopped = pretrain(agent, demos, patience=PATIENCE, **how)
    whole = pretrain(other, demos, patience=EPOCHS, **how)
    return {
        "seed": seed,
        "untrained": round(untrained, 1),
        "pretrained": round(evaluate(agent, episodes=10).mean, 1),
        "best_epoch": stopped.best_epoch,
        "epochs": len(stopped.validation_losses) - 1,
        "validation": [round(loss, 4) for loss in whole.validation_losses],
        "train": [round(loss, 4) for loss in whole.train_losses],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.practice")
    parser.add_argument("study", choices=["probes", "pretraining"])
    parser.add_argument("--seeds", default="100-109", help="100-119, 3 or 0-4,7")
    options = parser.parse_args(arguments)
    study = {"probes": probes, "pretraining": pretraining}[options.study]
    results = {
        "command": f"python -m tools.practice {options.study} --seeds {options.seeds}",
        **circumstances(),
        **study(parse_seeds(options.seeds)),
    }
    path = RESULTS / f"05_{options.study}.json"
    write_json(path, results)
    print(f"Written to data/results/{path.name}.")


if __name__ == "__main__":
    main()
