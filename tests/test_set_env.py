"""Going on in another environment: the same spaces, a new episode, everything else as it was."""

import gymnasium as gym
import numpy as np
import pytest
from environments import TORQUE, Constant, Counting, Log, make
from gymnasium import spaces
from sentences import assert_one_sentence, one_sentence
from wholes import AGENTS, everything, tiny

from helpers.agents import A2C, DDPG, PPO, TD3, ReinforceWithBaseline
from helpers.evaluation import evaluate
from helpers.training.callbacks import Evaluate

SMALL = {
    A2C: {"n_envs": 3, "n_steps": 4, "hidden": 4},
    PPO: {"n_envs": 3, "n_steps": 4, "hidden": 4},
    ReinforceWithBaseline: {"hidden": 4},
    DDPG: tiny,
    TD3: tiny,
}
KINDS = pytest.mark.parametrize("kind", SMALL)
EVERY = pytest.mark.parametrize("new", AGENTS.values(), ids=AGENTS.keys())


def probe(kind, name=Constant, **settings):
    """A probe environment whose actions an agent of that kind takes."""
    if kind in (DDPG, TD3):
        settings["action_space"] = TORQUE
    return make(name, **settings)


def constant(kind, reward, **settings):
    return probe(kind, ending="truncated", length=1000, reward=reward, **settings)


@KINDS
def test_it_goes_on_in_the_new_environment(kind):
    """Steps, history and weights stay; rewards, evaluations and the file are the new one's."""
    old, new = Log(), Log()
    agent = kind(probe(kind, Counting, transitions=old), seed=5, **SMALL[kind]).learn(40)
    before, steps, taken = everything(agent), agent.steps, len(old)
    second = probe(kind, Counting, transitions=new)
    assert agent.set_env(second) is agent
    assert agent.env_source is second
    now = everything(agent)
    for name in ("state", "steps", "history", "rng", "hyperparameters", "counts"):
        assert now[name] == before[name], name
    assert now["under_way"]["memories"] == before["under_way"]["memories"]
    assert now["under_way"]["episode"] is None
    agent.learn(40)
    assert len(old) == taken  # not one step more
    assert len(new) >= 40
    assert agent.steps >= steps + 40


@KINDS
def test_the_new_environment_is_seeded_once(kind):
    seeds, transitions = Log(), Log()
    agent = kind(probe(kind, Counting, transitions=Log()), seed=5, **SMALL[kind]).learn(30)
    agent.set_env(probe(kind, Counting, transitions=transitions, seeds=seeds)).learn(30)
    agent.learn(30)
    given = [seed for seed in seeds if seed is not None]
    assert given == ([5, 6, 7] if kind in (A2C, PPO) else [5])
    assert len(seeds) > len(given)


@KINDS
def test_the_episode_under_way_is_dropped(kind):
    """Its rewards are in no return, and no step leads from one environment into the other."""
    agent = kind(constant(kind, reward=100.0), seed=5, **SMALL[kind])
    if kind is not ReinforceWithBaseline:  # which plays only whole episodes
        agent.learn(20)
        assert not agent.history["return"]
    short = probe(kind, ending="terminated", length=3, reward=1.0)
    agent.set_env(short).learn(30)
    assert {value for _, value in agent.history["return"]} == {3.0}
    assert {value for _, value in agent.history["length"]} == {3.0}


@KINDS
def test_evaluations_are_in_the_new_environment(kind):
    agent = kind(probe(kind, ending="terminated", length=2), seed=5, **SMALL[kind]).learn(10)
    evaluations = Evaluate(every=10, episodes=1)
    agent.set_env(probe(kind, ending="terminated", length=2, reward=7.0))
    agent.learn(20, evaluations)
    assert evaluate(agent, episodes=2).mean == evaluations.curve[-1][1].mean == 14


def test_a_callback_may_change_the_environment_in_mid_training():
    """A curriculum."""
    hard = gym.make("Short-v0")

    def harder(agent):
        if agent.steps == 20:
            agent.set_env(hard)

    agent = TD3("Pendulum-v1", seed=0, **tiny).learn(40, harder)
    assert agent.env.unwrapped is hard.unwrapped
    assert len(agent.history["return"]) == 2  # of seven steps each


@EVERY
def test_a_file_written_after_it_goes_on_bit_for_bit(new, tmp_path):
    """Before the first step in the new environment, and in the middle of an episode there."""
    for more in (0, 4):
        agent = new().learn(20)
        agent.set_env(agent.env_source)
        if more:
            agent.learn(more)
        path = tmp_path / f"{more}.pt"
        agent.save(path, replay=True)
        loaded = type(agent).load(path)
        assert everything(loaded.learn(20)) == everything(agent.learn(20))


def test_the_file_names_the_new_environment(tmp_path):
    agent = TD3("Pendulum-v1", seed=0, **tiny).learn(15).set_env("Short-v0")
    agent.save(tmp_path / "a.pt", replay=True)
    assert TD3.load(tmp_path / "a.pt").env_source == agent.env_source == "Short-v0"
    assert "Short-v0" in repr(agent)


OTHERS = {
    "other observations": {"observation_space": spaces.Box(-1, 1, (2,))},
    "other bounds": {"action_space": spaces.Box(-3, 3, (1,))},
    "other actions": {"action_space": spaces.Discrete(3)},
}


@pytest.mark.parametrize("others", OTHERS.values(), ids=OTHERS.keys())
def test_other_spaces_are_one_sentence_and_change_nothing(others):
    agent = TD3("Pendulum-v1", seed=0, **tiny).learn(15)
    before, env = everything(agent), agent.env
    other = gym.make("Pendulum-v1")
    for name, space in others.items():
        setattr(other, name, space)
    with pytest.raises(ValueError, match="wrap") as error:
        agent.set_env(other)
    here = agent.observation_space, agent.action_space
    there = other.observation_space, other.action_space
    assert_one_sentence(error.value, *(" ".join(str(each).split()) for each in (*here, *there)))
    assert everything(agent) == before
    assert (agent.env, agent.env_source) == (env, "Pendulum-v1")


def test_large_spaces_are_compared_to_the_last_number():
    """Their words are cut short and would be equal."""
    high = np.ones(5000, np.float32)
    other = high.copy()
    other[2500] = 2
    first, second = (make_wide(spaces.Box(-high, bound)) for bound in (high, other))
    agent = A2C(first, hidden=4)
    with pytest.raises(ValueError, match="wrap"):
        agent.set_env(second)
    agent.set_env(make_wide(spaces.Box(-high, high)))


def make_wide(space):
    env = make(Constant, ending="truncated")
    env.observation_space = space
    return env


def test_an_environment_that_there_is_not_is_one_sentence():
    agent = A2C("CartPole-v1", hidden=4)
    with one_sentence(ValueError, "Cartpole-v1"):
        agent.set_env("Cartpole-v1")
    assert agent.env_source == "CartPole-v1"
