"""What every agent learns in tiny worlds where each number is known: a failure has its suspect."""

import numpy as np
import pytest
import torch
from environments import LOPSIDED, TORQUE, Constant, Counting, Guess, Log, TwoSteps, make
from gymnasium import spaces
from trials import COOL, learned, q

from helpers.agents import A2C, DDPG, PPO, SAC, TD3, ReinforceWithBaseline
from helpers.agents.off_policy import OffPolicyAgent
from helpers.evaluation import evaluate

ON_POLICY = [A2C, ReinforceWithBaseline, PPO]
STEPS = {A2C: 1500, ReinforceWithBaseline: 1200, PPO: 2500, DDPG: 1000, TD3: 1000, SAC: 1000}


def each(*kinds):
    return pytest.mark.parametrize("kind", kinds, ids=lambda kind: kind.__name__)


def trained(kind, world, gamma, reward_scale=1.0, **its):
    own = COOL if kind is SAC else {}
    env = make(world, action_space=None if kind in ON_POLICY else TORQUE, **its)
    return learned(kind, env, STEPS[kind], gamma=gamma, reward_scale=reward_scale, **own)


def said(agent, obs, action=0.0):
    """Of a state: its value, and what critics say of an action there."""
    with torch.no_grad():
        value = agent.value(torch.tensor([[float(obs)]])).item()
    return [value, *(q(agent, obs, action) if isinstance(agent, OffPolicyAgent) else [])]


@each(*STEPS)
def test_a_life_that_is_only_cut_off_is_worth_living_on(kind):
    agent = trained(kind, Constant, gamma=0.5, ending="truncated", length=3)
    for value in said(agent, 1):
        assert value == pytest.approx(1 / (1 - 0.5), rel=0.05)


@each(*STEPS)
def test_a_reward_of_the_next_step_is_discounted_once_whatever_the_action(kind):
    agent = trained(kind, TwoSteps, gamma=0.6, reward_scale=2.0)
    for obs, worth in ((1, 2.0), (0, 1.2)):
        for value in (*said(agent, obs, -1.0), *said(agent, obs, 0.9)):
            assert value == pytest.approx(worth, abs=0.15)


@pytest.mark.parametrize(
    ("kind", "steps", "settings"),
    [
        (A2C, 12_000, {"n_envs": 16, "n_steps": 4, "entropy_coef": 0.0}),
        (PPO, 12_000, {"n_envs": 16, "n_steps": 8, "learning_rate": 1e-3}),
        (DDPG, 2000, {}),
        (TD3, 2000, {}),
        (SAC, 2000, COOL),
    ],
    ids=lambda it: getattr(it, "__name__", ""),
)
def test_the_best_action_of_each_state_is_found_within_lopsided_bounds(kind, steps, settings):
    wanted = {-1: [2.0, 14.0], 1: [0.5, 17.0]}
    env = make(Guess, wanted=wanted, action_space=LOPSIDED)
    agent = learned(kind, env, steps, reward_scale=0.1, **settings)
    for sign, action in wanted.items():
        np.testing.assert_allclose(agent.predict(np.float32([sign])), action, atol=0.5)
    assert evaluate(agent, episodes=20).mean > -0.5
    if kind is A2C:
        assert (agent.policy.log_std < -0.5).all()  # it became sure


ONE = spaces.Discrete(3, start=5), {-1: 7, 1: 5}
TWO = spaces.MultiDiscrete([2, 3]), {-1: [0, 2], 1: [1, 0]}


@pytest.mark.parametrize(
    ("kind", "steps", "choices"),
    [
        (A2C, 1500, ONE),
        (A2C, 1500, TWO),
        (ReinforceWithBaseline, 600, ONE),
        (PPO, 1500, ONE),
        (PPO, 1500, TWO),
    ],
)
def test_the_better_choice_of_each_state_is_learned(kind, steps, choices):
    action_space, wanted = choices
    agent = learned(kind, make(Guess, wanted=wanted, action_space=action_space), steps)
    for sign, action in wanted.items():
        assert np.array_equal(agent.predict(np.float32([sign])), action)
    assert evaluate(agent, episodes=20).mean == 0


def test_steps_count_experience_only():
    env = make(Counting, transitions=(log := Log()))
    assert A2C(env, n_envs=3, n_steps=5, hidden=4, seed=0).learn(100).steps == len(log)
