"""Lesson 04's baseline: exercise 4.2 `bc_loss`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from helpers.agents.cloning import bc_loss
from helpers.checks.a2c_losses import PLAIN_NUMBER, gives_tensors, with_backward
from helpers.checks.ddpg_losses import ANOTHER, SmallActor, floats, leaves_networks_alone, same
from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.checks.observing import gradient, no_mutation

# --- What is looked at ----------------------------------------------------------------------------


def observe_bc_loss(function, actor, obs, action):
    loss, again = function(actor, obs, action), function(actor, obs, action)
    if not same(loss, again):
        return {"loss": ANOTHER, "gradient to the actor": None}
    return {"loss": loss, "gradient to the actor": gradient(loss, actor.weights)}


def bc_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, obs_size: int, action_dim: int) -> tuple:
        actor = SmallActor(rng.normal(size=(obs_size, action_dim)) / np.sqrt(obs_size))
        obs, action = rng.normal(size=(size, obs_size)), rng.uniform(-1, 1, (size, action_dim))
        return actor, floats(obs), floats(action)

    one = SmallActor([[0.5]])
    return [
        Case((one, floats([[1.0]]), floats([[0.9]])), note="batch of one"),
        Case((one, floats([[1.0], [-2.0]]), floats([[0.2], [0.6]])), note="two steps"),
        Case(drawn(5, 3, 2), note="two action dimensions"),
        Case(drawn(4, 4, 4), note="as many action dimensions as observed numbers, and as steps"),
        Case(drawn(16, 2, 3)),
    ]


# --- Wrong versions -------------------------------------------------------------------------------


def compared(measure: Callable):
    """A wrong version: `measure(own, action)`."""
    return lambda actor, obs, action: measure(actor(obs), action)


def left_frozen(actor, obs, action):
    actor.requires_grad_(False)
    return bc_loss(actor, obs, action)


def changed_in_place(actor, obs, action):
    return (action.sub_(actor(obs)) ** 2).mean()


mse = F.mse_loss
DIMENSIONS = (
    "An action has several dimensions, one for each motor, and all of them are to be imitated: the "
    "mean is over all of its entries."
)
CLASSES = (
    "These actions are real numbers, not classes: there are no probabilities to choose by. "
    "Imitating them is plain regression, a mean squared difference."
)
PRODUCT = (
    "You multiplied both actions. The product can be made ever better by larger actions, whatever "
    "was demonstrated: what counts is how far they are apart."
)
BROADCAST = (
    "Every action of the actor is compared with every demonstrated one: an axis too many made the "
    "two broadcast. Both have shape `(B, action_dim)` already, row belongs to row."
)
DROPPED = (
    "One of your two actions has lost its second axis: `(B,)` and `(B, 1)` are broadcast to a "
    "matrix, every action against every other, and with more dimensions the shapes do not fit at "
    "all. Both have shape `(B, action_dim)`: compare them as they are."
)
FROZEN = (
    "After your function the actor's weights are frozen (`requires_grad` is off), so it can never "
    "learn. Nothing needs freezing here."
)
DETACHED = (
    "No gradient reaches the actor: `.detach()`, `.data` or `no_grad` cut its way, so the actor "
    "stays as it was born. The demonstrated action is the side that holds still, and it comes "
    "without gradient already."
)

BC_LOSS = Exercise(
    id="4.2",
    lesson="04_ddpgfd",
    reference=bc_loss,
    card=Card(
        title="Do as you are shown",
        what="Write `bc_loss(actor, obs, action)`: the mean squared difference between what the "
        "actor would do in `obs` `(B, obs_size)` and what was done there, `action` "
        "`(B, action_dim)`. A scalar.",
        why="Behaviour cloning is the baseline that an agent with demonstrations has to beat. It "
        "is plain supervised learning: no reward, no critic, no future. That is all its strength, "
        "and the reason for its limit.",
        difficulty=1,
        minutes=4,
    ),
    hints=(
        "Demonstrations are pairs: a state, and what somebody did in it. Take the state for the "
        "input of a regression and the action for its answer. Who is to be trained, and on what "
        "side does the gradient have to pass?",
        "Ask the actor for its actions in `obs`, without a detach on the way, and compare them "
        "with `action`: the difference, its square, one mean over everything. `nn.functional` has "
        "all three in one.",
    ),
    cases=bc_cases,
    observe=observe_bc_loss,
    misconceptions=[
        # What is compared
        Misconception(
            "the action as input",
            lambda actor, obs, action: mse(actor(action), obs),
            "You showed the actor the action and compared its answer with the observation. It is "
            "the other way round: the state is the question, the action is the answer.",
        ),
        Misconception(
            "the actor asked about the action",
            lambda actor, obs, action: mse(actor(action), action),
            "You asked the actor about `action`. It answers questions about states: `obs`.",
        ),
        Misconception(
            "against the observation",
            lambda actor, obs, action: mse(actor(obs), obs),
            "You compared the actor's actions with the observations they were made from. What they "
            "should be like is `action`, what was done there.",
        ),
        Misconception(
            "values detached",
            compared(lambda own, action: mse(own.detach(), action)),
            DETACHED,
        ),
        Misconception("a plain number", compared(lambda own, a: mse(own, a).item()), PLAIN_NUMBER),
        Misconception(
            "noise on the action",
            compared(lambda own, a: mse(own + 0.1 * torch.randn_like(own), a)),
            "Called twice with the same input, your function gives two losses: there is noise in "
            "it. Noise is for exploring, and nothing is explored here: compare the action that the "
            "actor itself means.",
        ),
        Misconception(
            "a tanh too many",
            compared(lambda own, a: mse(torch.tanh(own), a)),
            "You put a tanh on the actor's output, which has one already: then another action is "
            "compared than the one that will be taken.",
        ),
        Misconception(
            "a tanh on what was demonstrated",
            compared(lambda own, a: mse(own, torch.tanh(a))),
            "You put a tanh on the demonstrated action, so the actor would learn to be weaker than "
            "who showed it. The action is in [-1, 1] already: take it as it is.",
        ),
        Misconception(
            "a tanh on both",
            compared(lambda own, a: mse(torch.tanh(own), torch.tanh(a))),
            "You put a tanh on both actions. They are in [-1, 1] already, and another tanh makes "
            "the differences of strong actions look smaller than they are.",
        ),
        Misconception(
            "zero for what was demonstrated",
            compared(lambda own, a: (own**2).mean()),
            "Your loss knows nothing of what was demonstrated: it teaches the actor to do nothing. "
            "Compare with `action`.",
        ),
        # Which entries
        Misconception(
            "only the first dimension",
            compared(lambda own, a: mse(own[:, 0], a[:, 0])),
            f"You compare the first dimension only. {DIMENSIONS}",
        ),
        Misconception(
            "only the last dimension",
            compared(lambda own, a: mse(own[:, -1], a[:, -1])),
            f"You compare the last dimension only. {DIMENSIONS}",
        ),
        Misconception(
            "only the first step",
            compared(lambda own, a: mse(own[0], a[0])),
            "You compare the first row only. Every step of the batch was demonstrated: take the "
            "mean over all of them.",
        ),
        Misconception(
            "only the largest difference",
            compared(lambda own, a: ((own - a) ** 2).max()),
            "You took the largest difference of all, so only one entry is learned from. Take the "
            "mean: every step and every dimension counts.",
        ),
        Misconception(
            "largest difference of each step",
            compared(lambda own, a: ((own - a) ** 2).amax(dim=-1).mean()),
            f"You took the largest difference of each step. {DIMENSIONS}",
        ),
        Misconception(
            "every action against every other",
            compared(lambda own, a: ((own.unsqueeze(1) - a) ** 2).mean()),
            BROADCAST,
        ),
        Misconception(
            "an axis dropped",
            compared(lambda own, a: ((own.squeeze(-1) - a) ** 2).mean()),
            DROPPED,
        ),
        Misconception(
            "the first dimension of what was demonstrated",
            compared(lambda own, a: ((own - a[:, 0]) ** 2).mean()),
            DROPPED,
        ),
        Misconception(
            "the first dimension of the actor's action",
            compared(lambda own, a: ((own[:, 0] - a) ** 2).mean()),
            DROPPED,
        ),
        Misconception(
            "dimensions against rows",
            compared(lambda own, a: ((own - a.T) ** 2).mean()),
            "You transposed one of the actions. Both have shape `(B, action_dim)` already, row "
            "belongs to row.",
        ),
        # How they are compared
        Misconception(
            "sum over the dimensions",
            compared(lambda own, a: ((own - a) ** 2).sum(dim=-1).mean()),
            "You added up the dimensions and took the mean over the steps only, the squared "
            "distance of two actions. That would do as well, with a step that grows with the "
            "number of motors; asked for is one mean over both.",
        ),
        Misconception(
            "mean over the dimensions, sum over the steps",
            compared(lambda own, a: ((own - a) ** 2).mean(dim=-1).sum()),
            "You added up the steps of the batch. With the mean, the size of a step does not "
            "depend on how many there are.",
        ),
        Misconception(
            "sum instead of mean",
            compared(lambda own, a: ((own - a) ** 2).sum()),
            "You added everything up. With the mean, the size of a step does not depend on how "
            "large a batch or an action is.",
        ),
        Misconception(
            "no mean",
            compared(lambda own, a: (own - a) ** 2),
            "You return one number for each entry. A loss is a single number, which `backward()` "
            "can start from: take the mean.",
        ),
        Misconception(
            "one loss for each step",
            compared(lambda own, a: ((own - a) ** 2).mean(dim=-1)),
            "You return one number for each step. A loss is a single number, which `backward()` "
            "can start from: take the mean over the steps, too.",
        ),
        Misconception(
            "one loss for each dimension",
            compared(lambda own, a: ((own - a) ** 2).mean(dim=0)),
            "You return one number for each dimension of the action. A loss is a single number, "
            "which `backward()` can start from: take the mean over them, too.",
        ),
        Misconception(
            "distance not squared",
            compared(lambda own, a: (own - a).norm(dim=-1).mean()),
            "You took the distance of two actions, which has a root in it. The mean squared "
            "difference itself is asked for.",
        ),
        Misconception(
            "root",
            compared(lambda own, a: mse(own, a).sqrt()),
            "You took the square root of the mean squared difference. That reads well in a report, "
            "but the mean squared difference itself is asked for.",
        ),
        Misconception(
            "absolute difference",
            compared(F.l1_loss),
            "You took the absolute difference. Where two demonstrators do not agree, it pulls the "
            "actor towards their median; the mean squared difference is asked for here.",
        ),
        Misconception(
            "smooth absolute difference",
            compared(F.smooth_l1_loss),
            "You took the smooth L1 (Huber) loss. As long as differences are small, it is half the "
            "squared one; the mean squared difference itself is asked for here.",
        ),
        Misconception(
            "half the squared difference",
            compared(lambda own, a: mse(own, a) / 2),
            "You return half the mean squared difference. Many books do so, because the gradient "
            "then has no factor 2, but the mean squared difference itself is asked for.",
        ),
        Misconception(
            "not squared",
            compared(lambda own, a: (own - a).mean()),
            "The differences are not squared, so too much and too little cancel, and the loss can "
            "be made ever smaller by doing less.",
        ),
        Misconception(
            "square of the mean",
            compared(lambda own, a: (own - a).mean() ** 2),
            "You took the mean first and squared it afterwards, so too much and too little cancel. "
            "Square each difference first.",
        ),
        Misconception(
            "mean actions compared",
            compared(lambda own, a: mse(own.mean(dim=0), a.mean(dim=0))),
            "You compared the mean actions. An actor can do the same on average and the wrong "
            "thing in every state: compare step by step.",
        ),
        Misconception(
            "difference of squares",
            compared(lambda own, a: (own**2 - a**2).mean()),
            "You subtracted the squares; it is the difference that is to be squared. For yours, "
            "left and right are the same.",
        ),
        Misconception(
            "minus sign",
            compared(lambda own, a: -mse(own, a)),
            "The minus belongs to the losses that want more of something. A difference is to "
            "become smaller, which is what an optimiser does anyway.",
        ),
        Misconception("product", compared(lambda own, a: -(own * a).mean()), PRODUCT),
        Misconception(
            "product, summed over the dimensions",
            compared(lambda own, a: -(own * a).sum(dim=-1).mean()),
            PRODUCT,
        ),
        Misconception(
            "cross-entropy with the largest action",
            compared(lambda own, a: F.cross_entropy(own, a.argmax(dim=-1))),
            f"You took the largest entry of the action for a class. {CLASSES}",
        ),
        Misconception(
            "cross-entropy with the action",
            compared(F.cross_entropy),
            f"You took the action for the probabilities of classes. {CLASSES}",
        ),
        Misconception(
            "logarithm of the action",
            compared(lambda own, a: -own.log().mean()),
            f"You took the logarithm of the actor's action, as of a probability. {CLASSES}",
        ),
        Misconception(
            "a class called as the function",
            compared(nn.MSELoss),
            "`nn.MSELoss` is a class, and what you put in its brackets are its settings. Build it "
            "first and call what you built, or use the function, `nn.functional.mse_loss`.",
        ),
        # Side effects
        Misconception(
            "written into the demonstration",
            changed_in_place,
            "The loss is right, but you wrote the difference into `action` itself, and what was "
            "demonstrated is lost. Build a new tensor.",
        ),
        Misconception("actor left frozen", left_frozen, FROZEN),
        Misconception(
            "backward inside the loss",
            with_backward(bc_loss),
            "You call `backward()` inside the function, which uses up the graph. Return the loss "
            "only: whoever trains computes the gradient and takes the step.",
        ),
    ],
    properties=[
        Property("freezes a network", leaves_networks_alone(bc_cases), FROZEN),
        gives_tensors(bc_cases),
        no_mutation(bc_cases, observe_bc_loss),
    ],
)
