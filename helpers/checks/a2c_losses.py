"""Lesson 01's two losses: exercises 1.4 `actor_loss` and 1.6 `critic_loss`.

A loss is its gradients: what flows back is compared along with the value. Whom no gradient may
reach is a property, so that a wrong value has its name whether or not something is detached.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from helpers.agents.a2c import actor_loss, critic_loss
from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.checks.observing import gradient


def leaf(values) -> torch.Tensor:
    """A float32 tensor that collects a gradient."""
    return torch.tensor(np.asarray(values), dtype=torch.float32, requires_grad=True)


def spared(loss: torch.Tensor, tensor: torch.Tensor) -> bool:
    """Whether no gradient of the loss reaches a tensor."""
    flowed = gradient(loss, tensor)
    return flowed is None or not flowed.any()


# Its value is that of a detached loss: only its type tells the two apart.
PLAIN_NUMBER = (
    "You return a plain number: `.item()` (or `float()`) takes it out of the graph, so no gradient "
    "finds its way back. Return the tensor itself; `.item()` is for printing and plotting."
)


def gives_tensors(cases):
    """The property that a loss is a tensor, and not the number in it."""

    def test(function, rng):
        losses = (function(*map(copied, case.args)) for case in cases(rng))
        return all(isinstance(loss, torch.Tensor) for loss in losses)

    return Property("no tensor", test, PLAIN_NUMBER)


def copied(value):
    return value.clone() if isinstance(value, torch.Tensor) else value


# --- 1.4 actor_loss -------------------------------------------------------------------------------


def observe_actor_loss(function, log_probs, advantages):
    """The function gets clones: in a lesson, too, both are results of something earlier."""
    loss = function(log_probs.clone(), advantages.clone())
    return {"loss": loss, "gradient to log_probs": gradient(loss, log_probs)}


def spares_the_advantages(function, rng):
    return all(
        spared(function(log_probs.clone(), advantages.clone()), advantages)
        for log_probs, advantages in (case.args for case in actor_loss_cases(rng))
    )


def actor_loss_cases(rng: np.random.Generator) -> list[Case]:
    random = [(leaf(-rng.exponential(size=n)), leaf(rng.normal(size=n))) for n in (5, 32)]
    return [
        Case((leaf([-0.5]), leaf([2.0])), note="batch of one"),
        Case((leaf([-0.5, -2.0]), leaf([3.0, -1.0])), note="a good action and a bad one"),
        Case((leaf([-0.1, -1.0, -3.0]), leaf([10.0, 12.0, 11.0])), note="all advantages positive"),
        *map(Case, random),
    ]


def with_backward(loss_of):
    """The loss, but its gradients are worked out on the spot."""

    def compute(*args):
        loss = loss_of(*args)
        loss.backward()
        return loss

    return compute


def standardised(advantages):
    """With the same spread as `.std()`, which warns where a batch of one makes it NaN."""
    centred = advantages - advantages.mean()
    return centred / (((centred**2).sum() / (len(centred) - 1)).sqrt() + 1e-8)


def weighted(log_probs, weights):
    return -(log_probs * weights.detach()).mean()


ACTOR_LOSS = Exercise(
    id="1.4",
    lesson="01_a2c",
    reference=actor_loss,
    card=Card(
        title="The actor's loss",
        what=r"Write `actor_loss(log_probs, advantages)`: a scalar whose gradient is minus the "
        r"policy gradient, averaged over the batch. `log_probs` holds "
        r"$\log\pi_\theta(a_t\mid s_t)$ of the actions taken, `advantages` how much better than "
        "expected each of them turned out; both have shape `(B,)`.",
        why="Three small things decide here whether an agent learns, and none of them raises an "
        "error: the sign, the mean, and the question of whom the gradient may reach.",
        difficulty=2,
        minutes=6,
    ),
    hints=(
        "An action with a positive advantage should become more likely, but an optimiser makes its "
        "loss smaller. And which of the two inputs may this loss change: the policy, the yardstick "
        "it is measured with, or both?",
        "Weight each log-probability with its own `advantages.detach()`, entry by entry, take the "
        "mean of the products, and put a minus before it.",
    ),
    cases=actor_loss_cases,
    observe=observe_actor_loss,
    misconceptions=[
        Misconception(
            "minus missing",
            lambda log_probs, advantages: -weighted(log_probs, advantages),
            "The minus is missing: an optimiser goes downhill, so this loss would make good "
            "actions rarer and bad ones more frequent.",
        ),
        Misconception(
            "advantages not detached",
            lambda log_probs, advantages: -(log_probs * advantages).mean(),
            "A gradient flows through the advantages: had a critic computed them, this loss would "
            "train it as well, to make the loss small and not to predict returns. The advantage is "
            "only a weight here: `.detach()` it.",
        ),
        Misconception(
            "log-probabilities detached",
            lambda log_probs, advantages: -(log_probs.detach() * advantages.detach()).mean(),
            "No gradient reaches the log-probabilities, so the policy would never change: they are "
            "what this loss is to act on. Only the advantages are cut off.",
        ),
        Misconception(
            "a plain number",
            lambda log_probs, advantages: actor_loss(log_probs, advantages).item(),
            PLAIN_NUMBER,
        ),
        Misconception(
            "the wrong one detached",
            lambda log_probs, advantages: -(log_probs.detach() * advantages).mean(),
            "You detached the log-probabilities and kept the advantages. It is the other way "
            "round: the actor learns through its log-probabilities, and the advantage is a fixed "
            "weight.",
        ),
        Misconception(
            "sum instead of mean",
            lambda log_probs, advantages: -(log_probs * advantages.detach()).sum(),
            "You took the sum over the batch. With the mean, the size of a step does not depend on "
            "how many actions there are, and the entropy bonus and the gradient's limit keep their "
            "proportion to it.",
        ),
        Misconception(
            "no mean",
            lambda log_probs, advantages: -(log_probs * advantages.detach()),
            "You return one number for each action. A loss is a single number, which `backward()` "
            "can start from: take the mean.",
        ),
        Misconception(
            "each with every other",
            lambda log_probs, advantages: weighted(log_probs.unsqueeze(-1), advantages),
            "Your loss is the mean of the log-probabilities times the mean of the advantages, as "
            "when a `(B, 1)` meets a `(B,)`. Each action has an advantage of its own: multiply "
            "entry by entry, then take one mean.",
        ),
        Misconception(
            "probabilities instead of their logarithms",
            lambda log_probs, advantages: weighted(log_probs.exp(), advantages),
            "You weighted probabilities, not their logarithms. The actions were drawn with these "
            "probabilities already, so frequent ones would count twice and rare ones hardly at "
            "all.",
        ),
        Misconception(
            "logarithm twice",
            lambda log_probs, advantages: weighted(log_probs.log(), advantages),
            "`log_probs` are logarithms already, and they are negative: a second logarithm makes "
            "them NaN. Use them as they are.",
        ),
        Misconception(
            "standardised advantages",
            lambda log_probs, advantages: weighted(log_probs, standardised(advantages)),
            "You standardised the advantages inside the loss. The agent does that before it calls "
            "you, where it knows the whole batch; the loss takes them as they come, and a batch of "
            "one has no spread to divide by.",
        ),
        Misconception(
            "centred advantages",
            lambda log_probs, advantages: weighted(log_probs, advantages - advantages.mean()),
            "You subtracted the mean advantage. What was expected has been subtracted already, by "
            "the critic: take the advantages as they come.",
        ),
        Misconception(
            "absolute advantages",
            lambda log_probs, advantages: weighted(log_probs, advantages.abs()),
            "You took the advantages without their sign, so bad actions are made more likely just "
            "as good ones are. The sign is what tells them apart.",
        ),
        Misconception(
            "only good actions",
            lambda log_probs, advantages: weighted(log_probs, advantages.clamp(min=0)),
            "You set negative advantages to 0, so nothing is learned from mistakes. An action that "
            "went worse than expected should become less likely.",
        ),
        Misconception(
            "only the sign of the advantage",
            lambda log_probs, advantages: weighted(log_probs, advantages.sign()),
            "You kept only the sign of the advantages. How much better an action was matters, too: "
            "the weight is the advantage itself.",
        ),
        Misconception(
            "a squared error",
            lambda log_probs, advantages: ((log_probs - advantages.detach()) ** 2).mean(),
            "You pull the log-probabilities towards the advantages, like predictions to targets. "
            "An advantage is no target: it says how hard to push, and in which direction.",
        ),
        Misconception(
            "backward inside the loss",
            with_backward(actor_loss),
            "You call `backward()` inside the function, which uses up the graph. Return the loss "
            "only: the agent adds the entropy bonus to it, and the gradient is computed from both.",
        ),
    ],
    properties=[
        Property(
            "gradient into the advantages",
            spares_the_advantages,
            "The loss is right, but some of its gradient flows through the advantages. They are "
            "only weights here: `.detach()` them wherever you use them.",
        ),
        gives_tensors(actor_loss_cases),
    ],
)


# --- 1.6 critic_loss ------------------------------------------------------------------------------


class LinearCritic(nn.Module):
    """V(s) is a weighted sum of the observation, so that a case can be worked out by hand."""

    def __init__(self, weights) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.tensor(np.asarray(weights), dtype=torch.float32))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return (obs @ self.weights).unsqueeze(-1)

    def extra_repr(self) -> str:
        terms = [f"{weight:.3g} * obs[{i}]" for i, weight in enumerate(self.weights.tolist())]
        return "V = " + " + ".join(terms)


def observe_critic_loss(function, critic, obs, returns):
    loss = function(critic, obs, returns.clone())
    return {"loss": loss, "gradient to the critic": gradient(loss, critic.weights)}


def spares_the_returns(function, rng):
    return all(
        spared(function(critic, obs, returns.clone()), returns)
        for critic, obs, returns in (case.args for case in critic_loss_cases(rng))
    )


def critic_loss_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, features: int) -> tuple:
        critic = LinearCritic(rng.normal(size=features))
        obs = torch.tensor(rng.normal(size=(size, features)), dtype=torch.float32)
        return critic, obs, leaf(3 * rng.normal(size=size))

    two = (LinearCritic([1.0]), torch.tensor([[1.0], [3.0]]), leaf([2.0, 6.0]))
    return [
        Case((LinearCritic([2.0]), torch.tensor([[1.0]]), leaf([5.0])), note="batch of one"),
        Case(two, note="two states"),
        Case(drawn(5, 3)),
        Case(drawn(32, 4)),
    ]


def values(critic, obs):
    return critic(obs).squeeze(-1)


CRITIC_LOSS = Exercise(
    id="1.6",
    lesson="01_a2c",
    reference=critic_loss,
    card=Card(
        title="The critic's loss",
        what="Write `critic_loss(critic, obs, returns)`: the mean squared error between the "
        "critic's values of the observations `(B, obs_size)` and the returns `(B,)` that came "
        "after them. A scalar.",
        why="This is plain regression, and yet the place of the most famous silent bug of deep "
        "reinforcement learning: the loss falls, the critic learns one and the same value for "
        "every state, and no error says so.",
        difficulty=2,
        minutes=6,
    ),
    hints=(
        "Write the shapes down: what does `critic(obs)` have, what do the returns have, and what "
        "does their difference have? Then ask which of the two should move towards the other.",
        "`critic(obs).squeeze(-1)` brings the values to `(B,)`, and `returns.detach()` are fixed "
        "targets. What is left is the difference, its square, and the mean.",
    ),
    cases=critic_loss_cases,
    observe=observe_critic_loss,
    misconceptions=[
        Misconception(
            "every value against every return",
            lambda critic, obs, returns: ((critic(obs) - returns.detach()) ** 2).mean(),
            "`(B, 1)` minus `(B,)` is broadcast to a matrix `(B, B)`: every value is compared with "
            "every return, and all values learn the same average. Drop the last axis of the "
            "values first: `squeeze(-1)`.",
        ),
        Misconception(
            "returns not detached",
            lambda critic, obs, returns: ((values(critic, obs) - returns) ** 2).mean(),
            "A gradient flows into the returns. They are targets: if a network had a part in them, "
            "as the critic has where it bootstraps, the targets would move towards the "
            "predictions. `.detach()` them.",
        ),
        Misconception(
            "values detached",
            lambda critic, obs, returns: (
                (values(critic, obs).detach() - returns.detach()) ** 2
            ).mean(),
            "You detached the critic's values (or computed them under `no_grad`), so no gradient "
            "reaches the critic and it never learns. Only the targets are cut off.",
        ),
        Misconception(
            "a plain number",
            lambda critic, obs, returns: critic_loss(critic, obs, returns).item(),
            PLAIN_NUMBER,
        ),
        Misconception(
            "the wrong one detached",
            lambda critic, obs, returns: ((values(critic, obs).detach() - returns) ** 2).mean(),
            "You detached the critic's values (or computed them under `no_grad`) and kept the "
            "returns. It is the other way round: the values learn, and the returns are fixed "
            "targets.",
        ),
        Misconception(
            "sum instead of mean",
            lambda critic, obs, returns: critic_loss(critic, obs, returns) * len(returns),
            "You took the sum over the batch. With the mean, the size of a step does not depend on "
            "how many states there are.",
        ),
        Misconception(
            "no mean",
            lambda critic, obs, returns: (values(critic, obs) - returns.detach()) ** 2,
            "You return one squared error for each state. A loss is a single number, which "
            "`backward()` can start from: take the mean.",
        ),
        Misconception(
            "half the squared error",
            lambda critic, obs, returns: critic_loss(critic, obs, returns) / 2,
            "You return half the mean squared error. Many books do so, because the gradient then "
            "has no factor 2, but the mean squared error itself is asked for.",
        ),
        Misconception(
            "absolute error",
            lambda critic, obs, returns: F.l1_loss(values(critic, obs), returns.detach()),
            "You took the absolute error. It pulls the values towards the median of the returns, "
            "but V is their expectation, the mean: that is what the squared error leads to.",
        ),
        Misconception(
            "smooth absolute error",
            lambda critic, obs, returns: F.smooth_l1_loss(values(critic, obs), returns.detach()),
            "You took the smooth L1 (Huber) loss. It is a common and robust choice, less moved by "
            "outliers, but the mean squared error is asked for here.",
        ),
        Misconception(
            "not squared",
            lambda critic, obs, returns: (values(critic, obs) - returns.detach()).mean(),
            "The differences are not squared, so errors up and down cancel, and the loss can be "
            "made ever smaller by lowering all values.",
        ),
        Misconception(
            "only the returns squared",
            lambda critic, obs, returns: (values(critic, obs) - returns.detach() ** 2).mean(),
            "The square got hold of the returns only: `**` binds more tightly than `-`. Put the "
            "difference in brackets.",
        ),
        Misconception(
            "square of the mean",
            lambda critic, obs, returns: (values(critic, obs) - returns.detach()).mean() ** 2,
            "You took the mean first and squared it afterwards, so errors up and down cancel: a "
            "critic that gives every state the average return would look perfect. Square each "
            "difference first.",
        ),
        Misconception(
            "difference of squares",
            lambda critic, obs, returns: (values(critic, obs) ** 2 - returns.detach() ** 2).mean(),
            "You subtracted the squares; it is the difference that is to be squared. Yours can be "
            "made smaller by shrinking all values to 0.",
        ),
        Misconception(
            "root",
            lambda critic, obs, returns: critic_loss(critic, obs, returns).sqrt(),
            "You took the square root of the mean squared error. That reads well in a report, in "
            "the units of the returns, but the mean squared error itself is asked for.",
        ),
        Misconception(
            "minus sign",
            lambda critic, obs, returns: -critic_loss(critic, obs, returns),
            "The minus belongs to the actor, which wants more of something. The critic's error is "
            "to become smaller, which is what an optimiser does anyway.",
        ),
        Misconception(
            "like the actor's loss",
            lambda critic, obs, returns: -(values(critic, obs) * returns.detach()).mean(),
            "You multiplied values and returns, as the actor's loss does with its weights. The "
            "critic is plain regression: its values should come close to the returns.",
        ),
        Misconception(
            "backward inside the loss",
            with_backward(critic_loss),
            "You call `backward()` inside the function, which uses up the graph. Return the loss "
            "only: the agent computes the gradient and takes the step.",
        ),
    ],
    properties=[
        Property(
            "gradient into the returns",
            spares_the_returns,
            "The loss is right, but some of its gradient flows into the returns. They are fixed "
            "targets: `.detach()` them wherever you use them.",
        ),
        gives_tensors(critic_loss_cases),
    ],
)
