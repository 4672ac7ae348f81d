"""Learning rates that change with the steps: what they say, and that agents obey."""

import json
import math

import numpy as np
import pytest
import torch
from sentences import assert_one_sentence, one_sentence
from wholes import AGENTS as WHOLES

from helpers.agents import A2C
from helpers.agents.checkpoint import as_plain, from_plain
from helpers.agents.schedules import LinearSchedule

nan = float("nan")
falling = LinearSchedule(0.01, 0.001, 20)


# ---- the schedule --------------------------------------------------------------------------------


def test_it_falls_on_a_straight_line_and_then_stays():
    schedule = LinearSchedule(1.0, 0.25, 100)
    assert [schedule(steps) for steps in (0, 20, 40, 100, 101, 10**9)] == pytest.approx(
        [1.0, 0.85, 0.7, 0.25, 0.25, 0.25]
    )
    assert [schedule(0), schedule(100)] == [1.0, 0.25]  # not only nearly
    assert LinearSchedule(1e-4, 1e-3, 10)(5) == pytest.approx(5.5e-4)  # it may rise as well
    assert LinearSchedule(1e-4, 0, 10)(10) == 0


def test_it_comes_back_from_plain_values_and_from_what_is_printed():
    schedule = LinearSchedule(np.float32(0.5), np.int64(0), 1e5)
    assert repr(schedule) == str(schedule) == "LinearSchedule(start=0.5, end=0.0, steps=100000)"
    plain = json.loads(json.dumps(as_plain(schedule)))
    assert plain == {"kind": "LinearSchedule", "start": 0.5, "end": 0.0, "steps": 100_000}
    assert from_plain(plain) == schedule == eval(repr(schedule))
    assert "kind" in plain  # the dictionary that was given is left as it was
    assert schedule != LinearSchedule(0.5, 0.0, 100_001)


@pytest.mark.parametrize(
    ("start", "end", "steps"),
    [
        (0, 1, 10), (1, -1e-9, 10), (1, 0.1, 0.5), (nan, 1, 10), (1, math.inf, 10), (1, 1, nan),
        ("1", 1, 10), (1, None, 10), (1, 1, True),
    ],
)  # fmt: skip
def test_what_cannot_be_a_schedule_is_one_sentence(start, end, steps):
    with one_sentence(ValueError, "A LinearSchedule goes", f"start={start!r}", f"steps={steps!r}"):
        LinearSchedule(start, end, steps)


# ---- functions -----------------------------------------------------------------------------------


def test_a_rate_that_falls_below_0_is_0():
    """Adam would go uphill with it, and an error would come after the training, before `save`."""
    agent = WHOLES["td3"](actor_learning_rate=lambda step: 1e-3 * (1 - step / 15))
    with pytest.warns(UserWarning, match="actor_learning_rate has fallen below 0") as warned:
        agent.learn(30)
    assert_one_sentence(warned[0].message, "LinearSchedule")
    assert agent.steps == 30
    assert agent.actor_optimizer.param_groups[0]["lr"] == 0


def test_a_rate_that_becomes_nan_ends_training_in_a_sentence():
    agent = WHOLES["td3"](actor_learning_rate=([1e-3] * 9 + [math.nan] * 99).__getitem__)
    with one_sentence(ValueError, "actor_learning_rate is nan at step", "schedule"):
        agent.learn(30)


# ---- agents obey ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "setting", "follows", "stays"),
    [
        ("a2c", "learning_rate", "policy", "critic"),
        ("book", "learning_rate", "actor", "critic"),
        ("td3", "actor_learning_rate", "actor", "critic"),
        ("ddpgfd", "critic_learning_rate", "critic", "actor"),
        ("sac", "temperature_learning_rate", "temperature", "critic"),
    ],
)
def test_an_agent_follows_its_schedule_at_every_update(name, setting, follows, stays):
    schedule, used = LinearSchedule(0.01, 0.001, 90), []
    agent = WHOLES[name](**{setting: schedule})
    rates = [getattr(agent, f"{each}_optimizer").param_groups[0] for each in (follows, stays)]
    step, constant = getattr(agent, f"{follows}_optimizer").step, rates[1]["lr"]

    def watched():
        used.append((agent.steps, *(rate["lr"] for rate in rates)))
        step()

    getattr(agent, f"{follows}_optimizer").step = watched
    agent.learn(100)
    assert len({rate for _, rate, _ in used}) > 2
    assert all(each == (each[0], schedule(each[0]), constant) for each in used)


# ---- what a file holds ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plain",
    [
        {"kind": "Nonsense"}, {"kind": []}, {}, {"kind": "LinearSchedule"},
        {"kind": "LinearSchedule", "start": -1.0, "end": 0.1, "steps": 5},
        {"kind": "LinearSchedule", "start": 1.0, "end": 0.1, "stops": 5},
    ],
)  # fmt: skip
def test_a_damaged_schedule_in_a_file_is_one_sentence(tmp_path, plain):
    path = tmp_path / "a.pt"
    A2C("CartPole-v1", hidden=4, learning_rate=falling).save(path)
    content = torch.load(path)
    content["hyperparameters"]["learning_rate"] = plain
    torch.save(content, path)
    with one_sentence(ValueError, "cannot be loaded", str(path)):
        A2C.load(path)
