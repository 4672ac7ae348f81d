"""Networks of one's own are what an agent learns with, or it says why not."""

import copy

import numpy as np
import pytest
import torch
from gymnasium import spaces
from sentences import assert_one_sentence, one_sentence
from torch import nn
from wholes import everything, tiny

from helpers.agents import A2C, DDPG, TD3, ReinforceWithBaseline
from helpers.agents.layers import DeepTwinQNetwork, Encoder, NatureEncoder
from helpers.algorithms.ddpg import QNetwork
from helpers.algorithms.td3 import TwinQNetwork


class Smooth(nn.Module):
    """An actor with another activation, and as many layers as it is asked for."""

    def __init__(self, obs_size, action_dim, hidden, layer_norm=False):
        super().__init__()
        widths = [hidden] * 2 if isinstance(hidden, int) else hidden
        layers, n_inputs = [], obs_size
        for width in widths:
            layers += [nn.Linear(n_inputs, width), nn.ELU()]
            n_inputs = width
        self.normalised = layer_norm
        self.layers = nn.Sequential(*layers, nn.Linear(n_inputs, action_dim), nn.Tanh())

    def forward(self, obs):
        return self.layers(obs)


class Plain(TwinQNetwork):
    """Another class, which takes one width."""


class Free(nn.Module):
    """It takes no width at all."""

    def __init__(self, obs_size, action_dim):
        super().__init__()


class Own(TD3):
    actor_class = Smooth


@pytest.mark.parametrize(("hidden", "layer_norm"), [(8, False), ((9, 7, 5), True)])
def test_an_actor_of_ones_own_is_built_with_what_is_asked_for(hidden, layer_norm, tmp_path):
    agent = Own("Short-v0", seed=0, **tiny | {"hidden": hidden, "layer_norm": layer_norm})
    assert type(agent.actor) is type(agent.target_actor) is Smooth
    assert agent.actor.normalised is layer_norm
    widths = [each.out_features for each in agent.actor.layers if isinstance(each, nn.Linear)]
    assert widths == [*(hidden if isinstance(hidden, tuple) else [8, 8]), 1]
    deep = isinstance(hidden, tuple) or layer_norm
    assert isinstance(agent.critic, DeepTwinQNetwork) == deep  # the lesson's own has one
    agent.learn(20).save(tmp_path / "a.pt", replay=True)
    assert everything(Own.load(tmp_path / "a.pt").learn(10)) == everything(agent.learn(10))


@pytest.mark.parametrize(
    ("critic", "asked", "words"),
    [
        (Plain, {"hidden": (8, 8)}, "Plain cannot be built with hidden=(8, 8) ("),
        (Plain, {"layer_norm": True}, "Plain cannot be built with hidden=4 and layer_norm=True"),
        (Free, {}, "Free cannot be built with hidden=4"),
    ],
)
def test_a_critic_of_ones_own_is_kept_and_what_it_does_not_take_is_one_sentence(
    critic, asked, words
):
    mine = type("Mine", (TD3,), {"critic_class": critic})
    with one_sentence(ValueError, words):
        mine("Short-v0", seed=0, **tiny | asked)
    if critic is Plain:
        assert type(mine("Short-v0", seed=0, **tiny).critic) is Plain


def test_a_network_in_anothers_place_is_one_sentence():
    agent = DDPG("Pendulum-v1", seed=0, learning_starts=1)
    agent.learn(2).actor = nn.Sequential(nn.Linear(3, 1), nn.Tanh())
    with pytest.raises(ValueError, match="in another's place") as error:
        agent.learn(1)
    assert_one_sentence(error.value, "actor_optimizer", "agent.actor.load_state_dict", "a class")
    agent.actor_optimizer = torch.optim.Adam(agent.actor.parameters())
    agent.learn(1)
    agent.critic = nn.Sequential(agent.critic)  # around the one that is trained
    agent.critic.forward = lambda obs, action: agent.critic[0](obs, action)
    agent.learn(1)
    assert agent.updates == 4


class Heads(DDPG):
    """Networks in a list with an optimiser, a plain parameter with another, and a fixed network."""

    def build(self):
        super().build()
        self.heads, self.scale = [nn.Linear(3, 1), nn.Linear(3, 1)], nn.Parameter(torch.zeros(1))
        self.heads_optimizer = torch.optim.Adam([w for h in self.heads for w in h.parameters()])
        self.scale_optimizer = torch.optim.Adam([self.scale])
        self.fixed = nn.Linear(3, 4)


def test_what_a_constructor_makes_apart_is_meant():
    agent = Heads("Pendulum-v1", seed=0, learning_starts=1)
    assert copy.deepcopy(agent.learn(2)).learn(1).updates == 3
    agent.actor = nn.Sequential(nn.Linear(3, 1), nn.Tanh())
    with one_sentence(ValueError, "actor_optimizer", "agent.actor.load_state_dict"):
        agent.learn(1)


class Column(nn.Module):
    """A critic as Stable-Baselines3 has it: values (B, 1), of which a loss would make (B, B)."""

    def __init__(self, obs_size, action_dim, hidden):
        super().__init__()
        self.layer = nn.Linear(obs_size + action_dim, 1)

    def forward(self, obs, action):
        return self.layer(torch.cat([obs, action], dim=-1))


class Pair(Column):
    def forward(self, obs, action):
        return super().forward(obs, action).squeeze(-1), torch.zeros(len(obs))


class Swapped(Column):
    def forward(self, action, obs):
        return self.layer(obs)


class Unbounded(Smooth):
    def forward(self, obs):
        return self.layers[:-1](obs)


class OneAction(nn.Module):
    def __init__(self, obs_size, action_dim, hidden):
        super().__init__()

    def forward(self, obs):
        return obs[..., 0]


@pytest.mark.parametrize(
    ("kind", "networks", "words"),
    [
        (DDPG, {"critic_class": Column}, "Column must give one value a row, shape (B,); asked with "
         "(3, 3) and (3, 1) it gave (3, 1)."),
        (DDPG, {"critic_class": TwinQNetwork, "actor_class": Smooth}, "TwinQNetwork must give one"),
        (DDPG, {"critic_class": Swapped}, "Swapped cannot be asked with (3, 3) and (3, 1) ("),
        (TD3, {"critic_class": QNetwork}, "QNetwork must give two values a row"),
        (TD3, {"critic_class": Pair}, "Pair must have a q1(obs, action)"),
        (TD3, {"actor_class": OneAction}, "OneAction must give actions of shape (B, 1); asked"),
        (TD3, {"actor_class": Unbounded}, "Unbounded must give actions in [-1, 1]"),
    ],
)  # fmt: skip
def test_what_computes_something_else_is_one_sentence_before_any_step(kind, networks, words):
    mine = type("Mine", (kind,), networks)
    with one_sentence(ValueError, words):
        mine("Short-v0", seed=0, **tiny)


@pytest.mark.parametrize(
    ("kind", "name", "value", "words"),
    [
        (A2C, "actor_class", Smooth, "which A2C does not read: its networks follow the setting"),
        (ReinforceWithBaseline, "critic_class", Smooth, "which ReinforceWithBaseline does not"),
        (TD3, "actor_class", Smooth(3, 1, 8), "must be a class"),
    ],
)
def test_what_a_class_cannot_name_is_refused(kind, name, value, words):
    with one_sentence(TypeError, name, words):
        type("Mine", (kind,), {name: value})


# ---- eyes ----------------------------------------------------------------------------------------


class Wide(Encoder):
    channels = (4, 6, 8)
    features = 11


class Watcher(TD3):
    encoder_class = Wide


def test_the_channels_and_features_of_the_encoder_can_be_set(tmp_path):
    agent = Watcher("ShortPixels-v0", seed=0, **tiny)
    convolutions = [e for e in agent.critic.encoder.convolutions if isinstance(e, nn.Conv2d)]
    assert [each.out_channels for each in convolutions] == [4, 6, 8]
    assert agent.critic.encoder.summary.out_features == 11
    assert agent.actor.actor.hidden1.in_features == 11
    agent.learn(20).save(tmp_path / "a.pt", replay=True)
    loaded = Watcher.load(tmp_path / "a.pt")
    assert everything(loaded.learn(5)) == everything(agent.learn(5))
    with one_sentence(ValueError, "'actor' does not fit this agent"):
        type("Watcher", (TD3,), {}).load(tmp_path / "a.pt")


@pytest.mark.parametrize("shape", [(4, 84, 84), (3, 36, 50)], ids=str)
def test_the_encoder_of_nature_computes_what_the_peers_does(shape):
    layers = pytest.importorskip("stable_baselines3.common.torch_layers")
    ours = NatureEncoder(shape)
    theirs = layers.NatureCNN(spaces.Box(0, 255, shape, np.uint8))
    pairs = zip(ours.parameters(), theirs.parameters(), strict=True)
    with torch.no_grad():
        for mine, other in pairs:
            other.copy_(mine)
        pictures = torch.randint(256, (5, *shape), dtype=torch.uint8)
        expected = theirs(pictures.float() / 255)
        torch.testing.assert_close(ours(pictures.flatten(1)), expected)
    assert expected.shape == (5, NatureEncoder.features)
    assert ours(pictures[0].flatten()).shape == (512,)


def test_an_encoder_with_nothing_to_see_is_one_sentence():
    with one_sentence(ValueError, match=r"^Wide is an encoder_class and would see"):
        Watcher("Short-v0", seed=0, **tiny)
    with one_sentence(ValueError, "36 x 36"):
        type("Mine", (TD3,), {"encoder_class": NatureEncoder})("ShortPixels-v0", **tiny)


def test_an_encoder_of_ones_own_need_take_no_picture_alone(tmp_path):
    class Batches(nn.Module):
        features = 4

        def __init__(self, shape):
            super().__init__()
            self.layer = nn.Linear(int(np.prod(shape)), 4)

        def forward(self, obs):
            return self.layer(obs.flatten(1).float())

    agent = type("Mine", (TD3,), {"encoder_class": Batches})("ShortPixels-v0", seed=0, **tiny)
    agent.learn(15).save(tmp_path / "a.pt", replay=True)
    assert everything(type(agent).load(tmp_path / "a.pt").learn(5)) == everything(agent.learn(5))
