"""Lesson 00, Start here: one exercise to warm up, `discounted_returns`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from helpers.agents.returns import discounted_returns
from helpers.checks.exercise import Card, Case, Exercise, Misconception
from helpers.checks.observing import no_mutation


def return_cases(rng: np.random.Generator) -> list[Case]:
    """Episodes: one step, the two extreme discounts, whole numbers, losses, a long one."""
    return [
        Case((np.array([2.0]), 0.9), note="an episode of one step"),
        Case((np.array([1.0, 2.0, 3.0]), 0.5), note="three steps"),
        Case((np.array([1.0, 2.0, 3.0]), 0.0), note="gamma 0, where only the next reward counts"),
        Case((np.array([1.0, 2.0, 3.0]), 1.0), note="gamma 1, where nothing is discounted"),
        Case((np.array([0.0, 0.0, 0.0, 1.0]), 0.9), note="one reward, at the end"),
        Case((np.array([1, 1, 2, 3, 5]), 0.9), note="whole numbers as rewards"),
        Case((-rng.uniform(0, 16, size=6), 0.95), note="costs, that is negative rewards"),
        Case((rng.normal(size=200), 0.99), note="a long episode"),
    ]


# --- Wrong versions -------------------------------------------------------------------------------


def _weighted(rewards: NDArray, weight) -> NDArray:
    """For each t, the sum over k >= t of weight(t, k) * rewards[k]."""
    T = len(rewards)
    return np.array([sum(weight(t, k) * rewards[k] for k in range(t, T)) for t in range(T)])


def no_discount(rewards, gamma):
    return np.cumsum(rewards[::-1])[::-1].astype(float)


def from_the_start(rewards, gamma):
    return np.cumsum((gamma ** np.arange(len(rewards)) * rewards)[::-1])[::-1]


def divided_by_power(rewards, gamma):
    with np.errstate(invalid="ignore"):
        return from_the_start(rewards, gamma) / gamma ** np.arange(len(rewards))


def forwards(rewards, gamma):
    returns, total = [], 0.0
    for reward in rewards:
        total = reward + gamma * total
        returns.append(total)
    return np.array(returns)


def without_own_reward(rewards, gamma):
    return np.append(discounted_returns(rewards, gamma)[1:], 0.0)


def own_reward_discounted(rewards, gamma):
    return gamma * discounted_returns(rewards, gamma)


def last_first(rewards, gamma):
    return discounted_returns(rewards, gamma)[::-1]


def only_one_number(rewards, gamma):
    return float(discounted_returns(rewards, gamma)[0])


def same_for_every_step(rewards, gamma):
    return np.full(len(rewards), discounted_returns(rewards, gamma)[0])


def one_step_ahead(rewards, gamma):
    return rewards + gamma * np.append(rewards[1:], 0.0)


def discounted_once(rewards, gamma):
    return _weighted(rewards, lambda t, k: 1.0 if k == t else gamma)


def gamma_times_distance(rewards, gamma):
    return _weighted(rewards, lambda t, k: gamma * (k - t))


def discounted_twice(rewards, gamma):
    returns, following = np.zeros(len(rewards)), 0.0
    for t in reversed(range(len(rewards))):
        following = rewards[t] + gamma * following
        returns[t], following = following, gamma * following
    return returns


def averaged(rewards, gamma):
    return discounted_returns(rewards, gamma) / np.arange(len(rewards), 0, -1)


def standardised(rewards, gamma):
    returns = discounted_returns(rewards, gamma)
    return (returns - returns.mean()) / (returns.std() + 1e-8)


def whole_numbers(rewards, gamma):
    returns, following = np.zeros_like(rewards), 0.0
    for t in reversed(range(len(rewards))):
        following = rewards[t] + gamma * following
        returns[t] = following
    return returns


def in_place(rewards, gamma):
    for t in reversed(range(len(rewards) - 1)):
        rewards[t] += gamma * rewards[t + 1]
    return rewards


MISCONCEPTIONS = [
    Misconception(
        "no discount",
        no_discount,
        "You added the rewards up without discounting them: each step into the future should "
        "multiply a reward by `gamma` once more.",
    ),
    Misconception(
        "discounts from the episode's start",
        from_the_start,
        "You discount every reward by its distance from the start of the episode. A return is "
        "seen from its own step: at step t the very next reward has weight 1, the one after it "
        "`gamma`.",
    ),
    Misconception(
        "divides by a power of gamma",
        divided_by_power,
        "Dividing by `gamma**t` takes the discount back out on paper, but that power is 0 when "
        "`gamma` is 0 and vanishes in a long episode. Walk backwards instead: it needs no "
        "division.",
    ),
    Misconception(
        "looks into the past",
        forwards,
        "You walk forwards, so each entry adds up the rewards that came before. A return is "
        "about what is still to come: start at the last step and walk back.",
    ),
    Misconception(
        "leaves the step's own reward out",
        without_own_reward,
        "Your return at step t starts with the reward of step t + 1. What the action at step t "
        "earned, `rewards[t]`, belongs to it too, with weight 1.",
    ),
    Misconception(
        "discounts the step's own reward",
        own_reward_discounted,
        "Everything is multiplied by `gamma` once too often: in G_t = R_{t+1} + gamma * G_{t+1} "
        "the discount stands before what follows, and not before the step's own reward.",
    ),
    Misconception(
        "last step first",
        last_first,
        "These are the right returns in the wrong order: walking backwards you met the last step "
        "first. Entry t of the output belongs to step t, so turn the list round at the end.",
    ),
    Misconception(
        "only the first return",
        only_one_number,
        "You return one number, the return from the first step on. The function should give a "
        "return for every step of the episode.",
    ),
    Misconception(
        "the same return for every step",
        same_for_every_step,
        "Every step got the return of the whole episode. What was earned before step t is no "
        "consequence of its action: G_t counts only from `rewards[t]` on.",
    ),
    Misconception(
        "only one step ahead",
        one_step_ahead,
        "You added the next reward, `rewards[t + 1]`, where the next return belongs: what "
        "follows a step is everything that is still to come, G_{t+1}.",
    ),
    Misconception(
        "everything later discounted once",
        discounted_once,
        "You multiply all later rewards by the same `gamma`. The discount compounds: a reward k "
        "steps ahead has the weight `gamma**k`.",
    ),
    Misconception(
        "gamma times the distance",
        gamma_times_distance,
        "You weight a reward k steps ahead with `gamma * k`; it should be `gamma**k`. The weight "
        "starts at 1 and falls with every step.",
    ),
    Misconception(
        "discounts twice a step",
        discounted_twice,
        "You multiply what follows by `gamma` twice on the way back from one step to the one "
        "before it. Once is enough: the later discounts are already inside G_{t+1}.",
    ),
    Misconception(
        "average instead of sum",
        averaged,
        "You divided by the number of steps that are left. A return is a sum: a longer good "
        "future is worth more than a short one.",
    ),
    Misconception(
        "standardised",
        standardised,
        "You subtracted the mean and divided by the spread. That is a trick for the learning "
        "step later on; here the returns themselves are asked for.",
    ),
    Misconception(
        "whole numbers",
        whole_numbers,
        "Your output takes over the type of `rewards`, and where the rewards are whole numbers "
        "the decimals are cut off. Make it an array of floats, as `np.zeros(len(rewards))` is.",
    ),
    Misconception(
        "overwrites the rewards",
        in_place,
        "You write the returns into `rewards` itself: whoever called the function loses the "
        "rewards, and whole numbers lose their decimals. Fill an array of your own.",
    ),
]

EXERCISES = [
    Exercise(
        id="0.1",
        lesson="00_start_here",
        reference=discounted_returns,
        card=Card(
            title="Discounted returns",
            what="Write `discounted_returns(rewards, gamma)`: for every step of an episode, the "
            "sum of the rewards from there on, each discounted by `gamma` once for every "
            "step it is away.",
            why="The return is what an agent tries to make large. Every algorithm of this course "
            "estimates it; where an episode has ended, you can compute it exactly.",
            difficulty=1,
            minutes=5,
        ),
        hints=(
            "The return of a step is its own reward plus `gamma` times the return of the step "
            "after it. Which step's return do you know without looking at any other?",
            "Keep one number that starts at `0.0`. Go through `reversed(range(len(rewards)))`; "
            "at each step replace the number by `rewards[t] + gamma * number` and store it at "
            "place t.",
        ),
        cases=return_cases,
        misconceptions=MISCONCEPTIONS,
        properties=[no_mutation(return_cases)],
    )
]
