"""Lesson 04's agent: exercise 4.12, the `update` of `DDPGfD`.

As for lesson 03's agent: small networks with given weights and plain gradient descent take the
place of the agent's own, so that the numbers can be worked out by hand. The memory has a few steps,
all with priority 1, and counts priorities as they are (alpha = 1).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from functools import lru_cache
from itertools import pairwise

import numpy as np
import torch

from helpers.agents.base import gradient_step
from helpers.agents.cloning import bc_loss
from helpers.agents.ddpg import actor_loss, critic_loss, polyak_update, td_target
from helpers.agents.ddpgfd import DDPGfD, n_step_target, priorities, weighted_critic_loss
from helpers.checks.ddpg_losses import FROZEN, SmallActor, SmallCritic, floats
from helpers.checks.ddpgfd_losses import n_step_batch
from helpers.checks.exercise import Card, Case, Exercise, Misconception
from helpers.checks.td3_update import (
    NETWORKS,
    NEVER_CLEARED,
    Spaces,
    backward_and_step,
    frozen,
    loss_called,
    moved,
    no_step,
    stepped_by,
    weights,
)
from helpers.memory.buffers import PrioritizedBatch, PrioritizedReplayBuffer

# --- What is looked at ----------------------------------------------------------------------------

PLACES = 12  # in the memory
RETURNED = ("critic_loss", "actor_loss", "demonstrations")


def built(function, obs_size: int, action_dim: int, **settings):
    small = {"hidden": 8, "learning_starts": 1, "batch_size": 1, "buffer_size": PLACES}
    return function(Spaces(obs_size, action_dim), seed=0, alpha=1.0, **small, **settings)


@lru_cache(maxsize=1)
def template(function):
    """Built once: most of it is replaced, and building takes longer than a few updates."""
    return built(function, 1, 1)


def filled(buffer):
    """The memory with a step in each of its places."""
    obs, action = (np.zeros(getattr(buffer.arrays, name).shape[1:]) for name in ("obs", "action"))
    for _ in range(PLACES):
        buffer.add(obs, action, 0.0, obs, False, False)
    return buffer


def agent_with(function, networks: tuple, learning_rate: float, weight_decay: float, **settings):
    """An agent with these networks: critic, actor, target critic, target actor."""
    agent = copy(template(function))
    for name, value in {**settings, **dict(zip(NETWORKS, networks, strict=True))}.items():
        setattr(agent, name, value)
    for name in ("actor", "critic"):
        parameters = getattr(agent, name).parameters()
        optimizer = torch.optim.SGD(parameters, lr=learning_rate, weight_decay=weight_decay)
        setattr(agent, f"{name}_optimizer", optimizer)
    agent.online = [*agent.actor.parameters(), *agent.critic.parameters()]
    agent.targets = [*agent.target_actor.parameters(), *agent.target_critic.parameters()]
    agent.buffer = PrioritizedReplayBuffer(PLACES, (1,), (1,), 0, alpha=1.0)
    return agent


def observe_agent(
    function, critic, actor, target_critic, target_actor,
    obs, action, reward, next_obs, terminated, truncated, n_reward, n_next_obs, n_terminated,
    n_discount, importance_weights, is_demo, indices,
    updates, learning_rate, weight_decay, **settings,
):  # fmt: skip
    """All weights and priorities after each update, and what it returned.

    Without networks the agent keeps its own, and what is looked at is which of them move.
    """
    batch = PrioritizedBatch(
        obs, action, reward, next_obs, terminated, truncated, n_reward, n_next_obs, n_terminated,
        n_discount, importance_weights, is_demo, indices,
    )  # fmt: skip
    if critic is None:
        agent = built(function, obs.shape[1], action.shape[1], **settings)
    else:
        networks = critic, actor, target_critic, target_actor
        agent = agent_with(function, networks, learning_rate, weight_decay, **settings)
    filled(agent.buffer)
    drawn = indices.numpy()
    states, returned = [state(agent, drawn)], []
    before = agent.updates
    for _ in range(updates):
        agent.updates += 1  # as the agent itself counts
        returned.append(agent.update(PrioritizedBatch(*(part.clone() for part in batch))))
        states.append(state(agent, drawn))
    if critic is None:
        seen = {"list of what moves at each update": [moved(*pair) for pair in pairwise(states)]}
    else:
        each = "the update" if updates == 1 else "each update"
        seen = {
            f"{name.replace('_', ' ')} after {each}": np.squeeze(
                np.stack([state[name] for state in states[1:]]), axis=0 if updates == 1 else ()
            )
            for name in states[0]
        }
        seen[f"text about what {each} returns"] = [described(values) for values in returned]
        for name in RETURNED:
            seen[f"{name} of {each}"] = [loss_called(name, values) for values in returned]
    return seen | {
        "number of updates counted": agent.updates - before,
        "list of targets that are the online network itself": shared(agent),
        "list of what cannot be trained any more": frozen(agent),
    }


def shared(agent) -> str:
    pairs = [(name, getattr(agent, name)) for name in ("actor", "critic")]
    names = [name for name, network in pairs if getattr(agent, f"target_{name}") is network]
    return ", ".join(names) or "none"


def state(agent, drawn: np.ndarray) -> dict[str, np.ndarray]:
    """The weights of every network; in the memory the priorities of the steps that were drawn, of
    all others, and of the next new one.
    """
    memory = agent.buffer
    return weights(agent) | {
        "priorities_of_the_batch": memory.sums.leaves[drawn],
        "priorities_of_all_other_steps": np.delete(memory.sums.leaves, drawn),
        "priority_of_new_steps": np.array([memory.max_priority]),
    }


def described(values) -> str:
    """ "a dict" where the agent and its curves find all that they look for."""
    if not isinstance(values, Mapping):
        return f"something of type {type(values).__name__}"
    missing = [f"without {name}" for name in RETURNED if name not in values]
    # The agent asks each of them for its `.item()`.
    unfit = [
        f"its {name} is of type {type(value).__name__}"
        for name, value in values.items()
        if not hasattr(value, "item")
    ]
    return ", ".join(["a dict", *missing, *unfit])


# --- Cases ----------------------------------------------------------------------------------------


def update_cases(rng: np.random.Generator) -> list[Case]:
    def by_hand(is_demo: float) -> tuple:
        """Q is 2.75; the target is 2 one step ahead and 4 two steps ahead; the slope is 1."""
        networks = (
            SmallCritic([2.0, 2.0]),
            SmallActor([[0.5]]),
            SmallCritic([1.0, 0.0]),
            SmallActor([[0.0]]),
        )
        now, later = (floats([[1.0]]), floats([[0.5]])), (floats([1.0]), floats([[2.0]]))
        window = floats([3.0]), floats([[4.0]]), torch.zeros(1), floats([0.25])
        drawn = floats([0.5]), floats([is_demo]), torch.tensor([3])
        flags = torch.zeros(1), torch.zeros(1)
        return *networks, *now, *later, *flags, *window, *drawn, 1, 0.1, 0.0

    def drawn(
        obs_size: int, action_dim: int, updates: int, *windows: str,
        own: bool = False, decay: float = 0.0,
    ) -> tuple:  # fmt: skip
        def actor() -> SmallActor:
            return SmallActor(rng.normal(size=(obs_size, action_dim)) / 2)

        def critic() -> SmallCritic:
            return SmallCritic(rng.normal(size=obs_size + action_dim) / 2)

        networks = [None] * 4 if own else [critic(), actor(), critic(), actor()]
        batch = n_step_batch(rng, obs_size, action_dim, 0.9, *windows)
        return *networks, *batch, updates, 0.05, decay

    def large_weights() -> tuple:
        """Q is 0, but the critic's weights are large enough for any penalty on them to show."""
        one, demo = floats([[1.0]]), by_hand(1.0)
        return SmallCritic([1000.0, -1000.0]), *demo[1:4], one, one, *demo[6:]

    def case(args: tuple, note: str, gamma=0.9, tau=0.1) -> Case:
        numbers = {"n_step_weight": 0.25, "gradient_weight": 0.4, "eps": 0.125, "demo_bonus": 3.0}
        return Case(args, {"gamma": gamma, "tau": tau, **numbers}, note)

    windows = ["...", ".t", "..c", "t", "..", "c"]
    return [
        case(by_hand(0.0), "one step of the agent's own", gamma=0.5, tau=0.25),
        case(by_hand(1.0), "the same step, demonstrated", gamma=0.5, tau=0.25),
        case(drawn(2, 1, 1, *windows[:4]), "four steps"),
        case(drawn(2, 2, 2, *windows), "two updates, two action dimensions"),
        case(drawn(3, 3, 3, *windows[:3], decay=0.2), "three updates with weight decay"),
        case(large_weights(), "a critic with large weights", gamma=0.5, tau=0.25),
        case(drawn(3, 2, 2, *windows[:5], own=True), "the agent's own networks"),
    ]


# --- Wrong versions -------------------------------------------------------------------------------


class Parts(DDPGfD):
    """The course's update in parts, so that wrong versions can replace one of them."""

    def update(self, batch):
        target, n_target = self.one_step(batch), self.n_steps_ahead(batch)
        q, action = self.asked(batch)
        slope = self.slope(batch, q, action, target)
        losses = {"critic_loss": self.critic_step(batch, q, target, n_target)}
        losses["actor_loss"] = self.actor_step(batch)
        self.move_targets()
        self.renew(batch, self.priority(batch, q, target, n_target, slope))
        return losses | {"demonstrations": batch.is_demo.mean()}

    def one_step(self, batch):
        return td_target(batch, self.target_actor, self.target_critic, self.gamma)

    def n_steps_ahead(self, batch):
        return n_step_target(batch, self.target_actor, self.target_critic)

    def asked(self, batch):
        action = batch.action.clone().requires_grad_()
        return self.critic(batch.obs, action), action

    def slope(self, batch, q, action, target):
        return torch.autograd.grad(q.sum(), action, retain_graph=True)[0]

    def critic_step(self, batch, q, target, n_target):
        return self.step(self.critic_optimizer, self.critic_loss(batch, q, target, n_target))

    def critic_loss(self, batch, q, target, n_target):
        return weighted_critic_loss(q, target, n_target, batch.weights, self.n_step_weight)

    def actor_step(self, batch):
        return self.step(self.actor_optimizer, self.actor_loss(batch))

    def actor_loss(self, batch):
        return actor_loss(self.actor, self.critic, batch.obs)

    def step(self, optimizer, loss):
        gradient_step(optimizer, loss)
        return loss

    def move_targets(self):
        polyak_update(self.targets, self.online, self.tau)

    def error(self, batch, q, target, n_target):
        return (q - target).detach()

    def priority(self, batch, q, target, n_target, slope):
        error = self.error(batch, q, target, n_target)
        return priorities(error, slope, self.who(batch), *self.numbers())

    def who(self, batch):
        return batch.is_demo

    def numbers(self):
        return self.gradient_weight, self.eps, self.demo_bonus

    def renew(self, batch, priority):
        self.buffer.update_priorities(batch.indices, priority)


def agent_of(**methods) -> type[Parts]:
    """A wrong version: some parts replaced."""
    return type("DDPGfD", (Parts,), methods)


def usual(name: str) -> float:
    """What the course's agent takes where nothing is said."""
    return inspect.signature(DDPGfD).parameters[name].default


def with_usual(*names: str) -> Callable:
    """`numbers` of a wrong version: the usual ones for `names`, the agent's own for the others."""
    return lambda self: [
        usual(name) if name in names else getattr(self, name)
        for name in ("gradient_weight", "eps", "demo_bonus")
    ]


def slope_of(value: Callable):
    """A wrong version: the slope of `value(self, batch, q, target)` over actions."""

    def slope(self, batch, q, action, target):
        of = value(self, batch, q, target)
        return torch.autograd.grad(of, action, retain_graph=True)[0]

    return agent_of(slope=slope)


def slope_at(critic: Callable, action: Callable):
    """A wrong version: the slope of another critic, or at another action."""

    def slope(self, batch, q, asked, target):
        at = action(self, batch).detach().requires_grad_()
        return torch.autograd.grad(critic(self)(batch.obs, at).sum(), at)[0]

    return agent_of(slope=slope)


def slope_over_observations(self, batch, q, action, target):
    obs = batch.obs.clone().requires_grad_()
    return torch.autograd.grad(self.critic(obs, batch.action).sum(), obs)[0]


def with_error(error: Callable):
    """A wrong version: another TD error in the priorities, `error(batch, q, target, n_target)`."""
    return agent_of(error=lambda self, *args: error(*args).detach())


def in_order(*steps: str) -> type[Parts]:
    """A wrong version: "critic", "actor", "targets", "slope" and "q" (anew) in another order."""

    def update(self, batch):
        target, n_target = self.one_step(batch), self.n_steps_ahead(batch)
        q, action = self.asked(batch)
        slope, losses = None, {"demonstrations": batch.is_demo.mean()}
        for step in steps:
            if step == "critic":
                losses["critic_loss"] = self.critic_step(batch, q, target, n_target)
            elif step == "actor":
                losses["actor_loss"] = self.actor_step(batch)
            elif step == "targets":
                self.move_targets()
            elif step == "targets made":
                target, n_target = self.one_step(batch), self.n_steps_ahead(batch)
            elif step == "q":
                q, action = self.asked(batch)
            elif step == "slope":
                slope = self.slope(batch, q, action, target)
        self.renew(batch, self.priority(batch, q, target, n_target, slope))
        return losses

    return agent_of(update=update)


def one_loss_for_all(self, batch):
    target, n_target = self.one_step(batch), self.n_steps_ahead(batch)
    q, action = self.asked(batch)
    slope = self.slope(batch, q, action, target)
    losses = {
        "critic_loss": self.critic_loss(batch, q, target, n_target),
        "actor_loss": self.actor_loss(batch),
    }
    self.critic_optimizer.zero_grad()
    self.actor_optimizer.zero_grad()
    sum(losses.values()).backward()
    self.critic_optimizer.step()
    self.actor_optimizer.step()
    self.move_targets()
    self.renew(batch, self.priority(batch, q, target, n_target, slope))
    return losses | {"demonstrations": batch.is_demo.mean()}


def a_step_for_each_target(self, batch, q, target, n_target):
    loss = self.step(self.critic_optimizer, (batch.weights * (q - target) ** 2).mean())
    q = self.critic(batch.obs, batch.action)
    n_loss = self.n_step_weight * (batch.weights * (q - n_target) ** 2).mean()
    return loss + self.step(self.critic_optimizer, n_loss)


def slope_left_in_the_critic(self, batch):
    target, n_target = self.one_step(batch), self.n_steps_ahead(batch)
    q, action = self.asked(batch)
    self.critic_optimizer.zero_grad()
    q.sum().backward(retain_graph=True)
    losses = {"critic_loss": self.critic_loss(batch, q, target, n_target)}
    slope = action.grad.clone()
    losses["critic_loss"].backward()
    self.critic_optimizer.step()
    losses["actor_loss"] = self.actor_step(batch)
    self.move_targets()
    self.renew(batch, self.priority(batch, q, target, n_target, slope))
    return losses | {"demonstrations": batch.is_demo.mean()}


def decayed_again(self, optimizer, loss):
    (group,) = optimizer.param_groups
    decay = sum((p**2).sum() for p in group["params"]) * group["weight_decay"]
    gradient_step(optimizer, loss + decay)
    return loss


def penalised(self, batch, q, target, n_target):
    """The usual penalty, in the loss as well as in the optimiser."""
    penalty = sum((p**2).sum() for p in self.critic.parameters())
    return Parts.critic_loss(self, batch, q, target, n_target) + usual("weight_decay") * penalty


def counting(self, batch):
    self.updates += 1
    return Parts.update(self, batch)


def imitating(self, batch):
    return actor_loss(self.actor, self.critic, batch.obs) + bc_loss(
        self.actor, batch.obs, batch.action
    )


def imitating_demonstrations(self, batch):
    own = self.actor(batch.obs)
    apart = (batch.is_demo * ((own - batch.action) ** 2).mean(dim=1)).mean()
    return actor_loss(self.actor, self.critic, batch.obs) + apart


def frozen_critic(self, batch):
    self.critic.requires_grad_(False)
    return self.step(self.actor_optimizer, self.actor_loss(batch))


def renewed_where(chosen: Callable):
    """A wrong version: only some of the steps get their new priority."""

    def renew(self, batch, priority):
        rows = chosen(batch)
        self.buffer.update_priorities(batch.indices[rows], priority[rows])

    return agent_of(renew=renew)


def same_network(self):
    self.target_critic, self.target_actor = self.critic, self.actor


def moving(target: str, online: str) -> Callable:
    """`move_targets` of these two networks alone."""

    def move(self):
        pair = getattr(self, target).parameters(), getattr(self, online).parameters()
        polyak_update(*pair, self.tau)

    return move


def returns(change: Callable) -> type[Parts]:
    """A wrong version: right steps, and `change(values)` is returned."""
    return agent_of(update=lambda self, batch: change(Parts.update(self, batch)))


def without(name: str) -> Callable:
    return lambda values: {key: value for key, value in values.items() if key != name}


def renamed(**names: str) -> type[Parts]:
    """A wrong version: right values under other names."""
    return returns(lambda values: {names.get(name, name): x for name, x in values.items()})


HOLD_STILL = "Whatever stands in a target comes from networks that hold still:"
FRESH = (
    "A priority says what there was to learn when the step was drawn: error and slope are those of "
    "the critic before its step."
)
SLOPE = (
    "is wanted: how fast Q rises over actions, which is how much the actor could gain by another "
    "one"
)
ONE_STEP = "The priority goes by the plain TD error, one step ahead: `q` minus `target`."
USED_UP = (
    "The way back through the critic is used up when you need it a second time: a gradient frees "
    "what it passed. Take the slope first, with `retain_graph=True`, then the critic's step."
)
TOGETHER = "All target networks move together: the actor's and the critic's."
PENALTY = (
    "You add the squares of the weights to the loss. The penalty is in the optimiser already, as "
    "its `weight_decay`, so weights would shrink twice."
)
LOG_ITEM = (
    "The steps are right, but not everything that you return can be logged: the agent asks each "
    "entry for its `.item()`, which a plain number does not have. Return the tensors themselves."
)
MISSING = (
    "The steps are right, but an entry is missing in what you return, or has another name. The "
    "lesson's curves look for `critic_loss`, `actor_loss` and `demonstrations`."
)
NO_CLONING = (
    "You added the difference to the demonstrated actions to the actor's loss. That is a known "
    "idea, but not this one: here demonstrations teach through the memory and the critic alone, "
    "so that the actor may become better than they are."
)

DDPGFD_UPDATE = Exercise(
    id="4.12",
    lesson="04_ddpgfd",
    reference=DDPGfD,
    card=Card(
        title="All of it together",
        what="Write the `update` of `DDPGfD`, out of the functions above and lesson 02's: two "
        "targets, one weighted step of the critic, one step of the actor, a small one of the "
        "targets, and a new priority for each step of the batch: "
        "`self.buffer.update_priorities(indices, priorities)` renews the memory. It returns a "
        "dict of tensors: `critic_loss`, `actor_loss`, and in `demonstrations` the share of the "
        "batch that was demonstrated. The base class counts `updates`.",
        why="A step's priority needs the slope of Q at *its* action, from the critic that has not "
        "moved yet, and the way back through that critic is needed twice. Take the slope of the "
        "loss, or Q itself, and the agent still trains, by a memory that draws the wrong steps.",
        difficulty=4,
        minutes=20,
    ),
    hints=(
        "Ask of each quantity when it must be taken: targets and slope before the critic moves, "
        "the actor's step after it. A tensor needs `requires_grad_()` before the critic is asked, "
        "if you want to know how Q changes with it. Who gets the importance weights, and who not?",
        "`torch.autograd.grad` of the *sum* of `q` with respect to the action gives all slopes at "
        "once, in a tuple of one; with `retain_graph=True` the loss can go the same way again. "
        "Then a `gradient_step` for each loss and `polyak_update`. The error of `priorities` is "
        "`q` minus the one-step target, detached; `update_priorities` wants the batch's `indices`.",
    ),
    cases=update_cases,
    observe=observe_agent,
    misconceptions=[
        # Targets
        Misconception(
            "n-step target from the online networks",
            agent_of(n_steps_ahead=lambda self, b: n_step_target(b, self.actor, self.critic)),
            f"Your n-step target is made by the online networks. {HOLD_STILL} `self.target_actor` "
            "and `self.target_critic`.",
        ),
        Misconception(
            "one-step target from the online networks",
            agent_of(one_step=lambda self, b: td_target(b, self.actor, self.critic, self.gamma)),
            f"Your one-step target is made by the online networks. {HOLD_STILL} "
            "`self.target_actor` and `self.target_critic`.",
        ),
        Misconception(
            "both targets from the online networks",
            agent_of(
                one_step=lambda self, b: td_target(b, self.actor, self.critic, self.gamma),
                n_steps_ahead=lambda self, b: n_step_target(b, self.actor, self.critic),
            ),
            f"Both of your targets are made by the online networks. {HOLD_STILL} "
            "`self.target_actor` and `self.target_critic`.",
        ),
        Misconception(
            "one-step target twice",
            agent_of(n_steps_ahead=Parts.one_step),
            "You hand the one-step target over twice. The second one looks n steps ahead: "
            "`n_step_target`.",
        ),
        Misconception(
            "n-step target twice",
            agent_of(one_step=Parts.n_steps_ahead),
            "Your one-step target is the n-step one. They are two targets, and the priority goes "
            "by the one of one step: `td_target`.",
        ),
        Misconception(
            "n-step target twice in the loss",
            agent_of(
                critic_loss=lambda self, b, q, y, yn: weighted_critic_loss(
                    q, yn, yn, b.weights, self.n_step_weight
                )
            ),
            "You hand the n-step target over twice to the critic's loss. The first target looks "
            "one step ahead.",
        ),
        Misconception(
            "targets exchanged",
            agent_of(
                critic_loss=lambda self, b, q, y, yn: weighted_critic_loss(
                    q, yn, y, b.weights, self.n_step_weight
                )
            ),
            "The two targets have changed places in the critic's loss, so `n_step_weight` "
            "multiplies the error of one step.",
        ),
        Misconception(
            "gamma of 1",
            agent_of(
                one_step=lambda self, b: td_target(b, self.target_actor, self.target_critic, 1.0)
            ),
            "Your one-step future is not discounted. Hand `self.gamma` on.",
        ),
        Misconception(
            "gamma always 0.99",
            agent_of(
                one_step=lambda self, b: td_target(b, self.target_actor, self.target_critic, 0.99)
            ),
            "Your discount is always 0.99. That is only the usual choice: take `self.gamma`.",
        ),
        Misconception(
            "tau and gamma mixed up",
            agent_of(
                one_step=lambda self, b: td_target(
                    b, self.target_actor, self.target_critic, self.tau
                )
            ),
            "You discount by `self.tau`, which is how far the targets move. The discount is "
            "`self.gamma`.",
        ),
        # The critic's loss
        Misconception(
            "weights forgotten",
            agent_of(
                critic_loss=lambda self, b, q, y, yn: weighted_critic_loss(
                    q, y, yn, torch.ones_like(q), self.n_step_weight
                )
            ),
            "The critic's loss is not weighted. Steps of high priority are drawn more often than "
            "they happen; `batch.weights` makes up for it.",
        ),
        Misconception(
            "lesson 02's loss",
            agent_of(critic_loss=lambda self, b, q, y, yn: critic_loss(self.critic, b, y)),
            "The critic learns by lesson 02's loss, without weights and without the n-step target: "
            "`weighted_critic_loss` has both.",
        ),
        Misconception(
            "n-step error left out",
            agent_of(
                critic_loss=lambda self, b, q, y, yn: weighted_critic_loss(q, y, yn, b.weights, 0)
            ),
            "The critic learns from the one-step target alone. The n-step error comes on top, "
            "`self.n_step_weight` times.",
        ),
        Misconception(
            "n-step error in full",
            agent_of(
                critic_loss=lambda self, b, q, y, yn: weighted_critic_loss(q, y, yn, b.weights, 1)
            ),
            "The n-step error counts in full in your update. How much it does, the agent was told: "
            "`self.n_step_weight`.",
        ),
        Misconception(
            "n-step error as usual",
            agent_of(
                critic_loss=lambda self, b, q, y, yn: weighted_critic_loss(
                    q, y, yn, b.weights, usual("n_step_weight")
                )
            ),
            "Your n-step error always counts half. That is only the usual choice: take "
            "`self.n_step_weight`.",
        ),
        Misconception(
            "all numbers as usual",
            agent_of(
                critic_loss=lambda self, b, q, y, yn: weighted_critic_loss(
                    q, y, yn, b.weights, usual("n_step_weight")
                ),
                numbers=with_usual("gradient_weight", "eps", "demo_bonus"),
            ),
            "Your update always takes the usual numbers, in the critic's loss and in the "
            "priorities. The agent was given its own: `self.n_step_weight`, "
            "`self.gradient_weight`, `self.eps`, `self.demo_bonus`.",
        ),
        Misconception(
            "gradient_weight for the n-step error",
            agent_of(
                critic_loss=lambda self, b, q, y, yn: weighted_critic_loss(
                    q, y, yn, b.weights, self.gradient_weight
                )
            ),
            "You weight the n-step error with `self.gradient_weight`, lambda_3, which is for the "
            "slope in the priority. Lambda_1 is `self.n_step_weight`.",
        ),
        Misconception(
            "demonstrations in place of weights",
            agent_of(
                critic_loss=lambda self, b, q, y, yn: weighted_critic_loss(
                    q, y, yn, b.is_demo, self.n_step_weight
                )
            ),
            "You weight the critic's errors with `is_demo`, so it learns from demonstrations only. "
            "The importance weights are `batch.weights`.",
        ),
        Misconception(
            "a step for each target",
            agent_of(critic_step=a_step_for_each_target),
            "Your critic takes two steps, one for each target. Both errors are one loss, for one "
            "step.",
        ),
        Misconception(
            "the actor's own actions in the critic's loss",
            agent_of(
                critic_loss=lambda self, b, q, y, yn: weighted_critic_loss(
                    self.critic(b.obs, self.actor(b.obs)), y, yn, b.weights, self.n_step_weight
                )
            ),
            "The critic's loss asks about the actor's own actions. The rewards in the targets are "
            "an answer to those that were taken: `batch.action`.",
        ),
        Misconception(
            "weight decay once more",
            agent_of(step=decayed_again),
            PENALTY,
        ),
        Misconception(
            "weight decay once more, by the usual number",
            agent_of(critic_loss=penalised),
            PENALTY,
        ),
        # The slope
        Misconception(
            "Q in place of its slope",
            agent_of(slope=lambda self, batch, q, *_: q.detach().unsqueeze(1)),
            "You handed Q itself to `priorities`, a mistake that stands in published code: then "
            f"what is drawn is what is good, not what is unlearned. The slope {SLOPE}.",
        ),
        Misconception(
            "slope of the mean",
            slope_of(lambda self, batch, q, target: q.mean()),
            "You took the slope of the mean of `q`, so each one is divided by the batch size. In "
            "the sum every Q depends on its own action only: its slopes are those of each row.",
        ),
        Misconception(
            "slope of the loss",
            slope_of(lambda self, batch, q, target: ((q - target) ** 2).mean()),
            f"You took the slope of the TD error's square. The slope of Q itself {SLOPE}.",
        ),
        Misconception(
            "slope of the weighted loss",
            slope_of(
                lambda self, batch, q, target: self.critic_loss(
                    batch, q, target, self.n_steps_ahead(batch)
                )
            ),
            "You took the slope of the critic's loss, which is what `.grad` of the action holds "
            f"after `backward()`. The slope of Q itself {SLOPE}.",
        ),
        Misconception(
            "slope weighted",
            slope_of(lambda self, batch, q, target: (batch.weights * q).sum()),
            "You weighted the slope with the importance weights. They are about the critic's loss; "
            "how much there is to learn from a step does not depend on how often it was drawn.",
        ),
        Misconception(
            "slope at the actor's action",
            slope_at(lambda self: self.critic, lambda self, batch: self.actor(batch.obs)),
            "You took the slope at the actor's own action. A priority is about a step in the "
            "memory, and its action is `batch.action`.",
        ),
        Misconception(
            "slope of the target critic",
            slope_at(lambda self: self.target_critic, lambda self, batch: batch.action),
            "You took the slope of the target critic, which lags behind. Targets are for targets: "
            "the actor follows `self.critic`.",
        ),
        Misconception(
            "slope over observations",
            agent_of(slope=slope_over_observations),
            "You took the slope over observations. An actor cannot choose those: it is actions "
            "over which Q is to rise.",
        ),
        Misconception(
            "slope left out",
            agent_of(slope=lambda self, batch, *_: torch.zeros_like(batch.action)),
            f"The slope in your priorities is 0. What {SLOPE}.",
        ),
        Misconception(
            "slope after the critic's step",
            in_order("critic", "q", "slope", "actor", "targets"),
            f"You asked the critic once more after its step. {FRESH}",
        ),
        Misconception(
            "only the slope after the critic's step",
            agent_of(
                priority=lambda self, b, q, y, yn, _: priorities(
                    (q - y).detach(),
                    torch.autograd.functional.jacobian(
                        lambda action: self.critic(b.obs, action).sum(), b.action
                    ),
                    b.is_demo,
                    *self.numbers(),
                )
            ),
            f"You took the slope after the critic's step. {FRESH}",
        ),
        Misconception(
            "error after the critic's step",
            agent_of(error=lambda self, b, q, y, yn: (self.critic(b.obs, b.action) - y).detach()),
            f"You took the TD error after the critic's step. {FRESH}",
        ),
        Misconception(
            "action that needs no gradient",
            agent_of(asked=lambda self, b: (self.critic(b.obs, b.action.detach()), b.action)),
            "Nobody told torch that you want to know how Q changes with the action: call "
            "`requires_grad_()` on it before the critic is asked, and hand that very tensor over.",
        ),
        Misconception(
            "gradient with respect to something else",
            agent_of(
                asked=lambda self, b: (
                    self.critic(b.obs, b.action),
                    b.action.detach().requires_grad_(),
                )
            ),
            "You ask for a gradient with respect to something on which the value does not depend. "
            "For the slope, hand the critic the very tensor that you ask about, once it has "
            "`requires_grad_()`. For a step, take the optimiser that holds the weights of the "
            "network whose loss it is, and for the actor's loss the online actor.",
        ),
        Misconception(
            "slope of all values without a sum",
            slope_of(lambda self, batch, q, target: q),
            "A gradient is taken of one number, and `q` has one for each row. Take the sum: every "
            "Q depends on its own action only, so its slopes are those of each row.",
        ),
        Misconception(
            "slope still in its tuple",
            agent_of(
                slope=lambda self, batch, q, action, target: torch.autograd.grad(
                    q.sum(), action, retain_graph=True
                )
            ),
            "`torch.autograd.grad` gives a tuple, one slope for each tensor asked about. Take it "
            "out of the tuple.",
        ),
        Misconception(
            "graph used up",
            agent_of(
                slope=lambda self, batch, q, action, target: torch.autograd.grad(q.sum(), action)[0]
            ),
            USED_UP,
        ),
        Misconception(
            "slope's gradient left in the critic",
            agent_of(update=slope_left_in_the_critic),
            "Your `backward()` for the slope leaves gradients in the critic, and the loss adds its "
            "own to them, so the critic also learns to promise more. `torch.autograd.grad` leaves "
            "none; otherwise clear them before the loss.",
        ),
        # Priorities
        Misconception(
            "priorities never renewed",
            agent_of(renew=lambda self, batch, priority: None),
            "The memory never hears of your priorities, so every step keeps the one it was stored "
            "with: `self.buffer.update_priorities`.",
        ),
        Misconception(
            "absolute TD error",
            agent_of(priority=lambda self, b, q, y, yn, slope: (q - y).detach().abs() + self.eps),
            "Your priority is the absolute TD error plus a little, as in plain prioritized replay. "
            "DDPGfD has its own, with slope and bonus: `priorities`.",
        ),
        Misconception(
            "squared before it is handed over",
            with_error(lambda b, q, y, yn: (q - y) ** 2),
            "You handed the squared TD error over, and `priorities` squares it once more.",
        ),
        Misconception(
            "n-step error in the priority",
            with_error(lambda b, q, y, yn: q - yn),
            f"Your priorities go by the n-step error. {ONE_STEP}",
        ),
        Misconception(
            "both errors in the priority",
            agent_of(
                error=lambda self, b, q, y, yn: (
                    ((q - y) ** 2 + self.n_step_weight * (q - yn) ** 2).sqrt().detach()
                )
            ),
            f"Your priorities go by both errors, like the loss. {ONE_STEP}",
        ),
        Misconception(
            "both differences in the priority",
            with_error(lambda b, q, y, yn: q - y + q - yn),
            f"Your priorities go by the sum of both differences. {ONE_STEP}",
        ),
        Misconception(
            "weighted error in the priority",
            with_error(lambda b, q, y, yn: b.weights * (q - y)),
            "The TD error in your priorities is weighted. Weights make up for how often a step is "
            "drawn; in the priority they would make it rarer once more.",
        ),
        Misconception(
            "priorities weighted",
            agent_of(priority=lambda self, b, *rest: b.weights * Parts.priority(self, b, *rest)),
            "You multiplied the priorities by the importance weights. Weights make up for how "
            "often a step is drawn; in the priority they would make it rarer once more.",
        ),
        Misconception(
            "the loss as everybody's priority",
            agent_of(
                priority=lambda self, b, q, y, yn, slope: (
                    self.critic_loss(b, q, y, yn).detach().expand(len(q))
                )
            ),
            "Every step of the batch gets the same priority, the batch's loss. Each has its own: "
            "`priorities` gives one for each row.",
        ),
        Misconception(
            "Q without the target",
            with_error(lambda b, q, y, yn: q),
            "You handed `q` over in place of the TD error, so what is drawn is what has large "
            "values. The error is `q` minus the target.",
        ),
        Misconception(
            "priority with gradient",
            agent_of(error=lambda self, b, q, y, yn: q - y),
            "Your priorities carry a gradient, and the memory keeps plain numbers: `.detach()` the "
            "TD error before you hand it over.",
        ),
        Misconception(
            "nobody is a demonstrator",
            agent_of(who=lambda self, b: torch.zeros_like(b.is_demo)),
            "Demonstrations get no bonus in your priorities: hand `batch.is_demo` over.",
        ),
        Misconception(
            "everybody is a demonstrator",
            agent_of(who=lambda self, b: torch.ones_like(b.is_demo)),
            "All steps get the bonus in your priorities: it is for demonstrations, which "
            "`batch.is_demo` tells apart.",
        ),
        Misconception(
            "the agent's own steps as demonstrations",
            agent_of(who=lambda self, b: 1 - b.is_demo),
            "The agent's own steps get the bonus in your priorities: hand `batch.is_demo` over as "
            "it is.",
        ),
        Misconception(
            "weights in place of is_demo",
            agent_of(who=lambda self, b: b.weights),
            "You handed the importance weights over where `priorities` asks which steps are "
            "demonstrations: `batch.is_demo`.",
        ),
        Misconception(
            "numbers as usual",
            agent_of(numbers=with_usual("gradient_weight", "eps", "demo_bonus")),
            "Your priorities always take the usual numbers. The agent was given its own: "
            "`self.gradient_weight`, `self.eps`, `self.demo_bonus`.",
        ),
        Misconception(
            "eps and demo_bonus as usual",
            agent_of(numbers=with_usual("eps", "demo_bonus")),
            "Your priorities always take 0.001 and 1 for what is added to them. Those are only the "
            "usual numbers: take `self.eps` and `self.demo_bonus`.",
        ),
        Misconception(
            "gradient_weight as usual",
            agent_of(numbers=with_usual("gradient_weight")),
            "The slope always counts in full in your priorities. How much it does, the agent was "
            "told: `self.gradient_weight`.",
        ),
        Misconception(
            "eps as usual",
            agent_of(numbers=with_usual("eps")),
            "You always add 0.001 to your priorities. That is only the usual number: take "
            "`self.eps`.",
        ),
        Misconception(
            "demo_bonus as usual",
            agent_of(numbers=with_usual("demo_bonus")),
            "Your bonus for demonstrations is always 1. That is only the usual number: take "
            "`self.demo_bonus`.",
        ),
        Misconception(
            "eps and demo_bonus exchanged",
            agent_of(numbers=lambda self: (self.gradient_weight, self.demo_bonus, self.eps)),
            "`eps` and `demo_bonus` have changed places in your call of `priorities`: first "
            "what every step gets, then what demonstrations get in addition.",
        ),
        Misconception(
            "n_step_weight for the slope",
            agent_of(numbers=lambda self: (self.n_step_weight, self.eps, self.demo_bonus)),
            "You weight the slope with `self.n_step_weight`, lambda_1, which is for the critic's "
            "second error. Lambda_3 is `self.gradient_weight`.",
        ),
        Misconception(
            "the first places of the memory",
            agent_of(
                renew=lambda self, batch, priority: self.buffer.update_priorities(
                    torch.arange(len(priority)), priority
                )
            ),
            "You gave the new priorities to the first places in the memory. They belong to the "
            "steps that were drawn: `batch.indices`.",
        ),
        Misconception(
            "indices and priorities exchanged",
            agent_of(
                renew=lambda self, batch, priority: self.buffer.update_priorities(
                    priority, batch.indices
                )
            ),
            "Indices and priorities have changed places in your call of `update_priorities`: first "
            "where, then what.",
        ),
        Misconception(
            "in the opposite order",
            agent_of(
                renew=lambda self, batch, priority: self.buffer.update_priorities(
                    batch.indices, priority.sort().values
                )
            ),
            "You sorted the priorities before you handed them over, so they belong to other steps. "
            "Row i of the batch is the step at `batch.indices[i]`.",
        ),
        Misconception(
            "only demonstrations renewed",
            renewed_where(lambda batch: batch.is_demo > 0),
            "Only demonstrations get new priorities in your update. Every step of the batch does.",
        ),
        Misconception(
            "only the agent's own steps renewed",
            renewed_where(lambda batch: batch.is_demo == 0),
            "Only the agent's own steps get new priorities in your update. Every step of the batch "
            "does; what keeps demonstrations likely is their bonus.",
        ),
        Misconception(
            "around the memory's checks",
            agent_of(
                renew=lambda self, batch, priority: self.buffer.set_priorities(
                    batch.indices.numpy(), priority.numpy().astype(np.float64)
                )
            ),
            "You set the priorities without telling the memory how large they can be "
            "(`set_priorities`), so new steps would get one that is too small. Call "
            "`update_priorities`.",
        ),
        # The steps
        Misconception(
            "critic never steps",
            agent_of(critic_step=Parts.critic_loss),
            "Your critic never moves: you compute its loss, but take no step down its gradient. "
            "`gradient_step` does that, with the critic's optimiser.",
        ),
        Misconception(
            "actor never steps",
            agent_of(actor_step=Parts.actor_loss),
            "Your actor never moves: you compute its loss, but take no step down its gradient. "
            "`gradient_step` does that, with the actor's optimiser.",
        ),
        Misconception(
            "no steps at all",
            agent_of(step=no_step),
            "You compute gradients, but nobody steps: `backward()` alone moves no weight. After it "
            "comes the optimiser's `step()`, or `gradient_step` for all of it.",
        ),
        Misconception(
            "the critic's optimiser for the actor",
            agent_of(step=stepped_by("critic_optimizer")),
            "You take the actor's step with the critic's optimiser, which holds none of the "
            "actor's weights. Each loss has its own: `self.actor_optimizer`.",
        ),
        Misconception(
            "one loss for everything",
            agent_of(update=one_loss_for_all),
            "You added both losses and sent one gradient through everything, so the critic is also "
            "moved by the actor's wish for high values. First a step of the critic by its own "
            "loss, then one of the actor by its own.",
        ),
        Misconception(
            "gradients never cleared", agent_of(step=backward_and_step(())), f"The {NEVER_CLEARED}"
        ),
        Misconception(
            "the critic's gradients never cleared",
            agent_of(step=backward_and_step(("actor",))),
            "The critic's gradients are never cleared: those of earlier batches, and of the "
            "actor's wish for high values, are added to the new ones. Call `zero_grad` on its "
            "optimiser before `backward`, or use `gradient_step`.",
        ),
        Misconception(
            "the actor's gradients never cleared",
            agent_of(step=backward_and_step(("critic",))),
            f"The actor's {NEVER_CLEARED}",
        ),
        Misconception(
            "the actor first",
            in_order("slope", "actor", "critic", "targets"),
            "Your actor moves before the critic has learned from the batch. The critic comes "
            "first, and the actor follows what it has just learned.",
        ),
        Misconception(
            "by the target critic",
            agent_of(actor_loss=lambda self, b: actor_loss(self.actor, self.target_critic, b.obs)),
            "Your actor asks the target critic, which lags behind. Targets are for targets: the "
            "actor follows the newest that is known, `self.critic`.",
        ),
        Misconception(
            "the next observations",
            agent_of(actor_loss=lambda self, b: actor_loss(self.actor, self.critic, b.next_obs)),
            "Your actor learns from `batch.next_obs`. Those are observations as well, but the "
            "critic is trained in `batch.obs`, and may know nothing about the others.",
        ),
        Misconception(
            "weights on the actor's loss",
            agent_of(
                actor_loss=lambda self, b: (
                    -(b.weights * self.critic(b.obs, self.actor(b.obs))).mean()
                )
            ),
            "You weighted the actor's loss. The weights keep the critic's averages honest about "
            "how often things happen; the actor asks what is best in each state, and that does not "
            "depend on how often one is there.",
        ),
        Misconception("imitation on top", agent_of(actor_loss=imitating), NO_CLONING),
        Misconception(
            "imitation of demonstrations on top",
            agent_of(actor_loss=imitating_demonstrations),
            NO_CLONING,
        ),
        Misconception("critic left frozen", agent_of(actor_step=frozen_critic), FROZEN),
        Misconception(
            "targets never move",
            agent_of(move_targets=lambda self: None),
            "Your target networks never move, so the targets stay those of untrained networks. "
            "`polyak_update` is missing, or its result is not kept.",
        ),
        Misconception(
            "only the critic's target",
            agent_of(move_targets=moving("target_critic", "critic")),
            f"Your target actor stays where it was born. {TOGETHER}",
        ),
        Misconception(
            "only the actor's target",
            agent_of(move_targets=moving("target_actor", "actor")),
            f"Your target critic stays where it was born. {TOGETHER}",
        ),
        Misconception(
            "online and targets exchanged",
            agent_of(move_targets=lambda self: polyak_update(self.online, self.targets, self.tau)),
            "You move the online networks towards the targets, which undoes a little of each step. "
            "The targets follow: `self.targets` comes first, since those are changed.",
        ),
        Misconception(
            "1 - tau",
            agent_of(
                move_targets=lambda self: polyak_update(self.targets, self.online, 1 - self.tau)
            ),
            "You move the targets by 1 minus tau, almost all of the way. `polyak_update` takes the "
            "small share itself: `self.tau`.",
        ),
        Misconception(
            "always 0.005",
            agent_of(move_targets=lambda self: polyak_update(self.targets, self.online, 0.005)),
            "Your targets always move by 0.005. That is only the usual choice: take `self.tau`.",
        ),
        Misconception(
            "copied",
            agent_of(move_targets=lambda self: polyak_update(self.targets, self.online, 1.0)),
            "You copy the online networks into the targets. Here the targets go a small part of "
            "the way, `self.tau`.",
        ),
        Misconception(
            "one network under two names",
            agent_of(move_targets=same_network),
            "After your update the target networks are the online ones, under a second name, and "
            "move with every step. An assignment copies nothing: let `polyak_update` change their "
            "weights.",
        ),
        Misconception(
            "networks in place of parameters",
            agent_of(
                move_targets=lambda self: polyak_update(self.target_critic, self.critic, self.tau)
            ),
            "`polyak_update` takes parameters, not networks. All of them are listed already: "
            "`self.targets` and `self.online`.",
        ),
        Misconception(
            "targets before the actor's step",
            in_order("slope", "critic", "targets", "actor"),
            "Your targets move before the actor does, so they follow the actor of the last time. "
            "First the actor's step, then theirs.",
        ),
        Misconception(
            "targets twice, before and after the actor's step",
            in_order("slope", "critic", "targets", "actor", "targets"),
            "Your targets move twice in an update, once before the actor has moved. One small step "
            "for all of them, after the actor's.",
        ),
        Misconception(
            "targets at the beginning",
            in_order("targets", "targets made", "slope", "critic", "actor"),
            "Your targets move at the beginning of the update, before anybody has learned. Their "
            "step comes after those of critic and actor.",
        ),
        # What is returned
        Misconception(
            "updates counted twice",
            agent_of(update=counting),
            "You count the update in `self.updates`. The base class counts `updates` whenever it "
            "calls yours, so every batch would count twice, and half of the pretraining would be "
            "missing.",
        ),
        Misconception(
            "losses exchanged",
            returns(lambda v: v | {"critic_loss": v["actor_loss"], "actor_loss": v["critic_loss"]}),
            "The steps are right, but the two losses that you return have changed places: the "
            "critic's is under `actor_loss`, and the actor's under `critic_loss`.",
        ),
        Misconception(
            "nothing returned",
            returns(lambda values: None),
            "The steps are right, but your update returns nothing, and the agent wants to log the "
            "losses. End with a `return`.",
        ),
        Misconception("demonstrations not returned", returns(without("demonstrations")), MISSING),
        Misconception("critic's loss not returned", returns(without("critic_loss")), MISSING),
        Misconception("actor's loss not returned", returns(without("actor_loss")), MISSING),
        Misconception(
            "neither loss returned",
            returns(lambda values: {"demonstrations": values["demonstrations"]}),
            MISSING,
        ),
        Misconception(
            "a tuple",
            returns(lambda values: tuple(values.values())),
            "The steps are right, but you return the values without their names. A dict is asked "
            "for: the agent logs each under its name.",
        ),
        Misconception(
            "plain numbers",
            returns(lambda values: {name: value.item() for name, value in values.items()}),
            LOG_ITEM,
        ),
        Misconception(
            "a plain number of demonstrations",
            returns(lambda v: v | {"demonstrations": v["demonstrations"].item()}),
            LOG_ITEM,
        ),
        Misconception(
            "number of demonstrations",
            agent_of(
                update=lambda self, batch: (
                    Parts.update(self, batch) | {"demonstrations": batch.is_demo.sum()}
                )
            ),
            "The steps are right, but you return how many demonstrations there are in the batch. "
            "Their share, from 0 to 1, can be compared between batches of any size: the mean.",
        ),
        Misconception(
            "share of the agent's own steps",
            returns(lambda v: v | {"demonstrations": 1 - v["demonstrations"]}),
            "The steps are right, but what you return as the share of demonstrations is that of "
            "all other steps.",
        ),
        Misconception(
            "is_demo itself",
            agent_of(
                update=lambda self, batch: (
                    Parts.update(self, batch) | {"demonstrations": batch.is_demo}
                )
            ),
            "The steps are right, but you return `is_demo` itself, a number for each row. The "
            "agent logs single numbers: take the mean.",
        ),
    ],
)
