"""Deep deterministic policy gradient from demonstrations (DDPGfD).

Source: Vecerik et al. 2017, "Leveraging Demonstrations for Deep Reinforcement Learning on Robotics
Problems with Sparse Rewards".
"""

from typing import Self

import torch

from helpers.agents.base import gradient_step
from helpers.agents.limits import NOT_NEGATIVE, SHARE, SIZE, number
from helpers.agents.off_policy import OffPolicyAgent, as_rows
from helpers.agents.settings import setting
from helpers.algorithms.ddpg import QNetwork, actor_loss, polyak_update, td_target
from helpers.algorithms.ddpgfd import n_step_target, priorities, weighted_critic_loss
from helpers.demos.files import Demos
from helpers.memory.buffers import PrioritizedBatch, PrioritizedReplayBuffer
from helpers.memory.pictures import make_memory


class DDPGfD(OffPolicyAgent):
    """DDPG from demonstrations: they stay in the memory, and are drawn while there is something to
    learn from them.

    Give it demonstrations with `remember` before it learns; then its first `pretraining` updates
    come before the first step. `n_steps`, `n_step_weight` (lambda_1): the second target of the
    critic. `weight_decay` (lambda_2): L2 on both networks. `gradient_weight` (lambda_3), `eps`,
    `demo_bonus` (eps_D): the priority. `alpha`, `beta`, `beta_samples`: how priorities count,
    see `PrioritizedReplayBuffer`. What else can be set is explained at `OffPolicyAgent`.
    """

    critic_class = QNetwork
    buffer: PrioritizedReplayBuffer

    pretraining: int = setting(1000, number(0, whole=True, finite=True))
    n_steps: int = setting(10, SIZE, fixed=True)
    n_step_weight: float = setting(0.5, NOT_NEGATIVE)
    weight_decay: float = setting(1e-5, NOT_NEGATIVE, fixed=True)
    gradient_weight: float = setting(1.0, NOT_NEGATIVE)
    eps: float = setting(1e-3, number(above=0, finite=True))
    demo_bonus: float = setting(1.0, NOT_NEGATIVE)
    alpha: float = setting(0.3, fixed=True)
    beta: float = setting(1.0, fixed=True)
    beta_samples: int = setting(1, fixed=True)
    gamma: float = setting(0.99, SHARE, fixed=True)  # the memory has a copy

    def build(self) -> None:
        super().build()
        self.buffer = make_memory(
            PrioritizedReplayBuffer, self.buffer_size, self.units.sizes, self.rng,
            alpha=self.alpha, beta=self.beta, beta_samples=self.beta_samples,
            n_steps=self.n_steps, gamma=self.gamma,
        )  # fmt: skip
        for optimizer in (self.actor_optimizer, self.critic_optimizer):
            optimizer.param_groups[0]["weight_decay"] = self.weight_decay

    def remember(self, demos: Demos) -> Self:
        """Put demonstrations into the memory, for good. Returns the agent."""
        self.buffer.add_demonstrations(*as_rows(self, demos, self.buffer))
        return self

    def train_step(self) -> None:
        """While it has demonstrations to study an update, afterwards a step and some updates."""
        if self.updates < self.pretraining and self.buffer.demos:
            self.learn_from_memory()
        else:
            super().train_step()

    def update(self, batch: PrioritizedBatch) -> dict[str, torch.Tensor]:
        """An update of the critic, one of the actor, a small one of the targets, new priorities."""
        target = td_target(batch, self.target_actor, self.target_critic, self.gamma)
        n_target = n_step_target(batch, self.target_actor, self.target_critic)
        # How steep the critic is at each action (B, action_dim), before it moves.
        action = batch.action.detach().requires_grad_()
        q = self.critic(batch.obs, action)
        (slope,) = torch.autograd.grad(q.sum(), action, retain_graph=True)
        q_loss = weighted_critic_loss(q, target, n_target, batch.weights, self.n_step_weight)
        gradient_step(self.critic_optimizer, q_loss)
        # The actor's loss has no weights, which is our choice.
        policy_loss = actor_loss(self.actor, self.critic, batch.obs)
        gradient_step(self.actor_optimizer, policy_loss)
        polyak_update(self.targets, self.online, self.tau)
        priority = priorities(
            (q - target).detach(), slope, batch.is_demo,
            self.gradient_weight, self.eps, self.demo_bonus,
        )  # fmt: skip
        self.buffer.update_priorities(batch.indices, priority)
        demos = batch.is_demo.mean()
        return {"critic_loss": q_loss, "actor_loss": policy_loss, "demonstrations": demos}
