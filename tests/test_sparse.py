"""The sparse pendulum: its start, its reward, and all that makes environments by their id."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from joblib import Parallel, delayed

from helpers.envs.make import env_id, make_env, make_vector_env
from helpers.envs.sparse_pendulum import KNOCK_AT, SLOW, SPREAD, UPRIGHT, SparsePendulum
from helpers.evaluation import evaluate

ID = "SparsePendulum-v0"


def pump(obs):
    """Push the way it swings: more and more energy."""
    return np.array([2.0 if obs[2] > 0 else -2.0])


def in_a_worker():
    env = make_env(ID)
    obs, _ = env.reset(seed=3)
    return obs, evaluate(pump, ID, episodes=2).returns


def test_gymnasiums_checker_finds_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Pendulum's own action space is not within [-1, 1], and a bare environment has no spec.
        warnings.filterwarnings("ignore", "(?s).*(symmetric and normalized|spec)")
        check_env(SparsePendulum(), skip_render_check=True)


def test_the_same_spaces_and_dynamics_as_pendulum():
    sparse, shaped = make_env(ID), make_env("Pendulum-v1")
    assert sparse.observation_space == shaped.observation_space
    assert sparse.action_space == shaped.action_space
    sparse.reset(seed=0)
    shaped.reset(seed=0)
    shaped.unwrapped.state = sparse.unwrapped.state.copy()
    for action in np.random.default_rng(0).uniform(-2, 2, (100, 1)):
        np.testing.assert_array_equal(sparse.step(action)[0], shaped.step(action)[0])


def test_it_starts_hanging_and_another_start_each_time():
    env = make_env(ID)
    starts = [env.reset(seed=0)[0]] + [env.reset()[0] for _ in range(200)]
    angles = [np.abs(np.arctan2(obs[1], obs[0])) for obs in starts]
    speeds = [obs[2] for obs in starts]
    assert np.pi - SPREAD <= min(angles) < np.pi - 0.9 * SPREAD
    assert -SPREAD <= min(speeds) < -0.9 * SPREAD
    assert 0.9 * SPREAD < max(speeds) <= SPREAD
    np.testing.assert_array_equal(env.reset(seed=0)[0], starts[0])
    assert len(np.unique(starts, axis=0)) == 201


@pytest.mark.parametrize(
    ("angle", "speed", "reward"),
    [
        (0, 0, 1),
        (0.9 * UPRIGHT, 0, 1),
        (2 * np.pi - 0.9 * UPRIGHT, 0, 1),  # angles go round
        (1.1 * UPRIGHT, 0, 0),
        (0, 0.9 * SLOW, 1),
        (0, -1.1 * SLOW, 0),
        (np.pi, 0, 0),
    ],
)
def test_the_reward_is_for_where_the_step_ends(angle, speed, reward):
    env = SparsePendulum()
    env.reset(seed=0)
    env.dt = 0  # what it starts with is what it ends with
    env.state = np.array([angle, speed])
    _, got, terminated, truncated, _ = env.step(np.array([0.0]))
    assert got == reward
    assert type(got) is float
    assert not terminated
    assert not truncated


def test_an_episode_is_cut_after_200_steps_in_which_chance_hardly_ever_earns_anything():
    env, rng = make_env(ID), np.random.default_rng(0)
    env.reset(seed=0)
    ends = [env.step(env.action_space.sample())[2:4] for _ in range(200)]
    assert ends == [(False, False)] * 199 + [(False, True)]
    assert evaluate(lambda obs: rng.uniform(-2, 2, 1), ID, episodes=10).mean < 1


def test_vector_environments_workers_and_saved_agents_know_its_id(tmp_path):
    from helpers.agents import DDPG  # here: the worker above need not wait for torch

    envs = make_vector_env(ID, 3)
    assert envs.reset(seed=0)[0].shape == (3, 3)
    assert envs.step(np.zeros((3, 1), np.float32))[1].tolist() == [0, 0, 0]
    envs.close()
    here, [there] = in_a_worker(), Parallel(n_jobs=2)([delayed(in_a_worker)()])
    for ours, theirs in zip(here, there, strict=True):
        np.testing.assert_array_equal(theirs, ours)
    DDPG(ID, seed=0).save(tmp_path / "agent.pt")
    assert env_id(DDPG.load(tmp_path / "agent.pt").env_source) == env_id(gym.make(ID)) == ID


def test_halfway_the_knocked_one_is_hit_to_either_side():
    hits = []
    env, calm = make_env("KnockedPendulum-v0"), make_env(ID)
    for seed in range(8):
        env.reset(seed=seed)
        calm.reset(seed=seed)
        calm.unwrapped.state = env.unwrapped.state.copy()
        for step in range(KNOCK_AT + 1):
            before = env.unwrapped.state.copy()
            np.testing.assert_array_equal(calm.unwrapped.state, before)
            action = np.array([np.sin(step)])
            env.step(action)
            calm.step(action)
        calm.unwrapped.state = before + np.array([0, env.unwrapped.hit])
        calm.step(action)
        np.testing.assert_array_equal(calm.unwrapped.state, env.unwrapped.state)
        hits.append(float(env.unwrapped.hit))
    assert sorted(set(hits)) == [-6.0, 6.0]
