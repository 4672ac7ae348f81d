"""What lesson 04 and its lab say was measured, and the data that bear it out."""

import numpy as np

from helpers.demos.files import load_demos
from helpers.training.results import load_results
from helpers.training.settings import DEMOS, get_setting
from lessons.claims.evidence_04 import (
    FASTER,
    PAPER,
    SPARSE,
    TAUGHT,
    THIS_RUN,
    copies,
    corridor,
    corridor_limit,
    cost,
    in_corridor,
    lab,
    lab_02,
    no_correlation,
    python_trees,
    says,
    seconds,
    silent,
    skilled,
    teacher,
    training_seconds,
    two_kinds,
    updates,
    variants_of_lab,
)
from lessons.claims.lesson_04_lab import IN_THE_LAB
from tools.claims import Claim, alike, at_the_bar, both, higher, means, near, p_is, twenty_seeds

no_difference = lab.no_difference
OTHERS = (
    "uniform replay", "no weights", "no bonus", "no slope in the priority", "no pre-training",
    "one step only", "one update a step",
)  # fmt: skip

CLAIMS = [
    Claim(
        "the agent ends up doing it better than this teacher.",
        both(
            at_the_bar(f"ddpgfd_{SPARSE}", 20),
            lambda: higher(
                means(f"ddpgfd_{SPARSE}"), load_demos(DEMOS / "clumsy_pendulum.npz").returns
            ),
        ),
    ),
    Claim(
        "All training together: about two minutes",
        says(training_seconds, lambda found: 100 < found < 135),
    ),
    Claim(
        "The agent quickly found a local minimum on the outside of the socket",
        source=f"{PAPER}, section 4",
    ),
    Claim("Nothing, or next to nothing.", source=THIS_RUN),
    Claim(
        "was enough for all ten seeds, and without it no seed of ten got there:",
        both(
            lab_02.reach_the_bar(10, "on the mountain"),
            lab_02.reach_the_bar(0, "mountain, no correlation at all"),
        ),
    ),
    # --- copies
    Claim(
        "In this run the copy of the clumsy teacher is far better than the teacher.",
        source=THIS_RUN,
    ),
    Claim(
        "no critic, only a second or two",
        says(lambda: seconds(f"bc_{SPARSE}"), lambda found: found < 2),
    ),
    Claim(
        "A teacher that is only late gets 40, and all ten copies of it get more than 119.",
        both(
            near(lambda: teacher(True, False, False)["teacher"].mean(), 40, 0.5),
            says(
                lambda: teacher(True, False, False)["copies"],
                lambda found: found.min() > 119 and len(found) == 10,
            ),
        ),
    ),
    Claim(
        "Copies of a late teacher that slips as well are worse than those of one that does not (on "
        "average 73 against 131).",
        both(
            lambda: higher(
                teacher(True, False, False)["copies"], teacher(True, False, True)["copies"]
            ),
            near(lambda: teacher(True, False, True)["copies"].mean(), 73, 0.5),
            near(lambda: teacher(True, False, False)["copies"].mean(), 131, 0.5),
        ),
    ),
    Claim(
        "Where the teacher is not late, no copies are shown to be better",
        says(
            lambda: [
                higher(found["copies"], found["teacher"])
                for few in (False, True)
                for slips in (False, True)
                for found in [teacher(False, few, slips)]
            ],
            lambda found: not any(better for _, better in found),
        ),
    ),
    Claim(
        "those of three of the four teachers are worse (with few torques alone $p = 0.04$), and "
        "with few torques and slips no difference is shown.",
        both(
            lambda: higher(*teacher(False, False, False).values()),
            lambda: higher(*teacher(False, False, True).values()),
            lambda: higher(*teacher(False, True, False).values()),
            lambda: alike(*teacher(False, True, True).values()),
            p_is(
                0.04,
                lambda: teacher(False, True, False)["teacher"],
                lambda: teacher(False, True, False)["copies"],
            ),
        ),
    ),
    Claim("each copy stands for less than 62 steps or for more than 134", two_kinds),
    Claim("In this run both get much less than before", source=THIS_RUN),
    Claim(
        "in proportion to the square of the length of an episode",
        source="Ross & Bagnell 2010, theorem 2.1",
    ),
    # --- priorities
    Claim(
        "Only 2.1 times as long, for a memory",
        near(lambda: cost()["ours"][-1] / cost()["ours"][0], 2.1, 0.05),
    ),
    Claim(
        "took 9 to 23 times as long as ours",
        says(
            lambda: (python_trees().min().round(1), python_trees().max().round(1)),
            lambda found: round(found[0]) == 9 and round(found[1]) == 23,
        ),
    ),
    Claim("and $\\alpha = 0.6$", source="Schaul et al. 2016, section 4, proportional variant"),
    # --- the corridor
    Claim(
        "after 40,000 draws 0.85 of the true one, with uniform draws 0.22.",
        both(
            corridor("by TD error", "uniform draws", "value"),
            near(lambda: in_corridor("by TD error", "value").mean(), 0.85, 0.005),
            near(lambda: in_corridor("uniform draws", "value").mean(), 0.22, 0.005),
        ),
    ),
    Claim(
        "For finding the way no difference is shown",
        lambda: alike(in_corridor("by TD error", "found"), in_corridor("uniform draws", "found")),
    ),
    Claim(
        "finds the way sooner, after 4,430 draws in place of 15,839 by TD error alone, and the "
        "values end up right.",
        both(
            corridor("by TD error, with bonus", "by TD error", "found"),
            corridor("by TD error, with bonus", "by TD error", "value"),
            near(lambda: np.median(in_corridor("by TD error, with bonus", "found")), 4430, 0.6),
            near(lambda: np.median(in_corridor("by TD error", "found")), 15839, 0.6),
            near(lambda: in_corridor("by TD error, with bonus", "value").min(), 1, 0.01),
        ),
    ),
    Claim(
        "find the way sooner as well, after 5,363 draws in place of 16,108 (both draw uniformly).",
        both(
            corridor("uniform, 5-step target too", "uniform draws", "found"),
            near(lambda: np.median(in_corridor("uniform, 5-step target too", "found")), 5363, 0.6),
            near(lambda: np.median(in_corridor("uniform draws", "found")), 16108, 0.6),
        ),
    ),
    Claim(
        "But their value ends at 0.06 of the true one.",
        near(lambda: in_corridor("uniform, 5-step target too", "value").mean(), 0.06, 0.005),
    ),
    Claim(
        "at convergence the value would be 0.07.",
        near(corridor_limit, 0.07, 0.005),
    ),
    Claim(
        "find the way soonest, after 2,440 draws.",
        both(
            *(
                corridor("all three", other, "found")
                for other in ("by TD error, with bonus", "uniform, 5-step target too")
            ),
            near(lambda: np.median(in_corridor("all three", "found")), 2440, 0.6),
        ),
    ),
    Claim(
        "their value ends at 0.14 of the true one, where the same rule of drawing with one-step "
        "targets alone ends at 1.00.",
        both(
            corridor("by TD error, with bonus", "all three", "value"),
            near(lambda: in_corridor("all three", "value").mean(), 0.14, 0.005),
            near(lambda: in_corridor("by TD error, with bonus", "value").mean(), 1, 0.005),
        ),
    ),
    Claim(
        "Here one transition in two thousand is rewarded; in our file of the pendulum one in six "
        "is.",
        near(lambda: 1 / load_demos(DEMOS / "clumsy_pendulum.npz").reward.mean(), 6, 0.5),
    ),
    # --- DDPGfD
    Claim(
        "to stabilize the final learning performance",
        source=f"{PAPER}, section 3",
    ),
    Claim(
        "critical for the pre-training to have any effect",
        source="Hester et al. 2018, section Deep Q-Learning from Demonstrations",
    ),
    Claim(
        "on average 34 rewards in each",
        near(lambda: load_demos(DEMOS / "clumsy_pendulum.npz").returns.mean(), 34, 0.5),
    ),
    Claim(
        "100 episodes of about 25 steps, one reward in each", source=f"{PAPER}, sections 5 and 6"
    ),
    Claim("In this run the pupil stands longer than the copy.", source=THIS_RUN),
    Claim("at the end their share of a batch is above their share of the memory", source=THIS_RUN),
    Claim("stands for 142 steps on average over a hundred other starts.", near(skilled, 142, 0.5)),
    Claim(
        "DDPGfD's median over twenty seeds is 145: about as long.",
        near(lambda: np.median(means(f"ddpgfd_{SPARSE}")), 145, 0.5),
    ),
    Claim("In this run DDPGfD keeps more of its return than the copies.", source=THIS_RUN),
    Claim(
        "With half as many steps as that agent had, it reaches the same bar, though not with "
        "fewer updates (14,000 against 11,000;",
        both(
            at_the_bar("ddpgfd_Pendulum-v1", 20),
            says(
                lambda: [get_setting(name, "Pendulum-v1") for name in ("ddpgfd", "ddpg")],
                lambda found: (
                    2 * found[0].steps == found[1].steps
                    and found[0].bar == found[1].bar
                    and list(map(updates, found)) == [14_000, 11_000]
                ),
            ),
        ),
    ),
    # --- twenty seeds
    Claim(
        "reaches the bar with two seeds of twenty; one more comes near it (118), seven stand for "
        "moments (three of these round to 0), and ten never stand in their evaluation.",
        both(
            at_the_bar(f"ddpg_{SPARSE}", 2),
            says(
                lambda: np.sort(means(f"ddpg_{SPARSE}")),
                lambda found: (
                    (found == 0).sum() == 10
                    and (np.round(found) == 0).sum() == 13
                    and found[16] < 8
                    and round(found[17]) == 118
                ),
            ),
        ),
    ),
    Claim(
        "eleven of twenty stand for 26 steps or less, the others for 115 or more.",
        says(
            lambda: np.sort(means(f"bc_{SPARSE}")),
            lambda found: found[10] < 26.5 and found[11] >= 115 and len(found) == 20,
        ),
    ),
    Claim(
        "it is between 0.354 and 0.367 for all of them, and no correlation with the return is "
        "shown.",
        both(
            no_correlation,
            near(lambda: copies("loss").min(), 0.354, 0.0005),
            near(lambda: copies("loss").max(), 0.367, 0.0005),
        ),
    ),
    Claim(
        "reaches the bar with all twenty seeds, none of which was used to find its settings.",
        at_the_bar(f"ddpgfd_{SPARSE}", 20),
    ),
    Claim(
        "It stands longer than the copies (143 steps on average against 64) and than DDPG alone.",
        both(
            lambda: higher(means(f"ddpgfd_{SPARSE}"), means(f"bc_{SPARSE}")),
            lambda: higher(means(f"ddpgfd_{SPARSE}"), means(f"ddpg_{SPARSE}")),
            near(lambda: means(f"ddpgfd_{SPARSE}").mean(), 143, 0.5),
            near(lambda: means(f"bc_{SPARSE}").mean(), 64, 0.5),
        ),
    ),
    # --- break it
    Claim(
        "with an empty memory no seed of ten reaches the bar.",
        both(lab.reach_the_bar(0, "no demonstrations"), lab.better(TAUGHT, "no demonstrations")),
    ),
    Claim(
        "Between one episode and twenty no difference is shown", no_difference("one demonstration")
    ),
    Claim("solved its task with a single demonstration, too", source=f"{PAPER}, section 6"),
    Claim(
        "without it two seeds of ten fail, with returns of 0 and 15; with five demonstrations (and "
        "L2) one fails.",
        both(
            lab.reach_the_bar(8, "no L2"),
            lab.reach_the_bar(9, "five demonstrations"),
            says(
                lambda: np.sort(lab.final("no L2"))[:2],
                lambda found: list(found.round()) == [0, 15],
            ),
        ),
    ),
    Claim(
        "Over ten seeds no difference is shown for either.",
        no_difference("no L2", "five demonstrations"),
    ),
    Claim(
        "five episodes of each: no difference shown.",
        no_difference("five of the skilled teacher", taught="five demonstrations"),
    ),
    Claim(
        "(The table's p of 0.0043", lab.p_training(0.0043, "five of the skilled teacher", TAUGHT)
    ),
    Claim(
        "for priorities, weights, bonus, slope, pre-training, n-step targets and one update a step "
        "no difference is shown.",
        no_difference(*OTHERS),
    ),
    Claim("make wrong targets, and no difference is shown.", no_difference("windows over the end")),
    Claim(
        "In 90 % of the states in its memory its action is beyond ±0.99",
        near(lambda: silent("five demonstrations", 2)["share beyond 0.99"], 0.9, 0.005),
    ),
    Claim(
        "the mean slope of the tanh is 0.07, and 0.45 in a seed that learned.",
        both(
            near(lambda: silent("five demonstrations", 2)["mean slope of the tanh"], 0.07, 0.005),
            near(lambda: silent("five demonstrations", 0)["mean slope of the tanh"], 0.45, 0.005),
        ),
    ),
    Claim(
        "A failed seed without L2 was the same, only more so: all actions at the limit.",
        near(lambda: silent("no L2", 1)["share beyond 0.99"], 1, 0.00005),
    ),
    Claim("(about 40 seconds a seed)", near(lambda: seconds(f"ddpgfd_{SPARSE}") / FASTER, 40, 5)),
    Claim(
        "On the dense Pendulum all twenty reach the bar, too, with a mean return of -129.6; lesson "
        "02's DDPG, with twice as many steps, ends better, at -121.6.",
        both(
            at_the_bar("ddpgfd_Pendulum-v1", 20),
            lambda: higher(means("ddpg_Pendulum-v1"), means("ddpgfd_Pendulum-v1")),
            near(lambda: means("ddpgfd_Pendulum-v1").mean(), -129.6, 0.05),
            near(lambda: means("ddpg_Pendulum-v1").mean(), -121.6, 0.05),
        ),
    ),
    Claim(
        "was not copied here: all copies of a teacher that is only late beat it.",
        says(
            lambda: teacher(True, False, False),
            lambda found: found["copies"].min() > found["teacher"].mean(),
        ),
    ),
    Claim(
        "RLPD's authors found that values can diverge when a file is simply put into the memory",
        source="Ball et al. 2023, and their page sites.google.com/view/rlpdata",
    ),
    # --- sentences that say what is stored, or repeat what was said above
    Claim("On the pendulum no difference is shown for most of these ideas", no_difference(*OTHERS)),
    Claim(
        "Ten seeds of each are stored:",
        says(
            lambda: [len(r["found"]) for r in load_results("04_corridor")["results"].values()],
            lambda found: found == 5 * [10],
        ),
    ),
    Claim(
        "## Better than its teacher",
        says(
            lambda: (means(f"ddpgfd_{SPARSE}").min(), teacher(True, True, True)["teacher"].mean()),
            lambda found: found[0] > found[1],
        ),
    ),
    Claim(
        "Each variant was trained with ten seeds and one thing changed",
        says(
            lambda: {len(runs["evaluations"]) for runs in variants_of_lab()},
            lambda found: found == {10},
        ),
    ),
    Claim(
        "the mean returns of 25 equal parts of the training: higher is sooner.",
        source="helpers.labs.break_it.curve",
    ),
    Claim(
        "better or sooner is said only with p < 0.05",
        source="the rule of tools.claims",
    ),
    Claim("Turn one knob and train three seeds.", source="what the cell does"),
    Claim(
        "The band is the middle half of the lab's ten seeds",
        says(lambda: len(lab.final(TAUGHT)), lambda found: found == 10),
    ),
    Claim(
        "Twenty seeds on which nothing was tuned",
        twenty_seeds("ddpgfd_SparsePendulum-v0", "ddpgfd_Pendulum-v1"),
    ),
    Claim(
        "n-step targets carry rewards back sooner and have an off-policy bias",
        both(
            corridor("uniform, 5-step target too", "uniform draws", "found"),
            corridor("by TD error, with bonus", "all three", "value"),
        ),
    ),
    Claim(
        "Why can a copy be better than its teacher, and when can it not?",
        source="a question; its answer has its own claim",
    ),
    *IN_THE_LAB,
]
