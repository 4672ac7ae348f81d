"""The table of spaces in USING.md: what it promises trains, what it denies says what to do."""

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from environments import AnySpace, make
from gymnasium import spaces
from sentences import assert_one_sentence

import helpers.agents
from helpers.agents import A2C, PPO, ReinforceWithBaseline
from helpers.agents.cloning import OfflineAgent
from helpers.demos.files import Demos
from tools.spaces_table import AGENTS, as_markdown, both_spaces, supported_spaces

USING = Path(__file__).resolve().parent.parent / "USING.md"
ROWS = supported_spaces()
replay = {"learning_starts": 8, "batch_size": 4, "buffer_size": 60, "hidden": 4}
SETTINGS = {
    A2C: {"n_envs": 2, "n_steps": 4, "hidden": 4},
    PPO: {"n_envs": 2, "n_steps": 4, "hidden": 4, "batch_size": 3},
    ReinforceWithBaseline: {"hidden": 4},
}
CELLS = [
    pytest.param(row, kind, id=f"{row.part}-{row.name}-{kind.__name__}")
    for row in ROWS
    for kind in AGENTS
]


def some_demos(observation_space, action_space):
    """One episode of ten steps, drawn from the spaces."""
    observation_space.seed(0)
    action_space.seed(0)
    samples = [spaces.flatten(observation_space, observation_space.sample()) for _ in range(11)]
    shape = observation_space.shape if isinstance(observation_space, spaces.Box) else (-1,)
    obs = np.array(samples, np.float32).reshape(11, *shape)
    action = np.array([action_space.sample() for _ in range(10)])
    ends = np.arange(10) == 9
    return Demos(
        "Any-v0", "chance", obs[:-1], action, np.ones(10), obs[1:], ends, np.zeros(10, bool)
    )


def weights(agent):
    return [p.detach().clone() for name in agent.parts() for p in parameters(getattr(agent, name))]


def parameters(part):
    return part.parameters() if hasattr(part, "parameters") else ()


@pytest.mark.parametrize(("row", "kind"), CELLS)
def test_a_supported_space_trains_and_another_says_what_to_do(row, kind):
    obs_space, action_space = both_spaces(kind, row.part, row.space)
    env = make(AnySpace, observation_space=obs_space, action_space=action_space)
    settings = SETTINGS.get(kind, replay)
    if sentence := row.answers[kind]:
        assert_one_sentence(sentence, " ".join(str(row.space).split()))
        advice = (
            ("an array of one length", "FlattenObservation")
            if row.part == "observations"
            else ("Transform", "A2C there")
        )
        assert any(each in sentence for each in advice)
        with pytest.raises(ValueError, match="environment has"):
            kind(env, seed=0, **settings)
        return
    agent = kind(env, seed=0, **settings)
    if issubclass(kind, OfflineAgent):
        agent.remember(some_demos(obs_space, action_space))
    before = weights(agent)
    agent.learn(30)  # the environment itself refuses wrong actions
    assert any((a != b).any() for a, b in zip(before, weights(agent), strict=True))
    assert all(each.isfinite().all() for each in weights(agent))
    obs_space.seed(1)
    assert action_space.contains(agent.predict(obs_space.sample()))


def test_using_shows_the_table():
    assert f"\n\n{as_markdown(ROWS)}\n\n" in USING.read_text(encoding="utf-8")


def test_every_agent_is_asked():
    assert {kind.__name__ for kind in AGENTS} == set(helpers.agents.__all__)


def test_the_advice_for_observations_works():
    refused = [row for row in ROWS if row.part == "observations" and row.answers[A2C]]
    assert len(refused) == 4  # three kinds of pictures, and texts
    for row in refused:
        env = gym.wrappers.FlattenObservation(make(AnySpace, observation_space=row.space))
        assert A2C(env, seed=0, **SETTINGS[A2C]).learn(8).steps >= 8, row.name
