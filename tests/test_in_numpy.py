"""Updates in numpy: the same numbers as by autograd, used only where they do what the class says.

`Mlp` itself is tried by all of them: each width and depth goes forward, back, and to its input.
"""

import copy

import numpy as np
import pytest
import torch
from environments import LOPSIDED, AnySpace, make
from trials import a_batch, assert_same, with_larger_eps

from helpers.agents import DDPG, PPO, SAC, TD3
from helpers.agents.noise import GaussianNoise
from helpers.agents.schedules import LinearSchedule
from helpers.algorithms.ddpg import DeterministicActor

few = {"seed": 0, "learning_starts": 5, "batch_size": 16, "buffer_size": 100}


def off_policy(kind, **settings):
    env = make(AnySpace, action_space=LOPSIDED)
    return with_larger_eps(kind(env, **{"hidden": 8, "tau": 0.1, **few, **settings}))


def both_ways(agent, updates=12, rows=(16,)):
    """Two copies after as many updates with the same batches: by autograd and in numpy."""
    agents = copy.deepcopy(agent), copy.deepcopy(agent)
    agents[0].fast = False
    for number in range(updates):
        size = rows[number % len(rows)]
        batch = a_batch(size, agent.obs_size, agent.action_size, seed=number)
        for each in agents:
            each.updates += 1
            each.logged = each.learned(each.update, batch)
    assert agents[0].logged.keys() == agents[1].logged.keys()
    for name, value in agents[0].logged.items():
        torch.testing.assert_close(agents[1].logged[name], value, rtol=1e-4, atol=1e-5)
    assert type(agents[1].chosen) is type(agent).in_numpy
    return agents


OFF_POLICY = [
    *[(TD3, {"hidden": hidden}) for hidden in (1, 9, (7,), (5, 6, 7))],
    *[(kind, {"hidden": (5, 6, 7), "gamma": 0.5, "tau": 1.0}) for kind in (DDPG, SAC)],
    (TD3, {"policy_delay": 3, "target_noise": 0.0}),
    (TD3, {"target_noise": 2.0, "noise_clip": 0.1}),
    (TD3, {"noise_clip": float("inf")}),
    (SAC, {"learn_temperature": False, "temperature": 0.2}),
    (SAC, {"target_entropy": -7.0}),
    (TD3, {"actor_learning_rate": LinearSchedule(1e-2, 1e-3, 50)}),
]


@pytest.mark.parametrize(("kind", "settings"), OFF_POLICY, ids=str)
def test_both_ways_give_the_same_weights(kind, settings):
    assert_same(*both_ways(off_policy(kind, **settings)), within=1e-4)


@pytest.mark.parametrize("kind", [DDPG, TD3, SAC])
def test_batches_may_differ_in_length_and_what_is_frozen_in_the_middle_stays(kind):
    agent, _ = both_ways(off_policy(kind), rows=(16, 3, 1, 40))
    assert_same(*both_ways(off_policy(kind), rows=(16, 3, 1, 40)), within=1e-4)
    agent.fast = True
    agent.ready()
    batch = a_batch(16, agent.obs_size, agent.action_size)
    agent.learned(agent.update, batch)
    agent.actor.hidden1.requires_grad_(False)
    before = agent.actor.hidden1.weight.clone()
    agent.updates += 2
    agent.learned(agent.update, batch)
    assert torch.equal(agent.actor.hidden1.weight, before)


def rows(agent, n, seed):
    rng = np.random.default_rng(seed)
    obs = torch.from_numpy(rng.normal(size=(n, agent.obs_size)).astype(np.float32))
    with torch.no_grad():
        actions = torch.as_tensor(agent.policy.sample(obs, rng))
    numbers = torch.from_numpy(rng.normal(size=(2, n)).astype(np.float32))
    return obs, actions, numbers[0], 2 * numbers[1]


@pytest.mark.parametrize(
    ("env", "settings"),
    [
        ("CartPole-v1", {}),
        ("Pendulum-v1", {"hidden": (5, 6, 7)}),
        ("CartPole-v1", {"hidden": (4,), "clip_range": 0.01}),
        ("Pendulum-v1", {"hidden": 1, "value_clip_range": 0.1}),
        ("CartPole-v1", {"entropy_coef": 0.2, "value_coef": 2.0, "max_grad_norm": None}),
        ("Pendulum-v1", {"entropy_coef": 0.2, "max_grad_norm": 0.01}),
        ("CartPole-v1", {"target_kl": 1e-3, "batch_size": 7}),
        ("Pendulum-v1", {"n_epochs": 1, "batch_size": 1000}),
    ],
    ids=str,
)
def test_so_does_ppo(env, settings):
    small = {"seed": 0, "n_envs": 2, "n_steps": 4, "hidden": 8, "n_epochs": 3, "batch_size": 16}
    agents = [with_larger_eps(PPO(env, fast=fast, **small | settings)) for fast in (False, True)]
    for seed in range(3):
        logged = [each.learned(each.learn_from, *rows(each, 41, seed)) for each in agents]
        assert logged[1] == pytest.approx(logged[0], rel=1e-3, abs=1e-5)
    assert type(agents[1].chosen) is PPO.in_numpy
    assert_same(*agents, within=1e-4)


# ---- where it is used ----------------------------------------------------------------------------


def is_fast(agent):
    agent.ready()
    batch = a_batch(16, agent.obs_size, agent.action_size)
    agent.updates += 1
    agent.learned(agent.update, batch)
    return type(agent.chosen) is type(agent).in_numpy


class Own(DeterministicActor):
    pass


class Another(TD3):
    def update(self, batch):
        return super().update(batch)


class Named(TD3):
    actor_class = Own


class Short(TD3):
    gamma = 0.9


def a_layer(agent):
    agent.actor.hidden1 = torch.nn.Sequential(agent.actor.hidden1, torch.nn.Tanh())


def one_more_relu(agent):
    agent.actor.hidden1 = torch.nn.Sequential(agent.actor.hidden1, agent.actor.hidden2)


def its_own_way(agent):
    agent.update = lambda batch: {"loss": 0.0}


def a_forward(agent):
    usual = agent.critic.first.forward
    agent.critic.first.forward = lambda obs, action: 2 * usual(obs, action)


CASES = [
    (TD3, {}, None, True),
    (Short, {}, None, True),
    (TD3, {"hidden": (5, 6)}, None, True),
    (TD3, {}, lambda agent: setattr(agent, "gamma", 0.5), True),
    (TD3, {}, lambda agent: setattr(agent, "noise", GaussianNoise(0.5)), True),
    (TD3, {}, lambda agent: agent.set_parameters(agent.get_parameters()), True),
    (TD3, {"fast": False}, None, False),
    (Another, {}, None, False),
    (Named, {}, None, False),
    (TD3, {"layer_norm": True}, None, False),
    (TD3, {}, lambda agent: agent.actor.register_forward_hook(lambda *_: None), False),
    (TD3, {}, lambda agent: agent.critic.second.output.requires_grad_(False), False),
    (TD3, {}, a_layer, False),
    (TD3, {}, one_more_relu, False),
    (TD3, {}, its_own_way, False),
    (TD3, {}, a_forward, False),
]


@pytest.mark.parametrize(("kind", "settings", "change", "expected"), CASES)
def test_it_is_used_for_exactly_what_it_repeats(kind, settings, change, expected):
    agent = off_policy(kind, **settings)
    if change:
        change(agent)
    assert is_fast(agent) == expected


def test_a_network_that_is_replaced_with_its_optimiser_is_followed_by_its_target():
    """Also where it has another architecture."""
    agent = TD3("Pendulum-v1", **few, hidden=8, tau=0.5).learn(20)
    for actor in (
        DeterministicActor(agent.obs_size, agent.action_size, 8),
        torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Tanh()),
    ):
        agent.actor, agent.actor_optimizer = actor, torch.optim.Adam(actor.parameters())
        agent.learn(60)
        pairs = zip(actor.parameters(), agent.target_actor.parameters(), strict=True)
        assert max(float((a - b).detach().abs().max()) for a, b in pairs) < 0.1


def test_after_a_change_in_the_middle_of_a_training_ready_looks_again():
    calls = []

    def watched(agent):
        if agent.steps == 20:
            agent.actor.register_forward_hook(lambda *_: calls.append(agent.steps))
            agent.ready()

    agent = TD3("Pendulum-v1", **few, hidden=8).learn(30, watched)
    assert agent.chosen is False
    assert len(calls) > 10  # it acts once a step, and learns in every second


def test_a_method_that_was_put_in_its_place_between_updates_is_called():
    agent, calls = off_policy(TD3), []
    batch = a_batch(16, agent.obs_size, agent.action_size, seed=0)
    agent.learned(agent.update, batch)
    assert agent.chosen
    agent.update = lambda batch: calls.append(len(batch.obs)) or {"loss": 0.0}
    agent.learned(agent.update, batch)
    assert calls == [16]
