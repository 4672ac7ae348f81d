"""One update of TD3 from given weights, batch and noise is Stable-Baselines3's."""

import numpy as np
import pytest
import torch

from helpers.agents.td3 import TD3
from helpers.buffers import Batch

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


def some_batch(rng, size):
    terminated = rng.random(size) < 0.3
    parts = (
        rng.normal(size=(size, 3)), rng.uniform(-1, 1, (size, 1)), rng.normal(size=size),
        rng.normal(size=(size, 3)), terminated, ~terminated,
    )  # fmt: skip
    return Batch(*(torch.as_tensor(part, dtype=torch.float32) for part in parts))


def pairs(ours, theirs):
    """(our parameters, the peer's) of actor, critic and both targets, layer by layer."""
    for mine, other in (
        (ours.actor, theirs.actor.mu), (ours.critic.first, theirs.critic.qf0),
        (ours.critic.second, theirs.critic.qf1), (ours.target_actor, theirs.actor_target.mu),
        (ours.target_critic.first, theirs.critic_target.qf0),
        (ours.target_critic.second, theirs.critic_target.qf1),
    ):  # fmt: skip
        yield from zip(mine.parameters(), other.parameters(), strict=True)


@pytest.mark.parametrize("updates", [1, 2, 6])
def test_updates_equal_the_peers(updates):
    ours = TD3("Pendulum-v1", seed=3, hidden=32, tau=0.01, gamma=0.97)
    theirs = sb3.TD3(
        "MlpPolicy", "Pendulum-v1", seed=3, device="cpu", tau=0.01, gamma=0.97,
        policy_kwargs={"net_arch": [32, 32]}, learning_rate=1e-3,
    )  # fmt: skip
    theirs._logger = sb3.common.logger.Logger(None, [])
    with torch.no_grad():
        for mine, other in pairs(ours, theirs):
            mine.add_(0.02 * torch.randn_like(mine))  # targets unlike the online networks
            other.copy_(mine)
    size = 50
    batches = [some_batch(np.random.default_rng(i), size) for i in range(updates)]
    torch.manual_seed(7)
    draws = [torch.zeros(size, 1).normal_(0, 0.2) for _ in batches]
    ours.rng = FixedNoise([(draw / 0.2).numpy() for draw in draws])
    samples = iter(
        ReplayBufferSamples(b.obs, b.action, b.next_obs, b.terminated[:, None], b.reward[:, None])
        for b in batches
    )
    theirs.replay_buffer.sample = lambda *args, **kwargs: next(samples)
    torch.manual_seed(7)
    theirs.train(gradient_steps=updates, batch_size=size)
    for batch in batches:
        ours.updates += 1
        ours.update(batch)
    for mine, other in pairs(ours, theirs):
        torch.testing.assert_close(mine, other, rtol=0, atol=1e-5)
