"""Proximal policy optimization (PPO): the whole algorithm, from top to bottom.

Sources: Schulman et al. 2017, "Proximal Policy Optimization Algorithms", Algorithm 1 and equation
9; Huang et al. 2022, "The 37 Implementation Details of Proximal Policy Optimization", for lines 1,
2, 9 and 13; Spinning Up for line 12. A comment that is a number alone, `# 7`, is its line here:

    1  actor pi, critic V: orthogonal weights   8          rho <- pi(a|s) / pi_old(a|s)
    2  repeat, learning rate falling:           9          A of the minibatch: mean 0, deviation 1
    3      a rollout of all environments       10          loss <- -L^CLIP(rho, A)
    4      A by GAE, targets y <- A + V(s)     11              - c2 entropy + c1 (y - V(s))^2
    5      keep log pi_old(a|s), V_old(s)      12          KL too large? on to line 3
    6      for n_epochs:                       13          pi, V: down the loss, clipped gradient
    7        for every minibatch of the rows:
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from helpers.algorithms import shared
from helpers.algorithms.a2c import Rows, as_rows, collect, make_envs
from helpers.algorithms.policies import approximate_kl, clip_fraction, orthogonal_init, policy_for
from helpers.algorithms.reinforce import make_critic
from helpers.memory.buffers import linear_schedule


@dataclass(frozen=True)
class Settings:
    env_id: str = "CartPole-v1"
    steps: int = 80_000
    n_envs: int = 16
    n_steps: int = 64
    n_epochs: int = 8
    batch_size: int = 256
    gamma: float = 0.99
    lam: float = 0.95
    reward_scale: float = 0.01  # advantages and targets are those of rewards times this
    learning_rate: float = 2e-3  # falls on a straight line
    final_learning_rate: float = 2e-4
    clip_range: float = 0.2
    value_clip_range: float | None = None  # None: values are not clipped
    entropy_coef: float = 0.0  # c2
    value_coef: float = 0.5  # c1
    max_grad_norm: float = 0.5  # of both gradients together
    target_kl: float | None = None  # None: the KL stops nothing


CARTPOLE = Settings()
ACROBOT = Settings(
    env_id="Acrobot-v1", steps=200_000, n_epochs=4, entropy_coef=0.01, final_learning_rate=0.0
)
PENDULUM = Settings(
    env_id="Pendulum-v1", n_envs=8, n_steps=200, n_epochs=10, batch_size=200, gamma=0.95
)


def probability_ratio(log_probs: torch.Tensor, old_log_probs: torch.Tensor) -> torch.Tensor:
    """How much likelier each action has become: rho = pi(a|s) / pi_old(a|s), (B,).

    `log_probs` (B,) of the policy as it is now, `old_log_probs` (B,) of the policy that acted.
    Source: Schulman et al. 2017, section 3, above equation 6.
    """
    # 1. The old policy's are numbers: no gradient flows into them.
    old = old_log_probs.detach()
    # 2. A quotient of probabilities is the exponential of a difference of their logarithms.
    return (log_probs - old).exp()


def clipped_surrogate(
    ratios: torch.Tensor, advantages: torch.Tensor, clip_range: float
) -> torch.Tensor:
    """PPO's objective L^CLIP, to be maximised. A scalar.

    `ratios` and `advantages` (B,). The gradient reaches the policy only through `ratios`.
    Source: Schulman et al. 2017, equation 7, where `clip_range` is epsilon.
    """
    # 1. The advantage is a weight, not something to differentiate.
    weights = advantages.detach()
    # 2. The surrogate: ratio times advantage.
    surrogate = ratios * weights
    # 3. The same with ratios clipped to [1 - clip_range, 1 + clip_range]: constant beyond.
    clipped = ratios.clamp(1 - clip_range, 1 + clip_range) * weights
    # 4. The smaller of the two in each row, and the mean over the batch.
    return torch.minimum(surrogate, clipped).mean()


def explained_variance(rows: Rows) -> torch.Tensor:
    """How much of the returns' variance the critic predicted, 1 at most. A scalar.

    1 - Var(returns - values) / Var(returns): 0 for a critic that says the same of every state.
    Source: OpenAI's `ppo2`, which logs it.
    """
    errors = rows.advantages  # GAE: returns are values plus advantages
    return 1 - errors.var() / (rows.returns.var() + 1e-8)


def normalized(advantages: torch.Tensor) -> torch.Tensor:
    """Advantages (B,) with mean 0 and standard deviation 1.

    Source: Huang et al. 2022, detail 7; in each minibatch, not over the whole rollout.
    """
    # 1. Less their mean, divided by their standard deviation; 1e-8 in case all are equal.
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)


def ppo_value_loss(
    values: torch.Tensor, old_values: torch.Tensor, returns: torch.Tensor, clip_range: float | None
) -> torch.Tensor:
    """Mean squared error between values and returns, perhaps clipped. A scalar.

    `values` (B,) of the critic as it is now, `old_values` (B,) from before the first update,
    `returns` (B,). With a `clip_range`, in the units of values, moving further than that from the
    old value is not rewarded. Source: Huang et al. 2022, detail 9; in Schulman et al. 2017 there is
    none.
    """
    # 1. Old values and returns are numbers: no gradient flows into them.
    old, targets = old_values.detach(), returns.detach()
    # 2. The squared error of each row.
    errors = (values - targets) ** 2
    if clip_range is not None:
        # 3. The same with values at most `clip_range` from the old ones; the larger of both counts.
        clipped = old + (values - old).clamp(-clip_range, clip_range)
        errors = torch.maximum(errors, (clipped - targets) ** 2)
    # 4. The mean over the batch.
    return errors.mean()


def minibatches(n_rows: int, batch_size: int, rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
    """An epoch: every row number from 0 to n_rows - 1 once, shuffled, in parts of equal size.

    Each part (b,) has `batch_size` rows or a few more: rows that are left over are spread, since
    a part of two or three rows would move the weights as far as a whole one.
    Source: Huang et al. 2022, detail 6.
    """
    # 1. All row numbers in a random order.
    order = torch.from_numpy(rng.permutation(n_rows))
    # 2. The number of parts: how often `batch_size` goes into the rows, at least one.
    parts = max(1, n_rows // batch_size)
    # 3. Split the order into that many parts of equal size.
    return order.tensor_split(parts)


class Agent:
    """A policy and a critic, and one optimiser for both."""

    def __init__(self, envs, s: Settings) -> None:
        self.history: shared.History = {}
        obs_size = envs.single_observation_space.shape[0]
        self.policy = policy_for(obs_size, envs.single_action_space)  # 1
        self.critic = make_critic(obs_size)
        orthogonal_init(self.policy.actor, output_gain=0.01)
        orthogonal_init(self.critic, output_gain=1.0)
        both = [*self.policy.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(both, s.learning_rate, eps=1e-5, fused=True)

    @torch.no_grad()
    def predict(self, obs: np.ndarray, deterministic: bool = True) -> np.ndarray:
        """The likeliest action for one observation: `sample` gives it without `rng`."""
        return self.policy.to_env(self.policy.sample(torch.from_numpy(obs)))

    act = predict


def update(
    agent: Agent, batch: Rows, s: Settings, rng: np.random.Generator
) -> dict[str, torch.Tensor]:
    """`n_epochs` over the batch, in minibatches. Returns the numbers of the last minibatch."""
    both = [*agent.policy.parameters(), *agent.critic.parameters()]
    with torch.no_grad():  # 5
        old_log_probs, _ = agent.policy.evaluate(batch.obs, batch.actions)
        old_values = agent.critic(batch.obs).squeeze(-1)
    for _ in range(s.n_epochs):  # 6
        for rows in minibatches(len(batch.obs), s.batch_size, rng):  # 7
            obs, actions, advantages, returns = (column[rows] for column in batch)
            log_probs, entropies = agent.policy.evaluate(obs, actions)
            values, entropy = agent.critic(obs).squeeze(-1), entropies.mean()
            ratios = probability_ratio(log_probs, old_log_probs[rows])  # 8
            weights = normalized(advantages)  # 9
            policy_loss = -clipped_surrogate(ratios, weights, s.clip_range)  # 10
            value_loss = ppo_value_loss(values, old_values[rows], returns, s.value_clip_range)
            loss = policy_loss - s.entropy_coef * entropy + s.value_coef * value_loss  # 11
            numbers = {
                "actor_loss": policy_loss.detach(), "critic_loss": value_loss.detach(),
                "entropy": entropy.detach(), "clip_fraction": clip_fraction(ratios, s.clip_range),
                "approx_kl": approximate_kl(log_probs, old_log_probs[rows]),
            }  # fmt: skip
            if s.target_kl is not None and numbers["approx_kl"] > 1.5 * s.target_kl:  # 12
                return numbers
            agent.optimizer.zero_grad()  # 13
            loss.backward()
            nn.utils.clip_grad_norm_(both, s.max_grad_norm)
            agent.optimizer.step()
    return numbers


def train(s: Settings, seed: int = 0, watch=shared.unwatched) -> Agent:
    """A trained agent. `watch` sees every rollout; `seed` also seeds torch, for the weights."""
    torch.manual_seed(seed)
    rng, envs = np.random.default_rng(seed), make_envs(s.env_id, s.n_envs)
    agent, size = Agent(envs, s), s.n_envs * s.n_steps  # 1
    obs, _ = envs.reset(seed=seed)
    for step in watch(range(size, s.steps + 1, size), agent, agent.history):  # 2
        rollout, obs, returns = collect(envs, obs, agent.policy, s.n_steps, rng)  # 3
        agent.optimizer.param_groups[0]["lr"] = linear_schedule(
            step, s.steps, s.learning_rate, s.final_learning_rate
        )
        batch = as_rows(rollout, agent.critic, s.reward_scale, s.gamma, s.lam)  # 4
        shared.log(agent.history, step, {"explained_variance": explained_variance(batch)})
        shared.log(agent.history, step, update(agent, batch, s, rng))  # 5 to 13
        for episode_return in returns:
            shared.log(agent.history, step, {"return": episode_return})
    return agent


if __name__ == "__main__":
    torch.set_num_threads(1)  # in networks this small more threads only wait for each other
    train(CARTPOLE, watch=shared.printed)
