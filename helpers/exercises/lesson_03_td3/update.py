"""Lesson 03's agent: exercise 3.7, the `update` of `TD3`.

It is tried as `updates` says; one case leaves the agent as it was built.

Two right smoothings may draw different numbers. So there is no noise where weights are compared,
and the agent's generator draws only zeros there. The noise is observed in a case of its own, in the
actions about which the target critic is asked.
"""

from functools import partial

import numpy as np
import torch

from helpers.agents.td3 import TD3
from helpers.checks.exercise import Case
from helpers.exercises.lesson_03_td3.smoothing import shared, shared_streams
from helpers.exercises.text import exercise
from helpers.exercises.toys import SmallActor, SmallTwin, batch_of, drawn, floats, random_twin
from helpers.exercises.updates import Updates, bare, built, listed, observe_updates, with_networks
from helpers.memory.buffers import Batch

# --- What is looked at ----------------------------------------------------------------------------

ROWS = 4000  # enough to compare shares of the noise


class ListeningTwin(SmallTwin):
    """Remembers the actions that it is asked about."""

    def forward(self, obs, action):
        self.listen(action)
        return super().forward(obs, action)

    def q1(self, obs, action):
        self.listen(action)
        return super().q1(obs, action)

    def listen(self, action):
        self.heard = [*getattr(self, "heard", []), action.detach().clone()]


class Still(np.random.Generator):
    """Draws nothing but the mean."""

    def standard_normal(self, *args, **kwargs):
        return 0 * super().standard_normal(*args, **kwargs)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return loc + 0 * super().normal(loc, scale, size)


def agent_with(function, networks: tuple, learning_rate: float, **settings):
    agent = with_networks(bare(function, TD3), networks, learning_rate, **settings)
    bits = np.random.PCG64(0).spawn(2)
    kind = np.random.Generator if settings["target_noise"] else Still
    agent.rng, agent.predict_rng = map(kind, bits)
    return agent


def observe_agent(
    function, critic, actor, target_critic, target_actor, batch,
    updates, policy_delay, gamma, tau, learning_rate, target_noise=0.0, noise_clip=0.5,
    updates_before=0,
):  # fmt: skip
    """All weights and returned losses after each update, or, with noise, its effect on the target.

    Without networks the agent keeps its own, and only which of them move is observed.
    """
    settings = {"policy_delay": policy_delay, "gamma": gamma, "tau": tau}
    settings |= {"target_noise": target_noise, "noise_clip": noise_clip}
    if critic is None:
        sizes = batch.obs.shape[1], batch.action.shape[1]
        agent = built(function, *sizes, **settings)
    else:
        networks = critic, actor, target_critic, target_actor
        agent = agent_with(function, networks, learning_rate, **settings)
    agent.updates = updates_before
    if target_noise:
        trial = Updates(agent, batch)
        return what_arrives(trial, updates, noise_clip) | trial.changes()
    numbers = range(updates_before + 1, updates_before + updates + 1)
    acting = [number % policy_delay == 0 for number in numbers]
    return observe_updates(agent, batch, acting, own=critic is None)


def what_arrives(trial: Updates, updates: int, noise_clip: float) -> dict:
    """The noise in the actions about which the target critic is asked at the first update."""
    agent, batch = trial.agent, trial.batch
    before = streams(agent)
    with torch.no_grad():
        plain = agent.target_actor(batch.next_obs).numpy()
    heard = []
    for _ in range(updates):
        with torch.no_grad():
            known = [batch.action, agent.actor(batch.obs)]
        heard.append(heard_at(trial))
    asked = vars(agent.critic).get("heard", [])[-1:]  # at the last update, in the actor's loss
    plain_ones = all(any(map(partial(same, x), known)) for x in asked)
    used = [name for name, state in streams(agent).items() if state != before[name]]
    seen = {
        "random streams from which the update draws": listed(used),
        "actions about which the target critic is asked": "one for each row",
    }
    if any(actions.shape[1:] != batch.action.shape for actions in heard):
        return seen | {"actions about which the target critic is asked": "not one for each row"}
    first, second = heard[0][0], heard[1][0]
    several, again = np.ptp(heard[0], axis=0).any(), np.array_equal(first, second)
    inside = (
        np.abs(plain).max(axis=1) + noise_clip < 1
    )  # where the bounds of an action have no effect
    noise = (first - plain)[inside]
    far = np.abs(noise)
    return seen | {
        "actions in the actor's loss": "its own" if plain_ones else "others",
        "number of next actions for each row": "several" if several else "one",
        "noise of the second update": "the same as in the first" if again else "new",
        "noise within the batch": shared(noise),
        "share of next actions without noise": share(far < 1e-6),
        "share of noise beyond `noise_clip`": share(far > noise_clip + 1e-5),
        "share of noise at `noise_clip`": share(np.abs(far - noise_clip) < 1e-5),
        "bound at which noise is cut off": bound(far),
        "range of the next actions": "within [-1, 1]"
        if np.abs(first).max() <= 1
        else "beyond [-1, 1]",
    }


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Or of another shape: then nothing can be said."""
    return one.shape != other.shape or torch.allclose(one, other, atol=1e-5)


def bound(far: np.ndarray) -> str:
    """The largest size of noise, if more than one entry has just that size."""
    largest = far.max(initial=0.0)
    return f"{largest:.2g}" if (np.abs(far - largest) < 1e-5).sum() > 2 else "none"


def share(of: np.ndarray) -> float:
    return round(float(of.mean()), 1)


def heard_at(trial: Updates) -> np.ndarray:
    """The actions about which the target critic is asked at an update, (times, B, action_dim)."""
    listener = trial.agent.target_critic  # an update may replace it
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
        "a stream that the whole process shares": shared_streams(),
    }


# --- Cases ----------------------------------------------------------------------------------------


def noisy(rng: np.random.Generator) -> tuple:
    """The target actor often reaches a bound in one of two dimensions; all values are 0."""
    nothing = [np.zeros(3), np.zeros(3)]
    actors = SmallActor([[0.5, -0.5]]), SmallActor([[0.0, 2.0]])
    networks = ListeningTwin(*nothing), actors[0], ListeningTwin(*nothing), actors[1]
    batch = batch_of(rng, 1, 2, *[""] * ROWS)
    # 70 % of such noise is clipped: a share that chance does not round to another one. `noise_clip`
    # is not the 0.1 of the exploration noise.
    return *networks, batch, 2, 2, 0.9, 0.2, 0.05, 0.208, 0.08


def by_hand(policy_delay: int) -> tuple:
    """The target is 2.6, the critics say 1.75 and 0.25."""
    networks = (
        SmallTwin([1.0, 2.0], [0.0, 1.0]),
        SmallActor([[0.5]]),
        SmallTwin([1.0, 0.0], [3.0, 0.0]),
        SmallActor([[0.0]]),
    )
    now, later = (floats([[1.0]]), floats([[0.5]])), (floats([1.0]), floats([[2.0]]))
    numbers = 1, policy_delay, 0.8, 0.25, 0.1
    return *networks, Batch(*now, *later, torch.zeros(1), torch.zeros(1)), *numbers


def nearly_right() -> tuple:
    """The target is 1.77, the critics say 1.75 and 1.76: beside losses so small a term that was
    added shows, and a step that is left out because of them.
    """
    critic = SmallTwin([1.0, 2.0], [1.5, 1.02])
    _, *networks, batch, updates, policy_delay, gamma, tau, _ = by_hand(2)
    small = batch._replace(reward=floats([0.17]))
    return critic, *networks, small, updates, policy_delay, gamma, tau, 5.0


def update_cases(rng: np.random.Generator) -> list[Case]:
    def random(obs_size: int, action_dim: int, *numbers: float, own: bool = False) -> tuple:
        def actor() -> SmallActor:
            return SmallActor(rng.normal(size=(obs_size, action_dim)) / 2)

        def twin() -> SmallTwin:
            return SmallTwin(*rng.normal(size=(2, obs_size + action_dim)) / 2)

        networks = [None] * 4 if own else [twin(), actor(), twin(), actor()]
        flags = ["", "terminated", "", "truncated", ""]
        batch = batch_of(rng, obs_size, action_dim, *flags)
        return *networks, batch._replace(reward=10 * batch.reward), *numbers

    return [
        Case(by_hand(2), note="the first of every two updates: only the critics move"),
        Case(by_hand(1), note="no delay: everything moves"),
        Case(random(2, 1, 4, 2, 0.9, 0.2, 0.05), note="four updates, a delay of 2"),
        Case(
            random(3, 2, 6, 3, 0.9, 0.2, 0.05),
            {"updates_before": 1},
            note="six updates, a delay of 3; `self.updates` is 2 at the first of them",
        ),
        Case(random(1, 3, 2, 1, 1.0, 0.2, 0.05), note="two updates, three action dimensions"),
        Case(random(3, 2, 4, 2, 0.9, 0.2, 0.05, own=True), note="the agent's own networks"),
        Case(noisy(rng), note="many rows, noise that is often clipped"),
        Case(nearly_right(), note="critics that are nearly right"),
    ]


def does_what_was_given(function, rng: np.random.Generator) -> bool:
    """Whether settings and `value`, which are no part of the exercise, are still themselves."""
    settings = {"policy_delay": 3, "target_noise": 0.3, "noise_clip": 0.7}
    agent = built(function, 2, 1, **settings)
    kept = all(getattr(agent, name) == number for name, number in settings.items())
    if not kept or "value" not in vars(function):
        return kept
    vars(agent).update(critic=random_twin(rng, 2, 1), target_critic=random_twin(rng, 2, 1))
    obs = drawn(rng, 20, 2)
    with torch.no_grad():
        return torch.allclose(agent.value(obs), agent.critic.q1(obs, agent.greedy(obs)))


TD3_UPDATE = exercise(
    __file__, "3.7", TD3, update_cases, observe_agent,
    properties={"what was given changed": does_what_was_given},
)  # fmt: skip
