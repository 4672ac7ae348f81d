"""Differently written right answers: every exercise must accept all of its own.

One list per exercise. Write them as students do: another order, another library, another type.
"""

import copy
import math
import random
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from right_answers_ddpgfd import RIGHT_ANSWERS_DDPGFD
from right_answers_per import RIGHT_ANSWERS_PER
from right_answers_practice import RIGHT_ANSWERS_PRACTICE
from torch import nn
from torch.nn import functional as F

from helpers.agents.base import gradient_step
from helpers.agents.ddpg import polyak_update
from helpers.agents.networks import QNetwork, TwinQNetwork, make_actor, start_small
from helpers.agents.noise import Noise, OUNoise
from helpers.agents.off_policy import OffPolicyAgent
from helpers.agents.returns import discounted_returns
from helpers.agents.td3 import (
    TD3,
    actor_loss_by_q1,
    clipped_double_q_target,
    smoothed_target_action,
    twin_critic_loss,
)
from helpers.envs.units import to_scaled
from helpers.memory.buffers import Batch, ReplayBuffer

# --- 0.1 discounted_returns -----------------------------------------------------------------------


def returns_by_a_list(rewards, gamma):
    returns = []
    total = 0
    for reward in rewards[::-1]:
        total = reward + gamma * total
        returns.insert(0, total)
    return returns


def returns_by_recursion(rewards, gamma):
    if len(rewards) == 0:
        return np.array([])
    rest = returns_by_recursion(rewards[1:], gamma)
    following = rest[0] if len(rest) else 0.0
    return np.concatenate([[rewards[0] + gamma * following], rest])


def returns_by_a_matrix(rewards, gamma):
    steps = np.arange(len(rewards))
    ahead = steps[None, :] - steps[:, None]
    weights = np.where(ahead >= 0, float(gamma) ** np.maximum(ahead, 0), 0.0)
    return weights @ rewards


def returns_by_the_definition(rewards, gamma):
    return [
        sum(gamma**k * reward for k, reward in enumerate(rewards[t:])) for t in range(len(rewards))
    ]


def returns_in_float32_tensors(rewards, gamma):
    rewards = torch.as_tensor(rewards, dtype=torch.float32)
    returns = torch.zeros(len(rewards))
    returns[-1] = rewards[-1]
    for t in range(len(rewards) - 2, -1, -1):
        returns[t] = rewards[t] + gamma * returns[t + 1]
    return returns


def returns_in_a_copy(rewards, gamma):
    returns = rewards.astype(float)
    for t in range(len(rewards) - 1, 0, -1):
        returns[t - 1] += gamma * returns[t]
    return returns


# --- 1.1 make_actor, 1.5 make_critic --------------------------------------------------------------


class Layers(nn.Module):
    """Declared last to first, with functions for activations."""

    def __init__(self, obs_size, n_outputs, hidden):
        super().__init__()
        self.out = nn.Linear(hidden, n_outputs)
        self.second = nn.Linear(hidden, hidden)
        self.first = nn.Linear(obs_size, hidden)

    def forward(self, obs):
        x = F.relu(self.first(obs))
        x = F.relu(self.second(x))
        return self.out(x)


def actor_as_a_class(obs_size, n_outputs, hidden=64):
    return Layers(obs_size, n_outputs, hidden)


def actor_with_one_relu_used_twice(obs_size, n_outputs, hidden=64):
    relu = nn.ReLU()
    return nn.Sequential(
        nn.Linear(obs_size, hidden), relu, nn.Linear(hidden, hidden), relu,
        nn.Linear(hidden, n_outputs),
    )  # fmt: skip


def actor_by_appending(obs_size, n_outputs, hidden=64):
    network = nn.Sequential()
    for size in (obs_size, hidden):
        network.append(nn.Linear(size, hidden)).append(nn.ReLU(inplace=True))
    network.append(nn.Linear(hidden, n_outputs))
    return network


def actor_with_names_and_starting_weights(obs_size, n_outputs, hidden=64):
    body = nn.Sequential(nn.LazyLinear(hidden), nn.ReLU(), nn.LazyLinear(hidden), nn.ReLU())
    head = nn.Linear(hidden, n_outputs)
    nn.init.orthogonal_(head.weight, 0.01)
    return nn.Sequential(OrderedDict(body=body, head=head, nothing=nn.Identity()))


def critic_as_a_class(obs_size, hidden=64):
    return Layers(obs_size, 1, hidden)


def critic_from_the_actor(obs_size, hidden=64):
    return make_actor(obs_size, 1, hidden)


def critic_in_one_expression(obs_size, hidden=64):
    return nn.Sequential(
        nn.Linear(obs_size, out_features=hidden, bias=True),
        nn.Threshold(0, 0),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, 1),
    )


# --- 1.2 log_prob ---------------------------------------------------------------------------------


def log_prob_by_distribution(logits, actions):
    return torch.distributions.Categorical(logits=logits).log_prob(actions)


def log_prob_by_cross_entropy(logits, actions):
    return -F.cross_entropy(logits, actions, reduction="none")


def log_prob_by_nll(logits, actions):
    return -F.nll_loss(F.log_softmax(logits, dim=1), actions, reduction="none")


def log_prob_by_row_numbers(logits, actions):
    return torch.log_softmax(logits, dim=-1)[torch.arange(len(actions)), actions]


def log_prob_by_one_hot(logits, actions):
    chosen = F.one_hot(actions, num_classes=logits.shape[1])
    return (chosen * logits.log_softmax(-1)).sum(1)


def log_prob_by_hand_in_place(logits, actions):
    logits -= logits.max(dim=-1, keepdim=True).values
    normaliser = logits.exp().sum(dim=-1).log()
    return logits.gather(1, actions.view(-1, 1)).view(-1) - normaliser


def log_prob_row_by_row(logits, actions):
    rows = zip(logits, actions, strict=True)
    return torch.stack([row[a] - torch.logsumexp(row, dim=0) for row, a in rows])


# --- 1.3 bootstrapped_returns ---------------------------------------------------------------------


def bootstrapped_by_a_loop(rewards, final_value, gamma):
    following = final_value
    returns = np.zeros(len(rewards))
    for t in range(len(rewards) - 1, -1, -1):
        following = rewards[t] + gamma * following
        returns[t] = following
    return returns


def bootstrapped_by_adding_the_tail(rewards, final_value, gamma):
    T = len(rewards)
    return discounted_returns(rewards, gamma) + final_value * gamma ** (T - np.arange(T))


def bootstrapped_in_a_copy(rewards, final_value, gamma):
    rewards = rewards.astype(float)
    rewards[-1] += gamma * final_value
    return discounted_returns(rewards, gamma)


def bootstrapped_with_lists(rewards, final_value, gamma):
    returns = [final_value]
    for reward in reversed(rewards.tolist()):
        returns.insert(0, reward + gamma * returns[0])
    return returns[:-1]


def bootstrapped_in_torch(rewards, final_value, gamma):
    rewards = torch.cat([torch.as_tensor(rewards).float(), torch.tensor([float(final_value)])])
    for t in reversed(range(len(rewards) - 1)):
        rewards[t] += gamma * rewards[t + 1]
    return rewards[:-1]


# --- 1.4 actor_loss -------------------------------------------------------------------------------


def actor_loss_by_negating_first(log_probs, advantages):
    return (-advantages.detach() * log_probs).mean()


def actor_loss_by_a_sum(log_probs, advantages):
    with torch.no_grad():
        weights = advantages / advantages.numel()
    return -torch.sum(weights * log_probs)


def actor_loss_by_a_dot_product(log_probs, advantages):
    return -log_probs @ advantages.data / len(log_probs)


def actor_loss_by_a_loop(log_probs, advantages):
    loss = 0.0
    for log_prob, advantage in zip(log_probs, advantages, strict=True):
        loss = loss - log_prob * advantage.item()
    return loss / len(log_probs)


# --- 1.6 critic_loss ------------------------------------------------------------------------------


def critic_loss_by_mse(critic, obs, returns):
    return F.mse_loss(critic(obs).squeeze(-1), returns.detach())


def critic_loss_with_columns(critic, obs, returns):
    return nn.MSELoss()(critic(obs), returns.unsqueeze(1).detach())


def critic_loss_by_column_zero(critic, obs, returns):
    with torch.no_grad():
        targets = returns.clone()
    return (targets - critic(obs)[:, 0]).pow(2).sum() / len(obs)


def critic_loss_flattened(critic, obs, returns):
    errors = critic.forward(obs).flatten() - returns.data
    return torch.mean(torch.square(errors))


# --- 1.7 learnable_rows ---------------------------------------------------------------------------


def rows_by_a_loop(done, done_before):
    learnable = np.ones(done.shape, dtype=bool)
    for n in range(done.shape[1]):
        learnable[0, n] = not done_before[n]
        for t in range(1, done.shape[0]):
            learnable[t, n] = not done[t - 1, n]
    return learnable


def rows_by_rolling(done, done_before):
    filler = np.roll(done, 1, axis=0)
    filler[0] = done_before
    return np.logical_not(filler)


def rows_by_stacking(done, done_before):
    return np.vstack((done_before, done))[:-1] == 0


def rows_as_numbers(done, done_before):
    before = [done_before, *done[:-1]]
    return 1 - np.array(before).astype(float)


def rows_in_torch(done, done_before):
    learnable = torch.ones(done.shape, dtype=torch.bool)
    learnable[0] = ~torch.as_tensor(done_before)
    learnable[1:] = ~torch.as_tensor(done[:-1])
    return learnable


# --- 1.8 gae --------------------------------------------------------------------------------------


def gae_with_one_row_more(rewards, values, terminated, truncated, gamma, lam):
    T, N = rewards.shape
    advantages = np.zeros((T + 1, N))
    deltas = rewards + gamma * values[1:] * ~terminated - values[:-1]
    go_on = ~np.logical_or(terminated, truncated)
    for t in range(T - 1, -1, -1):
        advantages[t] = deltas[t] + gamma * lam * go_on[t] * advantages[t + 1]
    return advantages[:-1]


def gae_by_the_definition(rewards, values, terminated, truncated, gamma, lam):
    """The sum of discounted TD errors, environment by environment, until the episode ends."""
    advantages = np.zeros(rewards.shape)
    T, N = rewards.shape
    for n in range(N):
        for t in range(T):
            weight = 1.0
            for k in range(t, T):
                future = 0.0 if terminated[k, n] else gamma * values[k + 1, n]
                advantages[t, n] += weight * (rewards[k, n] + future - values[k, n])
                if terminated[k, n] or truncated[k, n]:
                    break
                weight *= gamma * lam
    return advantages


def gae_with_where(rewards, values, terminated, truncated, gamma, lam):
    advantage, rows = 0.0, []
    for t in reversed(range(len(rewards))):
        next_value = np.where(terminated[t], 0, values[t + 1])
        carried = np.where(terminated[t] | truncated[t], 0, advantage)
        advantage = rewards[t] + gamma * (next_value + lam * carried) - values[t]
        rows.append(advantage)
    return np.array(rows[::-1])


def gae_by_lambda_returns(rewards, values, terminated, truncated, gamma, lam):
    """The target of TD(lambda) minus the value."""
    target, rows = values[-1], []
    for t in reversed(range(len(rewards))):
        mixed = (1 - lam) * values[t + 1] + lam * target
        mixed = np.where(truncated[t], values[t + 1], mixed)
        target = rewards[t] + gamma * mixed * (1 - terminated[t])
        rows.insert(0, target - values[t])
    return rows


def gae_in_torch(rewards, values, terminated, truncated, gamma, lam):
    rewards, values = torch.tensor(rewards), torch.tensor(values)
    alive = 1 - torch.tensor(terminated).float()
    same_episode = alive * (1 - torch.tensor(truncated).float())
    advantages = torch.zeros_like(rewards)
    running = torch.zeros(rewards.shape[1])
    for t in range(len(rewards))[::-1]:
        running = running * gamma * lam * same_episode[t]
        running += rewards[t] + gamma * values[t + 1] * alive[t] - values[t]
        advantages[t] = running
    return advantages


# --- 1.9 entropy ----------------------------------------------------------------------------------


def entropy_by_distribution(logits):
    return torch.distributions.Categorical(logits=logits).entropy()


def entropy_with_a_small_number(logits):
    probs = F.softmax(logits, dim=-1)
    return -(probs * torch.log(probs + 1e-8)).sum(dim=-1)


def entropy_by_logsumexp(logits):
    return torch.logsumexp(logits, dim=1) - (F.softmax(logits, dim=1) * logits).sum(dim=1)


def entropy_as_a_dot_product(logits):
    return -torch.einsum("ba,ba->b", logits.softmax(-1), logits.log_softmax(-1))


def entropy_row_by_row(logits):
    return torch.stack(
        [-sum(p * p.clamp_min(1e-12).log() for p in row.softmax(0)) for row in logits]
    )


# --- 1.10 gaussian_log_prob -----------------------------------------------------------------------


def gaussian_by_distribution(mean, log_std, actions):
    return torch.distributions.Normal(mean, log_std.exp()).log_prob(actions).sum(dim=-1)


def gaussian_by_independent(mean, log_std, actions):
    normal = torch.distributions.Normal(mean, torch.exp(log_std))
    return torch.distributions.Independent(normal, 1).log_prob(actions)


def gaussian_by_multivariate(mean, log_std, actions):
    spread = torch.diag(log_std.exp())
    return torch.distributions.MultivariateNormal(mean, scale_tril=spread).log_prob(actions)


def gaussian_by_variance(mean, log_std, actions):
    variance = torch.exp(2 * log_std)
    exponent = ((actions - mean) ** 2 / (2 * variance)).sum(1)
    return -exponent - 0.5 * torch.log(2 * np.pi * variance).sum()


def gaussian_by_a_loop(mean, log_std, actions):
    total = torch.zeros(len(actions))
    for i in range(actions.shape[1]):
        z = (actions[:, i] - mean[:, i]) / log_std[i].exp()
        total = total - (z * z + np.log(2 * np.pi)) / 2 - log_std[i]
    return total


# --- 2.1 DeterministicActor, 2.3 QNetwork ---------------------------------------------------------


class ActorInSequence(nn.Module):
    """All layers in one `nn.Sequential`; the last one shrunk after it was made."""

    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__()
        last = nn.Linear(hidden, action_dim)
        last.weight.data.uniform_(-0.003, 0.003)
        last.bias.data.uniform_(-0.003, 0.003)
        body = [nn.Linear(obs_size, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()]
        self.net = nn.Sequential(*body, last, nn.Tanh())

    def forward(self, obs):
        return self.net(obs)


class ActorDeclaredBackwards(nn.Module):
    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__()
        self.mu = nn.Linear(hidden, action_dim)
        nn.init.orthogonal_(self.mu.weight, gain=0.01)
        nn.init.zeros_(self.mu.bias)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc1 = nn.Linear(obs_size, hidden)

    def forward(self, obs):
        return self.mu(F.relu(self.fc2(F.relu(self.fc1(obs))))).tanh()


class ActorInALoop(nn.Module):
    """Hidden layers start as in the paper; the last one with normal numbers."""

    def __init__(self, obs_size, action_dim, hidden=64):
        super(ActorInALoop, self).__init__()  # noqa: UP008 (as older code has it)
        sizes = [obs_size, hidden, hidden, action_dim]
        self.layers = nn.ModuleList(nn.Linear(sizes[i], sizes[i + 1]) for i in range(3))
        for layer in self.layers[:-1]:
            bound = 1 / math.sqrt(layer.in_features)
            nn.init.uniform_(layer.weight, -bound, bound)
        with torch.no_grad():
            self.layers[-1].weight.mul_(0.01)
            self.layers[-1].bias.mul_(0.01)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            x = x.clamp(min=0) if i < 2 else torch.tanh(x)
        return x


def actor_from_make_actor(obs_size, action_dim, hidden=64):
    network = make_actor(obs_size, action_dim, hidden)
    start_small(network[-1])
    return nn.Sequential(network, nn.Tanh())


class CriticWithActionFirst(nn.Module):
    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__()
        self.fc1 = nn.Linear(action_dim + obs_size, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.q = nn.Linear(hidden, 1)
        nn.init.uniform_(self.q.weight, -3e-3, 3e-3)
        nn.init.uniform_(self.q.bias, -3e-3, 3e-3)

    def forward(self, obs, action):
        x = torch.cat((action, obs), 1)
        return self.q(F.relu(self.fc2(F.relu(self.fc1(x)))))[:, 0]


class CriticInSequence(nn.Module):
    """The output keeps its column until `flatten`."""

    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__()
        sizes = obs_size + action_dim
        self.net = nn.Sequential(
            nn.Linear(sizes, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 1),
        )  # fmt: skip
        start_small(self.net[4])

    def forward(self, obs, action):
        return self.net(torch.hstack([obs, action])).flatten()


class CriticAroundMakeActor(nn.Module):
    """A network with one output, and a sum over it to drop the axis."""

    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__()
        self.network = make_actor(obs_size + action_dim, 1, hidden)
        start_small(self.network[-1], 1e-3)

    def forward(self, obs, action):
        return self.network(torch.concatenate([obs, action], -1)).sum(-1)


class CriticWithShuffledInputs(CriticInSequence):
    """Action and observation interleaved, and the batch counted by hand."""

    def forward(self, obs, action):
        both = torch.cat([obs[:, :1], action, obs[:, 1:]], dim=1)
        return self.net(both).view(obs.shape[0])


# --- 2.2 to_env_units -----------------------------------------------------------------------------


def units_from_the_middle(action, low, high):
    return (high + low) / 2 + action * (high - low) / 2


def units_by_weights(action, low, high):
    return 0.5 * ((1 - action) * low + (1 + action) * high)


def units_clipped_afterwards(action, low, high):
    scaled = low + (action + 1.0) * 0.5 * (high - low)
    return np.clip(scaled, low, high)


def units_by_inverting(action, low, high):
    slope = to_scaled(low + 1.0, low, high) - to_scaled(low, low, high)
    return low + (action + 1) / slope


def units_in_torch(action, low, high):
    action, low, high = (torch.as_tensor(x).double() for x in (action, low, high))
    return torch.lerp(low.expand_as(action), high.expand_as(action), (action + 1) / 2)


def units_in_a_copy(action, low, high):
    result = action.astype(float).copy()
    result += 1
    result /= 2
    result *= high - low
    result += low
    return result


def units_as_a_list(action, low, high):
    return (low + (np.array(action) + 1) / 2 * (high - low)).tolist()


# --- 2.4 actor_loss -------------------------------------------------------------------------------


def ddpg_actor_loss_negated_first(actor, critic, obs):
    return torch.mean(-critic(obs, actor(obs)))


def ddpg_actor_loss_by_a_sum(actor, critic, obs):
    q_values = critic.forward(obs, actor.forward(obs))
    return -q_values.sum() / obs.shape[0]


def ddpg_actor_loss_clamped(actor, critic, obs):
    """The actor's tanh keeps the bounds already."""
    return critic(obs, actor(obs).clamp(-1, 1)).mean() * -1


def ddpg_actor_loss_with_a_frozen_critic(actor, critic, obs):
    for parameter in critic.parameters():
        parameter.requires_grad = False
    loss = -critic(obs, actor(obs)).mean()
    for parameter in critic.parameters():
        parameter.requires_grad = True
    return loss


def ddpg_actor_loss_row_by_row(actor, critic, obs):
    values = [critic(row[None], actor(row[None])) for row in obs]
    return 0 - torch.cat(values).mean()


def ddpg_actor_loss_through_a_copy(actor, critic, obs):
    frozen = copy.deepcopy(critic).requires_grad_(False)
    return -frozen(obs, actor(obs)).mean()


# --- 2.5 ReplayBuffer -----------------------------------------------------------------------------


class BufferByFancyIndexing(ReplayBuffer):
    """An `if` in place of the remainder, numpy's `choice`, one field after another."""

    def add(self, obs, action, reward, next_obs, terminated, truncated):
        i = self.position
        self.arrays.obs[i] = obs
        self.arrays.action[i] = action
        self.arrays.reward[i] = reward
        self.arrays.next_obs[i] = next_obs
        self.arrays.terminated[i] = terminated
        self.arrays.truncated[i] = truncated
        self.position += 1
        if self.position == self.capacity:
            self.position = 0
        if self.size < self.capacity:
            self.size += 1

    def sample(self, batch_size):
        rows = self.rng.choice(self.size, batch_size)
        return Batch(*[torch.as_tensor(array[rows]) for array in self.arrays])


class BufferWithoutReplacement(ReplayBuffer):
    """No step twice in a batch; the size follows from a count of all steps."""

    count = 0

    def add(self, *step):
        for tensor, part in zip(self.tensors, step, strict=True):
            tensor[self.count % self.capacity] = torch.as_tensor(part)
        self.count += 1
        self.position = self.count % self.capacity
        self.size = self.count if self.count < self.capacity else self.capacity

    def sample(self, batch_size):
        rows = torch.from_numpy(self.rng.permutation(self.size)[:batch_size])
        return Batch(**{name: getattr(self.tensors, name)[rows] for name in Batch._fields})


class BufferNewestFirst(ReplayBuffer):
    """Pushes all steps back by one, and draws sorted indices out of floats."""

    def add(self, obs, action, reward, next_obs, terminated, truncated):
        step = (obs, action, reward, next_obs, terminated, truncated)
        self.check(step)
        for array, part in zip(self.arrays, step, strict=True):
            array[1:] = array[:-1].copy()
            array[0] = part
        self.size = min(self.capacity, self.size + 1)

    def sample(self, batch_size):
        rows = np.sort((self.rng.random(batch_size) * self.size).astype(int))
        return Batch(*(torch.tensor(array[rows], dtype=torch.float32) for array in self.arrays))


class BufferOnADeque(ReplayBuffer):
    """Steps in a deque, glued together when they are drawn."""

    def __init__(self, capacity, obs_shape, action_shape, rng=None):
        super().__init__(capacity, obs_shape, action_shape, rng)
        self.steps = deque(maxlen=capacity)

    def __len__(self):
        return len(self.steps)

    def add(self, *step):
        self.steps.append([np.array(part, dtype=np.float32) for part in step])

    def sample(self, batch_size):
        chosen = [self.steps[self.rng.integers(len(self.steps))] for _ in range(batch_size)]
        columns = zip(*chosen, strict=True)
        return Batch(*(torch.from_numpy(np.stack(column)) for column in columns))


class BufferWithPythonsRandom(ReplayBuffer):
    """Another generator, fed by its own: as good a stream as any."""

    def sample(self, batch_size):
        draw = random.Random(int(self.rng.integers(2**32)))
        rows = [draw.randrange(self.size) for _ in range(batch_size)]
        return Batch(*(tensor[rows].clone() for tensor in self.tensors))


class BufferWithTorchsRandom(ReplayBuffer):
    def sample(self, batch_size):
        generator = torch.Generator().manual_seed(int(self.rng.integers(2**31)))
        rows = torch.randint(self.size, (batch_size,), generator=generator)
        return Batch(*(tensor[rows] for tensor in self.tensors))


# --- 2.6 td_target --------------------------------------------------------------------------------


def target_under_no_grad(batch, target_actor, target_critic, gamma):
    with torch.no_grad():
        q = target_critic(batch.next_obs, target_actor(batch.next_obs))
        return batch.reward + (1.0 - batch.terminated) * gamma * q


def target_detached(batch, target_actor, target_critic, gamma):
    q = target_critic(batch.next_obs, target_actor(batch.next_obs).clamp(-1, 1)).detach()
    alive = 1 - batch.terminated
    return batch.reward + gamma * q * alive


def target_with_where(batch, target_actor, target_critic, gamma):
    future = gamma * target_critic(batch.next_obs, target_actor(batch.next_obs))
    ended = batch.terminated.bool()
    return torch.where(ended, batch.reward, batch.reward + future).detach()


@torch.no_grad()
def target_by_masking_rows(batch, target_actor, target_critic, gamma):
    target = batch.reward.clone()
    goes_on = batch.terminated == 0
    next_obs = batch.next_obs[goes_on]
    target[goes_on] += gamma * target_critic(next_obs, target_actor(next_obs))
    return target


@torch.no_grad()
def target_row_by_row(batch, target_actor, target_critic, gamma):
    targets = []
    for i in range(len(batch.reward)):
        s = batch.next_obs[i : i + 1]
        q = target_critic(s, target_actor(s))[0]
        targets.append(batch.reward[i] if batch.terminated[i] else batch.reward[i] + gamma * q)
    return torch.stack(targets)


# --- 2.7 critic_loss ------------------------------------------------------------------------------


def ddpg_critic_loss_by_hand(critic, batch, target):
    return ((target - critic(batch.obs, batch.action)) ** 2).mean()


def ddpg_critic_loss_with_columns(critic, batch, target):
    q = critic(batch.obs, batch.action).reshape(-1, 1)
    return nn.MSELoss()(q, target.detach().reshape(-1, 1))


def ddpg_critic_loss_by_a_dot_product(critic, batch, target):
    error = critic.forward(batch.obs, batch.action) - target
    return error @ error / len(error)


def ddpg_critic_loss_row_by_row(critic, batch, target):
    total = 0.0
    for i, y in enumerate(target):
        total = total + (critic(batch.obs[i : i + 1], batch.action[i : i + 1])[0] - y) ** 2
    return total / len(target)


# --- 2.8 polyak_update ----------------------------------------------------------------------------


def polyak_by_scaling(targets, online, tau):
    with torch.no_grad():
        for target, source in zip(targets, online, strict=True):
            target.mul_(1 - tau).add_(source, alpha=tau)


def polyak_by_copying(targets, online, tau):
    for target, source in zip(targets, online, strict=False):
        target.data.copy_(tau * source.data + (1 - tau) * target.data)


def polyak_by_new_data(targets, online, tau):
    for target, source in zip(targets, online, strict=False):
        target.data = tau * source.data + (1.0 - tau) * target.data


def polyak_all_at_once(targets, online, tau):
    targets, online = list(targets), list(online)
    with torch.no_grad():
        torch._foreach_lerp_(targets, online, tau)
    return targets


@torch.no_grad()
def polyak_by_counting(targets, online, tau):
    targets, online = list(targets), list(online)
    for i in range(len(targets)):
        targets[i] += tau * (online[i] - targets[i])


@torch.no_grad()
def polyak_by_filling(targets, online, tau):
    for target, source in zip(targets, online, strict=True):
        target[...] = (1 - tau) * target + tau * source


# --- 2.9 OUNoise ----------------------------------------------------------------------------------


@dataclass
class NoiseByNormal(Noise):
    """Everything in one line, the generator's own `normal`."""

    sigma: float = 0.2
    theta: float = 0.15
    dt: float = 1.0
    value: Any = field(default=0.0, init=False, repr=False)

    def reset(self):
        self.value = 0.0

    def sample(self, shape, rng):
        push = rng.normal(0.0, self.sigma * self.dt**0.5, size=shape)
        self.value = (1 - self.theta * self.dt) * self.value + push
        return self.value

    @property
    def std(self):
        return self.sigma


@dataclass
class NoiseWithZeros(OUNoise):
    """Starts with an array of zeros once it knows the shape, and gives copies."""

    def reset(self):
        self.value = None

    def sample(self, shape, rng):
        if self.value is None or np.shape(self.value) != shape:
            self.value = np.zeros(shape)
        dx = self.theta * (0.0 - self.value) * self.dt
        dx += self.sigma * np.sqrt(self.dt) * rng.standard_normal(size=shape)
        self.value += dx
        return self.value.copy()


class NoiseEntryByEntry(OUNoise):
    """A number at a time, in Python."""

    def sample(self, shape, rng):
        old, new = np.broadcast_to(self.value, shape), np.empty(shape)
        for place in np.ndindex(*shape):
            push = self.sigma * math.sqrt(self.dt) * rng.normal()
            new[place] = old[place] - self.theta * old[place] * self.dt + push
        self.value = new
        return new


class NoiseByAnotherStream(OUNoise):
    """Gaussian numbers from a generator that is spawned from the given one."""

    def sample(self, shape, rng):
        own = np.random.default_rng(rng.integers(2**32))
        uniform = own.random((2, *shape))
        normal = np.sqrt(-2 * np.log1p(-uniform[0])) * np.cos(2 * np.pi * uniform[1])
        self.value = self.value - self.theta * self.value * self.dt
        self.value = self.value + normal * self.sigma * np.sqrt(self.dt)
        return self.value


class NoiseInFloat32(OUNoise):
    def reset(self):
        self.value *= 0

    def sample(self, shape, rng):
        push = rng.standard_normal(shape, dtype=np.float32)
        self.value = self.value * np.float32(1 - self.theta * self.dt)
        self.value = self.value + np.float32(self.sigma * self.dt**0.5) * push
        return self.value


# --- 3.1 double_estimate --------------------------------------------------------------------------


def double_estimate_by_row_numbers(choosing, judging):
    best = np.argmax(choosing, axis=1)
    return judging[np.arange(len(judging)), best]


def double_estimate_by_a_loop(choosing, judging):
    values = []
    for chosen, judged in zip(choosing, judging, strict=True):
        values.append(judged[np.argmax(chosen)])
    return values


def double_estimate_by_the_diagonal(choosing, judging):
    return judging[:, choosing.argmax(axis=-1)].diagonal()


def double_estimate_by_one_hot(choosing, judging):
    one_hot = np.eye(choosing.shape[1])[choosing.argmax(1)]
    return (one_hot * judging).sum(axis=1)


def double_estimate_in_torch(choosing, judging):
    best = torch.as_tensor(choosing).argmax(dim=1, keepdim=True)
    return torch.as_tensor(judging).gather(1, best).squeeze(1)


def double_estimate_filled_in(choosing, judging):
    values = np.zeros(choosing.shape[0])
    for i in range(choosing.shape[0]):
        best = 0
        for a in range(choosing.shape[1]):
            if choosing[i, a] > choosing[i, best]:
                best = a
        values[i] = judging[i, best]
    return values


# --- 3.2 TwinQNetwork -----------------------------------------------------------------------------


class TwinInAList(nn.Module):
    """Two networks in a `ModuleList`, and the values in a list."""

    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__()
        self.critics = nn.ModuleList([QNetwork(obs_size, action_dim, hidden) for _ in range(2)])

    def forward(self, obs, action):
        return [critic(obs, action) for critic in self.critics]

    def q1(self, obs, action):
        return self.critics[0](obs, action)


class TwinOfSixLayers(nn.Module):
    """By hand, the layers of both in turn, the action first, the second declared first."""

    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__()
        self.l4, self.l1 = (nn.Linear(action_dim + obs_size, hidden) for _ in range(2))
        self.l5, self.l2 = (nn.Linear(hidden, hidden) for _ in range(2))
        self.l6, self.l3 = (nn.Linear(hidden, 1) for _ in range(2))
        start_small(self.l3)
        start_small(self.l6)

    def forward(self, obs, action):
        sa = torch.cat([action, obs], 1)
        y = F.relu(self.l4(sa))
        x = F.relu(self.l1(sa))
        y = F.relu(self.l5(y))
        x = F.relu(self.l2(x))
        q2 = self.l6(y)
        return self.l3(x).flatten(), q2.flatten()

    def q1(self, obs, action):
        x = F.relu(self.l2(F.relu(self.l1(torch.cat([action, obs], 1)))))
        return self.l3(x)[:, 0]


class TwinSecondFirst(nn.Module):
    """Built and asked the second before the first."""

    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__()
        self.b = CriticInSequence(obs_size, action_dim, hidden)
        self.a = CriticWithActionFirst(obs_size, action_dim, hidden)

    def forward(self, obs, action):
        second = self.b(obs, action)
        return self.a(obs, action), second

    def q1(self, obs, action):
        return self.a(obs, action)


class TwinWithoutAMethod(nn.Module):
    """The first network itself is called `q1`, and both values stand in one tensor (2, B)."""

    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__()
        self.q1 = QNetwork(obs_size, action_dim, hidden)
        self.q2 = QNetwork(obs_size, action_dim, hidden)

    def forward(self, obs, action):
        return torch.stack([self.q1(obs, action), self.q2(obs, action)])


class TwinByInheritance(QNetwork):
    """The first critic is the network itself."""

    def __init__(self, obs_size, action_dim, hidden=64):
        super().__init__(obs_size, action_dim, hidden)
        self.other = QNetwork(obs_size, action_dim, hidden)

    def q1(self, obs, action):
        return super().forward(obs, action)

    def forward(self, obs, action):
        return self.q1(obs, action), self.other(obs, action)


# --- 3.3 clipped_double_q_target ------------------------------------------------------------------


def clipped_target_under_no_grad(batch, next_action, target_critic, gamma):
    with torch.no_grad():
        q1, q2 = target_critic(batch.next_obs, next_action)
        future = torch.min(q1, q2)
        return batch.reward + gamma * future * (1.0 - batch.terminated)


def clipped_target_by_stacking(batch, next_action, target_critic, gamma):
    both = torch.stack(tuple(target_critic(batch.next_obs, next_action)), dim=1)
    lower, _ = both.min(dim=1)
    return (batch.reward + gamma * (1 - batch.terminated) * lower).detach()


def clipped_target_with_where(batch, next_action, target_critic, gamma):
    q1, q2 = (q.detach() for q in target_critic(batch.next_obs, next_action))
    lower = torch.where(q1 < q2, q1, q2)
    return batch.reward + torch.where(batch.terminated == 1, 0.0, gamma * lower)


@torch.no_grad()
def clipped_target_of_two_targets(batch, next_action, target_critic, gamma):
    """The lower of two targets is the target of the lower one: gamma is not negative."""
    q1, q2 = target_critic.forward(batch.next_obs, next_action)
    goes_on = batch.terminated.logical_not().float()
    return torch.minimum(batch.reward + gamma * goes_on * q1, batch.reward + gamma * goes_on * q2)


@torch.no_grad()
def clipped_target_row_by_row(batch, next_action, target_critic, gamma):
    target = batch.reward.clone()
    for i in range(len(target)):
        if not batch.terminated[i]:
            pair = target_critic(batch.next_obs[i : i + 1], next_action[i : i + 1])
            target[i] += gamma * min(q.item() for q in pair)
    return target


@torch.no_grad()
def clipped_target_in_place(batch, next_action, target_critic, gamma):
    q1, q2 = target_critic(batch.next_obs, next_action)
    target = (q1 + q2 - (q1 - q2).abs()) / 2
    target *= gamma
    target *= 1 - batch.terminated
    target += batch.reward
    return target


# --- 3.4 twin_critic_loss -------------------------------------------------------------------------


def twin_loss_by_hand(critic, batch, target):
    q1, q2 = critic(batch.obs, batch.action)
    return ((q1 - target) ** 2).mean() + ((q2 - target) ** 2).mean()


def twin_loss_by_summing(critic, batch, target):
    return sum(F.mse_loss(q, target) for q in critic(batch.obs, batch.action))


def twin_loss_stacked(critic, batch, target):
    both = torch.stack(list(critic(batch.obs, batch.action)))
    return (both - target).pow(2).mean(dim=1).sum()


def twin_loss_with_columns(critic, batch, target):
    criterion, y = nn.MSELoss(), target.view(-1, 1)
    q1, q2 = critic.forward(batch.obs, batch.action)
    loss = criterion(q1.view(-1, 1), y)
    loss = loss + criterion(q2.view(-1, 1), y)
    return loss


def twin_loss_twice_the_mean(critic, batch, target):
    errors = torch.cat(tuple(critic(batch.obs, batch.action))) - target.repeat(2)
    return 2 * (errors @ errors) / errors.numel()


# --- 3.5 smoothed_target_action -------------------------------------------------------------------


def smoothed_by_normal(target_actor, next_obs, target_noise, noise_clip, rng):
    with torch.no_grad():
        action = target_actor(next_obs)
        noise = torch.as_tensor(rng.normal(0, target_noise, size=action.shape), dtype=action.dtype)
        noise = torch.clamp(noise, min=-noise_clip, max=noise_clip)
        return torch.clamp(action + noise, -1, 1)


def smoothed_in_numpy_first(target_actor, next_obs, target_noise, noise_clip, rng):
    action = target_actor(next_obs).detach().numpy()
    noise = np.clip(target_noise * rng.standard_normal(action.shape), -noise_clip, noise_clip)
    return torch.from_numpy(np.clip(action + noise, -1.0, 1.0).astype(np.float32))


@torch.no_grad()
def smoothed_in_place(target_actor, next_obs, target_noise, noise_clip, rng):
    action = target_actor(next_obs).clone()
    noise = torch.from_numpy(rng.standard_normal(size=tuple(action.shape))).float()
    noise.mul_(target_noise).clamp_(-noise_clip, noise_clip)
    return action.add_(noise).clamp_(-1.0, 1.0)


def smoothed_by_torchs_generator(target_actor, next_obs, target_noise, noise_clip, rng):
    """Torch draws, but `rng` says from where on."""
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    action = target_actor(next_obs).detach()
    noise = torch.randn(action.shape, generator=generator) * target_noise
    return (action + noise.clip(-noise_clip, noise_clip)).clip(-1, 1)


def smoothed_between_two_bounds(target_actor, next_obs, target_noise, noise_clip, rng):
    """The sum is cut off where the noise would have been; drawn transposed, and subtracted."""
    action = target_actor(next_obs).detach()
    noise = torch.from_numpy(rng.standard_normal(action.T.shape, dtype="float32").T) * target_noise
    low = torch.clamp(action - noise_clip, min=-1)
    high = torch.clamp(action + noise_clip, max=1)
    return torch.minimum(torch.maximum(action - noise, low), high)


@torch.no_grad()
def smoothed_column_by_column(target_actor, next_obs, target_noise, noise_clip, rng):
    action = target_actor(next_obs)
    columns = []
    for column in action.T:
        noise = rng.normal(scale=target_noise, size=len(column)).clip(-noise_clip, noise_clip)
        columns.append(column + torch.tensor(noise, dtype=torch.float32))
    return torch.stack(columns, dim=1).clamp(-1, 1)


# --- 3.6 actor_loss_by_q1 -------------------------------------------------------------------------


def loss_by_q1_of_both(actor, critic, obs):
    q1, _ = critic(obs, actor(obs))
    return -q1.mean()


def loss_by_q1_negated_first(actor, critic, obs):
    return torch.mean(-critic.q1(obs, actor(obs)))


def loss_by_q1_by_a_sum(actor, critic, obs):
    action = actor.forward(obs).clamp(-1, 1)
    return critic.q1(obs, action).sum() / -len(obs)


def loss_by_q1_with_a_frozen_critic(actor, critic, obs):
    critic.requires_grad_(False)
    loss = -critic.q1(obs, actor(obs)).mean()
    critic.requires_grad_(True)
    return loss


def loss_by_q1_row_by_row(actor, critic, obs):
    values = [critic.q1(row[None], actor(row[None])) for row in obs]
    return 0 - torch.cat(values).mean()


# --- 3.7 TD3 --------------------------------------------------------------------------------------


class TD3ByTheBook(TD3):
    """Optimisers by hand, as in most code; the rest returned early."""

    def update(self, batch):
        action = smoothed_target_action(
            self.target_actor, batch.next_obs, self.target_noise, self.noise_clip, self.rng
        )
        y = clipped_double_q_target(batch, action, self.target_critic, self.gamma)
        critic_loss = twin_critic_loss(self.critic, batch, y)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        if self.updates % self.policy_delay:
            return {"critic_loss": critic_loss.detach()}
        actor_loss = actor_loss_by_q1(self.actor, self.critic, batch.obs)
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        polyak_update(self.target_critic.parameters(), self.critic.parameters(), self.tau)
        polyak_update(self.target_actor.parameters(), self.actor.parameters(), self.tau)
        return {"actor_loss": actor_loss.detach(), "critic_loss": critic_loss.detach()}


class TD3InOnePiece(OffPolicyAgent):
    """Everything in one method, without any of the lesson's functions; noise in float64."""

    critic_class = TwinQNetwork

    def __init__(
        self, env, *, policy_delay=2, target_noise=0.2, noise_clip=0.5, seed=None, **shared
    ):
        super().__init__(env, seed=seed, **shared)
        self.policy_delay = policy_delay
        self.target_noise, self.noise_clip = target_noise, noise_clip

    def update(self, batch):
        with torch.no_grad():
            action = self.target_actor(batch.next_obs)
            noise = self.rng.normal(0.0, self.target_noise, action.shape)
            noise = np.clip(noise, -self.noise_clip, self.noise_clip)
            action = (action + torch.tensor(noise, dtype=torch.float32)).clamp(-1, 1)
            q1, q2 = self.target_critic(batch.next_obs, action)
            target = batch.reward + self.gamma * (1 - batch.terminated) * torch.min(q1, q2)
        q1, q2 = self.critic(batch.obs, batch.action)
        loss1, loss2 = F.mse_loss(q1, target), F.mse_loss(q2, target)
        self.critic_optimizer.zero_grad()
        loss1.backward(retain_graph=True)
        loss2.backward()
        self.critic_optimizer.step()
        losses = {"critic_loss": loss1 + loss2, "q1": q1.mean()}
        if self.updates // self.policy_delay * self.policy_delay == self.updates:
            for parameter in self.critic.parameters():
                parameter.requires_grad = False
            losses["actor_loss"] = -self.critic.q1(batch.obs, self.actor(batch.obs)).mean()
            self.actor_optimizer.zero_grad()
            losses["actor_loss"].backward()
            self.actor_optimizer.step()
            for parameter in self.critic.parameters():
                parameter.requires_grad = True
            with torch.no_grad():
                pairs = [(self.actor, self.target_actor), (self.critic, self.target_critic)]
                for online, target_network in pairs:
                    for new, old in zip(
                        online.parameters(), target_network.parameters(), strict=True
                    ):
                        old.copy_(self.tau * new + (1 - self.tau) * old)
        return losses


class TD3WithItsOwnCount(TD3):
    """Counts for itself, and makes the dict at the end."""

    def update(self, batch):
        self.count = getattr(self, "count", 0) + 1
        action = smoothed_by_normal(
            self.target_actor, batch.next_obs, self.target_noise, self.noise_clip, self.rng
        )
        target = clipped_target_by_stacking(batch, action, self.target_critic, self.gamma)
        loss, rest = twin_loss_by_hand(self.critic, batch, target), {}
        gradient_step(self.critic_optimizer, loss)
        if self.count == self.policy_delay:
            self.count = 0
            rest["actor_loss"] = loss_by_q1_of_both(self.actor, self.critic, batch.obs)
            gradient_step(self.actor_optimizer, rest["actor_loss"])
            polyak_by_scaling(self.targets, self.online, self.tau)
        return {"critic_loss": loss} | rest


class TD3InSteps(TD3):
    """Cut into methods; the critics' loss is computed again for the log's sake."""

    def update(self, batch):
        target = self.find_target(batch)
        losses = {"critic_loss": twin_critic_loss(self.critic, batch, target).detach()}
        gradient_step(self.critic_optimizer, twin_critic_loss(self.critic, batch, target))
        turn, rest = divmod(self.updates, self.policy_delay)
        if turn > 0 and rest == 0:
            losses.update(actor_loss=self.improve_actor(batch.obs))
        return losses

    def find_target(self, batch):
        arguments = (self.target_noise, self.noise_clip, self.rng)
        action = smoothed_target_action(self.target_actor, batch.next_obs, *arguments)
        return clipped_double_q_target(
            batch=batch, next_action=action, target_critic=self.target_critic, gamma=self.gamma
        )

    def improve_actor(self, obs):
        loss = actor_loss_by_q1(actor=self.actor, critic=self.critic, obs=obs)
        gradient_step(self.actor_optimizer, loss)
        polyak_update(targets=self.targets, online=self.online, tau=self.tau)
        return loss.detach()


RIGHT_ANSWERS = {
    **RIGHT_ANSWERS_PER,
    **RIGHT_ANSWERS_DDPGFD,
    **RIGHT_ANSWERS_PRACTICE,
    "0.1": [
        returns_by_a_list,
        returns_by_recursion,
        returns_by_a_matrix,
        returns_by_the_definition,
        returns_in_float32_tensors,
        returns_in_a_copy,
    ],
    "1.1": [
        actor_as_a_class,
        actor_with_one_relu_used_twice,
        actor_by_appending,
        actor_with_names_and_starting_weights,
    ],
    "1.2": [
        log_prob_by_distribution,
        log_prob_by_cross_entropy,
        log_prob_by_nll,
        log_prob_by_row_numbers,
        log_prob_by_one_hot,
        log_prob_by_hand_in_place,
        log_prob_row_by_row,
    ],
    "1.3": [
        bootstrapped_by_a_loop,
        bootstrapped_by_adding_the_tail,
        bootstrapped_in_a_copy,
        bootstrapped_with_lists,
        bootstrapped_in_torch,
    ],
    "1.4": [
        actor_loss_by_negating_first,
        actor_loss_by_a_sum,
        actor_loss_by_a_dot_product,
        actor_loss_by_a_loop,
    ],
    "1.5": [
        critic_as_a_class,
        critic_from_the_actor,
        critic_in_one_expression,
    ],
    "1.6": [
        critic_loss_by_mse,
        critic_loss_with_columns,
        critic_loss_by_column_zero,
        critic_loss_flattened,
    ],
    "1.7": [
        rows_by_a_loop,
        rows_by_rolling,
        rows_by_stacking,
        rows_as_numbers,
        rows_in_torch,
    ],
    "1.8": [
        gae_with_one_row_more,
        gae_by_the_definition,
        gae_with_where,
        gae_by_lambda_returns,
        gae_in_torch,
    ],
    "1.9": [
        entropy_by_distribution,
        entropy_with_a_small_number,
        entropy_by_logsumexp,
        entropy_as_a_dot_product,
        entropy_row_by_row,
    ],
    "1.10": [
        gaussian_by_distribution,
        gaussian_by_independent,
        gaussian_by_multivariate,
        gaussian_by_variance,
        gaussian_by_a_loop,
    ],
    "2.1": [
        ActorInSequence,
        ActorDeclaredBackwards,
        ActorInALoop,
        actor_from_make_actor,
    ],
    "2.2": [
        units_from_the_middle,
        units_by_weights,
        units_clipped_afterwards,
        units_by_inverting,
        units_in_torch,
        units_in_a_copy,
        units_as_a_list,
    ],
    "2.3": [
        CriticWithActionFirst,
        CriticInSequence,
        CriticAroundMakeActor,
        CriticWithShuffledInputs,
    ],
    "2.4": [
        ddpg_actor_loss_negated_first,
        ddpg_actor_loss_by_a_sum,
        ddpg_actor_loss_clamped,
        ddpg_actor_loss_with_a_frozen_critic,
        ddpg_actor_loss_row_by_row,
        ddpg_actor_loss_through_a_copy,
    ],
    "2.5": [
        BufferByFancyIndexing,
        BufferWithoutReplacement,
        BufferNewestFirst,
        BufferOnADeque,
        BufferWithPythonsRandom,
        BufferWithTorchsRandom,
    ],
    "2.6": [
        target_under_no_grad,
        target_detached,
        target_with_where,
        target_by_masking_rows,
        target_row_by_row,
    ],
    "2.7": [
        ddpg_critic_loss_by_hand,
        ddpg_critic_loss_with_columns,
        ddpg_critic_loss_by_a_dot_product,
        ddpg_critic_loss_row_by_row,
    ],
    "2.8": [
        polyak_by_scaling,
        polyak_by_copying,
        polyak_by_new_data,
        polyak_all_at_once,
        polyak_by_counting,
        polyak_by_filling,
    ],
    "2.9": [
        NoiseByNormal,
        NoiseWithZeros,
        NoiseEntryByEntry,
        NoiseByAnotherStream,
        NoiseInFloat32,
    ],
    "3.1": [
        double_estimate_by_row_numbers,
        double_estimate_by_a_loop,
        double_estimate_by_the_diagonal,
        double_estimate_by_one_hot,
        double_estimate_in_torch,
        double_estimate_filled_in,
    ],
    "3.2": [
        TwinInAList,
        TwinOfSixLayers,
        TwinSecondFirst,
        TwinWithoutAMethod,
        TwinByInheritance,
    ],
    "3.3": [
        clipped_target_under_no_grad,
        clipped_target_by_stacking,
        clipped_target_with_where,
        clipped_target_of_two_targets,
        clipped_target_row_by_row,
        clipped_target_in_place,
    ],
    "3.4": [
        twin_loss_by_hand,
        twin_loss_by_summing,
        twin_loss_stacked,
        twin_loss_with_columns,
        twin_loss_twice_the_mean,
    ],
    "3.5": [
        smoothed_by_normal,
        smoothed_in_numpy_first,
        smoothed_in_place,
        smoothed_by_torchs_generator,
        smoothed_between_two_bounds,
        smoothed_column_by_column,
    ],
    "3.6": [
        loss_by_q1_of_both,
        loss_by_q1_negated_first,
        loss_by_q1_by_a_sum,
        loss_by_q1_with_a_frozen_critic,
        loss_by_q1_row_by_row,
    ],
    "3.7": [
        TD3ByTheBook,
        TD3InOnePiece,
        TD3WithItsOwnCount,
        TD3InSteps,
    ],
}
