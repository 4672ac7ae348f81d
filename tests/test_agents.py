"""What every agent promises: predict, learn, stop and go on, the same seed twice, save and load."""

import random
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import torch
from environments import BOXES, TORQUE, AnySpace, Constant, Counting, Faulty, Log, make, some
from gymnasium import spaces
from sentences import one_sentence

from helpers.agents import A2C, DDPG, PPO, TD3, ReinforceWithBaseline
from helpers.agents.noise import GaussianNoise, OUNoise
from helpers.agents.off_policy import OffPolicyAgent
from helpers.evaluation import evaluate

small = {"n_envs": 3, "n_steps": 8, "hidden": 8}
replay = {"learning_starts": 10, "batch_size": 8, "buffer_size": 90, "hidden": 8}
now_and_then = {"noise": OUNoise(), "train_freq": 3, "gradient_steps": 2}
AGENTS = {
    "discrete": partial(A2C, "CartPole-v1", **small),
    "gaussian": partial(A2C, "Pendulum-v1", **small),
    "ppo": partial(PPO, "CartPole-v1", **small),
    "book": partial(ReinforceWithBaseline, "CartPole-v1", hidden=8),
    "ddpg": partial(DDPG, "Pendulum-v1", **replay),
    "ddpg-ou": partial(DDPG, "Pendulum-v1", **replay, **now_and_then),
    "td3": partial(TD3, "Pendulum-v1", **replay),
    "td3-slow": partial(TD3, "Pendulum-v1", **replay, **now_and_then, policy_delay=3),
}
EVERY = pytest.mark.parametrize("new", AGENTS.values(), ids=AGENTS.keys())

rollouts = {"n_envs": 3, "n_steps": 4}
TINY = {A2C: rollouts, PPO: rollouts, ReinforceWithBaseline: {}, DDPG: replay, TD3: replay}
KINDS = pytest.mark.parametrize("kind", TINY)


def tiny(kind, probe, **settings):
    """An agent of that kind, with seed 5, in a probe environment whose actions it takes."""
    if issubclass(kind, OffPolicyAgent):
        settings["action_space"] = TORQUE
    return kind(make(probe, **settings), seed=5, **TINY[kind])


def weights(agent):
    """Every number that training changes, as bytes: networks and optimisers."""
    tensors = []

    def collect(content):
        if isinstance(content, torch.Tensor):
            tensors.append(content.detach().numpy().tobytes())
        elif isinstance(content, dict):
            for name in sorted(content, key=str):
                collect(content[name])

    parts = {name: part for name, part in vars(agent).items() if hasattr(part, "state_dict")}
    assert parts.keys() == set(agent.parts())
    collect({name: part.state_dict() for name, part in parts.items()})
    return tensors


class Watcher:
    """A callback that writes down what it is told; at its call number `at` it does `then`."""

    def __init__(self, at=0, then=lambda: None):
        self.events, self.at, self.then = [], at, then

    def start(self, agent, total_steps):
        self.events.append(("start", agent.steps, total_steps))

    def __call__(self, agent):
        self.events.append(("update", agent.steps))
        return self.then() if len(self.events) - 1 == self.at else None

    def stop(self, agent):
        self.events.append(("stop", agent.steps))


def interrupt():
    raise KeyboardInterrupt


# ---- predict -------------------------------------------------------------------------------------

ACTIONS = {
    "start": spaces.Discrete(3, start=7),
    "sides": spaces.Box(np.float32([-1, 2, 100]), np.float32([0.1, 3, 300])),
    "plane": spaces.Box(-0.1, 0.3, (2, 2), np.float64),
    "free": spaces.Box(-np.inf, np.inf, (2,)),
    "number": spaces.Box(-0.2845, 0.2671, ()),
}


@pytest.mark.parametrize(
    ("kind", "observations", "actions"),
    [
        *[(A2C, *pair) for pair in zip(BOXES, ACTIONS, strict=True)],
        (PPO, "unbounded", "free"),
        (ReinforceWithBaseline, "unbounded", "start"),
        (TD3, "image", "plane"),
        (TD3, "number", "number"),
        (DDPG, "float64", "sides"),
    ],
)
def test_it_learns_and_predicts_with_any_box_and_action(kind, observations, actions):
    obs_space, action_space = BOXES[observations], ACTIONS[actions]
    env = make(AnySpace, observation_space=obs_space, action_space=action_space)
    loud = {"noise": GaussianNoise(2.0)} if kind in (DDPG, TD3) else {}  # so it reaches the bounds
    agent = kind(env, **{"hidden": 8, **TINY[kind], **loud}, seed=0)
    before = weights(agent)
    agent.learn(30)  # the environment itself refuses wrong actions
    assert weights(agent) != before
    batch = some(obs_space, 5)
    for deterministic in (True, False):
        action = agent.predict(batch[0], deterministic=deterministic)
        assert action_space.contains(np.asarray(action))
        assert isinstance(action, int) == isinstance(action_space, spaces.Discrete)
        actions = agent.predict(batch, deterministic=deterministic)
        assert actions.shape == (5, *action_space.shape)
        assert all(action_space.contains(np.asarray(each)) for each in actions)
        assert agent.predict(batch[:1], deterministic=deterministic).shape[0] == 1


@EVERY
def test_predict_repeats_itself_unless_it_explores(new):
    agent = new(seed=0)
    batch = np.clip(some(agent.observation_space, 50), -1, 1)
    greedy = agent.predict(batch)
    np.testing.assert_array_equal(greedy, agent.predict(batch))
    np.testing.assert_array_equal(greedy, agent.predict(batch.tolist()))
    one_by_one = np.array([agent.predict(obs) for obs in batch])
    np.testing.assert_allclose(greedy, one_by_one, atol=1e-6)
    explored = [agent.predict(batch, deterministic=False) for _ in range(2)]
    assert not np.array_equal(*explored)
    again = new(seed=0)
    np.testing.assert_array_equal(explored[0], again.predict(batch, deterministic=False))


@pytest.mark.parametrize("shape", [(), (5,), (2, 5), (2, 3, 4), (0,)])
def test_predict_refuses_other_shapes_in_one_sentence(shape):
    with one_sentence(ValueError, "shape", str(shape), "(4,)"):
        A2C("CartPole-v1", seed=0).predict(np.zeros(shape))


# ---- the same seed twice -------------------------------------------------------------------------


@EVERY
def test_the_seed_alone_decides_whoever_looks_on_and_however_often_it_stops(new):
    """The same weights bit for bit, in two parts, between other draws, beside evaluations."""

    def disturb(agent):
        agent.predict(agent.observation_space.sample(), deterministic=False)
        if agent.steps < 20:
            evaluate(agent, episodes=1)
        for draw in (np.random.seed, torch.manual_seed, random.seed):
            draw(agent.steps)

    quiet, disturbed, other = new(seed=3), new(seed=3), new(seed=4)
    first = weights(quiet)
    assert first == weights(disturbed) != weights(other)
    updates = Watcher()
    quiet.learn(150, updates)
    part = updates.events[2][1]
    assert disturbed.learn(part, disturb).steps == part
    disturbed.learn(quiet.steps - part, disturb)
    assert weights(quiet) == weights(disturbed) != first
    assert quiet.history == disturbed.history
    assert weights(quiet) != weights(other.learn(150))


@EVERY
def test_global_random_states_are_left_alone(new, tmp_path):
    """Neither read, as the same seed shows, nor changed."""

    def states():
        legacy = np.random.get_state()  # noqa: NPY002
        return torch.get_rng_state().tolist(), legacy[1].tolist(), legacy[2:], random.getstate()

    before = states()
    agent = new().learn(60)
    agent.predict(agent.observation_space.sample(), deterministic=False)
    evaluate(agent, episodes=1)
    agent.save(tmp_path / "agent.pt")
    type(agent).load(tmp_path / "agent.pt").learn(30)
    assert states() == before


def test_agents_made_in_threads_start_as_those_made_alone():
    """Torch's random state is shared by all threads."""

    def start(seed):
        return AGENTS["ppo"](seed=seed).get_parameters()["policy"]

    seeds = [*range(4)] * 10
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(start, seeds))
    alone = {seed: start(seed) for seed in set(seeds)}
    for seed, state in zip(seeds, together, strict=True):
        assert all(torch.equal(state[name], alone[seed][name]) for name in state)


def test_without_a_seed_an_agent_draws_one_and_keeps_it():
    new = AGENTS["td3"]
    first, second = new(), new()
    assert first.seed != second.seed
    assert first.hyperparameters["seed"] == first.seed
    assert weights(new(seed=first.seed)) == weights(first)


@KINDS
def test_environments_are_seeded_once_and_then_start_elsewhere(kind):
    seeds = Log()
    tiny(kind, Constant, ending="terminated", seeds=seeds).learn(10).learn(10)
    own = [5, 6, 7] if kind in (A2C, PPO) else [5]
    assert seeds[: len(own)] == own
    assert len(seeds) >= 2 * len(own)
    assert set(seeds[len(own) :]) == {None}


def test_seeds_and_hyperparameters_may_come_from_numpy(tmp_path):
    agent = A2C("CartPole-v1", seed=np.int64(3), gamma=np.float32(0.5), hidden=np.int64(4))
    agent.learn(1).save(tmp_path / "agent.pt")
    loaded = A2C.load(tmp_path / "agent.pt")
    assert (loaded.seed, loaded.gamma, loaded.critic[0].out_features) == (3, 0.5, 4)


# ---- learn: steps, history, callbacks, stopping --------------------------------------------------


@EVERY
def test_learn_counts_steps_and_tells_the_callback(new):
    watcher = Watcher()
    agent = new(seed=0)
    assert agent.learn(60, watcher) is agent
    start, *updates, stop = watcher.events
    assert start == ("start", 0, 60)
    assert stop == ("stop", agent.steps)
    steps = [update[1] for update in updates]
    assert steps == sorted(set(steps))
    assert steps[-1] == agent.steps >= 60
    assert [step for step in steps if step >= 60] == [agent.steps]  # it ends as soon as it may
    if isinstance(agent, OffPolicyAgent):
        assert steps == list(range(1, 61))
    else:
        assert [at for at, _ in agent.history["actor_loss"]] == steps
    begun = agent.steps
    agent.learn(10, watcher)
    assert watcher.events[len(steps) + 2] == ("start", begun, 10)
    assert agent.steps >= begun + 10


def test_a_callback_may_end_the_training_and_need_not_have_hooks():
    watcher, steps = Watcher(at=2, then=lambda: False), []
    agent = AGENTS["ddpg"](seed=0).learn(10_000, watcher)
    assert [event[0] for event in watcher.events] == ["start", "update", "update", "stop"]
    agent.learn(10_000, lambda agent: steps.append(agent.steps) or len(steps) < 3)
    assert len(steps) == 3


def test_what_the_history_does_not_have_is_empty_and_stays_out():
    agent = A2C("CartPole-v1", seed=0)
    assert len(agent.history["return"]) == len(agent.history["nope"]) == 0
    with pytest.raises(AttributeError):
        agent.history["mine"].append((0, 1.0))  # it would be lost
    assert not agent.history


@KINDS
def test_history_counts_an_episode_as_the_environment_does(kind, monkeypatch):
    log = Log()
    for several in (A2C, PPO):
        monkeypatch.setitem(TINY, several, {"n_envs": 1, "n_steps": 7})
    agent = tiny(kind, Counting, transitions=log).learn(100)
    ends = [i for i, (*_, terminated, truncated) in enumerate(log, 1) if terminated or truncated]
    episodes = [log[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    steps, lengths = zip(*agent.history["length"], strict=True)
    assert list(lengths) == [len(episode) for episode in episodes]
    returns = [value for _, value in agent.history["return"]]
    assert returns == pytest.approx([sum(step[2] for step in episode) for episode in episodes])
    assert [step for step, _ in agent.history["return"]] == list(steps) == sorted(steps)
    assert {type(value) for value in (*returns, *lengths)} == {float}


@EVERY
def test_stopping_keeps_the_agent_and_learning_goes_on(new, capsys):
    watcher = Watcher(at=2, then=interrupt)
    agent = new(seed=0)
    assert agent.learn(10_000, watcher) is agent
    assert [event[0] for event in watcher.events] == ["start", "update", "update", "stop"]
    stopped = agent.steps
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert f"step {stopped:,}" in out
    assert err == ""
    kept = weights(agent)
    agent.learn(50)
    assert agent.steps >= stopped + 50
    assert weights(agent) != kept


@pytest.mark.parametrize("at", [1, 5, 15, 17])
@KINDS
def test_stopping_within_a_step_leaves_environments_that_go_on(kind, at):
    """Of three copies some have made the step, perhaps their episode's last, and some have not."""
    steps, seeds, stop = Log(), Log(), KeyboardInterrupt()
    agent = tiny(kind, Faulty, fault=stop, at=at, steps=steps, length=2, seeds=seeds)
    watcher = Watcher()
    agent.learn(10_000, watcher)
    assert watcher.events[-1] == ("stop", agent.steps)
    assert len(steps) == at
    stopped = agent.steps
    agent.learn(50)
    assert agent.steps >= stopped + 50
    assert {length for _, length in agent.history["length"]} == {2.0}
    assert len([seed for seed in seeds if seed is not None]) == (3 if kind in (A2C, PPO) else 1)


@pytest.mark.parametrize("fault", ["reward", "observation", "first observation"])
@KINDS
def test_nan_is_one_sentence_and_is_not_learned_from(kind, fault, monkeypatch):
    for several in (A2C, PPO):
        monkeypatch.setitem(TINY, several, {"n_envs": 2, "n_steps": 4})
    for at in (13, 15):
        agent = tiny(kind, Faulty, fault=fault, at=at, steps=Log(), length=3)
        seen = []
        words = "the reward nan" if fault == "reward" else "the observation [nan]"
        with one_sentence(ValueError, "environment returned", words):
            agent.learn(100, lambda agent, seen=seen: seen.append(weights(agent)))
        assert seen[-1] == weights(agent)
        agent.learn(100)
        assert all(torch.isfinite(p).all() for p in agent.critic.parameters())


def test_training_uses_one_thread_and_puts_the_number_back():
    before, seen = torch.get_num_threads(), []
    torch.set_num_threads(2)
    try:
        agent = AGENTS["ppo"](seed=0)
        agent.learn(30, lambda agent: seen.append(torch.get_num_threads()) or interrupt())
        assert seen == [1]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
