"""Spaces beside Box and Discrete: observations of choices and of parts, several choices at once."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from environments import TORQUE, Guess
from gymnasium import spaces
from sentences import one_sentence
from sometimes import always_on

from helpers.agents import A2C, DDPG, PPO, ReinforceWithBaseline
from helpers.agents.policies import MultiCategoricalPolicy
from helpers.evaluation import evaluate

BOX = spaces.Box(-1, 1, (2,))
# For each kind two observations that are to be told apart.
SHOWN = {
    "Discrete": (spaces.Discrete(3, start=5), 5, 7),
    "MultiDiscrete": (spaces.MultiDiscrete([2, 3]), np.array([0, 2]), np.array([1, 2])),
    "MultiBinary": (spaces.MultiBinary(3), np.int8([1, 0, 1]), np.int8([1, 1, 1])),
    "Tuple": (
        spaces.Tuple([spaces.Discrete(2), BOX]), (0, np.zeros(2, np.float32)),
        (1, np.zeros(2, np.float32)),
    ),
    "Dict": (
        spaces.Dict({"where": BOX, "what": BOX}),
        {"where": np.float32([0, -1]), "what": np.zeros(2, np.float32)},
        {"where": np.float32([0, 1]), "what": np.zeros(2, np.float32)},
    ),
}  # fmt: skip
KINDS = pytest.mark.parametrize("kind", SHOWN)


class Told(Guess):
    """As `Guess`, with one of two observations in place of -1 and 1."""

    def __init__(self, kind, **shared):
        super().__init__(**shared)
        self.observation_space, *self.both = SHOWN[kind]

    def observe(self):
        return self.both[self.sign > 0]


def told(kind, discrete):
    wanted, action_space = ({-1: 0, 1: 1}, None) if discrete else ({-1: -1.0, 1: 1.0}, TORQUE)
    return gym.make("Told-v0", kind=kind, wanted=wanted, action_space=action_space)


@KINDS
@pytest.mark.parametrize(
    "agent",
    always_on("DDPG", "PPO", of=[DDPG, PPO, ReinforceWithBaseline], name=lambda it: it.__name__),
)
def test_what_is_shown_is_learned_from(kind, agent, tmp_path):
    settings = {
        DDPG: {"learning_starts": 50, "hidden": 16, "batch_size": 32, "critic_learning_rate": 1e-2},
        PPO: {"n_envs": 4, "n_steps": 16, "hidden": 16, "learning_rate": 1e-2},
        ReinforceWithBaseline: {"hidden": 16, "learning_rate": 1e-2},
    }[agent]
    env = told(kind, discrete=agent is not DDPG)
    learned = agent(env, seed=0, **settings).learn({ReinforceWithBaseline: 1500}.get(agent, 800))
    assert evaluate(learned, episodes=20).mean > -0.3
    actions = [learned.predict(obs) for obs in SHOWN[kind][1:]]
    assert actions[0] < actions[1]
    learned.save(tmp_path / "a.pt", replay=True)
    loaded = agent.load(tmp_path / "a.pt", env=told(kind, discrete=agent is not DDPG))
    assert [loaded.predict(obs) for obs in SHOWN[kind][1:]] == actions


@KINDS
def test_a_batch_has_a_row_for_each_and_others_are_one_sentence(kind):
    agent = A2C(told(kind, discrete=True), seed=0, hidden=4)
    space, first, second = SHOWN[kind]
    if kind == "Dict":
        batch = {name: np.stack([first[name], second[name]]) for name in first}
    elif kind == "Tuple":
        batch = tuple(np.stack(pair) for pair in zip(first, second, strict=True))
    else:
        batch = np.stack([first, second])
    flat, one = agent.as_batch("predict", batch)
    np.testing.assert_array_equal(flat, [spaces.flatten(space, each) for each in (first, second)])
    assert not one
    assert agent.predict(batch).tolist() == [agent.predict(first), agent.predict(second)]
    for wrong in (None, 9, "left", np.zeros((2, 7)), {"where": 3}):
        with one_sentence(ValueError, "predict takes an observation, which", kind):
            agent.predict(wrong)


def test_parts_may_hold_what_a_box_alone_may():
    """Lists, and numbers out of bounds: what training takes `predict` takes as well."""
    env, given = told("Dict", discrete=True), [0.5, 3.0]
    obs = {"where": given, "what": given, "more": 7}
    env.unwrapped.both = [obs, obs]
    agent = A2C(env, seed=0, hidden=4, n_envs=1, n_steps=4).learn(8)
    np.testing.assert_array_equal(agent.envs.envs[0].obs, [*given, *given])
    twice = {name: [each, each] for name, each in obs.items()}
    assert agent.predict(twice).tolist() == [agent.predict(obs)] * 2


@pytest.mark.parametrize("wrong", [4, 8, 5.5, np.nan, "left", [5, 6]], ids=str)
def test_a_choice_that_there_is_not_is_one_sentence(wrong):
    env = told("Discrete", discrete=True)
    env.unwrapped.both = [wrong, wrong]
    told_so = "The environment returned the observation", str(wrong), "Discrete(3, start=5)"
    with one_sentence(ValueError, *told_so):
        A2C(env, seed=0, hidden=4, n_envs=1).learn(8)


def test_pictures_within_a_dict_are_refused():
    picture = spaces.Box(0, 255, (96, 96, 3), np.uint8)

    class Camera(Told):
        def __init__(self):
            super().__init__("Dict", wanted={-1: 0, 1: 1})
            self.observation_space = spaces.Dict({"camera": picture, "where": BOX})

    with one_sentence(ValueError, "take Box observations", "pictures within", "FlattenObservation"):
        A2C(gym.make("Camera-v0"))
    assert A2C(lambda: gym.wrappers.FlattenObservation(Camera())).obs_size == 96 * 96 * 3 + 2


# ---- several choices at once ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "wanted"),
    [
        (spaces.MultiDiscrete([3, 2], start=[4, -1]), {-1: [6, -1], 1: [4, 0]}),
        (spaces.MultiBinary(2), {-1: [0, 1], 1: [1, 0]}),
    ],
    ids=str,
)
def test_several_choices_are_learned_each_by_itself(space, wanted, tmp_path):
    settings = {"n_envs": 4, "n_steps": 8, "hidden": 16, "learning_rate": 1e-2}
    env = gym.make("Guess-v0", wanted=wanted, action_space=space)
    agent = A2C(env, seed=0, **settings).learn(1500)
    assert [agent.predict(np.float32([sign])).tolist() for sign in (-1, 1)] == [*wanted.values()]
    agent.save(tmp_path / "a.pt", replay=True)
    loaded = A2C.load(
        tmp_path / "a.pt", env=gym.make("Guess-v0", wanted=wanted, action_space=space)
    )
    assert space.contains(loaded.predict(np.ones(1, np.float32), deterministic=False))


def test_the_policy_of_several_choices_is_the_product_of_theirs():
    policy = MultiCategoricalPolicy(2, spaces.MultiDiscrete([2, 3]), 4)
    obs = torch.randn(5, 2, generator=torch.Generator().manual_seed(0))
    pairs = [[i, j] for i in range(2) for j in range(3)]
    total = sum(policy.evaluate(obs, torch.tensor([pair] * 5))[0].exp() for pair in pairs)
    torch.testing.assert_close(total, torch.ones(5))
    first, second = (torch.distributions.Categorical(logits=each) for each in policy.logits(obs))
    _, entropies = policy.evaluate(obs, torch.tensor([[1, 2]] * 5))
    torch.testing.assert_close(entropies, first.entropy() + second.entropy())


def test_several_choices_have_no_table_of_probabilities():
    env = gym.make("Guess-v0", wanted={}, action_space=spaces.MultiBinary(2))
    with one_sentence(ValueError, "no probabilities of actions here"):
        A2C(env, seed=0, hidden=4).action_probability(np.ones(1, np.float32))
