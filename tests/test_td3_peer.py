"""Updates of TD3 from given weights, batches and noise are Stable-Baselines3's."""

import pytest
import torch
from environments import BOXES, LOPSIDED, TORQUE, AnySpace, make
from trials import a_batch, parameters

from helpers.agents.td3 import TD3

sb3 = pytest.importorskip("stable_baselines3", reason="a development requirement")
from stable_baselines3.common.type_aliases import ReplayBufferSamples  # noqa: E402


class FixedNoise:
    """Stands in for the agent's generator: hands out what the peer will draw."""

    def __init__(self, draws):
        self.draws = iter(draws)

    def standard_normal(self, shape, dtype):
        draw = next(self.draws)
        assert draw.shape == tuple(shape)
        return draw.astype(dtype)


def both_critics(network):
    """Our two critics' parameters, layer by layer, as the peer arranges them; views."""
    return parameters(network.first, network.second)


def pairs(ours, theirs):
    """(our parameters, the peer's) of actor, critics and all targets, layer by layer."""
    for mine, other in (
        (parameters(ours.actor), theirs.actor.mu),
        (both_critics(ours.critic), theirs.critic),
        (parameters(ours.target_actor), theirs.actor_target.mu),
        (both_critics(ours.target_critic), theirs.critic_target),
    ):
        yield from zip(mine, other.parameters(), strict=True)


SIZE = 50  # of a batch


def assert_updates_equal(ours, theirs, pairs, updates):
    """From the same weights, by the same batches; `ours.rng` draws what the peer will."""
    torch.manual_seed(5)
    with torch.no_grad():
        for mine, other in pairs(ours, theirs):
            mine.add_(0.02 * torch.randn_like(mine))  # targets unlike the online networks
            other.copy_(mine)
    batches = [a_batch(SIZE, 3, ours.action_size, seed=i) for i in range(updates)]
    theirs._logger = sb3.common.logger.Logger(None, [])
    samples = iter(
        ReplayBufferSamples(b.obs, b.action, b.next_obs, b.terminated[:, None], b.reward[:, None])
        for b in batches
    )
    theirs.replay_buffer.sample = lambda *args, **kwargs: next(samples)
    torch.manual_seed(7)
    theirs.train(gradient_steps=updates, batch_size=SIZE)
    update = ours.in_numpy(ours) if ours.fast else ours.update
    for batch in batches:
        ours.updates += 1
        update(batch)
    for mine, other in pairs(ours, theirs):
        torch.testing.assert_close(mine, other, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("updates", "delay"), [(6, 1), (6, 3)])
@pytest.mark.parametrize("action_space", [TORQUE, LOPSIDED], ids=["one action", "two actions"])
@pytest.mark.parametrize("hidden", [32, 256])
@pytest.mark.parametrize("fast", [False, True])
def test_updates_equal_the_peers(fast, hidden, action_space, updates, delay):
    env = make(AnySpace, observation_space=BOXES["float32"], action_space=action_space)
    own = {"target_noise": 0.3, "noise_clip": 0.4, "policy_delay": delay, "hidden": hidden}
    ours = TD3(env, seed=3, tau=0.01, gamma=0.97, fast=fast, **own)
    theirs = sb3.TD3(
        "MlpPolicy", env, seed=3, device="cpu", tau=0.01, gamma=0.97, target_policy_noise=0.3,
        target_noise_clip=0.4, policy_delay=delay, learning_rate=1e-3,
        policy_kwargs={"net_arch": [hidden, hidden]},
    )  # fmt: skip
    torch.manual_seed(7)
    draws = [torch.zeros(SIZE, ours.action_size).normal_(0, 0.3) for _ in range(updates)]
    ours.rng = FixedNoise([(draw / 0.3).numpy() for draw in draws])
    assert_updates_equal(ours, theirs, pairs, updates)
