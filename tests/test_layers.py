"""Networks of other depths do the same jobs as the lessons' own."""

import pytest
import torch
from torch import nn

from helpers.agents import DDPG, SAC, TD3
from helpers.agents.layers import DeepActor, DeepQNetwork, DeepTwinQNetwork, hidden_layers
from helpers.algorithms.ddpg import DeterministicActor, QNetwork
from helpers.algorithms.td3 import TwinQNetwork

SHORT = {"learning_starts": 50, "batch_size": 8}


def copied(deep: nn.Module, plain: nn.Module) -> nn.Module:
    """The deep network with the weights of the plain one."""
    weights = list(plain.state_dict().values())
    assert [each.shape for each in deep.state_dict().values()] == [each.shape for each in weights]
    deep.load_state_dict(dict(zip(deep.state_dict(), weights, strict=True)))
    return deep


@pytest.mark.parametrize(
    ("deep", "plain"),
    [(DeepActor, DeterministicActor), (DeepQNetwork, QNetwork), (DeepTwinQNetwork, TwinQNetwork)],
)
def test_two_layers_without_normalisation_are_the_lessons_network(deep, plain):
    plain = plain(3, 2, 16)
    deep = copied(deep(3, 2, (16, 16)), plain)
    inputs = [torch.randn(5, 3)] if isinstance(plain, DeterministicActor) else None
    inputs = inputs or [torch.randn(5, 3), torch.randn(5, 2)]
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


@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("agent_kind", [DDPG, TD3, SAC])
def test_an_agent_learns_with_other_layers_and_is_loaded_with_them(
    tmp_path, agent_kind, layer_norm
):
    agent = agent_kind(
        "Pendulum-v1", seed=0, hidden=(24, 16, 8), layer_norm=layer_norm, **SHORT
    )  # fmt: skip
    before = [parameter.clone() for parameter in agent.actor.parameters()]
    agent.learn(80)
    after = list(agent.actor.parameters())
    assert not all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert sum(isinstance(layer, nn.LayerNorm) for layer in agent.actor.modules()) == 3 * layer_norm
    agent.save(tmp_path / "agent.pt")
    loaded = agent_kind.load(tmp_path / "agent.pt")
    obs = agent.observation_space.sample()
    assert agent.predict(obs) == loaded.predict(obs)
    assert loaded.hyperparameters["hidden"] == (24, 16, 8)
