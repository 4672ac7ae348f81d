"""An agent's file and what it cannot hold: own noises and schedules, and settings given at load."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest
import torch
from sentences import one_sentence
from wholes import everything, tiny

from helpers.agents import A2C, SAC, TD3, DDPGfD
from helpers.agents.noise import GaussianNoise, Noise, OUNoise
from helpers.agents.schedules import LinearSchedule
from helpers.agents.settings import setting


class Twisted(Noise):
    """A plain class with what no file can hold."""

    def __init__(self, turn):
        self.turn = turn

    def sample(self, shape, rng):
        return self.turn(rng.standard_normal(shape))

    @property
    def std(self):
        return 1.0


@dataclass
class Walk(Noise):
    """It remembers where it was."""

    step: float = 0.1
    where: float = field(default=0.0, init=False)

    def sample(self, shape, rng):
        self.where = self.where + self.step * float(rng.standard_normal())
        return np.full(shape, self.where)

    @property
    def std(self):
        return self.step


@dataclass(frozen=True)
class Halved:
    every: int

    def __call__(self, steps):
        return 0.01 * 0.5 ** (steps // self.every)


class Tricky(TD3):
    """An agent with a setting that is a function."""

    trick = setting(np.tanh)


def bend(x):
    return 0.1 * x


def fall(steps):
    return 0.01 / (1 + steps)


pendulum = partial(TD3, "Pendulum-v1", seed=0, **tiny)
OWN = {
    "noise": (pendulum, {"noise": Twisted(bend)}, "noise=Twisted(...)"),
    "memory": (pendulum, {"noise": Walk()}, "noise=Walk(...)"),
    "two": (
        pendulum, {"noise": Walk(), "actor_learning_rate": Halved(7)},
        "noise=Walk(...), actor_learning_rate=Halved(...)",
    ),
    "rate": (
        partial(A2C, "CartPole-v1", seed=0, n_envs=3, n_steps=7, hidden=4),
        {"learning_rate": Halved(20)}, "learning_rate=Halved(...)",
    ),
    "falling": (pendulum, {"critic_learning_rate": fall}, "critic_learning_rate=fall"),
    "function": (
        partial(Tricky, "Pendulum-v1", seed=0, **tiny), {"trick": bend}, "trick=bend"
    ),
    "array within": (
        partial(Tricky, "Pendulum-v1", seed=0, **tiny), {"trick": {"weights": np.ones(2)}},
        "trick=dict(...)",
    ),
}  # fmt: skip
EVERY = pytest.mark.parametrize(("new", "own", "typed"), OWN.values(), ids=OWN.keys())


@EVERY
def test_objects_of_ones_own_are_passed_again_and_a_sentence_asks_for_them(
    new, own, typed, tmp_path
):
    """Then going on equals never having stopped."""
    agent = new(**own).learn(30)
    agent.save(tmp_path / "a.pt", replay=True)
    loaded = type(agent).load(tmp_path / "a.pt", **own)
    assert loaded.hyperparameters.keys() == agent.hyperparameters.keys()
    assert everything(loaded.learn(20)) == everything(agent.learn(20))
    with one_sentence(ValueError, "which no file can hold", str(tmp_path)) as error:
        type(agent).load(tmp_path / "a.pt")
    calls = [f"{type(agent).__name__}.load(path, {each})" for each in typed.split(", ")]
    assert any(call in str(error.value) for call in calls)


@pytest.mark.parametrize("name", ["os.system('ls')", "x" * 10**4, None, ["a"]], ids=str)
def test_a_hostile_name_is_not_shown(name, tmp_path):
    pendulum().save(tmp_path / "a.pt")
    content = torch.load(tmp_path / "a.pt")
    content["hyperparameters"]["noise"] = {"own": name}
    torch.save(content, tmp_path / "a.pt")
    with one_sentence(ValueError, match=r"noise=\.\.\."):
        TD3.load(tmp_path / "a.pt")
    assert TD3.load(tmp_path / "a.pt", noise=OUNoise()).noise == OUNoise()


def test_a_memory_that_no_file_can_hold_is_refused_when_it_is_saved(tmp_path):
    class Hoarder(Walk):
        def memory(self):
            return {"everything": object()}

    agent = pendulum(noise=Hoarder())
    with one_sentence(ValueError, "Nothing was saved"):
        agent.save(tmp_path / "a.pt", replay=True)
    assert not (tmp_path / "a.pt").exists()
    agent.save(tmp_path / "a.pt")


@pytest.mark.parametrize(
    ("given", "loaded"),
    [
        ({"far": np.float64(0.5), "near": (np.int64(1), True)}, {"far": 0.5, "near": (1, True)}),
        ([np.float64(0.5), None], [0.5, None]),
        ("a text", "a text"),
    ],
    ids=str,
)
def test_a_setting_of_numpys_numbers_is_loaded_as_pythons(given, loaded, tmp_path):
    pendulum = partial(Tricky, "Pendulum-v1", seed=0, **tiny)
    own = {"hidden": [np.int64(4), 4], "noise": GaussianNoise(np.float32(0.5))}
    pendulum(trick=given, **own).save(tmp_path / "a.pt")
    again = Tricky.load(tmp_path / "a.pt")
    assert (again.trick, again.hyperparameters["hidden"]) == (loaded, [4, 4])
    assert again.noise == GaussianNoise(0.5)
    assert repr(again.trick) == repr(loaded)


class Slow(TD3):
    """The actor's first layer has a group of its own in the optimiser."""

    def build(self):
        super().build()
        first, *others = self.actor.parameters()
        groups = [{"params": [first], "lr": 1e-4}, {"params": others}]
        self.actor_optimizer = torch.optim.Adam(groups, 1e-3)


def test_an_optimiser_with_several_groups_is_loaded_where_it_fits(tmp_path):
    agent = Slow("Pendulum-v1", seed=0, **tiny).learn(20)
    agent.actor_optimizer.param_groups[1]["lr"] = 3e-3
    agent.save(tmp_path / "a.pt", replay=True)
    loaded = Slow.load(tmp_path / "a.pt")
    assert [group["lr"] for group in loaded.actor_optimizer.param_groups] == [1e-4, 3e-3]
    assert everything(loaded.learn(10)) == everything(agent.learn(10))
    torch.save(torch.load(tmp_path / "a.pt") | {"agent": "TD3"}, tmp_path / "a.pt")
    other = pendulum()
    other.actor_optimizer = torch.optim.SGD(other.actor.parameters(), 1e-3)
    other.learn(20).save(tmp_path / "b.pt")
    for name in ("a.pt", "b.pt"):
        with one_sentence(ValueError, "'actor_optimizer' does not fit this agent"):
            TD3.load(tmp_path / name)


# ---- settings given at load ----------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    """A file of an agent with the course's noise with a memory."""
    agent = pendulum(noise=OUNoise(0.3), actor_learning_rate=1e-2).learn(30)
    agent.save(tmp_path / "a.pt", replay=True)
    return tmp_path / "a.pt"


def test_settings_given_at_load_replace_those_of_the_file(path):
    """Also in the file that is saved then; what the optimisers remember stays."""
    changed = {"gamma": 0.5, "noise": GaussianNoise(0.2), "actor_learning_rate": 1e-4}
    before, loaded = TD3.load(path), TD3.load(path, **changed)
    assert loaded.hyperparameters == before.hyperparameters | changed
    moments = loaded.actor_optimizer.state_dict()["state"]
    assert moments[0]["step"] == before.updates // 2
    loaded.learn(4)
    pairs = zip(loaded.actor.parameters(), before.actor.parameters(), strict=True)
    assert 0 < max((now - then).abs().max() for now, then in pairs) < 1e-3
    loaded.save(path)
    assert TD3.load(path).hyperparameters == loaded.hyperparameters


def test_a_schedule_begins_where_the_steps_are(path):
    loaded = TD3.load(path, critic_learning_rate=LinearSchedule(1e-2, 1e-3, 60)).learn(1)
    assert loaded.critic_optimizer.param_groups[0]["lr"] == pytest.approx(5.35e-3)


def test_what_was_set_by_hand_in_an_optimiser_stays_unless_it_is_given(tmp_path):
    def set_there(**given):
        loaded = DDPGfD.load(tmp_path / "a.pt", **given).learn(2)
        groups = [loaded.actor_optimizer.param_groups[0], loaded.critic_optimizer.param_groups[0]]
        return [(group["lr"], group["betas"], group["weight_decay"]) for group in groups]

    agent = DDPGfD("Short-v0", seed=0, **tiny, weight_decay=0.1)
    for optimizer in (agent.actor_optimizer, agent.critic_optimizer):
        optimizer.param_groups[0] |= {"lr": 3e-3, "betas": (0.5, 0.9), "weight_decay": 0.25}
    agent.save(tmp_path / "a.pt")
    by_hand = (3e-3, (0.5, 0.9), 0.25)
    assert set_there() == set_there(tau=0.5, seed=1) == [by_hand, by_hand]
    assert set_there(critic_learning_rate=1e-4) == [by_hand, (1e-4, (0.5, 0.9), 0.25)]
    assert set_there(weight_decay=0.5) == [(3e-3, (0.5, 0.9), 0.5)] * 2


@pytest.mark.parametrize("learned", [True, False])
def test_a_temperature_given_at_load_is_the_one_that_counts(learned, tmp_path):
    agent = SAC("Short-v0", seed=0, **tiny).learn(20)
    assert agent.temperature() != 1
    agent.save(tmp_path / "a.pt")
    loaded = SAC.load(tmp_path / "a.pt", temperature=0.2, learn_temperature=learned)
    assert loaded.temperature().item() == pytest.approx(0.2)
    assert SAC.load(tmp_path / "a.pt").temperature() == agent.temperature()
    loaded.learn(20)
    assert (loaded.temperature().item() == pytest.approx(0.2)) is not learned
    loaded.save(tmp_path / "b.pt")
    assert SAC.load(tmp_path / "b.pt").temperature() == loaded.temperature()


def test_another_seed_draws_other_numbers_from_there_on(path):
    first, again, other = (TD3.load(path, seed=seed) for seed in (1, 1, 2))
    same = TD3.load(path)
    assert [agent.seed for agent in (first, again, other, same)] == [1, 1, 2, 0]
    assert everything(first)["state"] == everything(same)["state"]
    assert len(first.buffer) == len(same.buffer) == 25
    for agent in (first, again, other, same):
        agent.learn(10)
    assert everything(first) == everything(again)
    states = [str(everything(agent)["state"]) for agent in (first, other, same)]
    assert len(set(states)) == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hidden": (4, 4, 4)}, "with another hidden"),
        ({"tau": 2.0}, "tau must be"),
        ({"gamma": 0.9, "layer_norm": True}, "with another gamma and layer_norm"),
    ],
    ids=str,
)
def test_settings_that_do_not_fit_are_one_sentence(path, change, words):
    with one_sentence(ValueError, str(path), match=words):
        TD3.load(path, **change)
