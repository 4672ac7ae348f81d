"""Updates of SAC from given weights, batches and noise are Stable-Baselines3's."""

import pytest
import torch
from environments import BOXES, LOPSIDED, TORQUE, AnySpace, make
from test_td3_peer import SIZE, FixedNoise, assert_updates_equal, both_critics

from helpers.agents.sac import SAC

sb3 = pytest.importorskip("stable_baselines3", reason="a development requirement")

EPS, UPDATES = 1e-5, 6


def actors(ours, theirs):
    """(our parameters, the peer's): our output layer has the peer's two heads in one."""
    mine = [p for layer in (ours.hidden1, ours.hidden2) for p in (layer.weight, layer.bias)]
    mine += [half for p in ours.output.parameters() for half in p.chunk(2)]
    heads = theirs.mu.weight, theirs.log_std.weight, theirs.mu.bias, theirs.log_std.bias
    return zip(mine, [*theirs.latent_pi.parameters(), *heads], strict=True)


def pairs(ours, theirs):
    """(our parameters, the peer's) of actor, critics, targets and temperature."""
    yield from actors(ours.actor, theirs.actor)
    for mine, other in (
        (both_critics(ours.critic), theirs.critic),
        (both_critics(ours.target_critic), theirs.critic_target),
    ):
        yield from zip(mine, other.parameters(), strict=True)
    if theirs.log_ent_coef is not None:
        yield ours.temperature.log[None], theirs.log_ent_coef


def the_peer(ours, env, hidden, **settings):
    """Stable-Baselines3's agent, made comparable with ours, which also changes a little."""
    theirs = sb3.SAC(
        "MlpPolicy", env, device="cpu", ent_coef="auto_0.3" if ours.learn_temperature else 0.3,
        learning_rate=1e-3, **settings,
        policy_kwargs={"net_arch": [hidden, hidden], "optimizer_kwargs": {"eps": EPS}},
    )  # fmt: skip
    # Adam divides by the gradient: an epsilon above its rounding keeps that small. The peer takes
    # half of the critics' loss, which Adam divides out, all but epsilon.
    for name, times in (("actor", 1), ("critic", 2), ("temperature", 1)):
        getattr(ours, f"{name}_optimizer").param_groups[0]["eps"] = EPS * times
    if ours.learn_temperature:
        theirs.ent_coef_optimizer.param_groups[0]["eps"] = EPS
    # The peer adds 1e-6 where the tanh is flat; our form of the logarithm needs no such thing.
    theirs.actor.action_dist.epsilon = 0.0
    return theirs


@pytest.mark.parametrize("action_space", [TORQUE, LOPSIDED], ids=["one action", "two actions"])
@pytest.mark.parametrize("learned", [True, False], ids=["learned", "fixed"])
@pytest.mark.parametrize("hidden", [32, 256])
@pytest.mark.parametrize("fast", [False, True])
def test_updates_equal_the_peers(fast, hidden, learned, action_space):
    env = make(AnySpace, observation_space=BOXES["float32"], action_space=action_space)
    settings = {"tau": 0.01, "gamma": 0.97, "seed": 3}
    temperature = {"temperature": 0.3, "learn_temperature": learned}
    ours = SAC(env, hidden=hidden, fast=fast, **settings, **temperature)
    theirs = the_peer(ours, env, hidden, **settings)
    # The peer draws for the observations first, and the next ones afterwards.
    torch.manual_seed(7)
    draws = [torch.randn(SIZE, ours.action_size).numpy() for _ in range(2 * UPDATES)]
    ours.rng = FixedNoise([each for i in range(UPDATES) for each in draws[2 * i : 2 * i + 2][::-1]])
    assert_updates_equal(ours, theirs, pairs, UPDATES)
