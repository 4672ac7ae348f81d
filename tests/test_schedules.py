"""Learning rates that change with the steps: what they say, and that agents obey."""

import functools
import json
import math

import numpy as np
import pytest
import torch
from sentences import assert_one_sentence, one_sentence
from wholes import AGENTS as WHOLES
from wholes import tiny

from helpers.agents import A2C, TD3
from helpers.agents.schedules import KINDS, LinearSchedule, Schedule, as_rate, rate_at
from helpers.memory.buffers import linear_schedule

nan = float("nan")
falling = LinearSchedule(0.01, 0.001, 20)


def rates(agent, *names):
    return [getattr(agent, f"{name}_optimizer").param_groups[0]["lr"] for name in names]


# ---- the schedule --------------------------------------------------------------------------------


def test_it_falls_on_a_straight_line_and_then_stays():
    schedule = LinearSchedule(1.0, 0.25, 100)
    assert [schedule(steps) for steps in (0, 20, 40, 100, 101, 10**9)] == pytest.approx(
        [1.0, 0.85, 0.7, 0.25, 0.25, 0.25]
    )
    assert [schedule(0), schedule(100)] == [1.0, 0.25]  # not only nearly
    assert all(schedule(t) == linear_schedule(t, 100, 1.0, 0.25) for t in range(130))


def test_it_may_rise_as_well_and_end_at_nothing():
    assert LinearSchedule(1e-4, 1e-3, 10)(5) == pytest.approx(5.5e-4)
    assert LinearSchedule(1e-4, 0, 10)(10) == 0


def test_it_says_what_it_is():
    schedule = LinearSchedule(3e-3, 3e-4, 108_000)
    assert (
        repr(schedule) == str(schedule) == "LinearSchedule(start=0.003, end=0.0003, steps=108000)"
    )
    assert eval(repr(schedule)) == schedule
    assert schedule == LinearSchedule(start=0.003, end=0.0003, steps=108_000)
    assert schedule != LinearSchedule(3e-3, 3e-4, 108_001)
    assert {schedule, LinearSchedule(3e-3, 3e-4, 108_000)} == {schedule}


def test_it_cannot_be_changed():
    """Agents and settings share it."""
    with pytest.raises(AttributeError):
        falling.start = 1.0


@pytest.mark.parametrize(
    ("start", "end", "steps"),
    [
        (0, 1, 10), (-1, 1, 10), (1, -1e-9, 10), (1, 0.1, 0), (1, 0.1, 0.5), (1, 0.1, -5),
        (nan, 1, 10), (1, nan, 10), (1, 1, nan), (math.inf, 1, 10), (1, math.inf, 10),
        (1, 1, math.inf), ("1", 1, 10), (1, None, 10), (1, 1, "10"), (True, 1, 10), (1, 1, True),
    ],
)  # fmt: skip
def test_what_cannot_be_a_schedule_is_one_sentence(start, end, steps):
    with pytest.raises(ValueError, match="A LinearSchedule goes") as error:
        LinearSchedule(start, end, steps)
    assert_one_sentence(error.value, "above 0", "1 step", f"start={start!r}", f"steps={steps!r}")


def test_numbers_of_any_kind_are_plain_in_a_file():
    schedule = LinearSchedule(np.float32(0.5), np.int64(0), 1e5)
    assert schedule == LinearSchedule(0.5, 0.0, 100_000)
    assert [type(value) for value in schedule.to_plain().values()] == [str, float, float, int]


# ---- plain values --------------------------------------------------------------------------------


def test_every_kind_is_known_by_its_name():
    assert {
        kind.__name__: kind
        for kind in Schedule.__subclasses__()
        if kind.__module__ == Schedule.__module__
    } == KINDS


def test_a_schedule_comes_back_from_plain_values():
    plain = json.loads(json.dumps(falling.to_plain()))
    assert plain == {"kind": "LinearSchedule", "start": 0.01, "end": 0.001, "steps": 20}
    assert as_rate("rate", plain) == falling
    assert "kind" in plain  # the dictionary that was given is left as it was


def test_numbers_and_schedules_are_rates():
    assert as_rate("rate", 0.5) == 0.5
    assert as_rate("rate", falling) is falling
    assert rate_at(0.5, 10**6) == 0.5
    assert rate_at(falling, 20) == falling(20) == pytest.approx(0.001)


@pytest.mark.parametrize(
    "wrong", [0, -1e-3, nan, math.inf, "1e-3", None, True, [], print, {}, {"kind": "Nonsense"}]
)
def test_what_cannot_be_a_learning_rate_is_one_sentence(wrong):
    name = "critic_learning_rate"
    with one_sentence(ValueError, "schedule" if isinstance(wrong, dict) else name, "Schedule"):
        TD3("Pendulum-v1", **{name: wrong})


# ---- functions -----------------------------------------------------------------------------------


def cosine(steps):
    return 1e-3 * (1 + math.cos(steps / 30))


@pytest.mark.parametrize("rate", [cosine, functools.partial(pow, 0.99)], ids=["function", "object"])
@pytest.mark.parametrize("name", ["td3", "a2c", "ppo", "book"])
def test_any_function_of_the_step_is_a_learning_rate_in_a_session(name, rate, tmp_path):
    where, optimizer = {
        "td3": ("actor_learning_rate", "actor_optimizer"),
        "a2c": ("learning_rate", "policy_optimizer"),
        "ppo": ("learning_rate", "optimizer"),
        "book": ("learning_rate", "actor_optimizer"),
    }[name]
    agent = WHOLES[name](**{where: rate})
    assert getattr(agent, optimizer).param_groups[0]["lr"] == rate(0)
    agent.learn(60)
    due = agent.steps
    assert getattr(agent, optimizer).param_groups[0]["lr"] == rate(due) != rate(0)
    agent.save(tmp_path / "a.pt")
    with one_sentence(ValueError, "no file can hold", f".load(path, {where}="):
        type(agent).load(tmp_path / "a.pt")


OF_STEPS = [
    lambda steps: 3e-4,
    lambda steps: 1e-3 * (1 - steps / 20_000),
    lambda steps: 1e-3 / (1 + steps),
    lambda steps: 1e-3 * 0.5 ** (steps / 1000),
    lambda steps: 1e-3 * min(1, (steps + 1) / 100),  # it warms up
    lambda steps: 5e-4 * (1 + math.cos(math.pi * min(steps, 20_000) / 20_000)),
    [1e-3, 9e-4, 8e-4].__getitem__,
]


@pytest.mark.parametrize("rate", OF_STEPS)
def test_a_function_of_the_steps_is_taken(rate):
    assert as_rate("rate", rate) is rate


def test_a_rate_that_falls_below_0_is_0():
    """Adam would go uphill with it, and an error would come after the training, before `save`."""
    falling = {"actor_learning_rate": lambda step: 1e-3 * (1 - step / 15)}
    agent = TD3("Short-v0", seed=0, **tiny, **falling)
    with pytest.warns(UserWarning, match="actor_learning_rate has fallen below 0") as warned:
        agent.learn(30)
    assert_one_sentence(warned[0].message, "LinearSchedule")
    assert agent.steps == 30
    assert agent.actor_optimizer.param_groups[0]["lr"] == 0


def test_a_rate_that_becomes_nan_ends_training_in_a_sentence():
    agent = TD3(
        "Short-v0", seed=0, **tiny, actor_learning_rate=lambda s: 1e-3 if s < 9 else math.nan
    )
    with one_sentence(ValueError, "actor_learning_rate is nan at step", "schedule"):
        agent.learn(30)


# ---- agents obey ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "actor"), [("a2c", "policy"), ("gaussian", "policy"), ("book", "actor")]
)
def test_an_a2c_actor_follows_its_schedule_and_its_critic_stays(name, actor):
    schedule = LinearSchedule(0.5, 0.05, 90)
    agent, seen = WHOLES[name](learning_rate=schedule), []
    assert rates(agent, actor, "critic") == [0.5, 0.5]
    agent.learn(150, lambda agent: seen.append((agent.steps, *rates(agent, actor, "critic"))))
    assert len({actor_rate for _, actor_rate, _ in seen}) > 3
    assert all(actor_rate == schedule(steps) for steps, actor_rate, _ in seen)
    assert all(critic_rate == 0.5 for *_, critic_rate in seen)
    assert seen[-1][1] == pytest.approx(0.05)


@pytest.mark.parametrize("name", ["ddpg", "td3", "ddpgfd"])
@pytest.mark.parametrize("scheduled", [("actor",), ("critic",), ("actor", "critic")])
def test_an_off_policy_agent_follows_its_schedules_at_every_update(name, scheduled):
    given = {"actor": 0.02, "critic": 0.03} | {
        which: LinearSchedule(0.01, 0.001, 15 if which == "actor" else 20) for which in scheduled
    }
    agent = WHOLES[name](**{f"{which}_learning_rate": rate for which, rate in given.items()})
    seen = {which: [] for which in given}
    for which, values in seen.items():
        optimizer = getattr(agent, f"{which}_optimizer")
        watch(agent, optimizer, values)
    agent.learn(40)
    for which, values in seen.items():
        assert len(values) >= 10
        for steps, used in values:
            assert used == rate_at(given[which], steps), which


def watch(agent, optimizer, values):
    """Note the step and the rate at every step of the optimiser."""
    step = optimizer.step

    def looking():
        values.append((agent.steps, optimizer.param_groups[0]["lr"]))
        step()

    optimizer.step = looking


def test_a_smaller_rate_makes_smaller_steps():
    """Not only a number in the optimiser: with an end of 0 the weights stand still."""
    agent = WHOLES["td3"](actor_learning_rate=LinearSchedule(0.01, 0, 20))

    def weights():
        return torch.cat([p.detach().flatten() for p in agent.actor.parameters()])

    first = weights()
    agent.learn(20)
    stopped = weights()
    agent.learn(20)
    assert not torch.equal(first, stopped)
    assert torch.equal(stopped, weights())


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
