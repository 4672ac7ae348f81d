"""Differently written right answers: every exercise must accept all of its own.

One list per exercise. Write them as students do: another order, another library, another type.
"""

from collections import OrderedDict

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from helpers.networks import make_actor
from helpers.returns import discounted_returns

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


RIGHT_ANSWERS = {
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
}
