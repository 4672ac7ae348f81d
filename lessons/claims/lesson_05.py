"""Claims of lesson 05 and of its lab."""

from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from helpers.labs.variants import variants
from helpers.show.figures.practice_imaginary_studies import imaginary_studies, stored_scores
from helpers.training.results import load_results
from helpers.training.statistics import permutation_test
from lessons.claims.evidence_05 import (
    at,
    beside_tianshou,
    best_of,
    best_until,
    cheetah,
    collapse,
    coverage,
    final,
    finalists,
    halved,
    last_of,
    picked,
    seeds_of,
    start_as_pytorch,
    start_tested,
    ten_ways,
    two_below_all,
    until_half,
    walk,
)
from tools.claims import (
    Claim,
    Evidence,
    Lab,
    alike,
    at_the_bar,
    both,
    higher,
    means,
    near,
    p_is,
    seconds_of,
)

LAB = "helpers/labs/05_td3_in_practice.md"
TAUGHT, LARGE = "TD3 as taught", "learning rate x 10"
lab, of_lesson_3 = Lab("05_break_it", TAUGHT), Lab("03_break_it")
ADVICE = "no measurement: the idea, a definition or advice"
A_RUN = "of the run that the cell prints"
TD3_PAPER = "Fujimoto et al. 2018 (arXiv:1802.09477)"
AGARWAL = "Agarwal et al. 2021 (arXiv:2108.13264)"


def with_p(one: NDArray, other: NDArray, p: float) -> Evidence:
    """The first is higher, and p rounds to what the text says."""
    return both(lambda: higher(one, other), p_is(p, lambda: one, lambda: other))


def below(most: float, one: NDArray, other: NDArray) -> Evidence:
    """The first is higher, with p below `most`."""
    return lambda: higher(one, other, most)


# ---- seeds ---------------------------------------------------------------------------------------


@cache
def scores(study: str) -> NDArray[np.float64]:
    return stored_scores(study)[0]


def imagined(study: str, report: str, seeds: int, place: int = 0) -> NDArray[np.float64]:
    """What 1,000 imagined studies report, as the lesson's explorers draw them."""
    return imaginary_studies(tuple(scores(study)), place)[report][seeds - 1]


def half_report_nothing() -> tuple[str, bool]:
    share = float((imagined("ddpg_SparsePendulum-v0", "mean", 3) < 1).mean())
    return f"{share:.1%}", abs(share - 0.5) < 0.02


def clonings_medians() -> tuple[str, bool]:
    low, high = np.percentile(imagined("bc_SparsePendulum-v0", "median", 3), [2.5, 97.5])
    return f"{low:.1f} to {high:.1f}", round(low) == 11 and round(high) == 133


def wrong_winners() -> tuple[str, bool]:
    pair = "ddpg_SparsePendulum-v0", "bc_SparsePendulum-v0"
    wrong = {
        report: [
            float((imagined(pair[0], report, n) > imagined(pair[1], report, n, 1)).mean())
            for n in range(1, 21)
        ]
        for report in ("best", "mean", "median", "interquartile mean")
    }
    best = wrong.pop("best")
    later = max(max(shares[9:]) for shares in wrong.values())
    text = f"best: {best[11]:.1%} with 12, {best[12]:.1%} with 13; others at most {later:.1%}"
    return text, max(best[:12]) < 0.5 < min(best[12:]) and later < 0.03


def no_difference_on_pendulum() -> tuple[str, bool]:
    text, holds = alike(scores("ddpg_Pendulum-v1"), scores("td3_Pendulum-v1"))
    means = [round(scores(f"{kind}_Pendulum-v1").mean(), 1) for kind in ("ddpg", "td3")]
    p = permutation_test(scores("ddpg_Pendulum-v1"), scores("td3_Pendulum-v1"))
    return text, holds and means == [-121.6, -122.7] and round(p, 2) == 0.17


def stops(what: str) -> NDArray[np.float64]:
    """One number a seed of the trainings that were stopped, finished, and given their best."""
    return np.array([row[what] for row in load_results("05_stopping")["results"]])


def lost_on_the_hundred() -> tuple[str, bool]:
    early = np.sort(stops("chosen") - stops("fresh"))
    last = np.sort(stops("last") - stops("last, fresh"))
    holds = early[6] > 250 and round(early[0]) == 28 and round(early[5]) == 40
    holds = holds and round(last[0]) == 36 and round(last[-1]) == 40
    return f"{early.round(1)}; {last.round(1)}", bool(holds)


def all_lose() -> tuple[str, bool]:
    """In all ten seeds, with the weights at which training stopped and with the last ones."""
    lost = [stops("chosen") - stops("fresh"), stops("last") - stops("last, fresh")]
    return f"at least {np.min(lost):.1f}", bool(np.min(lost) > 0)


def best_or_last() -> tuple[str, bool]:
    one, other = stops("best, fresh"), stops("last, fresh")
    text, holds = alike(one, other)
    return text, holds and round(permutation_test(one, other), 2) == 0.13


# ---- knobs ---------------------------------------------------------------------------------------


def eight_others() -> tuple[str, bool]:
    """Without the two seeds that fail, ten times the rate ends as taught."""
    final = np.sort(lab.final(LARGE))
    text, holds = alike(final[2:], lab.final(TAUGHT))
    return f"{final[:2]}; others {text}", holds and np.all(np.abs(final[:2] + 1560) < 5)


def three_of_ten() -> tuple[str, bool]:
    good = lab.final(LARGE) >= lab.runs(LARGE)["bar"]
    draws = [all(good[list(three)]) for three in combinations(range(10), 3)]
    return f"{np.mean(draws):.3f}", round(float(np.mean(draws)), 2) == 0.47


def sixteen() -> tuple[str, bool]:
    """Two p for each variant but the first."""
    count = 2 * (len(variants("05")) - 1)
    return str(count), count == 16


def three_matter() -> tuple[str, bool]:
    """With all others but those that a second knob goes with, every seed is at the bar."""
    names = [variant.name for variant in variants("05")]
    there = {name: int((lab.final(name) >= lab.runs(name)["bar"]).sum()) for name in names}
    with_norm = f"{LARGE}, layer norm"  # the second of its knobs is no further one
    missed = {name for name, count in there.items() if count < 10} - {with_norm}
    return str(there), missed == {"learning rate / 10", LARGE, "an update every 4 steps"}


# ---- after cloning -----------------------------------------------------------------------------

OWN_STEPS = "its own first steps"
IMITATES = "its own first steps, goes on imitating"


def after_cloning(what: str) -> NDArray[np.float64]:
    """The copy's return, or the mean of the five evaluations while TD3 goes on, one a seed."""
    rows = load_results("05_after_cloning")["results"]
    return np.array([np.mean(row[what]) for row in rows])


def at_the_end(variant: str) -> NDArray[np.float64]:
    return np.array([row[variant][-1] for row in load_results("05_after_cloning")["results"]])


def own_steps_do_not_help() -> tuple[str, bool]:
    text, holds = alike(after_cloning(OWN_STEPS), after_cloning("as TD3 is"))
    p = permutation_test(after_cloning(OWN_STEPS), after_cloning("as TD3 is"))
    return text, holds and round(p, 2) == 0.10 and at_the_end(OWN_STEPS).max() < 7


def lost_and_regained() -> tuple[str, bool]:
    """Most seeds fall below half of their copy, and most of these end above that half."""
    rows = load_results("05_after_cloning")["results"]
    lost = [row for row in rows if min(row[IMITATES]) < row["copied"] / 2]
    back = [row for row in lost if row[IMITATES][-1] > row["copied"] / 2]
    return f"{len(lost)} of {len(rows)}, {len(back)} come back", min(len(lost), len(back)) > 4.5


def normalized(what: str) -> NDArray[np.float64]:
    """What PPO reaches on MuJoCo's double pendulum with this normalised: none, obs or both."""
    return means(f"ppo_normalize-{what}")


# ---- beside a library ----------------------------------------------------------------------------


def of_learner(name: str) -> NDArray[np.float64]:
    """The mean of a seed's evaluations through training."""
    rows = load_results("03_beside_sb3")["results"]
    return np.array([np.mean(row["returns"]) for row in rows if row["learner"] == name])


def beside_a_library() -> tuple[str, bool]:
    ours, theirs = of_learner("the course's TD3"), of_learner("Stable-Baselines3, as small")
    text, holds = alike(ours, theirs)
    return text, holds and round(permutation_test(ours, theirs), 2) == 0.83


def from_numbers() -> tuple[str, bool]:
    numbers, pictures = scores("td3_Pendulum-v1"), scores("td3_PixelPendulum-v0")
    text, holds = below(0.001, numbers, pictures)()
    return text, holds and round(numbers.mean()) == -123 and round(pictures.mean()) == -157


def computing(study: str) -> float:
    return float(np.median(seconds_of(study)))


def a_fifth() -> tuple[str, bool]:
    numbers = computing("td3_Pendulum-v1")
    pictures = computing("td3_PixelPendulum-v0")
    return f"{numbers:.1f} s against {pictures:.1f} s", numbers / pictures < 0.2


CLAIMS = [
    # --- part 1 -------------------------------------------------------------------------------
    Claim("2 of 20 seeds reach the bar.", at_the_bar("ddpg_SparsePendulum-v0", 2)),
    Claim("with three seeds each, half of the studies report a mean of less than one step",
          half_report_nothing),
    Claim("with three seeds each, the middle 95 % of the reports go from 11 to 133",
          clonings_medians),
    Claim("Cloning, with the median", source=ADVICE),
    Claim("with 13 seeds each or more, the best names the wrong winner more often than tossing "
          "a coin would", wrong_winners),
    Claim("Under the other three reports wrong winners are rare from ten seeds on", wrong_winners),
    Claim("the algorithm that fails more often has the highest single return",
          lambda: (f"{scores('ddpg_SparsePendulum-v0').max()} against "
                   f"{scores('bc_SparsePendulum-v0').max()}",
                   scores("ddpg_SparsePendulum-v0").max() > scores("bc_SparsePendulum-v0").max())),
    Claim("With twenty seeds each, no difference is shown (p = 0.17): the means are -121.6 and "
          "-122.7", no_difference_on_pendulum),
    Claim("a single number: the best, the mean, the median or the interquartile mean",
          source="what the figure offers"),
    Claim("It uses half of the data, where the median uses one or two numbers", source=AGARWAL),
    Claim("it is near 0 and hides the seeds that did learn",
          at_the_bar("ddpg_SparsePendulum-v0", 2)),
    Claim("better, worse, sooner and later only where a permutation test over seeds gives p < "
          "0.05", source=ADVICE),
    Claim(
        "it contains the true mean in 75 % of all cases from three numbers, and in 94 % from ten.",
        both(near(lambda: coverage(3), 0.75, 0.005), near(lambda: coverage(10), 0.94, 0.005)),
    ),
    # --- part 2 -------------------------------------------------------------------------------
    Claim("On the hundred fresh starts the mean is lower", all_lose),
    Claim("They score lower on the hundred, too: part of the gap is that the ten starts are "
          "easier", all_lose),
    Claim("Ten seeds are stored, each stopped",
          lambda: (str(len(stops("fresh"))), len(stops("fresh")) == 10)),
    Claim("Stopping so early is worse on the hundred starts than training to the end (p = 0.003)",
          with_p(stops("last, fresh"), stops("fresh"), 0.003)),
    Claim("four seeds of ten lose more than 250. The other six lose 28 to 40, and the last weights "
          "lose about as much (36 to 40)", lost_on_the_hundred),
    Claim("Between the best weights and the last no difference is shown (p = 0.13)",
          best_or_last),
    # --- part 3 -------------------------------------------------------------------------------
    Claim("The course's own versions of these agents pass all five probes as well",
          source="probe(quick(kind)), seed 0, of the five and TD3: "
          "tests/test_probes.py, test_a_right_agent_passes_all"),
    Claim("That is wrong, and still all ten seeds reach Pendulum's bar",
          of_lesson_3.reach_the_bar(10, "maximum for minimum")),
    # --- part 4 and its lab -------------------------------------------------------------------
    Claim("No seed of ten reaches the bar in 12,000 steps",
          lab.reach_the_bar(0, "learning rate / 10")),
    Claim("Nine seeds of ten reach the bar", lab.reach_the_bar(9, "an update every 4 steps")),
    Claim("with ten seeds each; the results are stored",
          lambda: (str(len(lab.final(TAUGHT))), len(lab.final(TAUGHT)) == 10)),
    Claim("later and worse (both p < 0.001). No seed of ten reaches the bar in 12,000 steps",
          both(below(0.001, lab.training(TAUGHT), lab.training("learning rate / 10")),
               below(0.001, lab.final(TAUGHT), lab.final("learning rate / 10")),
               lab.reach_the_bar(0, "learning rate / 10"))),
    Claim("worse after training (p = 0.016): two seeds of ten end near -1560",
          both(with_p(lab.final(TAUGHT), lab.final(LARGE), 0.016), eight_others)),
    Claim("For the other eight no difference is shown", eight_others),
    Claim("misses both in 47 % of the cases", three_of_ten),
    Claim("A study that trains three of these ten seeds", three_of_ten),
    Claim("later (p < 0.001) and worse (p = 0.001). Nine seeds of ten reach the bar",
          both(below(0.001, lab.training(TAUGHT), lab.training("an update every 4 steps")),
               with_p(lab.final(TAUGHT), lab.final("an update every 4 steps"), 0.001),
               lab.reach_the_bar(9, "an update every 4 steps"))),
    Claim("sooner (p = 0.005), no difference shown after training",
          both(with_p(lab.training("layer norm"), lab.training(TAUGHT), 0.005),
               lab.same_after("layer norm"))),
    Claim("Together with ten times the learning rate it ends worse than as taught (p = 0.016), and "
          "seven seeds of ten reach the bar; with that rate alone eight do, and no difference "
          "is shown between these two",
          both(lab.no_difference(f"{LARGE}, layer norm", taught=LARGE),
               with_p(lab.final(TAUGHT), lab.final(f"{LARGE}, layer norm"), 0.016),
               lab.reach_the_bar(7, f"{LARGE}, layer norm"), lab.reach_the_bar(8, LARGE))),
    Claim("later (p = 0.019), no difference shown after training",
          both(with_p(lab.training(TAUGHT), lab.training("rewards as they are"), 0.019),
               lab.same_after("rewards as they are"))),
    Claim("A falling rate, no noise:** no difference shown",
          both(lab.no_difference("learning rate falling"),
               lab.no_difference("no noise"))),
    Claim("Judged by the seeds that miss the bar, three changes matter: a larger learning rate, a "
          "smaller one, and fewer updates", three_matter),
    Claim("With every other single change all ten seeds reach it", three_matter),
    Claim("this table has sixteen p-values", sixteen),
    Claim("later and worse, and no seed of ten reaches the bar in 12,000 steps",
          both(lab.sooner(TAUGHT, "learning rate / 10"), lab.better(TAUGHT, "learning rate / 10"),
               lab.reach_the_bar(0, "learning rate / 10")), file=LAB),
    Claim("worse after training (p = 0.016), two seeds of ten end near -1560",
          both(with_p(lab.final(TAUGHT), lab.final(LARGE), 0.016), eight_others), file=LAB),
    Claim("down to 0 at the end: no difference shown",
          lab.no_difference("learning rate falling"), file=LAB),
    Claim("with normalised layers: no difference shown from the rate alone",
          lab.no_difference(f"{LARGE}, layer norm", taught=LARGE), file=LAB),
    Claim("sooner (p = 0.005), no difference shown after training",
          both(with_p(lab.training("layer norm"), lab.training(TAUGHT), 0.005),
               lab.same_after("layer norm")), file=LAB),
    Claim("later, and worse after training. Nine seeds of ten reach the bar",
          both(lab.sooner(TAUGHT, "an update every 4 steps"),
               lab.better(TAUGHT, "an update every 4 steps"),
               lab.reach_the_bar(9, "an update every 4 steps")), file=LAB),
    Claim("later (p = 0.019), no difference shown after training",
          both(with_p(lab.training(TAUGHT), lab.training("rewards as they are"), 0.019),
               lab.same_after("rewards as they are")), file=LAB),
    Claim("the actor's own action is taken as it is: no difference shown",
          lab.no_difference("no noise"), file=LAB),
    # --- part 5 -------------------------------------------------------------------------------
    Claim("In this run the copy holds the pendulum upright far longer than its teacher",
          source=A_RUN),
    Claim("All gone at the first evaluation, in this run", source=A_RUN),
    Claim("This run keeps what was copied", source=A_RUN),
    Claim("with nine seeds (stored)",
          lambda: (str(len(after_cloning("copied"))), len(after_cloning("copied")) == 9)),
    Claim("the copies are lost as well (p = 0.10: no difference shown)", own_steps_do_not_help),
    Claim("*Goes on imitating*: it keeps more (on average 76 in the five evaluations against 1, "
          "p < 0.001)",
          both(below(0.001, after_cloning(IMITATES), after_cloning(OWN_STEPS)),
               near(lambda: after_cloning(IMITATES).mean(), 76, 0.5),
               near(lambda: after_cloning(OWN_STEPS).mean(), 1, 0.5))),
    Claim("from the first step on: it keeps more again (122, p < 0.001; at the last evaluation "
          "p = 0.04)",
          both(below(0.001, after_cloning("all three"), after_cloning(IMITATES)),
               with_p(at_the_end("all three"), at_the_end(IMITATES), 0.04),
               near(lambda: after_cloning("all three").mean(), 122, 0.5))),
    Claim("most copies are lost at first and come back", lost_and_regained),
    Claim("All nine seeds end above the best copy",
          lambda: (f"{at_the_end('all three').min()} against {after_cloning('copied').max()}",
                   at_the_end("all three").min() > after_cloning("copied").max())),
    # --- part 6 -------------------------------------------------------------------------------
    Claim("Training it takes about 50 seconds of computing",
          near(lambda: computing("td3_PixelPendulum-v0"), 50, 3)),
    Claim("less than a fifth of the computing time", a_fifth),
    Claim("Its mean return is higher (-123 against -157, p < 0.001)", from_numbers),
    # --- part 7 -------------------------------------------------------------------------------
    Claim("needs two hours of training",
          near(lambda: load_results("05_walker")["seconds"] / 3600, 2, 0.1)),
    Claim("an evaluation above 1,000 was followed nine times by one of less than half its return",
          halved),
    Claim("At step 1,285,000 the mean is 3,733", near(lambda: at(1_285_000), 3733, 0.5)),
    Claim("At step 1,290,000 all ten episodes return 15 or less, 7 on average", collapse),
    Claim("5,000 steps later comes the best evaluation of all, 4,039",
          near(lambda: at(1_295_000), best_until(1_300_000), 0)),
    Claim("at step 1,300,000 they have 3,672", near(lambda: at(1_300_000), 3672, 0.5)),
    Claim("best of 260 evaluations", near(lambda: len(walk()[0]), 260, 0)),
    Claim("three agents that had been the best so far, when we looked after 1, 1.1 and 1.3 "
          "million steps, played 100 more episodes each", finalists),
    Claim("There was little luck in it: when they were picked, the three had 3,863, 4,004 and "
          "4,039", picked),
    Claim("Is 4,000 good?", near(final, 4000, 0.5)),
    Claim("after a million the best was 3,863", near(lambda: best_until(1_000_000), 3863, 0.5)),
    Claim("4683 ± 540", source=f"{TD3_PAPER}, table 1"),
    Claim("[the one with the highest mean of the ten]",
          source=f"{TD3_PAPER}, table 1 and section 6.1; github.com/sfujim/TD3/issues/34"),
    Claim("4565 | ten | the last ten of each", source=f"{TD3_PAPER}, table 2"),
    Claim("as PyTorch starts them", source="github.com/sfujim/TD3, TD3.py"),
    Claim("4705 | ten | the last ten of each",
          source="github.com/chainer/chainerrl, examples/mujoco/reproduction/td3/README.md"),
    Claim("3982 ± 275 | ten | as in table 1",
          source="github.com/thu-ml/tianshou, examples/mujoco/README.md, notes 6 and 9"),
    Claim("4058 ± 659 | three | none: returns while training",
          source="github.com/vwxyzjn/cleanrl, docs/rl-algorithms/td3.md: 4057.59 ± 658.78"),
    Claim('DDPG with the networks and settings of TD3 ("Our DDPG") has 3098. The DDPG of OpenAI\'s '
          "Baselines has 1844", source=f"{TD3_PAPER}, table 1 and section 6.1"),
    Claim("4703 ± 33", source="huggingface.co/sb3/td3-Walker2d-v3"),
    Claim("it has published [each evaluation of its ten seeds]", source="its address, in the text"),
    Claim("ten episodes every 5,000 steps, and its networks, batches, rates and noises are ours",
          source="github.com/thu-ml/tianshou, examples/mujoco: README.md, mujoco_td3.py"),
    Claim("One seed cannot say where ours stands", source=ADVICE),
    Claim("The fairest comparison is not the paper but Tianshou", source=ADVICE),
    Claim("by our rule no difference is shown (p = 0.14 and 0.052)",
          both(beside_tianshou(best_of, 0.143), beside_tianshou(last_of, 0.052))),
    Claim("Three seeds can show only a large difference, so this does not prove that there is "
          "none: two of the three end below all of Tianshou's ten", two_below_all),
    Claim("Until version 4 the robot's feet had different friction (left 1.9, right 0.9)",
          source="gymnasium.farama.org/environments/mujoco/walker2d, version history"),
    Claim("HalfCheetah, is the same in both versions",
          source="gymnasium.farama.org/environments/mujoco/half_cheetah, version history"),
    Claim("one seed of ours, trained for 300,000 steps, has a mean of 8,510 in its last ten "
          "evaluations; Tianshou's ten lie between 6,271 and 8,691 at the same steps", cheetah),
    Claim("These two end among Tianshou's ten (p = 0.39: no difference shown), and above our "
          "two low ones", start_as_pytorch),
    Claim("One seed proves little, but it does not look as if our TD3", source=ADVICE),
    Claim("Two trainings against three can be split in only ten ways", ten_ways),
    Claim("By this measure no difference is shown (p = 0.087)", start_tested),
    Claim("They do not settle it: the start of the last layers remains a suspect", start_tested),
    Claim("The last ten evaluations before step 500,000 give p = 0.04",
          near(lambda: permutation_test(*until_half(last_of)), 0.04, 0.005)),
    Claim("whether they are, these trainings do not settle", source=ADVICE),
    Claim("seed 2 is 1,103 behind it in the last ten",
          near(lambda: float(np.ptp(last_of(seeds_of("05_walker_seeds", "td3"))[1:])), 1103, 0.5)),
    # --- appendix -----------------------------------------------------------------------------
    Claim("ten seeds, mean return of 20 episodes",
          lambda: (str(n := len(normalized("none"))), n == 10)),
    Claim("With observations normalised PPO ends better than without (551 against 476, "
          "p = 0.015)", with_p(normalized("obs"), normalized("none"), 0.015)),
    Claim("and so it does with observations and rewards (1,343 against 476, p < 0.001)",
          below(0.001, normalized("both"), normalized("none"))),
    Claim("the seconds of computing, which are those of two seeds each, trained in turn",
          near(lambda: len(load_results("03_beside_sb3")["clock"]) / 3, 2, 0)),
    Claim("no difference over steps is shown (p = 0.83)", beside_a_library),
    Claim("with the same number of steps, ten seeds each",
          lambda: (str(n := len(of_learner("the course's TD3"))), n == 10)),
]  # fmt: skip
