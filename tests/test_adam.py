"""Our Adam and torch's: the same numbers, bit for bit, and the same state."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from helpers.agents.adam import LeanAdam
from helpers.agents.base import set_learning_rate

ROOT = Path(__file__).resolve().parent.parent


def torchs(parameters, learning_rate=0.01):
    return torch.optim.Adam(parameters, learning_rate, fused=True)


def ours(parameters, learning_rate=0.01):
    return LeanAdam(parameters, learning_rate)


PAIRS = pytest.mark.parametrize(("first", "second"), [(ours, torchs), (torchs, ours), (ours, ours)])


def network(seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))


def train(net, optimizer, steps, seed=0):
    """Steps down gradients of every size, some of them zero."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        for i, parameter in enumerate(net.parameters()):
            size = 10.0 ** torch.randint(-6, 4, (), generator=generator)
            parameter.grad = size * torch.randn(parameter.shape, generator=generator) * (i != 3)
        optimizer.step()


def saved(optimizer):
    """As from a file: torch itself hands out and takes over the very tensors."""
    return copy.deepcopy(optimizer.state_dict())


def assert_equal(one, other):
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)


def assert_same_state(one, other):
    one, other = one.state_dict(), other.state_dict()
    assert one["param_groups"] == other["param_groups"]
    assert one["state"].keys() == other["state"].keys()
    for i, entries in one["state"].items():
        assert entries.keys() == other["state"][i].keys()
        assert all(torch.equal(entry, other["state"][i][name]) for name, entry in entries.items())


@pytest.mark.parametrize("steps", [1, 2, 300])
def test_the_same_numbers_bit_for_bit(steps):
    one, other = network(), network()
    optimizers = ours(one.parameters()), torchs(other.parameters())
    train(one, optimizers[0], steps)
    train(other, optimizers[1], steps)
    assert_equal(one, other)
    assert_same_state(*optimizers)
    assert not torch.equal(one[0].weight, network()[0].weight)


@PAIRS
@pytest.mark.parametrize(("steps", "before"), [(0, 0), (1, 0), (20, 0), (9, 5)])
def test_either_goes_on_from_the_others_state(first, second, steps, before):
    """What it had before, it forgets."""
    one, other = network(), network(1)
    optimizer = first(one.parameters())
    train(one, optimizer, steps)
    heir = second(other.parameters(), 0.5)  # the learning rate is part of the state
    train(other, heir, before, seed=2)
    other.load_state_dict(one.state_dict())
    heir.load_state_dict(saved(optimizer))
    train(one, optimizer, 20, seed=1)
    train(other, heir, 20, seed=1)
    assert_equal(one, other)
    assert_same_state(optimizer, heir)


def test_a_state_without_fused_is_taken_as_well(tmp_path):
    """Such as one that stable-baselines wrote: the same up to rounding."""
    one, other = network(), network()
    plain = torch.optim.Adam(one.parameters(), 0.01)
    train(one, plain, 10)
    torch.save(plain.state_dict(), tmp_path / "adam.pt")
    heir = ours(other.parameters())
    other.load_state_dict(one.state_dict())
    heir.load_state_dict(torch.load(tmp_path / "adam.pt", weights_only=True))
    train(one, plain, 10, seed=1)
    train(other, heir, 10, seed=1)
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_a_changed_learning_rate_is_obeyed():
    one, other = network(), network()
    optimizers = ours(one.parameters()), torchs(other.parameters())
    for round_, rate in enumerate((0.01, 0.1, 0.0, 1e-4)):
        before = one[0].weight.detach().clone()
        for net, optimizer in zip((one, other), optimizers, strict=True):
            set_learning_rate(optimizer, rate)
            train(net, optimizer, 5, seed=round_)
        assert torch.equal(before, one[0].weight) == (rate == 0)
    assert_equal(one, other)


def test_torchs_schedulers_drive_it():
    one, other = network(), network()
    optimizers = ours(one.parameters()), torchs(other.parameters())
    for net, optimizer in zip((one, other), optimizers, strict=True):
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        for round_ in range(6):
            train(net, optimizer, 1, seed=round_)
            scheduler.step()
    assert optimizers[0].param_groups[0]["lr"] == 0.01 / 8
    assert_equal(one, other)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda both: pickle.loads(pickle.dumps(both))])
@pytest.mark.parametrize("steps", [0, 1, 10])
def test_a_copy_goes_on_by_itself(copied, steps):
    net = network()
    optimizer = ours(net.parameters())
    train(net, optimizer, steps)
    other, twin = copied((net, optimizer))
    before = copy.deepcopy(net.state_dict())
    train(other, twin, 5, seed=1)
    assert all(torch.equal(weight, before[name]) for name, weight in net.state_dict().items())
    train(net, optimizer, 5, seed=1)
    assert_equal(net, other)
    assert_same_state(optimizer, twin)


def test_nothing_imports_torchs_compiler(tmp_path):
    """It takes two seconds, and nothing compiles: training, files, checks of whole agents."""
    code = f"""
import sys
from helpers.agents import PPO, TD3
from helpers.algorithms import a2c, td3
from helpers.checks import grade
for agent in (TD3("Pendulum-v1", seed=0, learning_starts=5), PPO("Pendulum-v1", seed=0)):
    agent.learn(150)
    assert agent.last.losses, agent
    agent.save({str(tmp_path / "a.pt")!r})
    type(agent).load({str(tmp_path / "a.pt")!r}).learn(150)
agent.optimizer.zero_grad()
for number, kind in {{"1.13": a2c.update, "3.7": td3.update}}.items():
    assert grade(number, kind).passed
assert "torch._dynamo" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
