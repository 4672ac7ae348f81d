"""Two poles on a cart: they move as mechanics says, and fall as the lesson says."""

import gymnasium as gym
import numpy as np
import pytest

import helpers.envs.make  # noqa: F401  (registers it)
from helpers.envs.double_pole import BALL, CART, FALLEN, GRAVITY, LENGTH


def energy(env):
    """Of the cart and two point masses at the poles' ends, in joules."""
    (_, *angles), (v, *turns) = env.place, env.speed
    total, x, height, rise = CART * v * v / 2, v, 0.0, 0.0
    for angle, turn in zip(angles, turns, strict=True):
        x += LENGTH * np.cos(angle) * turn
        rise -= LENGTH * np.sin(angle) * turn
        height += LENGTH * np.cos(angle)
        total += BALL * (x * x + rise * rise) / 2 + BALL * GRAVITY * height
    return total


@pytest.mark.parametrize("force", [0.0, 5.0])
def test_the_energy_grows_by_the_work_of_the_force(force, monkeypatch):
    monkeypatch.setattr("helpers.envs.double_pole.DT", 1e-4)
    env = gym.make("DoublePole-v0").unwrapped
    env.reset(seed=0)
    env.place, env.speed = [0.0, 0.3, -0.2], [0.5, 1.0, -2.0]
    before = energy(env)
    for _ in range(4000):
        env.step(np.array([force / 10]))
    assert max(map(abs, env.place[1:])) > 1  # they fell far
    assert energy(env) - before == pytest.approx(force * env.place[0], abs=1e-2 * before)


def test_an_episode_ends_when_something_is_too_far_or_after_500_steps():
    env = gym.make("DoublePole-v0", render_mode="rgb_array")
    for part, most in enumerate(FALLEN):
        obs, _ = env.reset(seed=part)
        assert env.observation_space.contains(obs)
        assert np.abs(obs).max() <= 0.05
        env.unwrapped.place[part] = 1.1 * most
        assert env.step(np.zeros(1))[1:4] == (1.0, True, False)
    assert env.render().shape == (200, 400, 3)
    env.reset(seed=0)
    for step in range(500):
        env.unwrapped.place, env.unwrapped.speed = [0.0] * 3, [0.0] * 3
        *_, terminated, truncated, _ = env.step(np.zeros(1))
        assert (terminated, truncated) == (False, step == 499)
