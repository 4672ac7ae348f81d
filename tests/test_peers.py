"""Updates of DDPG, TD3 and SAC from given weights, batches and noise are Stable-Baselines3's."""

import pytest
import torch
from environments import BOXES, LOPSIDED, TORQUE, AnySpace, make
from trials import a_batch, parameters

from helpers.agents import DDPG, SAC, TD3

sb3 = pytest.importorskip("stable_baselines3", reason="a development requirement")
from stable_baselines3.common.type_aliases import ReplayBufferSamples  # noqa: E402

SIZE, UPDATES, EPS = 50, 6, 1e-5
SHARED = {"tau": 0.01, "gamma": 0.97, "seed": 3}
FAST = pytest.mark.parametrize("fast", [False, True])


class FixedNoise:
    """Stands in for the agent's generator: hands out what the peer will draw."""

    def __init__(self, draws):
        self.draws = iter(draws)

    def standard_normal(self, shape, dtype):
        draw = next(self.draws)
        assert draw.shape == tuple(shape)
        return draw.astype(dtype)


def an_env(action_space):
    return make(AnySpace, observation_space=BOXES["float32"], action_space=action_space)


def critics_of(network):
    """One critic's parameters, or both critics', layer by layer, as the peer arranges them."""
    return parameters(
        *([network.first, network.second] if hasattr(network, "first") else [network])
    )


def actor_of(ours, theirs):
    """(ours, the peer's): SAC's output layer has the peer's two heads in one."""
    if hasattr(theirs, "log_std"):
        mine = [p for layer in (ours.hidden1, ours.hidden2) for p in (layer.weight, layer.bias)]
        mine += [half for p in ours.output.parameters() for half in p.chunk(2)]
        heads = theirs.mu.weight, theirs.log_std.weight, theirs.mu.bias, theirs.log_std.bias
        return zip(mine, [*theirs.latent_pi.parameters(), *heads], strict=True)
    return zip(ours.parameters(), theirs.mu.parameters(), strict=True)


def pairs(ours, theirs):
    """(our parameters, the peer's) of all that learns, layer by layer."""
    yield from actor_of(ours.actor, theirs.actor)
    if hasattr(ours, "target_actor"):
        yield from actor_of(ours.target_actor, theirs.actor_target)
    for mine, other in (
        (ours.critic, theirs.critic),
        (ours.target_critic, theirs.critic_target),
    ):
        yield from zip(critics_of(mine), other.parameters(), strict=True)
    if getattr(theirs, "log_ent_coef", None) is not None:
        yield ours.temperature.log[None], theirs.log_ent_coef


def assert_updates_equal(ours, theirs):
    """From the same weights, by the same batches; `ours.rng` draws what the peer will."""
    torch.manual_seed(5)
    with torch.no_grad():
        for mine, other in pairs(ours, theirs):
            mine.add_(0.02 * torch.randn_like(mine))  # targets unlike the online networks
            other.copy_(mine)
    batches = [a_batch(SIZE, 3, ours.action_size, seed=i) for i in range(UPDATES)]
    theirs._logger = sb3.common.logger.Logger(None, [])
    samples = iter(
        ReplayBufferSamples(b.obs, b.action, b.next_obs, b.terminated[:, None], b.reward[:, None])
        for b in batches
    )
    theirs.replay_buffer.sample = lambda *args, **kwargs: next(samples)
    torch.manual_seed(7)
    theirs.train(gradient_steps=UPDATES, batch_size=SIZE)
    update = ours.in_numpy(ours) if ours.fast else ours.update
    for batch in batches:
        ours.updates += 1
        update(batch)
    for mine, other in pairs(ours, theirs):
        torch.testing.assert_close(mine, other, rtol=0, atol=1e-5)


@FAST
def test_ddpg(fast):
    env, rates = an_env(LOPSIDED), {"learning_rate": 1e-3}
    ours = DDPG(env, hidden=32, fast=fast, **SHARED)
    theirs = sb3.DDPG(
        "MlpPolicy", env, device="cpu", policy_kwargs={"net_arch": [32, 32]}, **rates, **SHARED
    )
    assert_updates_equal(ours, theirs)


@FAST
@pytest.mark.parametrize(("action_space", "hidden", "delay"), [(TORQUE, 256, 1), (LOPSIDED, 32, 3)])
def test_td3(fast, action_space, hidden, delay):
    env = an_env(action_space)
    own = {"target_noise": 0.3, "noise_clip": 0.4, "policy_delay": delay, "hidden": hidden}
    ours = TD3(env, fast=fast, **own, **SHARED)
    theirs = sb3.TD3(
        "MlpPolicy", env, device="cpu", target_policy_noise=0.3, target_noise_clip=0.4,
        policy_delay=delay, learning_rate=1e-3, policy_kwargs={"net_arch": [hidden, hidden]},
        **SHARED,
    )  # fmt: skip
    torch.manual_seed(7)
    draws = [torch.zeros(SIZE, ours.action_size).normal_(0, 0.3) for _ in range(UPDATES)]
    ours.rng = FixedNoise([(draw / 0.3).numpy() for draw in draws])
    assert_updates_equal(ours, theirs)


@FAST
@pytest.mark.parametrize(
    ("action_space", "hidden", "learned"), [(TORQUE, 256, True), (LOPSIDED, 32, False)]
)
def test_sac(fast, action_space, hidden, learned):
    env = an_env(action_space)
    temperature = {"temperature": 0.3, "learn_temperature": learned}
    ours = SAC(env, hidden=hidden, fast=fast, **temperature, **SHARED)
    theirs = sb3.SAC(
        "MlpPolicy", env, device="cpu", ent_coef="auto_0.3" if learned else 0.3,
        learning_rate=1e-3, **SHARED,
        policy_kwargs={"net_arch": [hidden, hidden], "optimizer_kwargs": {"eps": EPS}},
    )  # fmt: skip
    # Adam divides by the gradient: an epsilon above its rounding keeps that small. The peer takes
    # half of the critics' loss, which Adam divides out, all but epsilon.
    for name, times in (("actor", 1), ("critic", 2), ("temperature", 1)):
        getattr(ours, f"{name}_optimizer").param_groups[0]["eps"] = EPS * times
    if learned:
        theirs.ent_coef_optimizer.param_groups[0]["eps"] = EPS
    # The peer adds 1e-6 where the tanh is flat; our form of the logarithm needs no such thing.
    theirs.actor.action_dist.epsilon = 0.0
    # The peer draws for the observations first, and the next ones afterwards.
    torch.manual_seed(7)
    draws = [torch.randn(SIZE, ours.action_size).numpy() for _ in range(2 * UPDATES)]
    ours.rng = FixedNoise([each for i in range(UPDATES) for each in draws[2 * i : 2 * i + 2][::-1]])
    assert_updates_equal(ours, theirs)
