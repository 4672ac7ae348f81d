"""Agents elsewhere than on the CPU: nothing crosses over unasked, and the numbers are the same."""

import argparse
from functools import partial

import numpy as np
import pytest
import torch
from elsewhere import ELSEWHERE, There, put_elsewhere
from environments import AnySpace
from environments import make as make_own
from gymnasium import spaces
from sentences import one_sentence
from sometimes import always_on
from wholes import AGENTS, DEMOS, everything, tiny

from helpers.agents import A2C, TD3
from helpers.agents.cloning import BehaviourCloning
from helpers.agents.limits import as_device
from helpers.agents.settings import setting
from helpers.demos.files import load_demos
from helpers.envs.make import make_env
from helpers.training.asked import ask, make_agent
from helpers.training.runs import Plan, Run

STEPS = 24
both = ("obs", "rewards")


def cloning(**settings):
    settings = tiny | {"buffer_size": 1000} | settings
    agent = BehaviourCloning("SparsePendulum-v0", seed=0, **settings)
    return agent.remember(load_demos(DEMOS, agent.env_source))


def choices(**settings):
    env = make_own(AnySpace, action_space=spaces.MultiDiscrete([2, 3]))
    return A2C(env, seed=0, n_envs=2, n_steps=6, hidden=4, **settings)


KINDS = {
    name: AGENTS[name]
    for name in (
        "ddpg", "td3-ou", "td3-pixels", "sac", "sac-fixed", "sac-pixels", "ddpgfd", "td3bc",
        "rlpd", "a2c", "gaussian", "ppo", "ppo-gaussian", "book",
    )
} | {
    "choices": choices,
    "cloning": cloning,
    "td3-normal": partial(AGENTS["td3"], normalize=both, layer_norm=True),
    "ddpgfd-normal": partial(AGENTS["ddpgfd"], normalize=both),
    "ppo-normal": partial(AGENTS["ppo"], normalize=both, hidden=(4, 4)),
}  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore:.*from a non-meta")  # torch knows no other "meta"
ALL = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch):
    """The device is there, and what only a CPU has, other networks and updates, is not used."""
    with put_elsewhere(monkeypatch):
        yield


def tensors_of(agent):
    """All weights, and all that optimisers remember, but for counts."""
    states = [getattr(agent, name).state_dict() for name in agent.parts() if name != "normalizer"]
    moments = [each for s in states if "param_groups" in s for each in s["state"].values()]
    named = [pair for s in states + moments for pair in s.items()]
    return [each for name, each in named if isinstance(each, torch.Tensor) and name != "step"]


def plain(agent):
    """Only on a CPU are there updates in numpy."""
    if "fast" in agent.settings:
        agent.fast = False
    return agent


@ALL
def test_a_training_elsewhere_is_the_same(make):
    here, there = (plain(each).learn(STEPS) for each in (make(), make(device=ELSEWHERE)))
    assert there.device == ELSEWHERE
    assert all(isinstance(each, There) for each in tensors_of(there))
    assert not any(isinstance(each, There) for each in tensors_of(here))
    assert everything(there) == everything(here)


@ALL
def test_so_is_what_it_can_be_asked(make):
    agents = make(), make(device=ELSEWHERE)
    env = make_env(agents[0].env_source)
    obs = np.array([env.reset(seed=seed)[0] for seed in range(3)])
    asked = [lambda agent: agent.predict(obs), lambda agent: agent.predict(obs, False)]
    asked += [lambda agent: agent.value(agent.flat(obs)).detach().cpu()]
    if isinstance(agents[0].action_space, spaces.Discrete):
        asked += [lambda agent: agent.action_probability(obs[0])]
    for question in asked:
        np.testing.assert_array_equal(*map(question, agents))


@pytest.mark.parametrize(
    "name", always_on("td3", of=["td3-normal", "sac", "ppo-gaussian", "ddpgfd"])
)
def test_files_are_for_any_device(tmp_path, name):
    """Either way, and going on from a file equals never having stopped."""
    make, path = KINDS[name], tmp_path / "agent.pt"
    whole = plain(make()).learn(2 * STEPS)
    for saved_on, loaded_on in [(ELSEWHERE, "cpu"), ("cpu", ELSEWHERE)]:
        plain(make(device=saved_on)).learn(STEPS).save(path, replay=True)
        in_file = torch.load(path, weights_only=True)  # not asked to be moved
        assert "device" not in in_file["hyperparameters"]
        assert type(whole).load(path, whole.env_source).device.type == "cpu"
        again = plain(type(whole).load(path, whole.env_source, device=loaded_on))
        assert again.device == torch.device(loaded_on)
        assert everything(again.learn(STEPS)) == everything(whole)


def test_a_class_that_knows_of_no_device():
    """What its constructor builds, and what its update gets, is where the agent was told to be."""

    class Mine(TD3):
        bonus: float = setting(1.0)

        def build(self):
            super().build()
            with self.seeded():
                self.guess = torch.nn.Linear(self.obs_size, 1)

        def update(self, batch):
            more = self.bonus * self.guess(batch.obs)[:, 0].detach()
            return super().update(batch._replace(reward=batch.reward + more))

    here, there = (Mine("Short-v0", seed=0, **tiny, device=each) for each in ("cpu", ELSEWHERE))
    assert everything(here.learn(STEPS)) == everything(there.learn(STEPS))


# ---- which device --------------------------------------------------------------------------------


def test_auto_is_a_gpu_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert AGENTS["td3"](device="auto").device.type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch, "empty", lambda *_, device: device)
    assert as_device("device", "auto") == as_device("device", "cuda") == torch.device("cuda")


@pytest.mark.parametrize("device", ["gpu", "cuda", torch.device("cuda"), "", None, 0.5])
@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has it")
def test_a_device_that_is_not_there_is_one_sentence(device):
    for name in ("td3", "a2c", "book"):
        with one_sentence(ValueError, "device must be", '"cpu"', '"auto"', '"cuda"', repr(device)):
            AGENTS[name](device=device)


def test_a_command_line_asks_for_it_and_goes_on_there(tmp_path):
    words = ["device=meta", "hidden=4", "learning_starts=10", "batch_size=4"]
    options = argparse.Namespace(
        algorithm="td3", environment="Short-v0", steps=30, set=words, demos=None
    )
    plan = Plan(ask(options), seed=0, out=tmp_path, every=30, episodes=1, minutes=5, command="")
    run = Run(plan, make_agent(plan.setting, 0))
    assert run.agent.device == ELSEWHERE
    run.save()
    run.resume()
    assert run.agent.device == ELSEWHERE
