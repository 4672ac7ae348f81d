"""REINFORCE with a baseline: the whole algorithm, from top to bottom.

Source: Sutton & Barto 2018, section 13.4, "REINFORCE with Baseline" (they keep gamma^t in line 7).
A comment that is a number alone, `# 5`, is its line here:

    1  actor pi, critic V: random weights      5      G_t for every step t, backwards
    2  repeat:                                 6      A_t <- G_t - V(s_t)
    3      play an episode with pi             7      actor: up mean A_t log pi(a_t|s_t)
    4      truncated? G_T <- V(s_T), else 0    8      critic: down mean (G_t - V(s_t))^2
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from helpers.algorithms import shared
from helpers.memory.buffers import linear_schedule


@dataclass(frozen=True)
class Settings:
    env_id: str = "CartPole-v1"
    steps: int = 300_000
    gamma: float = 0.995
    reward_scale: float = 0.005  # returns are those of rewards times this
    learning_rate: float = 1e-3  # the critic's keeps this value
    final_learning_rate: float = 1e-4  # the actor's ends here
    annealing_steps: int = 180_000  # after so many steps


CARTPOLE = Settings()
LONG_PENDULUM = Settings(
    env_id="helpers.envs.make:LongPendulum-v0", steps=180_000, gamma=0.95, reward_scale=0.01,
    learning_rate=3e-3, final_learning_rate=3e-4, annealing_steps=120_000,
)  # fmt: skip


def make_actor(obs_size: int, n_outputs: int, hidden: int = 64) -> nn.Sequential:
    """The actor network: observations (B, obs_size) to outputs (B, n_outputs).

    Three linear layers with a ReLU after the first two. For discrete actions the outputs are
    *logits*, one per action: any real numbers, which a softmax later turns into probabilities.
    """
    # 1. Two hidden layers of `hidden` units, each followed by a ReLU.
    layers = [nn.Linear(obs_size, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()]
    # 2. A linear output layer with nothing after it: a logit may be any real number.
    layers.append(nn.Linear(hidden, n_outputs))
    return nn.Sequential(*layers)


def make_critic(obs_size: int, hidden: int = 64) -> nn.Sequential:
    """The critic network V: observations (..., obs_size) to values (..., 1), any real numbers."""
    layers = [nn.Linear(obs_size, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()]
    layers.append(nn.Linear(hidden, 1))
    return nn.Sequential(*layers)


def discounted_returns(rewards: np.ndarray, gamma: float) -> np.ndarray:
    """The discounted return from every step of an episode on: G_t = r_t + gamma * G_{t+1}.

    `rewards` (T,), `gamma` between 0 and 1; returns floats (T,), entry t is G_t. The rewards stay
    as they are. Source: Sutton & Barto 2018, equation 3.9 (they write R_{t+1} for our r_t).
    """
    # 1. Room for one return per step: floats, even where the rewards are whole numbers.
    returns = np.zeros(len(rewards))
    # 2. After the last step nothing more is earned.
    following = 0.0
    # 3. Walk backwards, from the last step to the first.
    for t in reversed(range(len(rewards))):
        # 4. What this step earned, plus the discounted return of the step that follows it.
        following = rewards[t] + gamma * following
        returns[t] = following
    # 5. One return for each step, in the order of the steps.
    return returns


def bootstrapped_returns(rewards: np.ndarray, final_value: float, gamma: float) -> np.ndarray:
    """Discounted returns when the future after the last reward is worth `final_value`.

    `rewards` (T,); returns (T,): G_t = r_t + gamma r_{t+1} + ... + gamma^(T-t) final_value.
    `final_value`: 0 if the episode terminated, V(last observation) if it was truncated.
    """
    # 1. Treat the value of the future as one more reward after the last.
    extended = np.append(rewards, final_value)
    # 2. The `discounted_returns` (lesson 00) of that longer episode, without the added entry.
    return discounted_returns(extended, gamma)[:-1]


def log_prob(logits: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """Log-probability of the actions taken, log pi(a|s).

    `logits` (B, n_actions), `actions` (B,) integers; returns (B,), finite even for an action so
    improbable that its probability rounds to 0.
    """
    # 1. From logits to log-probabilities of all actions, over the last axis.
    all_log_probs = torch.log_softmax(logits, dim=-1)
    # 2. In each row, the entry of the action that was taken.
    return all_log_probs.gather(-1, actions.unsqueeze(-1)).squeeze(-1)


def sample_actions(logits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Sample one action per row from softmax(logits): (B, n_actions) to (B,) integers.

    The index of the largest logit + Gumbel noise has exactly the softmax's probabilities (the
    Gumbel-max trick; see Maddison et al. 2014, "A* sampling").
    """
    return np.argmax(logits + rng.gumbel(size=logits.shape), axis=-1)


def actor_loss(log_probs: torch.Tensor, advantages: torch.Tensor) -> torch.Tensor:
    """The policy gradient as a loss: minus the mean of log pi(a|s) times advantage. A scalar.

    `log_probs` and `advantages` (B,). The gradient reaches the policy only through `log_probs`.
    """
    # 1. The advantage is a weight, not something to differentiate.
    weights = advantages.detach()
    # 2. Minus the mean of the products over the batch: optimisers go down, we want to go up.
    return -(log_probs * weights).mean()


def critic_loss(critic: nn.Module, obs: torch.Tensor, returns: torch.Tensor) -> torch.Tensor:
    """Mean squared error of V(obs) against returns (B,), a scalar. `obs` (B, obs_size)."""
    # 1. The critic gives (B, 1), the returns are (B,): bring the values to (B,).
    values = critic(obs).squeeze(-1)
    # 2. The returns are targets: no gradient flows into them.
    targets = returns.detach()
    # 3. The mean over the batch of the squared differences.
    return ((values - targets) ** 2).mean()


class Agent:
    """An actor and a critic, and an optimiser for each."""

    def __init__(self, env, s: Settings) -> None:
        self.history: shared.History = {}
        obs_size, n_actions = env.observation_space.shape[0], int(env.action_space.n)
        self.actor, self.critic = make_actor(obs_size, n_actions), make_critic(obs_size)  # 1
        self.actor_optimizer, self.critic_optimizer = (
            torch.optim.Adam(network.parameters(), s.learning_rate, fused=True)
            for network in (self.actor, self.critic)
        )

    @torch.no_grad()
    def act(self, obs: np.ndarray, rng: np.random.Generator | None = None) -> int:
        """The action for one observation (obs_size,): sampled, or the likeliest without `rng`."""
        logits = self.actor(torch.from_numpy(obs)).numpy()
        return int(logits.argmax() if rng is None else sample_actions(logits, rng))

    def predict(self, obs: np.ndarray, deterministic: bool = True) -> int:
        """The likeliest action, as `evaluate(agent, env_id)` asks."""
        return self.act(obs)


def update(
    agent: Agent, obs: torch.Tensor, actions: torch.Tensor, returns: torch.Tensor
) -> dict[str, torch.Tensor]:
    """One update of the actor and one of the critic, from the T steps of an episode.

    `obs` (T, obs_size), `actions` (T,), `returns` (T,).
    """
    advantages = returns - agent.critic(obs).squeeze(-1)  # 6
    policy_loss = actor_loss(log_prob(agent.actor(obs), actions), advantages)  # 7
    agent.actor_optimizer.zero_grad()
    policy_loss.backward()
    agent.actor_optimizer.step()
    value_loss = critic_loss(agent.critic, obs, returns)  # 8
    agent.critic_optimizer.zero_grad()
    value_loss.backward()
    agent.critic_optimizer.step()
    return {"actor_loss": policy_loss.detach(), "critic_loss": value_loss.detach()}


def train(s: Settings, seed: int = 0, watch=shared.unwatched) -> Agent:
    """A trained agent. `watch` sees every step; `seed` also seeds torch, for the weights."""
    torch.manual_seed(seed)
    rng, env = np.random.default_rng(seed), shared.make_env(s.env_id)
    agent = Agent(env, s)  # 1
    obs, episode = env.reset(seed=seed)[0], []
    for step in watch(range(1, s.steps + 1), agent, agent.history):  # 2
        action = agent.act(obs, rng)  # 3
        next_obs, reward, terminated, truncated, _ = env.step(action)
        episode.append((obs, action, reward))
        obs = next_obs
        if terminated or truncated:
            observations, actions, rewards = map(np.array, zip(*episode, strict=True))
            with torch.no_grad():  # 4
                final_value = 0.0 if terminated else agent.critic(torch.from_numpy(obs)).item()
            returns = bootstrapped_returns(s.reward_scale * rewards, final_value, s.gamma)  # 5
            agent.actor_optimizer.param_groups[0]["lr"] = linear_schedule(
                step, s.annealing_steps, s.learning_rate, s.final_learning_rate
            )
            columns = map(torch.from_numpy, (observations, actions, returns.astype(np.float32)))
            numbers = update(agent, *columns) | {"return": rewards.sum()}  # 6 to 8
            shared.log(agent.history, step, numbers)
            obs, episode = env.reset()[0], []
    return agent


if __name__ == "__main__":
    torch.set_num_threads(1)  # in networks this small more threads only wait for each other
    train(CARTPOLE, watch=shared.printed)
