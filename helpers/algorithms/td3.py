"""Twin delayed deep deterministic policy gradient (TD3): the whole algorithm, from top to bottom.

Source: Fujimoto, van Hoof & Meger 2018, "Addressing Function Approximation Error in Actor-Critic
Methods", Algorithm 1. In the code `# 9` marks step 9, and `# 1.` the first part of a function:

     1  actor mu: random weights; target actor mu': a copy
     2  critics Q1, Q2: random weights; target critics Q1', Q2': copies
     3  for every step: a <- mu(s) + noise; observe r and s'; store (s, a, r, s') in R
     4      draw a random batch of transitions from R
     5      a' <- mu'(s')
     6      a~ <- clip(a' + clip(noise, -c, c), -1, 1)
     7      q1', q2' <- Q1'(s', a~), Q2'(s', a~)
     8      the lower of the two, row by row
     9      y <- r + gamma times the lower one, or r alone if s' is terminal
    10      q1, q2 <- Q1(s, a), Q2(s, a)
    11      loss <- mean of (y - q1)^2 + mean of (y - q2)^2
    12      one gradient step of both critics, down the loss
    13      at every d-th update: one of the actor, up the mean of Q1(s, mu(s)),
    14          then Q1', Q2' move a fraction tau towards Q1, Q2,
    15          and mu' moves a fraction tau towards mu

Not in Algorithm 1: random first actions, clipping, y = r after a termination, scaled rewards.
"""

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.optim import Adam

from helpers.algorithms import shared
from helpers.algorithms.ddpg import DeterministicActor, QNetwork, polyak_update
from helpers.memory.buffers import Batch, ReplayBuffer


@dataclass(frozen=True)
class Settings:
    env_id: str = "Pendulum-v1"
    steps: int = 12_000
    learning_starts: int = 1000  # for so many steps `warm_up_noise` acts alone
    warm_up_noise: shared.Noise = shared.UniformNoise()
    noise: shared.Noise = shared.GaussianNoise(0.1)  # of actions in [-1, 1], a standard deviation
    gamma: float = 0.99
    tau: float = 0.02
    policy_delay: int = 2  # d of step 13
    target_noise: float = 0.2  # a standard deviation
    noise_clip: float = 0.5  # c
    batch_size: int = 128
    buffer_size: int = 100_000
    reward_scale: float = 0.1  # the replay buffer holds rewards times this
    actor_learning_rate: float = 1e-3
    critic_learning_rate: float = 1e-3


PENDULUM = Settings()
TWO_POLES = Settings(
    env_id="helpers.envs.make:DoublePole-v0", steps=30_000, batch_size=64, reward_scale=1.0,
)  # fmt: skip
MOUNTAIN_CAR = Settings(
    env_id="MountainCarContinuous-v0", steps=20_000, learning_starts=3000, tau=0.01,
    warm_up_noise=shared.OUNoise(0.5, theta=0.05), noise=shared.OUNoise(0.3, theta=0.05),
)  # fmt: skip


class TwinQNetwork(nn.Module):
    """Two critics with weights of their own: observations and actions to two values (B,) each."""

    def __init__(self, obs_size: int, action_dim: int, hidden: int = 64) -> None:
        super().__init__()
        # 1. Two Q networks that share nothing, so that their errors differ.
        self.first = QNetwork(obs_size, action_dim, hidden)
        self.second = QNetwork(obs_size, action_dim, hidden)

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        # 2. Both answers, each (B,).
        return self.first(obs, action), self.second(obs, action)

    def q1(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        """The first critic alone (B,): what the actor learns from."""
        # 3. Not both and then one of them: the second would be computed for nothing.
        return self.first(obs, action)


@torch.no_grad()
def smoothed_target_action(
    target_actor: nn.Module,
    next_obs: torch.Tensor,
    target_noise: float,
    noise_clip: float,
    rng: np.random.Generator,
) -> torch.Tensor:
    """The target actor's next actions with a little clipped noise, (B, action_dim) in [-1, 1].

    Nearby actions should have nearby values: each sample asks about one of them, drawn at random,
    and over many batches the critics learn the mean. Source: Fujimoto et al. 2018, section 5.3.
    """
    # 1. What the target actor would do next.
    action = target_actor(next_obs)
    # 2. Gaussian noise of standard deviation `target_noise`, drawn anew for every sample and every
    # dimension.
    noise = torch.as_tensor(rng.standard_normal(action.shape, dtype=np.float32)) * target_noise
    # 3. The noise is clipped at `noise_clip`: the action should stay near the actor's.
    noise = noise.clamp(-noise_clip, noise_clip).to(action.device)
    # 4. The sum must still be a possible action.
    return (action + noise).clamp(-1, 1)


@torch.no_grad()
def clipped_double_q_target(
    batch: Batch, next_action: torch.Tensor, target_critic: nn.Module, gamma: float
) -> torch.Tensor:
    """y = r + gamma (1 - terminated) min(Q1', Q2')(s', a~), shape (B,), for both critics.

    No gradient flows through it.
    """
    # 1. What the two target critics think of the next action.
    q1, q2 = target_critic(batch.next_obs, next_action)
    # 2. For every row the more pessimistic of the two.
    lower = torch.minimum(q1, q2)
    # 3. The reward plus the discounted future, which is worth nothing after a termination.
    return batch.reward + gamma * (1 - batch.terminated) * lower


def twin_critic_loss(critic: nn.Module, batch: Batch, target: torch.Tensor) -> torch.Tensor:
    """The sum of both critics' mean squared errors against the same targets (B,). A scalar."""
    # 1. What the two critics say about the actions in the batch.
    q1, q2 = critic(batch.obs, batch.action)
    # 2. The sum, not the mean, of their losses: each learns as if it were alone.
    return nn.functional.mse_loss(q1, target) + nn.functional.mse_loss(q2, target)


def actor_loss_by_q1(actor: nn.Module, critic: nn.Module, obs: torch.Tensor) -> torch.Tensor:
    """Minus the mean of Q1(s, mu(s)): one critic is enough to say which way is up. A scalar."""
    # 1. The actor's own actions, with gradient.
    action = actor(obs)
    # 2. What the first critic thinks of them; negated, since optimisers minimise.
    return -critic.q1(obs, action).mean()


class Agent:
    """What learns: an actor and two critics, slow copies of the three, two optimisers."""

    predict = shared.predict  # in the environment's own units, as `evaluate(agent, env_id)` asks

    def __init__(self, env, s: Settings) -> None:
        self.env = env
        self.history: shared.History = {}
        sizes = env.observation_space.shape[0], env.action_space.shape[0]
        self.actor, self.critic = DeterministicActor(*sizes), TwinQNetwork(*sizes)  # 1, 2
        self.target_actor, self.target_critic = copy.deepcopy((self.actor, self.critic))
        self.actor_optimizer = Adam(self.actor.parameters(), s.actor_learning_rate, fused=True)
        self.critic_optimizer = Adam(self.critic.parameters(), s.critic_learning_rate, fused=True)

    @torch.no_grad()
    def act(self, obs: np.ndarray) -> np.ndarray:
        """The actor's action for one observation, both in [-1, 1], without noise."""
        return self.actor(torch.from_numpy(obs)).numpy()


def update(
    agent: Agent, batch: Batch, s: Settings, number: int, rng: np.random.Generator
) -> dict[str, torch.Tensor]:
    """Update both critics; at every `policy_delay`-th update also the actor and all targets.

    `number` is a running number: only its remainder by `policy_delay` matters. Returns the losses.
    """
    next_action = smoothed_target_action(  # 5, 6
        agent.target_actor, batch.next_obs, s.target_noise, s.noise_clip, rng
    )
    y = clipped_double_q_target(batch, next_action, agent.target_critic, s.gamma)  # 7 to 9
    q_loss = twin_critic_loss(agent.critic, batch, y)  # 10, 11
    agent.critic_optimizer.zero_grad()  # 12
    q_loss.backward()
    agent.critic_optimizer.step()
    if number % s.policy_delay != 0:  # 13: not yet the actor's turn
        return {"critic_loss": q_loss.detach()}
    policy_loss = actor_loss_by_q1(agent.actor, agent.critic, batch.obs)  # 13
    agent.actor_optimizer.zero_grad()
    policy_loss.backward()  # reaches the critics too: their zero_grad clears that
    agent.actor_optimizer.step()
    polyak_update(agent.target_critic.parameters(), agent.critic.parameters(), s.tau)  # 14
    polyak_update(agent.target_actor.parameters(), agent.actor.parameters(), s.tau)  # 15
    return {"critic_loss": q_loss.detach(), "actor_loss": policy_loss.detach()}


def train(s: Settings, seed: int = 0, watch=shared.unwatched) -> Agent:
    """A trained agent. `watch` sees every step; `seed` also seeds torch, for the weights."""
    torch.manual_seed(seed)
    rng, env = np.random.default_rng(seed), shared.scaled_env(s.env_id)
    obs_shape, action_shape = env.observation_space.shape, env.action_space.shape
    agent = Agent(env, s)  # 1, 2
    memory = ReplayBuffer(s.buffer_size, obs_shape, action_shape, rng)
    obs, total = env.reset(seed=seed)[0], 0.0
    # Fresh copies for each episode: an Ornstein-Uhlenbeck noise remembers its last value.
    noise, warm_up_noise = copy.deepcopy((s.noise, s.warm_up_noise))
    for step in watch(range(1, s.steps + 1), agent, agent.history):  # 3
        if step > s.learning_starts:
            action = agent.act(obs) + noise.sample(action_shape, rng)
        else:
            action = warm_up_noise.sample(action_shape, rng)
        action = np.clip(action, -1, 1).astype(np.float32)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.add(obs, action, s.reward_scale * reward, next_obs, terminated, truncated)
        obs, total = next_obs, total + reward
        if step >= s.learning_starts:
            losses = update(agent, memory.sample(s.batch_size), s, step, rng)  # 4 to 15
            if step % 50 == 0:
                shared.log(agent.history, step, losses)
        if terminated or truncated:
            shared.log(agent.history, step, {"return": total})
            obs, total = env.reset()[0], 0.0
            noise, warm_up_noise = copy.deepcopy((s.noise, s.warm_up_noise))
    return agent


if __name__ == "__main__":
    torch.set_num_threads(1)  # in networks this small more threads only wait for each other
    train(PENDULUM, watch=shared.printed)
