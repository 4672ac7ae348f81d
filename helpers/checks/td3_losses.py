"""Lesson 03's losses: exercises 3.4 `twin_critic_loss` and 3.6 `actor_loss_by_q1`.

The networks in the cases are so small that a case can be worked out by hand.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from helpers.agents.td3 import actor_loss_by_q1, twin_critic_loss
from helpers.checks.a2c_losses import PLAIN_NUMBER, gives_tensors, with_backward
from helpers.checks.ddpg_losses import (
    ANOTHER,
    FROZEN,
    SmallActor,
    SmallCritic,
    batch_of,
    floats,
    leaves_networks_alone,
    plain,
    same,
)
from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.checks.observing import gradient, no_mutation
from helpers.memory.buffers import Batch


class SmallTwin(nn.Module):
    """Two small critics. What they are called inside is nobody's business: ask both, or `q1`."""

    def __init__(self, weights1, weights2) -> None:
        super().__init__()
        self.one, self.other = SmallCritic(weights1), SmallCritic(weights2)

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.one(obs, action), self.other(obs, action)

    def q1(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return self.one(obs, action)


def random_twin(rng: np.random.Generator, obs_size: int, action_dim: int) -> SmallTwin:
    return SmallTwin(*rng.normal(size=(2, obs_size + action_dim)))


def leaves_gradients_alone(cases: Callable, call: Callable = lambda function: function) -> Callable:
    """The test of a property: gradients that weights have already are still there afterwards."""

    def test(function, rng):
        for case in cases(rng):
            modules = [entry for entry in case.args if isinstance(entry, nn.Module)]
            parameters = [p for module in modules for p in module.parameters()]
            for parameter in parameters:
                parameter.grad = torch.ones_like(parameter)
            call(function)(*case.args)
            if not all(p.grad is not None and bool((p.grad == 1).all()) for p in parameters):
                return False
        return True

    return test


GRADIENTS = (
    "The loss is right, but your function changes the gradients that are kept with the weights "
    "(`backward()`, `zero_grad()`). A loss is a number and nothing else: return it, and leave "
    "gradients and steps to the agent."
)


# --- 3.4 twin_critic_loss -------------------------------------------------------------------------


def observe_twin_loss(
    function, critic, obs, action, reward, next_obs, terminated, truncated, target
):
    batch = Batch(obs, action, reward, next_obs, terminated, truncated)
    loss = function(critic, batch, target)
    return {
        "loss": loss,
        "gradient to the first critic": gradient(loss, critic.one.weights),
        "gradient to the second critic": gradient(loss, critic.other.weights),
    }


def twin_loss_cases(rng: np.random.Generator) -> list[Case]:
    def by_hand(actions: list[float], targets: list[float]) -> tuple:
        size = len(actions)
        obs, next_obs = torch.ones(size, 1), torch.full((size, 1), 2.0)
        action, reward = floats(actions).unsqueeze(-1), torch.full((size,), -1.0)
        twin, flags = SmallTwin([2.0, 4.0], [1.0, 0.0]), (torch.zeros(size), torch.zeros(size))
        return twin, obs, action, reward, next_obs, *flags, floats(targets)

    def drawn(obs_size: int, action_dim: int, *flags: str) -> tuple:
        batch = batch_of(rng, obs_size, action_dim, list(flags))
        twin = random_twin(rng, obs_size, action_dim)
        return twin, *batch, floats(3 * rng.normal(size=len(flags)))

    return [
        Case(by_hand([0.5], [5.0]), note="batch of one"),
        Case(by_hand([0.5, -1.0], [5.0, 1.0]), note="two steps"),
        Case(drawn(3, 2, "", "terminated", "truncated", "", "both"), note="two action dimensions"),
        Case(drawn(3, 3, *["", "", "terminated", "truncated"] * 2)),
        Case(drawn(4, 1, *["", "terminated"] * 16)),
    ]


TENSORS = gives_tensors(twin_loss_cases)


def twin_loss_is_a_tensor(function, rng):
    return TENSORS.test(plain(function), rng)


def compared(measure: Callable):
    """A wrong version: `measure(q1, q2, target)`."""
    return lambda critic, batch, target: measure(*critic(batch.obs, batch.action), target)


def against(other: Callable):
    """A wrong version: the right loss against `other(batch, target)`."""
    return lambda critic, batch, target: twin_critic_loss(critic, batch, other(batch, target))


def both(error: Callable):
    """A wrong version: another error for both critics, added up."""
    return compared(lambda q1, q2, y: error(q1, y) + error(q2, y))


def asked(ask: Callable):
    """A wrong version: `ask(critic, batch)` in place of the pairs in the batch."""

    def loss(critic, batch, target):
        q1, q2 = ask(critic, batch)
        return F.mse_loss(q1, target) + F.mse_loss(q2, target)

    return loss


def target_changed(critic, batch, target):
    q1, q2 = critic(batch.obs, batch.action)
    loss = ((q1 - target) ** 2).mean() + ((q2 - target) ** 2).mean()
    target *= 0
    return loss


def against_all(q: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Every value against every target."""
    return ((q.unsqueeze(-1) - y) ** 2).mean()


mse = F.mse_loss
LOWER_LEARNS = (
    "You compare the lower of the two values with the target, so in every row only one critic "
    "learns and the other may promise whatever it likes. The minimum was taken where the target "
    "was made; here each critic has an error of its own."
)
LEFT_ALONE = (
    "gets no gradient, so it stays as it was born, and the minimum of the two is the "
    "minimum of a critic and of noise. Both learn, from the same targets: add their errors."
)
EVERY_TARGET = (
    "`(B, 1)` minus `(B,)` is broadcast to a matrix `(B, B)`: every value is compared with every "
    "target, and all values learn the same average. Critics and target all have shape `(B,)`: no "
    "`unsqueeze` is needed."
)
EACH_OTHER = (
    "You compare the two critics with each other. Two critics that agree would be one critic, and "
    "their minimum would protect from nothing: each is compared with the target only."
)

TWIN_CRITIC_LOSS = Exercise(
    id="3.4",
    lesson="03_td3",
    reference=twin_critic_loss,
    card=Card(
        title="Two critics, one lesson",
        what="Write `twin_critic_loss(critic, batch, target)`: the sum of the mean squared errors "
        "of both critics, for the actions in the batch, against the same targets `(B,)`. A scalar.",
        why="The minimum is in the target already. Whoever takes it here a second time trains only "
        "one of the critics in every row, and there is no error. The paper's loss is the sum: with "
        "the mean of both errors all gradients are half as large, which Adam divides out and plain "
        "gradient descent does not.",
        difficulty=1,
        minutes=4,
    ),
    hints=(
        "Lesson 02's loss of one critic, twice. Which gradient should the first critic get, if it "
        "is to learn exactly as if the second one were not there?",
        "Ask `critic` about `batch.obs` and `batch.action`: two answers come back at once. Each of "
        "them goes into a mean squared error against `target`, and the two errors are added, not "
        "averaged.",
    ),
    cases=twin_loss_cases,
    observe=observe_twin_loss,
    misconceptions=[
        Misconception(
            "mean of both errors",
            compared(lambda q1, q2, y: (mse(q1, y) + mse(q2, y)) / 2),
            "You took the mean of the two errors (or one mean over all values); the paper's loss "
            "is their sum. Plain gradient descent would take steps half as long; Adam divides such "
            "a factor out, but for its epsilon. The number that is logged and other optimisers "
            "depend on it: add the two.",
        ),
        Misconception(
            "only the first critic",
            compared(lambda q1, q2, y: mse(q1, y)),
            f"Only the first critic learns. The second critic {LEFT_ALONE}",
        ),
        Misconception(
            "only the second critic",
            compared(lambda q1, q2, y: mse(q2, y)),
            f"Only the second critic learns. The first critic {LEFT_ALONE}",
        ),
        Misconception(
            "the first critic twice",
            compared(lambda q1, q2, y: 2 * mse(q1, y)),
            f"You added the first critic's error to itself. The second critic {LEFT_ALONE}",
        ),
        Misconception(
            "the second critic twice",
            compared(lambda q1, q2, y: 2 * mse(q2, y)),
            f"You added the second critic's error to itself. The first critic {LEFT_ALONE}",
        ),
        Misconception(
            "error of the lower value",
            compared(lambda q1, q2, y: mse(torch.minimum(q1, q2), y)),
            LOWER_LEARNS,
        ),
        Misconception(
            "error of the lower value, twice",
            compared(lambda q1, q2, y: 2 * mse(torch.minimum(q1, q2), y)),
            LOWER_LEARNS,
        ),
        Misconception(
            "error of the higher value",
            compared(lambda q1, q2, y: mse(torch.maximum(q1, q2), y)),
            "You compare the higher of the two values with the target, so in every row only one "
            "critic learns. Each critic has an error of its own: add them up.",
        ),
        Misconception(
            "the smaller error of each row",
            compared(lambda q1, q2, y: torch.minimum((q1 - y) ** 2, (q2 - y) ** 2).mean()),
            "In every row only the critic that is nearer to the target learns from it, and the one "
            "that is wrong does not. The minimum is about the target; both errors count here.",
        ),
        Misconception(
            "the smaller loss",
            compared(lambda q1, q2, y: min(mse(q1, y), mse(q2, y))),
            "Only the critic with the smaller loss learns, and the worse one is left behind. The "
            "minimum is about the target; both errors count here.",
        ),
        Misconception(
            "the larger error of each row",
            compared(lambda q1, q2, y: torch.maximum((q1 - y) ** 2, (q2 - y) ** 2).mean()),
            "In every row only the critic that is further off learns. That is not unreasonable, "
            "but each is to learn as if it were alone: add both errors.",
        ),
        Misconception(
            "the larger loss",
            compared(lambda q1, q2, y: max(mse(q1, y), mse(q2, y))),
            "Only the critic with the larger loss learns. Each is to learn as if it were alone: "
            "add both errors.",
        ),
        Misconception(
            "error of the mean",
            compared(lambda q1, q2, y: mse((q1 + q2) / 2, y)),
            "You compare the mean of both critics with the target, so one may be far above as long "
            "as the other is as far below. Each has an error of its own: add them up.",
        ),
        Misconception(
            "error of the sum",
            compared(lambda q1, q2, y: mse(q1 + q2, y)),
            "You added the values and compared their sum with the target, so each critic would "
            "learn half of it. Add the errors, not the values.",
        ),
        Misconception(
            "first against second",
            compared(lambda q1, q2, y: mse(q1, q2)),
            EACH_OTHER,
        ),
        Misconception(
            "in a chain",
            compared(lambda q1, q2, y: mse(q1, q2) + mse(q2, y)),
            EACH_OTHER,
        ),
        Misconception(
            "in a chain, the first to the target",
            compared(lambda q1, q2, y: mse(q1, y) + mse(q2, q1)),
            EACH_OTHER,
        ),
        Misconception(
            "their difference on top",
            compared(lambda q1, q2, y: mse(q1, y) + mse(q2, y) + mse(q1, q2)),
            EACH_OTHER,
        ),
        Misconception(
            "errors subtracted",
            compared(lambda q1, q2, y: mse(q1, y) - mse(q2, y)),
            "You subtracted the second critic's error, so that one is driven away from its "
            "targets. Both errors are to become smaller: add them.",
        ),
        Misconception(
            "errors multiplied",
            compared(lambda q1, q2, y: mse(q1, y) * mse(q2, y)),
            "You multiplied the two errors: once one of them is 0, the other critic learns nothing "
            "any more. Add them.",
        ),
        Misconception(
            "first values detached",
            compared(lambda q1, q2, y: mse(q1.detach(), y) + mse(q2, y)),
            f"The sum is right, but you detached the first critic's values. It {LEFT_ALONE}",
        ),
        Misconception(
            "second values detached",
            compared(lambda q1, q2, y: mse(q1, y) + mse(q2.detach(), y)),
            f"The sum is right, but you detached the second critic's values. It {LEFT_ALONE}",
        ),
        Misconception(
            "values detached",
            both(lambda q, y: mse(q.detach(), y)),
            "You detached the critics' values (or computed them under `no_grad`), so no gradient "
            "reaches them and they never learn. The target is the side that holds still, and it "
            "comes without gradient already.",
        ),
        Misconception("a plain number", both(lambda q, y: mse(q, y).item()), PLAIN_NUMBER),
        Misconception(
            "a pair of losses",
            compared(lambda q1, q2, y: (mse(q1, y), mse(q2, y))),
            "You return two losses. One optimiser holds both critics' weights, and it goes down a "
            "single number: add them. As the critics share nothing, each still gets its own "
            "gradient only.",
        ),
        Misconception(
            "sum over the batch",
            both(lambda q, y: ((q - y) ** 2).sum()),
            "You took the sum over the batch. With the mean, the size of a step does not depend on "
            "how many steps there are in it; the sum is over the two critics only.",
        ),
        Misconception(
            "no mean",
            both(lambda q, y: (q - y) ** 2),
            "You return one number for each step. A loss is a single number, which `backward()` "
            "can start from: take the mean over the batch.",
        ),
        Misconception(
            "not squared",
            both(lambda q, y: (q - y).mean()),
            "The differences are not squared, so errors up and down cancel, and the loss can be "
            "made ever smaller by lowering all values.",
        ),
        Misconception(
            "square of the mean",
            both(lambda q, y: (q - y).mean() ** 2),
            "You took the mean first and squared it afterwards, so errors up and down cancel. "
            "Square the error of each row, and take the mean of the squares.",
        ),
        Misconception(
            "doubled in place of squared",
            both(lambda q, y: ((q - y) * 2).mean()),
            "You multiplied the errors by 2 (`*`) in place of squaring them (`**`), so errors up "
            "and down cancel, and the loss can be made ever smaller by lowering all values.",
        ),
        Misconception(
            "only the target squared",
            both(lambda q, y: (q - y**2).mean()),
            "Brackets are missing: `**` comes before `-`, so you squared the target alone. The "
            "difference is to be squared.",
        ),
        Misconception(
            "absolute error",
            both(F.l1_loss),
            "You took the absolute error. It pulls the values towards the median of the targets, "
            "but Q is an expectation, the mean: that is what the squared error leads to.",
        ),
        Misconception(
            "smooth absolute error",
            both(F.smooth_l1_loss),
            "You took the smooth L1 (Huber) loss. It is a common and robust choice, less moved by "
            "outliers, but the mean squared error is asked for here.",
        ),
        Misconception(
            "root",
            both(lambda q, y: mse(q, y).sqrt()),
            "You took the square root of each mean squared error. That reads well in a report, but "
            "the errors themselves are to be added.",
        ),
        Misconception(
            "every value against every target",
            both(against_all),
            EVERY_TARGET,
        ),
        Misconception(
            "the first critic's values against every target",
            compared(lambda q1, q2, y: against_all(q1, y) + mse(q2, y)),
            EVERY_TARGET,
        ),
        Misconception(
            "the second critic's values against every target",
            compared(lambda q1, q2, y: mse(q1, y) + against_all(q2, y)),
            EVERY_TARGET,
        ),
        Misconception(
            "targets along the wrong axis",
            compared(lambda q1, q2, y: ((torch.stack([q1, q2], 1) - y) ** 2).mean(0).sum()),
            "You put both values side by side `(B, 2)` and subtracted the targets `(B,)`: torch "
            "lays them along the last axis, where the two critics stand. Stack the values one "
            "below the other, `(2, B)`, or compare each critic by itself.",
        ),
        Misconception(
            "the next observation",
            asked(lambda critic, b: critic(b.next_obs, b.action)),
            "You asked what the action is worth in `batch.next_obs`, but it was taken in "
            "`batch.obs`. The next observation has done its work already: it is in the target.",
        ),
        Misconception(
            "arguments of the critic exchanged",
            asked(lambda critic, b: critic(b.action, b.obs)),
            "The critic takes the observation first and the action second; you handed them over "
            "the other way round. Side by side they have the same length, so there is no error.",
        ),
        Misconception(
            "one answer for both",
            compared(lambda *answers: mse(answers[:2], answers[-1])),
            "You handed the critic's answer over as a whole, but it is a pair: two tensors, one "
            "from each critic. Unpack it into two names first.",
        ),
        Misconception(
            "the reward as target",
            against(lambda batch, target: batch.reward),
            "You compared the values with the reward alone, so the critics would look no further "
            "than one step. The future is in `target`.",
        ),
        Misconception(
            "the reward added again",
            against(lambda batch, target: batch.reward + target),
            "You added the reward to the target, which contains it already.",
        ),
        Misconception(
            "masked again",
            against(lambda batch, target: target * (1 - batch.terminated)),
            "You set the target to 0 where the step terminated. The target knows about ends: there "
            "it is the last reward, which the critics have to learn.",
        ),
        Misconception(
            "like the actor's loss",
            compared(lambda q1, q2, y: -(q1 + q2).mean()),
            "You return minus the values, which is the actor's wish: with it the critics would "
            "promise more and more. They have to come close to their targets.",
        ),
        Misconception(
            "a class called as the function",
            compared(lambda q1, q2, y: nn.MSELoss(q1, y) + nn.MSELoss(q2, y)),
            "`nn.MSELoss` is a class, and what you put in its brackets are its settings. Build it "
            "first and call what you built, `nn.MSELoss()(q, target)`, or use the function, "
            "`nn.functional.mse_loss`.",
        ),
        Misconception(
            "backward inside the loss",
            with_backward(twin_critic_loss),
            "You call `backward()` inside the function, which uses up the graph. Return the loss "
            "only: the agent computes the gradient and takes the step.",
        ),
        Misconception(
            "the target changed in place",
            target_changed,
            "The loss is right, but you changed the target that you were given (`-=`, or a method "
            "whose name ends in `_`). Whoever made it may still need it: build a new tensor.",
        ),
    ],
    properties=[
        Property(TENSORS.name, twin_loss_is_a_tensor, TENSORS.message),
        Property(
            "changes stored gradients", leaves_gradients_alone(twin_loss_cases, plain), GRADIENTS
        ),
        no_mutation(twin_loss_cases, observe_twin_loss),
    ],
)


# --- 3.6 actor_loss_by_q1 -------------------------------------------------------------------------


def observe_loss_by_q1(function, actor, critic, obs):
    loss, again = (function(actor, critic, obs.clone()) for _ in range(2))
    if not same(loss, again):
        return {"loss": ANOTHER, "gradient to the actor": None}
    return {"loss": loss, "gradient to the actor": gradient(loss, actor.weights)}


def loss_by_q1_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, obs_size: int, action_dim: int) -> tuple:
        actor = SmallActor(rng.normal(size=(obs_size, action_dim)) / np.sqrt(obs_size))
        twin = random_twin(rng, obs_size, action_dim)
        return actor, twin, floats(rng.normal(size=(size, obs_size)))

    one = SmallActor([[0.5]]), SmallTwin([1.0, 2.0], [0.0, 3.0])
    return [
        Case((*one, floats([[1.0]])), note="batch of one"),
        Case((*one, floats([[1.0], [-2.0]])), note="two observations"),
        Case(drawn(5, 3, 2), note="two action dimensions"),
        Case(drawn(8, 4, 4), note="as many action dimensions as observed numbers"),
        Case(drawn(32, 2, 1)),
    ]


def by_value(measure: Callable):
    """A wrong version: `measure(q1)` of the actor's actions."""
    return lambda actor, critic, obs: measure(critic.q1(obs, actor(obs)))


def by_both(measure: Callable):
    """A wrong version: `measure(q1, q2)` of the actor's actions."""
    return lambda actor, critic, obs: measure(*critic(obs, actor(obs)))


def observations_changed(actor, critic, obs):
    loss = actor_loss_by_q1(actor, critic, obs)
    obs *= 0
    return loss


def left_frozen(actor, critic, obs):
    for parameter in critic.parameters():
        parameter.requires_grad_(False)
    return actor_loss_by_q1(actor, critic, obs)


PESSIMISM = (
    "The minimum belongs to the target, where an overestimate would be handed on from state to "
    "state. Here only the direction counts, and one critic is enough to say which way is up"
)

ACTOR_LOSS_BY_Q1 = Exercise(
    id="3.6",
    lesson="03_td3",
    reference=actor_loss_by_q1,
    card=Card(
        title="One critic shows the way",
        what="Write `actor_loss_by_q1(actor, critic, obs)`: minus the mean of what the first of "
        r"the two critics says about the actor's own actions, $-\frac{1}{B}\sum Q_1(s, "
        r"\mu_\theta(s))$. A scalar. The critic has a method for that, `q1`, which gives `(B,)`.",
        why="Two critics are asked for a number that must not be too high. A direction needs no "
        "second opinion, and half of the work is saved. With the pair in place of one value, "
        "much goes wrong that does not stop with an error.",
        difficulty=1,
        minutes=3,
    ),
    hints=(
        "Everything is as in lesson 02: whose actions, and which way does an optimiser go? Only "
        "the question who judges them is new.",
        "Ask the actor for its actions in `obs`, without a detach on the way, hand both to "
        "`critic.q1`, and return minus the mean.",
    ),
    cases=loss_by_q1_cases,
    observe=observe_loss_by_q1,
    misconceptions=[
        Misconception(
            "by the second critic",
            by_both(lambda q1, q2: -q2.mean()),
            "You asked the second critic. Neither is better than the other, but the paper, and so "
            "the check, takes the first: `q1`.",
        ),
        Misconception(
            "by the lower of both",
            by_both(lambda q1, q2: -torch.minimum(q1, q2).mean()),
            f"You took the lower of both values. {PESSIMISM}.",
        ),
        Misconception(
            "by the higher of both",
            by_both(lambda q1, q2: -torch.maximum(q1, q2).mean()),
            "You took the higher of both values, so the actor would run after whichever critic "
            "errs upwards. One critic is enough to say which way is up: `q1`.",
        ),
        Misconception(
            "by the mean of both",
            by_both(lambda q1, q2: -(q1 + q2).mean() / 2),
            "You took the mean of both critics. That shows the way as well, but for twice the "
            "work, and the check compares with one of them: `q1`.",
        ),
        Misconception(
            "by the sum of both",
            by_both(lambda q1, q2: -(q1 + q2).mean()),
            "You added both critics, so the second one has a say in where the actor goes, and the "
            "number that is logged is about twice the value. One of them is enough: `q1`.",
        ),
        Misconception(
            "the lower of the two means",
            by_both(lambda q1, q2: -torch.minimum(q1.mean(), q2.mean())),
            f"You took whichever critic is lower on the whole. {PESSIMISM}.",
        ),
        Misconception(
            "both answers at once",
            lambda actor, critic, obs: -critic(obs, actor(obs)).mean(),
            "Called like that, the critic gives both answers, a pair of tensors, and a pair has no "
            "mean. Its method `q1` gives the first critic's alone.",
        ),
        Misconception(
            "reaches inside the twin",
            lambda actor, critic, obs: -critic.first(obs, actor(obs)).mean(),
            "You reach for a network inside the twin. How a twin keeps its two critics is its own "
            "affair, and there are others than yours: ask through its method `q1`.",
        ),
        Misconception(
            "only the first row",
            by_value(lambda q: -q[0].mean()),
            "You took entry 0 of what `q1` gives, and that is the value of the first row of the "
            "batch, not the first critic. `q1` has chosen the critic already; take the mean of "
            "all rows.",
        ),
        Misconception(
            "minus missing",
            by_value(lambda q: q.mean()),
            "The minus is missing: an optimiser goes downhill, so this loss would teach the actor "
            "the worst action that it can find.",
        ),
        Misconception(
            "action detached",
            lambda actor, critic, obs: -critic.q1(obs, actor(obs).detach()).mean(),
            "You cut the action off from the actor (`.detach()`, `.data`, `no_grad`), and that is "
            "the one place where the gradient has to pass: no gradient reaches the actor's "
            "weights, and it never changes.",
        ),
        Misconception(
            "loss detached",
            by_value(lambda q: -q.mean().detach()),
            "Your loss carries no gradient at all (`.detach()` or `no_grad`). It has to run "
            "through the critic, back to the action and on to the actor's weights. That the critic "
            "does not move is a matter of whose weights the optimiser holds.",
        ),
        Misconception("a plain number", by_value(lambda q: -q.mean().item()), PLAIN_NUMBER),
        Misconception(
            "sum instead of mean",
            by_value(lambda q: -q.sum()),
            "You took the sum over the batch. With the mean, the size of a step does not depend on "
            "how many observations there are.",
        ),
        Misconception(
            "no mean",
            by_value(lambda q: -q),
            "You return one number for each observation. A loss is a single number, which "
            "`backward()` can start from: take the mean.",
        ),
        Misconception(
            "only the best",
            by_value(lambda q: -q.max()),
            "You took the largest value of the batch, so only one observation is learned from, the "
            "one that is best already. Take the mean: every state counts.",
        ),
        Misconception(
            "squared",
            by_value(lambda q: (q**2).mean()),
            "You squared the values: that pulls every Q towards 0, good or bad. The actor has no "
            "target to hit, it wants more: minus the mean of Q.",
        ),
        Misconception(
            "minus the square",
            by_value(lambda q: -(q**2).mean()),
            "You squared the values, which loses their sign: very bad actions would look as good "
            "as very good ones. Take Q as it is.",
        ),
        Misconception(
            "critics against each other",
            by_both(F.mse_loss),
            "You return how far the two critics are apart. The actor wants a high value, not an "
            "undisputed one: minus the mean of what the first critic says.",
        ),
        Misconception(
            "arguments of the critic exchanged",
            lambda actor, critic, obs: -critic.q1(actor(obs), obs).mean(),
            "The critic takes the observation first and the action second; you handed them over "
            "the other way round. Side by side they have the same length, so there is no error.",
        ),
        Misconception(
            "a tanh too many",
            lambda actor, critic, obs: -critic.q1(obs, torch.tanh(actor(obs))).mean(),
            "You put a tanh on the actor's output, which has one already: then the critic judges "
            "another action than the one that will be taken.",
        ),
        Misconception(
            "noise on the action",
            lambda actor, critic, obs: (
                -critic.q1(obs, actor(obs) + 0.1 * torch.randn_like(actor(obs))).mean()
            ),
            "Called twice with the same input, your function gives two losses: there is noise in "
            "it. Smoothing belongs to the target; here the action is the one that the actor itself "
            "means.",
        ),
        Misconception(
            "backward inside the loss",
            with_backward(actor_loss_by_q1),
            "You call `backward()` inside the function, which uses up the graph and leaves "
            "gradients in the critic. Return the loss only: the agent computes the gradient, for "
            "the actor alone.",
        ),
        Misconception(
            "changes the observations",
            observations_changed,
            "You changed the observations that you were given (`*=`, or a method whose name ends "
            "in `_`). They belong to the batch, and autograd still needs them for the gradient.",
        ),
        Misconception("critic left frozen", left_frozen, FROZEN),
    ],
    properties=[
        Property("freezes a network", leaves_networks_alone(loss_by_q1_cases), FROZEN),
        gives_tensors(loss_by_q1_cases),
        Property("changes stored gradients", leaves_gradients_alone(loss_by_q1_cases), GRADIENTS),
        no_mutation(loss_by_q1_cases),
    ],
)
