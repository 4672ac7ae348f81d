"""Lesson 03's checks name mistakes as students write them, not only as the catalogue has them."""

import copy
import inspect
import re
import warnings

import numpy as np
import pytest
import torch
from right_answers import RIGHT_ANSWERS
from torch import nn
from torch.nn import functional as F

from helpers.agents import TD3, td3
from helpers.agents.base import gradient_step
from helpers.agents.ddpg import polyak_update
from helpers.agents.networks import QNetwork, TwinQNetwork, start_small
from helpers.agents.off_policy import OffPolicyAgent
from helpers.agents.td3 import (
    actor_loss_by_q1,
    clipped_double_q_target,
    smoothed_target_action,
    twin_critic_loss,
)
from helpers.checks import exercises, find, grade
from tools.sources import giveaways, leak

LESSON = [exercise for exercise in exercises() if exercise.lesson == "03_td3"]


# --- As students write them -----------------------------------------------------------------------


def estimate(expression):
    """c chooses, j judges; n is the number of rows."""
    return lambda choosing, judging: eval(
        expression, {"c": choosing, "j": judging, "n": len(choosing), "np": np}
    )


def twin(init="", forward="self.a(s, x), self.b(s, x)", q1="self.a(s, x)"):
    """Two networks a and b, then the lines of `init`; s is the observation, x the action."""
    scope = {"torch": torch, "nn": nn, "F": F, "copy": copy, "QNetwork": QNetwork}
    scope["start_small"] = start_small
    lines = ["self.a, self.b = QNetwork(n, m, hidden), QNetwork(n, m, hidden)"]
    lines = lines if not init.startswith("!") else []
    lines += init.removeprefix("!").splitlines()
    body = "\n".join(f"        {line}" for line in lines)
    exec(
        "class Twin(nn.Module):\n"
        "    def __init__(self, n, m, hidden=64):\n"
        f"        super().__init__()\n{body}\n"
        f"    def forward(self, s, x):\n        return {forward}\n"
        f"    def q1(self, s, x):\n        return {q1}\n",
        scope,
    )
    return scope["Twin"]


SIX_LAYERS = """!self.l1, self.l4 = nn.Linear(n + m, hidden), nn.Linear(n + m, hidden)
self.l2, self.l5 = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
self.l3, self.l6 = nn.Linear(hidden, 1), nn.Linear(hidden, 1)
"""
START = "start_small(self.l3)\nstart_small(self.l6)"
CAT = "torch.cat([s, x], 1)"
FIRST = f"self.l3(F.relu(self.l2(F.relu(self.l1({CAT}))))).squeeze(-1)"
SECOND = f"self.l6(F.relu(self.l5(F.relu(self.l4({CAT}))))).squeeze(-1)"


def by_hand(init=START, first=FIRST, second=SECOND):
    return twin(SIX_LAYERS + init, f"({first}, {second})", first)


class ParametersInADict(nn.Module):
    def __init__(self, n, m, hidden=64):
        super().__init__()
        self.nets = {"q1": QNetwork(n, m, hidden), "q2": QNetwork(n, m, hidden)}

    def forward(self, s, x):
        return self.nets["q1"](s, x), self.nets["q2"](s, x)

    def q1(self, s, x):
        return self.nets["q1"](s, x)


class WithoutQ1(nn.Module):
    def __init__(self, n, m, hidden=64):
        super().__init__()
        self.critics = nn.ModuleList([QNetwork(n, m, hidden), QNetwork(n, m, hidden)])

    def forward(self, s, x):
        return [critic(s, x) for critic in self.critics]


class CallsItself(nn.Module):
    def __init__(self, n, m, hidden=64):
        super().__init__()
        self.q1 = QNetwork(n, m, hidden)
        self.q2 = QNetwork(n, m, hidden)

    def forward(self, s, x):
        return self.q1(s, x), self.q2(s, x)

    def q1(self, s, x):
        return self.q1(s, x)


def target(lower="torch.min(q1, q2)", formula="b.reward + gamma * (1 - b.terminated) * lower",
           ask="b.next_obs, a"):  # fmt: skip
    """b is the batch, a the next action, q the pair of critics."""
    scope = {"torch": torch, "np": np}
    exec(
        "@torch.no_grad()\n"
        "def clipped_double_q_target(b, a, q, gamma):\n"
        f"    q1, q2 = q({ask})\n    lower = {lower}\n    return {formula}",
        scope,
    )
    return scope["clipped_double_q_target"]


def loss(expression):
    """From q1, q2 and y; b is the batch."""

    def twin_critic_loss(critic, batch, y):
        q1, q2 = critic(batch.obs, batch.action)
        scope = {"q1": q1, "q2": q2, "y": y, "b": batch, "critic": critic, "F": F, "torch": torch}
        return eval(expression, scope)

    return twin_critic_loss


def loss_of_the_first(critic, batch, y):
    return F.mse_loss(critic.q1(batch.obs, batch.action), y)


def target_used_up(critic, batch, y):
    q1, q2 = critic(batch.obs, batch.action)
    first = ((q1 - y) ** 2).mean()
    y -= q2
    return first + (y**2).mean()


def with_gradients(loss_of):
    def compute(*args):
        found = loss_of(*args)
        found.backward(retain_graph=True)
        return found

    return compute


def zeroed_first(loss_of):
    def compute(*args):
        for network in args:
            if isinstance(network, nn.Module):
                network.zero_grad()
        return loss_of(*args)

    return compute


def observations_used_up(mu, q, s):
    found = -q.q1(s, mu(s)).mean()
    s.zero_()
    return found


@torch.no_grad()
def drawn_until_it_fits(mu, s, std, c, rng):
    a = mu(s)
    noise = rng.normal(0, std, size=a.shape)
    while (abs(noise) > c).any():
        beyond = abs(noise) > c
        noise[beyond] = rng.normal(0, std, size=beyond.sum())
    return (a + torch.from_numpy(noise).float()).clamp(-1, 1)


DRAW = "torch.as_tensor(rng.normal(0, std, size=a.shape)).float()"


def smoothing(noise=DRAW, clip="noise.clamp(-c, c)", end="(a + noise).clamp(-1, 1)"):
    """a is the action, std and c the two numbers."""
    scope = {"torch": torch, "np": np, "F": F}
    exec(
        "@torch.no_grad()\n"
        "def smoothed_target_action(mu, s, std, c, rng):\n"
        f"    a = mu(s)\n    noise = {noise}\n    noise = {clip}\n    return {end}",
        scope,
    )
    return scope["smoothed_target_action"]


NOISE = "smoothed_target_action(self.target_actor, batch.next_obs, *self.noises)"
INLINE = (
    "(self.target_actor(batch.next_obs) + torch.as_tensor(np.clip(self.rng.normal(0, "
    "self.target_noise, {}), -self.noise_clip, self.noise_clip)).float()).clamp(-1, 1).detach()"
)
TARGET = "clipped_double_q_target(batch, action, self.target_critic, self.gamma)"
STEP = "gradient_step(self.{0}_optimizer, {0}_loss)"
CRITIC_STEP, ACTOR_STEP = STEP.format("critic"), STEP.format("actor")
BY_HAND = "self.{0}_optimizer.zero_grad(); {0}_loss.backward(); self.{0}_optimizer.step()"


def agent(
    action=NOISE,
    y=TARGET,
    critic_loss="twin_critic_loss(self.critic, batch, y)",
    critic_step=CRITIC_STEP,
    when="self.updates % self.policy_delay == 0",
    actor_loss="actor_loss_by_q1(self.actor, self.critic, batch.obs)",
    actor_step=ACTOR_STEP,
    targets="polyak_update(self.targets, self.online, self.tau)",
    result="return losses",
):
    """TD3 from somebody's lines."""
    scope = {
        "torch": torch, "np": np, "F": F, "copy": copy, "gradient_step": gradient_step,
        "polyak_update": polyak_update, "smoothed_target_action": smoothed_target_action,
        "clipped_double_q_target": clipped_double_q_target, "twin_critic_loss": twin_critic_loss,
        "actor_loss_by_q1": actor_loss_by_q1,
    }  # fmt: skip
    exec(
        "def update(self, batch):\n"
        "    self.noises = self.target_noise, self.noise_clip, self.rng\n"
        f"    action = {action}\n    y = {y}\n    critic_loss = {critic_loss}\n    {critic_step}\n"
        "    losses = {'critic_loss': critic_loss}\n"
        f"    if {when}:\n        actor_loss = losses['actor_loss'] = {actor_loss}\n"
        f"        {actor_step}\n        {targets}\n    {result}",
        scope,
    )
    return type("TD3", (TD3,), {"update": scope["update"]})


class DDPGAsItIs(TD3):
    def update(self, batch):
        with torch.no_grad():
            q = self.target_critic.q1(batch.next_obs, self.target_actor(batch.next_obs))
            y = batch.reward + self.gamma * (1 - batch.terminated) * q
        loss = ((self.critic.q1(batch.obs, batch.action) - y) ** 2).mean()
        gradient_step(self.critic_optimizer, loss)
        actor_loss = actor_loss_by_q1(self.actor, self.critic, batch.obs)
        gradient_step(self.actor_optimizer, actor_loss)
        polyak_update(self.targets, self.online, self.tau)
        return {"critic_loss": loss, "actor_loss": actor_loss}


# --- All of them ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exercise_id", "written", "diagnosis"),
    [
        ("3.1", estimate("np.amax(c, 1)"), "chosen and judged alike"),
        ("3.1", estimate("np.array([max(row) for row in j])"), "the largest that judging has"),
        ("3.1", estimate("c[range(n), j.argmax(1)]"), "roles exchanged"),
        ("3.1", estimate("j[:, np.argmax(c, axis=1)]"), "all chosen columns of every row"),
        ("3.1", estimate("j[np.argmax(c, axis=1)]"), "rows in place of columns"),
        ("3.1", estimate("j[c.argmax(1), range(n)]"), "error"),
        ("3.1", estimate("np.take(j, c.argmax(1))"), "all from the first row"),
        ("3.1", estimate("j[range(n), c.argmax(axis=0)]"), "argmax over the rows, columns picked"),
        ("3.1", estimate("j.flatten()[np.argmax(c)]"), "one action out of the whole table"),
        ("3.1", estimate("np.take_along_axis(j, c.argmax(1, keepdims=True), 1)"), "keeps the axis"),
        ("3.1", estimate("np.argmax(c, 1)"), "numbers of the actions"),
        ("3.1", estimate("np.mean([j[i, c[i].argmax()] for i in range(n)])"), "averaged over the"),
        ("3.1", estimate("[j[i][c[i].argmax()] for i in range(n - 1)]"), "the last row forgotten"),
        ("3.1", estimate("[j[i][c[i].argmax()] for i in range(1, n)]"), "the first row forgotten"),
        ("3.1", estimate("np.fmin(c.max(1), j.max(1))"), "the lower of the two maxima"),
        ("3.1", estimate("np.stack([c, j]).mean(0).max(-1)"), "the largest of the means"),
        ("3.1", estimate("np.mean([c.max(1), j.max(1)], axis=0)"), "mean of both maxima"),
        ("3.1", estimate("j[range(n), np.argsort(c, axis=1)[:, 0]]"), "the worst action"),
        ("3.1", estimate("(c.argmax(1), j[range(n), c.argmax(1)])"), "several outputs"),
        ("3.2", twin("self.b = self.a"), "the second is the first"),
        ("3.2", twin("self.b = copy.deepcopy(self.a)"), "the second is a copy"),
        ("3.2", twin("self.b.load_state_dict(self.a.state_dict())"), "the second is a copy"),
        ("3.2", twin("!torch.manual_seed(0)\nself.a = QNetwork(n, m, hidden)\n"
                     "torch.manual_seed(0)\nself.b = QNetwork(n, m, hidden)"),
         "the same seed twice"),
        ("3.2", twin("!torch.manual_seed(0)\nself.a = QNetwork(n, m, hidden)\n"
                     "torch.manual_seed(1)\nself.b = QNetwork(n, m, hidden)"), "a seed of its own"),
        ("3.2", twin("!torch.manual_seed(n)\n"
                     "self.a, self.b = (QNetwork(n, m, hidden) for _ in range(2))"),
         "a seed of its own"),
        ("3.2", twin("self.b = copy.deepcopy(self.a)\nfor p in self.b.parameters():\n"
                     "    p.data += 1e-4 * torch.randn_like(p)"), "the second is a changed copy"),
        ("3.2", twin("for p, q in zip(self.a.parameters(), self.b.parameters()):\n"
                     "    q.data = 0.5 * p.data"), "the second is a changed copy"),
        ("3.2", twin(forward="(self.a(s, x), self.a(s, x))"), "the first is asked twice"),
        ("3.2", twin(q1="self.forward(s, x)[0]"), "q1 asks both"),
        ("3.2", twin(q1="(self.a(s, x), self.b(s, x))[0]"), "q1 asks both"),
        ("3.2", twin(q1="print(self.a(s, x).mean())"), "q1 gives nothing"),
        ("3.2", WithoutQ1, "no q1"),
        ("3.2", twin("!a, b = QNetwork(n, m, hidden), QNetwork(n, m, hidden)", "a(s, x), b(s, x)",
                     "a(s, x)"), "self. missing"),
        ("3.2", twin("!a, b = QNetwork(n, m, hidden), QNetwork(n, m, hidden)"), "self. missing"),
        ("3.2", twin("!self.a, self.b = QNetwork(n, m, hidden), QNetwork(n, m)"),
         "hidden size ignored in the second critic"),
        ("3.2", by_hand(second=SECOND.replace("l4", "l1")), "the second on the first's layer"),
        ("3.2", by_hand(second=SECOND.replace("l4", "l1").replace("l5", "l2")),
         "the second on the first's layers"),
        ("3.2", by_hand(first=FIRST.replace(".squeeze(-1)", ""),
                        second=SECOND.replace(".squeeze(-1)", "")), "columns"),
        ("3.2", by_hand(first=FIRST.replace("-1", ""), second=SECOND.replace("-1", "")),
         "a batch of one loses its axis"),
        ("3.2", by_hand(init=""), "last layers not small"),
        ("3.2", by_hand(init="start_small(self.l3)"), "last layers not small"),
        ("3.2", by_hand(init=START + "\nself.l7 = nn.Linear(hidden, 1)"),
         "a network that is never used"),
        ("3.2", by_hand(first=f"torch.tanh({FIRST})", second=f"torch.tanh({SECOND})"),
         "tanh at the end"),
        ("3.2", twin(forward="torch.min(self.a(s, x), self.b(s, x))"), "the lower value"),
        ("3.2", twin(forward="self.a(s, x)"), "the lower value"),
        ("3.2", twin(forward="torch.stack([self.a(s, x), self.b(s, x)], 1)"), "side by side"),
        ("3.2", twin(forward="torch.cat([self.a(s, x), self.b(s, x)])"), "one below the other"),
        ("3.2", twin(forward="(self.b(s, x), self.a(s, x))"), "q1 is the second"),
        ("3.2", twin(q1="self.b(s, x)"), "q1 is the second"),
        ("3.2", twin(q1="self(s, x)"), "q1 gives both"),
        ("3.2", twin(q1="torch.min(*self.forward(s, x))"), "q1 gives the lower value"),
        ("3.2", twin(q1="torch.stack(self(s, x)).mean(0)"), "q1 gives the mean of both"),
        ("3.2", twin(q1="self.a(s, x)[0]"), "q1 gives the first row"),
        ("3.2", twin(q1="self.a(s, x).detach()"), "q1 without gradient"),
        ("3.2", twin(q1="self.a(s, x.detach())"), "q1 without gradient"),
        ("3.2", twin(forward="(self.a(s, x), self.b(s, x).detach())"), "the second without grad"),
        ("3.2", twin("!self.a, self.b = QNetwork(n, m), QNetwork(n, m)"), "hidden size ignored"),
        ("3.2", twin(forward="None"), "no return"),
        ("3.2", twin("!self.a, self.b = QNetwork(n + m, hidden), QNetwork(n + m, hidden)"), None),
        ("3.2", CallsItself, "a network called q1"),
        ("3.2", ParametersInADict, "a plain list of networks"),
        ("3.3", target("torch.max(q1, q2)"), "the higher of the two"),
        ("3.3", target("0.5 * (q1 + q2)"), "the mean of the two"),
        ("3.3", target("torch.stack([q1, q2]).mean(0)"), "the mean of the two"),
        ("3.3", target("q1"), "only the first critic"),
        ("3.3", target("q.q1(b.next_obs, a)"), "only the first critic"),
        ("3.3", target("torch.cat([q1, q2]).min()"), "the lowest of the whole batch"),
        ("3.3", target("min(q1, q2)"), "one yes or no for all rows"),
        ("3.3", target("q1 if q1 < q2 else q2"), "one yes or no for all rows"),
        ("3.3", target(formula="b.reward if b.terminated else b.reward + gamma * lower"),
         "one yes or no for all rows"),
        ("3.3", target(formula="b.reward + gamma * (not b.terminated) * lower"),
         "one yes or no for all rows"),
        ("3.3", target("torch.min(q1, q2).item()"), "a single number for the future"),
        ("3.3", target(formula="(b.reward + gamma * (1 - b.terminated) * lower).item()"),
         "a single number"),
        ("3.3", target("torch.min(torch.min(q1, q2), torch.zeros(1))"), "never above 0"),
        ("3.3", target(formula="b.reward + 0.99 * lower * (b.terminated == 0)"), "gamma always 0"),
        ("3.3", target(formula="[r + gamma * (1 - end) * future for r, end, future in "
                       "zip(b.reward, b.terminated, lower)]"), "in a list"),
        ("3.3", target(formula="b.reward.add_(gamma * (1 - b.terminated) * lower)"),
         "added to the rewards in place"),
        ("3.3", target(formula="b.reward + gamma * b.terminated.sub_(1).neg_() * lower"),
         "flags inverted in place"),
        ("3.3", target("torch.stack([q1, q2], dim=1).min(dim=0).values"), "the lowest of each cri"),
        ("3.3", target("q1 if q1.mean() < q2.mean() else q2"), "one critic for the whole batch"),
        ("3.3", target("torch.stack([q1, q2], 0).min(-1)[0]"), "the lowest of each critic"),
        ("3.3", target("torch.stack([q1, q2], 1).min(1)[1]"), "where it stood, not what it was"),
        ("3.3", target("(q1, q2)"), "the pair as a value"),
        ("3.3", target("torch.stack([q1, q2])"), "a target for each critic"),
        ("3.3", target("torch.where(abs(q1) < abs(q2), q1, q2)"), "the one nearer to 0"),
        ("3.3", target(formula="b.reward + gamma * (1 - b.truncated) * lower"), "truncated in pl"),
        ("3.3", target(formula="b.reward + gamma * (1 - torch.max(b.terminated, b.truncated)) * "
                       "lower"), "truncation taken for termination"),
        ("3.3", target(formula="b.reward + gamma * b.terminated * lower"), "mask inverted"),
        ("3.3", target(formula="b.reward + gamma * lower"), "no mask"),
        ("3.3", target(formula="b.reward + (1 - b.terminated) * lower"), "no discount"),
        ("3.3", target(formula="gamma * (1 - b.terminated) * lower"), "reward missing"),
        ("3.3", target(ask="b.next_obs, b.action"), "the action of the batch"),
        ("3.3", target(ask="b.obs, a"), "the present observation"),
        ("3.3", target(ask="a, b.next_obs"), "arguments of the critic exchanged"),
        ("3.3", target(ask="b.next_obs, (a + torch.randn_like(a)).clamp(-1, 1)"), "noise on the"),
        ("3.3", target(formula="(b.reward + gamma * (1 - b.terminated) * lower)[:, None]"),
         "a column"),
        ("3.3", target(formula="b.reward[:, None] + gamma * (1 - b.terminated) * lower"),
         "every reward with every future"),
        ("3.4", loss("(F.mse_loss(q1, y) + F.mse_loss(q2, y)) * 0.5"), "mean of both errors"),
        ("3.4", loss("((torch.stack([q1, q2]) - y) ** 2).mean()"), "mean of both errors"),
        ("3.4", loss("F.mse_loss(torch.cat([q1, q2]), torch.cat([y, y]))"), "mean of both errors"),
        ("3.4", loss("F.mse_loss(torch.min(q1, q2), y)"), "error of the lower value"),
        ("3.4", loss("min(F.mse_loss(q1, y), F.mse_loss(q2, y))"), "the smaller loss"),
        ("3.4", loss("max(F.mse_loss(q1, y), F.mse_loss(q2, y))"), "the larger loss"),
        ("3.4", loss("torch.min(F.mse_loss(q1, y, reduction='none'), "
                     "F.mse_loss(q2, y, reduction='none')).mean()"), "the smaller error of each"),
        ("3.4", loss("F.mse_loss((q1 + q2) / 2, y)"), "error of the mean"),
        ("3.4", loss("F.mse_loss(q1, q2)"), "first against second"),
        ("3.4", loss("F.mse_loss(q1, y) + F.mse_loss(q1, y)"), "the first critic twice"),
        ("3.4", loss("F.mse_loss(q2, y)"), "only the second critic"),
        ("3.4", loss("[F.mse_loss(q1, y), F.mse_loss(q2, y)]"), "a pair of losses"),
        ("3.4", loss("((q1 - y) ** 2).sum() + ((q2 - y) ** 2).sum()"), "sum over the batch"),
        ("3.4", loss("(q1 - y) ** 2 + (q2 - y) ** 2"), "no mean"),
        ("3.4", loss("F.mse_loss(q1, b.reward) + F.mse_loss(q2, b.reward)"), "the reward as tar"),
        ("3.4", loss("F.mse_loss(critic(b.obs, b.action), y)"), "one answer for both"),
        ("3.4", loss("F.mse_loss(q1.data, y) + F.mse_loss(q2, y)"), "first values detached"),
        ("3.4", loss("(F.mse_loss(q1, y) + F.mse_loss(q2, y)).item()"), "a plain number"),
        ("3.4", loss_of_the_first, "only the first critic"),
        ("3.4", loss("F.mse_loss(q1, y) + ((q2 - y[:, None]) ** 2).mean()"),
         "the second critic's values against every target"),
        ("3.4", loss("((q1[:, None] - y) ** 2).mean() + F.mse_loss(q2, y)"),
         "the first critic's values against every target"),
        ("3.4", loss("((torch.stack((q1, q2), dim=-1) - y) ** 2).mean(dim=0).sum()"),
         "targets along the wrong axis"),
        ("3.4", loss("torch.mean(q1 - y) ** 2 + torch.mean(q2 - y) ** 2"), "square of the mean"),
        ("3.4", loss("((q1 - y) * 2 + (q2 - y) * 2).mean()"), "doubled in place of squared"),
        ("3.4", loss("(q1 - y**2).mean() + (q2 - y**2).mean()"), "only the target squared"),
        ("3.4", target_used_up, "the target changed in place"),
        ("3.4", with_gradients(twin_critic_loss), "changes stored gradients"),
        ("3.4", zeroed_first(twin_critic_loss), "changes stored gradients"),
        ("3.5", smoothing("torch.as_tensor(rng.normal(0, std)).float()"),
         "one noise for the whole batch"),
        ("3.5", smoothing("float(rng.normal()) * std * torch.ones_like(a)"),
         "one noise for the whole batch"),
        ("3.5", smoothing("torch.as_tensor(rng.normal(0, std, size=a.shape[-1])).float()"),
         "one noise for all rows"),
        ("3.5", smoothing("torch.as_tensor(rng.normal(0, std, size=(len(a), 1))).float()"),
         "one noise for all dimensions"),
        ("3.5", smoothing("torch.as_tensor(rng.normal(0, std, size=len(a))).float()"),
         "one number a row, without its axis"),
        ("3.5", smoothing("torch.as_tensor(rng.normal(0, std, size=s.shape)).float()"),
         "as many noises as observed numbers"),
        ("3.5", smoothing(DRAW + " * torch.eye(a.shape[1])[0]"), "only the first dimension"),
        ("3.5", smoothing(clip="noise"), "noise not clipped"),
        ("3.5", smoothing(end="a + noise"), "action not clipped"),
        ("3.5", smoothing(clip="noise", end="a + noise"), "neither is clipped"),
        ("3.5", smoothing(clip="noise", end="(a + noise).clamp(-c, c)"),
         "the sum clipped to noise_clip"),
        ("3.5", smoothing("torch.as_tensor(rng.standard_normal(a.shape)).float()",
                          "noise.clamp(-c, c) * std"), "clipped before it is scaled"),
        ("3.5", smoothing(clip="noise.clamp(-std, std)"), "noise clipped to target_noise"),
        ("3.5", smoothing(DRAW.replace("std", "c"), "noise.clamp(-std, std)"),
         "target_noise and noise_clip exchanged"),
        ("3.5", smoothing(clip="noise.clamp(max=c)"), "cut off above only"),
        ("3.5", smoothing(clip="torch.minimum(noise, torch.tensor(c))"), "cut off above only"),
        ("3.5", smoothing(clip="noise.clamp(0, c)"), "negative noise cut off"),
        ("3.5", smoothing(end="torch.tanh(a + noise)"), "a tanh on the sum"),
        ("3.5", smoothing(end="(a + noise).clamp(0, 1)"), "actions cut off at 0"),
        ("3.5", smoothing(DRAW.replace("std", "std**2")), "target_noise squared"),
        ("3.5", smoothing(DRAW.replace("std", "std**0.5")), "target_noise taken for a variance"),
        ("3.5", smoothing(DRAW.replace("std", "1")), "target_noise not used"),
        ("3.5", smoothing(DRAW.replace("std", "0.2")), "always 0.2"),
        ("3.5", smoothing(clip="noise.clamp(-0.5, 0.5)"), "noise_clip always 0.5"),
        ("3.5", smoothing(DRAW + " * 2.0"), "in the environment's units"),
        ("3.5", smoothing(end="(a * (1 + noise)).clamp(-1, 1)"), "in proportion to the action,"),
        ("3.5", smoothing("torch.as_tensor(rng.normal(std, size=a.shape)).float()"),
         "the mean given as standard deviation"),
        ("3.5", smoothing("torch.as_tensor(rng.uniform(-std, std, a.shape)).float()"),
         "uniform noise"),
        ("3.5", smoothing("torch.as_tensor(rng.uniform(-c, c, a.shape)).float()"),
         "uniform up to noise_clip"),
        ("3.5", smoothing("torch.as_tensor(rng.random(a.shape)).float() * std"), "never negative"),
        ("3.5", smoothing("0 * a"), "no noise"),
        ("3.5", smoothing("torch.as_tensor(rng.normal(0, std, size=a.shape))"), "float64"),
        ("3.5", smoothing("torch.randn_like(a) * std"), "random numbers of its own"),
        ("3.5", smoothing("torch.empty_like(a).normal_(0, std)"), "random numbers of its own"),
        ("3.5", smoothing("torch.as_tensor(np.random.normal(0, std, a.shape)).float()"),
         "random numbers of its own"),
        ("3.5", smoothing("torch.as_tensor(np.random.default_rng(1).normal(0, std, a.shape))"
                          ".float()"), "a new generator for every call"),
        ("3.5", smoothing(DRAW.replace("std", "0.2"), "noise.clamp(-0.5, 0.5)"),
         "always 0.2 and 0.5"),
        ("3.5", smoothing(clip="noise", end="(a + noise).clamp(-1, 1).clamp(-c, c)"),
         "the sum clipped to noise_clip and to 1"),
        ("3.5", smoothing("torch.as_tensor(rng.normal(a, std)).float()", end="noise.clamp(-1, 1)"),
         "the sum clipped to noise_clip and to 1"),
        ("3.5", smoothing(clip="noise.clamp(-1, 1)", end="(a + noise).clamp(-c, c)"),
         "the two clips exchanged"),
        ("3.5", smoothing(clip="noise * (abs(noise) <= c)"), "set to 0 beyond noise_clip"),
        ("3.5", drawn_until_it_fits, "drawn again until it fits"),
        ("3.5", smoothing("torch.as_tensor(rng.normal(0, std, size=(40, *a.shape))).float()",
                          end="(a + noise).clamp(-1, 1).mean(0)"), "averaged over many draws"),
        ("3.5", smoothing("torch.as_tensor(rng.normal(0, std, size=(15, *a.shape))).float()",
                          "noise.clamp(-c, c).mean(0)"), "averaged over many draws"),
        ("3.5", smoothing(clip="(noise - noise.mean(dim=0)).clamp(-c, c)"),
         "the batch's mean subtracted"),
        ("3.5", smoothing("std * (torch.manual_seed(int(rng.integers(9**9))), "
                          "torch.randn(a.shape))[1]"), "uses a shared stream"),
        ("3.5", smoothing(end="noise"), "the noise alone"),
        ("3.5", smoothing(end="(a + noise).clamp(-1, 1).numpy()"), "in numpy"),
        ("3.6", lambda mu, q, s: -q(s, mu(s))[1].mean(), "by the second critic"),
        ("3.6", lambda mu, q, s: -torch.min(*q(s, mu(s))).mean(), "by the lower of both"),
        ("3.6", lambda mu, q, s: -torch.stack(q(s, mu(s))).mean(), "by the mean of both"),
        ("3.6", lambda mu, q, s: -sum(q(s, mu(s))).mean(), "by the sum of both"),
        ("3.6", lambda mu, q, s: -q(s, mu(s)).mean(), "both answers at once"),
        ("3.6", lambda mu, q, s: -q.q1(s, mu(s))[0].mean(), "only the first row"),
        ("3.6", lambda mu, q, s: -q.q1(s, mu(s))[0], "only the first row"),
        ("3.6", lambda mu, q, s: q.q1(s, mu(s)).mean(), "minus missing"),
        ("3.6", lambda mu, q, s: -q.q1(s, mu(s).data).mean(), "action detached"),
        ("3.6", torch.no_grad()(lambda mu, q, s: -q.q1(s, mu(s)).mean()), "loss detached"),
        ("3.6", lambda mu, q, s: -q.q1(mu(s), s).mean(), "arguments of the critic exchanged"),
        ("3.6", lambda mu, q, s: -torch.sum(q.q1(s, mu(s))), "sum instead of mean"),
        ("3.6", lambda mu, q, s: -q.first(s, mu(s)).mean(), "reaches inside the twin"),
        ("3.6", observations_used_up, "changes the observations"),
        ("3.6", with_gradients(actor_loss_by_q1), "changes stored gradients"),
        ("3.6", zeroed_first(actor_loss_by_q1), "changes stored gradients"),
        ("3.6", lambda mu, q, s: [-x.mean() for x in q(s, mu(s))], "several outputs"),
        ("3.7", agent(when="True"), "delay ignored"),
        ("3.7", agent(when="self.updates % self.policy_delay"), "at all other updates"),
        ("3.7", agent(when="not (self.updates - 1) % self.policy_delay"), "an update too early, c"),
        ("3.7", agent(when="(self.updates + 1) % self.policy_delay == 0"), "an update too early"),
        ("3.7", agent(when="self.updates % self.policy_delay == 1"), "remainder 1"),
        ("3.7", agent(when="self.updates // self.policy_delay"), "waits once, then never again"),
        ("3.7", agent(when="self.updates % 2 == 0"), "always every second update"),
        ("3.7", agent(when="self.steps % self.policy_delay == 0"), "steps in place of updates"),
        ("3.7", agent(when="self.updates % self.policy_delay == self.policy_delay"),
         "the actor never moves"),
        ("3.7", agent(targets="pass"), "targets never move"),
        ("3.7", agent(targets="polyak_update(self.target_critic.parameters(), "
                      "self.critic.parameters(), self.tau)"), "only the critics' targets"),
        ("3.7", agent(targets="polyak_update(self.target_actor.parameters(), "
                      "self.actor.parameters(), self.tau)"), "only the actor's target"),
        ("3.7", agent(targets="polyak_update(self.online, self.targets, self.tau)"),
         "online and targets exchanged"),
        ("3.7", agent(targets="polyak_update(self.targets, self.online, 1 - self.tau)"), "1 - tau"),
        ("3.7", agent(targets="self.target_actor.load_state_dict(self.actor.state_dict()); "
                      "self.target_critic.load_state_dict(self.critic.state_dict())"), "copied"),
        ("3.7", agent(targets="self.target_actor = copy.deepcopy(self.actor); "
                      "self.target_critic = copy.deepcopy(self.critic)"), "copied"),
        ("3.7", agent(targets="self.target_critic = self.critic; self.target_actor = self.actor"),
         "one network under two names"),
        ("3.7", agent(targets="polyak_update(self.target_critic, self.critic, self.tau)"),
         "networks in place of parameters"),
        ("3.7", agent(action="smoothed_target_action(self.actor, batch.next_obs, *self.noises)"),
         "the online actor's next action"),
        ("3.7", agent(action="self.target_actor(batch.next_obs)"), "no smoothing"),
        ("3.7", agent(action="smoothed_target_action(self.target_actor, batch.next_obs, "
                      "self.noise_clip, self.target_noise, self.rng)"), "target_noise and noise_c"),
        ("3.7", agent(action="smoothed_target_action(self.target_actor, batch.next_obs, 0.2, 0.5, "
                      "self.rng)"), "noise as usual"),
        ("3.7", agent(action="smoothed_target_action(self.target_actor, batch.next_obs, "
                      "self.target_noise, self.noise_clip, np.random.default_rng())"),
         "a new generator"),
        ("3.7", agent(action="smoothed_target_action(self.target_actor, batch.next_obs, "
                      "self.target_noise, self.noise_clip, np.random.default_rng(0))"),
         "the same generator anew at every update"),
        ("3.7", agent(y="clipped_double_q_target(batch, action, self.critic, self.gamma)"),
         "target from the online critics"),
        ("3.7", agent(y="clipped_double_q_target(batch, action, self.target_critic, 1)"),
         "gamma of 1"),
        ("3.7", agent(critic_step=CRITIC_STEP.replace("critic_opt", "actor_opt")),
         "the wrong optimiser for the critics"),
        ("3.7", agent(actor_step=ACTOR_STEP.replace("actor_opt", "critic_opt")),
         "the critics' optimiser for the actor"),
        ("3.7", agent(critic_step="pass"), "critics never step"),
        ("3.7", agent(actor_step="pass"), "actor never steps"),
        ("3.7", agent(critic_step=BY_HAND.format("critic").split(";", 1)[1].strip(),
                      actor_step=BY_HAND.format("actor")), "the critics' gradients never cleared"),
        ("3.7", agent(critic_step=BY_HAND.format("critic"),
                      actor_step=BY_HAND.format("actor").split(";", 1)[1].strip()),
         "the actor's gradients never cleared"),
        ("3.7", agent(critic_step="critic_loss.backward(); self.critic_optimizer.step()",
                      actor_step="actor_loss.backward(); self.actor_optimizer.step()"),
         "gradients never cleared"),
        ("3.7", agent(actor_loss="actor_loss_by_q1(self.actor, self.target_critic, batch.obs)"),
         "by the target critic"),
        ("3.7", agent(actor_loss="actor_loss_by_q1(self.target_actor, self.critic, batch.obs)"),
         "the target actor's loss"),
        ("3.7", agent(actor_loss="actor_loss_by_q1(self.actor, self.critic, batch.next_obs)"),
         "the next observations"),
        ("3.7", agent(result="pass"), "losses not returned"),
        ("3.7", agent(result="    return losses"), "returned only with the actor's"),
        ("3.7", agent(result="return {k: v.item() for k, v in losses.items()}"), "plain numbers"),
        ("3.7", agent(result="return {k.replace('critic', 'q'): v for k, v in losses.items()}"),
         "another name for the critics' loss"),
        ("3.7", agent(result="return {'critic_loss': critic_loss}"), "another name for the actor"),
        ("3.7", agent(result="return critic_loss"), "one sum of losses"),
        ("3.7", agent(actor_step="self.critic.requires_grad_(False); " + ACTOR_STEP),
         "critics left frozen"),
        ("3.7", agent(action=f"(batch.reward.mul_(self.reward_scale), {NOISE})[1]"),
         "rewards scaled again, in place"),
        ("3.7", agent(y=TARGET.replace("batch,", "batch._replace(reward=batch.reward * "
                                       "self.reward_scale),")), "rewards scaled again"),
        ("3.7", agent(y=f"self.reward_scale * {TARGET}"), "the target scaled"),
        ("3.7", agent(y=f"{TARGET} / self.reward_scale"), "the target scaled back"),
        ("3.7", agent(result="return {'actor_loss': torch.tensor(0.0), **losses}"),
         "an actor_loss at every update"),
        ("3.7", agent(result="self.last = losses.get('actor_loss', getattr(self, 'last', y.mean()))"
                      "; return {**losses, 'actor_loss': self.last}"),
         "an actor_loss at every update"),
        ("3.7", agent(result="return {**losses, 'target': y}"), "several numbers in an entry"),
        ("3.7", agent(critic_loss="sum(F.mse_loss(q, clipped_double_q_target(batch, a, "
                      "self.target_critic, self.gamma)) for q, a in zip(self.critic(batch.obs, "
                      f"batch.action), (action, {NOISE})))"), "a smoothing for each critic"),
        ("3.7", agent(action=INLINE.format("(len(batch.obs), 1)")), "one noise for each row"),
        ("3.7", agent(action=INLINE.format("batch.action.shape[1]")), "one noise for all rows"),
        ("3.7", agent(action=INLINE.format("()")), "one noise for the whole batch"),
        ("3.7", agent(action=INLINE.format("batch.action.shape").replace(".clamp(-1, 1)", "")),
         "next actions not clipped"),
        ("3.7", agent(action=INLINE.format("batch.action.shape").replace("self.rng", "np.random")),
         "noise from a shared stream"),
        ("3.7", agent(action="(self.target_actor(batch.next_obs) + (torch.randn_like(batch.action) "
                      "* self.target_noise).clamp(-self.noise_clip, self.noise_clip)).clamp(-1, 1)"
                      ".detach()"), "noise from a shared stream"),
        ("3.7", agent(action=INLINE.format("batch.action.shape").replace("self.target_noise", "0.2")
                      .replace("self.noise_clip", "0.5")), "noise as usual"),
        ("3.7", agent(action=f"(setattr(self, 'target_noise', self.target_noise * 0.99), {NOISE})"
                      "[1]"), "noise that fades"),
        ("3.7", agent(result="batch.obs.add_(1); return losses"), "the batch changed"),
        ("3.7", agent(when="self.steps > self.learning_starts and not self.updates % "
                      "self.policy_delay"), "waits for the warm-up again"),
        ("3.7", agent(actor_loss="actor_loss_by_q1(self.actor, self.critic, batch.obs).detach()"),
         "the actor's loss without gradient"),
        ("3.7", agent(actor_loss="-self.critic(batch.obs, batch.action)[0].mean()"),
         "a loss without the actor"),
        ("3.7", agent(actor_loss="-self.critic.q1(batch.obs, smoothed_target_action(self.actor, "
                      "batch.obs, *self.noises)).mean()"), "a loss without the actor"),
        ("3.7", agent(targets="polyak_update(self.targets, self.online)"), "error"),
        ("3.7", agent(targets="polyak_update(self.target_actor, self.actor, self.tau); "
                      "polyak_update(self.target_critic, self.critic, self.tau)"),
         "networks in place of parameters"),
        ("3.7", agent(critic_loss="twin_critic_loss(self.target_critic, batch, y)"),
         "the loss of the target critics"),
        ("3.7", agent(critic_loss="F.mse_loss(self.critic(batch.obs, batch.action)[0], y)"),
         "a loss of the first critic only"),
        ("3.7", DDPGAsItIs, "a loss of the first critic only"),
        ("3.7", agent(critic_loss="F.mse_loss(torch.min(*self.critic(batch.obs, batch.action)), "
                      "y)"), "the minimum in the critics' loss"),
        ("3.7", agent(actor_step=ACTOR_STEP.replace("actor_loss)", "-actor_loss)")),
         "the actor downhill"),
        ("3.7", agent(critic_step="pass", result=f"{CRITIC_STEP}; return losses"),
         "the critics' step last"),
        ("3.7", agent(result="self.updates += 1; return losses"), "counts again, at the end"),
        ("3.7", agent(when="self.updates // self.policy_delay == 0"), "whole division"),
        ("3.7", agent(targets="polyak_update(self.target_actor.parameters(), "
                      "self.actor.parameters(), self.tau)",
                      result="polyak_update(self.target_critic.parameters(), "
                      "self.critic.parameters(), self.tau); return losses"),
         "the critics' targets not delayed"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Using a target size", "ignore:.*creating a graph")
def test_names_mistakes_as_students_write_them(exercise_id, written, diagnosis):
    result = grade(exercise_id, written)
    assert not result.passed
    if diagnosis is None:  # no name, but the case is shown, or the error told
        assert result.diagnosis in (None, "error", "other type", "missing part", "unusable output")
    else:
        assert str(result.diagnosis).startswith(diagnosis), str(result)


def test_what_these_are_made_from_is_right_as_it_stands():
    """So that each mistake above is the one that it says, and no other."""
    for exercise_id, right in [
        ("3.1", estimate("j[range(n), c.argmax(1)]")),
        ("3.2", twin()),
        ("3.2", by_hand()),
        ("3.3", target()),
        ("3.4", loss("F.mse_loss(q1, y) + F.mse_loss(q2, y)")),
        ("3.5", smoothing()),
        ("3.7", agent()),
        ("3.7", agent(action=INLINE.format("batch.action.shape"))),
        ("3.7", agent(critic_step=BY_HAND.format("critic"), actor_step=BY_HAND.format("actor"))),
    ]:
        result = grade(exercise_id, right)
        assert result.passed, str(result)


# --- What values cannot show ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exercise_id", "written", "diagnosis"),
    [
        ("3.2", by_hand(init="start_small(self.l6)"), "last layers not small"),
        ("3.3", lambda *args: target()(*args).numpy(), "in numpy"),
        ("3.5", lambda *args: smoothing()(*args).requires_grad_(), "with gradient"),
    ],
)
def test_names_what_values_cannot_show(exercise_id, written, diagnosis):
    result = grade(exercise_id, written)
    assert result.diagnosis == diagnosis, str(result)


@pytest.mark.parametrize("exercise_id", ["3.3", "3.5"])
def test_what_is_made_for_a_target_is_of_no_use_in_inference_mode(exercise_id):
    reference = find(exercise_id).reference

    @torch.inference_mode()
    def made(*args):
        return reference(*args)

    assert grade(exercise_id, made).diagnosis == "in inference mode"


def test_a_target_that_is_wrong_has_its_name_with_or_without_gradient():
    def with_gradient(batch, next_action, critic, gamma):
        q1, q2 = critic(batch.next_obs, next_action)
        return batch.reward + gamma * (1 - batch.terminated) * torch.maximum(q1, q2)

    assert grade("3.3", with_gradient).diagnosis == "the higher of the two"
    assert grade("3.3", torch.no_grad()(with_gradient)).diagnosis == "the higher of the two"


# --- Chance ---------------------------------------------------------------------------------------


def after_other_draws(function, number):
    """The same function with other random numbers."""

    def later(actor, obs, target_noise, noise_clip, rng):
        rng.random(number)
        return function(actor, obs, target_noise, noise_clip, rng)

    return later


def test_chance_decides_about_no_smoothing():
    for number in range(1, 9):
        for right in (smoothed_target_action, *RIGHT_ANSWERS["3.5"]):
            result = grade("3.5", after_other_draws(right, number))
            assert result.passed, str(result)


@pytest.mark.parametrize("wrong", find("3.5").misconceptions, ids=lambda wrong: wrong.name)
def test_a_wrong_smoothing_has_its_name_whatever_it_draws(wrong):
    result = grade("3.5", after_other_draws(wrong.function, 7))
    assert result.diagnosis == wrong.name, str(result)


def test_chance_decides_about_no_update():
    for number in range(1, 13):

        def update(self, batch, number=number):
            self.rng.random(number)
            action = smoothed_target_action(
                self.target_actor, batch.next_obs, self.target_noise, self.noise_clip, self.rng
            )
            return _rest(self, batch, action)

        result = grade("3.7", type("TD3", (TD3,), {"update": update}))
        assert result.passed, str(result)


def test_a_mistake_in_the_noise_of_an_update_has_its_name_whatever_is_drawn():
    for number in range(1, 4):

        def exchanged(self, batch, number=number):
            self.rng.random(number)
            action = smoothed_target_action(
                self.target_actor, batch.next_obs, self.noise_clip, self.target_noise, self.rng
            )
            self.rng.random(number)
            return _rest(self, batch, action)

        wrong = type("TD3", (TD3,), {"update": exchanged})
        assert grade("3.7", wrong).diagnosis == "target_noise and noise_clip exchanged"


def _rest(self, batch, action):
    y = clipped_double_q_target(batch, action, self.target_critic, self.gamma)
    losses = {"critic_loss": twin_critic_loss(self.critic, batch, y)}
    gradient_step(self.critic_optimizer, losses["critic_loss"])
    if self.updates % self.policy_delay == 0:
        losses["actor_loss"] = actor_loss_by_q1(self.actor, self.critic, batch.obs)
        gradient_step(self.actor_optimizer, losses["actor_loss"])
        polyak_update(self.targets, self.online, self.tau)
    return losses


# --- The blanks, and the class as a notebook has it -----------------------------------------------


def test_the_class_is_not_started_as_long_as_its_update_is_not():
    class Stub(TD3):
        def update(self, batch):
            ...
            raise NotImplementedError("exercise 3.7")

    assert grade("3.7", Stub).status == "not started"


def test_only_part_of_the_twin_is_written_yet():
    class NoQ1(TwinQNetwork):
        def q1(self, obs, action):
            ...
            raise NotImplementedError("exercise 3.2")

    class NoForward(TwinQNetwork):
        def forward(self, obs, action):
            raise NotImplementedError("exercise 3.2")

    for stub, name in ((NoQ1, "q1"), (NoForward, "forward")):
        result = grade("3.2", stub)
        assert result.diagnosis == "unfinished"
        assert f"`{name}` still raises" in result.message


@pytest.mark.parametrize("twins", [TwinQNetwork, *RIGHT_ANSWERS["3.2"]])
def test_an_agent_with_any_twin_is_judged_by_its_update(twins):
    right = type("TD3", (TD3,), {"critic_class": twins})
    result = grade("3.7", right)
    assert result.passed, str(result)
    wrong = type("TD3", (agent(targets="pass"),), {"critic_class": twins})
    assert grade("3.7", wrong).diagnosis == "targets never move"


def test_an_agent_of_everybodys_own_functions_passes(monkeypatch):
    """As in a notebook, where the class calls what the student wrote."""
    names = {
        "3.3": "clipped_double_q_target", "3.4": "twin_critic_loss",
        "3.5": "smoothed_target_action", "3.6": "actor_loss_by_q1",
    }  # fmt: skip
    for exercise_id, name in names.items():
        for answer in RIGHT_ANSWERS[exercise_id]:
            with monkeypatch.context() as patch:
                patch.setattr(td3, name, answer)
                result = grade("3.7", type("TD3", (TD3,), {}))
            assert result.passed, f"{answer.__name__}: {result}"


def test_a_class_of_another_base_is_told_what_is_wrong():
    class Alone:
        def __init__(self, env, **settings):
            pass

        def update(self, batch):
            return {}

    result = grade("3.7", Alone)
    assert not result.passed
    assert not grade("3.7", OffPolicyAgent).passed  # abstract


def test_a_verdict_comes_without_warnings():
    for exercise in LESSON:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert grade(exercise.id, RIGHT_ANSWERS[exercise.id][0]).passed


# --- What passes can be trained with --------------------------------------------------------------


PIECES = [
    pytest.param(exercise, answer, id=f"{exercise.id} {answer.__name__}")
    for exercise in LESSON[1:]
    for answer in RIGHT_ANSWERS[exercise.id]
]


@pytest.mark.parametrize(("exercise", "answer"), PIECES)
def test_an_agent_learns_with_whatever_passes(exercise, answer, monkeypatch):
    """Some updates, with one piece replaced by somebody's own."""
    version = grade(exercise.id, answer).version
    kind = version if exercise.name == "TD3" else TD3
    if exercise.name == "TwinQNetwork":
        kind = type("TD3", (TD3,), {"critic_class": version})
    elif exercise.name != "TD3":
        monkeypatch.setattr(td3, exercise.name, version)
    trained = kind(
        "Pendulum-v1", seed=0, learning_starts=8, batch_size=8, hidden=8, buffer_size=20, tau=0.5
    )
    networks = (trained.actor, trained.critic, trained.target_actor, trained.target_critic)
    before = [[p.detach().clone() for p in network.parameters()] for network in networks]
    trained.learn(60)
    assert trained.updates >= 50
    assert "critic_loss" in trained.history
    for old, network in zip(before, networks, strict=True):
        for was, parameter in zip(old, network.parameters(), strict=True):
            assert torch.isfinite(parameter).all()
            assert not torch.equal(was, parameter)


# --- The texts ------------------------------------------------------------------------------------


def test_all_of_the_lesson_is_there():
    names = [exercise.name for exercise in LESSON]
    assert names == [
        "double_estimate", "TwinQNetwork", "clipped_double_q_target", "twin_critic_loss",
        "smoothed_target_action", "actor_loss_by_q1", "TD3",
    ]  # fmt: skip
    assert sum(len(exercise.misconceptions) for exercise in LESSON) >= 200


@pytest.mark.parametrize("exercise", LESSON, ids=lambda exercise: exercise.id)
def test_messages_are_plain_text_with_code(exercise):
    for entry in [*exercise.misconceptions, *exercise.properties]:
        prose = re.sub(r"`[^`]*`", "", entry.message)
        assert "*" not in prose, entry.name
        assert "$" not in prose, entry.name
        assert prose[-1] in ".`?!", entry.name


@pytest.mark.parametrize("exercise", LESSON, ids=lambda exercise: exercise.id)
def test_hints_and_messages_do_not_give_the_solution_away(exercise):
    secrets = giveaways(inspect.getsource(exercise.reference))
    texts = [*exercise.hints, exercise.card.what, exercise.card.why]
    texts += [entry.message for entry in [*exercise.misconceptions, *exercise.properties]]
    for text in texts:
        assert leak(secrets, text) is None, text
