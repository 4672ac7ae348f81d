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
from helpers.agents.ddpg import polyak_update
from helpers.agents.limits import number, switch
from helpers.agents.mlp import UpdateInNumpy, clipped
from helpers.agents.networks import SquashedGaussianActor, TwinQNetwork
from helpers.agents.off_policy import OffPolicyAgent
from helpers.agents.schedules import Rate, as_rate
from helpers.agents.settings import setting
from helpers.agents.td3 import twin_critic_loss
from helpers.memory.buffers import Batch


def log_tanh_slope(u: torch.Tensor) -> torch.Tensor:
    """The logarithm of tanh's slope at each entry of u, log(1 - tanh(u)^2), in the shape of u.

    Finite and exact for large u too, where tanh(u) rounds to 1 and the formula as it stands gives
    log(0). Source: the sum's terms in equation 21 of the first paper, appendix C.
    """
    # 1. 1 - tanh(u)^2 = 4 / (e^u + e^-u)^2, of which the logarithm is taken by hand: softplus(x)
    # is log(1 + e^x), computed so that nothing overflows.
    return 2 * (math.log(2) - u - nn.functional.softplus(-2 * u))


def squashed_sample(
    mean: torch.Tensor, log_std: torch.Tensor, noise: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Actions in [-1, 1] and their log-densities: a Gaussian's sample through a tanh.

    `mean`, `log_std` and `noise` (..., action_dim), the last drawn from a standard Gaussian.
    Returns (..., action_dim) and (...,), with gradients to `mean` and `log_std`. Source: equations
    11 and 21 of the first paper.
    """
    # 1. Noise is moved and stretched, not drawn from the policy: gradients flow to mean and std.
    u = mean + log_std.exp() * noise
    # 2. The Gaussian's log-density at u, each dimension its own; u lies `noise` stds from the mean.
    log_density = -0.5 * noise**2 - log_std - 0.5 * math.log(2 * math.pi)
    # 3. The tanh presses actions together: where it is flat there are many of them near each other,
    # and the density grows by as much as the slope is small.
    log_density = log_density - log_tanh_slope(u)
    # 4. Independent dimensions: log-densities add up.
    return torch.tanh(u), log_density.sum(dim=-1)


@torch.no_grad()
def soft_td_target(
    batch: Batch,
    next_action: torch.Tensor,
    next_log_prob: torch.Tensor,
    target_critic: nn.Module,
    temperature: float | torch.Tensor,
    gamma: float,
) -> torch.Tensor:
    """y = r + gamma (min(Q1', Q2')(s', a') - alpha log pi(a'|s')), shape (B,), without gradient.

    `next_action` (B, action_dim) and `next_log_prob` (B,): drawn from the policy as it is now.
    Source: equations 2 and 3 of the second paper.
    """
    # 1. What the two target critics think of the next action, and for every row the lower.
    q1, q2 = target_critic(batch.next_obs, next_action)
    lower = torch.minimum(q1, q2)
    # 2. What is to come is worth more where the policy is more random: -log pi is, on average, its
    # entropy, and the temperature says what a unit of it is worth.
    soft_value = lower - temperature * next_log_prob
    # 3. The reward plus the discounted future, which is worth nothing after a termination: there no
    # action is chosen, so there is no entropy either.
    return batch.reward + gamma * (1 - batch.terminated) * soft_value


def sac_actor_loss(
    critic: nn.Module,
    obs: torch.Tensor,
    action: torch.Tensor,
    log_prob: torch.Tensor,
    temperature: float | torch.Tensor,
) -> torch.Tensor:
    """The mean of alpha log pi(a|s) - min(Q1, Q2)(s, a): a scalar.

    `action` (B, action_dim) and `log_prob` (B,): the policy's own, with gradient. Source: equation
    7 of the second paper.
    """
    # 1. What the critics think of the policy's own actions; the lower of the two.
    q1, q2 = critic(obs, action)
    lower = torch.minimum(q1, q2)
    # 2. Down means: actions of higher value, and less certainty about which one to take.
    return (temperature * log_prob - lower).mean()


def temperature_loss(
    log_temperature: torch.Tensor, log_prob: torch.Tensor, target_entropy: float
) -> torch.Tensor:
    """The mean of -log(alpha) (log pi(a|s) + target entropy): a scalar.

    `log_prob` (B,): only alpha is to move, so no gradient goes there. Source: equation 18 of the
    second paper, with log(alpha) in place of alpha, as its authors' code had it at first.
    """
    # 1. By how much the policy is more certain than it should be: its entropy is -log_prob.
    too_certain = (log_prob + target_entropy).detach()
    # 2. The loss falls as alpha rises where that is positive, and as alpha falls otherwise.
    return -(log_temperature * too_certain).mean()


class Temperature(nn.Module):
    """alpha, kept as its logarithm: so it stays positive, whatever the optimiser does."""

    def __init__(self, temperature: float) -> None:
        super().__init__()
        self.log = nn.Parameter(torch.tensor(math.log(temperature)))

    def forward(self) -> torch.Tensor:
        """alpha, a scalar without gradient: the losses of actor and critics do not move it."""
        return self.log.detach().exp()


class SAC(OffPolicyAgent):
    """Soft actor-critic: a policy that stays as random as it can afford, two critics, the lower.

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
