"""Files that are damaged, foreign or malicious, each by name: refused in a sentence, no code run.

Here are the agents' files; the checkpoints of `course.py train` stand in
`test_hostile_checkpoints.py`, demonstrations in `test_demos_files.py` (`DAMAGED`), and what a
replay memory cannot be in `test_resume_training.py` (`DAMAGE`).
"""

import os
import pickle
import shutil
import sys
import tracemalloc
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hostile import (
    PENDULUM,
    TINY,
    Called,
    File,
    Payload,
    Stated,
    bomb,
    cut,
    fifo,
    folder,
    laughs,
    many_times,
    module_id,
    module_id_of_python,
    noise,
    objects,
    objects_in_npz,
    optimizer,
    overlapping,
    pickle_for,
    picture,
    planted,
    promise,
    ring,
    script,
    stretched,
    without,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from sentences import assert_one_sentence, one_sentence
from test_demos_files import DAMAGED as DEMOS
from test_resume_training import DAMAGE as MEMORIES
from test_resume_training import at
from wholes import everything

from helpers.agents import A2C, DDPG, TD3
from helpers.agents.noise import OUNoise
from helpers.demos.files import load_demos
from helpers.evaluation import evaluate


def under_way(change):
    """Another memory, or another episode."""

    def damage(file: File) -> None:
        content = file.content()
        change(content["under_way"])
        file.put(content)

    return damage


FOREIGN, IMPOSSIBLE, UNFIT = "not an agent of this course", "cannot be loaded", "cannot be"
HOSTILE = {
    # damaged
    "empty": (lambda f: f.bytes(lambda d: b""), FOREIGN),
    "one byte": (cut(0.00001), FOREIGN),
    "a tenth": (cut(0.1), FOREIGN),
    "half": (cut(0.5), FOREIGN),
    "last bytes lost": (lambda f: f.bytes(lambda d: d[:-7]), FOREIGN),
    "first bytes lost": (lambda f: f.bytes(lambda d: d[50:]), FOREIGN),
    "zeros": (lambda f: f.bytes(lambda d: bytes(len(d))), FOREIGN),
    "a directory that lies": (lambda f: f.bytes(promise), FOREIGN),
    # foreign
    "text": (lambda f: f.bytes(lambda d: b"weights, honestly\n"), FOREIGN),
    "a picture": (picture, FOREIGN),
    "a page": (lambda f: f.bytes(lambda d: b"<!doctype html><script>alert(1)</script>"), FOREIGN),
    "a zip without members": (lambda f: zipfile.ZipFile(f.path, "w").close(), FOREIGN),
    "a zip of other things": (lambda f: f.members(lambda m: {"a/b": b"c"}), FOREIGN),
    "an npz": (lambda f: shutil.copy("data/demos/pendulum.npz", f.path), FOREIGN),
    "weights of another program": (lambda f: f.put(torch.nn.Linear(2, 2).state_dict()), FOREIGN),
    "a tensor": (lambda f: f.put(torch.ones(3)), FOREIGN),
    "a list": (lambda f: f.put([1, 2]), FOREIGN),
    "a pickle of plain values": (lambda f: f.bytes(lambda d: pickle.dumps(f.content())), FOREIGN),
    "bytes of chance": (
        lambda f: f.bytes(lambda d: np.random.default_rng(0).bytes(5000)), FOREIGN),
    "another format": (lambda f: f.say(format="another"), FOREIGN),
    "a folder": (folder, FOREIGN),
    "a pipe": (fifo, FOREIGN),
    # code
    "a pickle": (lambda f: f.path.write_bytes(pickle.dumps(Payload(f.ran))), FOREIGN),
    "a pickle of an old protocol": (
        lambda f: f.path.write_bytes(pickle.dumps(Payload(f.ran), 0)), FOREIGN),
    "a pickle before the file": (
        lambda f: f.bytes(lambda d: pickle.dumps(Payload(f.ran)) + d), FOREIGN),
    "an object by torch": (lambda f: f.put(Payload(f.ran)), FOREIGN),
    "an object by an old torch": (
        lambda f: torch.save(Payload(f.ran), f.path, _use_new_zipfile_serialization=False),
        FOREIGN),
    "an agent by an old torch": (
        lambda f: torch.save(f.content(), f.path, _use_new_zipfile_serialization=False), FOREIGN),
    "an object planted": (planted(Payload), FOREIGN),
    "exec planted": (planted(Called), FOREIGN),
    "a module planted": (planted(Stated), FOREIGN),
    "a pickle for torch's": (pickle_for("data.pkl"), FOREIGN),
    "a pickle for a version": (pickle_for("version"), FOREIGN),
    "an array of objects": (objects, FOREIGN),
    "an npz of objects": (objects_in_npz, FOREIGN),
    "a whole agent": (lambda f: f.put(SimpleNamespace(format="x")), FOREIGN),
    "TorchScript": (script, FOREIGN),
    "a program beside it": (
        lambda f: f.members(lambda m: m | {"agent/constants.pkl": pickle.dumps(Payload(f.ran))}),
        FOREIGN),
    # names in the zip
    "a path upwards": (lambda f: f.members(lambda m: m | {"agent/../../evil": b"x"}), FOREIGN),
    "an absolute path": (lambda f: f.members(lambda m: m | {"/tmp/evil": b"x"}), FOREIGN),
    "two roots": (lambda f: f.members(lambda m: m | {"other/data.pkl": b"x"}), FOREIGN),
    # sizes
    "a bomb": (bomb, FOREIGN),
    "one that overlaps": (overlapping, FOREIGN),
    "compressed": (lambda f: f.members(lambda m: m, zipfile.ZIP_DEFLATED), FOREIGN),
    "lists of lists of lists": (lambda f: f.say(counts={"updates": laughs()}), FOREIGN),
    "a list that holds itself": (lambda f: f.say(history={"return": ring()}), FOREIGN),
    "a layer too wide": (lambda f: f.set(hidden=10**9), IMPOSSIBLE),
    "a layer of 40 GB": (lambda f: f.set(hidden=100_000), IMPOSSIBLE),
    "layers too wide": (lambda f: f.set(hidden=[4, 10**6, 10**6]), IMPOSSIBLE),
    "layers of other numbers": (lambda f: f.set(hidden=[1.5, 10**400]), IMPOSSIBLE),
    "one weight for many": (many_times, IMPOSSIBLE),
    "layers beyond counting": (lambda f: f.set(hidden=[1] * 50_000), IMPOSSIBLE),
    "a memory too long": (lambda f: f.set(buffer_size=10**12), UNFIT),
    "a memory that might just do": (lambda f: f.set(buffer_size=10**9), UNFIT),
    "a stretched tensor": (lambda f: f.weights(stretched), UNFIT),
    # versions
    "a newer version": (lambda f: f.say(version=99), "update the course"),
    "a far version": (lambda f: f.say(version=10**5000), FOREIGN),
    "a version in words": (lambda f: f.say(version="2"), FOREIGN),
    "half a version": (lambda f: f.say(version=1.5), FOREIGN),
    # entries
    "no version": (without("version"), FOREIGN),
    "no state": (without("state"), FOREIGN),
    "no hyperparameters": (without("hyperparameters"), FOREIGN),
    "no random state": (without("rng"), FOREIGN),
    "a list of steps": (lambda f: f.say(steps=[1]), FOREIGN),
    "negative steps": (lambda f: f.say(steps=-1), IMPOSSIBLE),
    "steps that are true": (lambda f: f.say(steps=True), IMPOSSIBLE),
    "negative updates": (lambda f: f.say(counts={"updates": -1}), UNFIT),
    "other counts": (lambda f: f.say(counts={"lies": 1}), UNFIT),
    "a random state of another kind": (lambda f: f.say(rng={"bit_generator": "MT19937"}), UNFIT),
    "an object of numpy's": (lambda f: f.say(steps=np.int64(3)), FOREIGN),
    "an array of numpy's": (lambda f: f.say(history={"return": np.zeros((2, 2))}), FOREIGN),
    "bytes": (lambda f: f.say(spaces=b"x"), FOREIGN),
    "a set": (lambda f: f.say(history={1, 2}), FOREIGN),
    # hyperparameters
    "a setting that there is not": (lambda f: f.set(evil=1), UNFIT),
    "a setting in words": (lambda f: f.set(gamma="0.9"), IMPOSSIBLE),
    "a setting that is a tensor": (lambda f: f.set(gamma=torch.ones(2)), IMPOSSIBLE),
    "a setting that is NaN": (lambda f: f.set(gamma=float("nan")), IMPOSSIBLE),
    "a setting out of range": (lambda f: f.set(tau=3.0), UNFIT),
    "an environment among them": (lambda f: f.set(env="x"), UNFIT),
    "another width": (lambda f: f.set(hidden=8), UNFIT),
    "a noise that is a number": (lambda f: f.set(noise=0.1), UNFIT),
    "a noise that is a list": (lambda f: f.set(noise=[]), UNFIT),
    "a noise without a kind": (lambda f: f.set(noise={"sigma": 0.1}), UNFIT),
    "a noise of a list of kinds": (noise(kind=[]), UNFIT),
    "a noise with its memory": (noise(value=0.1), UNFIT),
    "a noise of another class": (noise(kind="Payload"), UNFIT),
    "a noise named by a module": (noise(kind="os.system"), UNFIT),
    "a noise in words": (noise(sigma="0.2"), UNFIT),
    "a noise that is NaN": (noise(sigma=float("nan")), UNFIT),
    "a noise with more": (noise(command="ls"), UNFIT),
    # weights
    "weights of another shape": (lambda f: f.weights(lambda w: w[:, :1]), UNFIT),
    "weights that are NaN": (lambda f: f.weights(lambda w: w * torch.nan), "NaN"),
    "one weight that is infinite": (
        lambda f: f.weights(lambda w: w.index_fill(0, torch.tensor([0]), torch.inf)), "NaN"),
    "weights that are words": (lambda f: f.weights(lambda w: "heavy"), UNFIT),
    "sparse weights": (lambda f: f.weights(lambda w: w.to_sparse()), UNFIT),
    "an optimiser that is NaN": (optimizer, "NaN"),
    # where it belongs
    "another agent": (lambda f: f.say(agent="Evil"), "holds a Evil agent"),
    "an agent with an escape code": (lambda f: f.say(agent="\x1b[31m"), "holds a"),
    "another environment": (lambda f: f.say(env_id="CartPole-v1"), UNFIT),
    "other spaces": (lambda f: f.say(described_spaces={"observation": {}}), "was trained with"),
    # a memory (most are in test_resume_training.py)
    "a memory that is NaN": (
        under_way(at("memories", "buffer", "steps", 2, value=lambda r: r * torch.nan)), "NaN"),
    **{name: (under_way(MEMORIES[name]), UNFIT)
       for name in ("no steps", "too many steps", "a position beyond")},
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A good file, with its memory."""
    path = tmp_path_factory.mktemp("good") / "agent.pt"
    agent = TD3(PENDULUM, noise=OUNoise(), **TINY).learn(20)
    agent.save(path, replay=True)
    return path.read_bytes()


@pytest.fixture
def file(tmp_path, whole):
    return File(tmp_path, whole)


def test_the_good_file_is_good(file):
    assert TD3.load(file.path).steps == 20
    file.put(file.content())
    assert TD3.load(file.path).steps == 20


def test_there_are_enough_kinds():
    assert len(HOSTILE) >= 30
    assert len(DEMOS) >= 30


@pytest.fixture
def nothing_runs(file, monkeypatch):
    """What a file must not do: run, be unpickled by python, import, fill the memory."""
    monkeypatch.syspath_prepend(file.folder)
    before = set(sys.modules)
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e8
    assert not file.ran.exists()
    assert not {"evil_module", "this"} & (set(sys.modules) - before)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_refused_in_a_sentence_and_runs_nothing(case, file, nothing_runs):
    damage, words = HOSTILE[case]
    damage(file)
    with one_sentence(ValueError, str(file.path), match=words) as error:
        TD3.load(file.path)
    assert str(error.value).isprintable()


def test_the_payloads_of_these_tests_would_run(file):
    for kind in (Payload, Called):
        pickle.loads(pickle.dumps(kind(file.ran)))
        assert file.ran.exists()
        file.ran.unlink()
    planted(Payload)(file)
    torch.load(file.path, weights_only=False)
    assert file.ran.exists()


NOWHERE = {
    "a module for an environment": (module_id, "could run code"),
    "a module of python's": (module_id_of_python, "could run code"),
    "a path for an environment": (lambda f: f.say(env_id="../evil"), "could run code"),
    "an unknown environment": (lambda f: f.say(env_id="Gone-v3"), "Gone-v3"),
    "no environment": (lambda f: f.say(env_id=None), "names no environment"),
}


@pytest.mark.parametrize("case", NOWHERE)
def test_an_environment_that_is_not_made_is_named_when_it_is_needed(case, file, monkeypatch):
    """The agent acts, in the spaces that its file describes."""
    change, words = NOWHERE[case]
    change(file)
    monkeypatch.syspath_prepend(file.folder)
    agent = TD3.load(file.path)
    assert agent.action_space.contains(agent.predict(np.ones(3, np.float32)))
    for use in (lambda: agent.learn(1), lambda: evaluate(agent, episodes=1)):
        with one_sentence(ValueError, match=words):
            use()
    assert not file.ran.exists()


SPACES = {
    "of another size": lambda d: d["observation"].update(shape=[4], low=[0.0], high=[1.0]),
    "of too many numbers": lambda d: d["observation"].update(shape=[10**6, 10**6], low=[0.0]),
    "of negative size": lambda d: d["observation"].update(shape=[-1, -3]),
    "of objects": lambda d: d["observation"].update(dtype="O"),
    "in words": lambda d: d.update(action="Box"),
    "of another kind": lambda d: d["action"].update(kind="Payload"),
    "endless": lambda d: d["action"].update(kind="Discrete", n=10**30, start=0),
    "none": lambda d: d.pop("action"),
}


@pytest.mark.parametrize("case", SPACES)
def test_spaces_that_cannot_be_are_one_sentence(case, file):
    content = file.content()
    SPACES[case](content["described_spaces"])
    file.put(content | {"env_id": None})
    with one_sentence(ValueError, "agent", str(file.path)):
        TD3.load(file.path)


def test_an_id_with_a_module_is_used_if_it_is_passed(file):
    file.say(env_id="gymnasium:Pendulum-v1")
    with pytest.raises(ValueError, match="could run code"):
        TD3.load(file.path).learn(1)
    assert TD3.load(file.path, env="gymnasium:Pendulum-v1").steps == 20


@given(at=st.integers(0, 10**6), bit=st.integers(0, 7))
@settings(max_examples=120, deadline=None, derandomize=True)
def test_any_flipped_bit_is_refused_or_harmless(whole, tmp_path_factory, at, bit):
    """torch does not look at checksums: where they are not looked at, a weight is another one."""
    file = File(tmp_path_factory.mktemp("flipped"), whole)
    data = bytearray(whole)
    data[at % len(data)] ^= 1 << bit
    file.path.write_bytes(data)
    try:
        agent = TD3.load(file.path)
    except ValueError as error:
        assert_one_sentence(error, str(file.path))
    else:
        file.path.write_bytes(whole)
        assert everything(agent) == everything(TD3.load(file.path))


def test_what_is_there_is_left_as_it_is(file, whole):
    """A file is refused before anything of an agent that is there changes."""
    agent = TD3.load(file.path)
    before = everything(agent)
    for case in ("half", "weights that are NaN", "negative updates", "too many steps"):
        file.path.write_bytes(whole)
        HOSTILE[case][0](file)
        broken = file.path.read_bytes()
        with pytest.raises(ValueError, match=HOSTILE[case][1]):
            type(agent).load(file.path)
        assert file.path.read_bytes() == broken
    assert everything(agent) == before


def test_files_of_two_sorts_are_not_mixed_up(file):
    with one_sentence(ValueError, "demonstrations of this course", str(file.path)):
        load_demos(file.path)
    for kind in (A2C, DDPG):
        with one_sentence(ValueError, "holds a TD3 agent", str(file.path)):
            kind.load(file.path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="may read everything")
def test_a_file_that_must_not_be_read_is_one_sentence(file):
    file.path.chmod(0)
    with one_sentence(OSError, "cannot be read", str(file.path)):
        TD3.load(file.path)


def test_a_file_that_the_system_refuses_is_one_sentence(file, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(zipfile, "ZipFile", refuse)
    with one_sentence(OSError, str(file.path), match=r"cannot be read \(Permission denied\)"):
        TD3.load(file.path)
