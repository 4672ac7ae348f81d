"""Differently written right answers to some of lesson 04's exercises: see `right_answers.py`."""

import io
import itertools
import json
import zipfile

import numpy as np
import torch
from torch.nn import functional as F

from helpers.agents.base import gradient_step
from helpers.agents.ddpg import actor_loss, polyak_update, td_target
from helpers.agents.ddpgfd import DDPGfD, n_step_target, priorities, weighted_critic_loss

ARRAYS = ("obs", "action", "reward", "next_obs", "terminated", "truncated")

# --- 4.1 read_episodes ----------------------------------------------------------------------------


def read_step_by_step(path):
    file = np.load(path)
    about = json.loads(str(file["about"]))
    arrays = {name: file[name] for name in ARRAYS}
    file.close()
    episodes, start = [], 0
    for i in range(len(arrays["reward"])):
        if arrays["terminated"][i] or arrays["truncated"][i]:
            episodes.append({name: arrays[name][start : i + 1] for name in ARRAYS})
            start = i + 1
    return about, episodes


def read_by_split(path):
    with np.load(path) as file:
        data = dict(file)
    about = json.loads(data.pop("about").tolist())
    done = np.logical_or(data["terminated"], data["truncated"])
    cuts = np.where(done)[0][:-1] + 1
    pieces = {name: np.split(array, cuts) for name, array in data.items()}
    return about, [{name: pieces[name][i] for name in pieces} for i in range(len(cuts) + 1)]


def read_by_numbers(path):
    """Each step has the number of its episode, and the text is read by another function."""
    with np.load(path, allow_pickle=False) as file:
        about = json.load(io.StringIO(file["about"][()]))
        arrays = [file[name].copy() for name in ARRAYS]
    done = (arrays[4] + arrays[5]) > 0
    number = np.cumsum(done) - done
    episodes = []
    for n in np.unique(number):
        rows = number == n
        episodes.append(dict(zip(ARRAYS, (array[rows] for array in arrays), strict=True)))
    return [about, episodes]


def read_without_numpys_load(path):
    with zipfile.ZipFile(path) as archive:
        data = {
            name.removesuffix(".npy"): np.lib.format.read_array(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
        }
    ends = [i + 1 for i, flags in enumerate(zip(data["terminated"], data["truncated"], strict=True))
            if any(flags)]  # fmt: skip
    pairs = itertools.pairwise([0, *ends])
    episodes = tuple({name: data[name][slice(*pair)] for name in ARRAYS} for pair in pairs)
    return json.loads(data["about"].item()), episodes


def read_from_memory(path):
    file = np.load(io.BytesIO(path.read_bytes()))
    arrays = {name: np.array(file[name]) for name in ARRAYS}
    rows = [[]]
    for row in range(len(arrays["obs"])):
        rows[-1].append(row)
        if max(arrays["terminated"][row], arrays["truncated"][row]):
            rows.append([])
    episodes = [{k: v[here] for k, v in arrays.items()} for here in rows[:-1]]
    return json.loads(file["about"].item()), episodes


# --- 4.2 bc_loss ----------------------------------------------------------------------------------


def bc_by_hand(actor, obs, action):
    return ((actor(obs) - action) ** 2).mean()


def bc_by_two_means(actor, obs, action):
    return torch.square(action - actor(obs)).mean(dim=1).mean(dim=0)


def bc_row_by_row(actor, obs, action):
    losses = [F.mse_loss(actor(o), a) for o, a in zip(obs, action, strict=True)]
    return torch.stack(losses).mean()


def bc_by_a_class(actor, obs, action):
    return torch.nn.MSELoss()(actor(obs), action.detach())


def bc_by_the_norm(actor, obs, action):
    return (actor.forward(obs) - action).norm() ** 2 / action.numel()


# --- 4.8 priorities -------------------------------------------------------------------------------


def priorities_row_by_row(td_error, action_gradient, is_demo, gradient_weight, eps, demo_bonus):
    result = []
    for delta, slope, demo in zip(td_error, action_gradient, is_demo, strict=True):
        p = delta**2 + gradient_weight * slope.dot(slope) + eps
        if demo:
            p = p + demo_bonus
        result.append(p)
    return torch.stack(result)


def priorities_in_numpy(td_error, action_gradient, is_demo, gradient_weight, eps, demo_bonus):
    slope = np.linalg.norm(action_gradient.numpy(), axis=-1)
    extra = np.where(is_demo.numpy() == 1, eps + demo_bonus, eps)
    return td_error.numpy() ** 2 + gradient_weight * slope**2 + extra


def priorities_by_einsum(td_error, action_gradient, is_demo, gradient_weight, eps, demo_bonus):
    slope = torch.einsum("bi,bi->b", action_gradient, action_gradient)
    p = td_error.pow(2) + gradient_weight * slope
    p += eps
    p[is_demo.bool()] += demo_bonus
    return p


def priorities_in_one_norm(td_error, action_gradient, is_demo, gradient_weight, eps, demo_bonus):
    both = torch.cat([td_error[:, None], gradient_weight**0.5 * action_gradient], dim=1)
    return both.norm(dim=1).square() + torch.lerp(
        torch.full_like(is_demo, eps), torch.full_like(is_demo, eps + demo_bonus), is_demo
    )


# --- 4.11 weighted_critic_loss --------------------------------------------------------------------


def weighted_loss_in_two_parts(q, target, n_target, weights, n_step_weight):
    one = F.mse_loss(q, target, reduction="none")
    n = F.mse_loss(q, n_target, reduction="none")
    return torch.mean(weights * one) + n_step_weight * torch.mean(weights * n)


def weighted_loss_by_products(q, target, n_target, weights, n_step_weight):
    errors = torch.stack([target - q, n_target - q]).square()
    return torch.tensor([1.0, n_step_weight]) @ errors @ weights / len(q)


def weighted_loss_row_by_row(q, target, n_target, weights, n_step_weight):
    total = 0
    for i in range(q.shape[0]):
        error = (q[i] - target[i]) ** 2 + n_step_weight * (q[i] - n_target[i]) ** 2
        total = total + weights[i] * error
    return total / q.shape[0]


def weighted_loss_by_the_root_of_weights(q, target, n_target, weights, n_step_weight):
    root = weights**0.5
    one, n = F.mse_loss(root * q, root * target), F.mse_loss(root * q, root * n_target)
    return one + n_step_weight * n


# --- 4.10 n_step_target ---------------------------------------------------------------------------


@torch.no_grad()
def n_target_in_one_line(batch, target_actor, target_critic):
    obs = batch.n_next_obs
    return batch.n_reward + (
        target_critic(obs, target_actor(obs)) * (1.0 - batch.n_terminated) * batch.n_discount
    )


def n_target_detached(batch, target_actor, target_critic):
    future = target_critic(batch.n_next_obs, target_actor(batch.n_next_obs)).detach()
    future[batch.n_terminated.bool()] = 0.0
    return torch.addcmul(batch.n_reward, batch.n_discount, future)


def n_target_by_where(batch, target_actor, target_critic):
    with torch.no_grad():
        action = target_actor(batch.n_next_obs)
        q = target_critic(batch.n_next_obs, action)
        return torch.where(
            batch.n_terminated == 1, batch.n_reward, batch.n_reward + batch.n_discount * q
        )


def n_target_row_by_row(batch, target_actor, target_critic):
    targets = []
    for obs, reward, end, discount in zip(
        batch.n_next_obs, batch.n_reward, batch.n_terminated, batch.n_discount, strict=True
    ):
        y = reward
        if not end:
            y = y + discount * target_critic(obs, target_actor(obs))
        targets.append(y.detach())
    return torch.stack(targets)


# --- 4.12 DDPGfD ----------------------------------------------------------------------------------


class DDPGfDByHand(DDPGfD):
    """Everything written out: optimisers by hand, the targets' networks one after the other."""

    def update(self, batch):
        with torch.no_grad():
            next_q = self.target_critic(batch.next_obs, self.target_actor(batch.next_obs))
            target = batch.reward + self.gamma * (1 - batch.terminated) * next_q
            last_q = self.target_critic(batch.n_next_obs, self.target_actor(batch.n_next_obs))
            n_target = batch.n_reward + batch.n_discount * (1 - batch.n_terminated) * last_q
        action = batch.action.clone()
        action.requires_grad = True
        q = self.critic(batch.obs, action)
        q.sum().backward(retain_graph=True)
        delta = q.detach() - target
        errors = F.mse_loss(q, target, reduction="none")
        errors = errors + self.n_step_weight * F.mse_loss(q, n_target, reduction="none")
        priority = delta**2 + self.gradient_weight * action.grad.pow(2).sum(-1) + self.eps
        priority[batch.is_demo > 0] += self.demo_bonus
        self.buffer.update_priorities(batch.indices.numpy(), priority.numpy())
        critic_loss = (errors * batch.weights).mean()
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        self.critic.requires_grad_(False)
        loss = -self.critic(batch.obs, self.actor(batch.obs)).mean()
        self.actor_optimizer.zero_grad()
        loss.backward()
        self.actor_optimizer.step()
        self.critic.requires_grad_(True)
        with torch.no_grad():
            for target_network, online in (
                (self.target_actor, self.actor), (self.target_critic, self.critic)
            ):  # fmt: skip
                for old, new in zip(target_network.parameters(), online.parameters(), strict=True):
                    old.mul_(1 - self.tau).add_(self.tau * new)
        return {
            "demonstrations": (batch.is_demo == 1).float().mean(),
            "critic_loss": critic_loss.detach(), "actor_loss": loss.detach(),
        }  # fmt: skip


class DDPGfDThatAsksTwice(DDPGfD):
    """One question for the slope, another one for the loss; priorities first."""

    def update(self, batch):
        target = td_target(batch, self.target_actor, self.target_critic, self.gamma)
        action = batch.action.detach().requires_grad_(True)
        slope = torch.autograd.grad(self.critic(batch.obs, action).sum(), action)[0]
        q = self.critic(batch.obs, batch.action)
        renewed = priorities(
            td_error=(target - q).detach(), action_gradient=slope, is_demo=batch.is_demo,
            gradient_weight=self.gradient_weight, eps=self.eps, demo_bonus=self.demo_bonus,
        )  # fmt: skip
        self.buffer.update_priorities(indices=batch.indices, priorities=renewed)
        loss = weighted_critic_loss(
            q, target, n_step_target(batch, self.target_actor, self.target_critic),
            batch.weights, self.n_step_weight,
        )  # fmt: skip
        gradient_step(self.critic_optimizer, loss)
        return {"critic_loss": loss} | self.rest(batch)

    def rest(self, batch):
        loss = actor_loss(self.actor, self.critic, batch.obs)
        gradient_step(self.actor_optimizer, loss)
        polyak_update(self.targets, self.online, self.tau)
        share = torch.tensor(sum(batch.is_demo.tolist()) / len(batch.is_demo))
        return {"actor_loss": loss, "demonstrations": share, "largest_slope": loss}


class DDPGfDByOneGradient(DDPGfD):
    """The slope by a backward pass of ones, the step of the critic by a loss on both targets."""

    def update(self, batch):
        networks = self.target_actor, self.target_critic
        targets = td_target(batch, *networks, self.gamma), n_step_target(batch, *networks)
        batch = batch._replace(action=batch.action.requires_grad_())
        q = self.critic(batch.obs, batch.action)
        slope = torch.autograd.grad(q, batch.action, torch.ones_like(q), retain_graph=True)[0]
        loss = weighted_critic_loss(q, *targets, batch.weights, self.n_step_weight)
        gradient_step(self.critic_optimizer, loss)
        policy_loss = actor_loss(self.actor, self.critic, batch.obs)
        gradient_step(self.actor_optimizer, policy_loss)
        polyak_update(
            targets=[*self.target_critic.parameters(), *self.target_actor.parameters()],
            online=[*self.critic.parameters(), *self.actor.parameters()],
            tau=self.tau,
        )
        self.buffer.update_priorities(
            batch.indices,
            priorities(
                q.data - targets[0], slope, batch.is_demo, self.gradient_weight, self.eps,
                self.demo_bonus,
            ),
        )  # fmt: skip
        losses = {"critic_loss": loss, "actor_loss": policy_loss}
        return {**losses, "demonstrations": torch.mean(batch.is_demo)}


RIGHT_ANSWERS_DDPGFD = {
    "4.1": [
        read_step_by_step,
        read_by_split,
        read_by_numbers,
        read_without_numpys_load,
        read_from_memory,
    ],
    "4.2": [bc_by_hand, bc_by_two_means, bc_row_by_row, bc_by_a_class, bc_by_the_norm],
    "4.8": [
        priorities_row_by_row,
        priorities_in_numpy,
        priorities_by_einsum,
        priorities_in_one_norm,
    ],
    "4.11": [
        weighted_loss_in_two_parts,
        weighted_loss_by_products,
        weighted_loss_row_by_row,
        weighted_loss_by_the_root_of_weights,
    ],
    "4.10": [n_target_in_one_line, n_target_detached, n_target_by_where, n_target_row_by_row],
    "4.12": [DDPGfDByHand, DDPGfDThatAsksTwice, DDPGfDByOneGradient],
}
