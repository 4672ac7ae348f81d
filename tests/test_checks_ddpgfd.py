"""Lesson 04's checks of formulas and of the update name mistakes as students write them.

The exercises are judged themselves, not by their ids: these need no list of the lesson's exercises.
"""

import ast
import copy
import inspect
import json
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from right_answers_ddpgfd import RIGHT_ANSWERS_DDPGFD
from torch import nn
from torch.nn import functional as F

from helpers.agents import ddpg, ddpgfd
from helpers.agents.base import gradient_step
from helpers.agents.cloning import bc_loss
from helpers.agents.ddpg import polyak_update, td_target
from helpers.agents.ddpgfd import DDPGfD, n_step_target, priorities, weighted_critic_loss
from helpers.checks.cloning_loss import BC_LOSS
from helpers.checks.core import judge
from helpers.checks.ddpgfd_losses import N_STEP_TARGET, PRIORITIES, WEIGHTED_CRITIC_LOSS
from helpers.checks.ddpgfd_update import DDPGFD_UPDATE
from helpers.checks.demos_reading import RAISED, READ_EPISODES
from helpers.demos.files import ARRAYS, load_demos, read_episodes
from tools.sources import blank, definition, giveaways, leak

EXERCISES = [
    READ_EPISODES, BC_LOSS, PRIORITIES, WEIGHTED_CRITIC_LOSS, N_STEP_TARGET, DDPGFD_UPDATE,
]  # fmt: skip
BY_ID = {exercise.id: exercise for exercise in EXERCISES}
FILES = sorted(Path("data/demos").glob("*.npz"))


# --- As students write them -----------------------------------------------------------------------

LOOP = """episodes, start = [], 0
for i in range(len(done)):
    if done[i]:
        episodes.append({k: v[start:i + 1] for k, v in d.items()})
        start = i + 1
"""
SPLIT = """cuts = np.flatnonzero(done)[:-1] + 1
parts = {k: np.split(v, cuts) for k, v in d.items()}
episodes = [{k: p[i] for k, p in parts.items()} for i in range(len(cuts) + 1)]
"""


def reader(
    cut=LOOP,
    file="np.load(path)",
    text="json.loads(f['about'].item())",
    names="ARRAYS",
    done="np.logical_or(d['terminated'], d['truncated'])",
    result="about, episodes",
):
    """From the open file f; d are the arrays, done the flags put together."""
    scope = {"np": np, "json": json, "ast": ast, "pickle": pickle, "ARRAYS": ARRAYS}
    body = "\n".join(f"    {line}" for line in cut.splitlines())
    exec(
        f"def read_episodes(path):\n    f = {file}\n    with f:\n        about = {text}\n"
        f"        d = {{name: f[name] for name in {names}}}\n    done = {done}\n{body}\n"
        f"    return {result}",
        scope,
    )
    return scope["read_episodes"]


def never_closed(path):
    f = np.load(path)
    d = {k: f[k] for k in ARRAYS}
    cuts = np.flatnonzero(d["terminated"] | d["truncated"])[:-1] + 1
    parts = [np.split(v, cuts) for v in d.values()]
    return json.loads(str(f["about"])), [
        dict(zip(d, part, strict=True)) for part in zip(*parts, strict=True)
    ]


def swallows(path):
    try:
        return read_episodes(path)
    except ValueError as error:
        print("No episodes here:", error)
        return {}, []


def closed_too_early(path):
    with np.load(path) as f:
        about = json.loads(f["about"].item())
    return about, [{k: f[k] for k in ARRAYS}]


def cloned(expression):
    """From own and a, the actor's and the demonstrated action."""

    def bc_loss(actor, s, a):
        scope = {"own": actor(s), "s": s, "a": a, "actor": actor, "F": F, "torch": torch, "nn": nn}
        return eval(expression, scope)

    return bc_loss


def priority(expression):
    """d is the TD error, g the slope, demo, w, eps and bonus the rest."""
    names = ("d", "g", "demo", "w", "eps", "bonus")
    return lambda *args: eval(
        expression, {"torch": torch, "np": np} | dict(zip(names, args, strict=True))
    )


def loss(expression):
    """q and its targets y and yn, w the importance weights, k the n-step weight."""
    names = ("q", "y", "yn", "w", "k")
    return lambda *args: eval(expression, {"torch": torch, "F": F} | dict(zip(names, args)))  # noqa: B905


def target(formula="b.n_reward + b.n_discount * (1 - b.n_terminated) * q", ask="b.n_next_obs"):
    """b is the batch, q what the critic says of the actor's action in `ask`."""
    scope = {"torch": torch}
    exec(
        "@torch.no_grad()\ndef n_step_target(b, mu, critic):\n"
        f"    s = {ask}\n    a = mu(s)\n    q = critic(s, a)\n    return {formula}",
        scope,
    )
    return scope["n_step_target"]


STEP = "gradient_step(self.{0}_optimizer, {0}_loss)"
CRITIC_STEP, ACTOR_STEP = STEP.format("critic"), STEP.format("actor")
BY_HAND = "self.{0}_optimizer.zero_grad(); {0}_loss.backward(); self.{0}_optimizer.step()"
NOT_CLEARED = "{0}_loss.backward(); self.{0}_optimizer.step()"
WEIGHTED = "weighted_critic_loss(q, y, yn, batch.weights, self.n_step_weight)"
SLOPE = "torch.autograd.grad(q.sum(), a, retain_graph=True)[0]"


def agent(
    y="td_target(batch, *nets, self.gamma)",
    yn="n_step_target(batch, *nets)",
    ask="a = batch.action.requires_grad_(); q = self.critic(batch.obs, a)",
    slope=SLOPE,
    critic_loss="weighted_critic_loss(q, y, yn, batch.weights, self.n_step_weight)",
    critic_step=CRITIC_STEP,
    late="pass",
    actor_loss="ddpg.actor_loss(self.actor, self.critic, batch.obs)",
    actor_step=ACTOR_STEP,
    targets="polyak_update(self.targets, self.online, self.tau)",
    error="(q - y).detach()",
    numbers="self.gradient_weight, self.eps, self.demo_bonus",
    new="priorities(error, slope, batch.is_demo, *numbers)",
    renew="self.buffer.update_priorities(batch.indices, p)",
    result="{'critic_loss': critic_loss, 'actor_loss': actor_loss, 'demonstrations': "
    "batch.is_demo.mean()}",
):
    """DDPGfD from somebody's lines."""
    scope = {
        "torch": torch, "np": np, "F": F, "copy": copy, "gradient_step": gradient_step,
        "polyak_update": polyak_update, "td_target": td_target, "n_step_target": n_step_target,
        "priorities": priorities, "weighted_critic_loss": weighted_critic_loss,
        "ddpg": ddpg,
    }  # fmt: skip
    lines = [
        "nets = self.target_actor, self.target_critic", f"y = {y}", f"yn = {yn}", ask,
        f"slope = {slope}", f"critic_loss = {critic_loss}", critic_step, late,
        f"actor_loss = {actor_loss}", actor_step, targets,
        f"error, numbers = {error}, ({numbers})", f"p = {new}", renew, f"return {result}",
    ]  # fmt: skip
    exec("def update(self, batch):\n" + "\n".join(f"    {line}" for line in lines), scope)
    return type("DDPGfD", (DDPGfD,), {"update": scope["update"]})


# --- All of them ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exercise_id", "written", "diagnosis"),
    [
        ("4.1", reader(file="np.load(path, allow_pickle=True)"), "pickles allowed"),
        ("4.1", reader(SPLIT, file="np.load(path, None, True)"), "pickles allowed"),
        ("4.1", never_closed, "left open"),
        ("4.1", closed_too_early, "read when it is closed"),
        ("4.1", reader(text="eval(str(f['about']))"), "text run as code"),
        ("4.1", reader(text="eval(str(f['about']), dict(true=True, null=None))"),
         "text run as code that knows JSON's words"),
        ("4.1", reader(text="ast.literal_eval(str(f['about']))"), None),
        ("4.1", reader(text="str(f['about'])"), "text not parsed"),
        ("4.1", reader(SPLIT, text="f['about'][()]"), "text not parsed"),
        ("4.1", reader(text="f['about']"), "text still in its array"),
        ("4.1", reader(text="json.loads(f['about'])"), "array given to JSON"),
        ("4.1", reader(names="f"), "text among the arrays"),
        ("4.1", reader(names="f.keys()"), "text among the arrays"),
        ("4.1", reader(done="d['terminated']"), "ends at a termination only, the steps after"),
        ("4.1", reader("cuts = np.flatnonzero(done) + 1\ncuts = cuts[cuts < len(done)]\n"
                       + SPLIT.split("\n", 1)[1], done="d['terminated']"),
         "ends at a termination only"),
        ("4.1", reader(done="d['truncated']"), "ends at a time limit only, the steps after"),
        ("4.1", reader(done="np.logical_and(d['terminated'], d['truncated'])"),
         "ends where both flags are set, the steps after"),
        ("4.1", reader(done="d['terminated'] != d['truncated']"), "ends where one flag is set and"),
        ("4.1", reader(LOOP.replace("i + 1]", "i]")), "last steps lost"),
        ("4.1", reader(LOOP.replace("i + 1]", "i]").replace("start = i + 1", "start = i")),
         "last step begins the next episode, the very last one is lost"),
        ("4.1", reader(SPLIT.replace(" + 1\n", "\n")), "last step begins the next episode"),
        ("4.1", reader("cuts = np.flatnonzero(done)\n" + SPLIT.split("\n", 1)[1]),
         "last step begins the next episode, the very last one is alone"),
        ("4.1", swallows, "error swallowed"),
        ("4.1", reader(file="np.load('demos.npz')"), "always the same file"),
        ("4.1", reader(file="np.load('data/demos/sparse_pendulum.npz')"), "always the same file"),
        ("4.1", reader(done="d['terminated'] or d['truncated']"), "or for whole arrays"),
        ("4.1", reader("episodes = d"), "not split, nor in a list"),
        ("4.1", reader(SPLIT.replace("[:-1]", "")), "an empty one at the end"),
        ("4.1", reader(LOOP.replace("start = i + 1", "start = i")), "last steps in two episodes"),
        ("4.1", reader(LOOP.replace("start = i + 1", "start = i + 2")), "first steps lost"),
        ("4.1", reader(LOOP.replace("i + 1]", "i + 2]")), "first step of the next episode taken"),
        ("4.1", reader(LOOP.replace("        start = i + 1\n", "")), "each from the beginning"),
        ("4.1", reader(LOOP.replace("start:i + 1", "start:")), "each to the end of the file"),
        ("4.1", reader("episodes = [d]"), "not split"),
        ("4.1", reader(LOOP.replace("        start = ", "        return about, episodes\n")
                       .replace("episodes\ni + 1", "episodes")), "only the first episode"),
        ("4.1", reader(SPLIT.replace("range(len(cuts) + 1)", "range(len(cuts))")),
         "last episode missing"),
        ("4.1", reader(SPLIT.replace("range(len", "range(1, len")), "first episode missing"),
        ("4.1", reader("e, episodes, start = {}, [], 0\nfor i in np.flatnonzero(done):\n"
                       "    for k in d:\n        e[k] = d[k][start:i + 1]\n"
                       "    episodes.append(e)\n    start = i + 1"), "one dict for all episodes"),
        ("4.1", reader("n = int(done.sum())\nepisodes = [{k: np.array_split(v, n)[i] for k, v in "
                       "d.items()} for i in range(n)]"), "as many steps in each"),
        ("4.1", reader("start, episodes = 0, []\nfor n in about['lengths']:\n"
                       "    episodes.append({k: v[start:start + n] for k, v in d.items()})\n"
                       "    start += n"), "lengths taken from the text"),
        ("4.1", reader(LOOP + "episodes.sort(key=lambda e: len(e['obs']))"), "shortest first"),
        ("4.1", reader(LOOP + "episodes.sort(key=lambda e: np.sum(e['reward']), reverse=True)"),
         "best first"),
        ("4.1", reader(LOOP.replace("episodes.append(", "episodes.insert(0, ")),
         "last episode first"),
        ("4.1", reader(LOOP + "for e in episodes:\n    e['next_obs'] = d['next_obs']"),
         "next_obs not cut"),
        ("4.1", reader(LOOP + "for e in episodes:\n    del e['terminated'], e['truncated']"),
         "flags left out"),
        ("4.1", reader(names="ARRAYS[:4]", done="f['terminated'] | f['truncated']"),
         "read when it is closed"),
        ("4.1", reader("d['next_obs'] = np.concatenate([d['obs'][1:], d['obs'][:1]])\n" + LOOP),
         "next_obs made of obs"),
        ("4.1", reader(SPLIT + "episodes = parts"), "a dict of lists"),
        ("4.1", reader(LOOP.replace("{k: v[start:i + 1] for k, v in d.items()}",
                                    "tuple(v[start:i + 1] for v in d.values())")),
         "a tuple for each episode"),
        ("4.1", reader(LOOP.replace("{k: v[start:i + 1] for k, v in d.items()}",
                                    "[{k: v[j] for k, v in d.items()} for j in range(start, "
                                    "i + 1)]")), "a dict for each step"),
        ("4.1", reader(LOOP.replace("v[start:i + 1]", "v[start:i + 1].tolist()")), "no arrays"),
        ("4.1", reader(result="episodes, about"), "episodes first"),
        ("4.1", reader(result="episodes"), "episodes alone"),
        ("4.1", reader(result="about, map(dict, episodes)"), "a generator of episodes"),
        ("4.1", reader(result="about, (e for e in episodes)"), "a generator of episodes"),
        ("4.1", reader(result="None"), "no return"),
        ("4.2", cloned("F.mse_loss(actor(a), s)"), "the action as input"),
        ("4.2", cloned("F.mse_loss(actor(a), a)"), "the actor asked about the action"),
        ("4.2", cloned("(own - s).pow(2).mean()"), "against the observation"),
        ("4.2", cloned("((own.data - a) ** 2).mean()"), "values detached"),
        ("4.2", cloned("torch.square(own - a).mean().detach()"), "values detached"),
        ("4.2", cloned("float(F.mse_loss(own, a))"), "a plain number"),
        ("4.2", cloned("F.mse_loss((own + torch.randn(own.shape)).clamp(-1, 1), a)"), "noise on"),
        ("4.2", cloned("((own.tanh() - a) ** 2).mean()"), "a tanh too many"),
        ("4.2", cloned("((own - a.tanh()) ** 2).mean()"), "a tanh on what was demonstrated"),
        ("4.2", cloned("torch.mean((own - a)[:, 0] ** 2)"), "only the first dimension"),
        ("4.2", cloned("F.mse_loss(own[..., -1], a[..., -1])"), "only the last dimension"),
        ("4.2", cloned("F.mse_loss(own[0], a[0])"), "only the first step"),
        ("4.2", cloned("((own[:, None] - a[None]) ** 2).mean()"), "every action against every"),
        ("4.2", cloned("(own.squeeze(-1) - a).pow(2).mean()"), "an axis dropped"),
        ("4.2", cloned("F.mse_loss(own, a.squeeze(-1))"), "an axis dropped"),
        ("4.2", cloned("((own - a[:, 0]) ** 2).mean()"), "the first dimension of what was demon"),
        ("4.2", cloned("((own[:, 0] - a) ** 2).mean()"), "the first dimension of the actor's"),
        ("4.8", priority("d ^ 2 + w * (g**2).sum(1) + eps + bonus * demo"), "^ for a power"),
        ("4.2", cloned("(own - a).square().sum(-1).mean()"), "sum over the dimensions"),
        ("4.2", cloned("((own - a) ** 2).mean(1).sum()"), "mean over the dimensions, sum over"),
        ("4.2", cloned("F.mse_loss(own, a, reduction='sum')"), "sum instead of mean"),
        ("4.2", cloned("F.mse_loss(own, a, reduction='none')"), "no mean"),
        ("4.2", cloned("F.mse_loss(own, a, reduction='none').mean(-1)"), "one loss for each step"),
        ("4.2", cloned("((own - a) ** 2).mean(0)"), "one loss for each dimension"),
        ("4.2", cloned("torch.linalg.norm(own - a, dim=1).mean()"), "distance not squared"),
        ("4.2", cloned("((own - a) ** 2).sum(-1).sqrt().mean()"), "distance not squared"),
        ("4.2", cloned("((own - a) ** 2).mean() ** 0.5"), "root"),
        ("4.2", cloned("(own - a).abs().mean()"), "absolute difference"),
        ("4.2", cloned("nn.HuberLoss()(own, a)"), "smooth absolute difference"),
        ("4.2", cloned("0.5 * ((own - a) ** 2).mean()"), "half the squared difference"),
        ("4.2", cloned("(own - a).mean()"), "not squared"),
        ("4.2", cloned("torch.mean(own - a) ** 2"), "square of the mean"),
        ("4.2", cloned("F.mse_loss(own.mean(0), a.mean(0))"), "mean actions compared"),
        ("4.2", cloned("-F.mse_loss(own, a)"), "minus sign"),
        ("4.2", cloned("-torch.einsum('bi,bi->b', own, a).mean()"), "product, summed over the"),
        ("4.2", cloned("nn.CrossEntropyLoss()(own, a.argmax(1))"), "cross-entropy with the larges"),
        ("4.2", cloned("nn.MSELoss(own, a)"), "a class called as the function"),
        ("4.2", cloned("[loss := F.mse_loss(own, a), loss.backward()][0]"), "backward inside the"),
        ("4.2", cloned("F.mse_loss(own, a.sub_(0.5).add_(0.5).sub_(own.detach()).add_(own))"),
         None),
        ("4.8", priority("abs(d) + w * (g**2).sum(1) + eps + bonus * demo"), "absolute TD error"),
        ("4.8", priority("d + w * (g**2).sum(1) + eps + bonus * demo"), "TD error not squared"),
        ("4.8", priority("d**2 + w * g.pow(2).sum(1).sqrt() + eps + bonus * demo"),
         "length of the slope, not squared"),
        ("4.8", priority("d**2 + w * torch.linalg.norm(g, dim=-1) + eps + bonus * demo"),
         "length of the slope, not squared"),
        ("4.8", priority("d**2 + w * g.norm(p=1, dim=1) + eps + bonus * demo"), "absolute slopes"),
        ("4.8", priority("d**2 + w * g.sum(1) + eps + bonus * demo"), "slope not squared"),
        ("4.8", priority("d**2 + w * g.pow(2).mean(-1) + eps + bonus * demo"), "mean over the dim"),
        ("4.8", priority("d**2 + w * g.sum(1)**2 + eps + bonus * demo"), "sum squared"),
        ("4.8", priority("d**2 + w * g[:, 0]**2 + eps + bonus * demo"), "only the first dimension"),
        ("4.8", priority("d**2 + w * g.squeeze(-1)**2 + eps + bonus * demo"), "shape"),
        ("4.8", priority("d**2 + w * g.abs().max(1).values**2 + eps + bonus * demo"),
         "only the steepest dimension"),
        ("4.8", priority("d**2 + w * g.norm()**2 + eps + bonus * demo"), "slope of the whole batc"),
        ("4.8", priority("d**2 + w * (g**2).mean() + eps + bonus * demo"), "mean of all squares"),
        ("4.8", priority("d**2 + w * (g**2).sum(0) + eps + bonus * demo"), "added along the batch"),
        ("4.8", priority("d**2 + w * g**2 + eps + bonus * demo"), "slope not added up, broadcast"),
        ("4.8", priority("d.unsqueeze(1)**2 + w * g**2 + eps + bonus * demo.unsqueeze(1)"),
         "slope not added up"),
        ("4.8", priority("d**2 + w * (g**2).sum(-1, keepdims=True) + eps + bonus * demo"),
         "an axis kept"),
        ("4.8", priority("d**2 + (g**2).sum(1) + eps + bonus * demo"), "weight missing"),
        ("4.8", priority("d**2 + ((w * g)**2).sum(1) + eps + bonus * demo"), "weight squared"),
        ("4.8", priority("w * d**2 + (g**2).sum(1) + eps + bonus * demo"), "the weight on the TD"),
        ("4.8", priority("w * (d**2 + (g**2).sum(1)) + eps + bonus * demo"), "TD error weighted"),
        ("4.8", priority("d**2 + eps + bonus * demo"), "slope left out"),
        ("4.8", priority("d**2 + w * (g**2).sum(1) + bonus * demo"), "eps missing"),
        ("4.8", priority("d**2 + w * (g**2).sum(1) + eps"), "bonus missing"),
        ("4.8", priority("d**2 + w * (g**2).sum(1)"), "neither of them"),
        ("4.8", priority("d**2 + w * (g**2).sum(1) + eps + bonus"), "bonus for all"),
        ("4.8", priority("d**2 + w * (g**2).sum(1) + (eps + bonus) * demo"), "eps for demonstrat"),
        ("4.8", priority("d**2 + w * (g**2).sum(1) + eps * (1 - demo) + bonus * demo"),
         "eps or bonus"),
        ("4.8", priority("d**2 + w * (g**2).sum(1) + eps + bonus * (demo == 0)"),
         "bonus for the agent's own steps"),
        ("4.8", priority("(d**2 + w * (g**2).sum(1) + eps) * (1 + bonus * demo)"),
         "bonus multiplied"),
        ("4.8", priority("(d**2 + w * (g**2).sum(1) + eps) * bonus * demo"), "times bonus and is"),
        ("4.8", priority("torch.clamp(d**2 + w * (g**2).sum(1), eps) + bonus * demo"),
         "eps as a floor"),
        ("4.8", priority("d**2 + w * ((g**2).sum(1) + eps + bonus * demo)"), "eps and bonus weigh"),
        ("4.8", priority("d**2 + w * (g**2).sum(1) + eps + (bonus if demo else 0)"),
         "an if for the whole batch"),
        ("4.8", priority("torch.sqrt(d**2 + w * (g**2).sum(1) + eps + bonus * demo)"),
         "root of it all"),
        ("4.8", priority("(d**2 + w * (g**2).sum(1) + eps + bonus * demo).mean()"),
         "one for the batch"),
        ("4.8", priority("(d**2 + w * (g**2).sum(1) + eps + bonus * demo)[:, None]"), "a column"),
        ("4.8", priority("d.square_() + w * (g**2).sum(1) + eps + bonus * demo"),
         "errors squared in place"),
        ("4.11", loss("((q - y)**2 + k * (q - yn)**2).mean()"), "weights missing"),
        ("4.11", loss("((w * (q - y))**2 + k * (w * (q - yn))**2).mean()"), "weights squared"),
        ("4.11", loss("(w * (q - y)**2).mean() + k * F.mse_loss(q, yn)"), "weights on the one-ste"),
        ("4.11", loss("F.mse_loss(q, y) + k * (w * (q - yn)**2).mean()"), "weights on the n-step"),
        ("4.11", loss("w * (F.mse_loss(q, y) + k * F.mse_loss(q, yn))"), "mean before the weights"),
        ("4.11", loss("(w * F.mse_loss(q, y)).mean() + k * (w * F.mse_loss(q, yn)).mean()"),
         "mean of the weights outside"),
        ("4.11", loss("(w[:, None] * ((q - y)**2 + k * (q - yn)**2)).mean()"), "mean of the weigh"),
        ("4.11", loss("(w / w.sum() * ((q - y)**2 + k * (q - yn)**2)).sum()"), "divided by the su"),
        ("4.11", loss("(w / w.mean() * ((q - y)**2 + k * (q - yn)**2)).mean()"), "divided by the"),
        ("4.11", loss("(w / max(w) * ((q - y)**2 + k * (q - yn)**2)).mean()"), "weights divided b"),
        ("4.11", loss("(w * (q - y)**2 + w * (q - yn)**2).mean()"), "lambda_1 missing"),
        ("4.11", loss("(w * (k * (q - y)**2 + (q - yn)**2)).mean()"), "lambda_1 on the one-step"),
        ("4.11", loss("k * (w * ((q - y)**2 + (q - yn)**2)).mean()"), "lambda_1 on both"),
        ("4.11", loss("(w * ((q - y)**2 + (k * (q - yn))**2)).mean()"), "lambda_1 squared"),
        ("4.11", loss("(w * torch.lerp((q - y)**2, (q - yn)**2, k)).mean()"), "a share of each"),
        ("4.11", loss("(w * (q - y)**2).mean()"), "only one step ahead"),
        ("4.11", loss("(w * k * (q - yn)**2).mean()"), "only n steps ahead"),
        ("4.11", loss("(w * (q - yn)**2).mean()"), "only n steps ahead, in full"),
        ("4.11", loss("(w * (q - y - k * yn)**2).mean()"), "targets added"),
        ("4.11", loss("(w * (q - (y + k * yn) / (1 + k))**2).mean()"), "targets mixed"),
        ("4.11", loss("(w * ((q - y) + k * (q - yn))**2).mean()"), "differences added"),
        ("4.11", loss("(w * ((q - y)**2 + k * (yn - y)**2)).mean()"), "target against target"),
        ("4.11", loss("(w * (abs(q - y) + k * abs(q - yn))).mean()"), "absolute errors"),
        ("4.11", loss("(w * (q - y + k * (q - yn))).mean()"), "not squared"),
        ("4.11", loss("0.5 * (w * ((q - y)**2 + k * (q - yn)**2)).mean()"), "half the squared"),
        ("4.11", loss("w @ ((q - y)**2 + k * (q - yn)**2)"), "sum instead of mean"),
        ("4.11", loss("w * ((q - y)**2 + k * (q - yn)**2)"), "no mean"),
        ("4.11", loss("[(w * (q - y)**2).mean(), k * (w * (q - yn)**2).mean()]"), "a pair of loss"),
        ("4.11", loss("((w * ((q - y)**2 + k * (q - yn)**2)).mean())**0.5"), "root"),
        ("4.11", loss("(w * ((q.detach() - y)**2 + k * (q.detach() - yn)**2)).mean()"),
         "values detached"),
        ("4.11", loss("(w * ((q - y)**2 + k * (q.detach() - yn)**2)).mean()"), "n-step error deta"),
        ("4.11", loss("(w * ((q - y)**2 + k * (q - yn)**2)).mean().item()"), "a plain number"),
        ("4.11", loss("w.multiply_((q - y)**2 + k * (q - yn)**2).mean()"), "written into the weig"),
        ("4.10", target("b.reward + b.n_discount * (1 - b.n_terminated) * q"), "reward of the fir"),
        ("4.10", target("b.reward + b.n_reward + b.n_discount * (1 - b.n_terminated) * q"),
         "first reward twice"),
        ("4.10", target("b.n_discount * (b.n_reward + (1 - b.n_terminated) * q)"),
         "rewards discounted again"),
        ("4.10", target("(1 - b.n_terminated) * (b.n_reward + b.n_discount * q)"), "rewards maske"),
        ("4.10", target("b.n_discount * (1 - b.n_terminated) * q"), "rewards missing"),
        ("4.10", target("b.n_reward"), "rewards alone"),
        ("4.10", target("b.weights * (b.n_reward + b.n_discount * (1 - b.n_terminated) * q)"),
         "importance weights in the target"),
        ("4.10", target("b.n_reward + (1 - b.n_terminated) * q"), "no discount"),
        ("4.10", target("b.n_reward + b.n_discount.pow(2) * (1 - b.n_terminated) * q"),
         "discount squared"),
        ("4.10", target("b.n_reward + b.n_discount ** 10 * (1 - b.n_terminated) * q"),
         "discount to the power of ten"),
        ("4.10", target("b.n_reward + 0.99 * (1 - b.n_terminated) * q"), "always 0.99"),
        ("4.10", target("b.n_reward + 0.99 ** 10 * (1 - b.n_terminated) * q"),
         "always 0.99 to the power of ten"),
        ("4.10", target("b.n_reward + b.n_discount * (1 - b.terminated) * q"), "end of the first"),
        ("4.10", target("b.n_reward + b.n_discount * (1 - b.truncated) * q"), "truncated in place"),
        ("4.10", target("b.n_reward + b.n_discount * (1 - torch.maximum(b.n_terminated, "
                        "b.truncated)) * q"), "truncation taken for termination"),
        ("4.10", target("b.n_reward + b.n_discount * q"), "no mask"),
        ("4.10", target("b.n_reward + b.n_discount * b.n_terminated * q"), "mask inverted"),
        ("4.10", target("b.n_reward + b.n_discount * ~b.n_terminated * q"), "inverts with a tilde"),
        ("4.10", target("b.n_reward + b.n_discount * (not b.n_terminated) * q"),
         "an if for the whole batch"),
        ("4.10", target(ask="b.next_obs"), "one step ahead"),
        ("4.10", target("b.n_reward + b.n_discount * (1 - b.terminated) * q", "b.next_obs"),
         "one step ahead, with its end"),
        ("4.10", target("b.reward + b.n_discount * (1 - b.terminated) * q", "b.next_obs"),
         "the one-step target"),
        ("4.10", target(ask="b.obs"), "the present observation"),
        ("4.10", target("b.n_reward + b.n_discount * (1 - b.n_terminated) * "
                        "critic(b.n_next_obs, mu(b.next_obs))"), "the actor asked one step ahead"),
        ("4.10", target("b.n_reward + b.n_discount * (1 - b.n_terminated) * critic(b.next_obs, a)"),
         "the critic asked one step ahead"),
        ("4.10", target("b.n_reward + b.n_discount * (1 - b.n_terminated) * critic(s, b.action)"),
         "the action of the batch"),
        ("4.10", target("b.n_reward + b.n_discount * (1 - b.n_terminated) * "
                        "critic(b.obs, b.action)"), "the step itself"),
        ("4.10", target("b.n_reward + b.n_discount * (1 - b.n_terminated) * critic(a, s)"),
         "arguments of the critic exchanged"),
        ("4.10", target("b.n_reward - b.n_discount * (1 - b.n_terminated) * q"), "future subtract"),
        ("4.10", target("(b.n_reward + b.n_discount * (1 - b.n_terminated) * q)[:, None]"),
         "a column"),
        ("4.10", target("b.n_reward[:, None] + b.n_discount * (1 - b.n_terminated) * q"),
         "every reward with every future"),
        ("4.10", target("(b.n_reward + b.n_discount * (1 - b.n_terminated) * q).mean()"),
         "averaged over the batch"),
        ("4.10", target("b.n_reward.add_(b.n_discount * (1 - b.n_terminated) * q)"),
         "added to the rewards in place"),
        ("4.10", target("(b.n_reward + b.n_discount * (1 - b.n_terminated) * q).numpy()"),
         "in numpy"),
        ("4.12", agent(yn="n_step_target(batch, self.actor, self.critic)"),
         "n-step target from the online networks"),
        ("4.12", agent(y="td_target(batch, self.actor, self.critic, self.gamma)"),
         "one-step target from the online networks"),
        ("4.12", agent(y="td_target(batch, self.actor, self.critic, self.gamma)",
                       yn="n_step_target(batch, self.actor, self.critic)"), "both targets from"),
        ("4.12", agent(yn="y"), "one-step target twice"),
        ("4.12", agent(y="n_step_target(batch, *nets)"), "n-step target twice"),
        ("4.12", agent(y="td_target(batch, *nets, 1)"), "gamma of 1"),
        ("4.12", agent(y="td_target(batch, *nets, 0.99)"), "gamma always 0.99"),
        ("4.12", agent(y="td_target(batch, *nets, self.tau)"), "tau and gamma mixed up"),
        ("4.12", agent(critic_loss="weighted_critic_loss(q, yn, y, batch.weights, "
                       "self.n_step_weight)"), "targets exchanged"),
        ("4.12", agent(critic_loss="F.mse_loss(q, y) + self.n_step_weight * F.mse_loss(q, yn)"),
         "weights forgotten"),
        ("4.12", agent(critic_loss="ddpg.critic_loss(self.critic, batch, y)"), "lesson 02's loss"),
        ("4.12", agent(critic_loss="(batch.weights * (q - y) ** 2).mean()"), "n-step error left o"),
        ("4.12", agent(critic_loss="weighted_critic_loss(q, y, yn, batch.weights, 1.0)"),
         "n-step error in full"),
        ("4.12", agent(critic_loss="weighted_critic_loss(q, y, yn, batch.weights, "
                       "self.gradient_weight)"), "gradient_weight for the n-step error"),
        ("4.12", agent(slope="q.detach()[:, None]"), "Q in place of its slope"),
        ("4.12", agent(slope="q.detach().reshape(-1, 1)"), "Q in place of its slope"),
        ("4.12", agent(slope=SLOPE.replace("sum", "mean")), "slope of the mean"),
        ("4.12", agent(slope="torch.autograd.grad(F.mse_loss(q, y), a, retain_graph=True)[0]"),
         "slope of the loss"),
        ("4.12", agent(slope="torch.autograd.grad(weighted_critic_loss(q, y, yn, batch.weights, "
                       "self.n_step_weight), a, retain_graph=True)[0]"), "slope of the weighted"),
        ("4.12", agent(slope="None", critic_step=BY_HAND.format("critic"),
                       new="priorities(error, a.grad, batch.is_demo, *numbers)"),
         "slope of the weighted loss"),
        ("4.12", agent(ask="a = self.actor(batch.obs).detach().requires_grad_(); "
                       "q = self.critic(batch.obs, batch.action)",
                       slope="torch.autograd.grad(self.critic(batch.obs, a).sum(), a)[0]"),
         "slope at the actor's action"),
        ("4.12", agent(slope="torch.autograd.grad(self.target_critic(batch.obs, a).sum(), a)[0]"),
         "slope of the target critic"),
        ("4.12", agent(ask="a = batch.obs.requires_grad_(); q = self.critic(a, batch.action)"),
         "slope over observations"),
        ("4.12", agent(late="slope = torch.autograd.grad(self.critic(batch.obs, a).sum(), a)[0]"),
         "only the slope after the critic's step"),
        ("4.12", agent(late="q = self.critic(batch.obs, a); slope = " + SLOPE),
         "slope after the critic's step"),
        ("4.12", agent(late="q = self.critic(batch.obs, batch.action)"),
         "error after the critic's step"),
        ("4.12", agent(late="slope = " + SLOPE, slope="None"), "graph used up"),
        ("4.12", agent(slope="torch.autograd.grad(q.sum(), a)[0]"), "graph used up"),
        ("4.12", agent(slope="[q.sum().backward(), a.grad][1]"), "graph used up"),
        ("4.12", agent(ask="a = batch.action; q = self.critic(batch.obs, a)"),
         "action that needs no gradient"),
        ("4.12", agent(ask="q = self.critic(batch.obs, batch.action); "
                       "a = batch.action.requires_grad_()"),
         "gradient with respect to something else"),
        ("4.12", agent(slope="torch.autograd.grad(q, a, retain_graph=True)[0]"),
         "slope of all values without a sum"),
        ("4.12", agent(slope=SLOPE.removesuffix("[0]")), "slope still in its tuple"),
        ("4.12", agent(slope="[self.critic_optimizer.zero_grad(), "
                       "q.sum().backward(retain_graph=True), a.grad.clone()][2]",
                       critic_step=NOT_CLEARED.format("critic")),
         "slope's gradient left in the critic"),
        ("4.12", agent(late="self.updates += 1"), "updates counted twice"),
        ("4.12", agent(critic_loss="weighted_critic_loss(q, yn, yn, batch.weights, "
                       "self.n_step_weight)"), "n-step target twice in the loss"),
        ("4.12", agent(critic_loss=WEIGHTED.replace("self.n_step_weight", "0.5")),
         "n-step error as usual"),
        ("4.12", agent(numbers="self.gradient_weight, 1e-3, self.demo_bonus"), "eps as usual"),
        ("4.12", agent(numbers="self.gradient_weight, self.eps, 1.0"), "demo_bonus as usual"),
        ("4.12", agent(numbers="1.0, self.eps, self.demo_bonus"), "gradient_weight as usual"),
        ("4.12", agent(numbers="self.gradient_weight, 1e-3, 1.0"), "eps and demo_bonus as usual"),
        ("4.12", agent(critic_loss=WEIGHTED.replace("self.n_step_weight", "0.5"),
                       numbers="1.0, 1e-3, 1.0"), "all numbers as usual"),
        ("4.12", agent(critic_loss=WEIGHTED + " + 1e-5 * sum((w**2).sum() for w in "
                       "self.critic.parameters())"), "weight decay once more, by the usual number"),
        ("4.12", agent(late="polyak_update(self.targets, self.online, self.tau)"),
         "targets twice, before and after the actor's step"),
        ("4.12", agent(result="{'critic_loss': actor_loss, 'actor_loss': critic_loss, "
                       "'demonstrations': batch.is_demo.mean()}"), "losses exchanged"),
        ("4.12", agent(renew="pass"), "priorities never renewed"),
        ("4.12", agent(new="error.abs() + self.eps"), "absolute TD error"),
        ("4.12", agent(error="((q - y) ** 2).detach()"), "squared before it is handed over"),
        ("4.12", agent(error="(q - yn).detach()"), "n-step error in the priority"),
        ("4.12", agent(error="(batch.weights * (q - y)).detach()"), "weighted error in the priori"),
        ("4.12", agent(error="q.detach()"), "Q without the target"),
        ("4.12", agent(error="q - y"), "priority with gradient"),
        ("4.12", agent(new="priorities(error, slope, 1 - batch.is_demo, *numbers)"),
         "the agent's own steps as demonstrations"),
        ("4.12", agent(new="priorities(error, slope, batch.weights, *numbers)"), "weights in plac"),
        ("4.12", agent(new="batch.weights * priorities(error, slope, batch.is_demo, *numbers)"),
         "priorities weighted"),
        ("4.12", agent(numbers="self.gradient_weight, self.demo_bonus, self.eps"),
         "eps and demo_bonus exchanged"),
        ("4.12", agent(numbers="self.n_step_weight, self.eps, self.demo_bonus"), "n_step_weight f"),
        ("4.12", agent(renew="self.buffer.update_priorities(range(len(p)), p)"), "the first place"),
        ("4.12", agent(renew="self.buffer.update_priorities(p, batch.indices)"),
         "indices and priorities exchanged"),
        ("4.12", agent(renew="self.buffer.sums[batch.indices] = p"), "around the memory's checks"),
        ("4.12", agent(critic_step="pass"), "critic never steps"),
        ("4.12", agent(actor_step="pass"), "actor never steps"),
        ("4.12", agent(critic_step=CRITIC_STEP.replace("critic_opt", "actor_opt")),
         "gradient with respect to something else"),
        ("4.12", agent(actor_loss="ddpg.actor_loss(self.target_actor, self.critic, batch.obs)"),
         "gradient with respect to something else"),
        ("4.12", agent(actor_step=ACTOR_STEP.replace("actor_opt", "critic_opt")),
         "the critic's optimiser for the actor"),
        ("4.12", agent(critic_step=NOT_CLEARED.format("critic"),
                       actor_step=NOT_CLEARED.format("actor")), "gradients never cleared"),
        ("4.12", agent(critic_step=NOT_CLEARED.format("critic"),
                       actor_step=BY_HAND.format("actor")), "the critic's gradients never cleared"),
        ("4.12", agent(actor_step=NOT_CLEARED.format("actor")), "the actor's gradients never"),
        ("4.12", agent(actor_loss="ddpg.actor_loss(self.actor, self.target_critic, batch.obs)"),
         "by the target critic"),
        ("4.12", agent(actor_loss="ddpg.actor_loss(self.actor, self.critic, batch.next_obs)"),
         "the next observations"),
        ("4.12", agent(actor_loss="-(batch.weights * self.critic(batch.obs, "
                       "self.actor(batch.obs))).mean()"), "weights on the actor's loss"),
        ("4.12", agent(actor_loss="ddpg.actor_loss(self.actor, self.critic, batch.obs) + "
                       "F.mse_loss(self.actor(batch.obs), batch.action)"), "imitation on top"),
        ("4.12", agent(actor_step="self.critic.requires_grad_(False); " + ACTOR_STEP),
         "critic left frozen"),
        ("4.12", agent(targets="pass"), "targets never move"),
        ("4.12", agent(targets="polyak_update(self.target_critic.parameters(), "
                       "self.critic.parameters(), self.tau)"), "only the critic's target"),
        ("4.12", agent(targets="polyak_update(self.online, self.targets, self.tau)"),
         "online and targets exchanged"),
        ("4.12", agent(targets="polyak_update(self.targets, self.online, 1 - self.tau)"),
         "1 - tau"),
        ("4.12", agent(targets="self.target_actor.load_state_dict(self.actor.state_dict()); "
                       "self.target_critic.load_state_dict(self.critic.state_dict())"), "copied"),
        ("4.12", agent(targets="self.target_critic = copy.deepcopy(self.critic); "
                       "self.target_actor = copy.deepcopy(self.actor)"), "copied"),
        ("4.12", agent(targets="self.target_actor, self.target_critic = self.actor, self.critic"),
         "one network under two names"),
        ("4.12", agent(actor_step="pass", targets="polyak_update(self.targets, self.online, "
                       "self.tau); " + ACTOR_STEP), "targets before the actor's step"),
        ("4.12", agent(result="None"), "nothing returned"),
        ("4.12", agent(result="{'critic_loss': critic_loss, 'actor_loss': actor_loss}"),
         "demonstrations not returned"),
        ("4.12", agent(result="critic_loss, actor_loss, batch.is_demo.mean()"), "a tuple"),
        ("4.12", agent(result="{'critic_loss': critic_loss.item(), 'actor_loss': actor_loss.item(),"
                       " 'demonstrations': batch.is_demo.mean().item()}"), "plain numbers"),
        ("4.12", agent(result="{'critic_loss': critic_loss, 'actor_loss': actor_loss, "
                       "'demonstrations': batch.is_demo.sum()}"), "number of demonstrations"),
        ("4.12", agent(result="{'critic_loss': critic_loss, 'actor_loss': actor_loss, "
                       "'demonstrations': batch.is_demo}"), "is_demo itself"),
        ("4.12", agent(result="{'q_loss': critic_loss, 'actor_loss': actor_loss, "
                       "'demonstrations': batch.is_demo.mean()}"), "critic's loss not returned"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Using a target size", "ignore:.*creating a graph")
@pytest.mark.filterwarnings("ignore:size_average", "ignore:Converting a tensor with requires_grad")
def test_names_mistakes_as_students_write_them(exercise_id, written, diagnosis):
    result = judge(BY_ID[exercise_id], written)
    assert not result.passed
    if diagnosis is None:  # no name, but the case is shown, or the error told
        assert result.diagnosis in (None, "error", "other type", "missing part", "unusable output")
    else:
        assert str(result.diagnosis).startswith(diagnosis), str(result)


def test_what_these_are_made_from_is_right_as_it_stands():
    """So that each mistake above is the one that it says, and no other."""
    for exercise, right in [
        (READ_EPISODES, reader()),
        (READ_EPISODES, reader(SPLIT)),
        (BC_LOSS, cloned("F.mse_loss(own, a)")),
        (PRIORITIES, priority("d**2 + w * (g**2).sum(1) + eps + bonus * demo")),
        (WEIGHTED_CRITIC_LOSS, loss("(w * ((q - y)**2 + k * (q - yn)**2)).mean()")),
        (N_STEP_TARGET, target()),
        (DDPGFD_UPDATE, agent()),
        (DDPGFD_UPDATE, agent(critic_step=BY_HAND.format("critic"),
                              actor_step=BY_HAND.format("actor"))),
    ]:  # fmt: skip
        result = judge(exercise, right)
        assert result.passed, str(result)


# --- What values cannot show ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exercise", "written", "diagnosis"),
    [
        (N_STEP_TARGET, lambda *args: target()(*args).requires_grad_(), "with gradient"),
        (N_STEP_TARGET, torch.inference_mode()(n_step_target.__wrapped__), "in inference mode"),
        (BC_LOSS, lambda actor, s, a: bc_loss(actor.requires_grad_(False), s, a),
         "actor left frozen"),
    ],
)  # fmt: skip
def test_names_what_values_cannot_show(exercise, written, diagnosis):
    result = judge(exercise, written)
    assert result.diagnosis == diagnosis, str(result)


@pytest.mark.parametrize(
    "written",
    [
        reader(file="np.load(path, allow_pickle=True)"),
        reader(text="eval(str(f['about']), dict(true=True, null=None))"),
    ],
)
def test_what_a_reader_must_not_run_raises_a_flag_and_no_more(written):
    """The files are a danger to nobody; and whoever trusts one is seen."""
    rng, trusted = np.random.default_rng(0), []
    for entry in READ_EPISODES.properties:
        assert entry.test(read_episodes, rng), entry.name
        assert RAISED == []
        if not entry.test(written, rng):
            trusted += [(entry.name, *RAISED)]
        RAISED.clear()
    ((_, raised),) = trusted
    assert raised == "code from the file was run"


def test_whoever_runs_code_and_refuses_the_file_afterwards_has_run_it():
    def too_late(path):
        with np.load(path, allow_pickle=True) as file:
            arrays = {name: file[name] for name in file.files}
        assert all(array.dtype != object for array in arrays.values())
        return read_episodes(path)

    assert judge(READ_EPISODES, too_late).diagnosis == "pickles allowed"


@pytest.mark.parametrize("answer", [read_episodes, *RIGHT_ANSWERS_DDPGFD["4.1"]])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_reader_reads_the_courses_own_files(answer, path):
    about, episodes = answer(path)
    demos = load_demos(path)
    assert about["env_id"] == demos.env_id
    assert len(episodes) == len(demos.episodes)
    for episode, rows in zip(episodes, demos.episodes, strict=True):
        assert sorted(episode) == sorted(ARRAYS)
        for name in ARRAYS:
            np.testing.assert_array_equal(episode[name], getattr(demos, name)[rows])


def test_there_are_files_of_the_courses_own():
    assert FILES


# --- The blanks, and the class as a notebook has it -----------------------------------------------


def test_the_class_is_not_started_as_long_as_its_update_is_not():
    class Stub(DDPGfD):
        def update(self, batch):
            ...
            raise NotImplementedError("exercise 4.12")

    assert judge(DDPGFD_UPDATE, Stub).status == "not started"


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_the_blank_says_what_to_do_and_not_how(exercise):
    spec = f"{exercise.reference.__module__}:{exercise.reference.__qualname__}"
    source = definition(Path("."), spec)
    stub = blank(source, exercise.id)
    assert leak(giveaways(source), stub) is None
    assert stub.count(f'raise NotImplementedError("exercise {exercise.id}")') == 1
    steps = [int(n) for n in re.findall(r"(?m)^\s*# (\d+)\. ", stub)]
    assert steps == list(range(1, len(steps) + 1))
    assert len(steps) >= 2
    # Between two comments there is something to write, and nothing but it.
    body = stub.split("# 1. ")[1]
    assert body.count("...") == len(steps)


def test_an_agent_of_everybodys_own_functions_passes(monkeypatch):
    """As in a notebook, where the class calls what the student wrote."""
    names = {"4.8": "priorities", "4.11": "weighted_critic_loss", "4.10": "n_step_target"}
    for exercise_id, name in names.items():
        for answer in RIGHT_ANSWERS_DDPGFD[exercise_id]:
            with monkeypatch.context() as patch:
                patch.setattr(ddpgfd, name, answer)
                result = judge(DDPGFD_UPDATE, type("DDPGfD", (DDPGfD,), {}))
            assert result.passed, f"{answer.__name__}: {result}"


def test_a_verdict_comes_without_warnings():
    for exercise in EXERCISES:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert judge(exercise, RIGHT_ANSWERS_DDPGFD[exercise.id][0]).passed


# --- What passes can be trained with --------------------------------------------------------------


PIECES = [
    pytest.param(exercise, answer, id=f"{exercise.id} {answer.__name__}")
    for exercise in EXERCISES[2:]
    for answer in RIGHT_ANSWERS_DDPGFD[exercise.id]
]


@pytest.mark.parametrize(("exercise", "answer"), PIECES)
def test_an_agent_learns_with_whatever_passes(exercise, answer, monkeypatch):
    """Some updates, with one piece replaced by somebody's own."""
    result = judge(exercise, answer)
    assert result.passed, str(result)
    kind = result.version if exercise.name == "DDPGfD" else DDPGfD
    if exercise.name != "DDPGfD":
        monkeypatch.setattr(ddpgfd, exercise.name, result.version)
    trained = kind(
        "SparsePendulum-v0", seed=0, pretraining=20, learning_starts=8, batch_size=8, hidden=8,
        buffer_size=1100, tau=0.5,
    ).remember(load_demos("data/demos/sparse_pendulum.npz"))  # fmt: skip
    networks = (trained.actor, trained.critic, trained.target_actor, trained.target_critic)
    before = [[p.detach().clone() for p in network.parameters()] for network in networks]
    trained.learn(40)
    assert trained.updates >= 50
    assert {"critic_loss", "actor_loss", "demonstrations"} <= set(trained.history)
    assert len(np.unique(trained.buffer.sums.leaves)) > 50
    for old, network in zip(before, networks, strict=True):
        for was, parameter in zip(old, network.parameters(), strict=True):
            assert torch.isfinite(parameter).all()
            assert not torch.equal(was, parameter)


# --- The texts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_messages_are_plain_text_with_code(exercise):
    for entry in [*exercise.misconceptions, *exercise.properties]:
        prose = re.sub(r"`[^`]*`", "", entry.message)
        assert "*" not in prose, entry.name
        assert "$" not in prose, entry.name
        assert prose[-1] in ".`?!", entry.name


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_hints_and_messages_do_not_give_the_solution_away(exercise):
    secrets = giveaways(inspect.getsource(exercise.reference))
    assert secrets
    texts = [*exercise.hints, exercise.card.what, exercise.card.why]
    texts += [entry.message for entry in [*exercise.misconceptions, *exercise.properties]]
    for text in texts:
        assert leak(secrets, text) is None, text
