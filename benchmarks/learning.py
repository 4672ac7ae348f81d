"""How fast our TD3 learns beside Stable-Baselines3's, in steps and in seconds, over several seeds.

`python -m benchmarks.learning` trains all and writes data/results/03_beside_sb3.json: about a
quarter of an hour on two cores, most of it for SB3 at its defaults.
"""

import time
from collections.abc import Callable
from typing import Any

import torch
from joblib import Parallel, delayed

from benchmarks.peers import load
from benchmarks.training import noise_of
from helpers.evaluation import evaluate
from helpers.training.results import RESULTS, write_json
from helpers.training.settings import Setting, get_setting
from helpers.training.study import circumstances

RESULT = RESULTS / "03_beside_sb3.json"
SEEDS = range(100, 110)
POINTS = 12
EPISODES = 10

Learner = tuple[Any, Callable[[int], object]]  # what `evaluate` takes, and how it learns on


def ours(setting: Setting, seed: int) -> Learner:
    agent = setting.make(seed)
    return agent, agent.learn


def theirs(setting: Setting, seed: int) -> Learner:
    """At its defaults, with the exploration noise that our setting has: it has none by default."""
    return _sb3(setting, seed)


def theirs_as_small(setting: Setting, seed: int) -> Learner:
    """With our network, batch, warm-up, tau and the actor's learning rate besides."""
    agent = setting.make(seed)
    hidden = agent.hyperparameters["hidden"]
    return _sb3(
        setting,
        seed,
        policy_kwargs={"net_arch": [hidden, hidden]},
        batch_size=agent.batch_size,
        learning_starts=agent.learning_starts,
        tau=agent.tau,
        learning_rate=agent.hyperparameters["actor_learning_rate"],
    )


def _sb3(setting: Setting, seed: int, **parameters: Any) -> Learner:
    arguments = {"seed": seed, "device": "cpu", "action_noise": noise_of(setting), **parameters}
    model = load("stable_baselines3").TD3("MlpPolicy", setting.env_id, **arguments)
    return model, lambda steps: model.learn(steps, reset_num_timesteps=False)


LEARNERS = {
    "the course's TD3": ours,
    "Stable-Baselines3, as small": theirs_as_small,
    "Stable-Baselines3, defaults": theirs,
}


def run(name: str, setting: Setting, seed: int) -> dict[str, Any]:
    """One seed's greedy returns after each POINTS-th of the training, and the seconds it took.

    Seconds of computing, on one core: waiting for a core that is busy with other work is left out.
    """
    torch.set_num_threads(1)
    learner, learn = LEARNERS[name](setting, seed)
    returns, seconds = [], 0.0
    for _ in range(POINTS):
        started = time.process_time()
        learn(setting.steps // POINTS)
        seconds += time.process_time() - started
        result = evaluate(learner, setting.env_id, episodes=EPISODES)
        returns.append(round(float(result.mean), 1))
    return {"learner": name, "seed": seed, "seconds": round(seconds, 1), "returns": returns}


def clock(setting: Setting) -> list[dict[str, Any]]:
    """The seconds of each learner once more, in turn: so near in time they can be compared."""
    rows = [run(name, setting, seed) for seed in SEEDS[:2] for name in LEARNERS]
    return [{key: row[key] for key in ("learner", "seed", "seconds")} for row in rows]


def main() -> None:
    """Train every learner with every seed; the record is written after each of them."""
    load("stable_baselines3")  # if it is missing, now
    setting = get_setting("td3", "Pendulum-v1")
    every = setting.steps // POINTS
    record: dict[str, Any] = {
        "command": "python -m benchmarks.learning",
        **circumstances("stable-baselines3"),
        "env_id": setting.env_id,
        "bar": setting.bar,
        "evaluation_episodes": EPISODES,
        "steps": [every * (point + 1) for point in range(POINTS)],
        "results": [],
    }
    tasks = [(name, setting, seed) for name in LEARNERS for seed in SEEDS]
    for row in Parallel(n_jobs=2, return_as="generator")(delayed(run)(*task) for task in tasks):
        record["results"].append(row)
        last, seconds = row["returns"][-1], row["seconds"]
        print(f"{row['learner']}, seed {row['seed']}: {last:.1f}, {seconds:.1f} s", flush=True)
        write_json(RESULT, record, rows="results")
    write_json(RESULT, record | {"clock": clock(setting)}, rows="results")


if __name__ == "__main__":
    main()
