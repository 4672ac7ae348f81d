"""Claims of lesson 04's lab: what `helpers/labs/04_ddpgfd.md` says of its variants."""

from functools import partial

from helpers.demos.files import load_demos
from helpers.training.settings import DEMOS
from lessons.claims.evidence_04 import LAB, TAUGHT, corridor, lab, says, silent
from tools.claims import Claim, both, near

no_difference = lab.no_difference
in_lab = partial(Claim, file=LAB)

IN_THE_LAB = [
    in_lab(
        "no seed of ten reaches the bar, and none ever stands at the end.",
        says(lambda: lab.final("no demonstrations").max(), lambda found: found == 0),
    ),
    in_lab(
        "all ten seeds reach the bar, and no difference from twenty is shown.",
        both(lab.reach_the_bar(10, "one demonstration"), no_difference("one demonstration")),
    ),
    in_lab(
        "nine seeds of ten reach the bar, no difference shown.",
        both(lab.reach_the_bar(9, "five demonstrations"), no_difference("five demonstrations")),
    ),
    in_lab(
        "ends on the flat part of the tanh in 90 % of its states",
        near(lambda: silent("five demonstrations", 2)["share beyond 0.99"], 0.9, 0.005),
    ),
    in_lab(
        "Demonstrations that stand for 143 steps in place of 34: all ten seeds reach the bar. It "
        "learns later than with twenty clumsy ones (p = 0.004). Against five clumsy ones no",
        both(
            near(lambda: load_demos(DEMOS / "sparse_pendulum.npz").returns.mean(), 143, 0.5),
            near(lambda: load_demos(DEMOS / "clumsy_pendulum.npz").returns.mean(), 34, 0.5),
            lab.reach_the_bar(10, "five of the skilled teacher"),
            lab.later("five of the skilled teacher", TAUGHT, most=0.0045),
            no_difference("five of the skilled teacher", taught="five demonstrations"),
        ),
    ),
    in_lab(
        "The first update comes with the first step: no difference shown.",
        no_difference("no pre-training"),
    ),
    in_lab(
        "every transition equally likely: no difference shown.",
        no_difference("uniform replay"),
    ),
    in_lab(
        "so that the critic's mean is over what is drawn: no difference shown.",
        no_difference("no weights"),
    ),
    in_lab(
        "Demonstrations have no extra priority: no difference shown.",
        no_difference("no bonus"),
    ),
    in_lab(
        "without the slope of Q: no difference shown.",
        no_difference("no slope in the priority"),
    ),
    in_lab("No n-step targets: no difference shown.", no_difference("one step only")),
    in_lab(
        "They carry rewards back sooner, and have an off-policy bias",
        both(
            corridor("uniform, 5-step target too", "uniform draws", "found"),
            corridor("by TD error, with bonus", "all three", "value"),
        ),
    ),
    in_lab(
        "n-step windows run on into the next episode: no difference shown. About one target in "
        "twenty is wrong, and all ten seeds reach the bar.",
        both(no_difference("windows over the end"), lab.reach_the_bar(10, "windows over the end")),
    ),
    in_lab(
        "two seeds of ten fail, with returns of 0 and 15; no difference shown.",
        both(lab.reach_the_bar(8, "no L2"), no_difference("no L2")),
    ),
    in_lab(
        "Half as many updates: all ten seeds reach the bar, and no difference is shown.",
        both(lab.reach_the_bar(10, "one update a step"), no_difference("one update a step")),
    ),
]
