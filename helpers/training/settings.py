"""Every lesson's training settings and bars; lessons, studies, tests and benchmarks read them here.

A bar is the mean return of 20 greedy evaluation episodes. Settings are tuned on other seeds than
those that results are reported on (`seeds`, by `python course.py study`).
"""

import os
from dataclasses import dataclass, field, replace
from typing import Any

import helpers.agents
from helpers.agents import DDPGfD
from helpers.agents.base import Agent
from helpers.agents.noise import GaussianNoise, OUNoise
from helpers.agents.off_policy import OffPolicyAgent
from helpers.agents.schedules import LinearSchedule
from helpers.demos.files import Demos, load_demos
from helpers.training.results import DATA

DEMOS, WEIGHTS = DATA / "demos", DATA / "weights"


ALGORITHMS = {  # -> the name of the agent's class
    "a2c": "A2C", "reinforce": "ReinforceWithBaseline", "ppo": "PPO", "ddpg": "DDPG", "td3": "TD3",
    "sac": "SAC", "ddpgfd": "DDPGfD", "bc": "BehaviourCloning", "td3bc": "TD3BC", "rlpd": "RLPD",
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """What one lesson trains: an algorithm on an environment, how long, and what it must reach."""

    algorithm: str  # one of ALGORITHMS
    env_id: str
    lesson: str
    steps: int
    bar: float
    params: dict[str, Any] = field(default_factory=dict)
    demos: str | None = None  # a file in data/demos, without its ending, or a path to another .npz
    episodes: int | None = None  # so many of the demonstrations, from the first on; None for all
    seeds: range = range(100, 120)  # reported on; others if these were seen before it was final

    @property
    def kind(self) -> type[Agent]:
        """The agent's class."""
        return getattr(helpers.agents, ALGORITHMS[self.algorithm])

    def make(self, seed: int, **changes: Any) -> Agent:
        """The untrained agent; `changes` replace parameters, to switch an idea off."""
        kind: Any = self.kind
        agent = kind(self.env_id, seed=seed, **{**self.params, **changes})
        return agent if self.demos is None else agent.remember(self.load_demos())

    def load_demos(self) -> Demos:
        """The demonstrations that come with this setting."""
        assert self.demos is not None
        is_path = self.demos.endswith(".npz")
        demos = load_demos(self.demos if is_path else DEMOS / f"{self.demos}.npz", self.env_id)
        return demos if self.episodes is None else demos.first(self.episodes)


# Noise that pushes in one direction for a while: what moves a car out of its valley.
SLOW_WARM_UP = {"learning_starts": 3000, "warm_up_noise": OUNoise(sigma=0.5, theta=0.05)}
SLOW_NOISE = {"noise": OUNoise(sigma=0.3, theta=0.05)}
FROM_DEMOS = {
    "learning_starts": 1, "pretraining": 2000, "gradient_steps": 2, "tau": 0.01,
    "weight_decay": 1e-4, "noise": GaussianNoise(0.2),
}  # fmt: skip

LESSONS = (
    Setting(
        "reinforce", "CartPole-v1", "01_a2c", steps=300_000, bar=475,
        params={
            "gamma": 0.995, "reward_scale": 0.005,
            "learning_rate": LinearSchedule(1e-3, 1e-4, 180_000),
        },
    ),
    Setting(
        "a2c", "CartPole-v1", "01_a2c", steps=180_000, bar=475,
        params={"reward_scale": 0.01, "learning_rate": LinearSchedule(3e-3, 3e-4, 108_000)},
    ),
    Setting(
        "a2c", "Pendulum-v1", "01_a2c", steps=500_000, bar=-200,
        params={
            "gamma": 0.95, "reward_scale": 0.01, "entropy_coef": 0.0,
            "learning_rate": LinearSchedule(2e-3, 2e-4, 340_000), "critic_steps": 10,
        },
    ),
    Setting(
        "ppo", "CartPole-v1", "07_ppo", steps=80_000, bar=475,
        params={
            "n_steps": 64, "n_epochs": 8, "batch_size": 256, "reward_scale": 0.01,
            "learning_rate": LinearSchedule(2e-3, 2e-4, 80_000),
        },
    ),
    Setting(
        "ppo", "Acrobot-v1", "07_ppo", steps=200_000, bar=-100, seeds=range(300, 320),
        params={
            "n_steps": 64, "n_epochs": 4, "batch_size": 256, "entropy_coef": 0.01,
            "reward_scale": 0.01, "learning_rate": LinearSchedule(2e-3, 0, 200_000),
        },
    ),
    Setting(
        "ppo", "Pendulum-v1", "07_ppo", steps=80_000, bar=-200, seeds=range(300, 320),
        params={
            "gamma": 0.95, "n_envs": 8,
            "n_steps": 201,  # a whole episode and its filler row
            "batch_size": 256, "reward_scale": 0.01,
            "learning_rate": LinearSchedule(2e-3, 2e-4, 80_000),
        },
    ),
    Setting(
        "ddpg", "Pendulum-v1", "02_ddpg", steps=12_000, bar=-200,
        params={"reward_scale": 0.1, "actor_learning_rate": 3e-4, "noise": GaussianNoise(0.1)},
    ),
    Setting(
        "ddpg", "MountainCarContinuous-v0", "02_ddpg", steps=20_000, bar=90,
        params={"reward_scale": 0.1, "actor_learning_rate": 3e-4} | SLOW_WARM_UP | SLOW_NOISE,
    ),
    Setting(
        "td3", "Pendulum-v1", "03_td3", steps=12_000, bar=-200,
        params={"reward_scale": 0.1, "tau": 0.02, "noise": GaussianNoise(0.1)},
    ),
    Setting(
        "td3", "MountainCarContinuous-v0", "03_td3", steps=20_000, bar=90,
        params={"reward_scale": 0.1, "tau": 0.01} | SLOW_WARM_UP | SLOW_NOISE,
    ),
    Setting(
        "sac", "Pendulum-v1", "06_sac", steps=8_000, bar=-200,
        params={"reward_scale": 0.1, "tau": 0.02},
    ),
    Setting(
        "sac", "MountainCarContinuous-v0", "06_sac", steps=10_000, bar=90,
        params={
            "reward_scale": 0.1, "tau": 0.01, "actor_learning_rate": 3e-4, "temperature": 0.1,
        } | SLOW_WARM_UP,
    ),
    Setting(
        "ddpgfd", "SparsePendulum-v0", "04_ddpgfd", steps=8_000, bar=120,
        params=FROM_DEMOS, demos="clumsy_pendulum",
    ),
    Setting(
        "ddpg", "SparsePendulum-v0", "04_ddpgfd", steps=8_000, bar=120,
        params={"gradient_steps": 2, "tau": 0.01, "noise": GaussianNoise(0.2)},
    ),
    Setting(
        "bc", "SparsePendulum-v0", "04_ddpgfd", steps=2_000,  # updates: it takes no step
        bar=120, demos="clumsy_pendulum",
    ),
    Setting(
        "ddpgfd", "Pendulum-v1", "04_ddpgfd", steps=6_000, bar=-200,
        params=FROM_DEMOS | {"reward_scale": 0.1}, demos="pendulum",
    ),
    Setting(
        "td3bc", "SparsePendulum-v0", "08_old_data", steps=3_000,  # updates, as above
        bar=120, params={"tau": 0.02}, demos="clumsy_pendulum",
    ),
    Setting(
        "rlpd", "SparsePendulum-v0", "08_old_data", steps=6_000, bar=120,
        params={"learning_starts": 100, "gradient_steps": 2, "tau": 0.02, "temperature": 0.1},
        demos="clumsy_pendulum",
    ),
)  # fmt: skip

# The robots of MuJoCo, as the authors of TD3 train them: github.com/sfujim/TD3, main.py and TD3.py.
MUJOCO: dict[str, Any] = {
    "hidden": 256, "batch_size": 256, "buffer_size": 1_000_000, "learning_starts": 25_000,
    "actor_learning_rate": 3e-4, "critic_learning_rate": 3e-4, "gamma": 0.99, "tau": 0.005,
    "noise": GaussianNoise(0.1),
}  # fmt: skip

# SAC explores by itself; its second paper's table has these learning rates for all three.
ROBOTS: dict[str, dict[str, Any]] = {
    "ddpg": MUJOCO,
    "td3": MUJOCO,
    "sac": MUJOCO | {"noise": None, "learning_starts": 10_000, "temperature_learning_rate": 3e-4},
}

# With TD3's delay of 2 it moves its targets by 0.01 a step, as DDPG does.
TWO_POLES: dict[str, Any] = {
    "batch_size": 64, "noise": GaussianNoise(0.1), "actor_learning_rate": 1e-3,
    "critic_learning_rate": 1e-3,
}  # fmt: skip
LONGER = (
    Setting(
        "td3", "Walker2d-v5", "05_td3_in_practice", steps=1_000_000, bar=4000, params=MUJOCO,
    ),
    Setting(
        "td3", "DoublePole-v0", "03_td3", steps=30_000, bar=250, params={"tau": 0.02} | TWO_POLES,
    ),
    Setting(
        "ddpg", "DoublePole-v0", "03_td3", steps=30_000, bar=250, params={"tau": 0.01} | TWO_POLES,
    ),
    Setting(
        "td3", "PixelPendulum-v0", "05_td3_in_practice", steps=7_000, bar=-300,
        params={
            "reward_scale": 0.1, "gamma": 0.97, "tau": 0.02, "batch_size": 64,
            "buffer_size": 20_000, "noise": GaussianNoise(0.3),
        },
    ),
)  # fmt: skip

SETTINGS = {(each.algorithm, each.env_id): each for each in LESSONS}
# What takes minutes or hours, or needs more than requirements.txt: for `python course.py train` and
# `study`, which read these too. Not among SETTINGS, which tests and README go through one by one.
LONG = {(each.algorithm, each.env_id): each for each in LONGER}


def get_setting(algorithm: str, env_id: str) -> Setting:
    """The setting of a lesson.

    Raises `ValueError` if there is none, with the algorithm's environments, or with the algorithms.
    """
    settings = SETTINGS | LONG
    if (algorithm, env_id) not in settings:
        known = [e for a, e in settings if a == algorithm] or sorted({a for a, _ in settings})
        there = ", ".join(known)
        raise ValueError(f"No lesson trains {algorithm} on {env_id}; there are: {there}.")
    return _shortened(settings[algorithm, env_id])


def _shortened(setting: Setting) -> Setting:
    """For tests that run a lesson's cells and not its training: few steps, and no bar to reach.

    What comes before learning is shortened as well, so that in these few steps all parts learn.
    The variable is set by conftest.py and by nothing else.
    """
    if (few := os.environ.get("COURSE_TEST_STEPS")) is None:
        return setting
    steps = int(few) // setting.params.get("gradient_steps", 1)
    first = {OffPolicyAgent: ("learning_starts", steps // 4), DDPGfD: ("pretraining", steps // 10)}
    shorter = {
        name: min(setting.params.get(name, most), most)
        for agent, (name, most) in first.items()
        if issubclass(setting.kind, agent)
    }
    params = setting.params | shorter
    return replace(setting, steps=min(setting.steps, steps), bar=-1e9, params=params)
