"""The labs: every variant changes what it says, and the stored results are those of the code."""

import json
from dataclasses import replace
from functools import partial
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest
import torch

from helpers.agents.td3 import TD3
from helpers.labs import break_it
from helpers.labs.break_it import POINTS
from helpers.labs.variants import LABS, Variant, load_lab, variants
from helpers.training import overestimation

SEEDS = {
    "03b": list(range(10, 20)),
    "06b": list(range(120, 130)),
    "08": list(range(10, 20)),
    "08b": list(range(10, 20)),
}
VARIANTS = [
    pytest.param(lesson, variant, id=f"{lesson} {variant.name}")
    for lesson in LABS
    for variant in variants(lesson)
]
OFF_POLICY = {"learning_starts": 40, "batch_size": 8, "hidden": 8}


def short(variant: Variant, **changes) -> Variant:
    """The variant with a training of a moment, in which an episode ends."""
    off_policy = variant.setting.algorithm in ("ddpg", "td3")
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
def test_a_variant_trains_and_is_measured(lesson, variant, monkeypatch):
    monkeypatch.setattr(break_it, "POINTS", 2)
    monkeypatch.setattr(overestimation, "EPISODES", 1)  # they are long
    monkeypatch.setattr(break_it, "evaluate", partial(break_it.evaluate, episodes=1))
    name, seed, kept = break_it.run(short(variant), seed=3)
    assert (name, seed) == (variant.name, 3)
    assert len(kept["returns"]) == 2
    if variant.watched:
        assert len(kept["estimated"]) == len(kept["obtained"]) == 2
        assert all(obtained < 0 for obtained in kept["obtained"])  # Pendulum's penalties


CHANGED = ["one critic", "maximum for minimum", "no delay", "no smoothing"]


def test_what_is_switched_off_makes_a_difference():
    lab = {variant.name: variant for variant in variants("03")}
    taught, *others = (
        short(lab[name]).train(seed=3).critic.state_dict() for name in ("TD3 as taught", *CHANGED)
    )
    for name, weights in zip(CHANGED, others, strict=True):
        # More than the rounding by which updates in numpy differ.
        assert any(not torch.allclose(weights[key], taught[key], atol=1e-4) for key in taught), name


@pytest.mark.parametrize("lesson", LABS)
def test_stored_results_are_of_these_variants(lesson):
    runs = load_lab(lesson)
    assert list(runs) == [variant.name for variant in variants(lesson)]
    seeds = SEEDS.get(lesson, list(range(10)))
    for variant in variants(lesson):
        entry = runs[variant.name]
        assert entry["explanation"] == variant.explanation
        assert entry["bar"] == variant.setting.bar
        assert entry["seeds"] == seeds
        assert entry["steps"][-1] == variant.setting.steps
        watched = ("estimated", "obtained") if variant.watched else ()
        for key in ("returns", *watched):
            assert [len(run) for run in entry[key]] == [POINTS] * len(seeds)
        assert len(entry["evaluations"]) == len(entry["values"]) == len(seeds)


def test_one_variant_can_be_trained_anew_and_the_others_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(break_it, "RESULTS", tmp_path)
    stored = load_lab("03")
    monkeypatch.setattr(break_it, "load_results", lambda name: stored)
    new = {"no delay": {"returns": [], "bar": 0}}
    monkeypatch.setattr(break_it, "study", lambda lesson, names, seeds, jobs: new)
    assert break_it.main(["03", "--only", "no delay"]) == 0
    written = json.loads((tmp_path / "03_break_it.json").read_text())
    assert written["no delay"] == new["no delay"]
    assert written["one critic"] == stored["one critic"]
    with pytest.raises(SystemExit):
        break_it.main(["03", "--only", "no such variant"])


@pytest.mark.parametrize("seeds", ["ten", "3"])
def test_what_cannot_be_trained_is_said_in_a_sentence(monkeypatch, capsys, seeds):
    def run(variant, seed):
        raise ValueError("Nowhere-v0 needs a package that is missing.")

    monkeypatch.setattr(break_it, "run", run)
    with pytest.raises(SystemExit):
        break_it.main(["05", "--seeds", seeds, "--jobs", "1"])
    says = {"ten": "Seeds are written as 0-9", "3": "needs a package that is missing"}
    assert says[seeds] in capsys.readouterr().err


def test_a_study_that_was_stopped_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(break_it, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(break_it, "UNFINISHED", tmp_path / "runs")
    trained = []

    def run(variant, seed):
        if len(trained) == 3:
            raise KeyboardInterrupt
        trained.append((variant.name, seed))
        numbers = {"returns": [0.0] * POINTS, "evaluations": float(seed), "values": 0.0}
        return variant.name, seed, numbers

    monkeypatch.setattr(break_it, "run", run)
    command = ["05", "--seeds", "3-4", "--jobs", "1"]
    with pytest.raises(KeyboardInterrupt):
        break_it.main(command)
    names = [variant.name for variant in variants("05")]
    assert trained == [(name, 3) for name in names[:3]]  # seed by seed
    trained.append("stopped")
    assert break_it.main(command) == 0
    again = [each for each in trained if each != "stopped"]
    assert sorted(again) == sorted((name, seed) for name in names for seed in (3, 4))
    written = json.loads((tmp_path / "results" / "05_break_it.json").read_text())
    assert all(written[name]["evaluations"] == [3.0, 4.0] for name in names)
    assert not list((tmp_path / "runs").rglob("*.json"))


def test_what_was_kept_of_another_setting_is_not_gone_on_with(tmp_path, monkeypatch):
    monkeypatch.setattr(break_it, "UNFINISHED", tmp_path)
    monkeypatch.setattr(break_it, "run", lambda variant, seed: (variant.name, seed, len(trained)))
    one, trained = variants("05")[0], []
    longer = replace(one, setting=replace(one.setting, steps=one.setting.steps + 1))
    for variant, expected in ((one, 0), (one, 0), (longer, 2)):
        monkeypatch.setattr(break_it, "variants", lambda lesson, variant=variant: [variant])
        assert break_it.run_named("05", one.name, 3) == (one.name, 3, expected)
        trained.append(variant)


def test_a_variants_file_says_what_is_wrong_with_it(monkeypatch, tmp_path):
    for text, says in [
        ("## a\nno setting at all here\n", "begins with `algorithm environment`"),
        ("## a\ntd3 Pendulum-v1\nmistake 3.3: no such\n", "3.3 has no mistake called 'no such'"),
        ("## a\ntd3 Nowhere-v0\n", "No lesson trains td3 on Nowhere-v0"),
    ]:
        file = tmp_path / "98.md"
        file.write_text(text)
        monkeypatch.setitem(LABS, "98", file)
        variants.cache_clear()
        with pytest.raises(ValueError, match=says):
            variants("98")


def test_a_value_is_in_the_environments_rewards(monkeypatch):
    """However they were scaled for learning."""
    agent = TD3("Pendulum-v1", seed=0, reward_scale=0.1, normalize=("rewards",), learning_starts=50)
    agent.learn(60)
    assert agent.reward_factor != agent.reward_scale
    worth = -3 * agent.reward_factor / (1 - agent.gamma)  # of earning -3 for ever
    monkeypatch.setattr(agent, "value", lambda obs: torch.full((len(obs),), worth))
    assert break_it.value_at_start(agent) == pytest.approx(-3)


@pytest.mark.parametrize("path", sorted(Path("data/measure").glob("*.py")), ids=lambda p: p.stem)
def test_what_measured_stored_results_still_finds_what_it_uses(path):
    import_module(f"data.measure.{path.stem}")
