"""Claims of lesson 03's lab: what `helpers/labs/03_td3.md` says of its variants."""

from functools import partial

from lessons.claims.evidence_03 import (
    LAB,
    MOUNTAIN,
    TAUGHT,
    better_by,
    bias_is,
    five_end_above_0,
    lab,
    last,
    lower_bias,
    same_bias,
    side,
    worst_of_none,
)
from tools.claims import Claim, both, near

no_difference, same_after = lab.no_difference, lab.same_after
NONE, MAX = "none of the three", "maximum for minimum"

in_lab = partial(Claim, file=LAB)

IN_THE_LAB = [
    in_lab(
        "It learns later than TD3 with its own settings; no difference shown after training.",
        both(lab.sooner(TAUGHT, "DDPG"), same_after("DDPG")),
    ),
    in_lab(
        "Its values end at 2 (interquartile mean)",
        near(last("DDPG", "estimated"), 2, 0.5),
    ),
    in_lab("in five seeds of ten above 0", five_end_above_0),
    in_lab(
        "all else as in TD3: the bias is above 0 (7.8), TD3's below it. No difference shown",
        both(side("one critic", 1), bias_is("one critic", 7.8, 0.05), no_difference("one critic")),
    ),
    in_lab(
        "in place of the lower one: the interval of the bias contains 0. No difference shown",
        both(side("no minimum", 0), no_difference("no minimum")),
    ),
    in_lab(
        "(with a single actor): the interval of the bias contains 0",
        both(side("double Q-learning", 0), no_difference("double Q-learning")),
    ),
    in_lab(
        "It learns sooner, and the bias is lower than with delay (-40.5 against -16.3). No "
        "difference shown after training.",
        both(
            lab.sooner("no delay", TAUGHT),
            lower_bias("no delay", TAUGHT),
            bias_is(TAUGHT, -16.3, 0.05),
            same_after("no delay"),
        ),
    ),
    in_lab(
        "it learns later, though all ten seeds reach the bar. No difference shown after training.",
        both(
            lab.sooner(TAUGHT, "delay 8"), lab.reach_the_bar(10, "delay 8"), same_after("delay 8")
        ),
    ),
    in_lab(
        "No difference shown, in the bias (-9.2 against -16.3) or the returns.",
        both(
            same_bias("no smoothing"),
            bias_is("no smoothing", -9.2, 0.05),
            no_difference("no smoothing"),
        ),
    ),
    in_lab(
        "The bias is far lower (-81.5 against -16.3)",
        both(lower_bias("much smoothing", TAUGHT), no_difference("much smoothing")),
    ),
    in_lab(
        "No difference shown, in the bias or the returns.",
        both(same_bias("one noise for the batch"), no_difference("one noise for the batch")),
    ),
    in_lab(
        "It learns sooner than TD3 and than DDPG with lesson 02's settings. No difference shown "
        "after training.",
        both(side(NONE, 1), lab.sooner(NONE, TAUGHT), lab.sooner(NONE, "DDPG"), same_after(NONE)),
    ),
    in_lab(
        "All ten seeds still reach the bar, with a bias of 21",
        both(lab.reach_the_bar(10, MAX), bias_is(MAX, 21)),
    ),
    *(
        in_lab(f"{what} by 0.{tenths} of 93; no difference shown in training.", evidence)
        for what, tenths, evidence in (
            (
                "Lesson 02's agent with lesson 02's settings. Better after training",
                3,
                better_by(0.3, "mountain, DDPG"),
            ),
            (
                "The actor moves at every update. Better after training",
                2,
                better_by(0.2, "mountain, no delay"),
            ),
            (
                "The target actor's action as it is. Better after training",
                3,
                better_by(0.3, "mountain, no smoothing"),
            ),
        )
    ),
    *(
        in_lab(
            f"{what} No difference shown in the returns.",
            no_difference(name, taught=MOUNTAIN),
        )
        for what, name in (
            ("Targets from the first critic alone.", "mountain, one critic"),
            ("The mean of both critics.", "mountain, no minimum"),
        )
    ),
    in_lab(
        "Nine seeds of ten reach the bar; one is at full throttle in every step and never "
        "reaches the flag. No difference shown in the returns.",
        both(
            lab.reach_the_bar(9, "mountain, none of the three"),
            near(worst_of_none, -99.9, 0.05),
            no_difference("mountain, none of the three", taught=MOUNTAIN),
        ),
    ),
    in_lab("one seed of ten reaches the bar", lab.reach_the_bar(1, "mountain, slow targets")),
]
