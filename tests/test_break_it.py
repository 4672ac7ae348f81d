"""The labs: every variant changes what it says, and the stored results are those of the code."""

from dataclasses import replace
from importlib import import_module
from operator import attrgetter

import pytest

from helpers.labs import break_it
from helpers.labs.break_it import LABS, POINTS, Variant
from helpers.training.results import load_results

VARIANTS = [
    pytest.param(lesson, variant, id=f"{lesson} {variant.name}")
    for lesson, variants in LABS.items()
    for variant in variants()
]
OFF_POLICY = {"learning_starts": 40, "batch_size": 8, "hidden": 8}


def short(variant: Variant, **changes) -> Variant:
    """The variant with a training of a moment, in which an episode ends."""
    off_policy = variant.setting.agent in ("DDPG", "TD3")
    small = OFF_POLICY if off_policy else {"hidden": 8}
    steps = 1000 if variant.setting.env_id == "MountainCarContinuous-v0" else 200
    setting = replace(variant.setting, steps=steps)
    return replace(variant, setting=setting, changes=variant.changes | small | changes)


@pytest.mark.parametrize(("lesson", "variant"), VARIANTS)
def test_what_a_variant_replaces_exists_and_is_put_back(lesson, variant):
    def now(where):
        module, name = where.split(":")
        return attrgetter(name)(import_module(module))

    before = {where: now(where) for where in variant.replaced}
    with variant.applied():
        assert {where: now(where) for where in variant.replaced} == variant.replaced
        assert all(variant.replaced[where] is not before[where] for where in before)
    assert {where: now(where) for where in variant.replaced} == before
    assert variant.changes.keys() <= variant.setting.make(seed=0).hyperparameters.keys()
    assert len(variant.explanation) > 20


@pytest.mark.parametrize(
    ("lesson", "variant"), [each for each in VARIANTS if each.values[0] == "03"]
)  # 01 and 02 train the same way
def test_a_variant_trains_and_is_measured(lesson, variant):
    name, seed, kept = break_it.run(short(variant), seed=3)
    assert (name, seed) == (variant.name, 3)
    assert len(kept["returns"]) == POINTS
    if variant.watched:
        assert len(kept["estimated"]) == len(kept["obtained"]) == POINTS
        assert all(obtained < 0 for obtained in kept["obtained"])  # Pendulum's penalties


CHANGED = ["one critic", "no minimum", "double Q-learning", "maximum for minimum", "no delay",
           "no smoothing", "one noise for the batch"]  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_what_is_switched_off_makes_a_difference(name):
    lab = {variant.name: variant for variant in LABS["03"]()}
    weights = [
        short(lab[each]).train(seed=3).critic.state_dict() for each in ("TD3 as taught", name)
    ]
    assert any(not weights[0][key].equal(weights[1][key]) for key in weights[0])


@pytest.mark.parametrize("lesson", LABS)
def test_stored_results_are_of_these_variants(lesson):
    stored = load_results(f"{lesson}_break_it")
    runs = {name: entry for name, entry in stored.items() if isinstance(entry, dict)}
    runs = {name: entry for name, entry in runs.items() if "returns" in entry}
    variants = {variant.name: variant for variant in LABS[lesson]()}
    assert list(runs) == list(variants)
    for name, entry in runs.items():
        assert entry["explanation"] == variants[name].explanation
        assert entry["bar"] == variants[name].setting.bar
        assert entry["seeds"] == list(range(10))
        assert entry["steps"][-1] == variants[name].setting.steps
        watched = ("estimated", "obtained") if variants[name].watched else ()
        for key in ("returns", *watched):
            assert [len(run) for run in entry[key]] == [POINTS] * 10
        assert len(entry["evaluations"]) == len(entry["values"]) == 10


def test_unknown_results_name_the_known_ones():
    with pytest.raises(FileNotFoundError, match="02_break_it"):
        load_results("99_break_it")
