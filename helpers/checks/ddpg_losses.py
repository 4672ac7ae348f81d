"""Lesson 02's update: exercises 2.4 `actor_loss`, 2.6 `td_target`, 2.7 `critic_loss`, 2.8
`polyak_update`.

The networks in the cases are so small that a case can be worked out by hand.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from helpers.agents.ddpg import actor_loss, critic_loss, polyak_update, td_target
from helpers.checks.a2c_losses import PLAIN_NUMBER, gives_tensors, with_backward
from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.checks.observing import ANOTHER, gradient, no_mutation
from helpers.memory.buffers import Batch


def floats(values) -> torch.Tensor:
    return torch.tensor(np.asarray(values), dtype=torch.float32)


class SmallActor(nn.Module):
    """One linear layer without bias and a tanh."""

    def __init__(self, weights) -> None:
        super().__init__()
        self.weights = nn.Parameter(floats(weights))

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return torch.tanh(obs @ self.weights)

    def extra_repr(self) -> str:
        return f"action = tanh(obs @ {_short(self.weights)})"


class SmallCritic(nn.Module):
    """A weighted sum of observation and action, minus the action's squares: a hill over actions."""

    def __init__(self, weights) -> None:
        super().__init__()
        self.weights = nn.Parameter(floats(weights))

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return torch.cat([obs, action], dim=-1) @ self.weights - (action**2).sum(dim=-1)

    def extra_repr(self) -> str:
        return f"Q = [obs, action] @ {_short(self.weights)} - (action**2).sum()"


def _short(weights: torch.Tensor) -> str:
    return str(np.round(weights.detach().numpy(), 3).tolist())


def same(first, again) -> bool:
    """Whether two calls gave the same; false only for tensors that differ."""
    tensors = isinstance(first, torch.Tensor) and isinstance(again, torch.Tensor)
    return not tensors or torch.equal(first.nan_to_num(), again.nan_to_num())


def networks(
    rng: np.random.Generator, obs_size: int, action_dim: int
) -> tuple[SmallActor, SmallCritic]:
    actor = SmallActor(rng.normal(size=(obs_size, action_dim)) / np.sqrt(obs_size))
    return actor, SmallCritic(rng.normal(size=obs_size + action_dim))


# --- 2.4 actor_loss -------------------------------------------------------------------------------


def observe_actor_loss(function, actor, critic, obs):
    loss, again = function(actor, critic, obs), function(actor, critic, obs)
    if not same(loss, again):
        return {"loss": ANOTHER, "gradient to the actor": None}
    return {"loss": loss, "gradient to the actor": gradient(loss, actor.weights)}


def actor_loss_cases(rng: np.random.Generator) -> list[Case]:
    def drawn(size: int, obs_size: int, action_dim: int) -> tuple:
        return *networks(rng, obs_size, action_dim), floats(rng.normal(size=(size, obs_size)))

    one = (SmallActor([[0.5]]), SmallCritic([1.0, 2.0]))
    return [
        Case((*one, floats([[1.0]])), note="batch of one"),
        Case((*one, floats([[1.0], [-2.0]])), note="two observations"),
        Case(drawn(5, 3, 2), note="two action dimensions"),
        Case(drawn(8, 4, 4), note="as many action dimensions as observed numbers"),
        Case(drawn(32, 2, 1)),
    ]


def leaves_networks_alone(cases: Callable) -> Callable:
    """The test of a property: what could be trained before, can be trained after."""

    def test(function, rng):
        for case in cases(rng):
            function(*case.args)
            modules = [entry for entry in case.args if isinstance(entry, nn.Module)]
            if not all(p.requires_grad for module in modules for p in module.parameters()):
                return False
        return True

    return test


def actor_loss_left_frozen(actor, critic, obs):
    for parameter in critic.parameters():
        parameter.requires_grad_(False)
    return actor_loss(actor, critic, obs)


def multiplied(measure: Callable):
    """`measure(action, q)`."""

    def loss(actor, critic, obs):
        action = actor(obs)
        return measure(action, critic(obs, action))

    return loss


PRODUCT = (
    "You multiplied the action with its value. The product in the formula of the gradient is one "
    "of two slopes, and autograd makes it by the chain rule; the loss itself is made of the "
    "values alone."
)
FROZEN = (
    "After your function the critic's weights are frozen (`requires_grad` is off), so it can never "
    "be trained again. Nothing needs freezing here: the optimiser of the actor moves the actor's "
    "weights only. If you do freeze, thaw before you return."
)

ACTOR_LOSS = Exercise(
    id="2.4",
    lesson="02_ddpg",
    reference=actor_loss,
    card=Card(
        title="Uphill on Q",
        what="Write `actor_loss(actor, critic, obs)`: a scalar whose gradient moves the actor's "
        r"actions towards higher values, $-\frac{1}{B}\sum Q(s, \mu_\theta(s))$. Observations have "
        "shape `(B, obs_size)`, the critic gives `(B,)`.",
        why="The whole deterministic policy gradient is in these two lines; autograd applies the "
        "chain rule. Cut the chain at one place, and the actor stays as it was born, without any "
        "error.",
        difficulty=2,
        minutes=6,
    ),
    hints=(
        "Which actions are to become better: those that somebody took long ago, or those that the "
        "actor would take now? And an optimiser goes down, while you want to go up.",
        "Ask the actor for its actions in `obs`, hand these to the critic together with `obs`, "
        "without a detach on the way, and return minus the mean of what it says.",
    ),
    cases=actor_loss_cases,
    observe=observe_actor_loss,
    misconceptions=[
        Misconception(
            "minus missing",
            lambda actor, critic, obs: critic(obs, actor(obs)).mean(),
            "The minus is missing: an optimiser goes downhill, so this loss would teach the actor "
            "the worst action that it can find.",
        ),
        Misconception(
            "action detached",
            lambda actor, critic, obs: -critic(obs, actor(obs).detach()).mean(),
            "You cut the action off from the actor (`.detach()`, `.data`, `no_grad`), and that is "
            "the one place where the gradient has to pass: no gradient reaches the actor's "
            "weights, and it never changes.",
        ),
        Misconception(
            "loss detached",
            lambda actor, critic, obs: -critic(obs, actor(obs)).mean().detach(),
            "Your loss carries no gradient at all (`.detach()` or `no_grad`). It has to run "
            "through the critic, back to the action and on to the actor's weights. That the critic "
            "does not move is a matter of whose weights the optimiser holds.",
        ),
        Misconception(
            "a plain number",
            lambda actor, critic, obs: actor_loss(actor, critic, obs).item(),
            PLAIN_NUMBER,
        ),
        Misconception(
            "sum instead of mean",
            lambda actor, critic, obs: -critic(obs, actor(obs)).sum(),
            "You took the sum over the batch. With the mean, the size of a step does not depend on "
            "how many observations there are.",
        ),
        Misconception(
            "no mean",
            lambda actor, critic, obs: -critic(obs, actor(obs)),
            "You return one number for each observation. A loss is a single number, which "
            "`backward()` can start from: take the mean.",
        ),
        Misconception(
            "only the best",
            lambda actor, critic, obs: -critic(obs, actor(obs)).max(),
            "You took the largest value of the batch, so only one observation is learned from, the "
            "one that is best already. Take the mean: every state counts.",
        ),
        Misconception(
            "arguments of the critic exchanged",
            lambda actor, critic, obs: -critic(actor(obs), obs).mean(),
            "The critic takes the observation first and the action second; you handed them over "
            "the other way round. Side by side they have the same length, so there is no error.",
        ),
        Misconception(
            "squared",
            lambda actor, critic, obs: (critic(obs, actor(obs)) ** 2).mean(),
            "You squared the values: that pulls every Q towards 0, good or bad. The actor has no "
            "target to hit, it wants more: minus the mean of Q.",
        ),
        Misconception(
            "minus the square",
            lambda actor, critic, obs: -(critic(obs, actor(obs)) ** 2).mean(),
            "You squared the values, which loses their sign: very bad actions would look as good "
            "as very good ones. Take Q as it is.",
        ),
        Misconception(
            "absolute values",
            lambda actor, critic, obs: -critic(obs, actor(obs)).abs().mean(),
            "You took the values without their sign, so very bad actions look as good as very good "
            "ones. Take Q as it is.",
        ),
        Misconception(
            "logarithm",
            lambda actor, critic, obs: -critic(obs, actor(obs)).log().mean(),
            "You took the logarithm of Q. Logarithms belong to the probabilities of lesson 01; a "
            "value may be negative, where a logarithm is NaN. This actor has no probabilities, and "
            "Q is taken as it is.",
        ),
        Misconception(
            "mean subtracted",
            lambda actor, critic, obs: (
                -(critic(obs, actor(obs)) - critic(obs, actor(obs)).mean()).mean()
            ),
            "You subtracted the mean, as from an advantage, and the mean of what is left is always "
            "0: no loss, no gradient. Here no baseline is needed.",
        ),
        Misconception(
            "a tanh too many",
            lambda actor, critic, obs: -critic(obs, torch.tanh(actor(obs))).mean(),
            "You put a tanh on the actor's output, which has one already: then the critic judges "
            "another action than the one that will be taken.",
        ),
        Misconception(
            "noise on the action",
            lambda actor, critic, obs: (
                -critic(obs, actor(obs) + 0.1 * torch.randn_like(actor(obs))).mean()
            ),
            "Called twice with the same input, your function gives two losses: there is noise in "
            "it. Noise is for exploring; here the action is the one that the actor itself means.",
        ),
        Misconception(
            "backward inside the loss",
            with_backward(actor_loss),
            "You call `backward()` inside the function, which uses up the graph and leaves "
            "gradients in the critic. Return the loss only: the agent computes the gradient, for "
            "the actor alone.",
        ),
        Misconception(
            "action times value",
            multiplied(lambda a, q: -(a * q.unsqueeze(-1)).mean()),
            PRODUCT,
        ),
        Misconception(
            "action times value, minus missing",
            multiplied(lambda a, q: (a * q.unsqueeze(-1)).mean()),
            PRODUCT,
        ),
        Misconception(
            "action times value, broadcast",
            multiplied(lambda a, q: -(a * q).mean()),
            PRODUCT,
        ),
        Misconception(
            "action times value, broadcast, minus missing",
            multiplied(lambda a, q: (a * q).mean()),
            PRODUCT,
        ),
        Misconception(
            "action times a fixed value",
            multiplied(lambda a, q: -(a * q.detach().unsqueeze(-1)).mean()),
            PRODUCT,
        ),
        Misconception("critic left frozen", actor_loss_left_frozen, FROZEN),
    ],
    properties=[
        Property("freezes a network", leaves_networks_alone(actor_loss_cases), FROZEN),
        gives_tensors(actor_loss_cases),
    ],
)


# --- Batches --------------------------------------------------------------------------------------


def batch_of(rng: np.random.Generator, obs_size: int, action_dim: int, flags: list[str]) -> tuple:
    """A random batch, part by part; `flags` has "terminated", "truncated", "both" or "" a row."""
    size = len(flags)
    return (
        floats(rng.normal(size=(size, obs_size))),
        floats(rng.uniform(-1, 1, size=(size, action_dim))),
        floats(np.round(3 * rng.normal(size=size), 2)),
        floats(rng.normal(size=(size, obs_size))),
        floats([flag in ("terminated", "both") for flag in flags]),
        floats([flag in ("truncated", "both") for flag in flags]),
    )


# --- 2.6 td_target --------------------------------------------------------------------------------


def observe_target(
    function, obs, action, reward, next_obs, terminated, truncated,
    target_actor, target_critic, gamma,
):  # fmt: skip
    parts = obs, action, reward, next_obs, terminated, truncated
    again = function(Batch(*(part.clone() for part in parts)), target_actor, target_critic, gamma)
    target = function(Batch(*parts), target_actor, target_critic, gamma)
    return target if same(target, again) else ANOTHER


def target_cases(rng: np.random.Generator) -> list[Case]:
    def one(flag: str, reward: float = 1.0) -> tuple:
        now, later = (floats([[1.0]]), floats([[0.5]])), (floats([reward]), floats([[2.0]]))
        flags = (floats([flag in names]) for names in (("terminated",), ("truncated",)))
        return *now, *later, *flags, SmallActor([[0.5]]), SmallCritic([3.0, 1.0]), 0.5

    def drawn(obs_size: int, action_dim: int, gamma: float, *flags: str) -> tuple:
        batch = batch_of(rng, obs_size, action_dim, list(flags))
        return *batch, *networks(rng, obs_size, action_dim), gamma

    return [
        Case(one(""), note="a batch of one, in the middle of an episode"),
        Case(one("terminated"), note="a batch of one that terminated"),
        Case(one("truncated"), note="a batch of one that was truncated"),
        Case(drawn(2, 1, 0.9, "", "terminated", "truncated", ""), note="four steps"),
        Case(drawn(3, 2, 0.9, "both", ""), note="terminated and truncated in the same step"),
        Case(drawn(3, 2, 0.0, "", "truncated"), note="gamma 0, where only the reward counts"),
        Case(drawn(2, 2, 1.0, "", "terminated"), note="gamma 1, nothing is discounted"),
        Case(drawn(4, 3, 0.99, *["", "", "terminated", "truncated"] * 4)),
    ]


def checked_target(function) -> Callable:
    return lambda rng: (observe_target(function, *case.args) for case in target_cases(rng))


def target_carries_no_gradient(function, rng):
    return not any(target.requires_grad for target in checked_target(function)(rng))


def target_is_a_tensor(function, rng):
    return all(isinstance(target, torch.Tensor) for target in checked_target(function)(rng))


def target_can_be_learned_from(function, rng):
    """A tensor of `inference_mode` looks right, and stops the loss that it is used in."""
    for target in checked_target(function)(rng):
        q = torch.zeros_like(target.clone(), requires_grad=True)
        gradient(F.mse_loss(q, target.detach()), q)
    return True


def next_q(batch, actor, critic):
    return critic(batch.next_obs, actor(batch.next_obs))


def masked(mask: Callable[[Batch], torch.Tensor]):
    """The target with another mask."""
    return torch.no_grad()(
        lambda batch, actor, critic, gamma: (
            batch.reward + gamma * mask(batch) * next_q(batch, actor, critic)
        )
    )


def bootstrapped(value: Callable):
    """The target with another estimate of the future: `value(batch, actor, critic)`."""
    return torch.no_grad()(
        lambda batch, actor, critic, gamma: (
            batch.reward + gamma * (1 - batch.terminated) * value(batch, actor, critic)
        )
    )


def put_together(formula: Callable):
    """The target by another formula: `formula(reward, gamma, terminated, next_q)`."""
    return torch.no_grad()(
        lambda batch, actor, critic, gamma: formula(
            batch.reward, gamma, batch.terminated, next_q(batch, actor, critic)
        )
    )


def target_with_gradient(batch, actor, critic, gamma):
    return batch.reward + gamma * (1 - batch.terminated) * next_q(batch, actor, critic)


@torch.no_grad()
def if_for_the_whole_batch(batch, actor, critic, gamma):
    if batch.terminated:
        return batch.reward
    return batch.reward + gamma * next_q(batch, actor, critic)


@torch.no_grad()
def td_error(batch, actor, critic, gamma):
    return td_target(batch, actor, critic, gamma) - critic(batch.obs, batch.action)


@torch.no_grad()
def added_to_the_rewards(batch, actor, critic, gamma):
    batch.reward.add_(gamma * (1 - batch.terminated) * next_q(batch, actor, critic))
    return batch.reward


def in_numpy(batch, actor, critic, gamma):
    return td_target(batch, actor, critic, gamma).numpy()


def in_columns(reward: bool, mask: bool, future: bool):
    """The right formula, some of its parts with an axis more."""

    def column(x, yes):
        return x.unsqueeze(-1) if yes else x

    return lambda r, gamma, end, q: (
        column(r, reward) + gamma * column(1 - end, mask) * column(q, future)
    )


BROADCAST = (
    "`(B, 1)` and `(B,)` were broadcast to a matrix `(B, B)`: every row meets every other. "
    "Reward, flags and the critic's values all have shape `(B,)` already, so no `unsqueeze` is "
    "needed."
)
TARGET_GRADIENT = (
    "The numbers are right, but your target carries a gradient: the critic's loss would flow back "
    "into the target networks, and leave gradients in them that nobody clears. A target holds "
    "still: compute it under `torch.no_grad()`, or `.detach()` it."
)
INFERENCE = (
    "The numbers are right, but under `torch.inference_mode()` they become tensors that no loss "
    "can use later on, and training stops with an error. Use `torch.no_grad()`."
)
NO_TENSOR = (
    "The numbers are right, but they are no tensor any more, and the critic's loss needs one. Stay "
    "in torch: nothing has to be converted, `no_grad` is enough."
)

TD_TARGET = Exercise(
    id="2.6",
    lesson="02_ddpg",
    reference=td_target,
    card=Card(
        title="A target that holds still",
        what="Write `td_target(batch, target_actor, target_critic, gamma)`: what $Q(s, a)$ should "
        r"be for each step of the batch, $y = r + \gamma\,(1 - \text{terminated})\,Q'(s', "
        r"\mu'(s'))$, shape `(B,)`, without gradient.",
        why="Everything that the critic knows comes from here. A target that takes a time limit "
        "for the end of the world, or that moves with every step of the critic, is learned just as "
        "eagerly as a right one.",
        difficulty=3,
        minutes=10,
    ),
    hints=(
        "Ask three questions, in the order of the formula: what would the policy do *next*, "
        "what is that worth, and in which of the steps is there no next at all? A time limit ends "
        "the recording, not the world.",
        "Both target networks are asked about `batch.next_obs`: the actor for an action, the "
        "critic about that action. Multiply what it says with `gamma` and with a factor that is 0 "
        "where `batch.terminated` is 1, and add the reward.",
    ),
    cases=target_cases,
    observe=observe_target,
    misconceptions=[
        Misconception(
            "truncation taken for termination",
            masked(lambda b: (1 - b.terminated) * (1 - b.truncated)),
            "You stop bootstrapping where an episode was truncated as well. A time limit cuts off "
            "the recording, but the world would have gone on, and its future was worth something: "
            "only `terminated` sets it to 0.",
        ),
        Misconception(
            "truncation taken for termination, the flags added",
            masked(lambda b: 1 - (b.terminated + b.truncated)),
            "You take truncated steps for terminated ones, and where both flags are set your "
            "factor becomes -1. A time limit cuts off the recording only, the future was worth "
            "something: the factor is 1 minus `terminated` alone.",
        ),
        Misconception(
            "truncated in place of terminated",
            masked(lambda b: 1 - b.truncated),
            "You set the future to 0 where the step was truncated. It is the other flag: after a "
            "termination there is nothing more to earn, after a time limit there would have been.",
        ),
        Misconception(
            "no mask",
            masked(lambda b: 1.0),
            "You bootstrap from steps that terminated, too. After them there is no future: the "
            "target is the reward alone, so multiply the future by 1 minus `terminated`.",
        ),
        Misconception(
            "mask inverted",
            masked(lambda b: b.terminated),
            "Your mask is the wrong way round: it keeps the future just where there is none. "
            "`terminated` is 1 at the end, so the factor is 1 minus it.",
        ),
        Misconception(
            "one end for the whole batch",
            masked(lambda b: 1 - b.terminated.max()),
            "One step that terminated takes the future from the whole batch. Each row has a flag "
            "of its own: multiply entry by entry.",
        ),
        Misconception(
            "an if for the whole batch",
            if_for_the_whole_batch,
            "An `if` decides once, but every row of the batch has its own `terminated`. Multiply "
            "with a factor that is 0 or 1 row by row.",
        ),
        Misconception(
            "inverts with a tilde",
            masked(lambda b: ~b.terminated),
            "`~` inverts booleans, but these flags are the numbers 0.0 and 1.0: subtract them from "
            "1.",
        ),
        Misconception(
            "the present observation",
            bootstrapped(lambda b, actor, critic: critic(b.obs, actor(b.obs))),
            "You bootstrap from `batch.obs`, where the step began. The future begins where it led "
            "to: `batch.next_obs`, for actor and critic.",
        ),
        Misconception(
            "the actor asked about the present",
            bootstrapped(lambda b, actor, critic: critic(b.next_obs, actor(b.obs))),
            "You asked the target actor about `batch.obs`. The action in question is the next one: "
            "ask about `batch.next_obs`.",
        ),
        Misconception(
            "the critic asked about the present",
            bootstrapped(lambda b, actor, critic: critic(b.obs, actor(b.next_obs))),
            "The next action is right, but you asked the critic what it is worth in `batch.obs`. "
            "It will be taken in `batch.next_obs`.",
        ),
        Misconception(
            "the action of the batch",
            bootstrapped(lambda b, actor, critic: critic(b.next_obs, b.action)),
            "You asked what the action of the batch is worth in the next state. That one was taken "
            "before, whoever chose it; what comes next is the policy's own choice, so ask the "
            "target actor.",
        ),
        Misconception(
            "the step itself",
            bootstrapped(lambda b, actor, critic: critic(b.obs, b.action)),
            "You bootstrap from the very pair that the target is for. The future begins one step "
            "later: at `batch.next_obs`, with the action that the target actor takes there.",
        ),
        Misconception(
            "arguments of the critic exchanged",
            bootstrapped(lambda b, actor, critic: critic(actor(b.next_obs), b.next_obs)),
            "The critic takes the observation first and the action second; you handed them over "
            "the other way round. Side by side they have the same length, so there is no error.",
        ),
        Misconception(
            "no discount",
            put_together(lambda r, gamma, end, q: r + (1 - end) * q),
            "`gamma` is missing: what comes one step later counts `gamma` times as much.",
        ),
        Misconception(
            "reward discounted",
            put_together(lambda r, gamma, end, q: gamma * (r + (1 - end) * q)),
            "You discounted the reward as well. It was earned by this very step; only what comes "
            "after it is multiplied by `gamma`.",
        ),
        Misconception(
            "the discount on the reward only",
            put_together(lambda r, gamma, end, q: gamma * r + (1 - end) * q),
            "You multiplied the reward by `gamma` and left the future as it is. It is the other "
            "way round: the reward is now, the future is one step away.",
        ),
        Misconception(
            "reward masked, too",
            put_together(lambda r, gamma, end, q: (1 - end) * (r + gamma * q)),
            "You set the reward to 0 as well where the episode terminated. The last reward was "
            "really earned, and often it is the one that matters: the mask belongs to the future "
            "only.",
        ),
        Misconception(
            "reward missing",
            put_together(lambda r, gamma, end, q: gamma * (1 - end) * q),
            "The reward is missing: a target without it has nothing to do with the task.",
        ),
        Misconception(
            "the reward alone",
            put_together(lambda r, gamma, end, q: r),
            "Your target is the reward alone, so the critic would look no further than one step. "
            "Add the discounted value of what comes next.",
        ),
        Misconception(
            "future subtracted",
            put_together(lambda r, gamma, end, q: r - gamma * (1 - end) * q),
            "You subtracted the future, or your factor is `terminated` minus 1 in place of 1 minus "
            "`terminated`. The future comes on top of the reward: plus.",
        ),
        Misconception(
            "brackets missing",
            put_together(lambda r, gamma, end, q: r + gamma * 1 - end * q),
            "Without brackets around 1 minus `terminated`, `gamma` is added as a number of its own "
            "and the future counts only at the end: multiplication comes before subtraction.",
        ),
        Misconception(
            "every reward with every future",
            put_together(lambda r, gamma, end, q: r.unsqueeze(-1) + gamma * (1 - end) * q),
            "`(B, 1)` and `(B,)` were broadcast to a matrix `(B, B)`: every reward meets every "
            "future. Everything here has shape `(B,)` already, so no `unsqueeze` is needed.",
        ),
        Misconception(
            "a column",
            put_together(lambda r, gamma, end, q: (r + gamma * (1 - end) * q).unsqueeze(-1)),
            "The numbers are right, but in a column `(B, 1)`. The critic's values have shape "
            "`(B,)`, and the two would be broadcast to a matrix: leave the axis out.",
        ),
        Misconception(
            "averaged over the batch",
            put_together(lambda r, gamma, end, q: (r + gamma * (1 - end) * q).mean()),
            "You averaged over the batch. Every step has a target of its own, shape `(B,)`.",
        ),
        Misconception(
            "every future with every reward",
            put_together(lambda r, gamma, end, q: r + gamma * (1 - end) * q.unsqueeze(-1)),
            "`(B, 1)` and `(B,)` were broadcast to a matrix `(B, B)`: every future meets every "
            "reward. The critic's values have shape `(B,)` already, so no `unsqueeze` is needed.",
        ),
        *(
            Misconception(
                f"broadcast to a matrix: {name} in a column",
                put_together(in_columns(*which)),
                BROADCAST,
            )
            for name, which in {
                "mask": (False, True, False),
                "reward and mask": (True, True, False),
                "future and mask": (False, True, True),
                "reward and future": (True, False, True),
            }.items()
        ),
        Misconception(
            "the largest value of the batch",
            bootstrapped(lambda b, actor, critic: next_q(b, actor, critic).max()),
            "You took the largest value of the whole batch for all of its rows. DQN's maximum runs "
            "over a list of actions; here the target actor has chosen the action already, and each "
            "row keeps its own value.",
        ),
        Misconception(
            "a second axis asked for",
            bootstrapped(lambda b, actor, critic: next_q(b, actor, critic).max(dim=1).values),
            "You asked for axis 1 of something that has only the axis of the batch: the critic "
            "gives one value for each row, shape `(B,)`. There is nothing to squeeze, and no list "
            "of actions to take a maximum over: the target actor chose already.",
        ),
        Misconception(
            "noise on the next action",
            bootstrapped(
                lambda b, actor, critic: critic(
                    b.next_obs, actor(b.next_obs) + 0.1 * torch.randn_like(b.action)
                )
            ),
            "Called twice with the same batch, your function gives two targets: there is noise on "
            "the next action. Lesson 03 will have a good reason for that, but DDPG asks what the "
            "target actor itself would do.",
        ),
        Misconception(
            "discounted twice",
            put_together(lambda r, gamma, end, q: r + gamma**2 * (1 - end) * q),
            "You discounted the future twice. The next observation is one step away: `gamma`, "
            "once.",
        ),
        Misconception(
            "TD error instead of target",
            td_error,
            "You subtracted Q of the present step: that is the TD error, how far off the critic "
            "is. What is asked for is the target itself; the loss takes the difference.",
        ),
        Misconception(
            "added to the rewards in place",
            added_to_the_rewards,
            "The numbers are right, but you wrote them into `batch.reward` itself, which whoever "
            "made the batch may still need. Build a new tensor.",
        ),
        Misconception("with gradient", target_with_gradient, TARGET_GRADIENT),
        Misconception("in numpy", in_numpy, NO_TENSOR),
        Misconception("in inference mode", torch.inference_mode()(target_with_gradient), INFERENCE),
    ],
    properties=[
        Property("no tensor", target_is_a_tensor, NO_TENSOR),
        Property("useless for a loss", target_can_be_learned_from, INFERENCE),
        Property("gradient in the target", target_carries_no_gradient, TARGET_GRADIENT),
        no_mutation(target_cases, observe_target),
    ],
)


# --- 2.7 critic_loss ------------------------------------------------------------------------------


def observe_critic_loss(
    function, critic, obs, action, reward, next_obs, terminated, truncated, target
):
    batch = Batch(obs, action, reward, next_obs, terminated, truncated)
    loss = function(critic, batch, target)
    return {"loss": loss, "gradient to the critic": gradient(loss, critic.weights)}


def critic_loss_cases(rng: np.random.Generator) -> list[Case]:
    def by_hand(actions: list[float], targets: list[float]) -> tuple:
        size = len(actions)
        obs, next_obs = torch.ones(size, 1), torch.full((size, 1), 2.0)
        action, reward = floats(actions).unsqueeze(-1), torch.full((size,), -1.0)
        flags = torch.zeros(size), torch.zeros(size)
        return SmallCritic([2.0, 4.0]), obs, action, reward, next_obs, *flags, floats(targets)

    def drawn(obs_size: int, action_dim: int, *flags: str) -> tuple:
        batch = batch_of(rng, obs_size, action_dim, list(flags))
        critic = SmallCritic(rng.normal(size=obs_size + action_dim))
        return critic, *batch, floats(3 * rng.normal(size=len(flags)))

    return [
        Case(by_hand([0.5], [5.0]), note="batch of one"),
        Case(by_hand([0.5, -1.0], [5.0, 1.0]), note="two steps"),
        Case(drawn(3, 2, "", "terminated", "truncated", "", "both"), note="two action dimensions"),
        Case(drawn(3, 3, *["", "", "terminated", "truncated"] * 2)),
        Case(drawn(4, 1, *["", "terminated"] * 16)),
    ]


def plain(function):
    """`function(critic, batch, target)` for the parts of a batch."""
    return lambda critic, *rest: function(critic, Batch(*rest[:6]), rest[6])


def critic_loss_is_a_tensor(function, rng):
    return TENSORS.test(plain(function), rng)


TENSORS = gives_tensors(critic_loss_cases)


def q_of(critic, batch):
    return critic(batch.obs, batch.action)


def compared(measure: Callable):
    """`measure(q, target)`."""
    return lambda critic, batch, target: measure(q_of(critic, batch), target)


CRITIC_LOSS = Exercise(
    id="2.7",
    lesson="02_ddpg",
    reference=critic_loss,
    card=Card(
        title="The critic's loss",
        what="Write `critic_loss(critic, batch, target)`: the mean squared error between $Q(s, a)$ "
        "of the steps in the batch and their targets `(B,)`. A scalar.",
        why="Which action is meant makes the whole difference between the two losses of DDPG: here "
        "it is the one that was really taken, because the reward in the target is an answer to "
        "that one and to no other.",
        difficulty=1,
        minutes=4,
    ),
    hints=(
        "The target was made from a reward. Which observation and which action earned it? That is "
        "the pair whose value it corrects.",
        "Hand `batch.obs` and `batch.action` to the critic, and compare what it says with the "
        "target: the difference, its square, the mean. `nn.functional` has all three in one.",
    ),
    cases=critic_loss_cases,
    observe=observe_critic_loss,
    misconceptions=[
        Misconception(
            "the next observation",
            lambda critic, batch, target: F.mse_loss(critic(batch.next_obs, batch.action), target),
            "You asked what the action is worth in `batch.next_obs`, but it was taken in "
            "`batch.obs`. The next observation has done its work already: it is in the target.",
        ),
        Misconception(
            "arguments of the critic exchanged",
            lambda critic, batch, target: F.mse_loss(critic(batch.action, batch.obs), target),
            "The critic takes the observation first and the action second; you handed them over "
            "the other way round. Side by side they have the same length, so there is no error.",
        ),
        Misconception(
            "the reward as target",
            lambda critic, batch, target: F.mse_loss(q_of(critic, batch), batch.reward),
            "You compared Q with the reward alone, so the critic would look no further than one "
            "step. The future is in `target`.",
        ),
        Misconception(
            "the reward added again",
            lambda critic, batch, target: F.mse_loss(q_of(critic, batch), batch.reward + target),
            "You added the reward to the target, which contains it already.",
        ),
        Misconception(
            "masked again",
            lambda critic, batch, target: F.mse_loss(
                q_of(critic, batch), target * (1 - batch.terminated)
            ),
            "You set the target to 0 where the step terminated. The target knows about ends: there "
            "it is the last reward, which the critic has to learn.",
        ),
        Misconception(
            "ends left out",
            lambda critic, batch, target: (
                (1 - batch.terminated) * (q_of(critic, batch) - target) ** 2
            ).mean(),
            "You left out the steps that terminated. They are the only ones whose target is known "
            "for sure: take them all.",
        ),
        Misconception(
            "every value against every target",
            compared(lambda q, target: ((q.unsqueeze(-1) - target) ** 2).mean()),
            "`(B, 1)` minus `(B,)` is broadcast to a matrix `(B, B)`: every value is compared with "
            "every target, and all values learn the same average. Critic and target both have "
            "shape `(B,)`: no `unsqueeze` is needed.",
        ),
        Misconception(
            "values detached",
            compared(lambda q, target: F.mse_loss(q.detach(), target)),
            "You detached the critic's values (or computed them under `no_grad`), so no gradient "
            "reaches the critic and it never learns. The target is the side that holds still, and "
            "it comes without gradient already.",
        ),
        Misconception(
            "a plain number",
            compared(lambda q, target: F.mse_loss(q, target).item()),
            PLAIN_NUMBER,
        ),
        Misconception(
            "sum instead of mean",
            compared(lambda q, target: ((q - target) ** 2).sum()),
            "You took the sum over the batch. With the mean, the size of a step does not depend on "
            "how many steps there are in it.",
        ),
        Misconception(
            "no mean",
            compared(lambda q, target: (q - target) ** 2),
            "You return one squared error for each step. A loss is a single number, which "
            "`backward()` can start from: take the mean.",
        ),
        Misconception(
            "half the squared error",
            compared(lambda q, target: ((q - target) ** 2).mean() / 2),
            "You return half the mean squared error. Many books do so, because the gradient then "
            "has no factor 2, but the mean squared error itself is asked for.",
        ),
        Misconception(
            "absolute error",
            compared(F.l1_loss),
            "You took the absolute error. It pulls the values towards the median of the targets, "
            "but Q is an expectation, the mean: that is what the squared error leads to.",
        ),
        Misconception(
            "smooth absolute error",
            compared(F.smooth_l1_loss),
            "You took the smooth L1 (Huber) loss. It is a common and robust choice, less moved by "
            "outliers, but the mean squared error is asked for here.",
        ),
        Misconception(
            "not squared",
            compared(lambda q, target: (q - target).mean()),
            "The differences are not squared, so errors up and down cancel, and the loss can be "
            "made ever smaller by lowering all values.",
        ),
        Misconception(
            "only the target squared",
            compared(lambda q, target: (q - target**2).mean()),
            "The square got hold of the target only: `**` binds more tightly than `-`. Put the "
            "difference in brackets.",
        ),
        Misconception(
            "square of the mean",
            compared(lambda q, target: (q - target).mean() ** 2),
            "You took the mean first and squared it afterwards, so errors up and down cancel. "
            "Square each difference first.",
        ),
        Misconception(
            "difference of squares",
            compared(lambda q, target: (q**2 - target**2).mean()),
            "You subtracted the squares; it is the difference that is to be squared. Yours can be "
            "made smaller by shrinking all values to 0.",
        ),
        Misconception(
            "root",
            compared(lambda q, target: ((q - target) ** 2).mean().sqrt()),
            "You took the square root of the mean squared error. That reads well in a report, but "
            "the mean squared error itself is asked for.",
        ),
        Misconception(
            "minus sign",
            compared(lambda q, target: -((q - target) ** 2).mean()),
            "The minus belongs to the actor, which wants more of something. The critic's error is "
            "to become smaller, which is what an optimiser does anyway.",
        ),
        Misconception(
            "a class called as the function",
            compared(nn.MSELoss),
            "`nn.MSELoss` is a class, and what you put in its brackets are its settings. Build it "
            "first and call what you built, `nn.MSELoss()(q, target)`, or use the function, "
            "`nn.functional.mse_loss`.",
        ),
        Misconception(
            "like the actor's loss",
            lambda critic, batch, target: -q_of(critic, batch).mean(),
            "You return minus the mean of Q, which is the actor's wish: with it the critic would "
            "promise more and more. The critic has to come close to its targets.",
        ),
        Misconception(
            "values times targets",
            compared(lambda q, target: -(q * target).mean()),
            "You multiplied values and targets, as lesson 01's actor does with its weights. The "
            "critic is plain regression: its values should come close to the targets.",
        ),
        Misconception(
            "backward inside the loss",
            with_backward(critic_loss),
            "You call `backward()` inside the function, which uses up the graph. Return the loss "
            "only: the agent computes the gradient and takes the step.",
        ),
    ],
    properties=[Property(TENSORS.name, critic_loss_is_a_tensor, TENSORS.message)],
)


# --- 2.8 polyak_update ----------------------------------------------------------------------------


def parameters_of(given) -> list[torch.Tensor]:
    return list(given.parameters()) if isinstance(given, nn.Module) else given


def observe_polyak(function, targets, online, tau):
    """Lists are handed over as lists, a network as the generator that its `parameters()` is."""
    here = [given.parameters() if isinstance(given, nn.Module) else list(given)
            for given in (targets, online)]  # fmt: skip
    function(*here, tau)
    return {
        "targets": [parameter.detach() for parameter in parameters_of(targets)],
        "online parameters": [parameter.detach() for parameter in parameters_of(online)],
    }


def polyak_cases(rng: np.random.Generator) -> list[Case]:
    def parameters(*shapes: tuple[int, ...]) -> list[nn.Parameter]:
        return [nn.Parameter(floats(rng.normal(size=shape))) for shape in shapes]

    def network() -> nn.Module:
        layer = nn.Linear(3, 2)
        layer.load_state_dict({"weight": floats(rng.normal(size=(2, 3))), "bias": torch.ones(2)})
        return nn.Sequential(layer, nn.ReLU(), SmallActor(rng.normal(size=(2, 1))))

    def one(tau: float) -> tuple:
        return [nn.Parameter(floats([0.0]))], [nn.Parameter(floats([1.0]))], tau

    return [
        Case(one(0.25), note="one number"),
        Case(one(1.0), note="tau 1, no lag at all"),
        Case((parameters((2,), (2,)), parameters((2,), (2,)), 0.1), note="two parameters"),
        Case(
            (parameters((3, 2), (3,), (1, 3)), parameters((3, 2), (3,), (1, 3)), 0.005),
            note="three parameters of different shapes, a small tau",
        ),
        Case((network(), network(), 0.2), note="`parameters()` of two networks, as generators"),
    ]


def polyak_pairs(rng: np.random.Generator, frozen: bool) -> tuple[list, list]:
    """Targets and online parameters; the targets without gradient if `frozen`."""
    shapes = (2, 3), (3,)
    targets = [nn.Parameter(floats(rng.normal(size=s)), not frozen) for s in shapes]
    return targets, [nn.Parameter(floats(rng.normal(size=s))) for s in shapes]


def targets_have_memory_of_their_own(function, rng):
    for tau in (0.25, 1.0):
        targets, online = polyak_pairs(rng, frozen=False)
        function(list(targets), list(online), tau)
        before = [target.detach().clone() for target in targets]
        for parameter in online:
            parameter.data.add_(1.0)
        if not all(torch.equal(a, b) for a, b in zip(before, targets, strict=True)):
            return False
    return True


def targets_carry_no_graph(function, rng):
    targets, online = polyak_pairs(rng, frozen=True)
    function(list(targets), list(online), 0.25)
    return not any(target.requires_grad for target in targets)


def every_pair(move: Callable[[torch.Tensor, torch.Tensor, float], None]):
    """The update with another step for each pair."""

    @torch.no_grad()
    def update(targets, online, tau):
        for target, source in zip(targets, online, strict=True):
            move(target, source, tau)

    return update


def rebinds(target, source, tau):
    target = tau * source + (1 - tau) * target


def damages_online(target, source, tau):
    target.mul_(1 - tau).add_(source.mul_(tau))


def aliases(target, source, tau):
    target.data = source.data


def aliases_at_one(target, source, tau):
    target.data = source.data if tau == 1 else torch.lerp(target, source, tau)


def without_no_grad(targets, online, tau):
    for target, source in zip(targets, online, strict=True):
        target.lerp_(source, tau)


def keeps_the_graph(targets, online, tau):
    """Works wherever in-place changes are allowed, and drags the online network along."""
    for target, source in zip(targets, online, strict=True):
        if target.requires_grad:
            target.data.lerp_(source.data, tau)
        else:
            target.lerp_(source, tau)


@torch.no_grad()
def into_the_list(targets, online, tau):
    for i, (target, source) in enumerate(zip(targets, online, strict=True)):
        targets[i] = tau * source + (1 - tau) * target


@torch.no_grad()
def wants_networks(targets, online, tau):
    for target, source in zip(targets.parameters(), online.parameters(), strict=True):
        target.lerp_(source, tau)


@torch.no_grad()
def by_numbers(targets, online, tau):
    for i in range(len(targets)):
        targets[i].lerp_(online[i], tau)


@torch.no_grad()
def only_the_first(targets, online, tau):
    for target, source in zip(targets, online, strict=True):
        return target.lerp_(source, tau)


@torch.no_grad()
def each_with_every_other(targets, online, tau):
    for target in targets:
        for source in online:
            target.lerp_(source, tau)


POLYAK_UPDATE = Exercise(
    id="2.8",
    lesson="02_ddpg",
    reference=polyak_update,
    card=Card(
        title="Targets that follow slowly",
        what="Write `polyak_update(targets, online, tau)`: move every target parameter a fraction "
        r"`tau` of the way to its online one, $\theta' \leftarrow \tau\theta + (1 - \tau)\theta'$, "
        "in place. It returns nothing.",
        why="With the two weights exchanged the target network is practically the online one, and "
        "the lesson's most important safety device is gone without any sign; and a target that is "
        "not changed in place never moves at all.",
        difficulty=2,
        minutes=6,
    ),
    hints=(
        "With `tau = 0.005`, how far does a target go in one update? Which of the two numbers in "
        "the formula is small, and which network does it belong to? And who else holds on to these "
        "very tensors?",
        "Walk through both with `zip`. A tensor's method whose name ends in `_` changes it where "
        "it stands: `lerp_` moves it a fraction of the way to another one, or scale it with "
        "`mul_` and add the rest with `add_`.",
    ),
    cases=polyak_cases,
    observe=observe_polyak,
    misconceptions=[
        Misconception(
            "tau the wrong way round",
            every_pair(lambda target, source, tau: target.lerp_(source, 1 - tau)),
            "Your weights have changed places: a target keeps only `tau` of itself, so with "
            "`tau = 0.005` it would be the online network, all but a trace. `tau` is the small "
            "step towards the online parameter.",
        ),
        Misconception(
            "hard copy",
            every_pair(lambda target, source, tau: target.copy_(source)),
            "You copied the online parameters, so there is no lag: the target would chase itself. "
            "Only a fraction `tau` of the way is meant.",
        ),
        Misconception(
            "hard copy by sharing",
            every_pair(aliases),
            "After your update target and online parameter share the same memory: from now on they "
            "are one network under two names. Change the numbers of the target in place, by a "
            "fraction `tau` of the way.",
        ),
        Misconception(
            "shares its memory when tau is 1",
            every_pair(aliases_at_one),
            "With `tau` 1 your targets share the memory of the online parameters: from then on "
            "they are one network under two names. Copy the numbers, `copy_`, or let the formula "
            "do it.",
        ),
        Misconception(
            "not in place",
            every_pair(rebinds),
            "The targets are as they were: you computed new tensors, but `target = ...` in a loop "
            "only gives a name to them, and nobody looks at what you return. Change each target "
            "where it stands, with `copy_`, `lerp_`, or `mul_` and `add_`.",
        ),
        Misconception(
            "put into the list",
            into_the_list,
            "You put a new tensor into the list, but the network still holds the old one, and that "
            "is as it was. Change each target where it stands, with `copy_`, `lerp_`, or `mul_` "
            "and `add_`.",
        ),
        Misconception(
            "asks for parameters",
            wants_networks,
            "You call `.parameters()`, but what comes in are the parameters already, in a list or "
            "a generator: walk through both with `zip`.",
        ),
        Misconception(
            "the online network moved",
            every_pair(lambda target, source, tau: source.lerp_(target, tau)),
            "You moved the online parameters towards the targets. It is the copy that follows: the "
            "online network belongs to the optimiser.",
        ),
        Misconception(
            "online parameters changed on the way",
            every_pair(damages_online),
            "The targets are right, but you scaled the online parameters in place on the way, and "
            "the trained network is ruined. Multiply without the `_`, or use `alpha=` in `add_`.",
        ),
        Misconception(
            "nothing taken off",
            every_pair(lambda target, source, tau: target.add_(source, alpha=tau)),
            "You added `tau` times the online parameter without scaling the target by `1 - tau`: "
            "the targets would grow without end.",
        ),
        Misconception(
            "nothing added",
            every_pair(lambda target, source, tau: target.mul_(1 - tau)),
            "You scaled the targets by `1 - tau` and added nothing, so they shrink to 0. The other "
            "part comes from the online parameter.",
        ),
        Misconception(
            "away from the online network",
            every_pair(lambda target, source, tau: target.add_(target - source, alpha=tau)),
            "Your targets move away from the online parameters: the step goes towards them, online "
            "minus target.",
        ),
        Misconception(
            "the step alone",
            every_pair(lambda target, source, tau: target.copy_(tau * (source - target))),
            "You wrote the step in the place of the parameter: `tau` times the difference is what "
            "has to be added to the target.",
        ),
        Misconception(
            "the mean of both",
            every_pair(lambda target, source, tau: target.lerp_(source, 0.5)),
            "You took the mean of both networks whatever `tau` is. The online parameter has the "
            "weight `tau`.",
        ),
        Misconception(
            "the target's own part forgotten",
            every_pair(lambda target, source, tau: target.copy_(tau * source)),
            "Your target becomes `tau` times the online parameter, next to 0, and nothing of "
            "itself is kept. The other half of the formula is missing: `1 - tau` times the target.",
        ),
        Misconception(
            "the online parameters overwritten",
            every_pair(lambda target, source, tau: source.copy_(tau * source + (1 - tau) * target)),
            "Your mixture is right, but you wrote it into the online parameter. It is the target "
            "that follows: the online network belongs to the optimiser.",
        ),
        Misconception(
            "targets copied into the online network",
            every_pair(lambda target, source, tau: source.copy_(target)),
            "You copied the target into the online parameter, and what it has learned is gone. It "
            "is the other way round, and only a fraction `tau` of the way.",
        ),
        Misconception(
            "tau ignored",
            every_pair(lambda target, source, tau: target.lerp_(source, 0.005)),
            "You always move by 0.005. That is only the usual choice: take the fraction from the "
            "argument `tau`.",
        ),
        Misconception(
            "only the first parameter",
            only_the_first,
            "Only the first parameter moves: a `return` inside the loop ends it after one round. "
            "The function needs no `return`.",
        ),
        Misconception(
            "each with every other",
            each_with_every_other,
            "You move every target towards all online parameters in turn. They belong together "
            "pair by pair: go through both at once, with `zip`.",
        ),
        Misconception(
            "counted through",
            by_numbers,
            "You ask for `len` or for an entry by its number, and a list has both. But a network's "
            "`parameters()` is a generator, which can only be walked through: `zip` takes any two "
            "and pairs them up.",
        ),
        Misconception(
            "no no_grad",
            without_no_grad,
            "torch refuses to change a parameter in place while it records gradients. This update "
            "is no part of any loss: put it under `torch.no_grad()`.",
        ),
        Misconception(
            "keeps the graph",
            keeps_the_graph,
            "The numbers are right, but torch records your update: the targets carry a graph back "
            "to the online parameters that grows with each step. This is no part of any loss: put "
            "it under `torch.no_grad()`.",
        ),
    ],
    properties=[
        Property(
            "targets share memory",
            targets_have_memory_of_their_own,
            "The numbers are right, but afterwards a target shares its memory with the online "
            "parameter and moves whenever that one is trained. Copy numbers, not tensors.",
        ),
        Property(
            "graph in the targets",
            targets_carry_no_graph,
            "The numbers are right, but torch records your update, and the targets carry a graph "
            "back to the online parameters. Put it under `torch.no_grad()`.",
        ),
    ],
)
