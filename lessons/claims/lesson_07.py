"""Claims of lesson 07 and of its lab."""

from collections.abc import Sequence
from inspect import signature

import numpy as np

from helpers.show.figures.ppo_kl import plot_kl
from helpers.training.results import load_results
from helpers.training.settings import get_setting
from helpers.training.statistics import permutation_test
from tools.claims import LEVEL, Claim, Evidence, Lab, alike, both, near, seconds_of, twenty_seeds

LAB = "helpers/labs/07_ppo.md"
TAUGHT, A2C = "PPO as taught", "A2C as taught"
lab, lab_01 = Lab("07_break_it", TAUGHT), Lab("01_break_it", A2C)
no_difference = lab.no_difference
UNCLIPPED, TWENTY = "ratios not clipped", "twenty epochs"
WHOLE, THIRDS = "pendulum, as taught", "pendulum, rollouts of a third of an episode"
PPO_2017 = "Schulman et al. 2017 (arXiv:1707.06347)"
DETAILS = "Huang et al. 2022, The 37 Implementation Details of Proximal Policy Optimization"
STUDIES = ("ppo_CartPole-v1", "ppo_Acrobot-v1", "ppo_Pendulum-v1")


def all_training() -> float:
    """CPU seconds of the lesson: both tasks, two short runs, two for the KL, three of 'now you'."""
    pole, pendulum = (np.median(seconds_of(study)) for study in (STUDIES[0], STUDIES[2]))
    return pole * (1 + 2 * 10 / 80 + 2 * 30 / 80 + 3) + pendulum


def of_ours(*names: str, values: Sequence[float]) -> Evidence:
    """What the lesson's agent on CartPole is trained with, by its table's column."""

    def evidence() -> tuple[str, bool]:
        known = get_setting("ppo", "CartPole-v1").make(seed=0).hyperparameters
        found = [known[name] for name in names]
        return str(found), found == list(values)

    return evidence


def bar_before_a2c(variant: str, steps: float) -> Evidence:
    """A variant is first at the bar after so many steps in the mean, sooner than A2C."""

    def evidence() -> tuple[str, bool]:
        ours, theirs = lab.first_times(variant), lab_01.first_times(A2C)
        p = permutation_test(ours, theirs)
        said = f"{ours.mean():.0f} against {theirs.mean():.0f}, p = {p:.2g}"
        return said, abs(ours.mean() - steps) < 500 and ours.mean() < theirs.mean() and p < 0.001

    return evidence


def six_lose_it() -> tuple[str, bool]:
    mine, taught = lab.falls_back(UNCLIPPED), lab.falls_back(TAUGHT)
    p, all_there = permutation_test(mine, taught), np.isfinite(lab.first_times(UNCLIPPED)).all()
    said = f"{mine.sum():.0f} against {taught.sum():.0f}, p = {p:.3f}"
    return said, all_there and (mine.sum(), taught.sum()) == (6, 1) and abs(p - 0.06) < 0.005


def on_pendulum(variant: str, seeds: int, later: bool = True, lower: bool = True) -> Evidence:
    """So many seeds reach the bar; it learns later, or ends lower (p < 0.001), or is alike."""
    name = f"pendulum, {variant}"

    def evidence() -> tuple[str, bool]:
        pairs = [(of(name), of(WHOLE), yes) for of, yes in
                 ((lab.training, later), (lab.final, lower))]  # fmt: skip
        said, holds = [], True
        for mine, taught, yes in pairs:
            p = permutation_test(mine, taught)
            said.append(f"{mine.mean():.4g} against {taught.mean():.4g}, p = {p:.2g}")
            holds &= p < 0.001 and mine.mean() < taught.mean() if yes else p >= LEVEL
        return "; ".join(said), bool(holds) and lab.reach_the_bar(seeds, name)()[1]

    return evidence


def clipping_most() -> tuple[str, bool]:
    """Of all variants on Pendulum none ends lower, nor learns later, than without clipping."""
    lab_07 = load_results("07_break_it")
    unclipped = f"pendulum, {UNCLIPPED}"
    names = [n for n in lab_07 if n.startswith("pendulum, ") and n != unclipped]
    pairs = [(of(n), of(unclipped))
             for n in names for of in (lab.final, lab.training)]  # fmt: skip
    ps = [permutation_test(other, worst) for other, worst in pairs]
    above = all(other.mean() > worst.mean() for other, worst in pairs)
    return f"of {len(names)} others, largest p = {max(ps):.2g}", above and max(ps) < 0.001


def twenty_on_pendulum() -> tuple[str, bool]:
    """Twenty epochs learn sooner, and show no difference at the end."""
    name = "pendulum, twenty epochs"
    sooner, ahead = lab.sooner(name, WHOLE)()
    p = permutation_test(lab.training(name), lab.training(WHOLE))
    after, same = alike(lab.final(name), lab.final(WHOLE))
    return f"{sooner}; {after}", ahead and p < 0.001 and same


def seconds_to_bar() -> tuple[str, bool]:
    """CPU seconds until the last twenty training episodes average the bar."""
    found = load_results("07_time_to_bar")["results"]
    ppo, a2c = (np.array([row["cpu_seconds"] for row in found[name]]) for name in ("ppo", "a2c"))
    p, reached = permutation_test(ppo, a2c), all(r["steps"] for n in found for r in found[n])
    said = f"{ppo.mean():.2f} against {a2c.mean():.2f}, p = {p:.2g}"
    return said, reached and round(ppo.mean(), 1) == 1.5 and round(
        a2c.mean(), 1
    ) == 2.1 and p < 1e-3


def thirds_end_lower() -> tuple[str, bool]:
    """Means after training, and the lowest, of rollouts of a third and of whole episodes."""
    thirds, whole = lab.final(THIRDS), lab.final(WHOLE)
    p = permutation_test(thirds, whole)
    numbers = [round(number) for number in (thirds.mean(), whole.mean(), thirds.min())]
    return f"{numbers}, p = {p:.2g}", numbers == [-141, -125, -199] and p < 0.001


def short_acrobot() -> tuple[str, bool]:
    """The seeds that miss the bar with 120,000 steps instead of 200,000."""
    rows = load_results("07_acrobot_120000")["results"]
    missed = [row["seed"] for row in rows if not row["passed"]]
    return f"missed by {missed}", len(rows) == 20 and missed == [101]


def acrobot_again() -> tuple[str, bool]:
    """Seeds 100 to 119, with 200,000 steps."""
    rows = load_results("07_acrobot_again")["results"]
    (row,) = [row for row in rows if not row["passed"]]
    never = sum(value <= -500 for value in row["returns"])
    said = f"{row['seed']} ends at {row['mean']:.0f}, {never} starts at -500"
    return said, len(rows) == 20 and (row["seed"], round(row["mean"]), never) == (114, -173, 2)


def one_of_the_new() -> tuple[str, bool]:
    """The only seed that misses Acrobot's bar."""
    missed = [row for row in load_results("ppo_Acrobot-v1")["results"] if not row["passed"]]
    said = {row["seed"]: row["mean"] for row in missed}
    return str(said), [*said] == [307] and -102 < said[307] < -100


def pendulum_again() -> tuple[str, bool]:
    """Of 200 to 219 the only seed below -130, and its worst start; the reported ones are above."""
    rows = load_results("07_pendulum_again")["results"]
    low = {row["seed"]: (row["mean"], min(row["returns"])) for row in rows if row["mean"] < -130}
    reported = min(row["mean"] for row in load_results("ppo_Pendulum-v1")["results"])
    said = {seed: [round(number) for number in pair] for seed, pair in low.items()}
    return f"{said}; {reported:.0f}", said == {206: [-166, -927]} and reported > -140


CLAIMS = [
    # --- the text -----------------------------------------------------------------------------
    Claim("All training together: about a minute", near(all_training, 40, 30)),
    Claim(
        'often lead to "destructively large policy updates" (Schulman et al. 2017, section 2.1)',
        source=f"{PPO_2017}, section 2.1, on the objective of equation 2",
    ),
    Claim("how much better than expected $a_t$ turned out", source="a definition"),
    Claim(
        "$\\varepsilon = 0.2$ is its best value in table 1",
        source=f"{PPO_2017}, table 1: 0.82, before 0.76 (0.1) and 0.74 (adaptive KL, 0.01)",
    ),
    Claim("it is never above the surrogate (section 3 of the paper)", source=f"{PPO_2017}, 3"),
    Claim(
        "on seven MuJoCo tasks with three seeds each (table 1; scores on a scale",
        source=f"{PPO_2017}, section 6.1 and table 1: 21 runs each, normalised scores",
    ),
    Claim("| no limit | -0.39 |", source=f"{PPO_2017}, table 1"),
    Claim("0.1, 0.2, 0.3 | 0.76, 0.82, 0.70 |", source=f"{PPO_2017}, table 1"),
    Claim(
        "the best of three targets | 0.74 |",
        source=f"{PPO_2017}, table 1: 0.68, 0.74, 0.71",
    ),
    Claim(
        "the best of four weights | 0.72 |",
        source=f"{PPO_2017}, table 1: 0.62, 0.71, 0.72, 0.69",
    ),
    Claim(
        "(OpenAI's `ppo2` reports k2, which is close for ratios near 1 but biased.)",
        source="openai/baselines, ppo2/ppo2.py, approxkl; Schulman 2020, joschu.net/blog/kl-approx",
    ),
    Claim(
        "Stable-Baselines3 have it, both with this factor",
        source="spinup/algos/pytorch/ppo/ppo.py and stable_baselines3/ppo/ppo.py: 1.5 * target_kl",
    ),
    Claim(
        "list 37 details of `ppo2`, the version in OpenAI's Baselines, 13 of them",
        source=f"{DETAILS}: 13 core details",
    ),
    Claim(
        "find no evidence that it helps, and Andrychowicz et al. (2021, decision C13)",
        source=f"as {DETAILS} quotes both, detail 9",
    ),
    Claim(
        "Adam's learning rate | $3\\cdot10^{-4}$ | $3\\cdot10^{-4}$, falling to 0",
        source=f"{PPO_2017}, table 3; openai/baselines, ppo2/defaults.py, mujoco",
    ),
    Claim("16 environments, 64 each |", of_ours("n_envs", "n_steps", values=(16, 64))),
    Claim("| epochs $K$ | 10 | 10 | 8 |", of_ours("n_epochs", values=(8,))),
    Claim("| 64 | 64 (32 of them) | 256 |", of_ours("batch_size", values=(256,))),
    Claim("| 0.2 (table 1) | 0.2 | 0.2 |", of_ours("clip_range", values=(0.2,))),
    Claim("| 0.99, 0.95 | the same |", of_ours("gamma", "lam", values=(0.99, 0.95))),
    Claim("| 0, 0.5 | no half", of_ours("entropy_coef", "value_coef", values=(0, 0.5))),
    Claim("times 0.01 | values near 1", of_ours("reward_scale", values=(0.01,))),
    Claim("One seed each: a picture, not a comparison", source="the rule"),
    Claim("higher is sooner", source="what a column of the table is"),
    Claim("and see three seeds of it", source="what a cell does"),
    Claim(
        "ten seeds each from the stored labs",
        both(lab.ten_seeds, lab_01.ten_seeds),
    ),
    Claim(
        "Each variant was trained with ten seeds",
        lab.ten_seeds,
    ),
    Claim(
        "after 21,000 steps, A2C's after 76,000 (means over the seeds): PPO is sooner",
        both(
            bar_before_a2c(TAUGHT, 21_440),
            near(lambda: lab_01.first_times(A2C).mean(), 76_320, 500),
        ),
    ),
    Claim("PPO is sooner ($p < 0.001$)", bar_before_a2c(TAUGHT, 21_440)),
    Claim(
        "still its stored runs are at the bar after 47,000 steps, sooner than A2C",
        bar_before_a2c("one epoch", 47_000),
    ),
    Claim("took 1.5 seconds of computing (PPO) and 2.1 (A2C; means, $p < 0.001$)", seconds_to_bar),
    Claim(
        "(Medians of ten iterations; for each",
        near(lambda: signature(plot_kl).parameters["window"].default, 10, 0),
    ),
    Claim(
        "Spinning Up calls a target of 0.01 or 0.05 usual",
        source="spinup/algos/pytorch/ppo/ppo.py, target_kl: usually small, 0.01 or 0.05",
    ),
    Claim(
        "On robots Engstrom et al. found that first weights and the falling learning rate matter",
        source="Engstrom et al. 2020, figure 1: Humanoid-v2 and Walker2d-v2; Andrychowicz et al. "
        "2021, on the initial policy",
    ),
    Claim(
        "with all those details Engstrom et al. found PPO without clipping about as good",
        source="Engstrom et al. 2020, section 5 and table 3: PPO-NoClip",
    ),
    # --- Break it -----------------------------------------------------------------------------
    Claim(
        "Without it PPO learns later ($p < 0.001$), and two of ten seeds are below the bar",
        both(
            lab.later(UNCLIPPED, TAUGHT),
            lab.reach_the_bar(8, UNCLIPPED),
            lab.p_after(0.47, UNCLIPPED, TAUGHT),
        ),
    ),
    Claim(
        "Twenty epochs with clipping show no difference from eight; without clipping",
        both(
            no_difference(TWENTY),
            lab.later(f"{TWENTY}, {UNCLIPPED}", UNCLIPPED, 0.002),
            lab.p_training(0.001, f"{TWENTY}, {UNCLIPPED}", UNCLIPPED),
        ),
    ),
    Claim(
        "or **one minibatch** an epoch, learns later ($p < 0.001$ each), and all ten seeds end at",
        both(
            *(lab.later(variant, TAUGHT) for variant in ("one epoch", "one minibatch")),
            near(lambda: lab.final("one epoch").min(), 500, 0.05),
            near(lambda: lab.final("one minibatch").min(), 500, 0.05),
        ),
    ),
    Claim(
        "at 0.005 learns later as well ($p < 0.001$)",
        lab.later("stopped by the KL", TAUGHT),
    ),
    Claim(
        "**No difference shown:** values clipped, torch's own first weights, no annealing",
        both(
            no_difference(
                "values clipped",
                "torch's own first weights",
                "no annealing",
                "gradient not clipped",
                "advantages not normalised",
            ),
            lab.p_training(0.07, "advantages not normalised", TAUGHT),
        ),
    ),
    Claim("only the minibatches are shown to help *here*", lab.later("one minibatch", TAUGHT)),
    Claim("ten seeds show large differences only", source="the rule"),
    Claim(
        "Without clipping all ten seeds reached the bar while training, and six of them were below "
        "400 again later",
        six_lose_it,
    ),
    Claim(
        "a mean of -141 against -125, the lowest -199 ($p < 0.001$)",
        both(thirds_end_lower, lab.reach_the_bar(10, WHOLE, THIRDS)),
    ),
    Claim(
        "Without it one of ten seeds reaches the bar ($p < 0.001$, in training and after it)",
        on_pendulum("ratios not clipped", 1),
    ),
    Claim(
        "With one epoch, or one minibatch an epoch, PPO learns later and ends lower",
        both(on_pendulum("one epoch", 9), on_pendulum("one minibatch", 9)),
    ),
    Claim("**Clipping is missed most.**", clipping_most),
    Claim("with twenty epochs it learns sooner ($p < 0.001$), and no", twenty_on_pendulum),
    Claim(
        "Without annealing eight of ten seeds reach the bar, and they end lower ($p < 0.001$)",
        on_pendulum("no annealing", 8, later=False),
    ),
    Claim(
        "at 0.005 learns later and ends lower ($p < 0.001$)",
        on_pendulum("stopped by the KL", 7),
    ),
    Claim(
        "Values clipped, and advantages that are not normalised, learn later ($p < 0.001$)",
        both(
            on_pendulum("values clipped", 10, lower=False),
            on_pendulum("advantages not normalised", 10, lower=False),
        ),
    ),
    Claim(
        "**No difference shown:** torch's own first weights, and a gradient that is not clipped",
        both(
            no_difference("pendulum, torch's own first weights", taught=WHOLE),
            no_difference("pendulum, gradient not clipped", taught=WHOLE),
        ),
    ),
    Claim(
        "normalised advantages and annealing show a difference here, and none on CartPole",
        both(
            on_pendulum("advantages not normalised", 10, lower=False),
            on_pendulum("no annealing", 8, later=False),
            no_difference("advantages not normalised", "no annealing"),
        ),
    ),
    Claim("the same settings with twenty seeds on which nothing was tuned", twenty_seeds(*STUDIES)),
    # --- the lab's explanations ---------------------------------------------------------------
    Claim(
        "bar, and end lower: a mean of -141 against -125 (p < 0.001)", thirds_end_lower, file=LAB
    ),
    Claim(
        "It learns later (p < 0.001). Eight of ten seeds end at the bar: no difference shown",
        both(
            lab.later(UNCLIPPED, TAUGHT),
            lab.reach_the_bar(8, UNCLIPPED),
            lab.same_after(UNCLIPPED),
        ),
        file=LAB,
    ),
    Claim(
        "with about twice the steps to the bar; all ten seeds reach it",
        both(
            lab.later("one epoch", TAUGHT),
            lab.reach_the_bar(10, "one epoch"),
            near(
                lambda: (
                    np.median(lab.first_times("one epoch")) / np.median(lab.first_times(TAUGHT))
                ),
                2,
                0.2,
            ),
        ),
        file=LAB,
    ),
    Claim(
        "where the lesson makes eight epochs. No difference shown", no_difference(TWENTY), file=LAB
    ),
    Claim(
        "It learns later than with clipping (p < 0.001). Eight of ten seeds end at the bar",
        both(
            lab.later(f"{TWENTY}, {UNCLIPPED}", TWENTY),
            lab.reach_the_bar(8, f"{TWENTY}, {UNCLIPPED}"),
            lab.same_after(f"{TWENTY}, {UNCLIPPED}", taught=TWENTY),
        ),
        file=LAB,
    ),
    Claim(
        "No difference shown, though it is close (p = 0.07)",
        no_difference("advantages not normalised"),
        file=LAB,
    ),
    Claim(
        "a first policy that prefers some actions. No difference shown",
        no_difference("torch's own first weights"),
        file=LAB,
    ),
    Claim("where it starts. No difference shown", no_difference("no annealing"), file=LAB),
    Claim("values are about 1. No difference shown", no_difference("values clipped"), file=LAB),
    Claim(
        "clipped objective or not. It learns later (p < 0.001); all ten seeds reach the bar",
        both(
            lab.later("stopped by the KL", TAUGHT),
            lab.reach_the_bar(10, "stopped by the KL"),
        ),
        file=LAB,
    ),
    Claim(
        "where the lesson makes three or four. It learns later (p < 0.001); all ten seeds reach",
        both(lab.later("one minibatch", TAUGHT), lab.reach_the_bar(10, "one minibatch")),
        file=LAB,
    ),
    Claim(
        "as it comes. No difference shown",
        both(
            no_difference("gradient not clipped"),
            no_difference("pendulum, gradient not clipped", taught=WHOLE),
        ),
        file=LAB,
    ),
    Claim(
        "Only one of ten seeds reaches the bar: it learns later and ends lower (p < 0.001)",
        on_pendulum("ratios not clipped", 1),
        file=LAB,
    ),
    Claim(
        "It learns later and ends lower (p < 0.001), and nine of ten seeds reach the bar",
        on_pendulum("one epoch", 9),
        file=LAB,
    ),
    Claim("It learns sooner (p < 0.001); at the end no difference", twenty_on_pendulum, file=LAB),
    Claim(
        "makes six. It learns later and ends lower (p < 0.001), and nine of ten seeds reach",
        on_pendulum("one minibatch", 9),
        file=LAB,
    ),
    Claim(
        "much smaller than 1. It learns later (p < 0.001); at the end no difference is shown",
        on_pendulum("advantages not normalised", 10, lower=False),
        file=LAB,
    ),
    Claim(
        "larger first actions. No difference shown",
        no_difference("pendulum, torch's own first weights", taught=WHOLE),
        file=LAB,
    ),
    Claim(
        "It ends lower (p < 0.001), and eight of ten seeds reach the bar; in training no",
        on_pendulum("no annealing", 8, later=False),
        file=LAB,
    ),
    Claim(
        "is not rewarded. It learns later (p < 0.001); at the end no difference is shown",
        on_pendulum("values clipped", 10, lower=False),
        file=LAB,
    ),
    Claim(
        "It learns later and ends lower (p < 0.001), and seven of ten seeds reach the bar",
        on_pendulum("stopped by the KL", 7),
        file=LAB,
    ),
    Claim("With 120,000 steps one of them, 101, missed Acrobot's bar", short_acrobot),
    Claim(
        "Even so another, 114, ended at -173: from two of its twenty starts it never gets up.",
        acrobot_again,
    ),
    Claim("of the twenty new seeds one, 307, misses the bar by a little", one_of_the_new),
    Claim(
        "Of twenty more, 200 to 219, one, 206, ended at -166: from one of its twenty starts it "
        "gets -927.",
        pendulum_again,
    ),
]
