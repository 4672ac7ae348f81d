"""Reading and setting what an agent has learned: copies, in place, all or nothing."""

import pytest
import torch
from sentences import one_sentence
from wholes import AGENTS, at, everything, tiny

from helpers.agents import A2C, DDPG, TD3

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


@pytest.mark.parametrize("name", ["td3-ou", "sac", "a2c", "book"])
def test_parameters_are_copies_of_what_a_file_holds(name, tmp_path):
    """In both directions."""
    agent, other = AGENTS[name]().learn(STEPS), AGENTS[name]()
    agent.save(tmp_path / "a.pt")
    found = agent.get_parameters()
    before = flat(found)
    assert before == flat(torch.load(tmp_path / "a.pt")["state"])
    agent.learn(STEPS)  # moves weights and moments in place
    assert flat(found) == before
    other.set_parameters(found)
    other.learn(STEPS)
    assert flat(found) == before


@EVERY
def test_an_agent_takes_anothers_parameters_and_learns_on(new):
    """Networks, targets and moments, in place: the optimisers still move the networks."""
    trained, other = new().learn(STEPS), new()
    other.set_parameters(trained.get_parameters())
    before = learned(other)
    assert before == learned(trained)
    other.learn(STEPS)
    now = learned(other)
    assert all(now[name] != before[name] for name in before if "temperature" not in name)


def test_an_optimiser_keeps_its_own_settings():
    agent = DDPG("Short-v0", seed=0, **tiny, actor_learning_rate=0.5)
    agent.set_parameters(DDPG("Short-v0", seed=1, **tiny).learn(STEPS).get_parameters())
    assert agent.actor_optimizer.param_groups[0]["lr"] == 0.5
    assert len(agent.actor_optimizer.state) > 0


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


WEIGHT, OPTIMIZER = ("critic", "first.hidden1.weight"), "critic_optimizer"
MOMENT = (OPTIMIZER, "state", 0, "exp_avg")
UNFIT = {
    "a part that is nothing": at("critic", value=None),
    "a weight too few": at(*WEIGHT, value=KeyError),
    "a weight too many": at("critic", "x", value=torch.ones(1)),
    "another shape": at(*WEIGHT, value=lambda t: t[..., :-1]),
    "an array": at(*WEIGHT, value=lambda t: t.numpy()),
    "NaN": at(*WEIGHT, value=lambda t: t * float("nan")),
    "a parameter too many": at(OPTIMIZER, "state", 99, value={}),
    "moments that are none": at(OPTIMIZER, "state", 0, value=5),
    "another moment's shape": at(*MOMENT, value=lambda t: t[:-1]),
    "a moment of NaN": at(*MOMENT, value=lambda t: t * float("nan")),
}


@pytest.mark.parametrize("change", UNFIT.values(), ids=UNFIT.keys())
def test_what_does_not_fit_is_one_sentence_and_changes_nothing(change):
    """Though other parts, which come before it, would fit."""
    agent, other = AGENTS["td3"]().learn(STEPS), AGENTS["td3"]().learn(60)
    before, states = everything(agent), other.get_parameters()
    change(states)
    for wrong in (states, list(states)):
        with one_sentence(ValueError):
            agent.set_parameters(wrong)
    assert everything(agent) == before


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
    with one_sentence(ValueError, "no part 'policy'"):
        agent.set_parameters({"policy": {}}, exact=False)
