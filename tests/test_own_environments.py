"""Environments as people write them: what is wrong is said, and nothing goes wrong silently.

And agents that diverge, or travel from one process to another.
"""

import pickle

import gymnasium as gym
import numpy as np
import pytest
import torch
from environments import TORQUE, UNBOUNDED, Log
from gymnasium import spaces
from gymnasium.wrappers import NormalizeObservation, NormalizeReward, TimeLimit
from sentences import one_sentence

from helpers.agents import A2C, PPO, SAC, TD3
from helpers.envs.make import env_id, make_env
from helpers.evaluation import evaluate

TINY = {"learning_starts": 40, "batch_size": 16, "buffer_size": 300, "hidden": 16}
PICTURES = spaces.Box(0, 255, (3, 8, 9), np.uint8)


class Same(gym.Env):
    """Counts its steps, and gives the same array each time. Was not made by gymnasium."""

    action_space = TORQUE

    def __init__(self, observation_space=UNBOUNDED):
        self.observation_space = observation_space
        self.shown = np.zeros(observation_space.shape, observation_space.dtype)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.shown[:] = 0
        return self.shown, {}

    def step(self, action):
        self.shown += 1
        return self.shown, 1.0, False, bool(self.shown.max() == 20), {}


class Answering(Same):
    """Resets and steps as `answer` changes them: its keys are 0, 1, ... of the tuple."""

    def __init__(self, reset=None, step=None):
        super().__init__()
        self.answers = reset or (lambda given: given), step or (lambda given: given)

    def reset(self, *, seed=None, options=None):
        return self.answers[0](super().reset(seed=seed))

    def step(self, action):
        return self.answers[1](super().step(action))


class Recordless(gym.Wrapper):
    """A wrapper as people write them: gymnasium cannot know its arguments."""


# ---- what is stored is what happened -------------------------------------------------------------


@pytest.mark.parametrize("space", [UNBOUNDED, PICTURES], ids=["numbers", "pictures"])
def test_an_environment_may_give_the_same_array_each_time(space):
    agent = TD3(Same(space), seed=0, **TINY).learn(60)
    batch = agent.buffer.sample(64)
    assert (batch.next_obs.float() - batch.obs.float()).unique().tolist() == [1]
    [last] = agent.last.transitions
    assert (last.next_obs - last.obs).max() == 1


class Numbered(Same):
    """Shows the number of the episode and that of the step; its answers cannot be pickled."""

    def __init__(self):
        super().__init__(spaces.Box(-np.inf, np.inf, (2,)))
        self.episode, self.unpicklable = 0, lambda: None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.episode += 1
        self.shown[:] = self.episode, 0
        return self.shown, {}

    def step(self, action):
        self.shown[1] += 1
        return self.shown, 1.0, False, bool(self.shown[1] == 20), {}


def numbered(agent):
    """How many steps were stored; each must have led to the next of the same episode."""
    batch = agent.buffer.arrays
    n = len(agent.buffer)
    np.testing.assert_array_equal(batch.next_obs[:n] - batch.obs[:n], [[0, 1]] * n)
    return n


LIMITS = pytest.mark.parametrize(
    "limited", [lambda env: env, lambda env: TimeLimit(env, 20)], ids=["no limit", "a limit"]
)


@LIMITS
@pytest.mark.parametrize("between", [lambda env: env.reset(), lambda env: env.step(np.zeros(1))])
def test_who_uses_the_environment_between_two_trainings_is_noticed(between, limited):
    env = limited(Numbered())
    agent = TD3(env, seed=0, **TINY).learn(7)
    between(env)
    assert numbered(agent.learn(7)) == 14
    assert agent.env.episode_length == 7


@LIMITS
@pytest.mark.parametrize("way", [lambda agent: agent, lambda it: pickle.loads(pickle.dumps(it))])
def test_an_untouched_environment_goes_on(way, limited):
    agent = TD3(limited(Same()), seed=0, **TINY).learn(7)
    print(agent.env.observation_space)  # which then looks different
    assert way(agent).learn(7).env.episode_length == 14


# ---- which environment it is ---------------------------------------------------------------------


def test_a_single_environment_is_the_one_that_was_given():
    env = gym.make("Pendulum-v1")
    for agent in (PPO(env, n_envs=1, n_steps=8, seed=0).learn(8), TD3(env, seed=0).learn(8)):
        assert [each.unwrapped for each in agent.training_envs()] == [env.unwrapped]


def test_a_function_makes_as_many_as_are_needed():
    made = Log()

    def make():
        made.append(TimeLimit(Recordless(Same()), 10))
        return made[-1]

    agent = PPO(make, n_envs=3, n_steps=8, seed=0).learn(24)
    assert len(agent.training_envs()) == 3
    assert evaluate(agent, episodes=2).lengths.tolist() == [10, 10]
    assert len({id(env.unwrapped) for env in made}) == len(made)
    assert TD3(Same, seed=0, **TINY).learn(8).steps == 8  # a class is one
    assert env_id(make) is None


SAME = Same()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: TD3(lambda: 42), "gave int, which is no gymnasium.Env"),
        (lambda: TD3(lambda size: Same()), "arguments (missing a required argument: 'size')"),
        (lambda: PPO(lambda: SAME, n_envs=2, seed=0).learn(8), "a new one at each call"),
        (lambda: make_env(Same, render_mode="rgb_array"), "cannot be called with render_mode"),
    ],
    ids=["number", "size", "again", "draw"],
)
def test_a_function_that_makes_none_is_one_sentence(call, says):
    with one_sentence(ValueError, says):
        call()


@pytest.mark.parametrize("wrapper", [NormalizeObservation, NormalizeReward])
def test_measurements_that_a_copy_would_not_have(wrapper):
    env = TimeLimit(wrapper(gym.make("Pendulum-v1")), 50)
    with one_sentence(ValueError, match=rf"{wrapper.__name__}.*normalize=\('"):
        TD3(env)


# ---- environments that answer otherwise ----------------------------------------------------------


@pytest.mark.parametrize("name", ["observation_space", "action_space"])
def test_an_environment_without_its_spaces_is_one_sentence(name):
    class Bare(gym.Env):
        observation_space, action_space = UNBOUNDED, TORQUE

    bare = Bare()
    setattr(bare, name, (3,))
    for env in (bare, TimeLimit(bare, 5), lambda: bare):
        with one_sentence(ValueError, "must be one of", name, "(3,)", "__init__"):
            TD3(env)


@pytest.mark.parametrize(("kind", "settings"), [(TD3, TINY), (PPO, {"n_envs": 2, "n_steps": 8})])
def test_an_action_of_no_dimension_is_an_array_as_any_other(kind, settings):
    class Strict(Same):
        action_space = spaces.Box(-2, 2, ())

        def step(self, action):
            assert isinstance(action, np.ndarray)
            assert self.action_space.contains(action)
            return super().step(action)

    agent = kind(Strict, seed=0, **settings).learn(60)
    assert all(isinstance(each.action, np.ndarray) for each in agent.last.transitions)
    assert evaluate(agent, episodes=1).lengths.tolist() == [20]


@pytest.mark.parametrize(
    ("env", "words"),
    [
        (Answering(step=lambda r: (r[0], np.array([1.0]), *r[2:])), "reward array"),
        (Answering(step=lambda r: (r[0], *r[1:3], {})), r"not \(ndarray, float, bool, dict\)"),
        (Answering(step=lambda r: (*r[:4], None)), "a dict at the end"),
        (Answering(step=lambda r: (*r[:3], "False", r[4])), r"float, bool, str, dict\)"),
        (Answering(step=lambda r: (["a"], *r[1:])), r"observation \['a'\], which Box"),
        (Answering(step=lambda r: (np.zeros(4), *r[1:])), r"shape \(4,\)"),
        (Answering(step=lambda r: ([[1], [1, 2]], *r[1:])), "no array"),
        (Answering(reset=lambda r: r[0]), "not ndarray"),
        (Answering(reset=lambda r: ([None], {})), r"observation \[None\], which Box"),
    ],
)
def test_an_answer_that_is_not_gymnasiums_is_one_sentence(env, words):
    with one_sentence(ValueError, match=words):
        TD3(env, seed=0, **TINY).learn(8)


def test_an_old_reset_is_one_sentence():
    class Old(Same):
        def reset(self):
            return np.zeros(1, np.float32)

    with one_sentence(ValueError, "must take seed and options"):
        TD3(Old(), seed=0, **TINY).learn(8)


def test_an_error_of_the_environments_own_stays_what_it_is():
    class Broken(Same):
        def reset(self, *, seed=None, options=None):
            return None + 1

    with pytest.raises(TypeError, match="NoneType"):
        TD3(Broken(), seed=0, **TINY).learn(8)


# ---- an agent that has diverged ------------------------------------------------------------------


ROLLOUTS = {"n_envs": 2, "n_steps": 8}


@pytest.mark.parametrize(
    ("kind", "settings"), [(TD3, TINY), (SAC, TINY), (PPO, ROLLOUTS), (A2C, ROLLOUTS)]
)
def test_the_agent_is_blamed_for_its_own_nan(kind, settings):
    agent = kind("Pendulum-v1", seed=0, **settings).learn(64)
    actor = agent.policy.actor if hasattr(agent, "policy") else agent.actor
    with torch.no_grad():
        next(actor.parameters())[:] = np.nan
    with one_sentence(ValueError, "training has diverged", "learning rate"):
        agent.learn(200)


def test_with_choices_the_loss_tells_it():
    agent = A2C("CartPole-v1", seed=0, **ROLLOUTS)
    with torch.no_grad():
        next(agent.critic.parameters())[:] = np.nan
    with pytest.raises(ValueError, match=r"_loss is NaN after step .*diverged"):
        agent.learn(200)


def test_a_diverged_agent_does_not_replace_a_good_file(tmp_path):
    agent = TD3("Pendulum-v1", seed=0, **TINY).learn(50)
    agent.save(tmp_path / "agent.pt")
    with torch.no_grad():
        next(agent.actor.parameters())[:] = np.nan
    with pytest.raises(ValueError, match="Nothing was saved, since actor holds NaN"):
        agent.save(tmp_path / "agent.pt")
    assert TD3.load(tmp_path / "agent.pt").steps == 50
