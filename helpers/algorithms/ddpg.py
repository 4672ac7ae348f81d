"""Deep deterministic policy gradient (DDPG): the whole algorithm, from top to bottom.

Source: Lillicrap et al. 2016, "Continuous control with deep reinforcement learning", Algorithm 1.
In the code `# 11` marks line 11 of it:
     1  critic Q, actor mu: random weights       8          do a; observe r and s'
     2  target networks Q', mu': copies          9          store (s, a, r, s') in R
     3  empty replay buffer R                   10          draw a random batch from R
     4  for every episode:                      11          y <- r + gamma Q'(s', mu'(s'))
     5      start the noise; the first state    12          critic: minimise mean (y - Q(s, a))^2
     6      for every step:                     13          actor: maximise mean Q(s, mu(s))
     7          a <- mu(s) + noise              14          Q', mu': a fraction tau of the way
"""

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from helpers.algorithms import shared
from helpers.memory.replay import Batch, ReplayBuffer


@dataclass(frozen=True)
class Settings:
    env_id: str = "Pendulum-v1"
    steps: int = 12_000
    learning_starts: int = 1000  # for the first 1000 steps `warm_up_noise` acts alone
    warm_up_noise: shared.Noise = shared.UniformNoise()
    noise: shared.Noise = shared.GaussianNoise(0.1)
    gamma: float = 0.99
    tau: float = 0.005
    batch_size: int = 128
    buffer_size: int = 100_000
    reward_scale: float = 0.1  # the buffer holds rewards times this
    actor_learning_rate: float = 3e-4
    critic_learning_rate: float = 1e-3


PENDULUM = Settings()
MOUNTAIN_CAR = Settings(
    env_id="MountainCarContinuous-v0", steps=20_000, learning_starts=3000,
    warm_up_noise=shared.OUNoise(0.5, theta=0.05), noise=shared.OUNoise(0.3, theta=0.05),
)  # fmt: skip


class DeterministicActor(nn.Module):
    """The actor mu: observations (..., obs_size) to actions (..., action_dim), in [-1, 1]."""

    def __init__(self, obs_size: int, action_dim: int, hidden: int = 64) -> None:
        super().__init__()
        # 1. Two hidden layers of `hidden` units each, and an output for each action dimension.
        self.hidden1 = nn.Linear(obs_size, hidden)
        self.hidden2 = nn.Linear(hidden, hidden)
        self.output = nn.Linear(hidden, action_dim)
        # 2. Small initial weights in the last layer: the tanh starts where it is steep.
        start_small(self.output)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        # 3. A ReLU after each hidden layer.
        x = torch.relu(self.hidden1(obs))
        x = torch.relu(self.hidden2(x))
        # 4. A tanh brings every output to [-1, 1].
        return torch.tanh(self.output(x))


class QNetwork(nn.Module):
    """The critic Q: observations (B, obs_size) and actions (B, action_dim) to values (B,)."""

    def __init__(self, obs_size: int, action_dim: int, hidden: int = 64) -> None:
        super().__init__()
        # 1. As in the actor, but observation *and* action go in, and one number comes out.
        self.hidden1 = nn.Linear(obs_size + action_dim, hidden)
        self.hidden2 = nn.Linear(hidden, hidden)
        self.output = nn.Linear(hidden, 1)
        start_small(self.output)

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        # 2. Put observation and action of each row side by side.
        x = torch.cat([obs, action], dim=-1)
        # 3. A ReLU after each hidden layer, nothing after the last: a value may be any number.
        x = torch.relu(self.hidden1(x))
        x = torch.relu(self.hidden2(x))
        # 4. One value a row: from (B, 1) to (B,).
        return self.output(x).squeeze(-1)


def start_small(layer: nn.Linear, bound: float = 3e-3) -> None:
    """Weights and biases uniform in [-bound, bound] (Lillicrap et al. 2016, section 7)."""
    nn.init.uniform_(layer.weight, -bound, bound)
    nn.init.uniform_(layer.bias, -bound, bound)


@torch.no_grad()
def td_target(
    batch: Batch, target_actor: nn.Module, target_critic: nn.Module, gamma: float
) -> torch.Tensor:
    """What Q(s, a) should be, (B,): y = r + gamma (1 - terminated) Q'(s', mu'(s')). No gradient.

    Q' and mu' are the target networks. Source: Lillicrap et al. 2016, Algorithm 1, which leaves
    out the factor for a termination.
    """
    # 1. The action that the target actor would take next.
    next_action = target_actor(batch.next_obs)
    # 2. Its value by the target critic.
    next_q = target_critic(batch.next_obs, next_action)
    # 3. The reward plus the discounted future, which is worth nothing after a termination.
    return batch.reward + gamma * (1 - batch.terminated) * next_q


def critic_loss(critic: nn.Module, batch: Batch, target: torch.Tensor) -> torch.Tensor:
    """Mean squared error between Q(s, a) of the actions taken and their targets (B,). A scalar."""
    # 1. The critic's values of the actions in the batch.
    q = critic(batch.obs, batch.action)
    # 2. The mean over the batch of the squared differences.
    return nn.functional.mse_loss(q, target)


def actor_loss(actor: nn.Module, critic: nn.Module, obs: torch.Tensor) -> torch.Tensor:
    """Minus the mean of Q(s, mu(s)), a scalar: a step down its gradient raises Q.

    Autograd makes the deterministic policy gradient of it, by the chain rule.
    """
    # 1. The actor's own actions, with gradient: not those in the batch.
    action = actor(obs)
    # 2. Minus the mean of their values, since optimisers minimise.
    return -critic(obs, action).mean()


@torch.no_grad()
def polyak_update(targets, online, tau: float) -> None:
    """Move every target parameter a fraction `tau` of the way to its online one, in place.

    w' <- tau w + (1 - tau) w' for each weight; `targets` and `online` are two networks'
    `parameters()`. Source: Lillicrap et al. 2016, Algorithm 1.
    """
    # 1. Go through both in pairs.
    for target, source in zip(targets, online, strict=True):
        # 2. A fraction tau of the way from the target to the online parameter.
        target.lerp_(source, tau)


class Agent:
    """An actor and a critic, with a target network and an optimiser for each."""

    predict = shared.predict  # in the environment's own units, as `evaluate(agent, env_id)` asks

    def __init__(self, env, s: Settings) -> None:
        self.env = env
        self.history: shared.History = {}
        sizes = env.observation_space.shape[0], env.action_space.shape[0]
        self.actor, self.critic = DeterministicActor(*sizes), QNetwork(*sizes)  # 1
        self.target_actor, self.target_critic = copy.deepcopy((self.actor, self.critic))  # 2
        adam = torch.optim.Adam
        self.actor_optimizer = adam(self.actor.parameters(), s.actor_learning_rate, fused=True)
        self.critic_optimizer = adam(self.critic.parameters(), s.critic_learning_rate, fused=True)

    @torch.no_grad()
    def act(self, obs: np.ndarray) -> np.ndarray:
        """The actor's action for one observation, both in [-1, 1], without noise."""
        return self.actor(torch.from_numpy(obs)).numpy()


def update(agent: Agent, batch: Batch, s: Settings) -> dict[str, torch.Tensor]:
    """Lines 11 to 14 of Algorithm 1. Returns the "critic_loss" and the "actor_loss", detached."""
    y = td_target(batch, agent.target_actor, agent.target_critic, s.gamma)  # 11
    q_loss = critic_loss(agent.critic, batch, y)  # 12
    agent.critic_optimizer.zero_grad()
    q_loss.backward()
    agent.critic_optimizer.step()
    policy_loss = actor_loss(agent.actor, agent.critic, batch.obs)  # 13
    agent.actor_optimizer.zero_grad()
    policy_loss.backward()  # leaves gradients in the critic too, which its zero_grad clears
    agent.actor_optimizer.step()
    polyak_update(agent.target_critic.parameters(), agent.critic.parameters(), s.tau)  # 14
    polyak_update(agent.target_actor.parameters(), agent.actor.parameters(), s.tau)
    return {"critic_loss": q_loss.detach(), "actor_loss": policy_loss.detach()}


def train(s: Settings, seed: int = 0, watch=shared.unwatched) -> Agent:
    """A trained agent. `watch` sees every step; `seed` also seeds torch, for the weights."""
    torch.manual_seed(seed)
    rng, env = np.random.default_rng(seed), shared.scaled_env(s.env_id)
    obs_shape, action_shape = env.observation_space.shape, env.action_space.shape
    agent = Agent(env, s)  # 1, 2
    buffer = ReplayBuffer(s.buffer_size, obs_shape, action_shape, rng)  # 3
    obs, total = env.reset(seed=seed)[0], 0.0  # 4, 5
    noise, warm_up_noise = copy.deepcopy((s.noise, s.warm_up_noise))
    for step in watch(range(1, s.steps + 1), agent, agent.history):  # 6
        if step > s.learning_starts:
            action = agent.act(obs) + noise.sample(action_shape, rng)  # 7
        else:
            action = warm_up_noise.sample(action_shape, rng)
        action = np.clip(action, -1, 1).astype(np.float32)
        next_obs, reward, terminated, truncated, _ = env.step(action)  # 8
        buffer.add(obs, action, s.reward_scale * reward, next_obs, terminated, truncated)  # 9
        obs, total = next_obs, total + reward
        if step >= s.learning_starts:
            losses = update(agent, buffer.sample(s.batch_size), s)  # 10 to 14
            if step % 50 == 0:
                shared.log(agent.history, step, losses)
        if terminated or truncated:
            shared.log(agent.history, step, {"return": total})
            obs, total = env.reset()[0], 0.0  # 4, 5
            noise, warm_up_noise = copy.deepcopy((s.noise, s.warm_up_noise))
    return agent


if __name__ == "__main__":
    torch.set_num_threads(1)  # in networks this small more threads only wait for each other
    train(PENDULUM, watch=shared.printed)
