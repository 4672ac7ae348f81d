"""Lesson 03's agent: exercise 3.7, the `update` of `TD3`.

The class is built on an environment that has nothing but spaces. Then its networks are replaced by
small ones with given weights, and its optimisers by plain gradient descent: whatever the networks
of a notebook are, the numbers can be worked out by hand and are the same for everybody. One case
leaves the agent as it was built.

Two right smoothings draw different numbers, so where weights are compared there is no noise (and
the agent's generator draws nothing but 0, so that a wrong noise does not make them a matter of
chance). What arrives of the noise is looked at apart, in the actions that the target critic is
asked about.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import lru_cache
from itertools import pairwise
from math import prod

import gymnasium as gym
import numpy as np
import torch
from torch.nn import functional as F

from helpers.agents import td3
from helpers.agents.base import gradient_step
from helpers.agents.ddpg import polyak_update
from helpers.agents.td3 import TD3
from helpers.checks.ddpg_losses import SmallActor, batch_of, floats
from helpers.checks.exercise import Card, Case, Exercise, Misconception
from helpers.checks.td3_losses import SmallTwin
from helpers.checks.td3_smoothing import shared, shared_streams
from helpers.memory.buffers import Batch

# --- What is looked at ----------------------------------------------------------------------------

NETWORKS = ("critic", "actor", "target_critic", "target_actor")
ROWS = 4000  # from so many on, shares of the noise say something
WARM_UP = 7  # steps; the first updates come right after it


class Spaces(gym.Env):
    """Observations and actions of these sizes; nobody takes a step."""

    def __init__(self, obs_size: int, action_dim: int) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (obs_size,))
        self.action_space = gym.spaces.Box(-1, 1, (action_dim,))


class ListeningTwin(SmallTwin):
    """Remembers the actions that it is asked about."""

    def forward(self, obs, action):
        self.heard = [*getattr(self, "heard", []), action.detach().clone()]
        return super().forward(obs, action)


class Still(np.random.Generator):
    """Draws nothing but the mean."""

    def standard_normal(self, *args, **kwargs):
        return 0 * super().standard_normal(*args, **kwargs)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return loc + 0 * super().normal(loc, scale, size)


def built(function, obs_size: int, action_dim: int, **settings):
    small = {"hidden": 8, "learning_starts": WARM_UP, "batch_size": 1, "buffer_size": 8}
    settings |= {"reward_scale": 0.1}  # which an update has no use for
    return function(Spaces(obs_size, action_dim), seed=0, **small, **settings)


def with_plain_twin(function):
    """The same class, with critics that `faster` leaves as they are, whoever's they are."""
    twin = getattr(function, "critic_class", None)
    if not (inspect.isclass(function) and inspect.isclass(twin)):
        return function
    return type("TD3", (function,), {"critic_class": type("TwinQNetwork", (twin,), {})})


@lru_cache(maxsize=1)
def template(function):
    """Built once: most of it is replaced, and building takes longer than a few updates."""
    return built(function, 1, 1)


def agent_with(function, networks: tuple, learning_rate: float, **settings):
    """An agent with these networks: critic, actor, target critic, target actor."""
    agent = copy(template(function))
    bits = np.random.PCG64(0).spawn(2)
    kind = np.random.Generator if settings["target_noise"] else Still
    agent.rng, agent.predict_rng = map(kind, bits)
    for name, value in {**settings, **dict(zip(NETWORKS, networks, strict=True))}.items():
        setattr(agent, name, value)
    for name in ("actor", "critic"):
        optimizer = torch.optim.SGD(getattr(agent, name).parameters(), lr=learning_rate)
        setattr(agent, f"{name}_optimizer", optimizer)
    agent.online = [*agent.actor.parameters(), *agent.critic.parameters()]
    agent.targets = [*agent.target_actor.parameters(), *agent.target_critic.parameters()]
    return agent


class Updates:
    """Updates of an agent with one batch, and what they change beside the weights."""

    def __init__(self, agent, batch: Batch) -> None:
        self.agent, self.batch = agent, batch
        self.count, self.settings, self.parts = 0, set(), set()

    def learn(self):
        """One update, counted as the agent itself does it; two of them for each step."""
        self.agent.steps = WARM_UP + self.count // 2
        self.agent.updates += 1
        self.count += 1
        before, batch = self.numbers(), Batch(*(part.clone() for part in self.batch))
        try:
            losses = self.agent.update(batch)
        except RuntimeError as error:
            add_evidence(error, self.agent)
            raise
        self.settings |= {
            name for name, number in self.numbers().items() if number != before.get(name, number)
        }
        pairs = zip(Batch._fields, batch, self.batch, strict=True)
        self.parts |= {name for name, part, before in pairs if not torch.equal(part, before)}
        return losses

    def numbers(self) -> dict[str, float]:
        """The agent's settings and counts that are not for an update to change."""
        names = {"updates", "steps", *self.agent.hyperparameters}
        entries = vars(self.agent).items()
        return {k: v for k, v in entries if k in names and isinstance(v, int | float)}

    def changes(self) -> dict[str, str]:
        return {
            "list of the agent's numbers that were changed": listed(self.settings),
            "list of the batch's parts that were changed": listed(self.parts),
        }


def listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def add_evidence(error: RuntimeError, agent) -> None:
    """Note on an error of `gradient_step` whose step it was and what the loss depends on."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    step = next((f.f_locals for f in frames if f.f_code is gradient_step.__code__), None)
    if step is None or not isinstance(step["loss"], torch.Tensor):
        return
    names = ("critic_optimizer", "actor_optimizer")
    whose = [name for name in names if getattr(agent, name) is step["optimizer"]]
    leaves = graph_leaves(step["loss"])
    shares = {name: [p in leaves for p in getattr(agent, name).parameters()] for name in NETWORKS}
    parts = [("all of " * all(x)) + name for name, x in shares.items() if any(x)]
    error.add_note(f"{listed(whose)}: {listed(parts)}")


def graph_leaves(loss: torch.Tensor) -> set[torch.Tensor]:
    """The tensors that a gradient of the loss would reach."""
    seen, left = set(), [loss.grad_fn]
    while left:
        node = left.pop()
        if node is not None and node not in seen:
            seen.add(node)
            left += [following for following, _ in node.next_functions]
    return {node.variable for node in seen if hasattr(node, "variable")}


def observe_agent(
    function, critic, actor, target_critic, target_actor,
    obs, action, reward, next_obs, terminated, truncated,
    updates, policy_delay, gamma, tau, learning_rate, target_noise=0.0, noise_clip=0.5,
):  # fmt: skip
    """All weights after each update, and the losses returned; or, with noise, what arrives of it.

    Without networks the agent keeps its own, and what is looked at is which of them move.
    """
    batch = Batch(obs, action, reward, next_obs, terminated, truncated)
    settings = {"policy_delay": policy_delay, "gamma": gamma, "tau": tau}
    settings |= {"target_noise": target_noise, "noise_clip": noise_clip}
    if critic is None:
        agent = built(with_plain_twin(function), obs.shape[1], action.shape[1], **settings)
    else:
        networks = critic, actor, target_critic, target_actor
        agent = agent_with(function, networks, learning_rate, **settings)
    trial = Updates(agent, batch)
    if target_noise:
        return what_arrives(trial, updates, noise_clip) | trial.changes()
    states, returned = [weights(agent)], []
    for _ in range(updates):
        returned.append(trial.learn())
        states.append(weights(agent))
    if critic is None:
        seen = {"list of what moves at each update": [moved(*pair) for pair in pairwise(states)]}
    else:
        each = "the update" if updates == 1 else "each update"
        seen = {
            f"{name.replace('_', ' ')} after {each}": np.squeeze(
                np.stack([state[name] for state in states[1:]]), axis=0 if updates == 1 else ()
            )
            for name in NETWORKS
        }
        seen[f"text about what {each} returns"] = [
            described(losses, acting=number % policy_delay == 0)
            for number, losses in enumerate(returned, 1)
        ]
        seen[f"critic_loss of {each}"] = [loss_called("critic_loss", x) for x in returned]
        acting = returned[policy_delay - 1 :: policy_delay]
        seen["actor_loss where the actor moves"] = [loss_called("actor_loss", x) for x in acting]
    return seen | {"list of what cannot be trained any more": frozen(agent)} | trial.changes()


def weights(agent) -> dict[str, np.ndarray]:
    """The weights of every network; those of a small twin are two rows."""
    parameters = {name: list(getattr(agent, name).parameters()) for name in NETWORKS}
    return {
        name: as_rows([p.detach().numpy() for p in parts]) for name, parts in parameters.items()
    }


def as_rows(parts: list[np.ndarray]) -> np.ndarray:
    if len(parts) == 2 and parts[0].ndim == 1:
        return np.stack(parts)
    return np.concatenate([part.ravel() for part in parts])


def frozen(agent) -> str:
    names = [
        name
        for name in ("actor", "critic")
        if not all(p.requires_grad for p in getattr(agent, name).parameters())
    ]
    return ", ".join(names) or "none"


def moved(before: dict, after: dict) -> str:
    names = [name for name in before if not np.array_equal(before[name], after[name])]
    return ", ".join(names).replace("_", " ") or "nothing"


def described(losses, acting: bool) -> str:
    """ "a dict" where the agent and its curves find all that they look for."""
    if not isinstance(losses, Mapping):
        return f"something of type {type(losses).__name__}"
    needed = ("critic_loss", "actor_loss") if acting else ("critic_loss",)
    missing = [f"without {name}" for name in needed if name not in losses]
    idle = ["with an actor_loss while the actor rests"] * (not acting and "actor_loss" in losses)
    # The agent asks every loss for its `.item()`, which works for a single number.
    kinds = sorted({type(x).__name__ for x in losses.values() if not hasattr(x, "item")})
    several = ["with several numbers in an entry"] * any(map(many, losses.values()))
    unfit = [f"with an entry of type {kind}" for kind in kinds]
    return ", ".join(["a dict", *missing, *idle, *unfit, *several])


def many(loss) -> bool:
    return prod(getattr(loss, "shape", ())) != 1


def loss_called(name: str, losses) -> float | None:
    found = losses.get(name) if isinstance(losses, Mapping) else None
    if found is None or many(found):
        return None
    return float(found.item() if hasattr(found, "item") else found)


def what_arrives(trial: Updates, updates: int, noise_clip: float) -> dict:
    """How far from the target actor's actions the target critic is asked at each update."""
    agent, batch = trial.agent, trial.batch
    before = streams(agent)
    with torch.no_grad():
        plain = agent.target_actor(batch.next_obs).numpy()
    heard = [heard_at(trial) for _ in range(updates)]
    used = [name for name, state in streams(agent).items() if state != before[name]]
    seen = {
        "list of random streams that were used": listed(used),
        "text about the target critic": "asked about an action for each row",
    }
    if any(actions.shape[1:] != batch.action.shape for actions in heard):
        return seen | {"text about the target critic": "not asked about an action for each row"}
    first, second = heard[0][0], heard[1][0]
    several, again = np.ptp(heard[0], axis=0).any(), np.array_equal(first, second)
    inside = np.abs(plain).max(axis=1) + noise_clip < 1  # where the bounds have no say
    noise = (first - plain)[inside]
    far = np.abs(noise)
    return seen | {
        "text about the next action of a row": "there are several" if several else "there is one",
        "noise of the second update": "the same again" if again else "another one",
        "noise of a batch": shared(noise),
        "share of next actions without noise": share(far < 1e-6),
        "share of noises beyond noise_clip": share(far > noise_clip + 1e-5),
        "share of noises at noise_clip": share(np.abs(far - noise_clip) < 1e-5),
        "text about the bounds": "kept" if np.abs(first).max() <= 1 else "some actions are beyond",
    }


def share(of: np.ndarray) -> float:
    return round(float(of.mean()), 1)


def heard_at(trial: Updates) -> np.ndarray:
    """The actions that the target critic is asked about at an update, (times, B, action_dim)."""
    listener = trial.agent.target_critic  # the update may put another one in its place
    listener.heard = []
    trial.learn()
    heard, shape = listener.heard, trial.batch.action.shape
    actions = torch.cat(heard) if heard else torch.zeros(0, *shape[1:])
    whole = len(actions) > 0 and len(actions) % shape[0] == 0
    return actions.numpy().reshape(-1, *shape) if whole else actions.numpy()[None]


def streams(agent) -> dict[str, object]:
    return {
        "rng": str(agent.rng.bit_generator.state),
        "predict_rng": str(agent.predict_rng.bit_generator.state),
        "one that the whole process shares": shared_streams(),
    }


# --- Cases ----------------------------------------------------------------------------------------


def update_cases(rng: np.random.Generator) -> list[Case]:
    def by_hand(policy_delay: int) -> tuple:
        """The target is 2, the critics say 1.75 and 0.25."""
        networks = (
            SmallTwin([1.0, 2.0], [0.0, 1.0]),
            SmallActor([[0.5]]),
            SmallTwin([1.0, 0.0], [3.0, 0.0]),
            SmallActor([[0.0]]),
        )
        now, later = (floats([[1.0]]), floats([[0.5]])), (floats([1.0]), floats([[2.0]]))
        numbers = 1, policy_delay, 0.5, 0.25, 0.1
        return *networks, *now, *later, torch.zeros(1), torch.zeros(1), *numbers

    def drawn(obs_size: int, action_dim: int, *numbers: float, own: bool = False) -> tuple:
        def actor() -> SmallActor:
            return SmallActor(rng.normal(size=(obs_size, action_dim)) / 2)

        def twin() -> SmallTwin:
            return SmallTwin(*rng.normal(size=(2, obs_size + action_dim)) / 2)

        networks = [None] * 4 if own else [twin(), actor(), twin(), actor()]
        flags = ["", "terminated", "", "truncated", ""]
        return *networks, *batch_of(rng, obs_size, action_dim, flags), *numbers

    def noisy() -> tuple:
        """The target actor often goes to the bounds in one of two dimensions; no critic cares."""
        nothing = [np.zeros(3), np.zeros(3)]
        actors = SmallActor([[0.5, -0.5]]), SmallActor([[0.0, 2.0]])
        networks = SmallTwin(*nothing), actors[0], ListeningTwin(*nothing), actors[1]
        batch = batch_of(rng, 1, 2, [""] * ROWS)
        # 70 % of such noise is cut off: chance does not round that share to another one.
        return *networks, *batch, 2, 2, 0.9, 0.1, 0.05, 0.26, 0.1

    return [
        Case(by_hand(2), note="the first of every two updates: the critics' alone"),
        Case(by_hand(1), note="no delay: everything moves"),
        Case(drawn(2, 1, 4, 2, 0.9, 0.1, 0.05), note="four updates, all at every second"),
        Case(drawn(3, 2, 6, 3, 0.9, 0.1, 0.05), note="six updates, all at every third"),
        Case(drawn(1, 3, 2, 1, 1.0, 0.1, 0.05), note="two updates, three action dimensions"),
        Case(drawn(3, 2, 4, 2, 0.9, 0.1, 0.05, own=True), note="the agent's own networks"),
        Case(noisy(), note="many rows, noise that is often cut off"),
    ]


# --- Wrong versions -------------------------------------------------------------------------------


class Parts(TD3):
    """The course's update in parts, so that wrong versions can replace one of them."""

    def update(self, batch):
        target = self.target(batch, self.next_action(batch))
        losses = {"critic_loss": self.critic_step(batch, target)}
        if self.is_time():
            losses["actor_loss"] = self.actor_step(batch)
            self.move_targets()
        return losses

    def is_time(self):
        return self.updates % self.policy_delay == 0

    def next_action(self, batch):
        return self.smoothed(self.target_actor, batch.next_obs)

    def smoothed(self, actor, obs):
        return td3.smoothed_target_action(
            actor, obs, self.target_noise, self.noise_clip, self.rng
        )  # fmt: skip

    def target(self, batch, next_action):
        return td3.clipped_double_q_target(batch, next_action, self.target_critic, self.gamma)

    def critic_step(self, batch, target):
        return self.step(self.critic_optimizer, td3.twin_critic_loss(self.critic, batch, target))

    def actor_step(self, batch):
        return self.step(self.actor_optimizer, self.actor_loss(batch))

    def actor_loss(self, batch):
        return td3.actor_loss_by_q1(self.actor, self.critic, batch.obs)

    def step(self, optimizer, loss):
        gradient_step(optimizer, loss)
        return loss

    def move_targets(self):
        polyak_update(self.targets, self.online, self.tau)

    def move(self, target, online):
        polyak_update(target.parameters(), online.parameters(), self.tau)


def td3_with(**methods) -> type[Parts]:
    """A wrong version: some parts replaced."""
    return type("TD3", (Parts,), methods)


def at_times(is_time: Callable) -> type[Parts]:
    return td3_with(is_time=is_time)


def critic_asked(**changed) -> Callable:
    """`target` with other arguments."""

    def target(self, batch, next_action):
        given = {"batch": batch, "next_action": next_action, "target_critic": self.target_critic}
        changes = {name: change(self, batch) for name, change in changed.items()}
        return td3.clipped_double_q_target(**{**given, "gamma": self.gamma, **changes})

    return target


def noisy(draw: Callable, bound: float = 1.0) -> type[Parts]:
    """A wrong version: smoothing in place, by `draw(self, action)`, standard normal numbers."""

    def smoothed(self, actor, obs):
        action = actor(obs).detach()
        noise = torch.as_tensor(draw(self, action)).float() * self.target_noise
        return (action + noise.clamp(-self.noise_clip, self.noise_clip)).clamp(-bound, bound)

    return td3_with(smoothed=smoothed)


def smoothing(arguments: Callable) -> type[Parts]:
    """A wrong version: `arguments(self)` gives noise, clip and generator."""
    return td3_with(
        smoothed=lambda self, actor, obs: td3.smoothed_target_action(actor, obs, *arguments(self))
    )


def all_delayed(self, batch):
    target = self.target(batch, self.next_action(batch))
    losses = {"critic_loss": td3.twin_critic_loss(self.critic, batch, target)}
    if self.is_time():
        gradient_step(self.critic_optimizer, losses["critic_loss"])
        losses["actor_loss"] = self.actor_step(batch)
        self.move_targets()
    return losses


def targets_delayed_only(self, batch):
    target = self.target(batch, self.next_action(batch))
    losses = {"critic_loss": self.critic_step(batch, target), "actor_loss": self.actor_step(batch)}
    if self.is_time():
        self.move_targets()
    return losses


def actor_delayed_only(self, batch):
    target = self.target(batch, self.next_action(batch))
    losses = {"critic_loss": self.critic_step(batch, target)}
    if self.is_time():
        losses["actor_loss"] = self.actor_step(batch)
    self.move_targets()
    return losses


def critics_targets_undelayed(self, batch):
    target = self.target(batch, self.next_action(batch))
    losses = {"critic_loss": self.critic_step(batch, target)}
    if self.is_time():
        losses["actor_loss"] = self.actor_step(batch)
        self.move(self.target_actor, self.actor)
    self.move(self.target_critic, self.critic)
    return losses


def counted_again(self, batch):
    self.updates += 1
    return Parts.update(self, batch)


def counted_at_the_end(self, batch):
    losses = Parts.update(self, batch)
    self.updates += 1
    return losses


def critics_last(self, batch):
    target = self.target(batch, self.next_action(batch))
    losses = {"critic_loss": td3.twin_critic_loss(self.critic, batch, target)}
    if self.is_time():
        losses["actor_loss"] = self.actor_step(batch)
        self.move_targets()
    gradient_step(self.critic_optimizer, losses["critic_loss"])
    return losses


def fading_noise(self, batch):
    self.target_noise *= 0.999
    return Parts.update(self, batch)


def rewards_returned(self, batch):
    return Parts.update(self, batch) | {"reward": batch.reward}


def observations_cleared(self, batch):
    losses = Parts.update(self, batch)
    batch.obs.zero_()
    return losses


def rewards_scaled_in_place(self, batch):
    batch.reward.mul_(self.reward_scale)
    return Parts.update(self, batch)


def rescaled(scale: Callable) -> Callable:
    """`target`, but as `scale(target, reward_scale)`."""

    def target(self, batch, next_action):
        return scale(Parts.target(self, batch, next_action), self.reward_scale)

    return target


def actor_first(self, batch):
    losses = {}
    if self.is_time():
        losses["actor_loss"] = self.actor_step(batch)
    target = self.target(batch, self.next_action(batch))
    losses["critic_loss"] = self.critic_step(batch, target)
    if self.is_time():
        self.move_targets()
    return losses


def targets_before_the_actor(self, batch):
    target = self.target(batch, self.next_action(batch))
    losses = {"critic_loss": self.critic_step(batch, target)}
    if self.is_time():
        self.move_targets()
        losses["actor_loss"] = self.actor_step(batch)
    return losses


def targets_first(self, batch):
    if self.is_time():
        self.move_targets()
    target = self.target(batch, self.next_action(batch))
    losses = {"critic_loss": self.critic_step(batch, target)}
    if self.is_time():
        losses["actor_loss"] = self.actor_step(batch)
    return losses


def one_loss_for_all(self, batch):
    target = self.target(batch, self.next_action(batch))
    losses = {"critic_loss": td3.twin_critic_loss(self.critic, batch, target)}
    total = losses["critic_loss"]
    if self.is_time():
        losses["actor_loss"] = self.actor_loss(batch)
        total = total + losses["actor_loss"]
    self.critic_optimizer.zero_grad()
    self.actor_optimizer.zero_grad()
    total.backward()
    self.critic_optimizer.step()
    if self.is_time():
        self.actor_optimizer.step()
        self.move_targets()
    return losses


def several_actor_steps(self, batch):
    for _ in range(self.policy_delay):
        loss = Parts.actor_step(self, batch)
    return loss


def two_smoothings(self, batch, target):
    """Towards a target with noise of its own for each critic."""
    targets = target, self.target(batch, self.next_action(batch))
    values = self.critic(batch.obs, batch.action)
    return self.step(self.critic_optimizer, sum(map(F.mse_loss, values, targets)))


def by_lower_value(self, batch, target):
    lower = torch.minimum(*self.critic(batch.obs, batch.action))
    return self.step(self.critic_optimizer, F.mse_loss(lower, target))


def loss_of_the_first(self, batch, target):
    loss = F.mse_loss(self.critic.q1(batch.obs, batch.action), target)
    return self.step(self.critic_optimizer, loss)


def loss_of_the_targets(self, batch, target):
    loss = td3.twin_critic_loss(self.target_critic, batch, target)
    return self.step(self.critic_optimizer, loss)


def target_for_each(order: int) -> Callable:
    """`critic_step` towards two targets: each critic its own (1), or the other's (-1)."""

    def critic_step(self, batch, target):
        next_action = self.next_action(batch)
        with torch.no_grad():
            futures = self.target_critic(batch.next_obs, next_action)[::order]
            targets = [batch.reward + self.gamma * (1 - batch.terminated) * q for q in futures]
        values = self.critic(batch.obs, batch.action)
        return self.step(self.critic_optimizer, sum(map(F.mse_loss, values, targets)))

    return critic_step


def first_critic_only(self, batch, target):
    loss = F.mse_loss(self.critic(batch.obs, batch.action)[0], target)
    self.critic_optimizer.zero_grad()
    loss.backward()
    self.critic_optimizer.step()
    return loss


def backward_and_step(first: tuple[str, ...], then: tuple[str, ...] = ()) -> Callable:
    """`step` by hand: these optimisers' gradients are cleared before `backward`, those after."""

    def step(self, optimizer, loss):
        mine = "critic" if optimizer is self.critic_optimizer else "actor"
        if mine in first:
            optimizer.zero_grad()
        loss.backward()
        if mine in then:
            optimizer.zero_grad()
        optimizer.step()
        return loss

    return step


def no_step(self, optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    return loss


def stepped_by(name: str) -> Callable:
    """A step of this optimiser, whatever the loss is about."""

    def step(self, optimizer, loss):
        gradient_step(getattr(self, name), loss)
        return loss

    return step


def exchanged(self, optimizer, loss):
    other = self.actor_optimizer if optimizer is self.critic_optimizer else self.critic_optimizer
    gradient_step(other, loss)
    return loss


def downhill(self, batch):
    loss = self.actor_loss(batch)
    gradient_step(self.actor_optimizer, -loss)
    return loss


def frozen_critic(self, batch):
    self.critic.requires_grad_(False)
    return self.step(self.actor_optimizer, self.actor_loss(batch))


def returns(change: Callable) -> type[Parts]:
    """A wrong version: right steps, and `change(losses)` is returned."""
    return td3_with(update=lambda self, batch: change(Parts.update(self, batch)))


def renamed(**names: str) -> type[Parts]:
    """A wrong version: the losses are returned under other names."""
    return returns(lambda losses: {names.get(name, name): x for name, x in losses.items()})


def same_network(self):
    self.target_critic, self.target_actor = self.critic, self.actor


def other_way_round(self):
    polyak_update(self.online, self.targets, self.tau)


DELAY = "At every `policy_delay`-th update, counted from 1: with a delay of 2 at updates 2, 4, 6."
ALL_TARGETS = "All target networks move together: the actor's and both critics'."
NEVER_CLEARED = (
    "gradients of earlier batches are still there when the next ones are added (`zero_grad` is "
    "missing), so every step goes in an old direction as well. `gradient_step` has it all in one."
)
REPEATABLE = "Then the agent's seed no longer decides how its training goes. Use `self.rng`."
LOG_ITEM = (
    "The weights are right, but not everything that you return can be logged: the agent asks each "
    "loss for its `.item()`, which a plain number and `None` do not have. Return the loss itself, "
    "and leave out what there is none of."
)
SCALED = (
    "Rewards are multiplied by `reward_scale` before they are stored, so those of a batch are "
    "scaled already, and so is all that is learned from them."
)
ONE_DIRECTION = (
    "Every number of every next action has noise of its own, as in exercise 3.5: call "
    "`smoothed_target_action`."
)
NO_PARAMETERS = (
    "`polyak_update` takes parameters, not networks. All of them are listed already: "
    "`self.targets` and `self.online`."
)
WITHOUT_THE_ACTOR = (
    "Your actor's loss does not depend on the actor's weights: its actions are those of the batch, "
    "or they come out of a function without gradient, such as `smoothed_target_action`. What the "
    "first critic says about the actor's own, plain actions is meant: `actor_loss_by_q1`."
)
IDLE_LOSS = (
    "The steps are right, but you return an `actor_loss` at updates in which the actor rests. The "
    "curves would show losses that nobody went down: leave it out where there was no step."
)
OTHER_NAMES = (
    "The steps are right, but a loss is missing in what you return, or has another name. The "
    "lesson's curves look for `critic_loss` at every update and for `actor_loss` where the actor "
    "moves."
)
FROZEN = (
    "After your update some weights are frozen (`requires_grad` is off), so they can never be "
    "trained again. The optimiser of the actor moves the actor's weights only, so nothing needs "
    "freezing; if you do, thaw before you return."
)

TD3_UPDATE = Exercise(
    id="3.7",
    lesson="03_td3",
    reference=TD3,
    card=Card(
        title="All of it together",
        what="Write the `update` of `TD3`, out of the functions above: at every update one step of "
        "both critics towards smoothed, clipped targets; at every `policy_delay`-th one also a "
        "step of the actor, and then a small step of all target networks. It returns a dict of "
        "losses, `critic_loss` always and `actor_loss` where the actor moved. The agent has "
        "`self.actor`, `self.critic` and their slow copies `self.target_actor` and "
        "`self.target_critic`; `self.actor_optimizer` and `self.critic_optimizer`; all weights of "
        "the slow copies in the list `self.targets`, those that they follow in `self.online`; "
        "`self.gamma`, `self.tau` and the generator `self.rng`. From lesson 02 there are "
        "`gradient_step(optimizer, loss)` and `polyak_update(targets, online, tau)`.",
        why="All pieces are there, and it is the order and the counting that make the algorithm. "
        "An update too early, a target that is not delayed, an online network in a target's "
        "place: each of them trains, a little worse, and says nothing.",
        difficulty=3,
        minutes=12,
    ),
    hints=(
        "Follow the numbered comments and ask at each: which networks speak here, the online ones "
        "or the targets? Who moves at every update, and who only now and then? `self.updates` "
        "has counted this update already.",
        "Next action, target, loss of the critics, a `gradient_step` with the critics' optimiser. "
        "Where the remainder of `self.updates` by `self.policy_delay` is 0: the actor's loss by "
        "the critic that has just moved, a `gradient_step` with the actor's optimiser, and "
        "`polyak_update` on `self.targets`, towards `self.online`.",
    ),
    cases=update_cases,
    observe=observe_agent,
    misconceptions=[
        # When
        Misconception(
            "delay ignored",
            at_times(lambda self: True),
            "Your actor and your targets move at every update, so there is no delay. The critics "
            "are given time to settle before the actor follows them: it moves at every "
            "`policy_delay`-th update only.",
        ),
        Misconception(
            "an update too early, counted from 0",
            at_times(lambda self: (self.updates - 1) % self.policy_delay == 0),
            "Your actor moves at updates 1, 1 + `policy_delay` and so on, when the critics have "
            f"hardly begun. {DELAY}",
        ),
        Misconception(
            "an update too early",
            at_times(lambda self: (self.updates + 1) % self.policy_delay == 0),
            f"Your actor moves one update too early: this one is counted already. {DELAY}",
        ),
        Misconception(
            "remainder 1",
            at_times(lambda self: self.updates % self.policy_delay == 1),
            "You wait for a remainder of 1, which comes one update too late or too early, and with "
            f"a `policy_delay` of 1 never. {DELAY}",
        ),
        Misconception(
            "at all other updates",
            at_times(lambda self: self.updates % self.policy_delay != 0),
            "Your actor moves just when it should rest: a remainder that is not 0 counts as true. "
            f"{DELAY}",
        ),
        Misconception(
            "waits once, then never again",
            at_times(lambda self: self.updates >= self.policy_delay),
            "Your actor waits for the first `policy_delay` updates and then moves at every one. "
            "The delay is for ever: `%` gives the remainder, `//` and `>=` do not.",
        ),
        Misconception(
            "whole division",
            at_times(lambda self: self.updates // self.policy_delay == 0),
            "`//` gives how often `policy_delay` goes into the number of updates, which is 0 only "
            f"at the very beginning. The remainder is `%`. {DELAY}",
        ),
        Misconception(
            "waits for the warm-up again",
            at_times(
                lambda self: (
                    self.updates % self.policy_delay == 0 and self.steps > self.learning_starts
                )
            ),
            "You wait for `learning_starts` as well, but the agent has done that: nobody calls "
            "`update` before. Several updates may belong to one step (`gradient_steps`), and of "
            "those right after the warm-up you leave some out.",
        ),
        Misconception(
            "always every second update",
            at_times(lambda self: self.updates % 2 == 0),
            "Your actor moves at every second update. That is only the usual choice: take the "
            "number from `self.policy_delay`.",
        ),
        Misconception(
            "counts again",
            td3_with(update=counted_again),
            "You add 1 to `self.updates`, but the agent has counted this update already, so the "
            "count runs twice as fast. Only read it.",
        ),
        Misconception(
            "counts again, at the end",
            td3_with(update=counted_at_the_end),
            "You add 1 to `self.updates` when you are done, but the agent counts each update, "
            "right before it calls yours, so the count runs twice as fast. Only read it.",
        ),
        Misconception(
            "steps in place of updates",
            at_times(lambda self: self.steps % self.policy_delay == 0),
            "You count the steps in the environment (`self.steps`). There may be several updates "
            "for one step, or none: the delay is about `self.updates`.",
        ),
        Misconception(
            "the actor never moves",
            at_times(lambda self: False),
            "Your actor and your targets never move. At every `policy_delay`-th update, when "
            "`self.updates` divided by it leaves no remainder, it is their turn.",
        ),
        Misconception(
            "critics delayed, too",
            td3_with(update=all_delayed),
            "Your critics rest along with the actor. They learn at every update: the delay is "
            "there to let them get ahead of the actor.",
        ),
        Misconception(
            "only the targets delayed",
            td3_with(update=targets_delayed_only),
            "Your actor moves at every update, and only the targets are delayed. Both wait: the "
            "actor is not to follow critics that are still settling.",
        ),
        Misconception(
            "only the actor delayed",
            td3_with(update=actor_delayed_only),
            "Your targets move at every update, and only the actor is delayed. In TD3 the targets "
            "wait as well, and move right after the actor's step.",
        ),
        Misconception(
            "the critics' targets not delayed",
            td3_with(update=critics_targets_undelayed),
            "Your target critics move at every update, and only the target actor waits. All "
            "target networks wait for the actor, and move together right after its step.",
        ),
        Misconception(
            "several actor steps at once",
            td3_with(actor_step=several_actor_steps),
            "Your actor takes `policy_delay` steps at once, as if to catch up. It is meant to move "
            "less often than the critics: one step.",
        ),
        # The targets
        Misconception(
            "targets never move",
            td3_with(move_targets=lambda self: None),
            "Your target networks never move, so the critics learn what the very first weights had "
            "to say. After the actor's step comes a small step of all of them.",
        ),
        Misconception(
            "only the critics' targets",
            td3_with(move_targets=lambda self: self.move(self.target_critic, self.critic)),
            "The target actor never moves, so the targets are about a policy from long ago. "
            f"{ALL_TARGETS}",
        ),
        Misconception(
            "only the actor's target",
            td3_with(move_targets=lambda self: self.move(self.target_actor, self.actor)),
            f"The target critics never move, so they judge by their first weights. {ALL_TARGETS}",
        ),
        Misconception(
            "online and targets exchanged",
            td3_with(move_targets=other_way_round),
            "The arguments of `polyak_update` have changed places: the online networks are pulled "
            "back to the targets. Who moves comes first, `self.targets`.",
        ),
        Misconception(
            "1 - tau",
            td3_with(
                move_targets=lambda self: polyak_update(self.targets, self.online, 1 - self.tau)
            ),
            "You hand over `1 - tau`, so a target becomes the online network, all but a trace. "
            "`polyak_update` takes the small share itself: `self.tau`.",
        ),
        Misconception(
            "always 0.005",
            td3_with(move_targets=lambda self: polyak_update(self.targets, self.online, 0.005)),
            "Your targets always move by 0.005. That is only the usual choice: take `self.tau`.",
        ),
        Misconception(
            "copied",
            td3_with(move_targets=lambda self: polyak_update(self.targets, self.online, 1.0)),
            "You copy the online networks into the targets, as DQN does every few thousand steps. "
            "Here the targets go a small part of the way, `self.tau`.",
        ),
        Misconception(
            "one network under two names",
            td3_with(move_targets=same_network),
            "After your update the target networks are the online ones, under a second name, and "
            "move with every step. An assignment copies nothing: let `polyak_update` change their "
            "weights.",
        ),
        Misconception(
            "networks in place of parameters",
            td3_with(
                move_targets=lambda self: polyak_update(self.target_critic, self.critic, self.tau)
            ),
            NO_PARAMETERS,
        ),
        Misconception(
            "networks in place of parameters, the actor's first",
            td3_with(
                move_targets=lambda self: polyak_update(self.target_actor, self.actor, self.tau)
            ),
            NO_PARAMETERS,
        ),
        Misconception(
            "targets before the actor's step",
            td3_with(update=targets_before_the_actor),
            "Your targets move before the actor does, so they follow the actor of the last time. "
            "First the actor's step, then theirs.",
        ),
        Misconception(
            "targets at the beginning",
            td3_with(update=targets_first),
            "Your targets move at the beginning of the update, before anybody has learned. Their "
            "step is the last thing.",
        ),
        # What the critics learn
        Misconception(
            "the online actor's next action",
            td3_with(next_action=lambda self, batch: self.smoothed(self.actor, batch.next_obs)),
            "You asked the online actor for the next action. Whatever stands in a target comes "
            "from networks that hold still: `self.target_actor`.",
        ),
        Misconception(
            "the present observation",
            td3_with(next_action=lambda self, batch: self.smoothed(self.target_actor, batch.obs)),
            "You asked the target actor about `batch.obs`. The action in question is the next one: "
            "`batch.next_obs`.",
        ),
        Misconception(
            "the action of the batch",
            td3_with(next_action=lambda self, batch: batch.action),
            "Your next action is that of the batch, which was taken before. What comes next is the "
            "target actor's choice, smoothed.",
        ),
        Misconception(
            "target from the online critics",
            td3_with(target=critic_asked(target_critic=lambda self, batch: self.critic)),
            "Your target is made by the online critics, which chase themselves then: every step "
            "moves what they aim at. `self.target_critic` holds still.",
        ),
        Misconception(
            "gamma of 1",
            td3_with(target=critic_asked(gamma=lambda self, batch: 1.0)),
            "Your future is not discounted. Hand `self.gamma` on.",
        ),
        Misconception(
            "gamma always 0.99",
            td3_with(target=critic_asked(gamma=lambda self, batch: 0.99)),
            "Your discount is always 0.99. That is only the usual choice: take `self.gamma`.",
        ),
        Misconception(
            "tau and gamma mixed up",
            td3_with(target=critic_asked(gamma=lambda self, batch: self.tau)),
            "You discount by `self.tau`, which is how far the targets move. The discount is "
            "`self.gamma`.",
        ),
        Misconception(
            "rewards scaled again",
            td3_with(
                target=critic_asked(
                    batch=lambda self, batch: batch._replace(
                        reward=batch.reward * self.reward_scale
                    )
                )
            ),
            f"You multiply the rewards by `reward_scale`. {SCALED}",
        ),
        Misconception(
            "rewards scaled again, in place",
            td3_with(update=rewards_scaled_in_place),
            f"You multiply the rewards by `reward_scale`, in the batch itself. {SCALED}",
        ),
        Misconception(
            "the target scaled",
            td3_with(target=rescaled(lambda y, scale: y * scale)),
            f"You multiply the target by `reward_scale`. {SCALED}",
        ),
        Misconception(
            "the target scaled back",
            td3_with(target=rescaled(lambda y, scale: y / scale)),
            f"You divide the target by `reward_scale`. {SCALED}",
        ),
        Misconception(
            "a smoothing for each critic",
            td3_with(critic_step=two_smoothings),
            "You draw next actions twice and make two targets, one for each critic. One target "
            "serves both: what tells the critics apart is how they started.",
        ),
        Misconception(
            "a target for each critic",
            td3_with(critic_step=target_for_each(1)),
            "Each of your critics learns from its own target critic, so each believes its own "
            "errors. There is one target, from the lower of the two, and both learn it.",
        ),
        Misconception(
            "each critic from the other",
            td3_with(critic_step=target_for_each(-1)),
            "Each of your critics learns from the other one's target, which is double Q-learning. "
            "The two are too much alike for that to be enough: there is one target, from the "
            "lower of the two, and both learn it.",
        ),
        Misconception(
            "only the first critic learns",
            td3_with(critic_step=first_critic_only),
            "Only your first critic learns; the second stays as it was born. Both learn the same "
            "target: `twin_critic_loss`.",
        ),
        Misconception(
            "a loss of the first critic only",
            td3_with(critic_step=loss_of_the_first),
            "Your critics' loss is about the first critic only, as if this were DDPG's update, and "
            "torch stops because the optimiser holds the weights of both. Both learn the same "
            "target: `twin_critic_loss`.",
        ),
        Misconception(
            "the loss of the target critics",
            td3_with(critic_step=loss_of_the_targets),
            "You made the critics' loss with the target critics, and torch stops because the "
            "optimiser holds the online ones' weights. A target is never trained: `self.critic`.",
        ),
        Misconception(
            "the minimum in the critics' loss",
            td3_with(critic_step=by_lower_value),
            "You compare the lower of the two values with the target, so in every row only one "
            "critic learns. The minimum is in the target already: compare both, as "
            "`twin_critic_loss` does.",
        ),
        Misconception(
            "no smoothing",
            td3_with(next_action=lambda self, batch: self.target_actor(batch.next_obs).detach()),
            "The next action has no noise in your update. `smoothed_target_action` is there to "
            "average the target over nearby actions.",
        ),
        Misconception(
            "target_noise and noise_clip exchanged",
            smoothing(lambda self: (self.noise_clip, self.target_noise, self.rng)),
            "`target_noise` and `noise_clip` have changed places in your call: first how wide the "
            "noise is, then where it is cut off.",
        ),
        Misconception(
            "noise as usual",
            smoothing(lambda self: (0.2, 0.5, self.rng)),
            "Your noise is 0.2 wide and cut off at 0.5 whatever the agent was given. These are "
            "only the usual choices: take `self.target_noise` and `self.noise_clip`.",
        ),
        Misconception(
            "a new generator",
            smoothing(lambda self: (self.target_noise, self.noise_clip, np.random.default_rng())),
            f"You make a new generator for the noise at every update. {REPEATABLE}",
        ),
        Misconception(
            "noise from a shared stream",
            noisy(lambda self, action: torch.randn_like(action)),
            "Your noise comes from a random stream that the whole process shares "
            f"(`torch.randn_like`, `np.random`). {REPEATABLE}",
        ),
        Misconception(
            "one noise for each row",
            noisy(lambda self, action: self.rng.standard_normal((len(action), 1))),
            f"All dimensions of a next action get the same noise. {ONE_DIRECTION}",
        ),
        Misconception(
            "one noise for all rows",
            noisy(lambda self, action: self.rng.standard_normal(action.shape[1:])),
            f"All rows get the same noise, one number for each dimension. {ONE_DIRECTION}",
        ),
        Misconception(
            "one noise for the whole batch",
            noisy(lambda self, action: self.rng.standard_normal()),
            f"You drew a single number and added it to all next actions. {ONE_DIRECTION}",
        ),
        Misconception(
            "next actions not clipped",
            noisy(lambda self, action: self.rng.standard_normal(action.shape), bound=np.inf),
            "With the noise some of your next actions leave [-1, 1]. No such action is ever taken, "
            "so the critics know nothing about it: clamp the sum as well, or call "
            "`smoothed_target_action`.",
        ),
        Misconception(
            "noise that fades",
            td3_with(update=fading_noise),
            "You change `self.target_noise` at every update, so it fades away. It is a setting of "
            "the agent, the same from the first update to the last: only read it.",
        ),
        Misconception(
            "the same generator anew at every update",
            smoothing(
                lambda self: (self.target_noise, self.noise_clip, np.random.default_rng(self.seed))
            ),
            "You make a generator with the same seed at every update, so every batch gets the same "
            "noise again. `self.rng` moves on by itself.",
        ),
        Misconception(
            "the generator of predict",
            smoothing(lambda self: (self.target_noise, self.noise_clip, self.predict_rng)),
            "You draw from `self.predict_rng`. It is apart so that a call of `predict` between two "
            "trainings changes nothing about them: training draws from `self.rng`.",
        ),
        # Steps
        Misconception(
            "critics never step",
            td3_with(critic_step=lambda self, b, y: td3.twin_critic_loss(self.critic, b, y)),
            "Your critics never move: you compute their loss, but take no step down its gradient. "
            "`gradient_step` does that, with the critics' optimiser.",
        ),
        Misconception(
            "actor never steps",
            td3_with(actor_step=lambda self, batch: self.actor_loss(batch)),
            "Your actor never moves: you compute its loss, but take no step down its gradient. "
            "`gradient_step` does that, with the actor's optimiser.",
        ),
        Misconception(
            "no steps at all",
            td3_with(step=no_step),
            "You compute gradients, but nobody steps: `backward()` alone moves no weight. After it "
            "comes the optimiser's `step()`, or `gradient_step` for all of it.",
        ),
        Misconception(
            "the wrong optimiser for the critics",
            td3_with(step=exchanged),
            "You take the critics' step with an optimiser that holds none of their weights. Each "
            "has the weights of one network and moves no others: the critics' loss needs "
            "`self.critic_optimizer`, the actor's `self.actor_optimizer`.",
        ),
        Misconception(
            "the critics' optimiser for the actor",
            td3_with(step=stepped_by("critic_optimizer")),
            "You take the actor's step with the critics' optimiser, which holds none of the "
            "actor's weights. Each loss has its own: `self.actor_optimizer`.",
        ),
        Misconception(
            "one loss for everything",
            td3_with(update=one_loss_for_all),
            "You added both losses and sent one gradient through everything, so the critics are "
            "also moved by the actor's wish for high values. First a step of the critics by their "
            "own loss, then one of the actor by its own.",
        ),
        Misconception(
            "gradients never cleared",
            td3_with(step=backward_and_step(())),
            f"The {NEVER_CLEARED}",
        ),
        Misconception(
            "the critics' gradients never cleared",
            td3_with(step=backward_and_step(("actor",))),
            "The critics' gradients are never cleared: those of earlier batches, and of the "
            "actor's wish for high values, are added to the new ones. Call `zero_grad` on their "
            "optimiser before `backward`, or use `gradient_step`.",
        ),
        Misconception(
            "the actor's gradients never cleared",
            td3_with(step=backward_and_step(("critic",))),
            f"The actor's {NEVER_CLEARED}",
        ),
        Misconception(
            "cleared before the step",
            td3_with(step=backward_and_step((), ("actor", "critic"))),
            "You clear the gradients between `backward` and `step`, so nothing is left to step by. "
            "`zero_grad` comes before `backward`.",
        ),
        # The actor
        Misconception(
            "the critics' step last",
            td3_with(update=critics_last),
            "Your critics take their step at the end, after the actor's and the targets'. They "
            "come first: actor and targets follow what the critics have just learned.",
        ),
        Misconception(
            "the actor downhill",
            td3_with(actor_step=downhill),
            "You turned the sign of the actor's loss for its step. The minus is in "
            "`actor_loss_by_q1` already, and with a second one the actor looks for the worst "
            "action that it can find.",
        ),
        Misconception(
            "a loss without the actor",
            td3_with(
                actor_loss=lambda self, batch: -self.critic.q1(batch.obs, batch.action).mean()
            ),
            WITHOUT_THE_ACTOR,
        ),
        Misconception(
            "the actor's loss without gradient",
            td3_with(
                actor_loss=lambda self, batch: torch.no_grad()(td3.actor_loss_by_q1)(
                    self.actor, self.critic, batch.obs
                )
            ),
            "Your actor's loss carries no gradient (`no_grad`, `.detach()`), so there is nothing "
            "that the actor could follow. Only targets are made without gradient.",
        ),
        Misconception(
            "the actor first",
            td3_with(update=actor_first),
            "Your actor moves before the critics have learned from the batch. The critics come "
            "first, and the actor follows what they have just learned.",
        ),
        Misconception(
            "by the target critic",
            td3_with(
                actor_loss=lambda self, batch: td3.actor_loss_by_q1(
                    self.actor, self.target_critic, batch.obs
                )
            ),
            "Your actor asks the target critic, which lags behind. Targets are for targets: the "
            "actor follows the newest that is known, `self.critic`.",
        ),
        Misconception(
            "the target actor's loss",
            td3_with(
                actor_loss=lambda self, batch: td3.actor_loss_by_q1(
                    self.target_actor, self.critic, batch.obs
                )
            ),
            "You made the actor's loss with the target actor, and the optimiser holds the online "
            "one's weights, on which this loss does not depend. A target is never trained: "
            "`self.actor`.",
        ),
        Misconception(
            "the next observations",
            td3_with(
                actor_loss=lambda self, batch: td3.actor_loss_by_q1(
                    self.actor, self.critic, batch.next_obs
                )
            ),
            "Your actor learns from `batch.next_obs`. Those are observations as well, but the "
            "critics are trained in `batch.obs`, and may know nothing about the others.",
        ),
        Misconception(
            "by the lower of both",
            td3_with(
                actor_loss=lambda self, batch: (
                    -torch.minimum(*self.critic(batch.obs, self.actor(batch.obs))).mean()
                )
            ),
            "Your actor goes by the lower of both critics. The minimum belongs to the target; one "
            "critic is enough to say which way is up: `actor_loss_by_q1`.",
        ),
        Misconception(
            "critics left frozen",
            td3_with(actor_step=frozen_critic),
            FROZEN,
        ),
        # What is returned
        Misconception(
            "losses not returned",
            returns(lambda losses: None),
            "The steps are right, but your update returns nothing, and the agent wants to log the "
            "losses. End with `return losses`.",
        ),
        Misconception(
            "returned only with the actor's",
            returns(lambda losses: losses if "actor_loss" in losses else None),
            "The steps are right, but your `return` stands inside the `if`: the updates of the "
            "critics alone return nothing. Move it out.",
        ),
        Misconception(
            "only the actor's loss kept",
            returns(lambda x: {"actor_loss": x["actor_loss"]} if "actor_loss" in x else x),
            "The steps are right, but where the actor moves, the critics' loss is gone from the "
            "dict: add an entry (`losses[...] = ...`) in place of making a new dict.",
        ),
        Misconception(
            "an actor_loss at every update",
            returns(lambda losses: {"actor_loss": torch.zeros(())} | losses),
            IDLE_LOSS,
        ),
        Misconception(
            "several numbers in an entry",
            td3_with(update=rewards_returned),
            "The steps are right, but an entry of what you return holds several numbers, and the "
            "log keeps one for each name: training would stop with an error. Take the mean, or "
            "leave it out.",
        ),
        Misconception(
            "the batch changed",
            td3_with(update=observations_cleared),
            "The steps are right, but your update changes the batch that it is given (a method "
            "whose name ends in `_`, or `+=`). It belongs to whoever drew it.",
        ),
        Misconception(
            "a tuple of losses",
            returns(lambda losses: tuple(losses.values())),
            "The steps are right, but you return the losses without their names. A dict is asked "
            "for: the agent logs each under its name.",
        ),
        Misconception(
            "one sum of losses",
            returns(lambda losses: sum(losses.values())),
            "The steps are right, but you return one number. A dict is asked for, with each loss "
            "under its name.",
        ),
        Misconception(
            "other names", renamed(critic_loss="q_loss", actor_loss="policy_loss"), OTHER_NAMES
        ),
        Misconception(
            "another name for the critics' loss", renamed(critic_loss="q_loss"), OTHER_NAMES
        ),
        Misconception(
            "another name for the actor's loss", renamed(actor_loss="policy_loss"), OTHER_NAMES
        ),
        Misconception(
            "plain numbers",
            returns(lambda losses: {name: loss.item() for name, loss in losses.items()}),
            LOG_ITEM,
        ),
        Misconception(
            "None where the actor rests",
            returns(lambda losses: {"actor_loss": None} | losses),
            LOG_ITEM,
        ),
    ],
)
