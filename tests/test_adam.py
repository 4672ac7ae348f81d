"""Our Adam and torch's: the same numbers, bit for bit, and the same state."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from trials import assert_close

from helpers.agents.adam import LeanAdam
from helpers.agents.base import set_learning_rate

ROOT = Path(__file__).resolve().parent.parent


def torchs(parameters, learning_rate=0.01):
    return torch.optim.Adam(parameters, learning_rate, fused=True)


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


def assert_same(one, other):
    """Networks with their optimisers: all weights and all that is remembered."""
    (net, optimizer), (its_net, its_optimizer) = one, other
    assert all(map(torch.equal, net.parameters(), its_net.parameters()))
    state, its_state = optimizer.state_dict(), its_optimizer.state_dict()
    assert state["param_groups"] == its_state["param_groups"]
    assert_close([state["state"]], [its_state["state"]], rtol=0, atol=0)


def test_the_same_numbers_bit_for_bit_at_any_learning_rate():
    nets = network(), network()
    both = LeanAdam(nets[0].parameters(), 0.01), torchs(nets[1].parameters())
    for round_, (steps, rate) in enumerate([(300, 0.01), (1, 0.1), (5, 0.0), (5, 1e-4)]):
        before = nets[0][0].weight.detach().clone()
        for net, optimizer in zip(nets, both, strict=True):
            set_learning_rate(optimizer, rate)
            train(net, optimizer, steps, seed=round_)
        assert torch.equal(before, nets[0][0].weight) == (rate == 0)
        assert_same(*zip(nets, both, strict=True))


def test_torchs_schedulers_drive_it():
    nets = network(), network()
    both = LeanAdam(nets[0].parameters(), 0.01), torchs(nets[1].parameters())
    for net, optimizer in zip(nets, both, strict=True):
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        for round_ in range(6):
            train(net, optimizer, 1, seed=round_)
            scheduler.step()
    assert both[0].param_groups[0]["lr"] == 0.01 / 8
    assert all(map(torch.equal, nets[0].parameters(), nets[1].parameters()))


@pytest.mark.parametrize(
    ("first", "second"), [(LeanAdam, torchs), (torchs, LeanAdam), (LeanAdam, LeanAdam)]
)
@pytest.mark.parametrize(("steps", "before"), [(0, 0), (20, 0), (9, 5)])
def test_either_goes_on_from_the_others_state(first, second, steps, before):
    """What it had before, it forgets."""
    one, other = network(), network(1)
    optimizer = first(one.parameters(), 0.01)
    train(one, optimizer, steps)
    heir = second(other.parameters(), 0.5)  # the learning rate is part of the state
    train(other, heir, before, seed=2)
    other.load_state_dict(one.state_dict())
    heir.load_state_dict(copy.deepcopy(optimizer.state_dict()))  # torch takes the very tensors
    train(one, optimizer, 20, seed=1)
    train(other, heir, 20, seed=1)
    assert_same((one, optimizer), (other, heir))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda both: pickle.loads(pickle.dumps(both))])
@pytest.mark.parametrize("steps", [0, 10])
def test_a_copy_goes_on_by_itself(copied, steps):
    net = network()
    optimizer = LeanAdam(net.parameters(), 0.01)
    train(net, optimizer, steps)
    twin = copied((net, optimizer))
    before = copy.deepcopy(net.state_dict())
    train(*twin, 5, seed=1)
    assert_close([net.state_dict()], [before], rtol=0, atol=0)
    train(net, optimizer, 5, seed=1)
    assert_same((net, optimizer), twin)


def test_nothing_imports_torchs_compiler(tmp_path):
    """It takes two seconds, and nothing compiles: training, files, checks of whole agents."""
    code = f"""
import sys
from helpers.agents import PPO, TD3
from helpers.algorithms import a2c, td3
from helpers.checks import grade
for agent in (TD3("Pendulum-v1", seed=0, learning_starts=5), PPO("Pendulum-v1", seed=0)):
    agent.learn(20)
    assert agent.last.losses, agent
    agent.save({str(tmp_path / "a.pt")!r})
    type(agent).load({str(tmp_path / "a.pt")!r}).learn(20)
agent.optimizer.zero_grad()
for number, kind in {{"1.10": a2c.update, "3.5": td3.update}}.items():
    assert grade(number, kind).passed
assert "torch._dynamo" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
