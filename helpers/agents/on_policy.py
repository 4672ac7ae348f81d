"""What agents share that learn from the present policy only: rollouts of many environments."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from helpers.agents.base import Agent
from helpers.agents.limits import SIZE, refuse
from helpers.agents.settings import setting
from helpers.envs.make import check_finite, make_vector_env
from helpers.envs.resumable import ResumableVector


def learnable_rows(done: np.ndarray, done_before: np.ndarray) -> np.ndarray:
    """Which steps are experience, and which are filler rows of the autoreset: (T, N) booleans.

    gymnasium's vector environments return an episode's last observation as it is and start the next
    episode in the step *after* it: that step ignores the action and gives reward 0. `done` (T, N)
    is true where an episode ended (terminated or truncated), `done_before` (N,) is the same for the
    step before the first of these.
    """
    filler = np.concatenate([done_before[None], done[:-1]])  # the row before ended an episode
    return ~filler


@dataclass
class Rollout:
    """T steps of N environments; `obs` has one row more (T + 1): what the last step led to."""

    obs: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    learnable: np.ndarray


class OnPolicyAgent(Agent):
    """A stochastic `policy` plays `n_envs` environments at once and learns from each rollout.

    A rollout has `n_steps` steps of each; a subclass says in `update` what is learned from it.
    Rewards are multiplied by `reward_scale` before: with 1 - gamma a value is a weighted mean of
    rewards. `normalize` and `device` are explained at `Agent`.
    """

    policy: Any  # draws with `sample`, converts with `to_env`

    n_envs: int = setting(16, SIZE, fixed=True)
    n_steps: int = setting(32, SIZE)

    def build(self) -> None:
        super().build()
        self.settle("n_steps")

    def settle(self, name: str) -> None:
        super().settle(name)
        if self.n_envs == 1 and self.n_steps < 3:  # with filler rows, too little to learn from
            words = "at least 3 in one environment, the steps of a rollout"
            raise refuse("n_envs times n_steps", words, self.n_steps)

    def update(self, rollout: Rollout) -> None:
        """Learn from one rollout."""
        raise NotImplementedError

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
        check_finite(rewards, np.array(obs), self.steps)
        self.obs = obs[-1]
        rewards = rewards.astype(np.float32) * self.reward_factor
        learnable = learnable_rows(np.array(done[1:]), done_before=done[0])
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
