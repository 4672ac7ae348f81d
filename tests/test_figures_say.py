"""What the figures' headlines say of their settings."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.show.figures.ddpg_critic import plot_q
from helpers.show.figures.ddpg_noise import plot_ou
from helpers.show.figures.ddpg_target_network import plot_tau
from helpers.show.figures.ddpg_uphill import plot_uphill
from helpers.show.figures.ddpgfd_n_step import plot_n_step
from helpers.show.figures.ddpgfd_priorities import plot_priorities
from helpers.show.figures.ddpgfd_sum_tree import plot_tree_walk
from helpers.show.figures.ppo_clip import plot_clip
from helpers.show.figures.practice_frames import plot_frames
from helpers.show.figures.sac_gradients import plot_gradients
from helpers.show.figures.sac_temperature import plot_temperature
from helpers.show.figures.td3_bias import plot_bias
from helpers.show.figures.td3_climb import plot_climb
from helpers.show.figures.td3_smoothing import plot_smoothing
from tests.figures import imagined, sentence

S = dict  # settings: a row is read as the call that it stands for
SAID = [
    (plot_uphill, S(), "5 updates uphill: to a = +0.35"),
    (plot_uphill, S(step=0), "stays where it is"),
    (plot_uphill, S(steps=20), "Arrived: hardly any gradient is left at a = +0.35"),
    (plot_uphill, S(action=0.1, step=0.15, steps=20), "leaps to and fro"),
    (plot_uphill, S(action=0.2, step=0.3, steps=1), "jumps across a top"),
    (plot_uphill, S(action=-0.92, step=0.2, steps=5), "to and fro across a top"),
    (plot_uphill, S(action=-0.5, steps=20), "Trapped on a lower hill, Q = 0.60"),
    (plot_uphill, S(action=0.1, steps=20, error=1), "Misled: the critic says Q = 1.25"),
    (plot_uphill, S(action=0.4, steps=20, error=1), "true Q falls from 0.98 to 0.56"),
    (plot_uphill, S(action=-0.24, step=0.01), "Hardly any gradient"),
    (plot_uphill, S(action=-1.0, step=0.01, steps=2), "the critic's Q stays near 0.01"),
    (plot_uphill, S(action=-0.88, step=0.22, steps=20), "the critic's Q falls from 0.08 to 0.03"),
    (plot_uphill, S(steps=20, error=0.5), "Near the true top: the critic says Q = 1.09 at a = +"),
    (plot_ou, S(), "Correlated over 6.7 steps: OU noise pushes a mass 3.4 times as far"),
    (plot_ou, S(theta=1.0), "OU noise is independent noise"),
    (plot_tau, S(tau=1.0), "no target network"),
    (plot_tau, S(tau=0.5), "1 update behind"),
    (plot_tau, S(tau=0.005), "199 updates behind and lets 5 % of the noise through"),
    (plot_bias, S(), "the maximum is 1.54 too high, double unbiased, clipped 0.05 too low."),
    (plot_bias, S(actions=2, noise=0.1, spread=0.3), "maximum is hardly off, double 0.01 too low"),
    (plot_bias, S(noise=0.0, spread=1.0), "Without noise all three are right"),
    (plot_bias, S(actions=1), "each critic is unbiased, the lower of the two 0.56"),
    (plot_bias, S(shared=0.9), "double 1.38 too high, clipped 1.2"),
    (plot_climb, S(), "Q₁ goes from 0.95 to 1.27, the true Q from 1.00 down"),
    (plot_climb, S(updates=1), "One update: Q₁ goes from 0.95 to 0.9"),
    (plot_climb, S(updates=0), "No update yet"),
    (plot_climb, S(size=0.0), "Without errors the actor stays"),
    (plot_smoothing, S(), "leaves 17 % of the peak and 82 % of the hill: the highest point moves"),
    (plot_smoothing, S(target_noise=0.0), "No smoothing: the highest point, at a = +0.50, is the"),
    (plot_smoothing, S(noise_clip=0.0, peak=0.3), "none needed"),
    (plot_smoothing, S(target_noise=0.04, peak=1.5, width=0.1), "Too little: smoothing leaves 87"),
    (plot_smoothing, S(target_noise=0.4), "Too much: smoothing leaves 13 %"),
    (plot_smoothing, S(target_noise=1.0, peak=1.5, width=0.3), "Too much: smoothing leaves 45 %"),
    (plot_smoothing, S(peak=0.5), "both lead to the hill"),
    (plot_smoothing, S(peak=0.0), "Smoothing leaves 82 % of the hill"),
    (plot_tree_walk, S(step=0), "13.25 of 24: at which place? 3 questions will tell."),
    (plot_tree_walk, S(step=1), "Question 1 of 3: right, the left child's sum is subtracted; 2.25"),
    (plot_tree_walk, S(step=2), "2 of 3: left, nothing changes; 2.25 is left to find below node 6"),
    (plot_tree_walk, S(prefix_sum=30), "30 counts as a hair below the total, 24: place 7, the"),
    (plot_tree_walk, S(prefix_sum=30, step=0), "hair below the total, 24. 3 questions will"),
    (plot_tree_walk, S(prefix_sum=24, step=1), "is subtracted; 13⁻ is left to find below"),
    (plot_priorities, S(alpha=0.6, beta=0.4), "sampled 16 times as often as the smallest, and c"),
    (plot_priorities, S(alpha=0, beta=0.4), "α = 0: all are sampled alike"),
    (plot_priorities, S(alpha=0.05, beta=0.95), "sampled 1.3 times as often as the smallest"),
    (plot_priorities, S(alpha=1, beta=0), "β = 0, no correction: the largest error counts 100"),
    (plot_priorities, S(alpha=1, beta=1), "β = 1: the largest error is sampled 100 times as often"),
    (plot_n_step, S(), "6 of 12 values know of the reward; 1-step targets reach 2."),
    (plot_n_step, S(sweeps=0), "No sweep yet"),
    (plot_n_step, S(n=1, sweeps=1), "After 1 sweep of 1-step targets 1 of 12 values knows"),
    (plot_n_step, S(n=1, sweeps=12), "After 12 sweeps of 1-step targets all values are right."),
    (plot_n_step, S(sweeps=1, cut=False), "After 1 sweep no value shows it yet."),
    (plot_n_step, S(n=5, sweeps=4, cut=False), "state 11 is said to be worth 1.28, not 1.00."),
    (plot_temperature, S(temperature=0.1, second=0.8), "on one hump"),
    (plot_temperature, S(temperature=1.0, second=0.8), "over both"),
    (plot_temperature, S(temperature=1.0, second=0.0), "wider than the hump."),
    (plot_gradients, S(offset=0.0, std=1.0, ripples=0.2), "reparameterised estimate has"),
    (plot_gradients, S(), "score function has 24.5 times"),
    (plot_gradients, S(offset=-1.0, std=0.7, ripples=0.2), "estimators have the same variance"),
    (plot_gradients, S(offset=-10.0, std=0.05), "has 2,780,000 times"),
    (plot_clip, S(ratio=1.0), "Both"),
    (plot_clip, S(ratio=1.5), "only the bad one"),
    (plot_clip, S(ratio=0.5), "only the good one"),
    (plot_frames, S(frames=np.full((3, 8, 8), 200, np.uint8)), "are alike: no motion shows."),
    *((plot_q, S(agent=agent, angle=angle), said) for agent, angle, said in (
        (imagined(0.3, 0.3), 0, "agree on torque +0.6 N m"),
        (imagined(critic=lambda obs, a: (1 - obs[:, 0]) * a[:, 0]), 0, "hardly matters here"),
        (imagined(critic=lambda obs, a: (1 - obs[:, 0]) * a[:, 0]), 180, "likes +2.0 best"),
        # +0.16 and +0.24 N m read alike.
        (imagined(0, 0.08, lambda obs, a: -(a[:, 0] - 0.12).abs() + 0 * obs[:, 0]), 0,
         "agree on torque +0.2 N m"),
        (imagined(critic=lambda obs, a: 0 * (a + obs)[:, 0]), 0, "sees a difference of 0"),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("plot", "settings", "said"), SAID)
def test_the_headline_says_what_is_to_be_seen(plot, settings, said):
    assert said in sentence(plot(**settings)), sentence(plot(**settings))


def test_an_agent_that_has_diverged_is_refused():
    with pytest.raises(ValueError, match="diverged"):
        plot_q(imagined(place=float("nan")))
