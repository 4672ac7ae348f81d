"""Lesson 01's rollouts: exercises 1.3 `bootstrapped_returns`, 1.7 `learnable_rows`, 1.8 `gae`.

Random rollouts look as gymnasium's vector environments make them: the row after an episode's end is
filler, with reward 0 and no end of its own.
"""

from __future__ import annotations

import numpy as np

from helpers.agents.a2c import gae, learnable_rows
from helpers.agents.a2c_by_the_book import bootstrapped_returns
from helpers.agents.returns import discounted_returns
from helpers.checks.exercise import Card, Case, Exercise, Misconception
from helpers.checks.observing import no_mutation

# --- 1.3 bootstrapped_returns ---------------------------------------------------------------------


def bootstrap_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((np.array([1.0]), 10.0, 0.5), note="an episode of one step"),
        Case((np.array([1.0, 2.0, 4.0]), 16.0, 0.5), note="three steps, cut off"),
        Case((np.array([1.0, 2.0, 4.0]), 0.0, 0.5), note="three steps, terminated"),
        Case((np.array([1.0, 2.0, 3.0]), 10.0, 0.0), note="gamma 0, the next reward only"),
        Case((np.array([1.0, 2.0, 3.0]), 10.0, 1.0), note="gamma 1, nothing is discounted"),
        Case((np.array([1, 1, 1, 1]), 7.5, 0.9), note="whole numbers as rewards"),
        Case((-rng.uniform(0, 16, size=6), -55.5, 0.95), note="costs, and a bad future"),
        Case((rng.normal(size=100), 3.7, 0.99), note="a long episode"),
    ]


def steps_left(rewards):
    """T - t for each step: how many steps lie between it and the final value."""
    return np.arange(len(rewards), 0, -1)


def final_value_in_the_last_reward(rewards, final_value, gamma):
    return discounted_returns(np.append(rewards[:-1], rewards[-1] + final_value), gamma)


def final_value_as_the_last_reward(rewards, final_value, gamma):
    return discounted_returns(np.append(rewards[:-1], final_value), gamma)


def changes_the_last_reward(rewards, final_value, gamma):
    rewards[-1] += gamma * final_value
    return discounted_returns(rewards, gamma)


def only_the_last_return(rewards, final_value, gamma):
    returns = discounted_returns(rewards, gamma)
    returns[-1] += gamma * final_value
    return returns


def looks_into_the_past(rewards, final_value, gamma):
    returns, following = np.zeros(len(rewards)), final_value
    for t in range(len(rewards)):
        following = rewards[t] + gamma * following
        returns[t] = following
    return returns


BOOTSTRAPPED_RETURNS = Exercise(
    id="1.3",
    lesson="01_a2c",
    reference=bootstrapped_returns,
    card=Card(
        title="Returns of an episode that was cut off",
        what="Write `bootstrapped_returns(rewards, final_value, gamma)`: the discounted return "
        "from each step on, when everything after the last reward is worth `final_value`, seen "
        "from the observation that the last step led to. Rewards `(T,)` in, returns `(T,)` out.",
        why="An episode that a time limit cut off had a future. Count it as nothing, and the best "
        "policy of CartPole looks as if it failed after 500 steps: the agent is told that the end "
        "of a perfect episode was bad.",
        difficulty=2,
        minutes=6,
    ),
    hints=(
        "You know the return from the last observation on: it is `final_value`. What does the "
        "recursion of lesson 00, $G_t = r_t + \\gamma G_{t+1}$, make of it one step earlier?",
        "Append `final_value` to the rewards as if it were one more of them (`np.append` gives "
        "back a new array), let `discounted_returns` do the rest, and leave out the entry that you "
        "added.",
    ),
    cases=bootstrap_cases,
    misconceptions=[
        Misconception(
            "final value ignored",
            lambda rewards, final_value, gamma: discounted_returns(rewards, gamma),
            "Your returns do not depend on `final_value`: it is left out, or it was put before the "
            "rewards and dropped again, though it stands for what comes after the last of them. So "
            "the future counts as 0, which is right after a termination only; an episode that was "
            "cut off had one.",
        ),
        Misconception(
            "final value not discounted",
            final_value_in_the_last_reward,
            "You added `final_value` to the last reward without discounting it. It is the value of "
            "the observation after the last step, one step further away: multiply it by `gamma`.",
        ),
        Misconception(
            "final value discounted once too often",
            lambda rewards, final_value, gamma: discounted_returns(
                np.append(rewards, gamma * final_value), gamma
            )[:-1],
            "`final_value` is discounted once too often: from the last step it is one step away, "
            "so there its weight is `gamma`, not `gamma**2`.",
        ),
        Misconception(
            "final value instead of the last reward",
            final_value_as_the_last_reward,
            "You put `final_value` in the place of the last reward. That reward was really earned; "
            "the final value is what comes after it.",
        ),
        Misconception(
            "the same for every step, not discounted",
            lambda rewards, final_value, gamma: discounted_returns(rewards, gamma) + final_value,
            "You added `final_value` to every return as it is. From step t it lies T - t steps "
            "ahead, so it counts `gamma**(T - t)` times itself.",
        ),
        Misconception(
            "the same for every step, discounted once",
            lambda rewards, final_value, gamma: (
                discounted_returns(rewards, gamma) + gamma * final_value
            ),
            "You added `gamma * final_value` to every return. One `gamma` is right for the last "
            "step; from earlier ones the end is further away, and each step adds a factor.",
        ),
        Misconception(
            "the same for every step, as from the first",
            lambda rewards, final_value, gamma: (
                discounted_returns(rewards, gamma) + gamma ** len(rewards) * final_value
            ),
            "You added `gamma**T * final_value` to every return. That is its weight as seen from "
            "the first step; from step t it is `gamma**(T - t)`.",
        ),
        Misconception(
            "weights the wrong way round",
            lambda rewards, final_value, gamma: (
                discounted_returns(rewards, gamma)
                + gamma ** steps_left(rewards)[::-1] * final_value
            ),
            "Your weights of `final_value` become smaller towards the end, but the later the step, "
            "the closer is the final value: it counts most in the last return.",
        ),
        Misconception(
            "only the last return",
            only_the_last_return,
            "You changed the last return after all of them were computed, so the steps before it "
            "never hear of `final_value`. Put it in before you walk back.",
        ),
        Misconception(
            "only one step ahead",
            lambda rewards, final_value, gamma: rewards + gamma * final_value,
            "You added the discounted `final_value` to each single reward. Between step t and the "
            "end lie more rewards, and they count, too.",
        ),
        Misconception(
            "one return too many",
            lambda rewards, final_value, gamma: discounted_returns(
                np.append(rewards, final_value), gamma
            ),
            "There is one entry too many: the last one is `final_value` itself, which no action of "
            "the episode earned. Leave it out, `[:-1]`.",
        ),
        Misconception(
            "the first return left out",
            lambda rewards, final_value, gamma: discounted_returns(
                np.append(rewards, final_value), gamma
            )[1:],
            "You dropped the first entry instead of the last: the entry that you added stands at "
            "the end, so leave out that one, `[:-1]`.",
        ),
        Misconception(
            "append does not change its array",
            lambda rewards, final_value, gamma: discounted_returns(rewards, gamma)[:-1],
            "The last step is missing, and so is `final_value`. `np.append` does not lengthen its "
            "array as a list's `append` does: it returns a new one, which you have to keep.",
        ),
        Misconception(
            "final value before the rewards",
            lambda rewards, final_value, gamma: discounted_returns(
                np.append(final_value, rewards), gamma
            )[:-1],
            "You put `final_value` before the rewards. It stands for what comes after the last of "
            "them: `np.append` takes the array first, and then what follows it.",
        ),
        Misconception(
            "final value before the rewards, and one return too many",
            lambda rewards, final_value, gamma: discounted_returns(
                np.append(final_value, rewards), gamma
            ),
            "You put `final_value` before the rewards, and no return hears of it but the one that "
            "you added. It stands for what comes after the last reward: append it there, and leave "
            "out the last return, `[:-1]`.",
        ),
        Misconception(
            "no discount",
            lambda rewards, final_value, gamma: bootstrapped_returns(rewards, final_value, 1.0),
            "You added everything up without discounting: each step into the future should "
            "multiply rewards and `final_value` by `gamma` once more.",
        ),
        Misconception(
            "looks into the past",
            looks_into_the_past,
            "You walk forwards, so each entry adds up what came before. Begin at the end, with "
            "`final_value`, and walk back.",
        ),
        Misconception(
            "changes the last reward",
            changes_the_last_reward,
            "The idea is right, but you changed the last entry of `rewards` itself: whoever called "
            "you loses the reward, and in an array of whole numbers the decimals are cut off. Work "
            "on a copy.",
        ),
    ],
    properties=[no_mutation(bootstrap_cases)],
)


# --- Rollouts, as gymnasium's vector environments make them ---------------------------------------


def ends(rng: np.random.Generator, steps: int, envs: int) -> tuple[np.ndarray, np.ndarray]:
    """Random `terminated` and `truncated`, each (steps, envs); now and then both at once."""
    terminated = rng.random((steps, envs)) < 0.2
    truncated = rng.random((steps, envs)) < 0.2
    for t in range(1, steps):
        filler = terminated[t - 1] | truncated[t - 1]
        terminated[t] &= ~filler
        truncated[t] &= ~filler
    return terminated, truncated


# --- 1.7 learnable_rows ---------------------------------------------------------------------------


def row_cases(rng: np.random.Generator) -> list[Case]:
    def column(*entries: int) -> np.ndarray:
        return np.array(entries, dtype=bool)[:, None]

    def drawn(steps: int, envs: int) -> tuple:
        """The step before the first, and `steps` more."""
        terminated, truncated = ends(rng, steps + 1, envs)
        done = terminated | truncated
        return done[1:], done[0]

    return [
        Case((column(0), np.array([False])), note="one step, nothing ended"),
        Case((column(1), np.array([False])), note="one step, which ends an episode"),
        Case((column(0), np.array([True])), note="one step, after an episode's end"),
        Case((column(0, 1, 0, 0), np.array([False])), note="an episode ends at step 1"),
        Case((column(0, 0, 1), np.array([True])), note="an end before the rollout, one at its end"),
        Case((column(1, 0, 0, 1, 0, 0), np.array([False])), note="two episodes end"),
        Case(
            (np.array([[1, 0, 0], [0, 0, 1], [0, 0, 0]], dtype=bool), np.array([0, 1, 0]) > 0),
            note="three environments, three steps",
        ),
        Case(drawn(8, 4), note="four environments"),
        Case(drawn(4, 16), note="more environments than steps"),
    ]


def filler_rows(done, done_before):
    return np.concatenate([done_before[None], done[:-1]])


def wraps_around(done, done_before):
    return ~np.roll(done, 1, axis=0)


def rolled_without_axis(done, done_before):
    filler = np.roll(done, 1)
    filler[0] = done_before
    return ~filler


def first_row_not_inverted(done, done_before):
    learnable = ~filler_rows(done, done_before)
    learnable[0] = done_before
    return learnable


def first_row_never(done, done_before):
    learnable = ~filler_rows(done, done_before)
    learnable[0] = False
    return learnable


def overwrites_done(done, done_before):
    done[1:] = done[:-1].copy()
    done[0] = done_before
    return ~done


LEARNABLE_ROWS = Exercise(
    id="1.7",
    lesson="01_a2c",
    reference=learnable_rows,
    card=Card(
        title="Which rows are experience?",
        what="Write `learnable_rows(done, done_before)`: true for each step of each environment "
        "that the agent really took, false for the filler row in which an environment reset "
        "itself. `done` has shape `(T, N)`, `done_before` `(N,)`; the output is `(T, N)` booleans.",
        why="In a filler row the action was ignored and the reward is 0. An agent that learns from "
        "it is taught that a fallen pole can be lifted, or that its last action was worthless; and "
        "one that drops the wrong row never sees an episode end.",
        difficulty=3,
        minutes=8,
    ),
    hints=(
        "Is the row in which `done` is true experience? The agent acted, and the episode ended. "
        "Which row did the agent not act in, and how do you know about the very first one?",
        "A row is filler if `done` was true in the row before: move `done` down by one row, put "
        "`done_before` on top (as a row, `[None]`), leave the last row out, and invert the result "
        "with `~`.",
    ),
    cases=row_cases,
    misconceptions=[
        Misconception(
            "drops the rows that end an episode",
            lambda done, done_before: ~done,
            "You drop the step in which an episode ended, which is the most informative of all: "
            "there the pole fell. Filler is the row after it, in which the environment resets.",
        ),
        Misconception(
            "keeps the filler",
            filler_rows,
            "You found the filler rows and kept just those. The agent learns from all the others: "
            "invert with `~`.",
        ),
        Misconception(
            "keeps the ends",
            lambda done, done_before: done,
            "You keep only the steps in which an episode ended. They are experience, but so are "
            "all the steps on the way there; only the row after an end is not.",
        ),
        Misconception(
            "done_before ignored",
            lambda done, done_before: ~filler_rows(done, np.zeros_like(done_before)),
            "You learn from all of row 0. If an episode ended in the last step of the rollout "
            "before, row 0 is where that environment resets: this is what `done_before` tells.",
        ),
        Misconception(
            "first row never",
            first_row_never,
            "You never learn from row 0. It is filler only in those environments where "
            "`done_before` is true.",
        ),
        Misconception(
            "first row not inverted",
            first_row_not_inverted,
            "Row 0 is the wrong way round: where `done_before` is true, it is filler, and must not "
            "be learned from.",
        ),
        Misconception(
            "done_before for every row",
            lambda done, done_before: ~np.tile(done_before, (len(done), 1)),
            "You judge every row by `done_before`, but it speaks of the step before row 0. For "
            "each later row, ask the row before it in `done`.",
        ),
        Misconception(
            "shifted the other way",
            lambda done, done_before: ~np.concatenate([done[1:], done_before[None]]),
            "You moved `done` up instead of down: that drops the step before an episode's end "
            "and keeps the filler after it. Row t is judged by row t - 1.",
        ),
        Misconception(
            "wraps around",
            wraps_around,
            "`np.roll` brings the last row round to the top, so row 0 is judged by the end of the "
            "rollout. What came before row 0 is in `done_before`: put that there.",
        ),
        Misconception(
            "rolled without an axis",
            rolled_without_axis,
            "Without `axis=0`, `np.roll` flattens the array, so each environment is judged by its "
            "neighbour. Time runs along axis 0.",
        ),
        Misconception(
            "along the environments",
            lambda done, done_before: ~np.roll(done, 1, axis=1),
            "You moved `done` along axis 1, from one environment to the next. Time runs along axis "
            "0: row t is judged by row t - 1 of the same environment.",
        ),
        Misconception(
            "drops ends and filler",
            lambda done, done_before: ~(done | filler_rows(done, done_before)),
            "You drop the filler rows, but the steps that end an episode as well. Those are "
            "experience: without them the critic would never see how an episode ends.",
        ),
        Misconception(
            "nothing after the first end",
            lambda done, done_before: ~np.logical_or.accumulate(filler_rows(done, done_before)),
            "You drop everything after the first end. Only a single row is filler: after it the "
            "next episode is under way, and its steps count.",
        ),
        Misconception(
            "everything",
            lambda done, done_before: np.ones_like(done),
            "You keep every row, the filler too. In the row after an episode's end the action was "
            "ignored and the reward is 0: nothing in it was caused by the agent.",
        ),
        Misconception(
            "one row too many",
            lambda done, done_before: ~np.concatenate([done_before[None], done]),
            "Your mask has T + 1 rows: the last row of `done` has no row after it in this rollout. "
            "Leave it out with `done[:-1]`; the next rollout will hear of it as `done_before`.",
        ),
        Misconception(
            "one row too few",
            lambda done, done_before: ~done[:-1],
            "Your mask has one row too few: row 0 is missing. It is judged by `done_before`, which "
            "belongs on top, as a row of its own.",
        ),
        Misconception(
            "done_before is no row yet",
            lambda done, done_before: ~np.concatenate([done_before, done[:-1]]),
            "`done_before` has shape `(N,)` and cannot stand on top of rows of shape `(T, N)`. "
            "Make it a row first: `done_before[None]` has shape `(1, N)`.",
        ),
        Misconception(
            "inverts whole numbers",
            lambda done, done_before: ~filler_rows(done, done_before).astype(int),
            "`~` inverts booleans, but turns the whole numbers 0 and 1 into -1 and -2, which both "
            "count as true. Keep the array one of booleans, or use `np.logical_not`.",
        ),
        Misconception(
            "overwrites done",
            overwrites_done,
            "The mask is right, but you wrote it into `done` itself, which the caller still needs "
            "for GAE. Build a new array.",
        ),
    ],
    properties=[no_mutation(row_cases)],
)


# --- 1.8 gae --------------------------------------------------------------------------------------


def gae_cases(rng: np.random.Generator) -> list[Case]:
    def one(rewards, values, terminated=None, truncated=None, gamma=0.5, lam=0.5) -> tuple:
        """One environment; `terminated` and `truncated` are the step where it happens."""
        flags = np.zeros((2, len(rewards), 1), dtype=bool)
        for flag, step in zip(flags, (terminated, truncated), strict=True):
            if step is not None:
                flag[step] = True
        columns = [np.array(numbers, dtype=float)[:, None] for numbers in (rewards, values)]
        return *columns, *flags, gamma, lam

    def drawn(steps: int, envs: int, gamma: float, lam: float) -> tuple:
        terminated, truncated = ends(rng, steps, envs)
        rewards = rng.normal(size=(steps, envs)).astype(np.float32)
        rewards[1:][(terminated | truncated)[:-1]] = 0  # filler
        values = rng.normal(size=(steps + 1, envs)).astype(np.float32)
        return rewards, values, terminated, truncated, gamma, lam

    return [
        Case(one([1], [2, 4]), note="one step, nothing ended"),
        Case(one([1], [2, 4], terminated=0), note="one step, terminated"),
        Case(one([1], [2, 4], truncated=0), note="one step, truncated"),
        Case(one([1, 2, 3], [4, 6, 8, 10]), note="three steps, nothing ended"),
        Case(one([1, 2, 0, 3], [4, 6, 8, 5, 7], terminated=1), note="terminated at step 1"),
        Case(one([1, 2, 0, 3], [4, 6, 8, 5, 7], truncated=1), note="truncated at step 1"),
        Case(
            one([1, 2, 0, 3], [4, 6, 8, 5, 7], terminated=1, truncated=1),
            note="terminated and truncated, both at step 1",
        ),
        Case(
            (
                np.array([[1.0, 1.0]]),
                np.array([[2.0, 2.0], [4.0, 4.0]]),
                np.array([[True, False]]),
                np.array([[False, True]]),
                0.5,
                0.5,
            ),
            note="one step of two environments, one terminated, one truncated",
        ),
        Case(drawn(5, 3, 0.9, 0.0), note="lambda 0, where only the TD error counts"),
        Case(drawn(5, 3, 0.9, 1.0), note="lambda 1, where the critic is a baseline only"),
        Case(drawn(32, 8, 0.99, 0.95), note="a rollout of eight environments"),
    ]


def gae_like(
    bootstrap=lambda terminated, truncated: 1 - terminated,
    go_on=lambda terminated, truncated: 1 - (terminated | truncated),
    delta=lambda reward, value, next_value, mask, gamma, lam: (
        reward + gamma * next_value * mask - value
    ),
    decay=lambda gamma, lam: gamma * lam,
    start=lambda values: np.zeros_like(values[-1]),
    keep=lambda terminated, truncated: 1,
):
    """GAE with a mask, the TD error, the discount of the sum or its first entry exchanged.

    `keep` is one more mask, over a step's whole advantage.
    """

    def compute(rewards, values, terminated, truncated, gamma, lam):
        advantages, advantage = np.zeros_like(values[:-1]), start(values)
        for t in reversed(range(len(rewards))):
            mask = bootstrap(terminated[t], truncated[t])
            error = delta(rewards[t], values[t], values[t + 1], mask, gamma, lam)
            together = go_on(terminated[t], truncated[t])
            advantage = error + decay(gamma, lam) * together * advantage
            advantage = keep(terminated[t], truncated[t]) * advantage
            advantages[t] = advantage
        return advantages

    return compute


def any_end(terminated, truncated):
    return 1 - (terminated | truncated)


def not_terminated(terminated, truncated):
    return 1 - terminated


def not_truncated(terminated, truncated):
    return 1 - truncated


def always(terminated, truncated):
    return 1


def whole_numbers_inverted(flags):
    """What `~` makes of 0 and 1: -1 and -2."""
    return ~flags.astype(int)


def ends_set_to_zero(rewards, values, terminated, truncated, gamma, lam):
    advantages = gae(rewards, values, terminated, truncated, gamma, lam)
    return advantages * any_end(terminated, truncated)


def td_errors(rewards, values, terminated, truncated, gamma, lam):
    return rewards + gamma * values[1:] * (1 - terminated) - values[:-1]


def forwards(rewards, values, terminated, truncated, gamma, lam):
    """Each row looks at the row before it."""
    deltas = td_errors(rewards, values, terminated, truncated, gamma, lam)
    advantages, advantage = np.zeros_like(deltas), 0.0
    for t in range(len(rewards)):
        advantage = deltas[t] + gamma * lam * any_end(terminated[t], truncated[t]) * advantage
        advantages[t] = advantage
    return advantages


def last_step_left_out(rewards, values, terminated, truncated, gamma, lam):
    advantages = np.zeros_like(values[:-1])
    advantages[:-1] = (
        gae(rewards[:-1], values[:-1], terminated[:-1], truncated[:-1], gamma, lam)
        if len(rewards) > 1
        else 0
    )
    return advantages


def mask_of_the_next_step(rewards, values, terminated, truncated, gamma, lam):
    """Row t asks the flags of row t + 1 whether its sum goes on."""
    deltas = td_errors(rewards, values, terminated, truncated, gamma, lam)
    advantages, advantage, together = np.zeros_like(deltas), 0.0, 1
    for t in reversed(range(len(rewards))):
        advantage = deltas[t] + gamma * lam * together * advantage
        together = any_end(terminated[t], truncated[t])
        advantages[t] = advantage
    return advantages


def standardised(rewards, values, terminated, truncated, gamma, lam):
    advantages = gae(rewards, values, terminated, truncated, gamma, lam)
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)


def one_array_for_all_steps(rewards, values, terminated, truncated, gamma, lam):
    advantage, advantages = np.zeros_like(values[0]), []
    for t in reversed(range(len(rewards))):
        advantage *= gamma * lam * any_end(terminated[t], truncated[t])
        advantage += rewards[t] + gamma * values[t + 1] * (1 - terminated[t]) - values[t]
        advantages.append(advantage)
    return np.array(advantages[::-1])


def one_row_too_many(rewards, values, terminated, truncated, gamma, lam):
    advantages = np.zeros_like(values)
    advantages[:-1] = gae(rewards, values, terminated, truncated, gamma, lam)
    return advantages


def overwrites_rewards(rewards, values, terminated, truncated, gamma, lam):
    rewards[:] = gae(rewards, values, terminated, truncated, gamma, lam)
    return rewards


def an_if_for_all_environments(rewards, values, terminated, truncated, gamma, lam):
    for t in range(len(rewards)):
        if terminated[t]:
            pass  # one truth value for N environments: an error unless N is 1
    return gae(rewards, values, terminated, truncated, gamma, lam)


VALUES_EXCHANGED = (
    "`values[t]` and `values[t + 1]` stand in each other's place in your TD error. What came is "
    "r + gamma V(s_{t+1}), from where the step led to; what was expected, V(s_t), is subtracted."
)
ENDS_SET_TO_ZERO = (
    "You multiply the whole advantage of the step that ends an episode by a mask, so its TD error "
    "is lost, and nothing is learned from the last action. The mask belongs on what the next row "
    "adds, `gamma * lam` times its advantage, and not on the TD error."
)
WHOLE_NUMBERS_INVERTED = (
    "`~` inverts booleans, but turns the whole numbers 0 and 1 into -1 and -2, so a mask made of "
    "them is never 1 and never 0. Write `1 - terminated[t]`, or use `~` before the booleans become "
    "numbers, in both masks."
)


GAE = Exercise(
    id="1.8",
    lesson="01_a2c",
    reference=gae,
    card=Card(
        title="Generalized advantage estimation",
        what=r"Write `gae(rewards, values, terminated, truncated, gamma, lam)`: the advantage of "
        r"every step of `N` environments, $A_t = \delta_t + \gamma\lambda A_{t+1}$, with a mask "
        r"where an episode ended. `values` `(T + 1, N)` has one row more than the others, which "
        r"are `(T, N)`: what the critic says of the observation after the last step.",
        why="This is the number that the actor learns from. Mix up the two masks and the agent "
        "believes that being cut off is as bad as falling, or it credits the end of one episode "
        "with the rewards of the next; both still learn a little, which makes them hard to see.",
        difficulty=4,
        minutes=20,
    ),
    hints=(
        "It is the backward walk of lesson 00, with the TD error in place of the reward. Ask two "
        "questions at each step: does the *state* it led to have a future? And does the *next row* "
        "belong to the same episode? They have different answers after a truncation.",
        r"Walk back from the last step with a running `advantage`, 0 at first. The TD error is "
        r"$\delta_t = r_t + \gamma V(s_{t+1}) - V(s_t)$ with $V(s_{t+1})$ multiplied by "
        "`1 - terminated[t]`. Then add `gamma * lam` times the running advantage, multiplied by 0 "
        "where the episode ended in either way.",
    ),
    cases=gae_cases,
    misconceptions=[
        Misconception(
            "truncation taken for termination",
            gae_like(bootstrap=any_end),
            "You set the future to 0 after a truncation as well. There the episode was only cut "
            "off, and the state it had reached is worth V(s_{t+1}): only `terminated` belongs in "
            "the TD error.",
        ),
        Misconception(
            "bootstraps from a terminal state",
            gae_like(bootstrap=always),
            "You bootstrapped from the terminal state: after a termination there is no future, so "
            "V(s_{t+1}) must be multiplied by `1 - terminated[t]`. The critic never learns a value "
            "there, and what it says is made up.",
        ),
        Misconception(
            "no masks",
            gae_like(bootstrap=always, go_on=always),
            "Your sum knows nothing of episodes: it takes values from terminal states and runs on "
            "into the next episode. `terminated` belongs in the TD error, and any end cuts the "
            "sum.",
        ),
        Misconception(
            "no mask on the sum",
            gae_like(go_on=always),
            "Your TD errors are right, but the sum runs over the end of an episode: what the next "
            "one earns was not caused by this one's actions. Multiply the running advantage by 0 "
            "where an episode ended.",
        ),
        Misconception(
            "sum runs over a truncation",
            gae_like(go_on=not_terminated),
            "The sum stops at a termination but runs on over a truncation. There, too, the next "
            "row belongs to another episode; the future after the cut is in the TD error already.",
        ),
        Misconception(
            "only the sum is masked, and only by terminations",
            gae_like(bootstrap=always, go_on=not_terminated),
            "You mask the sum at terminations, and nothing else. A termination also takes the "
            "future out of the TD error, and a truncation also ends the sum.",
        ),
        Misconception(
            "sum runs over a termination",
            gae_like(go_on=not_truncated),
            "The sum stops at a truncation but runs on over a termination. Either kind of end "
            "means that the next row belongs to another episode.",
        ),
        Misconception(
            "truncation taken for termination, and the sum runs on",
            gae_like(bootstrap=any_end, go_on=always),
            "You put both ends into the TD error and none into the sum. The TD error asks whether "
            "there is a future, which only a termination denies; the sum asks whether the next row "
            "is of the same episode, which any end denies.",
        ),
        Misconception(
            "masks exchanged",
            gae_like(bootstrap=any_end, go_on=not_terminated),
            "The two masks stand in each other's place: the TD error loses its future at a "
            "termination only, and the sum stops at any end.",
        ),
        Misconception(
            "flags exchanged",
            gae_like(bootstrap=not_truncated),
            "You set the future to 0 after a truncation and keep it after a termination. It is the "
            "other way round: a terminated episode has no future, one that was cut off has.",
        ),
        Misconception(
            "both flags subtracted",
            gae_like(go_on=lambda terminated, truncated: 1 - terminated - truncated),
            "`1 - terminated - truncated` is -1 where an episode terminates in the very step in "
            "which its time runs out. Ask whether either of them is true: "
            "`terminated[t] | truncated[t]`.",
        ),
        Misconception(
            "masks inverted",
            gae_like(
                bootstrap=lambda terminated, truncated: terminated,
                go_on=lambda terminated, truncated: terminated | truncated,
            ),
            "Your masks are the wrong way round: they are 1 where an episode ends and 0 where it "
            "goes on. Take one minus each.",
        ),
        Misconception(
            "both masks invert whole numbers",
            gae_like(
                bootstrap=lambda terminated, truncated: whole_numbers_inverted(terminated),
                go_on=lambda terminated, truncated: whole_numbers_inverted(terminated | truncated),
            ),
            WHOLE_NUMBERS_INVERTED,
        ),
        Misconception(
            "the TD error's mask inverts whole numbers",
            gae_like(bootstrap=lambda terminated, truncated: whole_numbers_inverted(terminated)),
            WHOLE_NUMBERS_INVERTED,
        ),
        Misconception(
            "the sum's mask inverts whole numbers",
            gae_like(
                go_on=lambda terminated, truncated: whole_numbers_inverted(terminated | truncated)
            ),
            WHOLE_NUMBERS_INVERTED,
        ),
        Misconception(
            "mask one row off",
            mask_of_the_next_step,
            "Your sum is cut one row too early: whether row t may take over the advantage of row "
            "t + 1 is decided by the flags of row t.",
        ),
        Misconception(
            "the last reward masked",
            gae_like(
                delta=lambda reward, value, next_value, mask, gamma, lam: (
                    (reward + gamma * next_value) * mask - value
                )
            ),
            "Your mask covers the reward as well, so what the last action earned is lost. Only the "
            "future, V(s_{t+1}), is 0 after a termination: mind the brackets.",
        ),
        Misconception(
            "the last TD error masked",
            gae_like(
                delta=lambda reward, value, next_value, mask, gamma, lam: (
                    (reward + gamma * next_value - value) * mask
                )
            ),
            "Your mask covers the whole TD error, so the step that ends an episode has no "
            "advantage, good or bad. Only the future, V(s_{t+1}), is 0 after a termination.",
        ),
        Misconception(
            "the baseline masked",
            gae_like(
                delta=lambda reward, value, next_value, mask, gamma, lam: (
                    reward + (gamma * next_value - value) * mask
                )
            ),
            "Your mask covers `values[t]` as well, so the step that terminates an episode is "
            "compared with 0 instead of with what was expected. Only the future, V(s_{t+1}), is 0 "
            "after a termination: mind the brackets.",
        ),
        Misconception("advantage zeroed at any end", gae_like(keep=any_end), ENDS_SET_TO_ZERO),
        Misconception(
            "advantage zeroed at a termination",
            gae_like(go_on=always, keep=not_terminated),
            ENDS_SET_TO_ZERO,
        ),
        Misconception(
            "ends set to zero afterwards",
            ends_set_to_zero,
            "You set the advantage of each step that ends an episode to 0, so nothing is learned "
            "from the last action. Its advantage is its TD error: only what the next row would "
            "add is 0.",
        ),
        Misconception(
            "no lambda",
            gae_like(decay=lambda gamma, lam: gamma),
            "`lam` is missing in the sum, as if it were 1: then all the noise of the rewards is "
            "back. The next advantage is multiplied by `gamma * lam`.",
        ),
        Misconception(
            "no gamma in the sum",
            gae_like(decay=lambda gamma, lam: lam),
            "`gamma` is missing in the sum: the next advantage is a step away, so it is multiplied "
            "by `gamma * lam`, and not by `lam` alone.",
        ),
        Misconception(
            "no discount in the sum",
            gae_like(decay=lambda gamma, lam: 1),
            "You add the next advantage as it is. It is a step away, and trusted less with each "
            "step: multiply it by `gamma * lam`.",
        ),
        Misconception(
            "no gamma in the TD error",
            gae_like(
                delta=lambda reward, value, next_value, mask, gamma, lam: (
                    reward + next_value * mask - value
                )
            ),
            "`gamma` is missing in the TD error: the next state is a step away, so its value "
            "counts `gamma` times.",
        ),
        Misconception(
            "lambda in the TD error",
            gae_like(
                delta=lambda reward, value, next_value, mask, gamma, lam: (
                    reward + gamma * lam * next_value * mask - value
                )
            ),
            "`lam` does not belong in the TD error: r + gamma V(s_{t+1}) is what the next step "
            "promises, whatever lambda is. It only weights the later TD errors in the sum.",
        ),
        Misconception(
            "the same state's value twice",
            gae_like(
                delta=lambda reward, value, next_value, mask, gamma, lam: (
                    reward + gamma * value * mask - value
                )
            ),
            "You bootstrap from `values[t]`, where the step began. The future starts where it led "
            "to: `values[t + 1]`.",
        ),
        Misconception(
            "values exchanged",
            gae_like(
                delta=lambda reward, value, next_value, mask, gamma, lam: (
                    reward + gamma * value * mask - next_value
                )
            ),
            VALUES_EXCHANGED,
        ),
        Misconception(
            "values exchanged, with their masks",
            gae_like(
                delta=lambda reward, value, next_value, mask, gamma, lam: (
                    reward + gamma * value - next_value * mask
                )
            ),
            VALUES_EXCHANGED,
        ),
        Misconception(
            "no baseline",
            gae_like(
                delta=lambda reward, value, next_value, mask, gamma, lam: (
                    reward + gamma * next_value * mask
                )
            ),
            "`values[t]` is missing in the TD error. An advantage says how much better than "
            "expected it went, so what was expected is subtracted.",
        ),
        Misconception(
            "value added",
            gae_like(
                delta=lambda reward, value, next_value, mask, gamma, lam: (
                    reward + gamma * next_value * mask + value
                )
            ),
            "You added `values[t]` where it is to be subtracted: the TD error is what came minus "
            "what was expected.",
        ),
        Misconception(
            "no bootstrapping",
            gae_like(delta=lambda reward, value, next_value, mask, gamma, lam: reward - value),
            "The next state's value does not appear in your TD error. A step's outcome is its "
            "reward and where it led to: add `gamma * values[t + 1]`, masked at a termination.",
        ),
        Misconception(
            "only TD errors",
            td_errors,
            "You return the TD errors, which is GAE with lambda 0. Walk backwards and add to each "
            "of them `gamma * lam` times the advantage of the step after it.",
        ),
        Misconception(
            "returns instead of advantages",
            lambda rewards, values, terminated, truncated, gamma, lam: (
                gae(rewards, values, terminated, truncated, gamma, lam) + values[:-1]
            ),
            "You added the values back, which gives the critic's targets. The agent does that "
            "itself later on; here the advantages are asked for.",
        ),
        Misconception(
            "forwards",
            forwards,
            "You walk forwards, so each step takes over the advantage of the step before it. "
            "What an action led to comes later: begin at the last step and walk back.",
        ),
        Misconception(
            "last step first",
            lambda *args: gae(*args)[::-1],
            "These are the right advantages in the wrong order: walking backwards you met the last "
            "step first. Turn the list round at the end.",
        ),
        Misconception(
            "starts at the last value",
            gae_like(start=lambda values: values[-1]),
            "Your running advantage starts at `values[-1]`, but that value is in the last step's "
            "TD error already, so it would count twice. There are no TD errors after the last "
            "step: start at 0.",
        ),
        Misconception(
            "last step left out",
            last_step_left_out,
            "Your loop never visits the last step, and its advantage stays 0. There is a next "
            "value for it, too: `values` has T + 1 rows, so start at T - 1.",
        ),
        Misconception(
            "one row too many",
            one_row_too_many,
            "You return T + 1 rows. The last row of `values` belongs to the observation after the "
            "rollout, where no action was taken: advantages have T rows.",
        ),
        Misconception(
            "one array for all steps",
            one_array_for_all_steps,
            "All your rows are the same: you change one array in place and append it again and "
            "again. Make a new one in each step, `advantage = ...`, or append a copy.",
        ),
        Misconception(
            "standardised",
            standardised,
            "You subtracted the mean and divided by the spread. The agent does that itself, "
            "without the filler rows; here the advantages themselves are asked for.",
        ),
        Misconception(
            "an if for all environments",
            an_if_for_all_environments,
            "An `if` (or `not`, `and`, `or`) needs one truth value, and `terminated[t]` holds one "
            "for each environment. Multiply by a mask instead, or use `np.where`.",
        ),
        Misconception(
            "overwrites the rewards",
            overwrites_rewards,
            "The advantages are right, but your function changes an array that it was given, like "
            "`rewards`, and the caller still needs it as it was. Fill an array of your own.",
        ),
    ],
    properties=[no_mutation(gae_cases)],
)
