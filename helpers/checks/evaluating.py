"""Lesson 05's evaluation: exercise 5.1 `play_episodes`.

It is given an environment that writes down what is done to it, and so to its copies.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import gymnasium as gym
import numpy as np
import torch

from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.checks.watched import ENV_ID, LOG, TooFarError
from helpers.envs.make import make_env
from helpers.evaluation import play_episodes

# --- What is looked at ----------------------------------------------------------------------------

BY_ID, IN_USE = "its id", "one in the middle of an episode"
TRAINED = "what happens to the environment that was given"
COURSE = "course of the episodes"
SEEDS = "seeds of the episodes"
ASKED = "list of what the policy is asked about"
ACTIONS = "actions taken"
OPEN = "number of environments left open"
FORM = "form of the result"
NOT_ITS_OWN = "not the policy's"
OBS = "the newest observation"


def observe_episodes(function, env, episodes, seed):
    LOG.clear()  # it may be full, from a loop without end
    given = the_given(env)
    LOG.clear()
    policy = Policy()
    result, stopped = None, False
    try:
        result = function(policy.act, ENV_ID if env == BY_ID else given, episodes, seed)
    except TooFarError:
        stopped = True
    log = list(LOG)  # closing what was given is not the student's
    mine = given.unwrapped
    if result is None and not stopped:
        return None
    played = [entry for entry in log if entry[0] is not mine] or log
    seen = {
        TRAINED: done_to(mine, log),
        COURSE: course(played, stopped),
        SEEDS: ", ".join(sorted(str(seed) for seed, _ in episodes_of(played))),
        ASKED: policy.about(),
        ACTIONS: "the policy's" if own_actions(policy, played) else NOT_ITS_OWN,
        FORM: "not known" if stopped else form(result, episodes),
        "returns": None,
        "lengths": None,
        OPEN: len(left_open(log, mine)),
    }
    if not stopped and seen[FORM] == PAIR:
        returns, seen["lengths"] = result
        # With actions of chance the numbers are anybody's.
        seen["returns"] = returns if seen[ACTIONS] != NOT_ITS_OWN else None
    return seen


def the_given(env: str) -> gym.Env:
    """Two steps of its episode of three are done, if it is in use."""
    given = gym.make(ENV_ID)
    if env == IN_USE:
        given.reset(seed=9)
        for _ in range(2):
            given.step(np.zeros(1))
    return given


class Policy:
    """Goes by the observation, and remembers what it was asked and what it said."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.said: list[float] = []

    def act(self, obs):
        if not isinstance(obs, np.ndarray):
            self.asked.append(f"something of type {type(obs).__name__}")
            return np.zeros(1)
        numbers = obs.astype(float)
        newest = [env for env, what, _ in LOG if what in ("reset", "step")][-1:]
        if numbers.shape != (2,):
            about = f"something of shape {numbers.shape}"
        elif newest and np.allclose(numbers, newest[0].seen, atol=1e-5):
            about = OBS
        else:
            about = "an older observation"
        self.asked.append(about)
        action = numbers[..., :1] - numbers[..., 1:] / 4
        self.said.append(float(action.ravel()[0]))
        return action

    def about(self) -> str:
        return ", ".join(sorted(set(self.asked))) or "nothing"


def done_to(mine: gym.Env, log: list) -> str:
    """What is done to the environment that was given; nobody should notice anything."""
    words = {"reset": "it is reset", "step": "it makes steps", "close": "it is closed"}
    seen = {words[what] for env, what, _ in log if env is mine and what in words}
    return ", ".join(sorted(seen)) or "nothing"


def episodes_of(log: list) -> list[tuple]:
    """(seed of the last reset before it, its steps), for all that had a step.

    A step is what was done, what was gained, and whether it was the last.
    """
    found: list[tuple] = []
    for _, what, more in log:
        if what == "reset":
            found.append((more, []))
        elif what == "step" and found:
            found[-1][1].append(more)
    return [(seed, steps) for seed, steps in found if steps]


def course(log: list, stopped: bool) -> str:
    late = next((more for _, what, more in log if what == "late"), "")
    if late:
        how = {"both": "terminated and was truncated", "truncated": "was truncated"}
        return f"goes on after an episode {how.get(late, late)}"
    if stopped:
        return "without end"
    whole = all(steps[-1][2] for _, steps in episodes_of(log))
    return "whole ones" if whole else "broken off"


def own_actions(policy: Policy, log: list) -> bool:
    """Whether what was done is what the policy said, in its order."""
    done = [action for _, steps in episodes_of(log) for action, _, _ in steps]
    said = iter(policy.said)  # it may have been asked more often
    return all(any(np.isclose(action, word) for word in said) for action in done)


PAIR = "a pair, one entry for each episode"


def form(result, episodes: int) -> str:
    if isinstance(result, dict):
        return "a dict"
    if not hasattr(result, "__len__"):
        return f"a single value of type {type(result).__name__}"
    if len(result) != 2:
        each = {np.ndim(part) for part in result}
        return f"{len(result)} {'numbers' if each == {0} else 'things'}, and not a pair"
    if all(np.ndim(part) == 1 and len(part) == episodes for part in result):
        return PAIR
    shapes = [np.shape(part) for part in result]
    return f"a pair with parts of shape {' and '.join(map(str, shapes))}"


def left_open(log: list, mine: gym.Env) -> set[int]:
    """Those in which something was done and that were not closed afterwards."""
    used = {id(env) for env, what, _ in log if what != "close" and env is not mine}
    return used - {id(env) for env, what, _ in log if what == "close"}


def episode_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((BY_ID, 1, 30), note="an episode of one step, terminated"),
        Case((BY_ID, 1, 38), note="an episode of two steps, truncated"),
        Case((IN_USE, 1, 24), note="an episode of two steps, terminated"),
        Case((BY_ID, 1, 8), note="an episode of four steps, terminated"),
        Case((BY_ID, 1, 3), note="an episode of five steps, terminated"),
        Case((BY_ID, 3, 24), note="three episodes: two terminated, one truncated"),
        Case((IN_USE, 5, 21), note="five episodes of all kinds"),
    ]


# --- What no result shows -------------------------------------------------------------------------


class PolicyError(Exception):
    """By a policy that fails in the middle of an episode."""


def failing_policy() -> Callable:
    asked = []

    def act(obs):
        asked.append(obs)
        if len(asked) > 2:
            raise PolicyError("The policy fails.")
        return np.zeros(1)

    return act


def closes_in_any_case(function, rng):
    LOG.clear()
    with suppress(PolicyError):
        function(failing_policy(), ENV_ID, 2, 3)
    return not left_open(LOG, None)


def lets_errors_pass(function, rng):
    LOG.clear()
    try:
        function(failing_policy(), ENV_ID, 2, 3)
    except PolicyError:
        return True
    return False


def five_into_four():
    """As `obs, reward, done, info = arena.step(...)` fails."""
    _, _, _, _ = range(5)


# --- Wrong versions -------------------------------------------------------------------------------


def seeded(arena, seed, episode):
    return arena.reset(seed=seed + episode)


def both_arrays(returns, lengths):
    return np.array(returns), np.array(lengths, dtype=int)


class Playing:
    """Everybody's loop in parts, so that wrong versions can replace some."""

    def __init__(self, **parts: Callable) -> None:
        self.__dict__.update(parts)

    def __call__(self, policy, env, episodes, seed):
        arena = self.make(env)
        returns, lengths = [], []
        try:
            for episode in self.episodes(episodes):
                if self.forgotten(returns):
                    total, length = returns[-1], lengths[-1]
                else:
                    total, length = 0.0, 0
                obs = self.first_obs(self.start(arena, seed, episode))
                ended = False
                while not ended:
                    given = arena.step(self.action(policy, obs, arena))
                    newest, reward, *ends, _ = given
                    ended = self.over(*ends)
                    total = self.add(total, reward, length, ended)
                    length = self.count(length, ended)
                    obs = self.next_obs(obs, newest)
                returns.append(total)
                lengths.append(length)
        finally:
            self.close(arena, env)
        return self.result(returns, lengths)

    make = staticmethod(make_env)
    episodes = staticmethod(range)
    forgotten = staticmethod(lambda returns: False)
    start = staticmethod(seeded)
    first_obs = staticmethod(lambda given: given[0])
    action = staticmethod(lambda policy, obs, arena: policy(obs))
    over = staticmethod(lambda terminated, truncated: terminated or truncated)
    add = staticmethod(lambda total, reward, length, ended: total + reward)
    count = staticmethod(lambda length, ended: length + 1)
    next_obs = staticmethod(lambda obs, newest: newest)
    close = staticmethod(lambda arena, env: arena.close())
    result = staticmethod(both_arrays)


def closed_at_the_end(policy, env, episodes, seed):
    left = []
    result = Playing(close=lambda arena, env: left.append(arena))(policy, env, episodes, seed)
    left[0].close()
    return result


def errors_swallowed(policy, env, episodes, seed):
    try:
        return play_episodes(policy, env, episodes, seed)
    except Exception:
        return np.zeros(episodes), np.zeros(episodes, dtype=int)


def copied_if_by_id(env):
    return make_env(env) if isinstance(env, str) else env


def not_closed(arena, env):
    pass


def closed_if_a_copy(arena, env):
    if arena is not env:
        arena.close()


def seed_at_the_first(arena, seed, episode):
    return arena.reset(seed=seed if episode == 0 else None)


def seeded_before_the_first(arena, seed, episode):
    if episode == 0:
        arena.reset(seed=seed)
    return arena.reset()


def a_reset_before_every_step(policy, env, episodes, seed):
    arena = make_env(env)
    returns, lengths = np.zeros(episodes), np.zeros(episodes, dtype=int)
    try:
        for episode in range(episodes):
            ended = False
            while not ended:
                obs, _ = arena.reset(seed=seed + episode)
                _, reward, terminated, truncated, _ = arena.step(policy(obs))
                returns[episode] += reward
                lengths[episode] += 1
                ended = terminated or truncated
    finally:
        arena.close()
    return returns, lengths


def only_the_last_closed(policy, env, episodes, seed):
    returns, lengths = one_for_each_left_open(policy, env, episodes, seed)
    LOG[-1][0].close()
    return returns, lengths


def all_in_the_first(values) -> np.ndarray:
    return np.array([np.sum(values), *np.zeros(len(values) - 1)])


def never_over_again(policy, env, episodes, seed):
    """The flag is set back nowhere: only the first episode is played."""
    returns, lengths = play_episodes(policy, env, 1, seed)
    zeros = np.zeros(episodes - 1)
    return np.append(returns, zeros), np.append(lengths, zeros.astype(int))


def discounted_by(gamma: float, first: int = 0):
    return Playing(
        add=lambda total, reward, length, ended: total + gamma ** (length + first) * reward
    )


def one_for_each_left_open(policy, env, episodes, seed):
    pairs = [
        Playing(close=not_closed)(policy, env, 1, seed + episode) for episode in range(episodes)
    ]
    returns, lengths = zip(*pairs, strict=True)
    return np.concatenate(returns), np.concatenate(lengths)


def a_step_too_early(policy, env, episodes, seed):
    """Goes on without a reset."""
    arena = make_env(env)
    try:
        return arena.step(policy(np.zeros(2)))
    finally:
        arena.close()


def the_first_ends_all(policy, env, episodes, seed):
    return play_episodes(policy, env, 1, seed)


TRAINING = (
    "Whoever trains in it would find a new episode under way, or none at all: let `make_env` make "
    "an environment of its own."
)
SEED_I = "Episode i starts from `seed + i`"
ENDS = (
    "An episode ends in one of two ways, and either is enough: `terminated`, when something final "
    "happened, or `truncated`, when a time limit cut it off"
)
STEP_AFTER = "and an environment must not be stepped again after an episode's end"
EACH = (
    "One number for each episode is asked for: whoever compares agents wants to see how far "
    "episodes differ"
)
CLOSE_ANYWAY = (
    "Where the policy stops with an error, your environment stays open, with its window or its "
    "simulator. `try` and `finally`, or a `with`, close it whatever happens."
)
SWALLOWED = (
    "The policy stopped with an error, and your function goes on as if all were well. Let the "
    "error pass (a `return` inside `finally` holds it back, too): made-up returns are worse than "
    "none."
)

PLAY_EPISODES = Exercise(
    id="5.1",
    lesson="05_td3_in_practice",
    reference=play_episodes,
    card=Card(
        title="An evaluation that disturbs nobody",
        what="Write `play_episodes(policy, env, episodes, seed)`: in an environment of its own, "
        "which `make_env(env)` makes, play whole episodes, episode i from the seed `seed + i`. "
        "Return two arrays with an entry for each: the sums of rewards, and the numbers of steps. "
        "In the end the environment is closed, even if the policy fails.",
        why="An evaluation that steps the training environment changes the training that it "
        "should measure, and one from a single start measures luck. With the same list of starts "
        "for everybody, two agents can be compared start by start.",
        difficulty=2,
        minutes=12,
    ),
    hints=(
        "Two loops, one within the other: over episodes, and over steps for as long as an episode "
        "is not over. What has to begin anew in each episode, and what is there for all of them? "
        "In which ways can an episode end?",
        "`arena.reset(seed=...)` gives a pair, the observation and some information; `arena.step` "
        "gives five things, of which two are flags. Add the reward up as it is, count the step, "
        "and keep the new observation for the next question to the policy. `close` belongs into a "
        "`finally`.",
    ),
    cases=episode_cases,
    observe=observe_episodes,
    output=("returns", "lengths"),
    misconceptions=[
        # Whose environment
        Misconception(
            "the environment itself",
            Playing(make=lambda env: env),
            "You play in the very environment that you were given (and an id is no environment "
            f"yet). {TRAINING}",
        ),
        Misconception(
            "the environment itself, unless it is an id",
            Playing(make=copied_if_by_id),
            "Where you are given an environment you play in it, and close it. " + TRAINING,
        ),
        Misconception(
            "the environment itself, unless it is an id, left open",
            Playing(make=copied_if_by_id, close=not_closed),
            "Where you are given an environment you play in it; and one that you made is not "
            f"closed. {TRAINING}",
        ),
        Misconception(
            "the environment itself, unless it is an id, not closed",
            Playing(make=copied_if_by_id, close=closed_if_a_copy),
            "Where you are given an environment you play in it. " + TRAINING,
        ),
        Misconception(
            "closes the one that it was given",
            Playing(close=lambda arena, env: None if isinstance(env, str) else env.close()),
            "You close the environment that you were given, in which somebody trains. Close the "
            "one that you made.",
        ),
        Misconception(
            "gym.make",
            Playing(make=lambda env: gym.make(env)),
            "`gym.make` knows ids only, and you may be given an environment as well. `make_env` "
            "makes a fresh one in either case.",
        ),
        Misconception(
            "the spec of an id",
            Playing(make=lambda env: gym.make(env.spec)),
            "You may be given an id, which is a plain text without a `spec`. `make_env` makes a "
            "fresh environment in either case.",
        ),
        Misconception(
            "not closed",
            Playing(close=not_closed),
            "The environment that you made stays open. Close it in the end: some have a window or "
            "a simulator behind them.",
        ),
        Misconception(
            "one for each episode, left open",
            one_for_each_left_open,
            "You make an environment for each episode, and leave them all open. One is enough for "
            "all of them, and it is closed in the end.",
        ),
        Misconception(
            "one for each episode, the last one closed",
            only_the_last_closed,
            "You make an environment for each episode, and close only the last. One is enough for "
            "all of them.",
        ),
        Misconception("closed only if all goes well", closed_at_the_end, CLOSE_ANYWAY),
        Misconception("error swallowed", errors_swallowed, SWALLOWED),
        # Where episodes start
        Misconception(
            "the same seed for every episode",
            Playing(start=lambda arena, seed, episode: arena.reset(seed=seed)),
            "Every episode starts from the same seed, so it is one and the same episode again and "
            f"again, and its luck is taken for skill. {SEED_I}.",
        ),
        Misconception(
            "seeded once",
            Playing(start=seed_at_the_first),
            "Only the first episode has a seed. Where the next one starts then depends on how many "
            "random numbers the one before has drawn, and so perhaps on the policy: two agents "
            f"would be compared on different starts. {SEED_I}.",
        ),
        Misconception(
            "seeded once, before the first",
            Playing(start=seeded_before_the_first),
            "You seed once, before the first episode. Where the next one starts then depends on "
            "how many random numbers the one before has drawn, and so perhaps on the policy: two "
            f"agents would be compared on different starts. {SEED_I}.",
        ),
        Misconception(
            "the number added again and again",
            Playing(
                start=lambda arena, seed, episode: arena.reset(
                    seed=seed + episode * (episode + 1) // 2
                )
            ),
            "You add the episode's number to `seed` itself, so that the numbers before are in it "
            f"already. {SEED_I}: work it out anew from the `seed` that was given.",
        ),
        Misconception(
            "no seed",
            Playing(start=lambda arena, seed, episode: arena.reset()),
            "Your episodes start anywhere, since `reset` gets no seed. Then no evaluation can be "
            f"repeated, and two agents are compared on different starts. {SEED_I}.",
        ),
        Misconception(
            "seed + 1 first",
            Playing(start=lambda arena, seed, episode: arena.reset(seed=seed + episode + 1)),
            f"Your first episode starts from `seed + 1`. {SEED_I}, and the first is episode 0.",
        ),
        Misconception(
            "the number as the seed",
            Playing(start=lambda arena, seed, episode: arena.reset(seed=episode)),
            f"You seed with the number of the episode alone. {SEED_I}, so that whoever calls can "
            "choose starts that training has not seen.",
        ),
        Misconception(
            "seed times the number",
            Playing(start=lambda arena, seed, episode: arena.reset(seed=seed * (episode + 1))),
            f"You multiply the seed. {SEED_I}.",
        ),
        Misconception(
            "seed times the number, from 0",
            Playing(start=lambda arena, seed, episode: arena.reset(seed=seed * episode)),
            "You multiply the seed by the number of the episode, so that the first one starts from "
            f"0, whatever `seed` is. {SEED_I}.",
        ),
        # The end of an episode
        Misconception(
            "only terminated",
            Playing(over=lambda terminated, truncated: terminated),
            f"For you only `terminated` ends an episode. {ENDS}. Pendulum is only ever truncated, "
            f"{STEP_AFTER}.",
        ),
        Misconception(
            "only truncated",
            Playing(over=lambda terminated, truncated: truncated),
            f"For you only `truncated` ends an episode. {ENDS}, {STEP_AFTER}.",
        ),
        Misconception(
            "terminated and truncated",
            Playing(over=lambda terminated, truncated: terminated and truncated),
            f"For you an episode ends only where both flags are set. {ENDS}, {STEP_AFTER}.",
        ),
        Misconception(
            "one flag but not both",
            Playing(over=lambda terminated, truncated: terminated != truncated),
            "An episode that terminates and is truncated at the same step does not end for you. "
            "Either flag is enough, and so are both.",
        ),
        Misconception(
            "no end",
            Playing(over=lambda terminated, truncated: False),
            f"Your episodes do not end, even where both flags are set. {ENDS}, {STEP_AFTER}.",
        ),
        Misconception(
            "a single step",
            Playing(over=lambda terminated, truncated: True),
            "You leave an episode after one step, whatever the flags say. Go on for as long as it "
            "is not over.",
        ),
        Misconception(
            "a reset before every step",
            a_reset_before_every_step,
            "You reset the environment before every step, so that no episode gets beyond the "
            "first. Reset once, before the loop over steps.",
        ),
        Misconception(
            "until the flags are false",
            Playing(over=lambda terminated, truncated: not (terminated or truncated)),
            "You go on while an episode is over and stop while it is not: it is the other way "
            "round.",
        ),
        Misconception(
            "only the first episode is played",
            never_over_again,
            "Only your first episode is played, the others stay at 0. Is the flag that says that "
            "an episode is over set back when the next one begins, and does `return` stand behind "
            "the loop?",
        ),
        Misconception(
            "the first episode ends all",
            the_first_ends_all,
            "You return after the first episode: is the `return` inside the loop?",
        ),
        Misconception(
            "one episode too few",
            Playing(episodes=lambda episodes: range(max(1, episodes - 1))),
            "One episode is missing. `range` leaves out its end already, so there is nothing to "
            "subtract.",
        ),
        Misconception(
            "the old interface",
            Playing(over=lambda terminated, truncated: five_into_four()),
            "`step` gives five things: the observation, the reward, `terminated`, `truncated` and "
            "some information. Older code unpacks four.",
        ),
        # What is summed up
        Misconception(
            "last reward lost",
            Playing(
                add=lambda total, reward, length, ended: total if ended else total + reward,
                count=lambda length, ended: length if ended else length + 1,
            ),
            "The last step of an episode counts for nothing: you ask whether it is over before you "
            "add its reward. In many tasks that is the one that matters.",
        ),
        Misconception(
            "last reward lost, but counted",
            Playing(add=lambda total, reward, length, ended: total if ended else total + reward),
            "The last reward of each episode is missing in its return. In many tasks that is the "
            "one that matters.",
        ),
        Misconception(
            "first reward lost",
            Playing(add=lambda total, reward, length, ended: total + reward * (length > 0)),
            "The first reward of each episode is missing in its return.",
        ),
        Misconception(
            "the last reward alone",
            Playing(add=lambda total, reward, length, ended: reward),
            "Your returns are the last reward of each episode. They are sums: add each reward to "
            "those before (`+=`).",
        ),
        Misconception(
            "added to the episodes before",
            Playing(forgotten=bool),
            "Your sums and your counts run on from one episode into the next. Each episode begins "
            "at 0.",
        ),
        Misconception(
            "returns added to the episodes before",
            Playing(result=lambda returns, lengths: (np.cumsum(returns), np.array(lengths))),
            "Your returns run on from one episode into the next. Each begins at 0.",
        ),
        Misconception(
            "lengths added to the episodes before",
            Playing(result=lambda returns, lengths: (np.array(returns), np.cumsum(lengths))),
            "Your lengths run on from one episode into the next. Each begins at 0.",
        ),
        *[
            Misconception(
                f"discounted by {gamma}",
                discounted_by(gamma),
                f"You discount the rewards, by {gamma} it seems. A critic learns discounted sums, "
                "because it bootstraps; how good an agent is, the plain sum of what it gained "
                "says.",
            )
            for gamma in (0.99, 0.98, 0.95, 0.9)
        ],
        Misconception(
            "discounted from the first reward on",
            discounted_by(0.99, first=1),
            "You discount the rewards, the first one too. A critic learns discounted sums, because "
            "it bootstraps; how good an agent is, the plain sum of what it gained says.",
        ),
        Misconception(
            "all in the first entry",
            Playing(result=lambda returns, lengths: (all_in_the_first(returns), np.array(lengths))),
            "All rewards are added to the first return, and the others stay at 0. Each episode has "
            "an entry of its own.",
        ),
        Misconception(
            "mean reward of a step",
            Playing(
                result=lambda returns, lengths: (
                    np.array(returns) / np.array(lengths),
                    np.array(lengths),
                )
            ),
            "You return the mean reward of a step. The sum over the episode is asked for: do not "
            "divide by its length.",
        ),
        Misconception(
            "rewards cut off",
            Playing(add=lambda total, reward, length, ended: total + float(np.clip(reward, -1, 1))),
            "You cut the rewards off at -1 and 1. That may help training; an evaluation adds them "
            "up as they come.",
        ),
        Misconception(
            "signs of the rewards",
            Playing(add=lambda total, reward, length, ended: total + float(np.sign(reward))),
            "You add up the signs of the rewards. An evaluation adds them up as they come.",
        ),
        Misconception(
            "whole numbers",
            Playing(
                result=lambda returns, lengths: (np.array(returns).astype(int), np.array(lengths))
            ),
            "Your returns are whole numbers: an array of `int` cuts all decimals off. Rewards have "
            "decimals: make that one of floats.",
        ),
        Misconception(
            "whole numbers at each step",
            Playing(add=lambda total, reward, length, ended: int(total + reward)),
            "Your returns are whole numbers: an array of `int` cuts the decimals off, at each sum "
            "again. Rewards have decimals: make that one of floats.",
        ),
        # What is counted
        Misconception(
            "lengths one too short",
            Playing(result=lambda returns, lengths: (np.array(returns), np.array(lengths) - 1)),
            "Each of your lengths is one short. Count every step, the last one too: numbers that "
            "start at 0 (`t` in a `range`) are one behind.",
        ),
        Misconception(
            "lengths one too long",
            Playing(result=lambda returns, lengths: (np.array(returns), np.array(lengths) + 1)),
            "Each of your lengths is one too long: count steps, not observations. The one that "
            "`reset` gives comes before any step.",
        ),
        Misconception(
            "not counted",
            Playing(count=lambda length, ended: length),
            "Your lengths are all 0: count one more with each step.",
        ),
        # The policy
        Misconception(
            "the first observation again and again",
            Playing(next_obs=lambda obs, newest: obs),
            "The policy is asked about the first observation at every step, because the new one "
            "stands under another name. After a step it is `obs` that has to be the newest.",
        ),
        Misconception(
            "a batch of one",
            Playing(action=lambda policy, obs, arena: policy(obs[None])[0]),
            "You give the policy a batch of one. It maps one observation to one action here, and "
            "may be any function: give it the observation as it is.",
        ),
        Misconception(
            "the pair of reset",
            Playing(first_obs=lambda given: given),
            "You ask the policy about the whole pair that `reset` gives. It is the observation and "
            "some information: take the first of them.",
        ),
        Misconception(
            "other actions",
            Playing(action=lambda policy, obs, arena: policy(obs) + 1),
            "What is done is not what the policy says: there is chance, or something else, in "
            "between. An evaluation tries the policy as it is, without exploration.",
        ),
        Misconception(
            "actions of chance",
            Playing(action=lambda policy, obs, arena: arena.action_space.sample()),
            "The policy is never asked: the actions come from elsewhere, by chance perhaps. Step "
            "the environment with what `policy(obs)` gives.",
        ),
        Misconception(
            "a tensor",
            Playing(action=lambda policy, obs, arena: policy(torch.as_tensor(obs))),
            "You make a tensor of the observation before you ask. The policy may be any function "
            "of an array: give it the observation as it is.",
        ),
        Misconception(
            "predict",
            Playing(action=lambda policy, obs, arena: policy.predict(obs, deterministic=True)),
            "Here the policy is a plain function from an observation to an action, made by "
            "`as_function`: call it, without `.predict`.",
        ),
        Misconception(
            "no reset",
            a_step_too_early,
            "You step an environment that was never reset. Each episode begins with "
            "`arena.reset(seed=...)`, which gives its first observation.",
        ),
        # What is returned
        Misconception(
            "lengths first",
            Playing(
                result=lambda returns, lengths: (np.array(lengths), np.array(returns)),
            ),
            "Your pair is the other way round: first the returns, then the lengths.",
        ),
        Misconception(
            "returns alone",
            Playing(result=lambda returns, lengths: np.array(returns)),
            "You return the returns alone. A pair is asked for: the returns, and the lengths.",
        ),
        Misconception(
            "more than a pair",
            Playing(
                result=lambda returns, lengths: (*both_arrays(returns, lengths), np.mean(returns))
            ),
            "You return three things. A pair is asked for: the returns, and the lengths; means are "
            "for whoever reads them.",
        ),
        Misconception(
            "a single number",
            Playing(result=lambda returns, lengths: np.mean(returns)),
            f"You return one number for all episodes. {EACH}, and the lengths as well.",
        ),
        Misconception(
            "two means",
            Playing(result=lambda returns, lengths: (np.mean(returns), np.mean(lengths))),
            f"You return a mean over all episodes. {EACH}.",
        ),
        Misconception(
            "pairs",
            Playing(result=lambda returns, lengths: list(zip(returns, lengths, strict=True))),
            "You return a list of pairs, one for each episode. It is asked for the other way "
            "round: a pair of arrays, first all returns, then all lengths.",
        ),
        Misconception(
            "a dict",
            Playing(result=lambda returns, lengths: {"returns": returns, "lengths": lengths}),
            "You return a dict. A pair is asked for, without names: the returns, and the lengths.",
        ),
    ],
    properties=[
        Property("left open after an error", closes_in_any_case, CLOSE_ANYWAY),
        Property("errors do not pass", lets_errors_pass, SWALLOWED),
    ],
)
