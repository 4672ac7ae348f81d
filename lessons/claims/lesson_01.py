"""Claims of lesson 01 and of its lab."""

import math
from collections.abc import Callable

import numpy as np

from helpers.agents.a2c import gae
from helpers.evaluation import evaluate
from helpers.training.results import load_results
from helpers.training.statistics import permutation_test
from tools.claims import (
    LEVEL,
    Claim,
    Evidence,
    Lab,
    at_the_bar,
    both,
    higher,
    means,
    near,
    seconds_of,
    twenty_seeds,
)

LAB = "helpers/labs/01_a2c.md"
TAUGHT, BOOK = "A2C as taught", "by the book"
lab = Lab("01_break_it", TAUGHT)
no_difference = lab.no_difference
STUDIES = ("a2c-by-the-book_CartPole-v1", "a2c_CartPole-v1", "a2c_Pendulum-v1")
A_PLAIN_WORD = "no measurement: the idea, or a definition"
A3C = "Mnih et al. 2016 (arXiv:1602.01783), section 4 and supplement, section 8"
BASELINES = "openai/baselines, baselines/a2c/a2c.py: the defaults of `learn`"


def learns_later(*variants: str, than: str = TAUGHT) -> Evidence:
    return both(*(lab.later(variant, than) for variant in variants))


def at_bar(variant: str) -> int:
    return int((lab.final(variant) >= lab.runs(variant)["bar"]).sum())


def first_180_000(variant: str) -> np.ndarray:
    """The mean training return over the first 180,000 steps, one number a seed."""
    runs = lab.runs(variant)
    return np.array(runs["returns"])[:, np.array(runs["steps"]) <= 180_000].mean(axis=1)


def still_below(variant: str) -> int:
    """How many of these seeds are there in the last stretch of their training, too."""
    curves = np.array(lab.runs(variant)["returns"])
    return int((curves[lab.falls_back(variant) > 0, -1] < 400).sum())


def four_fall_back(*variants: str) -> Evidence:
    def evidence() -> tuple[str, bool]:
        fall, taught = [lab.falls_back(each) for each in variants], lab.falls_back(TAUGHT)
        counts = [int(each.sum()) for each in fall]
        ps = [permutation_test(each, taught) for each in fall]
        said = f"{counts} against {taught.sum():.0f}, p = {ps[0]:.3f}"
        return said, not taught.any() and set(counts) == {4} and LEVEL <= min(ps) <= max(ps) < 0.095

    return evidence


def values() -> Evidence:
    """With the cut taken for an end the critic says 0.88 of a start, as taught 1.00."""
    mistaken, taught = lab.value("truncation as termination"), lab.value(TAUGHT)

    def evidence() -> tuple[str, bool]:
        said, holds = higher(taught, mistaken, 0.001)
        medians = np.median(mistaken), np.median(taught)
        return f"medians {medians[0]:.3f}, {medians[1]:.3f}; means {said}", (
            holds and abs(medians[0] - 0.88) < 0.005 and abs(medians[1] - 1) < 0.005
        )

    return evidence


def seconds(study: str) -> float:
    return float(np.median(seconds_of(study)))


def seconds_in_all() -> float:
    """The three trainings, and three seeds under "Now you"."""
    book, fast, twin = map(seconds, STUDIES)
    return book + fast + twin + 3 * fast


def steps_a_second(study: str) -> float:
    record = load_results(study)
    return record["settings"]["steps"] / seconds(study)


def on_pendulum(policy: Callable) -> float:
    return evaluate(policy, "Pendulum-v1", episodes=100).mean


def by_hand(kind: str) -> np.ndarray:
    """The advantages of the worked example: terminated, truncated, or with one mask too few."""
    rewards, values = np.array([1.0, 1, 0, 1]), np.array([5.0, 5, 10, 5, 10])
    end, none = np.array([False, True, False, False]), np.zeros(4, dtype=bool)
    terminated, truncated = {
        "terminated": (end, none),
        "truncated": (none, end),
        "sum runs on": (none, none),
    }[kind]
    columns = (each[:, None] for each in (rewards, values, terminated, truncated))
    return gae(*columns, gamma=0.8, lam=0.5)[:, 0]


def advantages_are(row: int, **said: float) -> Evidence:
    return both(*(near(lambda k=kind: by_hand(k)[row], a, 1e-9) for kind, a in said.items()))


def random_torques() -> float:
    rng = np.random.default_rng(0)
    return on_pendulum(lambda obs: rng.uniform(-2, 2, 1))


CLAIMS = [
    # --- the text -----------------------------------------------------------------------------
    Claim(
        "a few seconds of training on a CPU",
        near(lambda: seconds("a2c_CartPole-v1"), 3, 2),
    ),
    Claim("All training together: about a minute", near(seconds_in_all, 50, 15)),
    Claim("more likely if it went **better than expected here**", source=A_PLAIN_WORD),
    Claim(
        "not the gradient of any function (Nota & Thomas 2020, who also construct a case",
        source="Nota & Thomas 2020 (arXiv:1906.07073), abstract",
    ),
    Claim(
        "for $\\gamma = 0.995$ the factor is 0.1 at step 460",
        near(lambda: 0.995**460, 0.1, 0.005),
    ),
    Claim(
        "| 0 | 1 | 5 | 5 | 1 + 4 - 5 = 0 | 0 + 0.4 · (-4) = -1.6 | "
        "1 + 4 - 5 = 0 | 0 + 0.4 · 4 = 1.6 |",
        advantages_are(0, terminated=-1.6, truncated=1.6),
    ),
    Claim(
        "| 1, the end | 1 | 5 | 10 | 1 + 0 - 5 = -4 | -4 | 1 + 8 - 5 = 4 | 4 |",
        advantages_are(1, terminated=-4, truncated=4),
    ),
    Claim(
        "| 2, filler | 0 | 10 | 5 | 0 + 4 - 10 = -6 | -6 + 0.4 · 4 = -4.4 | the same | the same |",
        advantages_are(2, terminated=-4.4, truncated=-4.4),
    ),
    Claim(
        "| 3 | 1 | 5 | 10 | 1 + 8 - 5 = 4 | 4 | the same | the same |",
        advantages_are(3, terminated=4, truncated=4),
    ),
    Claim(
        "If any end sets the future to 0, the truncated row 1 gets -4 in place of 4",
        advantages_are(1, terminated=-4, truncated=4),
    ),
    Claim(
        "If only a termination stops the sum, it gets 4 + 0.4 · (-4.4) = 2.24",
        near(lambda: by_hand("sum runs on")[1], 2.24, 1e-9),
    ),
    Claim("A3C, *asynchronous* advantage actor-critic, ran 16 threads on one machine", source=A3C),
    Claim(
        "a synchronous variant of A3C that, they report, performs equally well",
        source="openai.com/index/openai-baselines-acktr-a2c (August 18, 2017)",
    ),
    Claim("| steps of a rollout | 5 | 5 | 32 |", source=f"{A3C}; {BASELINES}"),
    Claim(
        "In *steps* the one by the book is sooner",
        lambda: higher(first_180_000(BOOK), first_180_000(TAUGHT), 0.001),
    ),
    Claim(
        "training return of 437 by the book and of 406 here ($p < 0.001$",
        both(
            near(lambda: first_180_000(BOOK).mean(), 437, 0.5),
            near(lambda: first_180_000(TAUGHT).mean(), 406, 0.5),
        ),
    ),
    Claim(
        "more than twice as many steps per second",
        near(
            lambda: (
                steps_a_second("a2c_CartPole-v1") / steps_a_second("a2c-by-the-book_CartPole-v1")
            ),
            2.5,
            0.5,
        ),
    ),
    Claim("random torques earn about -1200 on Pendulum", near(random_torques, -1200, 60)),
    Claim(
        "hanging still nearly -2000",
        near(lambda: -200 * np.pi**2, -2000, 30),
    ),
    Claim(
        "a good swing-up about -135",
        near(lambda: means("a2c_Pendulum-v1").mean(), -135, 5),
    ),
    # --- Break it ------------------------------------------------------------------------------
    Claim(
        "(two of them change two), and was trained with ten seeds",
        lab.ten_seeds,
    ),
    Claim("Throughout this course *better*, *worse*, *sooner* and *later* need", source="the rule"),
    Claim("Otherwise we write *no difference shown*", source="the rule"),
    Claim("That is not the same as *no difference*: ten seeds may be too few", source="the rule"),
    Claim("*better* and *worse* the evaluation after it", source="the rule"),
    Claim("when a part first averaged 475, the median of the seeds", source="what a column is"),
    Claim("what the critic says a fresh start is worth (median)", source="a column of the table"),
    Claim("Two groups of ten seeds nearly always differ a little", source="the rule"),
    Claim(
        "all 184,756 ways to deal the twenty numbers into two groups of ten",
        near(lambda: math.comb(20, 10), 184_756, 0),
    ),
    Claim("does not mean that an idea is useless", source="the rule"),
    Claim("Turn one knob and see three seeds of it", source="what a cell does"),
    Claim("One seed proves little", source="the rule"),
    Claim("of one seed on a shared machine", source="the studies' own records"),
    Claim("*Sooner* and *better* need a test over seeds", source="the rule"),
    Claim("480 and 495 on one seed each.", source="a question to the reader"),
    Claim(
        "with twenty seeds on which nothing was tuned",
        both(twenty_seeds(*STUDIES), *(at_the_bar(study, 20) for study in STUDIES)),
    ),
]

NO_BASELINE, NO_CRITIC = "by the book, no baseline", "by the book, no critic"
SUMMED = "by the book, summed over the episode"
ALIKE = (
    "lambda 1",
    "no entropy bonus",
    "no decay",
    "filler rows learned",
    "advantages run over the end",
)
NEITHER = "one critic step, not scaled"


def seeds_at_bar(count: int, *variants: str) -> Evidence:
    def evidence() -> tuple[str, bool]:
        there = [at_bar(variant) for variant in variants]
        return str(there), sum(there) == count

    return evidence


def times_the_steps(variant: str, times: float) -> Evidence:
    return near(
        lambda: np.median(lab.first_times(variant)) / np.median(lab.first_times(TAUGHT)), times, 0.1
    )


CLAIMS += [
    Claim(
        "One update in place of four, or rewards not scaled: it learns later ($p < 0.001$)",
        learns_later("one critic step", "rewards not scaled"),
    ),
    Claim(
        "in the lab, *rewards not scaled* learns later",
        learns_later("rewards not scaled"),
    ),
    Claim(
        "nineteen of these twenty seeds are at the bar in the end",
        seeds_at_bar(19, "one critic step", "rewards not scaled"),
    ),
    Claim("With both at once, two of ten are", seeds_at_bar(2, NEITHER)),
    Claim(
        "It learns later ($p < 0.001$); in the median it takes about twice the steps to the bar",
        both(learns_later("lambda 0"), times_the_steps("lambda 0", 1.95)),
    ),
    Claim("shows no difference in the returns", no_difference("truncation as termination")),
    Claim(
        "the critic's value of a start is 0.88 in place of 1.00 "
        "(the medians; for the means $p < 0.001$)",
        values(),
    ),
    Claim(
        "without a baseline** it learns later ($p < 0.001$); at the end no difference is shown",
        both(learns_later(NO_BASELINE, than=BOOK), lab.same_after(NO_BASELINE, taught=BOOK)),
    ),
    Claim(
        "it also ends worse ($p = 0.003$)",
        both(
            lab.better(BOOK, NO_CRITIC),
            lab.p_after(0.003, BOOK, NO_CRITIC),
        ),
    ),
    Claim("**No difference shown:** $\\lambda = 1$, no entropy bonus", no_difference(*ALIKE)),
    Claim(
        "learns a little *sooner*: a mean training return of 467 against 461 ($p = 0.004$)",
        both(
            lab.sooner(SUMMED, BOOK),
            near(lambda: lab.training(SUMMED).mean(), 467, 0.5),
            near(lambda: lab.training(BOOK).mean(), 461, 0.5),
            lab.p_training(0.004, SUMMED, BOOK),
        ),
    ),
    Claim(
        "All twenty seeds end at 500",
        near(lambda: min(lab.final(SUMMED).min(), lab.final(BOOK).min()), 500, 0.05),
    ),
    Claim("It learns a little sooner (p = 0.004)", lab.sooner(SUMMED, BOOK), file=LAB),
    Claim(
        "all ten seeds end at 500, as with the mean",
        near(lambda: min(lab.final(SUMMED).min(), lab.final(BOOK).min()), 500, 0.05),
        file=LAB,
    ),
    Claim(
        "four of ten seeds fall back, one of them until training ends, and as taught none",
        both(four_fall_back("no decay"), near(lambda: still_below("no decay"), 1, 0)),
    ),
    Claim(
        "comes about by chance one time in twelve ($p = 0.09$)",
        near(lambda: 1 / permutation_test([1] * 4 + [0] * 6, [0] * 10), 12, 0.6),
    ),
    Claim("where eight of ten seeds fail", seeds_at_bar(2, NEITHER)),
    Claim("six times as many updates from the same steps", near(lambda: 32 / 5, 6, 0.5)),
    # --- the lab's explanations ---------------------------------------------------------------
    Claim(
        "It learns later (p < 0.001). At the end nine of ten",
        both(
            learns_later("one critic step"),
            seeds_at_bar(9, "one critic step"),
            lab.same_after("one critic step"),
        ),
        file=LAB,
    ),
    Claim(
        "It learns later (p < 0.001), and all ten seeds reach the bar",
        both(learns_later("rewards not scaled"), seeds_at_bar(10, "rewards not scaled")),
        file=LAB,
    ),
    Claim(
        "Four fall back for a while, against none: no difference shown (p = 0.09)",
        four_fall_back("rewards not scaled"),
        file=LAB,
    ),
    Claim(
        "learns later and ends worse (p < 0.001): two of ten seeds end at the bar",
        both(
            learns_later(NEITHER),
            lambda: higher(lab.final(TAUGHT), lab.final(NEITHER), 0.001),
            seeds_at_bar(2, NEITHER),
        ),
        file=LAB,
    ),
    Claim(
        "In the returns no difference is shown",
        no_difference("truncation as termination"),
        file=LAB,
    ),
    Claim("value of a start is 0.88 in place of 1.00 (p < 0.001)", values(), file=LAB),
    Claim(
        "No difference shown, perhaps because it is one row in hundreds",
        no_difference("filler rows learned"),
        file=LAB,
    ),
    Claim(
        "No difference shown, though it is close (p = 0.05)",
        both(
            no_difference("advantages run over the end"),
            lab.p_training(0.05, "advantages run over the end", TAUGHT),
        ),
        file=LAB,
    ),
    Claim(
        "about twice the steps to the bar in the median. Eight of ten seeds end at it",
        both(
            learns_later("lambda 0"),
            times_the_steps("lambda 0", 1.95),
            seeds_at_bar(8, "lambda 0"),
            lab.same_after("lambda 0"),
        ),
        file=LAB,
    ),
    Claim("less bias, more variance. No difference shown", no_difference("lambda 1"), file=LAB),
    Claim(
        "No difference shown: CartPole perhaps explores",
        no_difference("no entropy bonus"),
        file=LAB,
    ),
    Claim(
        "No difference shown: four of ten seeds fall back, one of them until training ends",
        both(no_difference("no decay"), four_fall_back("no decay")),
        file=LAB,
    ),
    Claim(
        "It learns later (p < 0.001); at the end nine of ten are at the bar: no difference",
        both(
            learns_later(NO_BASELINE, than=BOOK),
            seeds_at_bar(9, NO_BASELINE),
            lab.same_after(NO_BASELINE, taught=BOOK),
        ),
        file=LAB,
    ),
    Claim(
        "It learns later (p < 0.001) and ends worse (p = 0.003): six of ten seeds",
        both(
            learns_later(NO_CRITIC, than=BOOK),
            lab.better(BOOK, NO_CRITIC),
            seeds_at_bar(6, NO_CRITIC),
        ),
        file=LAB,
    ),
]
