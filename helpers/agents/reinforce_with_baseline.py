"""REINFORCE with a baseline: one environment, whole episodes, Monte Carlo returns.

Source: Williams 1992, "Simple statistical gradient-following algorithms for connectionist
reinforcement learning".
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import torch
from gymnasium import spaces

from helpers.agents.base import Agent, gradient_step
from helpers.agents.layers import of_depth
from helpers.agents.limits import widths
from helpers.agents.schedules import Rate, as_rate
from helpers.agents.settings import setting
from helpers.algorithms.reinforce import (
    actor_loss,
    bootstrapped_returns,
    critic_loss,
    log_prob,
    make_actor,
    make_critic,
    sample_actions,
)


class ReinforceWithBaseline(Agent):
    """REINFORCE with a critic as its baseline, for Discrete actions: both learn after an episode.

    Rewards are multiplied by `reward_scale` before learning. If `learning_rate` is a schedule the
    actor follows it; the critic keeps its first value.
    """

    action_kinds: ClassVar = (spaces.Discrete,)

    learning_rate: Rate = setting(1e-3, as_rate)
    hidden: int | Sequence[int] = setting(64, widths, fixed=True)

    def build(self) -> None:
        super().build()
        with self.seeded():
            sizes = self.obs_size, int(self.action_space.n)
            self.actor = of_depth(make_actor, *sizes, hidden=self.hidden)
            self.critic = of_depth(make_critic, self.obs_size, hidden=self.hidden)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters())
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())
        self.follow("learning_rate", "actor_optimizer", "critic_optimizer")

    def act(self, obs: torch.Tensor, rng: np.random.Generator | None) -> np.ndarray:
        logits = self.actor(obs).cpu().numpy()
        actions = logits.argmax(axis=-1) if rng is None else sample_actions(logits, rng)
        return actions + self.action_space.start

    def train_step(self) -> None:
        """Play one episode, then one update of the actor and one of the critic."""
        observations, actions, rewards, terminated = self.play_episode()
        self.steps += len(rewards)
        self.log(**{"return": sum(rewards), "length": len(rewards)})
        obs = self.flat(observations)
        with torch.no_grad():
            values = self.critic(obs).squeeze(-1)
        final_value = 0.0 if terminated else values[-1].item()
        returns = bootstrapped_returns(
            np.array(rewards) * self.reward_factor, final_value, self.gamma
        )
        targets = torch.as_tensor(returns, dtype=torch.float32).to(self.device)

        log_probs = log_prob(self.actor(obs[:-1]), torch.as_tensor(actions).to(self.device))
        policy_loss = actor_loss(log_probs, targets - values[:-1])
        self.follow_schedules()
        gradient_step(self.actor_optimizer, policy_loss)
        value_loss = critic_loss(self.critic, obs[:-1], targets)
        gradient_step(self.critic_optimizer, value_loss)
        self.log(actor_loss=policy_loss.item(), critic_loss=value_loss.item())
        self.watch()

    def play_episode(self) -> tuple[np.ndarray, list[int], list[float], bool]:
        """One episode: T + 1 observations, T action indices, T rewards; did it terminate?"""
        env, obs = self.new_episode()
        observations, actions, rewards = [obs], [], []
        terminated = truncated = False
        while not (terminated or truncated):
            with torch.no_grad():
                action = int(self.act(self.flat(obs[None]), self.rng)[0])
            obs, reward, terminated, truncated, _ = env.step(action)
            observations.append(obs)
            actions.append(action - int(self.action_space.start))
            rewards.append(float(reward))
        return np.array(observations), actions, rewards, terminated
