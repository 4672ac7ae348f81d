"""What environments give, in all forms that people give it: taken as it is, or refused."""

import threading
import tracemalloc
import warnings

import gymnasium as gym
import numpy as np
import pytest
from environments import TORQUE
from gymnasium import spaces
from gymnasium.envs.classic_control.pendulum import PendulumEnv
from gymnasium.wrappers import MaxAndSkipObservation, TimeLimit
from sentences import one_sentence

from helpers.agents import A2C, PPO, SAC, TD3, ReinforceWithBaseline
from helpers.demos.files import record_demos
from helpers.envs.make import env_id, make_env
from helpers.envs.pixels import Pixels
from helpers.evaluation import evaluate
from helpers.show.video import record

TINY = {"learning_starts": 20, "batch_size": 8, "buffer_size": 500, "hidden": 4, "seed": 0}
ROLLOUTS = {"n_envs": 2, "n_steps": 8, "hidden": 4, "seed": 0}
SETTINGS = {
    TD3: TINY, SAC: TINY, A2C: ROLLOUTS, PPO: ROLLOUTS,
    ReinforceWithBaseline: {"hidden": 4, "seed": 0},
}  # fmt: skip
# One of those with a memory, one of those with rollouts, and the one without either.
KINDS = pytest.mark.parametrize("kind", [TD3, PPO, ReinforceWithBaseline])
BOX = spaces.Box(-1, 1, (1,))


class Giving(gym.Env):
    """Episodes of five steps; gives what it is told to, or what a function makes of it."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012
    render_mode = "rgb_array"

    def __init__(self, obs=None, space=BOX, info=None, reward=1.0, picture=None, action=TORQUE):
        self.obs, self.info, self.reward, self.picture = obs, info or {}, reward, picture
        self.observation_space, self.action_space = space, action

    def shown(self):
        obs = np.zeros(self.observation_space.shape) if self.obs is None else self.obs
        return tuple(each(self) if callable(each) else each for each in (obs, self.info))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self.shown()

    def step(self, action):
        self.t += 1
        reward = self.reward(self) if callable(self.reward) else self.reward
        obs, info = self.shown()
        return obs, reward, False, self.t == 5, info

    def render(self):
        return self.picture


def trained(kind, steps=40, settings=(), **given):
    """An agent that has learned where this is given."""
    action = spaces.Discrete(2) if kind is ReinforceWithBaseline else TORQUE
    make = lambda: Giving(**{"action": action} | given)  # noqa: E731
    return kind(make, **SETTINGS[kind] | dict(settings)).learn(steps)


def whole(dtype, least=0, most=100):
    return spaces.Box(least, most, (2,), dtype)


# ---- observations --------------------------------------------------------------------------------

ANY = {dtype: spaces.Box(-np.inf, np.inf, (2,), dtype) for dtype in ("f2", "f4", "f8")}
TAKEN = {
    "whole floats in int64": (whole(np.int64), np.array([3.0, 7.0]), np.int64),
    "int64 in uint8": (whole(np.uint8, 0, 255), np.array([200, 7]), np.uint8),
    "bool in int8": (whole(np.int8), np.array([True, False]), np.int8),
    "int64 in float32": (ANY["f4"], np.array([3, 7]), np.float32),
    "a list": (whole(np.uint8), [3, 7], np.uint8),
    "float64 in float32": (ANY["f4"], np.array([0.1, 7]), np.float64),  # not rounded
    "float16 in float64": (ANY["f8"], np.array([0.5, 7], np.float16), np.float16),
}
REFUSED = {
    "floats in int64": (whole(np.int64), np.array([0.3, 7.9])),
    "200 in int8": (whole(np.int8), np.array([200, 1])),
    "-1 in uint8": (whole(np.uint8), np.array([-1, 1])),
    "NaN in int64": (whole(np.int64), np.array([np.nan, 1])),
    "1e5 in float16": (ANY["f2"], np.array([1e5, 1])),
    "1e300 in float64": (ANY["f8"], np.array([1e300, 1])),
    "NaN": (ANY["f4"], np.float32([np.nan, 1])),
    "infinity": (ANY["f8"], np.array([-np.inf, 1])),
    "pixels from 0 to 1": (spaces.Box(0, 255, (1, 8, 8), np.uint8), np.full((1, 8, 8), 0.5)),
}
PARTS = {
    "NaN in a part of int64": (whole(np.int64), np.array([np.nan, 1])),
    "200 in a part of int8": (whole(np.int8), np.array([200, 1])),
    "0.5 in a part of int8": (whole(np.int8), np.array([0.5, 1])),
    "NaN in a part": (ANY["f4"], np.array([np.nan, 1])),
    "texts in a part": (ANY["f4"], np.array(["0.5", "1"])),
}


@KINDS
@pytest.mark.parametrize("name", TAKEN)
def test_what_the_type_of_the_space_can_hold_is_taken(kind, name):
    space, obs, dtype = TAKEN[name]
    agent = trained(kind, obs=obs, space=space)
    for each in agent.last.transitions:
        assert each.next_obs.dtype == dtype
        np.testing.assert_array_equal(each.next_obs, obs)
    if kind is PPO:  # in gymnasium's arrays as well
        np.testing.assert_array_equal(agent.obs, np.array([obs] * 2, space.dtype))
    assert evaluate(agent, episodes=1).mean == 5


@KINDS
@pytest.mark.parametrize("name", REFUSED)
def test_what_it_cannot_hold_is_one_sentence(kind, name):
    space, obs = REFUSED[name]
    if len(space.shape) > 1 and kind is not TD3:
        pytest.skip("sees no pictures")
    with one_sentence(ValueError, "environment returned the observation [", "mend one of them"):
        trained(kind, obs=obs, space=space)


@pytest.mark.parametrize("name", REFUSED)
def test_nor_is_it_played_or_recorded(name):
    space, obs = REFUSED[name]
    given = {"obs": obs, "space": space}
    gym.register("Giving-v0", Giving, disable_env_checker=True, kwargs=given)
    try:
        for use in (evaluate, record_demos):
            with one_sentence(ValueError, "environment returned the observation", "mend one"):
                use(lambda obs: np.zeros(1), "Giving-v0", episodes=1)
    finally:
        del gym.registry["Giving-v0"]


@KINDS
@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("joined", ["Dict", "Tuple"])
def test_no_part_is_another_than_was_given(kind, name, joined):
    part, wrong = PARTS[name]
    space, obs = spaces.Dict(a=part, b=BOX), {"a": wrong, "b": np.zeros(1)}
    if joined == "Tuple":
        space, obs = spaces.Tuple(space.values()), tuple(obs.values())
    with one_sentence(ValueError, "environment returned the observation", joined, "mend one of"):
        trained(kind, obs=obs, space=space)
    action = spaces.Discrete(2) if kind is ReinforceWithBaseline else TORQUE
    agent = kind(lambda: Giving(space=space, action=action), **SETTINGS[kind])
    with one_sentence(ValueError, "predict takes an observation, which"):
        agent.predict(obs)


def test_a_memory_of_pictures_takes_no_floats():
    space = spaces.Box(0, 255, (1, 8, 8), np.uint8)
    agent = TD3(lambda: Giving(space=space), **TINY)
    half, full = np.full((1, 8, 8), 0.5), np.full((1, 8, 8), 200.0)
    agent.store(full, np.zeros(1), 0.0, full, False, False)
    assert agent.buffer.arrays.obs[0].tolist() == [200] * 64
    with one_sentence(ValueError, "whole numbers from 0 to 255", "mend"):
        agent.store(full, np.zeros(1), 0.0, half, False, False)


@KINDS
@pytest.mark.parametrize("what", ["obs", "reward"])
def test_what_was_refused_is_not_measured(kind, what):
    """Stopped by one NaN it goes on, its statistics too."""
    steps = []

    def once(env):
        steps.append(env.t)
        bad = len(steps) == 60
        return (np.full(1, np.nan) if bad else np.ones(1)) if what == "obs" else (
            np.nan if bad else 1.0
        )  # fmt: skip

    make = {"settings": {"normalize": ("obs", "rewards")}, what: once}
    agent = trained(kind, 16, **make)
    with pytest.raises(ValueError, match="The environment returned"):
        agent.learn(200)
    agent.learn(40)
    stats = agent.normalizer.state_dict()
    assert all(np.isfinite(each.numpy()).all() for each in stats.values())


@KINDS
def test_numbers_wider_than_networks_take_are_refused_at_the_door(kind):
    if np.dtype(np.longdouble).itemsize <= 8:
        pytest.skip("here longdouble is float64")
    with one_sentence(ValueError, "name float64 in its observation_space"):
        trained(kind, space=spaces.Box(-1, 1, (2,), np.longdouble))


@KINDS
def test_bounds_at_the_end_of_all_numbers_need_no_warning(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trained(kind, space=spaces.Box(-1.7e308, 1.7e308, (2,), np.float64))


@pytest.mark.parametrize("kind", [TD3, SAC, A2C, PPO])
@pytest.mark.parametrize("space", [spaces.Box(-1, 1, (0,)), spaces.Box(-1, 1, (2, 0))], ids=str)
def test_actions_of_no_number_are_one_sentence(kind, space):
    with one_sentence(ValueError, f"{kind.__name__} has nothing to choose in Box("):
        trained(kind, action=space)


# ---- infos ---------------------------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize(
    "info",
    [
        lambda env: {"path": np.zeros(env.np_random.integers(1, 9))},
        lambda env: {"hint": [1.0, None, {"deep": 1}, "left"][env.np_random.integers(4)]},
        lambda env: {"count": 2**70 + env.t},
        lambda env: {"maps": {"moves": np.zeros(env.np_random.integers(1, 9))}},
    ],
    ids=["path", "hint", "count", "maps"],
)
def test_an_info_may_hold_anything(kind, info):
    infos = []
    agent = trained(kind, info=info).learn(
        20, lambda agent: infos.extend(each.info for each in agent.last.transitions)
    )
    assert agent.steps >= 60
    assert all(infos)  # and callbacks see it


# ---- pictures ------------------------------------------------------------------------------------

GREY = np.full((64, 64), 100, np.uint8)
COLOURS = np.full((64, 64, 3), 100, np.uint8)
NO_PICTURES = {
    "floats to 1": (COLOURS / 200, "float64 (64, 64, 3)"),
    "whole numbers": (COLOURS.astype(int), "int64 (64, 64, 3)"),
    "bools": (COLOURS > 50, "bool (64, 64, 3)"),
    "RGBA": (np.dstack([COLOURS, GREY]), "uint8 (64, 64, 4)"),
    "grey": (GREY, "uint8 (64, 64)"),
    "none": (None, "NoneType"),
    "frames": ([COLOURS] * 2, "list"),
    "a text": ("|  o |", "str"),
    "no pixel": (COLOURS[:0], "uint8 (0, 64, 3)"),
}


@pytest.mark.parametrize("name", NO_PICTURES)
def test_what_is_no_picture_is_one_sentence(name):
    picture, words = NO_PICTURES[name]
    sees = TD3(lambda: Pixels(Giving(picture=picture), size=8, crop=64), **TINY)
    for use in (
        lambda: record(lambda obs: np.zeros(1), Giving(picture=picture)),
        lambda: sees.learn(1),
    ):
        with one_sentence(ValueError, "render() must give a picture (H, W, 3)", words, "mend it"):
            use()


# ---- copies --------------------------------------------------------------------------------------


def wrapped_by_its_function(**_):
    """An entry point that makes wrappers itself: three steps, each of four."""
    return MaxAndSkipObservation(TimeLimit(MaxAndSkipObservation(PendulumEnv(), 2), 6), 2)


LIMITED = {
    "skip, limit": lambda env: TimeLimit(MaxAndSkipObservation(env, skip=4), 12),
    "limit, skip": lambda env: MaxAndSkipObservation(TimeLimit(env, 12), skip=4),
    "limits around skip": lambda env: TimeLimit(
        MaxAndSkipObservation(TimeLimit(env, 40), skip=4), 12
    ),
    "skips between limits": lambda env: TimeLimit(
        MaxAndSkipObservation(TimeLimit(MaxAndSkipObservation(env, skip=2), 24), skip=3), 12
    ),
    "two limits": lambda env: TimeLimit(TimeLimit(env, 12), 15),
    "two limits, the shorter first": lambda env: TimeLimit(TimeLimit(env, 15), 12),
    "two limits above": lambda env: TimeLimit(
        TimeLimit(MaxAndSkipObservation(env, skip=4), 12), 15
    ),
}


def played(env):
    """The length of an episode."""
    env.reset(seed=0)
    return next(t for t in range(1, 999) if any(env.step(env.action_space.sample())[2:4]))


@pytest.mark.parametrize("kind", [TD3, A2C])
@pytest.mark.parametrize("name", LIMITED)
def test_copies_have_the_episodes_of_what_they_copy(kind, name):
    env = LIMITED[name](gym.make("Pendulum-v1"))
    length = played(env)
    agent = kind(env, **SETTINGS[kind]).learn(60)
    assert {each for _, each in agent.history["length"]} == {length}
    assert evaluate(agent, episodes=1).lengths.tolist() == [length]
    assert env_id(env) is None


def test_a_limit_on_what_a_camera_sees_counts_what_it_sees():
    env = TimeLimit(gym.make("PixelPendulum-v0"), 12)
    assert played(make_env(env)) == played(env) == 12


def test_limits_within_an_id_stay_within_it():
    gym.register("Wrapped-v0", wrapped_by_its_function, max_episode_steps=50)
    try:
        env = gym.make("Wrapped-v0")
        for wrapped, length in ((env, 3), (TimeLimit(env, 2), 2), (LIMITED["skip, limit"](env), 1)):
            assert played(make_env(wrapped)) == played(wrapped) == length
    finally:
        del gym.registry["Wrapped-v0"]


@KINDS
def test_an_instance_of_ones_own_is_copied_as_it_is(kind):
    action = spaces.Discrete(2) if kind is ReinforceWithBaseline else TORQUE
    env = Giving(action=action)
    env.reward = 3.0  # after it was made
    agent = kind(env, **SETTINGS[kind]).learn(40)
    assert evaluate(agent, episodes=2).returns.tolist() == [15, 15]
    copies = agent.training_envs()
    assert len({id(each.unwrapped) for each in copies}) == len(copies)


@pytest.mark.parametrize("kind", [A2C, PPO])
def test_what_cannot_be_copied_needs_a_function(kind):
    env = Giving(reward=1.0)
    env.simulator = threading.Lock()
    with one_sentence(ValueError, "`lambda: Giving(...)`"):
        kind(env, **SETTINGS[kind]).learn(1)
    agent = TD3(env, **TINY).learn(10)
    with one_sentence(ValueError, "`lambda: Giving(...)`"):
        evaluate(agent)


# ---- environments that hold much -----------------------------------------------------------------


class Row:
    looked_at = 0

    def __repr__(self):
        Row.looked_at += 1
        return "a row"


@pytest.mark.parametrize("kind", [TD3, PPO])
def test_learning_a_step_does_not_read_all_that_an_environment_holds(kind):
    def holding():
        env = Giving()
        env.rows, env.table = [Row() for _ in range(5000)], np.ones((1000, 1000))
        return env

    agent = kind(holding, **SETTINGS[kind]).learn(1)
    Row.looked_at = 0
    tracemalloc.start()
    agent.learn(1)
    assert Row.looked_at < 20 * 2 * len(agent.training_envs())  # before and after
    assert tracemalloc.get_traced_memory()[1] < 4e6  # half of a table
    tracemalloc.stop()


@pytest.mark.parametrize("change", [lambda env: env.step(None), lambda env: env.reset()])
def test_beside_much_data_a_use_is_noticed(change):
    env = Giving()
    env.world = {"map": np.ones((1000, 1000)), "rows": [0.5] * 1000}
    agent = TD3(env, **TINY).learn(7)
    assert not agent.env.was_used()
    change(env)
    assert agent.env.was_used()
    agent.learn(1)
    env.world["map"] += 1
    assert agent.env.was_used()
