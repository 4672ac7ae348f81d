"""Whole training: environment steps a second, with the updates that belong to them."""

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.measure import STEPS_PER_SECOND, Bar, Benchmark, Contender, Run
from benchmarks.peers import stable_baselines3
from helpers.settings import Setting, get_setting


def ddpg() -> Benchmark:
    """Our DDPG, as its lesson trains it, beside Stable-Baselines3's as it comes and as small."""
    sb3 = stable_baselines3()
    setting = get_setting("ddpg", "Pendulum-v1")
    agent = setting.make(seed=0)
    hidden, batch = agent.hyperparameters["hidden"], agent.batch_size
    same = {
        "policy_kwargs": {"net_arch": [hidden, hidden]},
        "batch_size": batch,
        "learning_starts": agent.learning_starts,
    }
    size = f"{hidden}x{hidden}, batch {batch}"
    ours = f"ours, {size}"
    return Benchmark(
        f"environment steps a second on {setting.env_id}, an update in each; "
        f"SB3 is Stable-Baselines3 {sb3.__version__}",
        STEPS_PER_SECOND,
        [
            Contender(ours, partial(prepare_ours, setting)),
            Contender(
                "SB3, its defaults (400x300, batch 256)",
                partial(prepare_sb3, sb3.DDPG, setting.env_id),
                against=ours,
                bar=Bar(">=", 8),
            ),
            Contender(
                f"SB3, {size}",
                partial(prepare_sb3, sb3.DDPG, setting.env_id, **same),
                against=ours,
                bar=Bar(">=", 2),
            ),
        ],
        steps=200,  # an episode: every round has one reset
    )


def prepare_ours(setting: Setting, **changes: Any) -> Run:
    """Our agent, with so many steps behind it that an update belongs to every further one."""
    agent = setting.make(seed=0, **changes)

    def run(steps: int) -> None:
        goal = agent.steps + steps
        if agent.learn(steps).steps < goal:  # `learn` ends quietly at Ctrl-C
            raise KeyboardInterrupt

    run(agent.learning_starts)
    return run


def prepare_sb3(kind: Callable, env_id: str, **parameters: Any) -> Run:
    """The same for an agent of Stable-Baselines3; it explores without noise, to its advantage."""
    model = kind("MlpPolicy", env_id, seed=0, device="cpu", **parameters)
    model.learn(model.learning_starts)
    return partial(model.learn, reset_num_timesteps=False)
