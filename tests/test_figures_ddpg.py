"""The figures of lesson 02: the numbers behind them, and what their headlines say."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch

from helpers.agents import DDPG
from helpers.agents.noise import OUNoise
from helpers.algorithms.ddpg import polyak_update
from helpers.show.colours import BLUE, GREEN, ORANGE, VERMILLION
from helpers.show.figures.ddpg_critic import critic_at, plot_q
from helpers.show.figures.ddpg_noise import carried, plot_ou, pushed
from helpers.show.figures.ddpg_target_network import follow, passes, plot_tau
from helpers.show.figures.ddpg_uphill import plot_uphill, toy_q
from tests.figures import curve, dot, imagined, lively, sentence


@pytest.fixture(scope="module")
def agent() -> DDPG:
    return lively()


# --- Uphill -----------------------------------------------------------------------------------


def test_the_slope_of_the_toy_is_its_derivative():
    a = np.linspace(-1, 1, 41)
    for error in (0, 0.7):
        numeric = (toy_q(a + 1e-6, error)[0] - toy_q(a - 1e-6, error)[0]) / 2e-6
        np.testing.assert_allclose(toy_q(a, error)[1], numeric, atol=1e-8)


def test_the_step_drawn_is_a_step_of_gradient_ascent():
    fig = plot_uphill(0.1, step=0.05, steps=1)
    [ax] = fig.axes
    landing = 0.1 + 0.05 * float(toy_q(0.1)[1])
    places = [
        line.get_xydata()[0]
        for line in ax.lines
        if line.get_color() == GREEN and len(line.get_xdata()) == 1
    ]
    np.testing.assert_allclose(places[0], [landing, toy_q(landing)[0]])
    assert places[1][0] == landing
    texts = [t.get_text() for t in ax.texts]
    assert texts[0] == f"gradient ∂Q/∂a = +{toy_q(0.1)[1]:.2f}"
    assert texts[1].endswith(f"= +{landing - 0.1:.3f}")


# --- The critic of the pendulum ---------------------------------------------------------------


def test_q_is_drawn_above_what_the_actor_gets():
    fig = plot_q(imagined(place=0.3, action=0.1), step=0.25)
    ax = fig.axes[0]
    a = np.linspace(-1, 1, 101)
    np.testing.assert_allclose(curve(ax, BLUE)[:, 0], a, atol=1e-6)
    np.testing.assert_allclose(curve(ax, BLUE)[:, 1], -2 * (a - 0.3) ** 2 + 0.08, atol=1e-5)
    np.testing.assert_allclose(dot(ax, VERMILLION, 7.5), [0.1, 0], atol=1e-6)
    landing = 0.1 + 0.25 * 4 * 0.2  # the slope is -4 (a - 0.3)
    np.testing.assert_allclose(dot(ax, GREEN, 12), [landing, 0.08], atol=1e-5)
    assert [t.get_text() for t in ax.texts] == ["Q(s, μ(s)) = −5.08", "∂Q/∂a +0.8"]
    said = "The actor chooses torque +0.2. The critic likes +0.6 best: Q is 0.08 higher there."
    assert sentence(fig) == said


def test_q_asks_the_agent_about_the_state_of_the_environment(agent):
    """The drawn values are those of the observation that Pendulum-v1 gives in that state."""
    env = gym.make("Pendulum-v1").unwrapped
    env.reset(seed=0)
    env.state = np.array([np.radians(-70), 3.0])
    here = critic_at(agent, -70, 3.0)
    torque = agent.predict(env._get_obs(), deterministic=True)
    assert 2 * here["action"] == pytest.approx(torque.item(), abs=1e-5)
    obs = agent.flat(env._get_obs()[None])
    with torch.no_grad():
        action = agent.actor(obs)
        assert here["action"] == pytest.approx(action.item(), abs=1e-6)
        assert here["chosen"] == pytest.approx(agent.critic(obs, action).item(), abs=1e-6)
        h = 1e-3
        up, down = (agent.critic(obs, action + d).item() for d in (h, -h))
    assert here["slope"] == pytest.approx((up - down) / (2 * h), rel=0.05)
    assert np.ptp(here["q"]) > 0.01


def test_drawing_leaves_no_trace_in_the_agent(agent):
    before = [p.clone() for p in (*agent.actor.parameters(), *agent.critic.parameters())]
    with torch.no_grad():  # also where gradients are switched off
        plot_q(agent)
    after = [*agent.actor.parameters(), *agent.critic.parameters()]
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert all(p.grad is None and p.requires_grad for p in after)


def test_the_map_is_right_at_its_points(agent):
    for shows in ("policy", "value"):
        [picture] = plot_q(agent, shows=shows).axes[2].images
        values = picture.get_array()
        rows, columns = values.shape
        x0, x1, y0, y1 = picture.get_extent()
        row, column = 3, 5
        angle = x0 + (column + 0.5) * (x1 - x0) / columns
        speed = y0 + (row + 0.5) * (y1 - y0) / rows
        here = critic_at(agent, angle, speed)
        wanted = here["action"] if shows == "policy" else here["chosen"]
        assert values[row, column] == pytest.approx(wanted, abs=1e-5)


def test_the_pendulum_hangs_and_turns_as_gymnasium_draws_it():
    """Angles and torques are positive counter-clockwise: at +90 degrees the rod points left."""
    ax = plot_q(imagined(action=0.5), angle=90, speed=4.0).axes[1]
    rod = ax.lines[0].get_xydata()
    np.testing.assert_allclose(rod[1], [-1, 0], atol=1e-9)
    torque = curve(ax, VERMILLION)
    np.testing.assert_allclose(torque[0], [-0.5, 0], atol=1e-9)
    assert torque[5, 1] < 0  # from the left, counter-clockwise is down
    assert ax.texts[0].get_text() == "torque +1.0 N m"
    assert len(plot_q(imagined(action=0.0), speed=0.0).axes[1].lines) == 2  # no arrows


# --- Noise ------------------------------------------------------------------------------------


def test_the_noise_drawn_is_the_noise_of_the_agents():
    fig = plot_ou(theta=0.3, sigma=0.25, seed=4)
    noise, rng = OUNoise(0.25, 0.3), np.random.default_rng(4)
    path = [noise.sample((), rng) for _ in range(200)]
    left, right = fig.axes
    np.testing.assert_allclose(curve(left, BLUE)[:, 1], path)
    beside = noise.std * rng.standard_normal(200)  # as wide, without memory
    np.testing.assert_allclose(curve(left, ORANGE)[:, 1], beside)
    unit = carried(0.3, 0.25)[1][-1]
    np.testing.assert_allclose(curve(right, BLUE)[:, 1], pushed(np.array(path)) / unit)
    texts = [t.get_text() for t in left.texts]
    assert texts == [f"both have std {noise.std:.2f}", "1 / θ_OU = 3.3 steps"]


def test_the_bands_are_the_spread_of_many_masses():
    rng, noise = np.random.default_rng(0), OUNoise(0.2, 0.15)
    forces = np.array([noise.sample((4000,), rng) for _ in range(200)])
    white = noise.std * rng.standard_normal((200, 4000))
    for force, band in zip((forces, white), carried(0.15, 0.2), strict=True):
        speed, place = 0.0, np.zeros((200, 4000))
        for t in range(200):
            speed = 0.9 * speed + force[t]
            place[t] = place[t - 1] + speed if t else speed
        np.testing.assert_allclose(band, place.std(axis=1), rtol=0.06)
    np.testing.assert_allclose(pushed(force[:, 0]), place[:, 0])


# --- Target networks --------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.001, 0.05, 1.0])
def test_the_target_follows_as_the_agents_targets_do(tau):
    online = np.random.default_rng(0).standard_normal(50)
    target = torch.tensor([online[0]])
    wanted = [target.item()]
    for weight in online[1:]:
        polyak_update([target], [torch.tensor([weight])], tau)
        wanted.append(target.item())
    np.testing.assert_allclose(follow(online, tau), wanted)


def test_the_marks_stand_where_half_and_a_third_of_the_jump_are_left():
    left, right = plot_tau(0.005, noise=0.0).axes
    target = curve(left, BLUE)[:, 1]
    before, after = target[799], 1.8
    half = dot(left, VERMILLION, 6.5)
    assert half[0] == pytest.approx(800 + 138.28, abs=0.01)
    assert (after - half[1]) / (after - before) == pytest.approx(0.5, abs=0.01)
    texts = [t.get_text() for t in left.texts]
    assert texts == ["half-life: 138 updates", "1 / τ: 200 updates"]
    np.testing.assert_allclose(dot(right, VERMILLION, 8), [np.log10(0.005), 100 * passes(0.005)])
