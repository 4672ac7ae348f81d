"""How long it takes from `python` to a lesson's bar: imports, compilation and training."""

import json
import subprocess
import sys
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.measure import SECONDS, Bar, Benchmark, Contender
from benchmarks.peers import load
from benchmarks.workers import Run, Turn
from helpers.agents.schedules import LinearSchedule
from helpers.training.settings import Setting, get_setting

ROOT = Path(__file__).resolve().parent.parent
FIRST_SEED = 100
TASKS = {  # algorithm -> environment, evaluated every so many steps
    "td3": ("Pendulum-v1", 500),
    "a2c": ("CartPole-v1", 5_000),
    "ppo": ("CartPole-v1", 5_000),
}
SB3, SBX = "stable_baselines3", "sbx"

# github.com/DLR-RM/rl-baselines3-zoo, hyperparams/{td3,a2c,ppo}.yml; `steps` is n_timesteps there.
# TD3's are for Pendulum-v0, of which its Pendulum-v1 is the successor.
ZOO: dict[str, dict[str, Any]] = {
    "td3": {
        "steps": 20_000, "gamma": 0.98, "buffer_size": 200_000, "learning_starts": 10_000,
        "sigma": 0.1, "gradient_steps": -1, "train_freq": (1, "episode"), "learning_rate": 1e-3,
        "policy_kwargs": {"net_arch": [400, 300]},
    },
    "a2c": {"steps": 500_000, "n_envs": 8, "ent_coef": 0.0},
    "ppo": {
        "steps": 100_000, "n_envs": 8, "n_steps": 32, "batch_size": 256, "gae_lambda": 0.8,
        "gamma": 0.98, "n_epochs": 20, "ent_coef": 0.0,
        "linear": {"learning_rate": (0.001, 0, 100_000), "clip_range": (0.2, 0, 100_000)},
    },
}  # fmt: skip


def to_the_bar(algorithm: str) -> Benchmark:
    """Ours beside SB3's and SBX's with our settings, and SB3's with those of rl-zoo."""
    env_id, _ = TASKS[algorithm]
    setting = get_setting(algorithm, env_id)
    against = partial(Contender, against="ours")
    here = of_library(setting)
    contenders = [
        Contender("ours", partial(prepare, setting, "ours", {})),
        against("SB3, our settings", partial(prepare, setting, SB3, here), bar=Bar(">=", 2.5)),
        against("SB3, rl-zoo's settings", partial(prepare, setting, SB3, ZOO[algorithm])),
    ]
    if algorithm != "a2c":  # SBX has none
        there = of_library(setting, SBX)
        prepared = partial(prepare, setting, SBX, there)
        contenders.insert(2, against("SBX, our settings", prepared, bar=Bar(">=", 1)))
    if algorithm == "td3":
        plain = partial(prepare, setting, "file", of_plain_file(setting))
        contenders.append(against("a plain file, our settings", plain))
    title = f"{algorithm.upper()}, CPU seconds from `python` to the bar on {env_id}, a seed a round"
    return Benchmark(title, SECONDS, contenders, steps=1, rounds=20, warm_up=False)


def prepare(setting: Setting, learner: str, arguments: dict[str, Any]) -> Run:
    """A run whose next turn is the next seed, in a process of its own."""
    if learner in (SB3, SBX):
        load(learner)
    task = {
        "learner": learner, "algorithm": setting.algorithm, "env_id": setting.env_id,
        "bar": setting.bar, "every": TASKS[setting.algorithm][1],
        "arguments": {"steps": setting.steps} | arguments,
    }  # fmt: skip
    seeds = count(FIRST_SEED)

    def run(steps: int) -> Turn:
        said = json.dumps(task | {"seed": next(seeds)})
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.one_seed", said]
        child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if child.returncode:
            raise RuntimeError(child.stderr.strip().splitlines()[-1])
        return tuple(json.loads(child.stdout.splitlines()[-1]))

    return run


def of_library(setting: Setting, library: str = SB3) -> dict[str, Any]:
    """The lesson's settings in the library's words, as far as it has them."""
    its = setting.make(seed=0).hyperparameters
    shared: dict[str, Any] = {
        "gamma": its["gamma"],
        "reward_scale": its["reward_scale"],
        "policy_kwargs": {"net_arch": [its["hidden"]] * 2},
    }
    if setting.algorithm == "td3":
        same = ("tau", "batch_size", "learning_starts", "buffer_size")
        rates = {"learning_rate": its["actor_learning_rate"]}
        if library == SBX:
            rates["qf_learning_rate"] = its["critic_learning_rate"]
        return shared | rates | {name: its[name] for name in same} | {"sigma": its["noise"].sigma}
    schedule: LinearSchedule = its["learning_rate"]
    shared |= {
        "linear": {"learning_rate": (schedule.start, schedule.end, schedule.steps)},
        "gae_lambda": its["lam"],
        "ent_coef": its["entropy_coef"],
        **{name: its[name] for name in ("n_envs", "n_steps", "max_grad_norm")},
    }
    if setting.algorithm == "a2c":
        return shared | {"use_rms_prop": False, "normalize_advantage": True}
    return shared | {name: its[name] for name in ("n_epochs", "batch_size", "clip_range")}


def of_plain_file(setting: Setting) -> dict[str, Any]:
    its = setting.make(seed=0).hyperparameters
    same = (
        "hidden", "batch_size", "learning_starts", "actor_learning_rate", "critic_learning_rate",
        "gamma", "tau", "reward_scale",
    )  # fmt: skip
    return {name: its[name] for name in same} | {"sigma": its["noise"].sigma}
