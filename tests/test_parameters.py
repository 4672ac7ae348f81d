"""Reading and setting what an agent has learned: copies, in place, all or nothing."""

import copy

import pytest
import torch
from sentences import one_sentence
from wholes import AGENTS, everything, tiny

from helpers.agents import A2C, DDPG, TD3
from helpers.agents.off_policy import OffPolicyAgent
from helpers.algorithms.ddpg import DeterministicActor

EVERY = pytest.mark.parametrize("new", AGENTS.values(), ids=AGENTS.keys())
STEPS = 30


def flat(states):
    """Every tensor and number of states by name, as comparable values."""
    if isinstance(states, dict):
        return {name: flat(value) for name, value in states.items()}
    if isinstance(states, list):
        return [flat(value) for value in states]
    return states.numpy().tobytes() if isinstance(states, torch.Tensor) else states


def learned(agent):
    """Weights and moments, without the optimisers' settings."""
    states = agent.get_parameters()
    for state in states.values():
        state.pop("param_groups", None)
    return flat(states)


@EVERY
def test_parameters_are_those_that_a_file_holds(new, tmp_path):
    agent = new().learn(STEPS)
    agent.save(tmp_path / "a.pt")
    found = agent.get_parameters()
    assert [*found] == [*agent.parts()]
    assert flat(found) == flat(torch.load(tmp_path / "a.pt")["state"])


@EVERY
def test_parameters_are_copies_in_both_directions(new):
    agent, other = new().learn(STEPS), new()
    found = agent.get_parameters()
    before = flat(found)
    agent.learn(STEPS)  # moves weights and moments in place
    assert flat(found) == before
    other.set_parameters(found)
    other.learn(STEPS)
    assert flat(found) == before


@EVERY
def test_an_agent_given_anothers_parameters_learns_as_that_one(new):
    """Networks, targets and moments: the same batch then leads to the same weights."""
    trained, other = new().learn(STEPS), new()
    other.set_parameters(trained.get_parameters())
    assert learned(other) == learned(trained)
    if isinstance(trained, OffPolicyAgent):
        other.buffer, other.updates = copy.deepcopy(trained.buffer), trained.updates
        # One stream for target noise and batches, as in every agent.
        other.buffer.rng = other.rng = copy.deepcopy(trained.buffer.rng)
        trained.rng = trained.buffer.rng
        other.steps = trained.steps
        if hasattr(trained, "old"):  # RLPD samples from a second buffer
            other.old = copy.deepcopy(trained.old)
            other.old.rng, trained.old.rng = other.rng, trained.rng
        for agent in (trained, other):
            agent.learn_from_memory()
            agent.learn_from_memory()
        assert learned(other) == learned(trained)


def test_weights_are_set_in_place():
    agent = AGENTS["td3"]().learn(STEPS)
    places = [tensor.data_ptr() for tensor in [*agent.online, *agent.targets]]
    own = [id(each) for each in agent.actor_optimizer.param_groups[0]["params"]]
    agent.set_parameters(AGENTS["td3"]().learn(50).get_parameters())
    assert [tensor.data_ptr() for tensor in [*agent.online, *agent.targets]] == places
    now = [*agent.actor.parameters(), *agent.critic.parameters()]
    assert all(a is b for a, b in zip(agent.online, now, strict=True))
    assert [id(each) for each in agent.actor_optimizer.param_groups[0]["params"]] == own
    before = [tensor.clone() for tensor in agent.online]
    agent.learn_from_memory()
    assert not all(torch.equal(a, b) for a, b in zip(before, now, strict=True))


def test_an_optimiser_keeps_its_own_settings():
    agent = DDPG("Short-v0", seed=0, **tiny, actor_learning_rate=0.5)
    agent.set_parameters(DDPG("Short-v0", seed=1, **tiny).learn(STEPS).get_parameters())
    assert agent.actor_optimizer.param_groups[0]["lr"] == 0.5
    assert len(agent.actor_optimizer.state) > 0


def test_an_untrained_agents_optimiser_can_be_given_too():
    agent, fresh = AGENTS["td3"]().learn(STEPS), AGENTS["td3"]().get_parameters()
    assert fresh["actor_optimizer"]["state"] == {}
    agent.set_parameters(fresh)
    assert agent.get_parameters()["actor_optimizer"]["state"] == {}
    agent.learn(STEPS)


def test_only_what_is_named_is_set():
    agent, other = AGENTS["td3"]().learn(STEPS), AGENTS["td3"]().learn(60)
    before, given = agent.get_parameters(), other.get_parameters()
    agent.set_parameters({"actor": given["actor"]}, exact=False)
    now = agent.get_parameters()
    assert flat(now["actor"]) == flat(given["actor"]) != flat(before["actor"])
    for name in agent.parts().keys() - {"actor"}:
        assert flat(now[name]) == flat(before[name]), name
    agent.set_parameters({}, exact=False)
    assert flat(agent.get_parameters()) == flat(now)


# ---- what does not fit ---------------------------------------------------------------------------


def first(state):
    return next(iter(state))


def last(states):
    """The name of the last part, which is an optimiser."""
    return list(states)[-1]


def change(states, name, then):
    """The same states, but `then` has changed the one of that name."""
    states = copy.deepcopy(states)
    then(states[name])
    return states


def lose(state):
    del state[first(state)]


def put(value):
    def then(state):
        state[first(state)] = value(state[first(state)])

    return then


def put_moment(value):
    def then(state):
        state["state"][0]["exp_avg"] = value(state["state"][0]["exp_avg"])

    return then


NOT_STATES = {
    "a number": lambda good: 3,
    "nothing": lambda good: None,
    "names": lambda good: list(good),
    "an unknown part": lambda good: good | {"brain": {}},
    "a part too few": lambda good: {name: good[name] for name in list(good)[:-1]},
    "a part that is nothing": lambda good: good | {"critic": None},
    "a part that is a network": lambda good: good | {"critic": torch.nn.Linear(1, 1)},
    "a weight too few": lambda good: change(good, "critic", lose),
    "a weight too many": lambda good: change(good, "critic", lambda s: s.update(x=torch.ones(1))),
    "another shape": lambda good: change(good, "critic", put(lambda t: t[..., :-1])),
    "an array": lambda good: change(good, "critic", put(lambda t: t.numpy())),
    "NaN": lambda good: change(good, "critic", put(lambda t: t * float("nan"))),
    "infinity": lambda good: change(good, "critic", put(lambda t: t + float("inf"))),
    "an empty optimiser": lambda good: good | {last(good): {}},
    "a parameter too few": lambda good: change(good, last(good), lambda s: s["state"].pop(0)),
    "a parameter too many": lambda good: change(
        good, last(good), lambda s: s["state"].update({99: s["state"][0]})
    ),
    "moments that are none": lambda good: change(
        good, last(good), lambda s: s["state"].update({0: 5})
    ),
    "another moment's shape": lambda good: change(good, last(good), put_moment(lambda t: t[:-1])),
    "a moment of NaN": lambda good: change(
        good, last(good), put_moment(lambda t: t * float("nan"))
    ),
}


@pytest.mark.parametrize("name", ["a2c", "gaussian", "ppo", "td3"])
@pytest.mark.parametrize("wrong", NOT_STATES.values(), ids=NOT_STATES.keys())
def test_what_does_not_fit_is_one_sentence_and_changes_nothing(name, wrong):
    """Though other parts, which come before it, would fit."""
    agent, other = AGENTS[name]().learn(STEPS), AGENTS[name]().learn(60)
    before = everything(agent)
    with one_sentence(ValueError):
        agent.set_parameters(wrong(other.get_parameters()))
    assert everything(agent) == before


class Counted(DeterministicActor):
    """It counts in whole numbers, as batch normalisation does."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.register_buffer("count", torch.tensor(7))


class Counting(TD3):
    actor_class = Counted


def test_a_network_may_count_in_whole_numbers():
    agent = Counting("Short-v0", seed=0, **tiny)
    states = agent.get_parameters()
    agent.actor.count.fill_(9)
    agent.set_parameters(states)
    assert agent.actor.count == 7


def test_messages_name_what_is_wrong():
    agent = AGENTS["td3"]()
    good = agent.get_parameters()
    wide = TD3("Short-v0", seed=0, **tiny | {"hidden": 5}).get_parameters()
    for states, names in [
        ({"actr": good["actor"]}, ["actr", "actor, critic, target_critic"]),
        ({"actor": good["actor"]}, ["critic", "exact=False"]),
        (wide, ["'actor'", "hidden"]),
        (good | {"actor": good["actor_optimizer"]}, ["'actor'"]),
        (A2C("Pendulum-v1").get_parameters(), ["policy"]),
    ]:
        with one_sentence(ValueError, *names):
            agent.set_parameters(states)


def test_unknown_parts_are_refused_with_exact_false_as_well():
    agent = AGENTS["td3"]()
    with pytest.raises(ValueError, match="no part 'policy'"):
        agent.set_parameters({"policy": {}}, exact=False)
