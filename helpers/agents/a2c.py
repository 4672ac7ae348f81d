"""Advantage actor-critic (A2C): many environments at once, short rollouts, GAE.

Sources: Mnih et al. 2016, "Asynchronous Methods for Deep Reinforcement Learning" (the algorithm,
its entropy bonus); Schulman et al. 2016, "High-Dimensional Continuous Control Using Generalized
Advantage Estimation" (GAE).
"""

from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.limits import SIZE, number
from helpers.agents.on_policy import OnPolicyAgent
from helpers.agents.settings import setting
from helpers.algorithms.reinforce import actor_loss, critic_loss


class A2C(OnPolicyAgent):
    """Advantage actor-critic: many environments, short rollouts, GAE and an entropy bonus.

    The critic gets `critic_steps` updates for each of the actor's. If `learning_rate` is a schedule
    the actor follows it; the critic keeps its first value. What else can be set is explained at
    `OnPolicyAgent`.
    """

    critic_steps: int = setting(4, SIZE)
    entropy_coef: float = setting(0.01, number(finite=True))

    def build(self) -> None:
        super().build()
        self.policy_optimizer = LeanAdam(self.policy.parameters())
        self.critic_optimizer = LeanAdam(self.critic.parameters())
        self.follow("learning_rate", "policy_optimizer", "critic_optimizer")

    def learn_from(self, obs, actions, advantages, returns) -> dict[str, float]:
        """One update of the actor and `critic_steps` of the critic."""
        # The advantages' scale changes as the critic learns, the size of an update should not.
        weights = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        log_probs, entropies = self.policy.evaluate(obs, actions)
        policy_loss = actor_loss(log_probs, weights)
        bonus = self.entropy_coef * entropies.mean()
        gradient_step(self.policy_optimizer, policy_loss - bonus, self.max_grad_norm)
        for _ in range(self.critic_steps):
            squared_error = critic_loss(self.critic, obs, returns)
            gradient_step(self.critic_optimizer, squared_error)
        numbers = policy_loss, squared_error, entropies.mean()
        names = "actor_loss", "critic_loss", "entropy"
        return {name: each.item() for name, each in zip(names, numbers, strict=True)}
