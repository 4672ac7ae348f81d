"""What agents share that learn from the present policy only: rollouts of many environments."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from gymnasium import spaces

from helpers.agents.base import Agent
from helpers.agents.layers import of_depth
from helpers.agents.limits import SHARE, SIZE, number, refuse, widths
from helpers.agents.policies import policy_for
from helpers.agents.schedules import Rate, as_rate
from helpers.agents.settings import setting
from helpers.algorithms.a2c import gae
from helpers.algorithms.reinforce import make_critic
from helpers.envs.make import make_vector_env
from helpers.envs.resumable import ResumableVector


@dataclass
class Rollout:
    """T steps of N environments, each array (T, N, ...); `obs` has one row more, (T + 1, N, ...),
    which is what the last step led to.

    Actions are in the policy's units, and rewards are already multiplied by `reward_factor`.
    `learnable`: which steps are experience, and no filler rows between two episodes.
    """

    obs: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    learnable: np.ndarray


class OnPolicyAgent(Agent):
    """A stochastic `policy` plays `n_envs` environments at once and learns from each rollout.

    A rollout has `n_steps` steps of each, and advantages by GAE with `lam`; a subclass says in
    `learn_from` what is learned from it. Discrete actions get a softmax policy, several choices one
    for each, Box actions a Gaussian one. Rewards are multiplied by `reward_scale` before: with
    1 - gamma a value is a weighted mean of rewards. Both networks have two layers of `hidden`
    units, or a layer for each number in it; `learning_rate` is a number or a schedule, such as
    `LinearSchedule`, and the norm of a policy's gradient is clipped to `max_grad_norm`. `normalize`
    and `device` are explained at `Agent`.
    """

    action_kinds: ClassVar = (
        spaces.Discrete, spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary
    )  # fmt: skip

    n_envs: int = setting(16, SIZE, fixed=True)
    n_steps: int = setting(32, SIZE)
    lam: float = setting(0.95, SHARE)
    learning_rate: Rate = setting(1e-3, as_rate)
    max_grad_norm: float = setting(0.5, number(above=0, optional=True))
    hidden: int | Sequence[int] = setting(64, widths, fixed=True)

    def build(self) -> None:
        super().build()
        self.settle("n_steps")
        with self.seeded():
            self.make_networks()

    def make_networks(self) -> None:
        """A policy, which draws with `sample` and converts with `to_env`, and a critic."""
        self.policy: Any = policy_for(self.obs_size, self.action_space, self.hidden)
        self.critic = of_depth(make_critic, self.obs_size, hidden=self.hidden)

    def settle(self, name: str) -> None:
        super().settle(name)
        if self.n_envs == 1 and self.n_steps < 3:  # with filler rows, too little to learn from
            words = "at least 3 in one environment, the steps of a rollout"
            raise refuse("n_envs times n_steps", words, self.n_steps)

    def learn_from(
        self,
        obs: torch.Tensor,
        actions: torch.Tensor,
        advantages: torch.Tensor,
        returns: torch.Tensor,
    ) -> dict[str, float]:
        """Learn from the rows of one rollout; returns numbers for the log.

        `obs` (B, obs_size), `actions` (B,) or (B, action_dim), `advantages` and `returns` (B,).
        """
        raise NotImplementedError

    def update(self, rollout: Rollout) -> None:
        """The advantages and returns of a rollout, and what the networks learn from them."""
        obs = self.flat(rollout.obs)
        with torch.no_grad():
            values = self.critic(obs).squeeze(-1).cpu().numpy()
        # The value of what a step led to is the next row's, also where an episode ends.
        numbers = rollout.rewards, values[:-1], values[1:], rollout.terminated, rollout.truncated
        advantages = gae(*numbers, self.gamma, self.lam)
        rows = torch.as_tensor(rollout.learnable)
        actions, advantage, value = (
            torch.as_tensor(each)[rows].to(self.device)
            for each in (rollout.actions, advantages, values[:-1])
        )
        self.follow_schedules()
        columns = obs[:-1][rows], actions, advantage, advantage + value
        self.log(**self.learned(self.learn_from, *columns))

    def act(self, obs: torch.Tensor, rng: np.random.Generator | None) -> np.ndarray:
        return self.policy.to_env(self.policy.sample(obs, rng))

    def train_step(self) -> None:
        """One rollout, and what is learned from it."""
        rollout = self.collect()
        self.steps += int(rollout.learnable.sum())
        if rollout.learnable.sum() > 1:  # a single advantage has no scale, filler rows have none
            self.update(rollout)
        self.watch()

    def collect(self) -> Rollout:
        """Let the present policy act for n_steps in every environment."""
        envs, now = self.envs, self.obs
        if envs is None or now is None:
            envs, now = self.new_episodes()
        obs, done, steps = [now], [np.array([env.over for env in envs.envs])], []
        self.obs = None  # if this is stopped halfway, the next rollout starts new episodes
        for _ in range(self.n_steps):
            with torch.no_grad():
                action = self.policy.sample(self.flat(obs[-1]), self.rng)
            next_obs, reward, terminated, truncated, _ = envs.step(self.policy.to_env(action))
            obs.append(next_obs)
            done.append(terminated | truncated)
            steps.append((action, reward, terminated, truncated))
            for i in np.flatnonzero(done[-1]):
                self.log_episode(envs.envs[i])
        actions, rewards, terminated, truncated = map(np.array, zip(*steps, strict=True))
        self.obs = obs[-1]
        rewards = rewards.astype(np.float32) * self.reward_factor
        # In the step after an episode's end gymnasium's vector environments start the next one:
        # such a filler row ignores the action, and its reward is 0.
        learnable = ~np.array(done[:-1])
        return Rollout(np.array(obs), actions, rewards, terminated, truncated, learnable)

    def new_episodes(self) -> tuple[ResumableVector, np.ndarray]:
        """The environments, and the first observation of an episode in each."""
        envs, seed = self.envs, None  # seeded once: later episodes start elsewhere
        if envs is None:
            envs, seed = make_vector_env(self.env_source, self.n_envs), self.seed
        obs, _ = envs.reset(seed=seed)
        self.envs = envs
        return envs, obs

    def go_on(self, envs: ResumableVector) -> None:
        self.obs = np.array([env.obs for env in envs.envs], self.flat_space.dtype)
