"""Lesson 01's policies: exercises 1.2 `log_prob`, 1.9 `entropy` and 1.10 `gaussian_log_prob`.

Each is seen by its values and by the gradients that a loss would send back through them.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch.distributions import Categorical, Normal
from torch.nn import functional as F

from helpers.agents.policies import entropy, gaussian_log_prob, log_prob
from helpers.checks.exercise import Card, Case, Exercise, Misconception
from helpers.checks.observing import gradient

LOG_2PI = math.log(2 * math.pi)
NO_NUMPY = (
    "numpy knows nothing of gradients, and here one has to flow back into the network. Stay in "
    "torch: its functions have nearly the same names, and there is no need to convert."
)


def parameter(values) -> torch.Tensor:
    """A float32 tensor that collects a gradient."""
    return torch.tensor(np.asarray(values), dtype=torch.float32, requires_grad=True)


# --- 1.2 log_prob ---------------------------------------------------------------------------------


def observe_log_prob(function, logits, actions):
    """The function gets a clone: in a lesson, too, the logits come out of a network."""
    output = function(logits.clone(), actions)
    return {"output": output, "gradient to the logits": gradient(output, logits)}


def log_prob_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((parameter([[1.0, 0.0]]), torch.tensor([1])), note="batch of one"),
        Case(
            (parameter([[0.5, 2.0, 1.0], [3.0, 0.1, 0.4]]), torch.tensor([2, 0])),
            note="two states, three actions",
        ),
        Case(
            (parameter(rng.normal(size=(3, 3))), torch.tensor([2, 0, 0])),
            note="as many states as actions",
        ),
        Case((parameter(rng.normal(size=(6, 4))), torch.tensor([0, 3, 1, 1, 2, 3]))),
        Case(
            (parameter([[100.0, 101.0], [102.0, 101.5]]), torch.tensor([0, 1])),
            note="large logits",
        ),
        Case(
            (parameter([[200.0, 0.0, -200.0], [-150.0, 150.0, 0.0]]), torch.tensor([2, 0])),
            note="actions that are all but impossible",
        ),
    ]


def taken(per_action: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """In each row, the entry of the action that was taken."""
    return per_action.gather(-1, actions.unsqueeze(-1)).squeeze(-1)


def exponentials(logits: torch.Tensor) -> torch.Tensor:
    """The softmax as the formula has it; e^100 is infinite in float32."""
    return logits.exp() / logits.exp().sum(dim=-1, keepdim=True)


def normalised_after_picking(logits, actions):
    return torch.log_softmax(taken(logits, actions), dim=-1)


LOG_PROB = Exercise(
    id="1.2",
    lesson="01_a2c",
    reference=log_prob,
    card=Card(
        title="How probable was that action?",
        what=r"Write `log_prob(logits, actions)`: for each row of logits, the logarithm of the "
        r"probability that the softmax policy gives to the action taken there, "
        r"$\log \pi_\theta(a\mid s)$. Logits `(B, n_actions)` and actions `(B,)` in, `(B,)` out.",
        why="The policy gradient is the gradient of exactly this number. It has to survive a "
        "policy that is very sure of itself as well: one infinite entry in a batch turns every "
        "weight of the actor into NaN at the next step.",
        difficulty=2,
        minutes=8,
    ),
    hints=(
        "First turn each row of logits into log-probabilities of all actions, in one stable step "
        "and along the right axis. Only then pick, in each row, the entry of the action taken.",
        "`torch.log_softmax` with `dim=-1` does the first. For the second, `gather` along the last "
        "axis wants an index with as many axes as the logits: give the actions one more axis, and "
        "remove it again afterwards.",
    ),
    cases=log_prob_cases,
    observe=observe_log_prob,
    misconceptions=[
        Misconception(
            "probability instead of its logarithm",
            lambda logits, actions: taken(torch.softmax(logits, dim=-1), actions),
            "You return the probability of the action; the policy gradient is the gradient of its "
            "logarithm. With a log-softmax in place of the softmax you have it.",
        ),
        Misconception(
            "raw logit",
            lambda logits, actions: taken(logits, actions),
            "You return the logit of the action, which is a log-probability only up to a constant "
            "of its row. Without normalising over all actions, raising one logit would never lower "
            "another action's probability.",
        ),
        Misconception(
            "logarithm of a logit",
            lambda logits, actions: torch.log(taken(logits, actions)),
            "You took the logarithm of a logit. Logits are no probabilities yet, and they may be "
            "negative, where a logarithm is NaN: a softmax has to come first, or both in one, "
            "`torch.log_softmax`.",
        ),
        Misconception(
            "softmax over the batch",
            lambda logits, actions: taken(torch.log_softmax(logits, dim=0), actions),
            "Your softmax runs along axis 0, so the states of the batch compete with each other. "
            "The probabilities of the actions within one state must add up to 1: normalise along "
            "the last axis.",
        ),
        Misconception(
            "normalised after picking",
            normalised_after_picking,
            "You picked the logits of the actions taken first and normalised those, so each action "
            "competes with the other rows' actions. Normalise over all actions of a state first, "
            "then pick.",
        ),
        Misconception(
            "softmax twice",
            lambda logits, actions: taken(
                torch.log_softmax(torch.softmax(logits, dim=-1), dim=-1), actions
            ),
            "There are two softmaxes in your code, one on top of the other, which flattens the "
            "distribution. `log_softmax` and `Categorical(logits=...)` take the logits as they "
            "are.",
        ),
        Misconception(
            "logarithm of a rounded 0",
            lambda logits, actions: taken(torch.log(torch.softmax(logits, dim=-1)), actions),
            "You compute the probability first and its logarithm afterwards. A small probability "
            "is rounded to 0 on the way, and the logarithm becomes minus infinity; "
            "`torch.log_softmax` does both in one stable step.",
        ),
        Misconception(
            "exponentials overflow",
            lambda logits, actions: taken(torch.log(exponentials(logits)), actions),
            "Written out like the formula, `exp(logit)` overflows: in float32 it is infinite from "
            "89 on, and infinity divided by infinity is NaN. `torch.log_softmax` subtracts the "
            "largest logit first.",
        ),
        Misconception(
            "a small number added before the logarithm",
            lambda logits, actions: taken(torch.log(torch.softmax(logits, dim=-1) + 1e-8), actions),
            "Adding `1e-8` keeps the logarithm finite, but it caps it at -18 and its gradient "
            "vanishes there, just where an action would have to become likelier again. "
            "`torch.log_softmax` needs no such crutch.",
        ),
        Misconception(
            "by way of probabilities",
            lambda logits, actions: Categorical(probs=torch.softmax(logits, dim=-1)).log_prob(
                actions
            ),
            "You hand probabilities to `Categorical`, which has to cut the smallest ones off, and "
            "with them the gradient. Give it what you have: `Categorical(logits=logits)`.",
        ),
        Misconception(
            "logits taken for probabilities",
            lambda logits, actions: Categorical(logits).log_prob(actions),
            "The first argument of `Categorical` is `probs`, so your logits were read as "
            "probabilities. Name the argument: `Categorical(logits=logits)`.",
        ),
        Misconception("by way of numpy", lambda logits, actions: logits.numpy(), NO_NUMPY),
        Misconception(
            "gather without an axis for the choice",
            lambda logits, actions: torch.log_softmax(logits, dim=-1).gather(-1, actions),
            "`gather` wants an index with as many axes as the log-probabilities, and `actions` has "
            "one axis only. Make it a column with `actions.unsqueeze(-1)`, and drop that axis "
            "again afterwards.",
        ),
        Misconception(
            "every row with every action",
            lambda logits, actions: torch.log_softmax(logits, dim=-1)[:, actions],
            "`[:, actions]` picks all the actions of the batch in every row, which gives a "
            "matrix `(B, B)`. You need one entry of each row: `gather`, or a row number for each "
            "action, `[torch.arange(B), actions]`.",
        ),
        Misconception(
            "actions taken for row numbers",
            lambda logits, actions: torch.log_softmax(logits, dim=-1)[actions],
            "`[actions]` indexes the first axis, so the actions are taken for numbers of rows. The "
            "action selects a column, a different one in each row: see `gather`.",
        ),
        Misconception(
            "gathered along the batch",
            lambda logits, actions: (
                torch.log_softmax(logits, dim=-1).gather(0, actions.unsqueeze(0)).squeeze(0)
            ),
            "Your `gather` runs along axis 0, the batch, and takes the actions for numbers of "
            "rows. Actions lie along the last axis.",
        ),
        Misconception(
            "all actions",
            lambda logits, actions: torch.log_softmax(logits, dim=-1),
            "You return the log-probabilities of all actions. Only the one that was taken counts, "
            "a different column in each row: pick it with `gather`.",
        ),
        Misconception(
            "the likeliest action",
            lambda logits, actions: torch.log_softmax(logits, dim=-1).max(dim=-1).values,
            "You return the log-probability of the likeliest action, whatever was done. The "
            "gradient has to go to the action that was taken, `actions`, the unlikely ones too.",
        ),
        Misconception(
            "a column",
            lambda logits, actions: torch.log_softmax(logits, dim=-1).gather(
                -1, actions.unsqueeze(-1)
            ),
            "The numbers are right, but in a column `(B, 1)`. Times advantages of shape `(B,)` "
            "that would silently become a matrix `(B, B)`: drop the last axis with `squeeze(-1)`.",
        ),
        Misconception(
            "summed over the batch",
            lambda logits, actions: log_prob(logits, actions).sum(),
            "You added up the whole batch. Each action is later weighted with its own advantage, "
            "so return one number for each of them, shape `(B,)`.",
        ),
        Misconception(
            "averaged over the batch",
            lambda logits, actions: log_prob(logits, actions).mean(),
            "You averaged over the batch. Each action is later weighted with its own advantage, so "
            "return one number for each of them, shape `(B,)`.",
        ),
        Misconception(
            "minus sign",
            lambda logits, actions: F.cross_entropy(logits, actions, reduction="none"),
            "Your numbers have the opposite sign: a probability is at most 1, so its logarithm is "
            "at most 0. Cross-entropy is minus the log-probability, and the loss brings a minus "
            "of its own.",
        ),
        Misconception(
            "cross-entropy of the batch",
            lambda logits, actions: F.cross_entropy(logits, actions),
            "Cross-entropy is minus the log-probability, and by default it averages over the "
            'batch as well. With `reduction="none"` it keeps one number an action; then turn the '
            "sign.",
        ),
    ],
)


# --- 1.9 entropy ----------------------------------------------------------------------------------


def observe_entropy(function, logits):
    output = function(logits.clone())
    return {"output": output, "gradient to the logits": gradient(output, logits)}


def entropy_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((parameter([[0.0, 0.0]]),), note="batch of one, undecided"),
        Case((parameter([[0.5, 2.0, 1.0], [3.0, 0.1, 0.4]]),), note="two states, three actions"),
        Case((parameter(rng.normal(size=(3, 3))),), note="as many states as actions"),
        Case((parameter(rng.normal(size=(6, 4))),)),
        Case((parameter([[100.0, 101.0], [102.0, 101.5]]),), note="large logits"),
        Case((parameter([[200.0, 0.0, -200.0], [-150.0, 150.0, 0.0]]),), note="a policy all sure"),
    ]


def surprises(logits: torch.Tensor) -> torch.Tensor:
    """-p log p, action by action."""
    log_probs = torch.log_softmax(logits, dim=-1)
    return -(log_probs.exp() * log_probs)


def entropy_of(distribution, logits: torch.Tensor) -> torch.Tensor:
    """-sum p log p with the probabilities written out, 0 log 0 included."""
    probs = distribution(logits)
    return -(probs * torch.log(probs)).sum(dim=-1)


def surprise_of_a_sample(logits):
    policy = Categorical(logits=logits)
    return -policy.log_prob(policy.sample())


def weights_detached(logits):
    log_probs = torch.log_softmax(logits, dim=-1)
    return -(log_probs.exp().detach() * log_probs).sum(dim=-1)


def entropy_over_the_batch(logits):
    log_probs = torch.log_softmax(logits, dim=0)
    return -(log_probs.exp() * log_probs).sum(dim=-1)


ENTROPY = Exercise(
    id="1.9",
    lesson="01_a2c",
    reference=entropy,
    card=Card(
        title="Entropy, the pay for an open mind",
        what=r"Write `entropy(logits)`: for each state, $H = -\sum_a \pi(a\mid s)\log\pi(a\mid s)$ "
        r"of the softmax policy. Logits `(B, n_actions)` in, `(B,)` out.",
        why="A policy that becomes sure too early never tries the better action again. The bonus "
        "pushes against that, but only if it is the entropy of the whole distribution, with its "
        "gradient: look-alikes have the right value and push nowhere.",
        difficulty=2,
        minutes=8,
    ),
    hints=(
        r"Entropy is an expectation: how surprising an action is, $-\log\pi(a\mid s)$, averaged "
        "over all actions with the policy's own probabilities as weights.",
        "Start with `torch.log_softmax` along the last axis. Its `.exp()` is the probabilities. "
        "Multiply the two, add up over the actions, and mind the sign.",
    ),
    cases=entropy_cases,
    observe=observe_entropy,
    misconceptions=[
        Misconception(
            "sign",
            lambda logits: -entropy(logits),
            "The minus sign is missing: logarithms of probabilities are negative, and entropy is "
            "never below 0. As a bonus, yours would pay the policy for being sure.",
        ),
        Misconception(
            "bits",
            lambda logits: entropy(logits) / math.log(2),
            "You measure in bits, with a logarithm to base 2. That is a fine unit, but here (as in "
            "`torch.distributions`) it is nats, the natural logarithm, and the bonus's coefficient "
            "is meant for them.",
        ),
        Misconception(
            "share of the largest entropy",
            lambda logits: entropy(logits) / math.log(logits.shape[-1]),
            "You divided by the largest possible entropy, log(n_actions), which gives a share "
            "between 0 and 1. Nice for a plot, but the entropy itself is asked for.",
        ),
        Misconception(
            "summed over the batch",
            lambda logits: entropy(logits).sum(),
            "You added up the whole batch. Sum over the actions only (`dim=-1`), so that every "
            "state keeps an entropy of its own.",
        ),
        Misconception(
            "averaged over the batch",
            lambda logits: entropy(logits).mean(),
            "You averaged over the batch already; the loss will do that later. Return one entropy "
            "for each state, shape `(B,)`.",
        ),
        Misconception(
            "averaged over states and actions",
            lambda logits: surprises(logits).mean(),
            "You averaged over everything, states and actions. The terms of one state are summed "
            "along the last axis, and every state keeps an entropy of its own.",
        ),
        Misconception(
            "one entry an action",
            surprises,
            "You return one number for each action. The entropy of a state is their sum: add up "
            "along the last axis.",
        ),
        Misconception(
            "mean over the actions",
            lambda logits: surprises(logits).mean(dim=-1),
            "You took the mean over the actions. The probabilities are weights already and add up "
            "to 1, so the weighted terms are summed.",
        ),
        Misconception(
            "a column",
            lambda logits: surprises(logits).sum(dim=-1, keepdim=True),
            "The numbers are right, but in a column `(B, 1)`: leave `keepdim` out, or drop the "
            "last axis.",
        ),
        Misconception(
            "softmax over the batch",
            entropy_over_the_batch,
            "Your softmax runs along axis 0, so the states of the batch compete with each other. "
            "Normalise over the actions of each state, the last axis.",
        ),
        Misconception(
            "softmax twice",
            lambda logits: entropy(torch.softmax(logits, dim=-1)),
            "There are two softmaxes in your code, one on top of the other: the policy looks less "
            "decided than it is. `log_softmax` and `Categorical(logits=...)` take the logits as "
            "they are.",
        ),
        Misconception(
            "logits in place of log-probabilities",
            lambda logits: -(torch.softmax(logits, dim=-1) * logits).sum(dim=-1),
            "You weighted the raw logits. The logarithm in the formula is that of normalised "
            "probabilities; logits lack a constant, and adding 1 to all of them would change your "
            "entropy while the policy stays the same.",
        ),
        Misconception(
            "no weights",
            lambda logits: -torch.log_softmax(logits, dim=-1).sum(dim=-1),
            "You added up the log-probabilities without weights. Entropy is an expectation: each "
            "term counts as often as the policy takes that action, so multiply by its probability.",
        ),
        Misconception(
            "probabilities squared",
            lambda logits: 1 - (torch.softmax(logits, dim=-1) ** 2).sum(dim=-1),
            "That is the Gini index, a cousin of the entropy: also 0 for a sure policy and largest "
            "for a uniform one. Here the definition with the logarithm is asked for.",
        ),
        Misconception(
            "0 times minus infinity",
            lambda logits: entropy_of(lambda x: torch.softmax(x, dim=-1), logits),
            "A probability that is rounded to 0 has the logarithm minus infinity, and 0 times "
            "infinity is NaN. Use `torch.log_softmax` for the logarithm: it stays finite.",
        ),
        Misconception(
            "exponentials overflow",
            lambda logits: entropy_of(exponentials, logits),
            "Written out like the formula, `exp(logit)` overflows: in float32 it is infinite from "
            "89 on, and infinity divided by infinity is NaN. `torch.log_softmax` subtracts the "
            "largest logit first.",
        ),
        Misconception(
            "logits taken for probabilities",
            lambda logits: Categorical(logits).entropy(),
            "The first argument of `Categorical` is `probs`, so your logits were read as "
            "probabilities. Name the argument: `Categorical(logits=logits)`.",
        ),
        Misconception("by way of numpy", lambda logits: logits.numpy(), NO_NUMPY),
        Misconception(
            "surprise of a sampled action",
            surprise_of_a_sample,
            "You drew one action and returned minus its log-probability. That equals the entropy "
            "on average, but its gradient is 0 on average: as a bonus it only adds noise, so sum "
            "over all actions instead.",
        ),
        Misconception(
            "surprise of the likeliest action",
            lambda logits: -torch.log_softmax(logits, dim=-1).max(dim=-1).values,
            "You returned how surprising the likeliest action is. The entropy is the average over "
            "all actions, weighted with their probabilities.",
        ),
        Misconception(
            "weights detached",
            weights_detached,
            "The value is right, but you detached the probabilities, and what is left of the "
            "gradient is exactly 0: the bonus would push nowhere. Here the weights are part of "
            "what is differentiated.",
        ),
    ],
)


# --- 1.10 gaussian_log_prob -----------------------------------------------------------------------


def observe_gaussian(function, mean, log_std, actions):
    output = function(mean.clone(), log_std.clone(), actions)
    return {
        "output": output,
        "gradient to the mean": gradient(output, mean),
        "gradient to log_std": gradient(output, log_std),
    }


def gaussian_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, log_std: list[float]) -> tuple:
        mean = rng.normal(size=(size, len(log_std)))
        actions = mean + np.exp(log_std) * rng.normal(size=mean.shape)
        return parameter(mean), parameter(log_std), torch.tensor(actions, dtype=torch.float32)

    one = (parameter([[0.0]]), parameter([0.0]), torch.tensor([[1.0]]))
    return [
        Case(one, note="batch of one, std 1, one std from the mean"),
        Case(drawn(3, [-0.7]), note="one action dimension"),
        Case(drawn(1, [0.5, 1.0]), note="two action dimensions, wide"),
        Case(drawn(3, [-1.0, 0.3, 0.8]), note="as many actions as action dimensions"),
        Case(drawn(6, [-2.5, -0.4]), note="a narrow one"),
    ]


def by_hand(mean, variance, actions):
    """Log-density, dimension by dimension, from the variance."""
    return -0.5 * (actions - mean) ** 2 / variance - 0.5 * variance.log() - 0.5 * LOG_2PI


def normal(mean, std, actions):
    return Normal(mean, std).log_prob(actions)


def z_of(mean, log_std, actions):
    return (actions - mean) / log_std.exp()


GAUSSIAN_LOG_PROB = Exercise(
    id="1.10",
    lesson="01_a2c",
    reference=gaussian_log_prob,
    card=Card(
        title="How probable was that torque?",
        what=r"Write `gaussian_log_prob(mean, log_std, actions)`: the log-density of each action "
        r"when every action dimension $i$ has a Gaussian with mean $\mu_i(s)$ and standard "
        r"deviation $\sigma_i$ of its own. `mean` and `actions` have shape `(B, action_dim)`, "
        r"`log_std` has `(action_dim,)` and holds $\log\sigma_i$; the output has `(B,)`.",
        why="It is all that A2C has to know about continuous actions. With the right gradient to "
        "`log_std` the policy narrows where precision pays; with a wrong one it stays clumsy for "
        "ever, or collapses on a single action.",
        difficulty=3,
        minutes=12,
    ),
    hints=(
        "Take the logarithm of a Gaussian's density on paper: a square, a standard deviation and a "
        "constant. And what becomes of a product of densities, one an action dimension, under a "
        "logarithm?",
        "First `z`, the distance from the mean counted in standard deviations `log_std.exp()`. "
        "Each dimension then has three terms: half of `z**2`, `log_std` as it is, half of "
        "`math.log(2 * math.pi)`, all with a minus. Add up along the last axis.",
    ),
    cases=gaussian_cases,
    observe=observe_gaussian,
    misconceptions=[
        Misconception(
            "log_std taken for the std",
            lambda mean, log_std, actions: (
                -0.5 * ((actions - mean) / log_std) ** 2 - log_std - 0.5 * LOG_2PI
            ).sum(dim=-1),
            "You divided by `log_std`, which is the logarithm of the standard deviation and may "
            "be 0 or negative. The standard deviation is `log_std.exp()`.",
        ),
        Misconception(
            "log_std taken for the std, the squares divided",  # 0 gives it another gradient
            lambda mean, log_std, actions: (
                -((actions - mean) ** 2) / (2 * log_std**2) - log_std - 0.5 * LOG_2PI
            ).sum(dim=-1),
            "You divided by the square of `log_std`, which is the logarithm of the standard "
            "deviation. The standard deviation is `exp` of it, `log_std.exp()`.",
        ),
        Misconception(
            "log_std taken for the std throughout",
            lambda mean, log_std, actions: (
                -0.5 * ((actions - mean) / log_std) ** 2 - log_std.log() - 0.5 * LOG_2PI
            ).sum(dim=-1),
            "You used `log_std` as the standard deviation, but it is the logarithm already and may "
            "be 0 or negative, where a second logarithm gives NaN. The standard deviation is `exp` "
            "of it: divide by `log_std.exp()` and subtract `log_std`.",
        ),
        Misconception(
            "log_std taken for the std, squared to a variance",
            lambda mean, log_std, actions: by_hand(mean, log_std**2, actions).sum(dim=-1),
            "You used `log_std` as the standard deviation, but it is the logarithm already. The "
            "standard deviation is `exp` of it, `log_std.exp()`, and the variance is the square of "
            "that.",
        ),
        Misconception(
            "std subtracted in place of log_std",
            lambda mean, log_std, actions: (
                -0.5 * z_of(mean, log_std, actions) ** 2 - log_std.exp() - 0.5 * LOG_2PI
            ).sum(dim=-1),
            "You subtracted the standard deviation, `log_std.exp()`, where its logarithm belongs: "
            "the density is divided by the std, and the logarithm makes of that a minus `log_std`, "
            "as it is.",
        ),
        Misconception(
            "Normal with a logarithm as std",
            lambda mean, log_std, actions: normal(mean, log_std, actions).sum(dim=-1),
            "`Normal` wants the standard deviation, which is positive, and got its logarithm: pass "
            "`log_std.exp()`.",
        ),
        Misconception("by way of numpy", lambda mean, log_std, actions: mean.numpy(), NO_NUMPY),
        Misconception(
            "variance as std",
            lambda mean, log_std, actions: normal(mean, (2 * log_std).exp(), actions).sum(dim=-1),
            "You used the variance where the standard deviation belongs. `log_std.exp()` is the "
            "standard deviation; only its square is the variance.",
        ),
        Misconception(
            "std as variance",
            lambda mean, log_std, actions: by_hand(mean, log_std.exp(), actions).sum(dim=-1),
            "You used the standard deviation where the variance belongs: the squared distance is "
            "divided by the std squared, and half the log of the variance is `log_std`.",
        ),
        Misconception(
            "std not squared",
            lambda mean, log_std, actions: (
                -0.5 * (actions - mean) ** 2 / log_std.exp() - log_std - 0.5 * LOG_2PI
            ).sum(dim=-1),
            "The distance is squared but not the standard deviation below it. Divide first, so "
            "that `z` counts standard deviations, and square afterwards.",
        ),
        Misconception(
            "not divided by the std",
            lambda mean, log_std, actions: (
                -0.5 * (actions - mean) ** 2 - log_std - 0.5 * LOG_2PI
            ).sum(dim=-1),
            "You squared the distance from the mean without dividing it by the standard deviation. "
            "A distance of 1 is a lot for a narrow Gaussian and little for a wide one.",
        ),
        Misconception(
            "z not squared",
            lambda mean, log_std, actions: (
                -0.5 * z_of(mean, log_std, actions) - log_std - 0.5 * LOG_2PI
            ).sum(dim=-1),
            "`z` is not squared: without the square, actions far below the mean would be the "
            "likeliest of all. The density falls on both sides.",
        ),
        Misconception(
            "half of the square missing",
            lambda mean, log_std, actions: (
                -(z_of(mean, log_std, actions) ** 2) - log_std - 0.5 * LOG_2PI
            ).sum(dim=-1),
            "The factor 1/2 before the square is missing: a Gaussian's exponent is minus half of "
            "`z` squared.",
        ),
        Misconception(
            "sign of the square",
            lambda mean, log_std, actions: (
                0.5 * z_of(mean, log_std, actions) ** 2 - log_std - 0.5 * LOG_2PI
            ).sum(dim=-1),
            "The minus before the square is missing, so actions become likelier the farther they "
            "are from the mean. It should be the other way round.",
        ),
        Misconception(
            "log_std missing",
            lambda mean, log_std, actions: (
                -0.5 * z_of(mean, log_std, actions) ** 2 - 0.5 * LOG_2PI
            ).sum(dim=-1),
            "`- log_std` is missing: a wide Gaussian spreads the same probability over more space, "
            "so it is lower everywhere. Without this term a larger std would always look better, "
            "and it would grow without end.",
        ),
        Misconception(
            "sign of log_std",
            lambda mean, log_std, actions: (
                -0.5 * z_of(mean, log_std, actions) ** 2 + log_std - 0.5 * LOG_2PI
            ).sum(dim=-1),
            "You added `log_std`; it has to be subtracted. The density is divided by the standard "
            "deviation: the wider, the lower.",
        ),
        Misconception(
            "half of log_std",
            lambda mean, log_std, actions: (
                -0.5 * z_of(mean, log_std, actions) ** 2 - 0.5 * log_std - 0.5 * LOG_2PI
            ).sum(dim=-1),
            "You subtracted only half of `log_std`. The half belongs to the log of the variance: "
            "half of log(std squared) is all of log(std).",
        ),
        Misconception(
            "no normalising constant",
            lambda mean, log_std, actions: (-0.5 * z_of(mean, log_std, actions) ** 2 - log_std).sum(
                dim=-1
            ),
            "The constant log(2 pi) / 2 is missing. It has no gradient, so training would not "
            "notice, but without it these are not log-densities, and nothing that compares them "
            "with others' would be right.",
        ),
        Misconception(
            "constant counted once",
            lambda mean, log_std, actions: (
                (-0.5 * z_of(mean, log_std, actions) ** 2 - log_std).sum(dim=-1) - 0.5 * LOG_2PI
            ),
            "You subtracted log(2 pi) / 2 once for the whole action. Every dimension has a density "
            "of its own, constant included: subtract it before you sum.",
        ),
        Misconception(
            "whole log(2 pi)",
            lambda mean, log_std, actions: (
                -0.5 * z_of(mean, log_std, actions) ** 2 - log_std - LOG_2PI
            ).sum(dim=-1),
            "You subtracted all of log(2 pi). The density has the square root of 2 pi below it, "
            "which makes half of that under the logarithm.",
        ),
        Misconception(
            "density instead of its logarithm",
            lambda mean, log_std, actions: gaussian_log_prob(mean, log_std, actions).exp(),
            "You return the density itself; the policy gradient is the gradient of its "
            "logarithm. With many dimensions a product of densities also under- or overflows, "
            "while a sum of logarithms does not.",
        ),
        Misconception(
            "one entry a dimension",
            lambda mean, log_std, actions: normal(mean, log_std.exp(), actions),
            "You return one number for each action dimension. The dimensions are independent, so "
            "the action's density is their product, and its logarithm the sum along the last axis.",
        ),
        Misconception(
            "mean over the dimensions",
            lambda mean, log_std, actions: normal(mean, log_std.exp(), actions).mean(dim=-1),
            "You averaged over the action dimensions. Independent densities multiply, so their "
            "logarithms add up: take the sum.",
        ),
        Misconception(
            "only the first dimension",
            lambda mean, log_std, actions: normal(mean, log_std.exp(), actions)[:, 0],
            "Only the first action dimension counts in your result. That is right for Pendulum, "
            "with its single torque, and wrong for any robot with two joints: sum over all of "
            "them.",
        ),
        Misconception(
            "summed over the batch",
            lambda mean, log_std, actions: normal(mean, log_std.exp(), actions).sum(),
            "You added up the whole batch. Sum along the last axis only, so that every action "
            "keeps a log-density of its own, shape `(B,)`.",
        ),
        Misconception(
            "averaged over the batch",
            lambda mean, log_std, actions: gaussian_log_prob(mean, log_std, actions).mean(),
            "You averaged over the batch. Each action is later weighted with its own advantage, so "
            "return one number for each, shape `(B,)`.",
        ),
        Misconception(
            "averaged over everything",
            lambda mean, log_std, actions: normal(mean, log_std.exp(), actions).mean(),
            "You averaged over everything, actions and dimensions. Add up along the last axis "
            "only, so that every action keeps a log-density of its own, shape `(B,)`.",
        ),
        Misconception(
            "summed along the batch axis",
            lambda mean, log_std, actions: normal(mean, log_std.exp(), actions).sum(dim=0),
            "You summed along axis 0, over the actions of the batch. What belongs together are the "
            "dimensions of one action: sum along the last axis.",
        ),
        Misconception(
            "minus sign",
            lambda mean, log_std, actions: -gaussian_log_prob(mean, log_std, actions),
            "Your numbers are right up to their sign: this is the negative log-likelihood. The "
            "loss brings a minus of its own.",
        ),
        Misconception(
            "std never below 1",
            lambda mean, log_std, actions: normal(mean, 1 + F.softplus(log_std), actions).sum(
                dim=-1
            ),
            "Your standard deviation is 1 plus something positive, so the policy can never become "
            "more precise than 1. `log_std.exp()` reaches every positive number.",
        ),
        Misconception(
            "softplus in place of exp",
            lambda mean, log_std, actions: normal(mean, F.softplus(log_std), actions).sum(dim=-1),
            "A softplus makes the standard deviation positive, too, but then the parameter is not "
            "its logarithm. As the name `log_std` says, the std is `log_std.exp()`.",
        ),
    ],
)
