"""Callbacks: what they do, when, and that training does not notice them."""

import random
import threading
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from environments import TORQUE, Constant, Probe, make
from sentences import one_sentence
from sometimes import always_on
from wholes import AGENTS, everything, tiny

from helpers.agents import DDPG, PPO, TD3, checkpoint
from helpers.agents.noise import GaussianNoise
from helpers.evaluation import evaluate
from helpers.training.callbacks import (
    CallbackList,
    Checkpoint,
    Evaluate,
    Print,
    StopAtReturn,
    TensorBoard,
)


class Seen:
    """A callback that writes down what it is told."""

    def __init__(self, log, name="", answer=None):
        self.log, self.name, self.answer = log, name, answer

    def start(self, agent, total_steps):
        self.log.append((self.name, "start", total_steps))

    def __call__(self, agent):
        self.log.append((self.name, agent.steps))
        return self.answer

    def stop(self, agent):
        self.log.append((self.name, "stop"))


# ---- training does not notice --------------------------------------------------------------------


@pytest.mark.parametrize("name", always_on("td3-ou", "td3-pixels", "a2c", of=AGENTS))
def test_an_agent_with_all_callbacks_is_the_one_without(name, tmp_path, monkeypatch):
    new = AGENTS[name]
    monkeypatch.setattr("helpers.training.callbacks.LOG_SECONDS", 0.0)
    random.seed(0), np.random.seed(0), torch.manual_seed(0)  # noqa: NPY002
    watched = new()
    evaluations = Evaluate(7, episodes=1, path=tmp_path / "best.pt")
    callbacks = [
        evaluations,
        lambda agent: None,
        StopAtReturn(1e9),
        StopAtReturn(1e9, evaluations=evaluations),
        Checkpoint(tmp_path / "steps.pt", steps=9),
        Checkpoint(tmp_path / "minutes.pt", minutes=1e-6, replay=False),
    ]
    if find_spec("tensorboard"):
        callbacks.append(TensorBoard(tmp_path / "logs", evaluations))
    watched.learn(40, CallbackList(*callbacks))
    assert len(evaluations.curve) >= 2
    assert everything(watched) == everything(new().learn(40))


# ---- several -------------------------------------------------------------------------------------


def test_all_of_a_list_are_called_in_their_order_also_when_one_ends_training():
    log = []
    stop = Seen(log, "b", answer=False)
    callbacks = CallbackList(Seen(log, "a"), stop, lambda agent: log.append("f"), Seen(log, "c"))
    agent = DDPG("Pendulum-v1", seed=0, **tiny).learn(30, callbacks)
    assert agent.steps == 1
    started = [(name, "start", 30) for name in "abc"]
    assert log == [*started, ("a", 1), ("b", 1), "f", ("c", 1), *[(name, "stop") for name in "abc"]]


@pytest.mark.parametrize(
    ("answer", "steps"),
    [(False, 1), (np.array(False), 1), (torch.tensor(1.0) > 2, 1), (None, 5), (0, 5)],
    ids=repr,
)
def test_only_false_ends_training_whoever_compared(answer, steps):
    agent = DDPG("Pendulum-v1", seed=0, **tiny)
    assert agent.learn(5, CallbackList(lambda agent: answer)).steps == steps


# ---- evaluations ---------------------------------------------------------------------------------


def test_evaluations_come_every_so_many_steps_and_are_those_of_evaluate():
    agent, evaluations = DDPG("Pendulum-v1", seed=0, **tiny), Evaluate(10, episodes=2, seed=5)
    expected = {}

    def note(agent):
        if agent.steps % 10 == 0:
            expected[agent.steps] = evaluate(agent, episodes=2, seed=5).returns.tolist()

    agent.learn(35, CallbackList(evaluations, note))
    agent.learn(10, CallbackList(evaluations, note))
    assert {step: result.returns.tolist() for step, result in evaluations.curve} == expected
    assert list(expected) == [10, 20, 30, 40]


class Wants(Probe):
    """Pays how near the action is to 0.3; one step an episode."""

    action_space = TORQUE

    def play(self, action):
        return -abs(float(action[0]) - 0.3), True, False


def test_the_best_is_kept_in_memory_and_in_a_file(tmp_path):
    """A policy that becomes better and then worse: the actor's bias is moved by hand."""
    agent = DDPG(make(Wants), seed=0, **tiny | {"learning_starts": 20})
    evaluations = Evaluate(1, episodes=1, path=tmp_path / "best.pt")
    biases = iter([0.9, 0.5, 0.15, 0.15, -0.3, 0.9])

    def move(agent):
        with torch.no_grad():
            agent.actor.output.weight.zero_()
            agent.actor.output.bias.fill_(np.arctanh(next(biases)))

    agent.learn(6, CallbackList(move, evaluations))
    step, result = evaluations.best
    assert step == 3  # the first of two equals
    assert result.mean == pytest.approx(0, abs=1e-6)
    assert agent.predict(np.ones(1)) == pytest.approx(1.8)
    for _ in range(2):  # what is kept is no view of the agent
        evaluations.restore_best(agent)
        assert agent.predict(np.ones(1)) == pytest.approx(0.3)
        with torch.no_grad():
            agent.actor.output.bias.fill_(2)
    loaded = DDPG.load(tmp_path / "best.pt", env=agent.env_source)
    assert loaded.predict(np.ones(1)) == pytest.approx(0.3)
    assert loaded.steps == 3


def test_an_environment_that_no_evaluation_can_copy_is_refused_before_any_step():
    env = Wants()
    env.window = threading.Lock()
    agent = DDPG(env, seed=0, **tiny)
    with one_sentence(ValueError, "cannot be copied"):
        agent.learn(100, Evaluate(50))
    assert agent.steps == 0
    with one_sentence(ValueError, "no evaluation yet", "50"):
        Evaluate(50).restore_best(agent)


# ---- checkpoints ---------------------------------------------------------------------------------


def test_checkpoints_come_every_so_many_steps_and_at_the_end(tmp_path):
    path, steps = tmp_path / "new" / "a.pt", []

    def look(agent):
        if path.exists():
            steps.append(checkpoint.read(path)["steps"])

    TD3("Pendulum-v1", seed=0, **tiny).learn(11, CallbackList(Checkpoint(path, steps=4), look))
    assert steps == [4] * 4 + [8] * 4
    loaded = TD3.load(path)
    assert (loaded.steps, len(loaded.buffer)) == (11, 11)
    TD3("Pendulum-v1", **tiny).learn(5, Checkpoint(path, steps=5, replay=False))
    assert "under_way" not in checkpoint.read(path)


def test_checkpoints_come_every_so_many_minutes(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    saved = []
    callback = Checkpoint(tmp_path / "a.pt", minutes=2, replay=False)
    monkeypatch.setattr(callback, "save", lambda agent: saved.append(agent.steps))

    def tick(agent):
        now[0] += 30

    DDPG("Pendulum-v1", seed=0, **tiny).learn(11, CallbackList(tick, callback))
    assert saved == [4, 8, 11]


@pytest.mark.parametrize(
    ("make", "kind", "told"),
    [
        (lambda at: Checkpoint("a.pt"), ValueError, r"Checkpoint\(path, steps=10_000\)"),
        (lambda at: Checkpoint("a.pt", steps=5, minutes=1), ValueError, "say which"),
        (lambda at: Checkpoint("a.pt", steps=0), ValueError, "steps must be"),
        (lambda at: Checkpoint("a.pt", minutes=0), ValueError, "minutes must be above 0"),
        (lambda at: Evaluate(every=0), ValueError, "every must be a whole number from 1 up"),
        (lambda at: Evaluate(5, episodes=0), ValueError, "episodes must be .*, got 0"),
        (lambda at: Evaluate(5, path=at), IsADirectoryError, "is a folder"),
        (lambda at: Checkpoint(f"{at}/new/", minutes=5), IsADirectoryError, "is a folder"),
        (lambda at: StopAtReturn(0, episodes=0), ValueError, "episodes"),
        (lambda at: CallbackList(Print), TypeError, "must be a function of the agent"),
    ],
)  # fmt: skip
def test_callbacks_that_cannot_be_are_one_sentence(tmp_path, make, kind, told):
    with one_sentence(kind, match=told):
        make(tmp_path)


# ---- an early end --------------------------------------------------------------------------------


class Rising(Probe):
    """The n-th episode, of two steps, returns n."""

    action_space = TORQUE
    episode = 0

    def reset(self, **kwargs):
        self.episode += 1
        return super().reset(**kwargs)

    def play(self, action):
        return self.episode / 2, self.t == 2, False


@pytest.mark.parametrize(("target", "episodes", "end"), [(3, 1, 3), (3, 4, 5), (-5, 4, 4)])
def test_training_ends_when_the_last_episodes_return_enough(target, episodes, end):
    """The mean of 2, 3, 4, 5 is 3.5, that of 1, 2, 3, 4 is less than 3."""
    stop = StopAtReturn(target, episodes)
    agent = DDPG(make(Rising), seed=0, **tiny).learn(100, stop)
    assert agent.steps == stop.reached == 2 * end
    agent.learn(2, stop)  # it has not forgotten
    assert agent.steps == 2 * end + 2
    unreached = StopAtReturn(1000)
    assert DDPG(make(Rising), seed=0, **tiny).learn(20, unreached).steps == 20
    assert unreached.reached is None


def test_the_next_agent_is_stopped_as_early():
    """Also where its first look finds as many episodes as the last one of the agent before."""
    stop = StopAtReturn(1, episodes=4)
    agents = [PPO(make(Rising), seed=0, n_steps=16, batch_size=8) for _ in range(2)]
    assert len({agent.learn(1000, stop).steps for agent in agents}) == 1


def test_training_ends_when_an_evaluation_returns_enough():
    agent = DDPG(make(Constant, ending="terminated", action_space=TORQUE), seed=0, **tiny)
    evaluations = Evaluate(8, episodes=2)
    stop = StopAtReturn(1.0, evaluations=evaluations)
    agent.learn(100, CallbackList(evaluations, stop))
    assert agent.steps == stop.reached == 8


# ---- TensorBoard ---------------------------------------------------------------------------------


@pytest.fixture
def shown(tmp_path):
    """What TensorBoard shows: for each curve, its (step, value) pairs."""
    module = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")

    def read():
        accumulator = module.EventAccumulator(str(tmp_path / "logs"), size_guidance={"scalars": 0})
        accumulator.Reload()
        return {
            name: [(event.step, event.value) for event in accumulator.Scalars(name)]
            for name in accumulator.Tags()["scalars"]
        }

    return read


def curves(agent, evaluations):
    expected = {f"training/{name}": values for name, values in agent.history.items()}
    expected["evaluation/return"] = [(step, each.mean) for step, each in evaluations.curve]
    return {name: [(step, pytest.approx(v)) for step, v in expected[name]] for name in expected}


def test_tensorboard_shows_history_and_evaluations_over_several_calls(tmp_path, shown, monkeypatch):
    monkeypatch.setattr("helpers.training.callbacks.LOG_SECONDS", 0.0)
    evaluations = Evaluate(10, episodes=1)
    callbacks = CallbackList(evaluations, TensorBoard(tmp_path / "logs", evaluations))
    agent = DDPG("Short-v0", seed=0, **tiny | {"gradient_steps": 10})
    for steps in (25, 1, 30):
        agent.learn(steps, callbacks)
        assert shown() == curves(agent, evaluations)
    (_,) = (tmp_path / "logs").iterdir()  # of several files the tenth is read before the ninth
    assert {"training/return", "training/critic_loss", "evaluation/return"} <= shown().keys()


def test_tensorboard_forgets_what_a_training_did_after_its_checkpoint(tmp_path, shown, monkeypatch):
    """It is broken off at 40 and goes on from 20, as another agent that explores more."""
    files = pytest.importorskip("tensorboard.summary.writer.event_file_writer")
    # Files of one second are read in the order of their names, a tenth before a ninth.
    monkeypatch.setattr(files, "_global_uid", files.AtomicCounter(10))
    monkeypatch.setattr("helpers.training.callbacks.LOG_SECONDS", 0.0)
    agent = DDPG("Short-v0", seed=0, **tiny)
    evaluations = Evaluate(10, episodes=1)
    log = TensorBoard(tmp_path / "logs")
    agent.learn(20, CallbackList(log, Checkpoint(tmp_path / "a.pt", steps=20)))
    agent.learn(20, log)
    other = DDPG.load(tmp_path / "a.pt")
    other.noise = GaussianNoise(1.0)
    again = TensorBoard(tmp_path / "logs", evaluations)
    other.learn(30, CallbackList(evaluations, again))
    assert other.history["return"] != agent.history["return"]
    assert shown() == curves(other, evaluations)


def test_a_folder_shows_the_training_that_wrote_there_last(tmp_path, shown, monkeypatch):
    files = pytest.importorskip("tensorboard.summary.writer.event_file_writer")
    monkeypatch.setattr(files, "_global_uid", files.AtomicCounter(10))  # as above
    log, evaluations = TensorBoard(tmp_path / "logs"), Evaluate(1000)
    agents = [DDPG("Short-v0", seed=seed, **tiny) for seed in (0, 1)]
    for agent in (*agents, agents[0]):
        agent.learn(15, log)
        expected = curves(agent, evaluations)
        assert shown() == {name: curve for name, curve in expected.items() if curve}
