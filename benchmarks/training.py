"""Whole training: environment steps a second, with the updates that belong to them."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import Benchmark, Contender
from benchmarks.peers import load
from benchmarks.products import prepare_products
from benchmarks.single_file_td3 import SingleFileTD3
from benchmarks.workers import Run
from helpers.agents.off_policy import OffPolicyAgent
from helpers.training.settings import Setting, get_setting

PENDULUM, CARTPOLE = "Pendulum-v1", "CartPole-v1"
SIZES = ((64, 128), (128, 128), (256, 256))  # width of both hidden layers, batch
SB3, SBX = "stable_baselines3", "sbx"
AUTOGRAD = "ours by autograd"


def ddpg() -> Benchmark:
    """Our DDPG beside Stable-Baselines3's and SBX's of the same size, and SB3's as it comes."""
    return off_policy("ddpg", "DDPG", SIZES)


def td3() -> Benchmark:
    """The same for TD3, and beside a plain file."""
    return off_policy("td3", "TD3", SIZES)


def sac() -> Benchmark:
    """The same for SAC, at its lesson's size: as it comes SB3's batch is twice as large."""
    return off_policy("sac", "SAC", SIZES[:1])


def off_policy(algorithm: str, peer: str, sizes: Sequence[tuple[int, int]]) -> Benchmark:
    """Our agent with its lesson's settings beside peers of its size."""
    setting, contenders = get_setting(algorithm, PENDULUM), []
    starts = setting.make(seed=0).learning_starts
    for i, (hidden, batch) in enumerate(sizes):
        size = f"{hidden}x{hidden}, batch {batch}"
        ours = f"ours, {size}"
        against = partial(Contender, against=ours)
        library = partial(
            prepare_library, kind=peer, env_id=PENDULUM, learning_starts=starts,
            batch_size=batch, policy_kwargs={"net_arch": [hidden, hidden]},
        )  # fmt: skip
        mine = partial(prepare_ours, setting, hidden=hidden, batch_size=batch)
        contenders += [
            Contender(ours, mine),
            against(f"{AUTOGRAD}, {size}", partial(mine, fast=False)),
            against(f"SB3, {size}", partial(library, SB3)),
            against(f"SBX, {size}", partial(library, SBX)),
        ]
        if i == 0:
            widths = "256x256" if peer == "SAC" else "400x300"
            name, its = f"SB3, its defaults ({widths}, batch 256)", (SB3, peer, PENDULUM)
            contenders.append(against(name, partial(prepare_library, *its)))
        if peer == "TD3":
            single_file = partial(prepare_single_file, setting, hidden, batch)
            contenders.append(against(f"a plain file, {size}", single_file))
        if peer in ("TD3", "DDPG"):
            for products in ("torch", "numpy"):
                prepare = partial(prepare_products, products, peer, hidden, batch)
                contenders.append(against(f"the products alone, {products}", prepare))
    title = f"environment steps a second on {PENDULUM}, an update in each"
    return Benchmark(title, contenders, steps=200)  # an episode: one reset


def a2c() -> Benchmark:
    """Our A2C beside SB3's with as many environments and steps; SB3's critic learns once each."""
    arguments = {"n_steps": 32, "use_rms_prop": False, "normalize_advantage": True}
    return on_policy("a2c", "A2C", arguments, [SB3], {"critic_steps": 1})


def ppo() -> Benchmark:
    """Our PPO beside SB3's and SBX's with the same rollouts, epochs and batches."""
    arguments = {"n_steps": 64, "n_epochs": 8, "batch_size": 256}
    return on_policy("ppo", "PPO", arguments, [SB3, SBX])


def on_policy(
    algorithm: str, peer: str, arguments: dict, libraries: Sequence[str], change: dict | None = None
) -> Benchmark:
    """On CartPole with the lesson's settings; `change` is ours once more, nearer to the peers."""
    setting, ours = get_setting(algorithm, CARTPOLE), "ours, as the lesson trains"
    against, mine = partial(Contender, against=ours), partial(prepare_ours, setting)
    contenders = [Contender(ours, mine)]
    if peer == "PPO":
        plain = partial(mine, fast=False)
        contenders.append(against(f"{AUTOGRAD}, the same rollouts", plain))
    if change:
        words = ", ".join(f"{name}={value}" for name, value in change.items())
        contenders.append(against(f"ours, {words}", partial(mine, **change)))
    names = {SB3: "SB3", SBX: "SBX"}
    for library in libraries:
        its = partial(prepare_library, library, peer, CARTPOLE, n_envs=16, **arguments)
        name = f"{names[library]}, the same rollouts"
        contenders.append(against(name, its))
    title = f"environment steps a second on {CARTPOLE}, 16 environments, updates included"
    return Benchmark(title, contenders, steps=10_240)


def prepare_ours(setting: Setting, **changes: Any) -> Run:
    """Our agent, with so many steps behind it that an update belongs to every further one."""
    agent: Any = setting.make(seed=0, **changes)
    return agent.learn(agent.learning_starts if isinstance(agent, OffPolicyAgent) else 1).learn


def prepare_library(
    library: str, kind: str, env_id: str, n_envs: int | None = None, **parameters: Any
) -> Run:
    """An agent of SB3 or SBX, through its warm-up and, in SBX, its compilation.

    It explores without noise, to its advantage.
    """
    agents: Any = load(library)
    env = load(SB3).common.env_util.make_vec_env(env_id, n_envs) if n_envs else env_id
    model = getattr(agents, kind)("MlpPolicy", env, seed=0, device="cpu", **parameters)
    model.learn(getattr(model, "learning_starts", 1) + 10)

    def run(steps: int) -> None:
        model.learn(steps, reset_num_timesteps=False)

    return run


def prepare_single_file(setting: Setting, hidden: int, batch: int) -> Run:
    agent: Any = setting.make(seed=0)
    single = SingleFileTD3(setting.env_id, 0, hidden, batch, agent.learning_starts)
    single.learn(agent.learning_starts)
    return single.learn


def noise_of(setting: Setting) -> Any:
    """Our setting's exploration noise as SB3 and SBX take it: they have none by default."""
    sigma = setting.params["noise"].sigma * np.ones(1)
    return load(SB3).common.noise.NormalActionNoise(np.zeros(1), sigma)
