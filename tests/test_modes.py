"""Networks of one's own that have modes: eval where an agent acts, train where it learns."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm
from wholes import AGENTS, everything, tiny

from helpers.agents import DDPG, PPO, SAC, TD3
from helpers.agents.cloning import pretrain
from helpers.demos.files import load_demos
from helpers.evaluation import evaluate
from helpers.training.callbacks import Evaluate

LAYERS = {
    "dropout": lambda width: nn.Dropout(0.5),
    "batch norm": nn.BatchNorm1d,
    "spectral norm": lambda width: spectral_norm(nn.Linear(width, width)),
}
EVERY = pytest.mark.parametrize("layer", LAYERS)


def network(layer, n_inputs, n_outputs):
    last = nn.Linear(8, n_outputs)
    return nn.Sequential(nn.Linear(n_inputs, 8), LAYERS[layer](8), nn.ReLU(), last)


def with_layer(kind, layer):
    """A subclass of an off-policy agent, whose actor and critics have such a layer."""

    class Actor(nn.Module):
        def __init__(self, obs_size, action_dim, hidden):
            super().__init__()
            self.layers = network(layer, obs_size, kind.outputs[0] * action_dim)

        def forward(self, obs):
            there = self.layers(obs)
            return torch.tanh(there) if kind.outputs[0] == 1 else there.chunk(2, dim=-1)

    class Critic(nn.Module):
        def __init__(self, obs_size, action_dim, hidden):
            super().__init__()
            self.layers = network(layer, obs_size + action_dim, kind.outputs[1])

        def forward(self, obs, action):
            values = self.layers(torch.cat([obs, action], dim=-1)).unbind(-1)
            return values if kind.outputs[1] == 2 else values[0]

        def q1(self, obs, action):
            return self(obs, action)[0]

    return type("Mine", (kind,), {"actor_class": Actor, "critic_class": Critic})


def made(layer, kind=TD3, seed=0):
    return with_layer(kind, layer)("Short-v0", seed=seed, **tiny)


class Watched(with_layer(TD3, "dropout")):
    """It notes the modes in which its networks learn."""

    def update(self, batch):
        names = ("actor", "critic", "target_actor", "target_critic")
        self.modes = [getattr(self, name).training for name in names]
        return super().update(batch)


# ---- acting --------------------------------------------------------------------------------------


KINDS = pytest.mark.parametrize(("kind", "layer"), [*zip([DDPG, TD3, SAC], LAYERS, strict=True)])


@KINDS
def test_it_acts_and_is_evaluated_the_same_whenever_it_is_asked(kind, layer):
    agent = made(layer, kind).learn(30)
    obs = agent.observation_space.sample()
    before, value = agent.predict(obs), agent.value(agent.flat(obs[None]))
    np.testing.assert_array_equal(agent.predict(obs), before)
    np.testing.assert_allclose(agent.predict(np.stack([obs, -obs]))[0], before, atol=1e-6)
    assert torch.equal(agent.value(agent.flat(obs[None])), value)
    once, again = (evaluate(agent, episodes=2) for _ in range(2))
    np.testing.assert_array_equal(once.returns, again.returns)


# ---- learning ------------------------------------------------------------------------------------


@KINDS
def test_the_same_seed_trains_the_same_and_torchs_own_draws_are_left_alone(kind, layer):
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    one = made(layer, kind).learn(30)
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(2)
    again = made(layer, kind).learn(30, Evaluate(every=10, episodes=1))  # who looks on
    assert everything(one) == everything(again)
    assert everything(one) != everything(made(layer, kind, seed=1).learn(30))


@EVERY
def test_a_file_and_a_copy_go_on_as_if_nothing_had_happened(layer, tmp_path):
    agent = made(layer).learn(25)
    agent.save(tmp_path / "a.pt", replay=True)
    loaded, copied = type(agent).load(tmp_path / "a.pt"), copy.deepcopy(agent)
    assert not loaded.actor.training
    agent.learn(20)
    assert everything(loaded.learn(20)) == everything(copied.learn(20)) == everything(agent)


def test_it_learns_in_train_mode_and_its_targets_never_do():
    agent = Watched("Short-v0", seed=0, **tiny).learn(20)
    assert agent.modes == [True, True, False, False]
    assert not any(part.training for part in agent.networks().values())
    agent.update = lambda batch: 1 / 0
    with pytest.raises(ZeroDivisionError):
        agent.learn(1)
    assert not any(part.training for part in agent.networks().values())


def test_what_draws_in_training_draws_anew_at_each_update():
    agent, seen = made("dropout"), []
    agent.actor.register_forward_hook(
        lambda actor, *_: seen.append(torch.random.initial_seed() * actor.training)
    )
    agent.learn(30)
    assert len(set(seen) - {0}) == agent.updates // agent.policy_delay


def layer(network):
    return getattr(network, "actor", network).layers[1]


def test_targets_follow_what_batch_norm_has_measured():
    agent = made("batch norm").learn(30)
    for name in ("actor", "critic"):
        online, target = (layer(getattr(agent, each)) for each in (name, f"target_{name}"))
        assert not torch.equal(online.running_mean, torch.zeros(8))
        assert torch.equal(online.running_mean, target.running_mean)
        assert torch.equal(online.running_var, target.running_var)
        assert not torch.equal(online.weight, target.weight)


@pytest.mark.parametrize("name", ["td3", "td3-pixels", "sac", "a2c", "ppo", "book"])
def test_the_courses_own_networks_are_left_as_torch_makes_them(name):
    networks = AGENTS[name]().learn(5).networks().values()
    assert all(part.training for each in networks for part in each.modules())


# ---- other agents --------------------------------------------------------------------------------


class Dropping(PPO):
    """Its policy has a layer of dropout."""

    def build(self):
        super().build()
        self.policy.actor.insert(2, nn.Dropout(0.5))

    def learn_from(self, *columns):
        self.learned_in = self.policy.training
        return super().learn_from(*columns)


def test_so_does_one_that_learns_from_rollouts():
    settings = {"seed": 0, "n_envs": 2, "n_steps": 8, "n_epochs": 2, "batch_size": 8}
    one, other = (Dropping("CartPole-v1", **settings).learn(40) for _ in range(2))
    assert one.learned_in
    assert not one.policy.training
    assert everything(one) == everything(other)
    obs = one.observation_space.sample()
    assert len({one.action_probability(obs)[0] for _ in range(5)}) == 1


def test_so_does_one_that_imitates_before():
    demos = load_demos("data/demos/sparse_pendulum.npz", "SparsePendulum-v0")
    kind = with_layer(DDPG, "dropout")
    agents = [kind("SparsePendulum-v0", seed=0, **tiny) for _ in range(2)]
    seen = []
    agents[0].actor.register_forward_hook(lambda actor, *_: seen.append(actor.training))
    one, other = (pretrain(agent, demos, epochs=2).train_losses for agent in agents)
    assert one == other
    assert {True, False} == set(seen)
    assert not agents[0].actor.training
