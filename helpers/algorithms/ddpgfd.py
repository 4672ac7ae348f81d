"""DDPG from demonstrations (DDPGfD): the whole algorithm, from top to bottom.

Source: Vecerik et al. 2017, "Leveraging Demonstrations for Deep Reinforcement Learning on Robotics
Problems with Sparse Rewards", which prints no pseudocode; in the code `# 9` marks line 9 of ours:

     1  put the demonstrations into the replay buffer, for good
     2  repeat `pretraining` times: lines 6 to 12
     3  for every step:
     4      a <- mu(s) + noise; observe r and s'
     5      store the transition, with the largest priority so far
            repeat `gradient_steps` times:
     6          sample a batch by priority, with importance weights w
     7          y <- r + gamma Q'(s', mu'(s'))
     8          y_n <- n rewards + gamma^k Q'(s_k, mu'(s_k))
     9          critic: minimise mean w [(Q(s, a) - y)^2 + lambda_1 (Q(s, a) - y_n)^2]
    10          actor: maximise mean Q(s, mu(s))
    11          Q', mu': a fraction tau of the way to Q, mu
    12          priorities of the batch <- (Q(s, a) - y)^2 + lambda_3 |grad_a Q|^2 + eps (+ eps_D)
"""

import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from helpers.algorithms import shared
from helpers.algorithms.ddpg import Agent, actor_loss, polyak_update, td_target
from helpers.memory.buffers import PrioritizedBatch, PrioritizedReplayBuffer

DEMOS = Path(__file__).resolve().parents[2] / "data" / "demos"


@dataclass(frozen=True)
class Settings:
    env_id: str = "helpers.envs.make:SparsePendulum-v0"
    demos: Path = DEMOS / "clumsy_pendulum.npz"
    steps: int = 8_000
    pretraining: int = 2000  # so many updates come before the first step
    gradient_steps: int = 2  # so many come with every step
    noise: shared.Noise = shared.GaussianNoise(0.2)
    gamma: float = 0.99
    tau: float = 0.01
    batch_size: int = 128
    buffer_size: int = 100_000
    reward_scale: float = 1.0  # the buffer holds rewards times this
    actor_learning_rate: float = 1e-3
    critic_learning_rate: float = 1e-3
    weight_decay: float = 1e-4  # lambda_2: L2 on both networks
    n_steps: int = 10
    n_step_weight: float = 0.5  # lambda_1
    gradient_weight: float = 1.0  # lambda_3
    eps: float = 1e-3
    demo_bonus: float = 1.0  # eps_D
    alpha: float = 0.3  # 0: sample uniformly; 1: in proportion to priorities


SPARSE_PENDULUM = Settings()
PENDULUM = Settings(
    env_id="Pendulum-v1", demos=DEMOS / "pendulum.npz", steps=6_000, reward_scale=0.1
)


@torch.no_grad()
def n_step_target(
    batch: PrioritizedBatch, target_actor: nn.Module, target_critic: nn.Module
) -> torch.Tensor:
    """What Q(s, a) should be n steps ahead, shape (B,), without gradient.

    y_n = r_0 + gamma r_1 + ... + gamma^(k-1) r_(k-1) + gamma^k Q'(s_k, mu'(s_k)), where k is n or
    less (`PrioritizedBatch`). After a termination there is no Q'.
    """
    # 1. What the target networks make of the state after the window of k steps.
    next_q = target_critic(batch.n_next_obs, target_actor(batch.n_next_obs))
    # 2. The window's rewards, plus gamma^k of the future: nothing where the window terminated.
    return batch.n_reward + batch.n_discount * (1 - batch.n_terminated) * next_q


def weighted_critic_loss(
    q: torch.Tensor,
    target: torch.Tensor,
    n_target: torch.Tensor,
    weights: torch.Tensor,
    n_step_weight: float,
) -> torch.Tensor:
    """Both squared errors of q (B,), the n-step one times `n_step_weight`, weighted. A scalar."""
    # 1. The squared error of the one-step target, and of the n-step one.
    loss = (q - target) ** 2 + n_step_weight * (q - n_target) ** 2
    # 2. The mean, every transition weighted with its importance weight.
    return (weights * loss).mean()


def priorities(
    td_error: torch.Tensor,
    action_gradient: torch.Tensor,
    is_demo: torch.Tensor,
    gradient_weight: float,
    eps: float,
    demo_bonus: float,
) -> torch.Tensor:
    """How much is left to learn, (B,): delta^2 + lambda_3 |grad_a Q|^2 + eps + eps_D.

    `td_error` (B,), `action_gradient` (B, action_dim): the gradient of Q with respect to the
    action. `eps` keeps every probability above 0, `demo_bonus` (eps_D) is for demonstrations only.
    """
    # 1. What the critic has to learn: the squared TD error.
    priority = td_error**2
    # 2. What the actor has to learn: the gradient's squared norm, over all action dimensions.
    priority = priority + gradient_weight * (action_gradient**2).sum(dim=1)
    # 3. A little for every transition, and a bonus for demonstrations.
    return priority + eps + demo_bonus * is_demo


def update(
    agent: Agent, batch: PrioritizedBatch, s: Settings, buffer: PrioritizedReplayBuffer
) -> dict[str, torch.Tensor]:
    """One update of the critic, the actor and both targets; new priorities for the batch."""
    y = td_target(batch, agent.target_actor, agent.target_critic, s.gamma)  # 7
    y_n = n_step_target(batch, agent.target_actor, agent.target_critic)  # 8
    # The critic's values before its update, and their gradients over actions (B, action_dim).
    action = batch.action.detach().requires_grad_()
    q = agent.critic(batch.obs, action)
    (action_gradient,) = torch.autograd.grad(q.sum(), action, retain_graph=True)
    q_loss = weighted_critic_loss(q, y, y_n, batch.weights, s.n_step_weight)  # 9
    agent.critic_optimizer.zero_grad()
    q_loss.backward()
    agent.critic_optimizer.step()
    policy_loss = actor_loss(agent.actor, agent.critic, batch.obs)  # 10
    agent.actor_optimizer.zero_grad()
    policy_loss.backward()  # reaches the critic too: its zero_grad clears that
    agent.actor_optimizer.step()
    polyak_update(agent.target_critic.parameters(), agent.critic.parameters(), s.tau)  # 11
    polyak_update(agent.target_actor.parameters(), agent.actor.parameters(), s.tau)
    priority = priorities(
        (q - y).detach(), action_gradient, batch.is_demo, s.gradient_weight, s.eps, s.demo_bonus
    )
    buffer.update_priorities(batch.indices, priority)  # 12
    losses = {"critic_loss": q_loss.detach(), "actor_loss": policy_loss.detach()}
    return losses | {"demonstrations": batch.is_demo.mean()}


def read_demos(path: Path, env) -> dict[str, np.ndarray]:
    """A file's arrays by their names, with observations and actions in [-1, 1], as `env` has them.

    `env` is a `shared.scaled_env`; the file has the units of the environment inside. A file with
    pickled objects raises `ValueError`: loading those would run code of whoever made the file.
    """
    # 1. Read plain arrays, and refuse anything else.
    with np.load(path, allow_pickle=False) as file:
        demos = dict(file)
    # 2. Observations before and after each step, as the networks see them.
    for name in ("obs", "next_obs"):
        demos[name] = env.env.observation(demos[name])
    # 3. Actions: the lowest becomes -1, the highest 1.
    low, high = env.unwrapped.action_space.low, env.unwrapped.action_space.high
    demos["action"] = 2 * (demos["action"] - low) / (high - low) - 1
    return demos


def remember(buffer: PrioritizedReplayBuffer, env, s: Settings) -> None:
    """Put the demonstrations into the buffer, with the agent's scale of rewards."""
    demos = read_demos(s.demos, env)
    buffer.add_demonstrations(
        demos["obs"], demos["action"], s.reward_scale * demos["reward"],
        demos["next_obs"], demos["terminated"], demos["truncated"],
    )  # fmt: skip


def train(s: Settings, seed: int = 0, watch=shared.unwatched) -> Agent:
    """A trained agent. `watch` sees every step; `seed` also seeds torch, for the weights."""
    torch.manual_seed(seed)
    rng, env = np.random.default_rng(seed), shared.scaled_env(s.env_id)
    obs_shape, action_shape = env.observation_space.shape, env.action_space.shape
    agent = Agent(env, s)
    for optimizer in (agent.actor_optimizer, agent.critic_optimizer):
        optimizer.param_groups[0]["weight_decay"] = s.weight_decay
    buffer = PrioritizedReplayBuffer(
        s.buffer_size, obs_shape, action_shape, rng,
        alpha=s.alpha, beta=1.0, n_steps=s.n_steps, gamma=s.gamma,
    )  # fmt: skip
    remember(buffer, env, s)  # 1
    for _ in range(s.pretraining):  # 2
        update(agent, buffer.sample(s.batch_size), s, buffer)  # 6 to 12
    obs, total, noise = env.reset(seed=seed)[0], 0.0, copy.deepcopy(s.noise)
    for step in watch(range(1, s.steps + 1), agent, agent.history):  # 3
        action = agent.act(obs) + noise.sample(action_shape, rng)  # 4
        action = np.clip(action, -1, 1).astype(np.float32)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        buffer.add(obs, action, s.reward_scale * reward, next_obs, terminated, truncated)  # 5
        obs, total = next_obs, total + reward
        for _ in range(s.gradient_steps):
            losses = update(agent, buffer.sample(s.batch_size), s, buffer)  # 6 to 12
        if step % 50 == 0:
            shared.log(agent.history, step, losses)
        if terminated or truncated:
            shared.log(agent.history, step, {"return": total})
            obs, total, noise = env.reset()[0], 0.0, copy.deepcopy(s.noise)
    return agent


if __name__ == "__main__":
    torch.set_num_threads(1)  # in networks this small more threads only wait for each other
    train(SPARSE_PENDULUM, watch=shared.printed)
