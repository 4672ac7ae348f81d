"""Networks of other depths do the same jobs as the lessons' own."""

import pytest
import torch
from torch import nn

from helpers.agents import A2C, DDPG, PPO, SAC, TD3
from helpers.agents.layers import (
    DeepActor,
    DeepQNetwork,
    DeepSquashedGaussianActor,
    DeepTwinQNetwork,
    hidden_layers,
)
from helpers.algorithms.ddpg import DeterministicActor, QNetwork
from helpers.algorithms.sac import SquashedGaussianActor
from helpers.algorithms.td3 import TwinQNetwork

SHORT = {"learning_starts": 50, "batch_size": 8}


def copied(deep: nn.Module, plain: nn.Module) -> nn.Module:
    """The deep network with the weights of the plain one."""
    weights = list(plain.state_dict().values())
    assert [each.shape for each in deep.state_dict().values()] == [each.shape for each in weights]
    deep.load_state_dict(dict(zip(deep.state_dict(), weights, strict=True)))
    return deep


@pytest.mark.parametrize(
    ("deep", "plain", "sizes"),
    [
        (DeepActor, DeterministicActor, [3]),
        (DeepSquashedGaussianActor, SquashedGaussianActor, [3]),
        (DeepQNetwork, QNetwork, [3, 2]),
        (DeepTwinQNetwork, TwinQNetwork, [3, 2]),
    ],
)
def test_two_layers_without_normalisation_are_the_lessons_network(deep, plain, sizes):
    plain, deep = plain(3, 2, 16), deep(3, 2, (16, 16))
    for name, weights in deep.named_parameters():
        assert (weights.abs().max() <= 3e-3) == ("output" in name)  # a small start
    copied(deep, plain)
    large = 10.0 ** torch.arange(0, 10, 2)[:, None]  # of which a log_std is cut off
    inputs = [large * torch.randn(5, size) for size in sizes]
    for ours, theirs in zip(deep(*inputs), plain(*inputs), strict=True):
        assert torch.allclose(ours, theirs)
    if hasattr(plain, "q1"):
        assert torch.allclose(deep.q1(*inputs), plain.q1(*inputs))


def test_normalisation_stands_between_product_and_relu():
    layers = hidden_layers(3, (400, 300), layer_norm=True)
    kinds = [nn.Linear, nn.LayerNorm, nn.ReLU] * 2
    assert [type(layer) for layer in layers] == kinds
    assert [layer.out_features for layer in layers[::3]] == [400, 300]
    before_relu = layers[:2](1000 * torch.randn(7, 3) + 5)
    assert torch.allclose(before_relu.mean(dim=1), torch.zeros(7), atol=1e-5)
    assert torch.allclose(before_relu.std(dim=1, unbiased=False), torch.ones(7), atol=1e-3)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        *(
            (kind, SHORT | {"layer_norm": norm})
            for kind in (DDPG, TD3, SAC)
            for norm in (False, True)
        ),
        (A2C, {"n_envs": 2, "n_steps": 4}),
        (PPO, {"n_envs": 2, "n_steps": 4, "batch_size": 4}),
    ],
)
def test_an_agent_learns_with_other_layers_and_is_loaded_with_them(tmp_path, kind, settings):
    agent = kind("Pendulum-v1", seed=0, hidden=(24, 16, 8), **settings)
    actor = agent.policy.actor if kind in (A2C, PPO) else agent.actor
    before = [parameter.clone() for parameter in actor.parameters()]
    agent.learn(80)
    after = list(actor.parameters())
    assert not all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    shapes = [each.weight.shape for each in actor.modules() if isinstance(each, nn.Linear)]
    assert shapes[:3] == [(24, 3), (16, 24), (8, 16)]
    norms = sum(isinstance(layer, nn.LayerNorm) for layer in actor.modules())
    assert norms == 3 * settings.get("layer_norm", 0)
    agent.save(tmp_path / "agent.pt")
    loaded = kind.load(tmp_path / "agent.pt")
    obs = agent.observation_space.sample()
    assert agent.predict(obs) == loaded.predict(obs)
    assert loaded.hyperparameters["hidden"] == (24, 16, 8)
