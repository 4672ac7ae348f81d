"""Faster networks say and learn the same as those that they were made of."""

import copy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from trials import a_batch, assert_close, gradients, networks, parameters, quick, snapshot

from helpers.agents import DDPG, TD3
from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.faster import FEW_ROWS, NARROW, WIDE, StackedTwin, WideLinear, faster
from helpers.algorithms.ddpg import DeterministicActor, QNetwork
from helpers.algorithms.td3 import TwinQNetwork, actor_loss_by_q1, twin_critic_loss

sizes = st.integers(1, 5)
needs_onednn = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available(), reason="this torch was built without oneDNN"
)


def twin(obs_size=3, action_size=2, hidden=8):
    return networks(obs_size, action_size, TwinQNetwork, hidden)[1]


def seeded(make, *sizes):
    """A network, and the state in which drawing it leaves torch's generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return make(*sizes), torch.get_rng_state()


# ---- both critics in one product -----------------------------------------------------------------


def stacked(tensors):
    """Of the twins' parameters (or gradients), first critic's then second's: how they stand."""
    tensors = list(tensors)
    half = len(tensors) // 2
    for one, other in zip(tensors[:half], tensors[half:], strict=True):
        if one.dim() == 2:
            yield torch.stack([one.T, other.T])
        else:
            yield torch.stack([one, other])[:, None]


@quick
@given(sizes, sizes, sizes, sizes, st.integers(0, 2**32))
def test_the_stacked_twins_say_the_same(n, obs_size, action_size, hidden, seed):
    plain = twin(obs_size, action_size, hidden)
    stack, batch = StackedTwin(plain), a_batch(n, obs_size, action_size, seed)
    said = stack(batch.obs, batch.action)
    assert_close(said, plain(batch.obs, batch.action), rtol=1e-5, atol=1e-6)
    assert [q.shape for q in said] == [(n,), (n,)]
    q1 = stack.q1(batch.obs, batch.action)
    assert_close([q1], [plain.q1(batch.obs, batch.action)], rtol=1e-5, atol=1e-6)
    assert q1.shape == (n,)


@pytest.mark.parametrize("rows", [(), (5, 4)], ids=["one observation", "rows of rows"])
def test_the_stacked_twins_take_any_rows_as_the_plain_ones_do(rows):
    plain = twin()
    stack, inputs = StackedTwin(plain), (torch.randn(*rows, 3), torch.randn(*rows, 2))
    for said, wanted in zip(
        [*stack(*inputs), stack.q1(*inputs)], [*plain(*inputs), plain.q1(*inputs)], strict=True
    ):
        assert said.shape == rows
        torch.testing.assert_close(said, wanted)


def test_the_stacked_twins_have_the_same_gradients():
    plain, batch = twin(), a_batch(20)
    stack = StackedTwin(plain)

    def loss(critic, action):
        q1, q2 = critic(batch.obs, action)
        return q1.sum() + (q2 * batch.reward).sum()

    assert_close(gradients(loss(stack, batch.action), stack),
                 stacked(gradients(loss(plain, batch.action), plain)))  # fmt: skip
    action = batch.action.clone().requires_grad_()
    for of in (loss, lambda critic, action: critic.q1(batch.obs, action).sum()):
        (one,), (other,) = (torch.autograd.grad(of(c, action), action) for c in (stack, plain))
        torch.testing.assert_close(one, other)


def test_the_first_critic_alone_gives_the_second_no_gradient():
    batch, stack = a_batch(), StackedTwin(twin())
    for gradient in gradients(stack.q1(batch.obs, batch.action).sum(), stack):
        assert gradient[0].abs().sum() > 0
        assert gradient[1].abs().sum() == 0


def test_the_stacked_twins_learn_the_same():
    """Adam moves each weight by itself, so that it does not matter how they are arranged."""
    plain, (actor, _) = twin(), networks()
    stack, follower = StackedTwin(plain), copy.deepcopy(actor)
    sides = [
        (each, own, LeanAdam(each.parameters(), 0.01), LeanAdam(own.parameters(), 0.01))
        for each, own in ((plain, actor), (stack, follower))
    ]
    for i in range(10):
        batch = a_batch(16, seed=i)
        for critic, own, critic_optimizer, optimizer in sides:
            gradient_step(critic_optimizer, twin_critic_loss(critic, batch, batch.reward))
            gradient_step(optimizer, actor_loss_by_q1(own, critic, batch.obs))
    assert_close(stack.parameters(), stacked(plain.parameters()), rtol=1e-4, atol=1e-5)
    assert_close(follower.parameters(), actor.parameters(), rtol=1e-4, atol=1e-5)


def test_the_stacked_twins_share_nothing_with_what_they_were_made_of():
    plain = twin()
    stack, before = StackedTwin(plain), snapshot(plain)
    assert all(p.is_leaf and p.requires_grad for p in stack.parameters())
    with torch.no_grad():
        for parameter in stack.parameters():
            parameter.add_(1)
    assert_close(plain.parameters(), before, rtol=0, atol=0)


def test_the_stacked_twins_are_copied_and_saved_as_any_network():
    stack, other, batch = StackedTwin(twin()), StackedTwin(twin(hidden=8)), a_batch()
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    other.load_state_dict(stack.state_dict())
    copied = copy.deepcopy(stack)
    with torch.no_grad():
        said = [torch.stack(each(batch.obs, batch.action)) for each in (stack, other, copied)]
        for parameter in copied.parameters():
            parameter.zero_()
        assert torch.equal(said[0], torch.stack(stack(batch.obs, batch.action)))
    assert torch.equal(said[0], said[1])
    assert torch.equal(said[0], said[2])
    assert {name: each.shape for name, each in stack.state_dict().items()} == {
        name: each.shape for name, each in twin().state_dict().items()
    }


# ---- wide layers ---------------------------------------------------------------------------------


def a_layer(n_in=WIDE, n_out=WIDE, **settings):
    return seeded(lambda: nn.Linear(n_in, n_out, **settings))[0]


def rows(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), requires_grad=True)


@needs_onednn
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    "shape", [(), (0,), (1,), (FEW_ROWS - 1,), (FEW_ROWS,), (100,), (2, 50), (50, 2)], ids=str
)
def test_a_wide_layer_says_and_learns_the_same(shape, bias):
    """For one observation without a row as well: so an agent asks while it acts."""
    plain = a_layer(bias=bias)
    wide, x = WideLinear(plain), rows(*shape, WIDE)
    both = wide(x), plain(x)
    assert both[0].shape == (*shape, WIDE)
    torch.testing.assert_close(*both, rtol=1e-5, atol=1e-5)
    one, other = (
        torch.autograd.grad(y.square().sum(), [x, *plain.parameters()]) for y in both
    )  # fmt: skip
    assert_close(one, other, rtol=1e-4, atol=1e-4)
    assert repr(wide) == repr(plain).replace("Linear", "WideLinear")


@needs_onednn
@pytest.mark.parametrize(("n_in", "n_out"), [(WIDE, WIDE + 44), (WIDE + 44, WIDE)])
def test_a_wide_layer_need_not_be_square(n_in, n_out):
    plain, x = a_layer(n_in, n_out), rows(40, n_in)
    torch.testing.assert_close(WideLinear(plain)(x), plain(x), rtol=1e-5, atol=1e-5)


@needs_onednn
def test_a_wide_layer_of_doubles_is_as_exact_as_ever():
    plain, x = a_layer().double(), rows(100, WIDE).double()
    assert torch.equal(WideLinear(plain)(x), plain(x))


@needs_onednn
def test_a_wide_layer_is_exported_as_any_other():
    wide, x = WideLinear(a_layer()), rows(FEW_ROWS, WIDE).detach()
    batch = {"x": {0: torch.export.Dim("batch")}}
    exported = torch.export.export(wide, (x,), dynamic_shapes=batch).module()
    for n in (2, 100):
        torch.testing.assert_close(exported(rows(n, WIDE)), wide.forward(rows(n, WIDE)))


@needs_onednn
def test_onednn_gets_many_rows_and_not_few(monkeypatch):
    """Else it would not be faster: preparing takes longer than a small product."""
    wide, prepared, to_mkldnn = WideLinear(a_layer()), [], torch.Tensor.to_mkldnn

    def watched(x):
        prepared.append(len(x))
        return to_mkldnn(x)

    monkeypatch.setattr(torch.Tensor, "to_mkldnn", watched)
    with torch.no_grad():
        for shape in ((), (1,), (FEW_ROWS - 1,), (FEW_ROWS,), (100,)):
            wide(rows(*shape, WIDE))
    assert prepared == [FEW_ROWS, 100]


# ---- which network becomes which -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("obs_size", "action_size", "hidden", "kind"),
    [
        (3, 1, 64, StackedTwin),
        (3, 1, NARROW, StackedTwin),
        (3, 1, NARROW + 1, TwinQNetwork),
        (NARROW - 2, 2, 8, StackedTwin),
        (NARROW - 1, 2, 8, TwinQNetwork),
        (3, 1, WIDE, TwinQNetwork),
    ],
)
def test_twins_are_stacked_while_they_are_narrow(obs_size, action_size, hidden, kind):
    network = faster(twin(obs_size, action_size, hidden))
    assert type(network) is kind
    wide = [module for module in network.modules() if isinstance(module, WideLinear)]
    assert len(wide) == 2 * (hidden == WIDE and torch.backends.mkldnn.is_available())


@needs_onednn
@pytest.mark.parametrize(
    "make", [DeterministicActor, QNetwork, TwinQNetwork], ids=lambda kind: kind.__name__
)
def test_wide_layers_keep_their_weights_and_names(make):
    network, _ = seeded(make, 3, 2, WIDE)
    weights, names = parameters(network), list(network.state_dict())
    kept = snapshot(network)
    assert faster(network) is network
    assert all(one is other for one, other in zip(network.parameters(), weights, strict=True))
    assert_close(network.parameters(), kept, rtol=0, atol=0)
    assert list(network.state_dict()) == names
    seeded(make, 3, 2, WIDE)[0].load_state_dict(network.state_dict())  # and so without oneDNN
    wide = {name for name, each in network.named_modules() if type(each) is WideLinear}
    assert wide == {name[:-7] for name in names if name.endswith("hidden2.weight")}


@needs_onednn
@pytest.mark.parametrize("n", [1, 5, 100])
def test_a_wide_network_says_and_learns_the_same(n):
    batch = a_batch(n)
    sides = []
    for change in (lambda network: network, faster):
        actor, critic = map(change, networks(critic=TwinQNetwork, hidden=WIDE))
        losses = (
            actor_loss_by_q1(actor, critic, batch.obs),
            twin_critic_loss(critic, batch, batch.reward),
        )
        slopes = gradients(losses[0], actor) + gradients(losses[1], critic)
        sides.append([*losses, *slopes, actor(batch.obs[0])])
    assert_close(*sides, rtol=1e-3, atol=1e-4)


class Proud(TwinQNetwork):
    """Made by a student: the first critic is always better."""

    def forward(self, obs, action):
        q1, q2 = super().forward(obs, action)
        return q1 + 1, q2


class OwnLinear(nn.Linear):
    def forward(self, x):
        return super().forward(x) + 1


@pytest.mark.parametrize(
    "network",
    [
        Proud(3, 2, 8),
        QNetwork(3, 2, 64),
        nn.Linear(WIDE, WIDE),
        nn.Sequential(nn.Linear(WIDE, WIDE - 1), nn.Linear(WIDE - 1, WIDE)),
        nn.Sequential(nn.Bilinear(WIDE, 2, WIDE), OwnLinear(WIDE, WIDE)),
        nn.GRU(WIDE, WIDE),
        nn.ReLU(),
    ],
    ids=["subclass", "one critic", "one layer", "narrow", "other layers", "recurrent", "nothing"],
)
def test_what_it_does_not_know_it_leaves_as_it_is(network):
    kinds = list(map(type, network.modules()))
    assert faster(network) is network
    assert list(map(type, network.modules())) == kinds


@needs_onednn
def test_wide_layers_within_a_network_of_ones_own_are_found():
    network = nn.Sequential(nn.Linear(3, WIDE), nn.Sequential(nn.ReLU(), nn.Linear(WIDE, WIDE)))
    x = rows(40, 3)
    before = network(x)
    assert type(faster(network)[1][1]) is WideLinear
    torch.testing.assert_close(network(x), before, rtol=1e-5, atol=1e-5)


def test_without_onednn_wide_networks_stay_and_narrow_twins_are_stacked(monkeypatch):
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    network = faster(twin(hidden=WIDE))
    assert {type(m) for m in network.modules()} == {TwinQNetwork, QNetwork, nn.Linear}
    assert type(faster(twin())) is StackedTwin


@pytest.mark.parametrize("hidden", [8, WIDE])
def test_nothing_is_drawn(hidden):
    network, drawn = seeded(TwinQNetwork, 3, 2, hidden)
    made, state = seeded(lambda: faster(TwinQNetwork(3, 2, hidden)))
    assert torch.equal(state, drawn)
    expected = stacked(network.parameters()) if hidden == 8 else network.parameters()
    assert_close(made.parameters(), expected, rtol=0, atol=0)


# ---- in an agent ---------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [8, WIDE])
def test_an_agents_networks_have_the_weights_of_its_seed(hidden):
    agent = TD3("Pendulum-v1", seed=3, hidden=hidden)
    with agent.seeded():
        actor, critic = DeterministicActor(3, 1, hidden), TwinQNetwork(3, 1, hidden)
    expected = stacked(critic.parameters()) if hidden == 8 else critic.parameters()
    assert_close(agent.actor.parameters(), actor.parameters(), rtol=0, atol=0)
    assert_close(agent.critic.parameters(), expected, rtol=0, atol=0)
    assert type(agent.critic) is type(agent.target_critic) is type(faster(critic))


@needs_onednn
@pytest.mark.parametrize("kind", [DDPG, TD3])
def test_a_wide_agent_is_saved_with_onednn_and_loaded_without(kind, tmp_path, monkeypatch):
    agent = kind("Pendulum-v1", seed=0, hidden=WIDE, learning_starts=4, batch_size=40).learn(6)
    assert type(agent.actor.hidden2) is WideLinear
    agent.save(tmp_path / "agent.pt")
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    loaded = kind.load(tmp_path / "agent.pt")
    assert type(loaded.actor.hidden2) is nn.Linear
    obs = np.linspace(-1, 1, 120, dtype=np.float32).reshape(40, 3)
    np.testing.assert_allclose(loaded.predict(obs), agent.predict(obs), atol=1e-4)
