"""Going on in another environment: the same spaces, a new episode, everything else as it was."""

import gymnasium as gym
import pytest
from environments import TORQUE, Constant, Counting, Log, make
from gymnasium import spaces
from sentences import assert_one_sentence
from wholes import AGENTS, everything, tiny

from helpers.agents import A2C, TD3, ReinforceWithBaseline
from helpers.evaluation import evaluate

SMALL = {
    A2C: {"n_envs": 3, "n_steps": 4, "hidden": 4},
    ReinforceWithBaseline: {"hidden": 4},
    TD3: tiny,
}
KINDS = pytest.mark.parametrize("kind", SMALL)


def probe(kind, name=Constant, **settings):
    """A probe environment whose actions an agent of that kind takes."""
    if kind is TD3:
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
    seeds = Log()
    second = probe(kind, Counting, transitions=new, seeds=seeds)
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
    agent.learn(30)
    given = [seed for seed in seeds if seed is not None]  # once
    assert given == ([5, 6, 7] if kind is A2C else [5])


@KINDS
def test_the_episode_under_way_is_dropped(kind):
    """Its rewards are in no return; evaluations are in the new environment."""
    agent = kind(constant(kind, reward=100.0), seed=5, **SMALL[kind])
    if kind is not ReinforceWithBaseline:  # which plays only whole episodes
        agent.learn(20)
        assert not agent.history["return"]
    short = probe(kind, ending="terminated", length=3, reward=1.0)
    agent.set_env(short).learn(30)
    assert {value for _, value in agent.history["return"]} == {3.0}
    assert evaluate(agent, episodes=2).mean == 3


def test_a_callback_may_change_the_environment_in_mid_training():
    """A curriculum."""
    hard = gym.make("Short-v0")

    def harder(agent):
        if agent.steps == 20:
            agent.set_env(hard)

    agent = TD3("Pendulum-v1", seed=0, **tiny).learn(40, harder)
    assert agent.env.unwrapped is hard.unwrapped
    assert len(agent.history["return"]) == 2  # of seven steps each


@pytest.mark.parametrize(
    "new", [AGENTS[name] for name in ("td3-ou", "ddpgfd", "rlpd", "a2c", "book")]
)
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


OTHERS = {
    "other observations": {"observation_space": spaces.Box(-1, 1, (2,))},
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
