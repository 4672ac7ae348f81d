"""What DDPG and its successors share: act with noise, keep every step, learn from the memory."""

import copy
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import gymnasium as gym
import numpy as np
import torch
from torch import nn

from helpers.agents.adam import LeanAdam
from helpers.agents.base import Agent, set_learning_rate
from helpers.agents.faster import faster
from helpers.agents.layers import choose_networks
from helpers.agents.networks import DeterministicActor
from helpers.agents.noise import GaussianNoise, Noise, UniformNoise, as_noise
from helpers.agents.schedules import Rate, Schedule, as_rate, rate_at
from helpers.demos.files import Demos, check_spaces
from helpers.envs.make import EnvLike, check_finite, is_image, make_training_env, one_line
from helpers.envs.units import check_bounded, observation_bounds, to_env_units, to_scaled
from helpers.memory.buffers import Batch, ReplayBuffer

LOG_EVERY = 50  # updates; reading a loss out of torch costs time


class OffPolicyAgent(Agent):
    """A deterministic actor that learns from a replay buffer: a subclass says how, in `update`.

    Actions are in [-1, 1] everywhere but in `predict` and in the environment, and so are
    observations whose space names a range; pictures stay uint8. For the first `learning_starts`
    steps `random_exploration` acts, afterwards the actor with `noise` added, and every `train_freq`
    steps `gradient_steps` batches of `batch_size` steps are learned from. Rewards are multiplied by
    `reward_scale` before they are stored. Actor and critic have two layers of `hidden` units, or a
    layer for each number in it, with `layer_norm` normalised, and a target network each, which
    moves a fraction `tau` of the way at an update. Both learning rates are numbers, or schedules
    such as `LinearSchedule`.
    """

    # Both are built from obs_size, action_size and hidden.
    actor_class: ClassVar[type[nn.Module]] = DeterministicActor
    critic_class: ClassVar[type[nn.Module]]
    takes_images: ClassVar[bool] = True
    saved: ClassVar = (
        "actor", "critic", "target_actor", "target_critic", "actor_optimizer", "critic_optimizer",
    )  # fmt: skip
    counted: ClassVar = ("updates",)
    memories: ClassVar = ("buffer", "noise", "random_exploration")

    def __init__(
        self,
        env: EnvLike,
        *,
        learning_starts: int = 1000,
        train_freq: int = 1,
        gradient_steps: int = 1,
        batch_size: int = 128,
        buffer_size: int = 100_000,
        gamma: float = 0.99,
        reward_scale: float = 1.0,
        noise: Noise | None = GaussianNoise(0.1),  # noqa: B008  (the agent works with a copy)
        random_exploration: Noise = UniformNoise(1.0),  # noqa: B008
        tau: float = 0.005,
        actor_learning_rate: Rate = 1e-3,
        critic_learning_rate: Rate = 1e-3,
        hidden: int | Sequence[int] = 64,
        layer_norm: bool = False,
        seed: int | None = None,
    ) -> None:
        super().__init__(env, seed)
        check_bounded(type(self).__name__, self.action_space)
        check_counts(
            learning_starts=learning_starts,
            train_freq=train_freq,
            gradient_steps=gradient_steps,
            batch_size=batch_size,
        )
        if learning_starts > buffer_size:
            raise ValueError(
                f"buffer_size ({buffer_size}) must hold the learning_starts ({learning_starts}) "
                "steps that learning waits for."
            )
        if random_exploration is None:
            raise ValueError(
                "random_exploration acts alone during the warm-up, so it cannot be None: give it a "
                "noise such as UniformNoise(1.0)."
            )
        if not 0 <= gamma <= 1:
            raise ValueError(f"gamma must be between 0 and 1, got {gamma}.")
        if not 0 < tau <= 1:
            raise ValueError(f"tau must be above 0 and at most 1, got {tau}.")
        self.learning_starts, self.train_freq = learning_starts, train_freq
        self.gradient_steps, self.batch_size = gradient_steps, batch_size
        self.gamma, self.reward_scale, self.tau = gamma, reward_scale, tau
        self.noise, self.random_exploration = as_noise(noise), as_noise(random_exploration)
        self.hyperparameters |= {  # untouched by what the agent's own ones remember
            "noise": as_noise(noise),
            "random_exploration": as_noise(random_exploration),
        }
        self.low, self.high = self.action_space.low, self.action_space.high
        self.action_size = self.low.size
        self.obs_low, self.obs_high = observation_bounds(self.observation_space)
        self.images = is_image(self.observation_space)
        self.obs_dtype = torch.uint8 if self.images else torch.float32
        if self.images and not self.takes_images:
            raise ValueError(
                f"{type(self).__name__} takes no pictures, and the environment has some "
                f"({one_line(self.observation_space)}): flatten them with "
                "gymnasium.wrappers.FlattenObservation, or use TD3 or DDPG."
            )
        check_hidden(hidden)
        with self.seeded():
            self.actor, self.critic = map(faster, self.make_networks(hidden, layer_norm))
        # Copied together: what the two share, their copies share.
        self.target_actor, self.target_critic = copy.deepcopy((self.actor, self.critic))
        actor_rate = as_rate("actor_learning_rate", actor_learning_rate)
        critic_rate = as_rate("critic_learning_rate", critic_learning_rate)
        self.hyperparameters |= {
            "actor_learning_rate": actor_rate,
            "critic_learning_rate": critic_rate,
        }
        self.actor_optimizer = LeanAdam(self.actor.parameters(), rate_at(actor_rate, 0))
        self.critic_optimizer = LeanAdam(self.critic.parameters(), rate_at(critic_rate, 0))
        rates = {"actor_optimizer": actor_rate, "critic_optimizer": critic_rate}
        # Only those that change: a number is set once.
        self.schedules = {name: rate for name, rate in rates.items() if isinstance(rate, Schedule)}
        # Listed once: asking a network for its parameters takes longer than moving them.
        self.online = [*self.actor.parameters(), *self.critic.parameters()]
        self.targets = [*self.target_actor.parameters(), *self.target_critic.parameters()]
        kept_as = {"obs_dtype": self.obs_dtype} if self.images else {}
        shapes = ((self.obs_size,), (self.action_size,))
        self.buffer = ReplayBuffer(buffer_size, *shapes, self.rng, **kept_as)
        self.updates = 0
        self.env: gym.Env | None = None
        self._obs: np.ndarray | None = None

    def make_networks(
        self, hidden: int | Sequence[int], layer_norm: bool
    ) -> tuple[nn.Module, nn.Module]:
        """The actor and the critic: the lesson's own, deeper ones, or such as see."""
        kinds, space = (self.actor_class, self.critic_class), self.observation_space
        return choose_networks(*kinds, space, self.action_size, hidden, layer_norm)

    @abstractmethod
    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        """Learn from one batch. Returns what is worth logging: name -> scalar."""

    def train_step(self) -> None:
        """One step in the environment, and every `train_freq` steps some updates."""
        self.collect()
        if self.steps % self.train_freq == 0 and len(self.buffer) >= self.learning_starts:
            for _ in range(self.gradient_steps):
                self.learn_from_memory()

    def learn_from_memory(self) -> None:
        """One update with a batch of stored steps."""
        self.updates += 1
        for name, schedule in self.schedules.items():
            set_learning_rate(getattr(self, name), schedule(self.steps))
        losses = self.update(self.buffer.sample(self.batch_size))
        if self.updates % LOG_EVERY == 0:
            self.log(**{name: loss.item() for name, loss in losses.items()})

    def collect(self) -> None:
        """Take one step and store it."""
        if self._obs is None:
            self._start_episode()
        obs, self._obs = self._obs, None  # if this is stopped halfway, a new episode starts
        action = self.explore(obs)
        next_obs, reward, terminated, truncated, _ = self.env.step(self._for_env(action))
        check_finite(np.asarray(reward), np.asarray(next_obs), self.steps)
        next_obs = self._scaled(next_obs)
        reward = float(reward)
        self.buffer.add(obs, action, reward * self.reward_scale, next_obs, terminated, truncated)
        self.steps += 1
        self._return, self._length = self._return + reward, self._length + 1
        if terminated or truncated:
            self.log(**{"return": self._return, "length": self._length})
        else:
            self._obs = next_obs

    def explore(self, obs: np.ndarray) -> np.ndarray:
        """The action for training, (action_size,) in [-1, 1], for one flat observation."""
        # Without an update yet, an agent that was saved in its warm-up begins that anew.
        if self.steps < self.learning_starts or self.updates == 0:
            action = self.random_exploration.sample((self.action_size,), self.rng)
        else:
            with torch.no_grad():
                action = self.actor(torch.from_numpy(obs)).numpy()
            if self.noise is not None:
                action = action + self.noise.sample(action.shape, self.rng)
        return np.clip(action, -1, 1)

    def act(self, obs: torch.Tensor, rng: np.random.Generator | None) -> np.ndarray:
        """Exploring, each call stands alone: even a noise with memory adds independent draws."""
        actions = self.actor(obs).numpy()
        if rng is not None and self.noise is not None:
            draws = self.noise.std * rng.standard_normal(actions.shape)
            actions = np.clip(actions + draws, -1, 1)
        return self._for_env(actions, len(actions))

    def value(self, obs: torch.Tensor) -> torch.Tensor:
        return self.critic(obs, self.actor(obs))

    def flat(self, obs: np.ndarray) -> torch.Tensor:
        """Observations (B, *shape) in the environment's units as the networks take them."""
        return torch.from_numpy(self._scaled(obs, len(obs)))

    def _scaled(self, obs: np.ndarray, *batch: int) -> np.ndarray:
        """Observations (*batch, *shape) as float32 (*batch, obs_size), within [-1, 1].

        Pictures stay uint8, to take little memory: their encoder brings them to a range.
        """
        obs = np.reshape(obs, (*batch, self.obs_size))
        if self.images:
            return obs
        return to_scaled(obs, self.obs_low, self.obs_high).astype(np.float32)

    def _for_env(self, action: np.ndarray, *batch: int) -> np.ndarray:
        """Actions in [-1, 1] (*batch, action_size) in the environment's units and shape."""
        action = to_env_units(action.reshape((*batch, *self.low.shape)), self.low, self.high)
        # Rounding may have led just over a bound, where strict environments refuse the action.
        return np.asarray(np.clip(action, self.low, self.high), self.low.dtype)

    def _start_episode(self) -> None:
        env, seed = self.env, None  # seeded once: later episodes start elsewhere
        if env is None:
            env, seed = make_training_env(self.env_source), self.seed
        obs, _ = env.reset(seed=seed)
        check_finite(np.zeros(1), np.asarray(obs), self.steps)
        self.random_exploration.reset()
        if self.noise is not None:
            self.noise.reset()
        self.env, self._obs = env, self._scaled(obs)
        self._return, self._length = 0.0, 0

    def go_on(self) -> None:
        self._obs = self._scaled(self.env.obs)
        self._return, self._length = self.env.episode_return, len(self.env.steps)


def check_counts(**counts: int) -> None:
    """Raise `ValueError` for the first number that is below 1."""
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name} must be at least 1, got {count}.")


def check_hidden(hidden: int | Sequence[int]) -> None:
    """Raise `ValueError` unless it is a width, or the width of each of one or more layers."""
    widths = [hidden] if isinstance(hidden, int) else hidden
    if not (
        isinstance(widths, Sequence)
        and len(widths) > 0
        and all(type(width) is int and width >= 1 for width in widths)
    ):
        raise ValueError(
            "hidden is the width of both hidden layers, such as 64, or one width for each, such as "
            f"(400, 300); got {hidden!r}."
        )


def as_stored(agent: OffPolicyAgent, demos: Demos) -> tuple[np.ndarray, ...]:
    """The six parts of the demonstrated steps, a step a row, as `agent` keeps its own.

    Raises `ValueError` unless the steps can have been taken in the agent's spaces.
    """
    check_spaces(demos, agent)
    n = len(demos)
    action = to_scaled(demos.action, agent.low, agent.high).reshape(n, agent.action_size)
    return (
        agent._scaled(demos.obs, n), np.clip(action, -1, 1).astype(np.float32),
        demos.reward * np.float32(agent.reward_scale), agent._scaled(demos.next_obs, n),
        demos.terminated, demos.truncated,
    )  # fmt: skip
