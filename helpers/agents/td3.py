"""Twin delayed deep deterministic policy gradient (TD3).

Source: Fujimoto, van Hoof & Meger 2018, "Addressing Function Approximation Error in Actor-Critic
Methods", Algorithm 1.
"""

import copy
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.ddpg import polyak_update
from helpers.agents.off_policy import OffPolicyAgent, check_counts
from helpers.buffers import Batch
from helpers.envs import EnvLike
from helpers.networks import DeterministicActor, TwinQNetwork


def smoothed_action(action: torch.Tensor, noise: torch.Tensor, clip: float) -> torch.Tensor:
    """The target action with clipped noise: nearby actions should have nearby values.

    `action` in [-1, 1] and `noise`, both (B, action_dim); returns the same shape, in [-1, 1].
    """
    # 1. Noise beyond `clip` is cut off: the action should stay near the actor's.
    noise = noise.clamp(-clip, clip)
    # 2. What is left must still be a possible action.
    return (action + noise).clamp(-1, 1)


@torch.no_grad()
def clipped_double_q_target(
    batch: Batch, next_action: torch.Tensor, target_critic: nn.Module, gamma: float
) -> torch.Tensor:
    """y = r + gamma min(Q1', Q2')(s', a'), shape (B,), without gradient. Both critics learn it."""
    # 1. What both target critics think of the next action: (2, B).
    next_q = target_critic(batch.next_obs, next_action)
    # 2. For every row the more pessimistic of the two.
    lower = next_q.min(dim=0).values
    # 3. The reward plus the discounted future, which is worth nothing after a termination.
    return batch.reward + gamma * (1 - batch.terminated) * lower


def twin_critic_loss(critic: nn.Module, batch: Batch, target: torch.Tensor) -> torch.Tensor:
    """The sum of both critics' mean squared errors against the same targets (B,). A scalar."""
    # 1. What both critics say about the actions in the batch: (2, B).
    q = critic(batch.obs, batch.action)
    # 2. Mean over the batch, sum over the critics: each learns as if it were alone.
    return ((q - target) ** 2).mean(dim=1).sum()


def actor_loss_by_q1(actor: nn.Module, critic: nn.Module, obs: torch.Tensor) -> torch.Tensor:
    """Minus the mean of Q1(s, mu(s)): one critic is enough to say which way is up. A scalar."""
    # 1. The actor's own actions, with gradient.
    action = actor(obs)
    # 2. What the first critic thinks of them; minus, since optimisers go down.
    return -critic.q1(obs, action).mean()


class TD3(OffPolicyAgent):
    """Twin delayed DDPG: two critics and the lower of them, delayed actor, smoothed targets.

    Noise of standard deviation `target_noise`, cut at `noise_clip`, smooths the target action; the
    actor and all target networks move at every `policy_delay`-th update. What else can be set,
    `shared`, is explained at `OffPolicyAgent`.
    """

    saved: ClassVar = (
        "actor", "critic", "target_actor", "target_critic", "actor_optimizer", "critic_optimizer",
    )  # fmt: skip

    def __init__(
        self,
        env: EnvLike,
        *,
        tau: float = 0.005,
        policy_delay: int = 2,
        target_noise: float = 0.2,
        noise_clip: float = 0.5,
        actor_learning_rate: float = 1e-3,
        critic_learning_rate: float = 1e-3,
        hidden: int = 64,
        seed: int | None = None,
        **shared: Any,
    ) -> None:
        super().__init__(env, seed=seed, **shared)
        check_counts(policy_delay=policy_delay)
        self.tau, self.policy_delay = tau, policy_delay
        self.target_noise, self.noise_clip = target_noise, noise_clip
        with self.seeded():
            self.actor = DeterministicActor(self.obs_size, self.action_size, hidden)
            self.critic = TwinQNetwork(self.obs_size, self.action_size, hidden)
        self.target_actor = copy.deepcopy(self.actor)
        self.target_critic = copy.deepcopy(self.critic)
        self.actor_optimizer = LeanAdam(self.actor.parameters(), actor_learning_rate)
        self.critic_optimizer = LeanAdam(self.critic.parameters(), critic_learning_rate)
        self._online = [*self.actor.parameters(), *self.critic.parameters()]
        self._targets = [*self.target_actor.parameters(), *self.target_critic.parameters()]

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        """One step of both critics; every second time one of the actor and of all targets."""
        with torch.no_grad():
            noise = self.rng.standard_normal(batch.action.shape, dtype=np.float32)
            noise = torch.from_numpy(noise).mul_(self.target_noise)
            next_action = smoothed_action(self.target_actor(batch.next_obs), noise, self.noise_clip)
        target = clipped_double_q_target(batch, next_action, self.target_critic, self.gamma)
        q_loss = twin_critic_loss(self.critic, batch, target)
        gradient_step(self.critic_optimizer, q_loss)
        losses = {"critic_loss": q_loss}
        if self.updates % self.policy_delay == 0:
            losses["actor_loss"] = actor_loss_by_q1(self.actor, self.critic, batch.obs)
            gradient_step(self.actor_optimizer, losses["actor_loss"])
            polyak_update(self._targets, self._online, self.tau)
        return losses

    def value(self, obs: torch.Tensor) -> torch.Tensor:
        return self.critic.q1(obs, self.actor(obs))
