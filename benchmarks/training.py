"""Whole training: environment steps a second, with the updates that belong to them."""

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.measure import STEPS_PER_SECOND, Bar, Benchmark, Contender, Run
from benchmarks.peers import stable_baselines3
from helpers.training.settings import Setting, get_setting


def ddpg() -> Benchmark:
    """Our DDPG, as its lesson trains it, beside Stable-Baselines3's as it comes and as small."""
    return training("ddpg", "DDPG", as_it_comes=8, as_small=2)


def td3() -> Benchmark:
    """The same for TD3, and both with wide networks, where matrix products take the time."""
    return training("td3", "TD3", as_it_comes=12, as_small=2, wide=(256, 256, 1.4))


def sac() -> Benchmark:
    """The same for SAC: as it comes the peer's batch is twice as large, its network four times."""
    return training("sac", "SAC", as_it_comes=4, as_small=1.5)


def training(
    algorithm: str,
    peer: str,
    as_it_comes: float,
    as_small: float,
    wide: tuple[int, int, float] | None = None,
) -> Benchmark:
    """Our agent with its lesson's settings beside the peer's of that name.

    The bars are for the peer at its defaults, for the peer with our network and batch, and for both
    at another width and batch (`wide`: width, batch, bar).
    """
    sb3 = stable_baselines3()
    kind, setting = getattr(sb3, peer), get_setting(algorithm, "Pendulum-v1")
    agent = setting.make(seed=0)
    widths = "256x256" if peer == "SAC" else "400x300"
    defaults = f"SB3, its defaults ({widths}, batch 256)"
    lesson = _pair(kind, setting, agent.hyperparameters["hidden"], agent.batch_size, as_small)
    contenders = [
        lesson[0],
        Contender(
            defaults,
            partial(prepare_sb3, kind, setting.env_id),
            against=lesson[0].name,
            bar=Bar(">=", as_it_comes),
        ),
        lesson[1],
    ]
    if wide:
        contenders += _pair(kind, setting, *wide)
    return Benchmark(
        f"environment steps a second on {setting.env_id}, an update in each; "
        f"SB3 is Stable-Baselines3 {sb3.__version__}",
        STEPS_PER_SECOND,
        contenders,
        steps=200,  # an episode: every round has one reset
    )


def _pair(kind: Callable, setting: Setting, hidden: int, batch: int, bar: float) -> list[Contender]:
    """Our agent and the peer's with the same width, batch and warm-up."""
    size = f"{hidden}x{hidden}, batch {batch}"
    theirs = {
        "policy_kwargs": {"net_arch": [hidden, hidden]},
        "batch_size": batch,
        "learning_starts": setting.make(seed=0).learning_starts,
    }
    ours = Contender(
        f"ours, {size}", partial(prepare_ours, setting, hidden=hidden, batch_size=batch)
    )
    peer = partial(prepare_sb3, kind, setting.env_id, **theirs)
    return [ours, Contender(f"SB3, {size}", peer, against=ours.name, bar=Bar(">=", bar))]


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
