"""Soft actor-critic (SAC).

Sources: Haarnoja, Zhou, Abbeel & Levine 2018, "Soft Actor-Critic: Off-Policy Maximum Entropy Deep
Reinforcement Learning with a Stochastic Actor" (the first paper); Haarnoja et al. 2018, "Soft
Actor-Critic Algorithms and Applications" (the second), whose Algorithm 1 this is.
"""

import math
from typing import Any

import numpy as np
import torch
from torch import nn

from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.limits import number, switch
from helpers.agents.mlp import UpdateInNumpy, clipped
from helpers.agents.off_policy import OffPolicyAgent
from helpers.agents.schedules import Rate, as_rate
from helpers.agents.settings import setting
from helpers.algorithms.ddpg import polyak_update
from helpers.algorithms.sac import (
    SquashedGaussianActor,
    sac_actor_loss,
    soft_td_target,
    squashed_sample,
    temperature_loss,
)
from helpers.algorithms.td3 import TwinQNetwork, twin_critic_loss
from helpers.memory.buffers import Batch


class Temperature(nn.Module):
    """alpha, kept as its logarithm: so it stays positive, whatever the optimiser does."""

    def __init__(self, temperature: float) -> None:
        super().__init__()
        self.log = nn.Parameter(torch.tensor(math.log(temperature)))

    def forward(self) -> torch.Tensor:
        """alpha, a scalar without gradient: the losses of actor and critics do not move it."""
        return self.log.detach().exp()


class SAC(OffPolicyAgent):
    """Soft actor-critic: a stochastic policy, a bonus for its entropy, the lower of two critics.

    `temperature`: what a unit of entropy is worth; it stays so, or with `learn_temperature` it is
    where learning starts, with `temperature_learning_rate` towards `target_entropy` (None: minus
    the number of action dimensions). The policy explores by itself; a `noise` is added to what it
    draws, and none is by default. Greedy, it takes the tanh of the mean. What else can be set is
    explained at `OffPolicyAgent`.
    """

    actor_class = SquashedGaussianActor
    critic_class = TwinQNetwork
    outputs = (2, 2)
    slow = ("critic",)  # no target actor
    steady = (*OffPolicyAgent.steady, Temperature)

    temperature: Any = setting(1.0, number(above=0, finite=True), fixed=True, makes=Temperature)
    learn_temperature: bool = setting(True, switch)
    target_entropy: Any = setting(None, number(finite=True, optional=True), fixed=True)
    temperature_learning_rate: Rate = setting(1e-3, as_rate)
    noise = None

    def build(self) -> None:
        super().build()
        if self.target_entropy is None:
            self.target_entropy = -self.action_size
        self.temperature.to(self.device)
        self.temperature_optimizer = LeanAdam(self.temperature.parameters())
        self.follow("temperature_learning_rate", "temperature_optimizer")

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        """One update of both critics, the actor and the temperature; the targets follow.

        Returns the losses, the `temperature` that was used, and the policy's mean `entropy`.
        """
        temperature = self.temperature()
        # 1. Next actions, drawn from the policy as it is: there is no target actor, and what is
        # drawn anew for each batch smooths the target by itself.
        with torch.no_grad():
            next_action, next_log_prob = self.sample(batch.next_obs, self.rng)
        # 2. What both critics should say, and an update of both towards it.
        target = soft_td_target(
            batch, next_action, next_log_prob, self.target_critic, temperature, self.gamma
        )
        q_loss = twin_critic_loss(self.critic, batch, target)
        gradient_step(self.critic_optimizer, q_loss)
        # 3. An update of the actor, uphill on the lower of both critics and on its own entropy.
        action, log_prob = self.sample(batch.obs, self.rng)
        policy_loss = sac_actor_loss(self.critic, batch.obs, action, log_prob, temperature)
        gradient_step(self.actor_optimizer, policy_loss)
        losses = {"critic_loss": q_loss, "actor_loss": policy_loss}
        # 4. An update of the temperature, up where the policy was too certain.
        if self.learn_temperature:
            loss = temperature_loss(self.temperature.log, log_prob, self.target_entropy)
            gradient_step(self.temperature_optimizer, loss)
        # 5. A small move of both target critics.
        polyak_update(self.targets, self.online, self.tau)
        return losses | {"temperature": temperature, "entropy": -log_prob.detach().mean()}

    def sample(
        self, obs: torch.Tensor, rng: np.random.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Actions (..., action_size) for flat observations, drawn, and their log-densities."""
        mean, log_std = self.actor(obs)
        noise = torch.as_tensor(rng.standard_normal(mean.shape, dtype=np.float32))
        return squashed_sample(mean, log_std, noise.to(mean.device))

    def draw(self, obs: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
        return self.sample(obs, rng)[0]

    def greedy(self, obs: torch.Tensor) -> torch.Tensor:
        mean, _ = self.actor(obs)
        return torch.tanh(mean)

    def value(self, obs: torch.Tensor) -> torch.Tensor:
        """The first critic's, as TD3's is: a soft value, in which later steps' entropy counts."""
        return self.critic.q1(obs, self.greedy(obs))


class SACInNumpy(UpdateInNumpy):
    """`SAC.update` in numpy: the same steps and numbers. An edit there has to be made here too."""

    repeats = (SAC.update, SAC.sample)

    def update(self, obs: Any, action: Any, reward: Any, next_obs: Any, terminated: Any) -> dict:
        agent = self.agent
        temperature = np.exp(agent.temperature.log.detach().numpy())
        # 1. Next actions, drawn from the policy as it is.
        next_action, next_log_prob, _ = self.sample(next_obs)
        # 2. What both critics should say, and an update of both towards it.
        lower = self.lowest(self.target_critics, next_obs, next_action)
        soft_value = lower - temperature * next_log_prob
        target = reward + float(agent.gamma) * (1 - terminated) * soft_value
        losses = {"critic_loss": self.learn_values(obs, action, target)}
        # 3. An update of the actor, uphill on the lower of both critics and on its own entropy.
        action, log_prob, stretched = self.sample(obs)
        losses["actor_loss"] = self.climb(obs, action, log_prob, stretched, temperature)
        # 4. An update of the temperature, up where the policy was too certain.
        entropy = -log_prob.mean()
        if agent.learn_temperature:  # the slope over log(alpha) of its loss
            slope = torch.tensor(entropy - np.float32(agent.target_entropy))
            agent.temperature.log.grad = slope
            agent.temperature_optimizer.step()
        # 5. A small move of both target critics.
        self.move_targets()
        return losses | {"temperature": temperature, "entropy": entropy}

    def sample(self, obs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Actions, their log-densities, and how log_std moves u, the action before its tanh."""
        mean, raw = np.split(self.actor.forward(obs), 2, axis=1)
        log_std = clipped(raw.copy(), *SquashedGaussianActor.log_std_range)
        noise = self.agent.rng.standard_normal(mean.shape, dtype=np.float32)
        stretched = np.exp(log_std) * noise
        u = mean + stretched
        log_slope = 2 * (math.log(2) - u - np.logaddexp(0, -2 * u))
        log_density = -0.5 * noise**2 - log_std - 0.5 * math.log(2 * math.pi) - log_slope
        return np.tanh(u), np.add.reduce(log_density, axis=1), stretched

    def climb(
        self, obs: np.ndarray, action: np.ndarray, log_prob: np.ndarray, stretched: np.ndarray,
        temperature: np.ndarray,
    ) -> np.float32:  # fmt: skip
        """An update of the actor, whose `action` etc. `sample` has given. Returns its loss."""
        inputs, rows = np.concatenate((obs, action), axis=1), len(obs)
        values = [critic.forward(inputs) for critic in self.critics]
        lower = np.minimum(*values)
        equal = np.add(*(value == lower for value in values), dtype=np.float32)
        slope = np.zeros_like(action)
        for critic, value in zip(self.critics, values, strict=True):
            # Where both are equal, each is half of it.
            np.divide(value == lower, -rows * equal, out=critic.slope)
            slope += critic.input_slope()[:, obs.shape[1] :]
        certainty = temperature / rows  # the slope of the loss over each log-density
        slope = slope * (1 - action * action) + certainty * 2 * action
        mean_slope, log_std_slope = np.split(self.actor.slope, 2, axis=1)
        mean_slope[:] = slope
        _, raw = np.split(self.actor.outs[-1], 2, axis=1)
        low, high = SquashedGaussianActor.log_std_range
        inside = (raw >= low) & (raw <= high)
        np.multiply(slope * stretched - certainty, inside, out=log_std_slope)
        self.actor.backward()
        self.agent.actor_optimizer.step()
        return (temperature * log_prob - lower[:, 0]).mean()


SAC.in_numpy = SACInNumpy
