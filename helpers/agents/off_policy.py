"""What DDPG and its successors share: act with noise, keep all transitions, learn from them."""

import math
from typing import Any, ClassVar

import numpy as np
import torch

from helpers.agents import limits
from helpers.agents.actor_critic import ActorCriticAgent
from helpers.agents.limits import COUNT, SIZE, as_array, number
from helpers.agents.noise import GaussianNoise, Noise, UniformNoise, as_noise
from helpers.agents.settings import setting
from helpers.demos.files import Demos, check_spaces
from helpers.envs.make import one_line
from helpers.envs.resumable import Resumable
from helpers.memory.buffers import Batch, ReplayBuffer
from helpers.memory.pictures import make_memory


class OffPolicyAgent(ActorCriticAgent):
    """An actor that learns from a replay buffer: a subclass says how, in `update`.

    For the first `learning_starts` steps `warm_up_noise` acts, afterwards the actor with `noise`
    added, and every `train_freq` steps `gradient_steps` batches of `batch_size` transitions are
    learned from. Rewards are multiplied by `reward_scale` before they are stored. Every
    `log_every`-th update's losses go to the history. `fast`: where the class has its `update` in
    numpy too, that is used, see `helpers.agents.mlp`. For the networks see `ActorCriticAgent`.
    """

    counted = ("updates",)
    memories: ClassVar[tuple[str, ...]] = ("buffer", "noise", "warm_up_noise")

    learning_starts: int = setting(1000, COUNT)
    train_freq: int = setting(1, COUNT)
    gradient_steps: int = setting(1, SIZE)
    batch_size: int = setting(128, SIZE)
    buffer_size: int = setting(100_000, number(1, 10**8, integer=True), fixed=True)
    noise: Noise | None = setting(GaussianNoise(0.1), as_noise)
    warm_up_noise: Noise = setting(UniformNoise(1.0), limits.warm_up)
    log_every: int = setting(50, COUNT)  # reading a loss out of torch costs time
    fast: bool = setting(True, limits.switch)

    def build(self) -> None:
        super().build()
        self.buffer: Any = make_memory(ReplayBuffer, self.buffer_size, self.units.sizes, self.rng)
        self.updates = 0

    def settle(self, name: str) -> None:
        super().settle(name)
        if name in ("noise", "warm_up_noise", "learning_starts"):
            check_fit(self)

    def ready(self) -> None:
        super().ready()
        check_fit(self)

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        """Learn from one batch. Returns what is worth logging: name -> scalar."""
        raise NotImplementedError

    def train_step(self) -> None:
        """One step in the environment, and every `train_freq` steps some updates."""
        self.collect()
        if self.steps % self.train_freq == 0 and len(self.buffer) >= self.learning_starts:
            for _ in range(self.gradient_steps):
                self.learn_from_memory()
        self.watch()

    def learn_from_memory(self) -> None:
        """One update with a batch of stored transitions."""
        self.updates += 1
        self.follow_schedules()
        losses = self.learned(self.update, self.normal_batch(self.sample_batch()))
        self.losses |= losses
        if self.updates % self.log_every == 0:
            self.log(**{name: float(loss) for name, loss in losses.items()})

    def sample_batch(self) -> Any:
        """What the next update learns from."""
        return self.buffer.sample(self.batch_size)

    def collect(self) -> None:
        """Take one step and store it."""
        env, obs = self.env, self.obs
        if env is None or obs is None:
            env, obs = self.new_episode()
        self.obs = None  # if this is stopped halfway, a new episode starts
        action = np.clip(self.explore(obs), -1, 1)
        next_obs, reward, terminated, truncated, _ = env.step(self.units.env_action(action))
        next_obs, reward = self.units.scaled_obs(next_obs), float(reward) * self.reward_scale
        self.buffer.add(obs, action, reward, next_obs, terminated, truncated)
        self.steps += 1
        if terminated or truncated:
            self.log_episode(env)
        else:
            self.obs = next_obs

    def store(self, obs, action, reward, next_obs, terminated, truncated) -> None:
        """Store and count a step that a loop of one's own took, in the environment's units.

        Raises `ValueError` for what cannot be one step: a batch, NaN, a flag that is none.
        """
        self.buffer.add(*as_step(self, obs, action, reward, next_obs, terminated, truncated))
        self.steps += 1

    def explore(self, obs: np.ndarray) -> np.ndarray:
        """The action for training, (action_size,), for one flat observation; `collect` clips it."""
        # Without an update yet, an agent that was saved in its warm-up begins that anew.
        if self.steps < self.learning_starts or self.updates == 0:
            return self.warm_up_noise.at(self.steps).sample((self.action_size,), self.rng)
        with torch.no_grad():
            seen = self.normal(torch.from_numpy(obs))
            if self.one_alone:
                action = self.draw(seen, self.rng).cpu().numpy()
            else:
                action = self.draw(seen[None], self.rng)[0].cpu().numpy()
        if self.noise is not None:
            action = action + self.noise.at(self.steps).sample(action.shape, self.rng)
        return action

    def act(self, obs: torch.Tensor, rng: np.random.Generator | None) -> np.ndarray:
        """Exploring, each call stands alone: even a noise with memory adds independent draws."""
        actions = (self.greedy(obs) if rng is None else self.draw(obs, rng)).cpu().numpy()
        if rng is not None and self.noise is not None:
            noise = self.noise.at(self.steps)
            draws = noise.center + noise.std * rng.standard_normal(actions.shape)
            actions = np.clip(actions + draws, -1, 1)
        return self.units.env_action(actions, len(actions))

    def new_episode(self) -> tuple[Resumable, np.ndarray]:
        """Its first observation is as networks take it, and both noises forget the one before."""
        env, obs = super().new_episode()
        for noise in (self.warm_up_noise, self.noise):
            if noise is not None:
                noise.reset()
        return env, self.units.scaled_obs(obs)

    def go_on(self, env: Resumable) -> None:
        self.obs = self.units.scaled_obs(env.obs)


def check_fit(agent: OffPolicyAgent) -> None:
    """Raise `ValueError` unless noises and memory fit the actions and `learning_starts`."""
    for name in ("noise", "warm_up_noise"):
        as_noise(name, getattr(agent, name), agent.action_size)
    room = min(agent.buffer_size, getattr(agent.buffer, "capacity", math.inf))
    if agent.learning_starts > room:
        words = f"at most buffer_size ({room}), which holds the steps that learning waits for"
        raise limits.refuse("learning_starts", words, agent.learning_starts)


def as_step(
    agent: OffPolicyAgent, obs: Any, action: Any, reward: Any, next_obs: Any, *ends: bool
) -> tuple[Any, ...]:
    """The six parts of one step as `agent` keeps its own. They are measured, if it normalises.

    Raises `ValueError` unless they can be a step in the agent's environment.
    """
    rows, units = [agent.as_batch("store", each) for each in (obs, next_obs)], agent.units
    action, reward = as_array("store", action), as_array("store", reward)
    shape = agent.action_space.shape
    both = action, reward
    numbers = all(each.dtype.kind in "biuf" and np.isfinite(each).all() for each in both)
    flags = all(np.ndim(end) == 0 and end in (0, 1) for end in ends)
    single = action.shape == shape and not reward.shape and all(one for _, one in rows)
    if not (numbers and flags and single):
        raise ValueError(
            f"store takes one step at a time: an action of shape {shape}, a reward that is a "
            "number, none of them NaN, True or False for terminated and truncated, and the "
            f"observations before and after; got {one_line(action):.40} of shape {action.shape}, "
            f"{one_line(reward):.20} and {one_line(ends):.40}."
        )
    obs, next_obs = (row[0] for row, _ in rows)
    if agent.normalizer is not None:
        agent.normalizer.learn_from([[(next_obs, reward, *ends)]], agent.measured)
    scaled = units.scaled_obs(obs), units.scaled_action(action)
    return *scaled, float(reward) * agent.reward_scale, units.scaled_obs(next_obs), *ends


def as_rows(agent: OffPolicyAgent, demos: Demos, memory: Any = ()) -> tuple[np.ndarray, ...]:
    """The six parts of the demonstrated transitions, one a row, as `agent` keeps its own.

    Raises `ValueError` unless they can have been made in the agent's spaces, and fit `memory`.
    """
    check_spaces(demos, agent)
    n, units, room = len(demos), agent.units, getattr(memory, "capacity", math.inf)
    if (steps := len(memory) + n) > room:
        raise ValueError(
            f"{steps:,} steps do not fit into a memory of {room:,}: give {type(agent).__name__} a "
            f"buffer_size above {steps:,}."
        )
    return (
        units.scaled_obs(demos.obs, n), units.scaled_action(demos.action, n),
        demos.reward * np.float32(agent.reward_scale), units.scaled_obs(demos.next_obs, n),
        demos.terminated, demos.truncated,
    )  # fmt: skip
