"""A2C's and PPO's updates written out learn what autograd's learn, where they are known to."""

import numpy as np
import pytest
import torch
import trials
from gymnasium import spaces
from torch import nn
from trials import plainly, state, with_larger_eps

from helpers.agents import A2C, PPO, a2c, base, policies, ppo, written_out, written_out_policies
from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.by_hand import Network
from helpers.agents.faster import UPDATES
from helpers.agents.layers import of_depth
from helpers.agents.policies import CategoricalPolicy, GaussianPolicy
from helpers.agents.schedules import LinearSchedule
from helpers.algorithms.reinforce import make_critic

AGENTS = pytest.mark.parametrize("kind", [A2C, PPO], ids=lambda kind: kind.__name__)
PLACES = pytest.mark.parametrize("env", ["CartPole-v1", "Pendulum-v1"])
ROLLOUT = 4 * 16
tiny = {"n_envs": 4, "n_steps": 16, "hidden": 8, "seed": 1}


def an_agent(kind, env="CartPole-v1", **settings):
    return with_larger_eps(kind(env, **tiny | settings))


def after(rollouts, agent, *changes):
    if rollouts:
        agent.learn(rollouts * ROLLOUT)
    for change in changes:
        change(agent)
        agent.learn(2 * ROLLOUT)
    return agent


def assert_same(one, other):
    """A rollout's update is many."""
    trials.assert_same(one, other, within=5e-5)


def is_written_out(agent):
    return (
        UPDATES["cpu", type(agent)].of(agent, (torch.zeros(ROLLOUT, agent.obs_size),)) is not None
    )


# ---- the same numbers ----------------------------------------------------------------------------

BOTH = {
    "usual": {},
    "three layers": {"hidden": (12, 8, 4)},
    "entropy": {"entropy_coef": 0.1},
    "a short gradient": {"max_grad_norm": 1e-3},
    "normalised": {"normalize": ("obs", "rewards")},
    "a schedule": {"learning_rate": LinearSchedule(1e-2, 1e-3, 200)},
}
OF_PPO = {
    "clipped": {"clip_range": 0.002, "learning_rate": 0.01},
    "clipped values": {"value_clip_range": 0.01, "learning_rate": 0.01},
    "stopped early": {"target_kl": 1e-4, "learning_rate": 0.01},
    "never stopped": {"target_kl": 10.0},
    "one epoch": {"n_epochs": 1},
    "parts of many sizes": {"batch_size": 19},
    "a value coefficient": {"value_coef": 0.1},
}
CASES = [
    pytest.param(kind, settings, id=f"{kind.__name__}, {name}")
    for kind, cases in (
        (A2C, BOTH | {"one critic step": {"critic_steps": 1}}),
        (PPO, BOTH | OF_PPO),
    )
    for name, settings in cases.items()
]


@PLACES
@pytest.mark.parametrize(("kind", "settings"), CASES)
def test_it_learns_what_autograd_learns(kind, settings, env):
    agent, plain = (an_agent(kind, env, **settings) for _ in range(2))
    after(5, agent)
    plainly(after, 5, plain)
    assert is_written_out(agent)
    assert_same(agent, plain)
    assert agent.history.keys() == plain.history.keys()
    for name, entries in plain.history.items():
        np.testing.assert_allclose(agent.history[name], entries, rtol=1e-3, atol=1e-5)
    assert agent.rng.bit_generator.state == plain.rng.bit_generator.state


@PLACES
@AGENTS
def test_every_setting_counts(kind, env):
    """So the cases above tell one from another."""
    usual = state(after(5, an_agent(kind, env)))
    # On Pendulum the entropy moves the standard deviation alone, but it does.
    for settings in [case.values[1] for case in CASES if case.values[0] is kind]:
        if settings and settings != {"target_kl": 10.0}:
            other = state(after(5, an_agent(kind, env, **settings)))
            shapes = [a.shape == b.shape for a, b in zip(usual, other, strict=False)]
            assert not all(shapes) or any(
                not torch.equal(a, b) for a, b in zip(usual, other, strict=False)
            )


CHANGES = {
    "gamma": lambda agent: setattr(agent, "gamma", 0.5),
    "entropy_coef": lambda agent: setattr(agent, "entropy_coef", 0.3),
    "learning rate": lambda agent: setattr(agent, "learning_rate", 0.02),
    "max_grad_norm": lambda agent: setattr(agent, "max_grad_norm", 1e-3),
    "weights": lambda agent: agent.set_parameters(an_agent(type(agent), seed=5).get_parameters()),
    "other memory": lambda agent: [
        setattr(p, "data", 2 * p.data) for p in agent.critic.parameters()
    ],
}


@AGENTS
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_changed_later_counts_as_it_does_with_autograd(kind, change):
    agent, plain, left_alone = (an_agent(kind) for _ in range(3))
    after(2, agent, change)
    plainly(after, 2, plain, change)
    after(2, left_alone, lambda agent: None)
    assert is_written_out(agent)
    assert_same(agent, plain)
    with pytest.raises(AssertionError):
        assert_same(left_alone, plain)


@AGENTS
def test_a_file_goes_from_one_to_the_other(kind, tmp_path):
    agent, plain = after(2, an_agent(kind)), plainly(after, 2, an_agent(kind))
    agent.save(tmp_path / "one.pt", replay=True)
    plain.save(tmp_path / "other.pt", replay=True)
    again = kind.load(tmp_path / "other.pt").learn(2 * ROLLOUT)
    plain_again = plainly(lambda: kind.load(tmp_path / "one.pt").learn(2 * ROLLOUT))
    assert_same(again, agent.learn(2 * ROLLOUT))
    assert_same(plain_again, plainly(lambda: plain.learn(2 * ROLLOUT)))


@AGENTS
def test_a_training_that_diverged_says_so_as_with_autograd(kind, recwarn):
    agents = [an_agent(kind, "Pendulum-v1") for _ in range(2)]
    for agent, learn in zip(agents, (after, lambda *args: plainly(after, *args)), strict=True):
        with torch.no_grad():
            agent.critic[0].weight[0, 0] = torch.nan
        with pytest.raises(ValueError, match="actor_loss is NaN after step 64"):
            learn(1, agent)
    for a, b in zip(*map(state, agents), strict=True):
        assert torch.equal(a.isnan(), b.isnan())
    assert not recwarn.list


# ---- gradients of the distributions --------------------------------------------------------------

ACTIONS = {
    "categorical": lambda rng: rng.integers(0, 3, 7),
    "gaussian": lambda rng: rng.normal(size=(7, 2)).astype(np.float32),
}
POLICIES = {
    "categorical": lambda: CategoricalPolicy(4, spaces.Discrete(3, start=2), 5),
    "gaussian": lambda: GaussianPolicy(4, spaces.Box(-2, 2, (2,)), 5),
}


@pytest.mark.parametrize("name", POLICIES)
def test_probabilities_entropies_and_their_slopes_are_autograds(name):
    rng = np.random.default_rng(3)
    with torch.random.fork_rng():
        torch.manual_seed(2)
        policy = POLICIES[name]()
        for parameter in policy.parameters():
            nn.init.normal_(parameter, std=0.7)
    obs, actions = rng.normal(size=(7, 4)).astype(np.float32), ACTIONS[name](rng)
    slopes, certainty = rng.normal(size=7).astype(np.float32), 0.3
    said = policy.evaluate(torch.from_numpy(obs), torch.from_numpy(actions))
    loss = (torch.from_numpy(slopes) * said[0]).sum() - certainty * said[1].sum()
    expected = torch.autograd.grad(loss, list(policy.parameters()))
    network = Network.of(policy, 7)
    with torch.no_grad():
        *found, back = written_out_policies.evaluate(policy, network, obs, actions)
    for ours, theirs in zip(found, said, strict=True):
        np.testing.assert_allclose(np.broadcast_to(ours, 7), theirs.detach(), rtol=1e-5)
    with torch.no_grad():
        back(slopes, certainty)
        network.backward(obs)
    for parameter, gradient in zip(policy.parameters(), expected, strict=True):
        np.testing.assert_allclose(parameter.grad, gradient, rtol=1e-4, atol=1e-5)
        assert gradient.abs().sum() > 0


def test_of_two_equal_numbers_each_is_half_the_lower_one():
    """As autograd has it."""
    one, other = (np.array(each, np.float32) for each in ([1, 2, 3], [2, 2, 2]))
    x, y = (torch.tensor(each, requires_grad=True) for each in (one, other))
    torch.minimum(x, y).sum().backward()
    assert written_out_policies.lower_share(one, other).tolist() == x.grad.tolist() == [1, 0.5, 0]


# ---- where it does not apply ---------------------------------------------------------------------


class OwnA2C(A2C):
    """The same, but another class."""


class OwnPPO(PPO):
    """The same, but another class."""


class OwnPolicy(CategoricalPolicy):
    """The same, but another class."""


def another_policy(agent):
    agent.policy = OwnPolicy(4, agent.action_space, 8)


class Residual(nn.Module):
    """A block whose children look as one of ours."""

    def __init__(self, n_inputs, n_outputs):
        super().__init__()
        self.hidden1, self.hidden2 = nn.Linear(n_inputs, 8), nn.Linear(8, 8)
        self.output = nn.Linear(8, n_outputs)

    def forward(self, x):
        return self.output(torch.tanh(self.hidden2(torch.tanh(self.hidden1(x)))))


def with_optimizers(agent):
    """New ones, for networks that were replaced."""
    networks = {"policy": agent.policy, "critic": agent.critic}
    for name in agent.saved:
        if name == "optimizer":
            every = [p for network in networks.values() for p in network.parameters()]
            agent.optimizer = LeanAdam(every)
        elif "optimizer" in name:
            own = networks[name.removesuffix("_optimizer")]
            setattr(agent, name, LeanAdam(own.parameters()))


def another_actor(agent):
    agent.policy.actor = Residual(4, 2)
    with_optimizers(agent)


def another_block(agent):
    agent.critic = nn.Sequential()
    agent.critic.add_module("hidden", Residual(4, 8))
    agent.critic.add_module("output", nn.Linear(8, 1))
    with_optimizers(agent)


def a_shared_layer(agent):
    agent.critic[0] = agent.policy.actor[0]
    with_optimizers(agent)


def another_class_of_policy(agent):
    agent.policy.__class__ = OwnPolicy


def a_layer_more(agent):
    agent.critic.append(nn.Identity())


def another_activation(agent):
    agent.critic[1] = nn.Tanh()


REFUSED = {
    "learn_from of its own": lambda agent: setattr(agent, "learn_from", agent.learn_from),
    "a value of its own": lambda agent: setattr(agent, "value", agent.value),
    "another policy": another_policy,
    "another critic, not the optimiser's": lambda agent: setattr(
        agent, "critic", of_depth(make_critic, 4, hidden=8)
    ),
    "another actor in the policy": another_actor,
    "another block in the critic": another_block,
    "another class of the same policy": another_class_of_policy,
    "a layer more": a_layer_more,
    "another activation": another_activation,
    "an evaluate of its own": lambda agent: setattr(
        agent.policy, "evaluate", agent.policy.evaluate
    ),
    "a hook": lambda agent: agent.critic.register_forward_hook(lambda *_: None),
    "a frozen parameter": lambda agent: agent.critic[0].weight.requires_grad_(False),
    "doubles": lambda agent: agent.policy.double(),
    "an optimiser of some": lambda agent: setattr(
        agent, agent.saved[-1], LeanAdam(list(agent.critic.parameters())[1:])
    ),
    "a parameter more": lambda agent: agent.policy.register_parameter(
        "more", nn.Parameter(torch.zeros(1))
    ),
}


@AGENTS
@pytest.mark.parametrize("rollouts", [0, 1])
@pytest.mark.parametrize("change", REFUSED.values(), ids=REFUSED)
def test_what_is_not_the_courses_own_is_left_to_autograd(kind, change, rollouts):
    agent, other = (after(rollouts, an_agent(kind)) for _ in range(2))
    change(agent)
    assert not is_written_out(agent)
    assert is_written_out(other)


def test_a_layer_of_both_networks():
    """PPO has one optimiser: what both networks do to the layer adds up."""
    agent = an_agent(PPO)
    with pytest.warns(UserWarning, match="duplicate"):
        a_shared_layer(agent)
    assert not is_written_out(agent)


def test_one_std_for_all_dimensions_is_left_to_autograd():
    agent = an_agent(A2C, "Pendulum-v1")
    agent.policy.log_std = nn.Parameter(torch.zeros(()))
    with_optimizers(agent)
    assert not is_written_out(agent)


@AGENTS
def test_modes_of_torch_are_honoured(kind):
    agent = after(1, an_agent(kind))
    with torch.no_grad():
        assert not is_written_out(agent)
    with torch.autocast("cpu", torch.bfloat16):
        assert not is_written_out(agent)
    assert is_written_out(agent)


SHARED = {
    "a loss": (A2C, a2c, "actor_loss"),
    "a step": (A2C, a2c, "gradient_step"),
    "a distribution": (A2C, policies, "log_prob"),
    "a policy's method": (PPO, CategoricalPolicy, "evaluate"),
    "a surrogate": (PPO, ppo, "clipped_surrogate"),
    "the agent's loss": (PPO, PPO, "loss"),
    "learn_from": (PPO, PPO, "learn_from"),
    "what every agent says of values": (PPO, base.Agent, "value"),
    "an activation": (A2C, nn.ReLU, "forward"),
}


@pytest.mark.parametrize(("kind", "owner", "name"), SHARED.values(), ids=SHARED)
def test_a_function_that_was_replaced_is_called(kind, owner, name, monkeypatch):
    agent, called, original = after(1, an_agent(kind)), [], getattr(owner, name)

    def other(*args, **kwargs):
        called.append(name)
        return original(*args, **kwargs)

    monkeypatch.setattr(owner, name, other)
    agent.learn(ROLLOUT)
    assert called
    monkeypatch.undo()
    assert is_written_out(agent)


def test_asked_by_hand_an_agent_learns_as_it_is_written(monkeypatch):
    agent, calls = after(1, an_agent(A2C)), []
    monkeypatch.setattr(a2c, "gradient_step", lambda *args: calls.append(gradient_step(*args)))
    rows = torch.zeros(5, 4), torch.zeros(5, dtype=torch.int64), torch.randn(5), torch.randn(5)
    agent.learn_from(*rows)
    assert calls


def test_what_is_written_out_is_what_stands_in_the_agents_files():
    """Red after an edit of them, and until this passes again training is plain and slower.

    Edit `written_out_policies.py` too, see that the tests of this file pass with `UPDATES` filled,
    and then write the number that `checksum(SOURCES)` gives into `READ`.
    """
    sources = written_out_policies.SOURCES
    assert written_out.checksum(sources) == written_out_policies.READ


def test_other_kinds_of_agents_learn_themselves():
    for kind in (OwnA2C, OwnPPO):
        assert ("cpu", kind) not in UPDATES


def test_arrays_are_kept_for_so_many_rows_only():
    agent, most = after(1, an_agent(A2C)), written_out_policies.ROWS
    update = UPDATES["cpu", A2C].of(agent, (torch.zeros(ROLLOUT, 4),))
    for rows in (most // 2, most // 4, most // 2 + 1, 2 * most):
        kept = update.networks(agent, rows)
        assert update.networks(agent, rows) is kept
        assert sum(update.sizes) <= max(most, rows)
    assert kept[0].output.shape[1] == 2 * most
