"""Deep deterministic policy gradient (DDPG).

Source: Lillicrap et al. 2016, "Continuous control with deep reinforcement learning", Algorithm 1.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import nn

from helpers.agents.base import gradient_step
from helpers.agents.mlp import Mlp, UpdateInNumpy
from helpers.agents.networks import QNetwork
from helpers.agents.off_policy import OffPolicyAgent
from helpers.memory.buffers import Batch


@torch.no_grad()
def td_target(
    batch: Batch, target_actor: nn.Module, target_critic: nn.Module, gamma: float
) -> torch.Tensor:
    """What Q(s, a) should be, (B,): y = r + gamma (1 - terminated) Q'(s', mu'(s')). No gradient.

    Q' and mu' are the target networks. Source: Lillicrap et al. 2016, Algorithm 1, which says
    nothing of ends.
    """
    # 1. The action that the target actor would take next.
    next_action = target_actor(batch.next_obs)
    # 2. What the target critic thinks of it.
    next_q = target_critic(batch.next_obs, next_action)
    # 3. The reward plus the discounted future, which is worth nothing after a termination.
    return batch.reward + gamma * (1 - batch.terminated) * next_q


def critic_loss(critic: nn.Module, batch: Batch, target: torch.Tensor) -> torch.Tensor:
    """Mean squared error between Q(s, a) of the actions taken and their targets (B,). A scalar."""
    # 1. What the critic says about the actions in the batch.
    q = critic(batch.obs, batch.action)
    # 2. The mean over the batch of the squared differences.
    return nn.functional.mse_loss(q, target)


def actor_loss(actor: nn.Module, critic: nn.Module, obs: torch.Tensor) -> torch.Tensor:
    """Minus the mean of Q(s, mu(s)): going down it changes actions towards higher Q. A scalar.

    The chain rule of the deterministic policy gradient is what autograd does with it.
    """
    # 1. The actor's own actions, with gradient: not the ones in the batch.
    action = actor(obs)
    # 2. What the critic thinks of them; minus, since optimisers go down.
    return -critic(obs, action).mean()


@torch.no_grad()
def polyak_update(
    targets: Iterable[torch.Tensor], online: Iterable[torch.Tensor], tau: float
) -> None:
    """Move every target parameter a fraction `tau` of the way to its online one, in place.

    w' <- tau w + (1 - tau) w' for each weight. Source: Lillicrap et al. 2016, Algorithm 1.
    """
    # 1. Go through both together.
    for target, source in zip(targets, online, strict=True):
        # 2. A fraction tau of the way from the target to the online parameter.
        target.lerp_(source, tau)


class DDPG(OffPolicyAgent):
    """Deep deterministic policy gradient: replay, noise, target networks.

    What can be set is explained at `OffPolicyAgent`.
    """

    critic_class = QNetwork

    def update(self, batch: Batch) -> dict[str, torch.Tensor]:
        """An update of the critic, one of the actor, then a small move of both target networks."""
        # 1. What the critic should say: a target from both target networks.
        target = td_target(batch, self.target_actor, self.target_critic, self.gamma)
        # 2. An update of the critic towards it.
        q_loss = critic_loss(self.critic, batch, target)
        gradient_step(self.critic_optimizer, q_loss)
        # 3. An update of the actor, uphill on what the critic says now.
        policy_loss = actor_loss(self.actor, self.critic, batch.obs)
        gradient_step(self.actor_optimizer, policy_loss)
        # 4. A small move of all target weights.
        polyak_update(self.targets, self.online, self.tau)
        # 5. Both losses, for the curves.
        return {"critic_loss": q_loss, "actor_loss": policy_loss}


class DDPGInNumpy(UpdateInNumpy):
    """`DDPG.update` in numpy: the same steps and numbers. An edit there has to be made here too."""

    repeats = (DDPG.update,)

    def __init__(self, agent: Any) -> None:
        super().__init__(agent)
        self.target_actor = Mlp(agent.target_actor)

    def update(self, obs: Any, action: Any, reward: Any, next_obs: Any, terminated: Any) -> dict:
        # 1. What the critic should say: a target from both target networks.
        next_action = np.tanh(self.target_actor.forward(next_obs))
        next_q = self.lowest(self.target_critics, next_obs, next_action)
        target = reward + float(self.agent.gamma) * (1 - terminated) * next_q
        # 2. An update of the critic towards it.
        losses = {"critic_loss": self.learn_values(obs, action, target)}
        # 3. An update of the actor, uphill on what the critic says now.
        losses["actor_loss"] = self.learn_actions(obs)
        # 4. A small move of all target weights.
        self.move_targets()
        return losses


DDPG.in_numpy = DDPGInNumpy
