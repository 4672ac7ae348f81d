"""Updates written out learn what autograd's learn, and only where they are known to."""

import copy
import gc
import shutil
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
import torch
from threadpoolctl import threadpool_info
from torch import nn
from trials import a_batch, assert_close, assert_same, parameters, plainly, state, with_larger_eps

import helpers
from helpers.agents import DDPG, SAC, TD3, td3, written_out
from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.ddpgfd import DDPGfD
from helpers.agents.faster import NARROW, UPDATES, faster, plain_updates
from helpers.agents.layers import DeepActor, DeepQNetwork, DeepTwinQNetwork
from helpers.agents.schedules import LinearSchedule
from helpers.agents.threads import one_thread
from helpers.agents.written_out import Network
from helpers.algorithms.ddpg import DeterministicActor, QNetwork
from helpers.algorithms.td3 import TwinQNetwork
from helpers.labs.variants import variants

AGENTS = pytest.mark.parametrize("kind", [DDPG, TD3, SAC], ids=lambda kind: kind.__name__)
HIDDEN = [16, (8,), (12, 8, 4), NARROW + 2]
STARTS = 40
tiny = {"hidden": 8, "batch_size": 16, "learning_starts": STARTS, "seed": 1, "log_every": 5}


def an_agent(kind, **settings):
    """Its last layers are not small, so that everything that is learned shows at once."""
    agent = with_larger_eps(kind("Pendulum-v1", **tiny | settings))
    with torch.no_grad():
        for name in {"actor", "critic", "target_actor", "target_critic"} & vars(agent).keys():
            for key, parameter in getattr(agent, name).named_parameters():
                parameter *= 50 if "output" in key else 1
    return agent


def after(updates, agent, *changes):
    """The agent after its warm-up and that many updates; each change comes after some of them."""
    agent.learn(STARTS - 1)
    agent.buffer.arrays.terminated[: STARTS // 2] = 1  # Pendulum has no ends of its own
    if updates:
        agent.learn(updates)
    for change in changes:
        change(agent)
        agent.learn(20)
    return agent


def is_written_out(agent):
    return UPDATES["cpu", type(agent)].of(agent, a_batch(agent.batch_size, 3, 1)) is not None


# ---- the same numbers ----------------------------------------------------------------------------


@AGENTS
@pytest.mark.parametrize("hidden", HIDDEN, ids=str)
@pytest.mark.parametrize("updates", [1, 2, 50])
def test_it_learns_what_autograd_learns(kind, hidden, updates):
    agent, plain = an_agent(kind, hidden=hidden), an_agent(kind, hidden=hidden)
    after(updates, agent)
    plainly(after, updates, plain)
    assert is_written_out(agent)
    assert_same(agent, plain)
    assert agent.last.losses == pytest.approx(plain.last.losses, rel=1e-4, abs=1e-6)
    assert agent.history.keys() == plain.history.keys()
    assert agent.rng.bit_generator.state == plain.rng.bit_generator.state


CHANGES = {
    "gamma": lambda agent: setattr(agent, "gamma", 0.5),
    "tau": lambda agent: setattr(agent, "tau", 0.5),
    "batch size": lambda agent: setattr(agent, "batch_size", 7),
    "learning rates": lambda agent: (
        setattr(agent, "actor_learning_rate", 0.01),
        setattr(agent, "critic_learning_rate", LinearSchedule(0.01, 0.001, 50)),
    ),
    "weights": lambda agent: agent.set_parameters(an_agent(type(agent), seed=5).get_parameters()),
    "weight decay": lambda agent: agent.critic_optimizer.param_groups[0].update(weight_decay=0.1),
    "a network of torch's": lambda agent: agent.actor.load_state_dict(
        an_agent(type(agent), seed=5).actor.state_dict()
    ),
    "other memory": lambda agent: [
        setattr(p, "data", 2 * p.data) for p in parameters(agent.critic, agent.actor)
    ],
}
OF_TD3 = {
    "policy delay": lambda agent: setattr(agent, "policy_delay", 3),
    "target noise": lambda agent: (
        setattr(agent, "target_noise", 0.7),
        setattr(agent, "noise_clip", 0.3),
    ),
}


@torch.no_grad()
def wide(agent):
    """The logarithm of the std is at the end of its range, beyond it in some states."""
    agent.actor.output.bias[1] = 2


OF_SAC = {
    "a fixed temperature": lambda agent: setattr(agent, "learn_temperature", False),
    "a wide policy": wide,
}
CASES = [
    pytest.param(kind, change, id=f"{kind.__name__}, {name}")
    for kind, changes in ((DDPG, CHANGES), (TD3, CHANGES | OF_TD3), (SAC, CHANGES | OF_SAC))
    for name, change in changes.items()
]


@pytest.mark.parametrize(("kind", "change"), CASES)
def test_what_is_changed_later_counts_as_it_does_with_autograd(kind, change):
    agent, plain, left_alone = (an_agent(kind) for _ in range(3))
    after(10, agent, change)
    plainly(after, 10, plain, change)
    after(10, left_alone, lambda agent: None)
    assert is_written_out(agent)
    assert_same(agent, plain)
    with pytest.raises(AssertionError):
        assert_same(left_alone, plain)


def test_of_two_equal_critics_each_is_half_the_lower_one():
    """As autograd has it. They stay equal: they learn the same."""
    agents = [an_agent(SAC), an_agent(SAC)]
    for parameter in parameters(*(each for a in agents for each in (a.critic, a.target_critic))):
        parameter.data[1] = parameter.data[0]
    agent, plain = after(20, agents[0]), plainly(after, 20, agents[1])
    assert_same(agent, plain)
    assert all(torch.equal(*parameter) for parameter in agent.critic.parameters())


@AGENTS
@pytest.mark.parametrize("way", [True, False], ids=["written out first", "autograd first"])
def test_both_ways_can_be_taken_in_turn(kind, way):
    agent, plain = an_agent(kind), an_agent(kind)
    after(10, plainly(after, 10, agent) if way else after(10, agent))
    plainly(after, 10, plain)
    plainly(after, 10, plain)
    assert_same(agent, plain)


@AGENTS
def test_a_file_goes_from_one_to_the_other(kind, tmp_path):
    agent, plain = after(10, an_agent(kind)), plainly(after, 10, an_agent(kind))
    agent.save(tmp_path / "one.pt", replay=True)
    plain.save(tmp_path / "other.pt", replay=True)
    again = kind.load(tmp_path / "other.pt").learn(20)
    plain_again = plainly(lambda: kind.load(tmp_path / "one.pt").learn(20))
    assert_same(again, agent.learn(20))
    assert_same(plain_again, plainly(lambda: plain.learn(20)))


def test_a_normalising_agent_is_written_out_too():
    settings = {"normalize": ("obs", "rewards")}
    agent, plain = an_agent(TD3, **settings), an_agent(TD3, **settings)
    assert is_written_out(after(20, agent))
    assert_same(agent, plainly(after, 20, plain))


@AGENTS
def test_nan_goes_on_without_a_word_as_in_autograd(kind, recwarn):
    """Training says itself when what it sees is not finite; an update never does."""
    agent, plain = after(5, an_agent(kind)), plainly(after, 5, an_agent(kind))
    for each in (agent, plain):
        each.critic_learning_rate = 1e30
    for _ in range(4):
        agent.learn_from_memory()
        plainly(plain.learn_from_memory)
    for a, b in zip(state(agent), state(plain), strict=True):
        assert a.isnan().any() == b.isnan().any()
    assert any(a.isnan().any() for a in state(agent))
    assert is_written_out(agent)
    assert not recwarn.list


# ---- gradients -----------------------------------------------------------------------------------

NETWORKS = [
    pytest.param(lambda: DeterministicActor(3, 2, 5), id="actor"),
    pytest.param(lambda: DeepActor(3, 2, (5, 4, 6)), id="deep actor"),
    pytest.param(lambda: QNetwork(2, 1, 5), id="critic"),
    pytest.param(lambda: DeepQNetwork(2, 1, (7,)), id="shallow critic"),
    pytest.param(lambda: faster(TwinQNetwork(2, 1, 5)), id="stacked pair"),
    pytest.param(lambda: DeepTwinQNetwork(2, 1, (5, 6)), id="pair"),
]


def said_by_torch(network, x):
    """(n, rows, n_out), before an actor's tanh."""
    if isinstance(network, (DeterministicActor, DeepActor)):
        return torch.atanh(network(x))[None]
    q = network(x[:, :2], x[:, 2:])
    return torch.stack(q if isinstance(q, tuple) else [q])[..., None]


@pytest.mark.parametrize("make", NETWORKS)
@pytest.mark.parametrize("rows", [1, 9])
def test_forward_and_backward_are_autograds(make, rows):
    with torch.random.fork_rng():
        torch.manual_seed(2)
        network, x = make(), torch.randn(rows, 3, requires_grad=True)
        for p in network.parameters():
            nn.init.normal_(p, std=0.4)
        said = said_by_torch(network, x)
        slope = torch.randn_like(said)
        expected = torch.autograd.grad(said, [*network.parameters(), x], slope)
    written, inputs = Network.of(network, rows), x.detach().numpy()
    found = torch.from_numpy(written.forward(inputs))
    assert_close([found], [said.detach()], rtol=1e-4, atol=1e-5)
    written.slope[:] = slope.numpy()
    written.step(inputs, torch.optim.SGD(network.parameters(), lr=0.0))
    gradients = [p.grad for p in network.parameters()]
    found = [*gradients, torch.from_numpy(written.input_slope())]
    assert_close(found, expected, rtol=1e-3, atol=1e-4)
    assert all(each.abs().sum() > 0 for each in gradients)


def test_the_slope_of_the_first_of_a_pair_is_its_own():
    for pair in (faster(TwinQNetwork(2, 1, 5)), DeepTwinQNetwork(2, 1, (5, 6))):
        x = torch.randn(4, 3, requires_grad=True)
        first = Network.of(pair, 4).first()
        said = pair.q1(x[:, :2], x[:, 2:])
        assert_close(
            [torch.from_numpy(first.forward(x.detach().numpy()))[0, :, 0]],
            [said],
            rtol=1e-5,
            atol=1e-7,
        )
        first.slope.fill(1)
        (expected,) = torch.autograd.grad(said.sum(), x)
        assert_close([torch.from_numpy(first.input_slope())], [expected], rtol=1e-5, atol=1e-7)


# ---- where it does not apply ---------------------------------------------------------------------


class OwnActor(DeterministicActor):
    """The same, but another class."""


class OwnTD3(TD3):
    """The same, but another class."""


def leaky(self, obs):
    return torch.tanh(self.output(nn.functional.leaky_relu(self.hidden2(self.hidden1(obs)))))


def own_layer(agent):
    agent.actor.hidden2 = nn.Sequential(agent.actor.hidden2, nn.LayerNorm(NARROW + 2))


class Block(nn.Module):
    """Another block, whose children look as ours."""

    def __init__(self, hidden):
        super().__init__()
        self.layers = hidden

    def forward(self, x):
        return torch.tanh(self.layers(x))


def own_block(agent):
    agent.actor = DeepActor(3, 1, (NARROW + 2,))
    agent.actor.hidden = Block(agent.actor.hidden)
    agent.actor_optimizer = LeanAdam(agent.actor.parameters())


def own_network(agent):
    agent.actor = copy.deepcopy(agent.actor)


REFUSED = {
    "an update of the agent's own": lambda agent: setattr(agent, "update", agent.update),
    "a network of another class": lambda agent: setattr(agent, "actor", OwnActor(3, 1, NARROW + 2)),
    "another network, not the optimiser's": own_network,
    "another layer": own_layer,
    "another block": own_block,
    "a q1 of its own": lambda agent: setattr(agent.critic, "q1", agent.critic.q1),
    "a layer more": lambda agent: agent.actor.add_module("more", nn.Identity()),
    "another critic of a pair": lambda agent: setattr(
        agent.critic, "first", QNetwork(3, 1, NARROW + 2)
    ),
    "a forward of its own": lambda agent: setattr(
        agent.actor, "forward", leaky.__get__(agent.actor)
    ),
    "a layer's forward": lambda agent: setattr(
        agent.actor.output, "forward", agent.actor.output.forward
    ),
    "a hook": lambda agent: agent.critic.register_forward_hook(lambda *_: None),
    "a hook of a layer": lambda agent: agent.actor.hidden1.register_full_backward_hook(
        lambda *_: None
    ),
    "a hook of a parameter": lambda agent: agent.actor.output.bias.register_hook(lambda g: g),
    "a frozen parameter": lambda agent: agent.actor.hidden1.weight.requires_grad_(False),
    "another optimiser": lambda agent: setattr(
        agent, "actor_optimizer", torch.optim.Adam(agent.actor.parameters())
    ),
    "an optimiser of some": lambda agent: setattr(
        agent, "actor_optimizer", LeanAdam(list(agent.actor.parameters())[2:])
    ),
    "doubles": lambda agent: agent.target_critic.double(),
    "another memory": lambda agent: setattr(agent, "buffer", OwnMemory.like(agent.buffer)),
}
SHARED = {
    "a function": (td3, "clipped_double_q_target"),
    "another function": (td3, "gradient_step"),
    "the agent's update": (TD3, "update"),
    "a network's forward": (DeterministicActor, "forward"),
}


class OwnMemory(written_out.ReplayBuffer):
    """One that may draw as it likes."""

    @classmethod
    def like(cls, buffer):
        other = copy.deepcopy(buffer)
        other.__class__ = cls
        return other


@pytest.mark.parametrize("updates", [0, 2])
@pytest.mark.parametrize("change", REFUSED.values(), ids=REFUSED)
def test_what_is_not_the_courses_own_is_left_to_autograd(change, updates):
    agent, other = (after(updates, an_agent(TD3, hidden=NARROW + 2)) for _ in range(2))
    change(agent)
    assert not is_written_out(agent)
    assert is_written_out(other)


@pytest.mark.parametrize(("owner", "name"), SHARED.values(), ids=SHARED)
def test_a_function_that_was_replaced_is_called(owner, name, monkeypatch):
    agent, called, original = after(2, an_agent(TD3)), [], getattr(owner, name)

    def other(*args, **kwargs):
        called.append(name)
        return original(*args, **kwargs)

    monkeypatch.setattr(owner, name, other)
    called.clear()
    agent.learn(2)
    assert called
    monkeypatch.undo()
    assert is_written_out(agent)


def test_what_is_written_out_is_what_stands_in_the_agents_files():
    """Red after an edit of them, and until this passes again training is plain and slower.

    Edit `written_out.py` too, see that the tests of this file pass with `UPDATES` filled, and then
    write the number that `checksum()` gives into `READ`.
    """
    assert written_out.checksum() == written_out.READ


EDITS = [
    ("td3.py", "1 - batch.terminated", "1", "A2C PPO"),
    ("ppo.py", "-surrogate -", "surrogate -", "DDPG SAC TD3"),
    ("base.py", "optimizer.step()", "pass", ""),
    ("td3.py", "\n\n\n", "  # a comment\n\n\n# another\n", "A2C DDPG PPO SAC TD3"),
    ("td3.py", '"""', '"""About this:', "A2C DDPG PPO SAC TD3"),
]


@pytest.mark.parametrize(("file", "old", "new", "left"), EDITS)
def test_after_an_edit_of_an_agents_file_training_is_plain(file, old, new, left, tmp_path):
    """In a copy of the package: the edited function is what trains."""
    copy_of = tmp_path / "helpers"
    shutil.copytree(Path(helpers.__file__).parent, copy_of, ignore=lambda *_: ["__pycache__"])
    edited = copy_of / "agents" / file
    assert old in edited.read_text(encoding="utf-8")
    edited.write_text(edited.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    names = "sorted(kind.__name__ for device, kind in UPDATES if device == 'cpu')"
    ask = f"from helpers.agents.faster import UPDATES; print(*{names})"
    told = subprocess.run(
        [sys.executable, "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == left
    assert told.stderr.count("An agent was edited") == ("TD3" not in left or "PPO" not in left)


def test_other_kinds_of_agents_update_themselves():
    for kind in (OwnTD3, DDPGfD):
        assert ("cpu", kind) not in UPDATES
    for settings in ({"layer_norm": True}, {"hidden": (8, 8), "layer_norm": True}):
        assert not is_written_out(after(2, an_agent(TD3, **settings)))


def test_a_hook_that_all_modules_share_is_called():
    agent, called = after(2, an_agent(TD3)), []
    hook = nn.modules.module.register_module_forward_hook(lambda *_: called.append(1))
    try:
        assert not is_written_out(agent)
    finally:
        hook.remove()
    assert is_written_out(agent)


def test_anomalies_are_looked_for_where_they_are_asked_for():
    agent = after(2, an_agent(TD3))
    with torch.autograd.detect_anomaly(check_nan=True):
        assert not is_written_out(agent)


def test_asked_by_hand_an_agent_updates_as_it_is_written(monkeypatch):
    agent, calls = after(2, an_agent(TD3)), []
    monkeypatch.setattr(td3, "gradient_step", lambda *args: calls.append(gradient_step(*args)))
    agent.update(agent.buffer.sample(16))
    assert calls


def test_plain_updates_end(monkeypatch):
    agent = after(2, an_agent(TD3))
    with pytest.raises(AssertionError, match="outer"), plain_updates(), plain_updates():
        assert UPDATES, "outer"
    assert is_written_out(agent)


@pytest.mark.parametrize("lesson", ["01", "02", "03", "06", "07"])
def test_all_variants_of_a_lab_update_plainly(lesson):
    for variant in variants(lesson):
        with variant.applied():
            assert not UPDATES
    assert UPDATES


# ---- the rest of an agent's life -----------------------------------------------------------------


def test_a_copy_learns_alone():
    agent = after(10, an_agent(TD3))
    before = state(agent)
    twin = copy.deepcopy(agent).learn(20)
    assert all(torch.equal(a, b) for a, b in zip(before, state(agent), strict=True))
    assert is_written_out(twin)
    assert all(torch.equal(a, b) for a, b in zip(state(twin), state(agent.learn(20)), strict=True))


def test_an_agent_that_nobody_needs_any_more_is_gone():
    agent = after(10, an_agent(TD3))
    seen = weakref.ref(agent)
    del agent
    gc.collect()
    assert seen() is None


def blas_threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_one_thread_is_for_numpy_too_and_ends():
    before = blas_threads(), torch.get_num_threads()
    with one_thread():
        with pytest.raises(ZeroDivisionError), one_thread():
            raise ZeroDivisionError
        assert set(blas_threads()) <= {1}
        assert torch.get_num_threads() == 1
    assert (blas_threads(), torch.get_num_threads()) == before


def test_a_written_out_update_uses_one_thread_even_by_hand(monkeypatch):
    agent, seen = after(2, an_agent(TD3)), []
    original = Network.forward
    monkeypatch.setattr(
        Network, "forward", lambda self, x: seen.extend(blas_threads()) or original(self, x)
    )
    agent.learn_from_memory()
    assert set(seen) <= {1}
