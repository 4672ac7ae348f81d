"""Small agents of every kind, and all that training changes in them."""

import copy
from functools import partial

import gymnasium as gym
import numpy as np
import torch
from gymnasium.envs.classic_control.pendulum import PendulumEnv
from gymnasium.envs.registration import WrapperSpec

from helpers.agents import A2C, DDPG, PPO, RLPD, SAC, TD3, TD3BC, ReinforceWithBaseline, checkpoint
from helpers.agents.ddpgfd import DDPGfD
from helpers.agents.noise import OUNoise
from helpers.agents.off_policy import OffPolicyAgent
from helpers.agents.schedules import LinearSchedule
from helpers.demos.files import load_demos
from helpers.memory.buffers import PrioritizedReplayBuffer

DEMOS = "data/demos/sparse_pendulum.npz"


class Short(PendulumEnv):
    """Pendulum in gusts of wind, from the generator of gymnasium's; episodes of seven steps."""

    def step(self, action):
        return super().step(action + self.np_random.normal(size=1))


gym.register("Short-v0", entry_point=Short, max_episode_steps=7)
camera = {"size": 8, "crop": 256, "frames": 2, "repeat": 2}
gym.register(
    "ShortPixels-v0", entry_point=Short, max_episode_steps=7, kwargs={"render_mode": "rgb_array"},
    additional_wrappers=(WrapperSpec("Pixels", "helpers.envs.pixels:Pixels", camera),),
)  # fmt: skip

tiny = {"learning_starts": 10, "batch_size": 4, "buffer_size": 25, "hidden": 4}
slower = {
    "actor_learning_rate": LinearSchedule(1e-2, 1e-3, 30),
    "critic_learning_rate": LinearSchedule(1e-3, 1e-2, 50),
}
cooler = {"temperature_learning_rate": LinearSchedule(1e-2, 1e-3, 40)}
few = {"seed": 0, "n_envs": 3, "n_steps": 7, "hidden": 4}
epochs = few | {"n_epochs": 3, "batch_size": 6}
falling = {"learning_rate": LinearSchedule(1e-2, 1e-3, 100)}
ou = {"noise": OUNoise(), "warm_up_noise": OUNoise(sigma=0.5), "train_freq": 2}


def with_demos(kind=DDPGfD, **settings):
    """An agent whose memory holds 1,000 demonstrations and little more."""
    own = {"pretraining": 5, "n_steps": 3} if kind is DDPGfD else {}
    settings = tiny | {"buffer_size": 1010} | own | settings
    agent = kind("SparsePendulum-v0", seed=0, **settings)
    return agent.remember(load_demos(DEMOS, agent.env_source))


AGENTS = {
    "ddpg": partial(DDPG, "Short-v0", seed=0, **tiny),
    "ddpg-ou": partial(DDPG, "Short-v0", seed=0, **tiny, **ou),
    "td3": partial(TD3, "Short-v0", seed=0, **tiny),
    "td3-ou": partial(TD3, "Short-v0", seed=0, **tiny, **ou, policy_delay=3, gradient_steps=2),
    "td3-pixels": partial(TD3, "ShortPixels-v0", seed=0, **tiny),
    "td3-quiet": partial(TD3, "Short-v0", seed=0, **tiny, noise=None),
    "td3-slower": partial(TD3, "Short-v0", seed=0, **tiny, **slower),
    "sac": partial(SAC, "Short-v0", seed=0, **tiny),
    "sac-fixed": partial(SAC, "Short-v0", seed=0, **tiny, temperature=0.2, learn_temperature=False),
    "sac-ou": partial(SAC, "Short-v0", seed=0, **tiny, **ou, target_entropy=-0.5),
    "sac-pixels": partial(SAC, "ShortPixels-v0", seed=0, **tiny),
    "sac-slower": partial(SAC, "Short-v0", seed=0, **tiny, **slower, **cooler),
    "ddpgfd": with_demos,
    "ddpgfd-ou": partial(with_demos, **ou),
    "td3bc": partial(with_demos, TD3BC),
    "rlpd": partial(with_demos, RLPD),
    "a2c": partial(A2C, "CartPole-v1", **few),
    "gaussian": partial(A2C, "Short-v0", **few | {"n_steps": 5}),
    "ppo": partial(PPO, "CartPole-v1", **epochs),
    "ppo-gaussian": partial(PPO, "Short-v0", **epochs | {"n_steps": 5}),
    "book": partial(ReinforceWithBaseline, "CartPole-v1", seed=0, hidden=4),
    "a2c-slower": partial(A2C, "CartPole-v1", **few, **falling),
    "ppo-slower": partial(PPO, "CartPole-v1", **epochs, **falling),
    "book-slower": partial(ReinforceWithBaseline, "CartPole-v1", seed=0, hidden=4, **falling),
}


def everything(agent):
    """All that training changes, as bytes and plain values."""
    content = copy.deepcopy(checkpoint.contents(agent, replay=True))
    if isinstance(agent, OffPolicyAgent):
        buffer = agent.buffer
        content["arrays"] = [array[: len(buffer)].copy() for array in buffer.arrays]
        if isinstance(buffer, PrioritizedReplayBuffer):
            names = "smallest", "max_priority", "samples", "demos", "newest", "beta"
            kept = [getattr(buffer, name) for name in names]
            content["priorities"] = [buffer.sums.nodes.copy(), buffer.ends.copy(), *kept]
    return flat(content)


def flat(content):
    if isinstance(content, dict):
        return {name: flat(value) for name, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [flat(value) for value in content]
    if isinstance(content, (torch.Tensor, np.ndarray)):
        return str(content.dtype), tuple(content.shape), np.asarray(content).tobytes()
    return content


def at(*path, value):
    """A change of what stands there; `KeyError` takes it out."""

    def change(content):
        for name in path[:-1]:
            content = content[name]
        if value is KeyError:
            del content[path[-1]]
        else:
            content[path[-1]] = value(content[path[-1]]) if callable(value) else value

    return change
