"""An agent's file: what is in it, how it is written and read, how an agent goes on from it."""

import copy
import os
import pickle
import re
import shutil
import textwrap
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from gymnasium import spaces

from helpers import __version__
from helpers.agents.noise import KINDS, Noise
from helpers.agents.normalize import Normalizer
from helpers.agents.settings import EVERY
from helpers.demos.files import ENV_ID
from helpers.envs.make import (
    EnvLike,
    Missing,
    env_id,
    make_env,
    make_training_env,
    make_vector_env,
    one_line,
)
from helpers.envs.plain_spaces import describe_space, space_from
from helpers.envs.resumable import DIVERGED
from helpers.files import replaced_whole
from helpers.memory.buffers import restore_memory, stored_memory
from helpers.names import check_names

Kind = TypeVar("Kind")

FORMAT, VERSION = "actor-critic-course agent", 1
# What a file holds beside these two, and of which kind it is; with `replay` "under_way" as well.
ENTRIES = {
    "version": int,
    "agent": str,
    "env_id": str | None,
    "spaces": str,
    "described_spaces": dict,
    "hyperparameters": dict,
    "steps": int,
    "counts": dict,
    "history": dict,
    "rng": dict,
    "predict_rng": dict,
    "state": dict,
}
OWN = "own"  # in a file: the name of what it cannot hold
MANY = 3_000_000  # values that a file may hold, or one for each of its bytes
MOST = 2**26  # bytes of weights that may be made before it is known whether the file has them


def contents(agent: Any, replay: bool) -> dict:
    """All that the agent's file holds, as tensors and plain values; the tensors are not copies."""
    here, state = (agent.observation_space, agent.action_space), states(agent)
    if bad := [name for name, each in state.items() if not is_finite(each)]:
        raise ValueError(f"Nothing was saved, since {bad[0]} holds NaN or infinity: {DIVERGED}")
    content = {
        "format": FORMAT,
        "version": VERSION,
        "course": __version__,  # for people; nothing depends on it
        "agent": type(agent).__name__,
        "env_id": env_id(agent.env_source),
        "spaces": shortly(in_words(*here)),  # for people
        "described_spaces": described(*here),
        "hyperparameters": plain_hyperparameters(agent),
        "steps": agent.steps,
        "counts": {name: getattr(agent, name) for name in agent.counted},
        "history": on_cpu(agent.history),
        "rng": agent.rng.bit_generator.state,
        "predict_rng": agent.predict_rng.bit_generator.state,
        "state": on_cpu(state),
    }
    if replay:
        env = agent.env if agent.envs is None else agent.envs
        episode = None if env is None else {"trace": env.trace(), "going_on": agent.obs is not None}
        memories = {name: _memory(getattr(agent, name)) for name in agent.memories}
        content["under_way"] = {"memories": memories, "episode": episode}
    return content


def plain_hyperparameters(agent: Any) -> dict:
    """The agent's settings as a file holds them: which device is for the next machine."""
    settings = agent.hyperparameters.items()
    return {name: as_plain(value) for name, value in settings if name != "device"}


def as_plain(value: Any) -> Any:
    """A setting as a file can hold it; a noise or schedule of the course's by kind and parameters.

    Whatever is not a plain value is an object, class or function of one's own. `load` asks for it
    again: the file notes its name, {"own": "Mine(...)"}, as it is typed.
    """
    if type(value) in KINDS.values():
        parameters = value.parameters() if isinstance(value, Noise) else asdict(value)
        plain = {name: as_plain(each) for name, each in parameters.items()}
        return {"kind": type(value).__name__, **plain}
    try:
        return _plain(value)
    except TypeError:
        return {OWN: getattr(value, "__name__", f"{type(value).__name__}(...)")}


def from_plain(value: Any) -> Any:
    """The setting that `as_plain` wrote, of the course's noises and schedules as well."""
    if not (isinstance(value, dict) and "kind" in value):
        return value
    parameters = {name: from_plain(each) for name, each in value.items() if name != "kind"}
    return KINDS[value["kind"]](**parameters)


def _plain(value: Any) -> Any:
    """`value` of Python's own numbers, texts and lists. Raises `TypeError` if it is of others."""
    if isinstance(value, dict):
        return {_plain(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(map(_plain, value))
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) not in (bool, int, float, str, type(None)):
        raise TypeError(f"{type(value).__name__} is no plain value")
    return value


def in_words(observation_space: spaces.Space, action_space: spaces.Space) -> str:
    """Both spaces in words, of which numpy may leave some out."""
    return f"observations {one_line(observation_space)} and actions {one_line(action_space)}"


def described(observation_space: spaces.Space, action_space: spaces.Space) -> dict:
    """Both spaces in plain values; equal values, equal spaces."""
    return {
        "observation": describe_space(observation_space),
        "action": describe_space(action_space),
    }


def shortly(words: object, most: int = 140) -> str:
    """As much as a sentence can hold."""
    return textwrap.shorten(str(words).rstrip("."), most, placeholder=" ...")


# ---- networks and optimisers ---------------------------------------------------------------------


def states(agent: Any) -> dict[str, dict]:
    """The state of every network and optimiser by its name; of a compiled one, of what is within.

    There the weights have the names that those of a fresh agent have.
    """
    return {name: uncompiled(part).state_dict() for name, part in agent.parts().items()}


def uncompiled(part: Any) -> Any:
    """A network or optimiser; where `torch.compile` has wrapped a network, what is within."""
    return getattr(part, "_orig_mod", part)


def set_states(agent: Any, new: Mapping, exact: bool, own_groups: bool = True) -> None:
    """Load states by name into the agent's networks and optimisers, in place.

    With `own_groups` optimisers keep their own settings, such as the learning rate. Raises
    `ValueError` for what does not fit; then nothing has changed.
    """
    parts = agent.parts()
    if not isinstance(new, Mapping):
        raise ValueError(
            f"Parameters are a dictionary of states by name ({', '.join(parts)}), as "
            f"get_parameters gives it; got {type(new).__name__}."
        )
    if unknown := [name for name in new if name not in parts]:
        raise ValueError(
            f"{type(agent).__name__} has no part {unknown[0]!r} to set; there are: "
            f"{', '.join(parts)}."
        )
    if exact and (missing := [name for name in parts if name not in new]):
        raise ValueError(
            f"These parameters lack {', '.join(missing)}: add what is missing, or say exact=False "
            "to leave that as it is."
        )
    before, name = copy.deepcopy(states(agent)), ""
    try:
        for name, state in new.items():
            _load(uncompiled(parts[name]), copy.deepcopy(state), own_groups)
    except Exception as error:  # what does not fit may fail in any way
        for each, state in before.items():
            uncompiled(parts[each]).load_state_dict(state)
        reason = shortly(" ".join(str(error).split()), 200)
        raise ValueError(
            f"'{name}' does not fit this agent, whose hidden or spaces may differ ({reason})."
        ) from error


def _load(part: Any, state: Any, own_groups: bool) -> None:
    if isinstance(part, torch.optim.Optimizer):
        here = part.state_dict()["param_groups"]
        if any(here[0].keys() - group.keys() for group in state["param_groups"]):
            raise ValueError("it is of another class")
        shapes = [p.shape for group in part.param_groups for p in group["params"]]
        if state["state"].keys() not in (set(), {*range(len(shapes))}):
            raise ValueError("it is of a network with other parameters")
        for i, moments in state["state"].items():
            for each in moments.values():
                if each.shape not in (shapes[i], ()) or not each.is_floating_point():
                    raise ValueError(f"an entry of the shape {tuple(each.shape)}")
        state = {**state, "param_groups": here} if own_groups else state
    elif isinstance(part, Normalizer):
        state = part.fitting(state)
    part.load_state_dict(state)
    if not is_finite(part.state_dict()):
        raise ValueError("it holds NaN or infinity")


def is_finite(value: Any) -> bool:
    """Whether there is neither NaN nor infinity in any tensor: one would soon ruin all weights."""
    return all(bool(each.isfinite().all()) for each in all_tensors(value))


def on_cpu(value: Any) -> Any:
    """A state, or a part of one: tensors on the CPU, no numbers of numpy's."""
    if isinstance(value, dict):
        return {key: on_cpu(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(on_cpu, value))
    if isinstance(value, np.generic):
        return value.item()
    return value.cpu() if isinstance(value, torch.Tensor) else value


# ---- memories and the episode under way ----------------------------------------------------------


def _memory(thing: Any) -> dict | None:
    """What a buffer stores, or what a noise remembers (None: there is no noise)."""
    if thing is None:
        return None
    if hasattr(thing, "memory"):
        return thing.memory()
    if not hasattr(thing, "arrays"):
        raise ValueError(
            f"A file cannot hold {type(thing).__name__}, a replay memory of your own: save without "
            "replay, or make it a subclass of ReplayBuffer."
        )
    return stored_memory(thing)


def _restore_memories(agent: Any, content: dict, changes: Mapping[str, Any]) -> None:
    memories, settings = content["under_way"]["memories"], content["hyperparameters"]
    if not is_finite(memories):
        raise ValueError("its memory holds NaN or infinity")
    for name in agent.memories:
        if name in changes and _kind(settings[name]) != _kind(as_plain(changes[name])):
            continue  # another noise begins anew; one of the same kind goes on
        thing = getattr(agent, name)
        if hasattr(thing, "remember_again"):
            thing.remember_again(memories[name])
        elif thing is not None:
            restore_memory(thing, memories[name])


def _kind(plain: Any) -> Any:
    """Which noise it is, as a file has it."""
    return plain.get("kind", plain.get(OWN)) if isinstance(plain, dict) else plain


def _restore_episode(agent: Any, episode: dict | None) -> None:
    if episode is None or isinstance(agent.env_source, Missing):
        return
    if not _is_back(agent, episode["trace"]):
        print(
            f"The environment cannot be brought back to where it was at step {agent.steps:,}: a "
            "new episode begins, and training goes on from there."
        )
    elif episode["going_on"]:
        agent.go_on(agent.env if agent.envs is None else agent.envs)


def _is_back(agent: Any, trace: Any) -> bool:
    """Whether the agent's environment, made for that, came to where `trace` leads."""
    if not isinstance(trace, list):
        agent.env = make_training_env(agent.env_source)
        return agent.env.resume(trace)
    # Asked before so many environments are made as the file says.
    if len(trace) != agent.n_envs:
        return False
    agent.envs = make_vector_env(agent.env_source, agent.n_envs)
    return agent.envs.resume(trace)


# ---- files ---------------------------------------------------------------------------------------


def as_path(path: str | os.PathLike) -> Path:
    """`path`, where ~ is the home folder. Raises `TypeError` for what is none, as an open file."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            f"save and load take the path of a file, such as 'agent.pt', got {type(path).__name__}."
        )
    return Path(os.path.expanduser(path))


def file_path(path: str | os.PathLike) -> Path:
    """The path of a file that can be written.

    Raises `IsADirectoryError` for that of a folder, `ValueError` for what is no file, as /dev/null.
    """
    file = as_path(path)
    if file.is_dir() or os.fspath(path).endswith(("/", os.sep)):
        raise IsADirectoryError(
            f"{path} is a folder: name a file in it, such as {file / 'agent.pt'}."
        )
    if file.exists() and not file.is_file():
        raise ValueError(f"{path} is no file, and an agent would take its place: name another.")
    return file


def write(path: str | os.PathLike, content: dict) -> None:
    """Write the content to a file that appears whole or not at all, whatever happens meanwhile.

    Raises `ValueError` for what `load` would refuse, and `OSError` if there is no room or no right
    to write; the old file is then still there.
    """
    path = Path(os.path.realpath(file_path(path)))  # a link goes on leading there
    try:
        with replaced_whole(path) as unfinished:
            unfinished.touch()
            if path.exists():
                shutil.copymode(path, unfinished)
            torch.save(content, unfinished)
            torch.load(unfinished, weights_only=True, mmap=True)
            with open(unfinished, "rb+") as file:
                os.fsync(file.fileno())  # on the disk, before the old file goes
    except OSError as error:
        raise type(error)(f"{path} cannot be written: {error.strerror or error}.") from error
    except pickle.UnpicklingError as error:
        raise ValueError(
            "Nothing was saved, since load would refuse it: a file holds tensors and plain values, "
            "and a noise, a memory or the history (of pairs, as agent.log(name=value) writes them) "
            f"holds something else ({shortly(' '.join(str(error).split()))})."
        ) from error
    except RuntimeError as error:  # torch's writer, for which every trouble is one of these
        raise OSError(f"{path} cannot be written, perhaps because the disk is full.") from error


def read(path: str | os.PathLike) -> dict:
    """The content of an agent's file, checked as far as can be without knowing the agent.

    Runs no code from it. Raises `FileNotFoundError`, `OSError` for a file that must not be read,
    `ValueError` otherwise.
    """
    path = as_path(path)
    if not path.exists():
        raise FileNotFoundError(
            f"There is no file {path}: save an agent there first, agent.save(path)."
        )
    if path.is_dir():
        raise ValueError(f"{path} is a folder and not an agent of this course: name a file in it.")
    foreign = ValueError(
        f"{path} is not an agent of this course (or is damaged): save it again with agent.save."
    )
    try:
        check_archive(path)
        with warnings.catch_warnings(action="ignore"):  # torch on how foreign files were pickled
            content = torch.load(path, weights_only=True, map_location="cpu")
        check_values(content, max(MANY, path.stat().st_size))
    except PermissionError as error:
        raise OSError(f"{path} cannot be read ({error.strerror}).") from error
    except Exception as error:  # a damaged file may fail in any way
        raise foreign from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise foreign
    version = content.get("version")
    if type(version) is int and version > VERSION:
        said = str(content.get("course"))
        said = f"{said}, " if re.fullmatch(r"\d[\d.]{0,19}", said) else ""
        raise ValueError(
            f"{path} was written by a newer version of this course ({said}format {version}, this "
            f"one, {__version__}, reads up to {VERSION}): update the course."
        )
    if not all(isinstance(content.get(name, ...), kind) for name, kind in ENTRIES.items()):
        raise foreign
    return content


def check_archive(path: Path) -> None:
    """Raise `ValueError` unless it is a zip of the kind that torch writes, as large as it says.

    Members are not compressed and do not overlap, so that nothing unpacks to more than the file.
    Their checksums, which torch does not look at, are right: no weight is another one.
    """
    if not path.is_file():  # reading from a pipe would wait for ever
        raise ValueError("it is not a file")
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        packed = any(member.compress_type != zipfile.ZIP_STORED for member in members)
        if packed or sum(member.file_size for member in members) > path.stat().st_size:
            raise ValueError("it says that it is larger than it is")
        if archive.testzip() is not None:
            raise ValueError("it is damaged")


def check_values(content: Any, most: int) -> None:
    """Raise `ValueError` for more values than `most`, lists and tables unfolded.

    A few kilobytes can stand for billions, where a list holds another many times.
    """
    waiting, seen = [content], 0
    while waiting:
        thing, seen = waiting.pop(), seen + 1
        if seen > most:
            raise ValueError("it holds too much, or itself")
        if isinstance(thing, (dict, list, tuple)):
            waiting += [*thing, *thing.values()] if isinstance(thing, dict) else thing


def check_weights(content: dict) -> None:
    """Raise `ValueError` for tensors or layers that are larger than what the file has of them."""
    tensors = all_tensors(content["state"])
    if any(each.nbytes > each.untyped_storage().nbytes() for each in tensors):
        raise ValueError("it holds tensors of other values than the file's")
    hidden = content["hyperparameters"].get("hidden", 0)
    widths = hidden if isinstance(hidden, Sequence) else (hidden, hidden)
    needed = 4 * (sum(widths) + sum(one * other for one, other in pairwise(widths)))
    if len(widths) > 100 or needed > max(sum(each.nbytes for each in tensors), MOST):
        raise ValueError("it names layers whose weights it does not have")


def all_tensors(value: Any) -> list[torch.Tensor]:
    """The tensors in a state, or a part of one."""
    if isinstance(value, (dict, list, tuple)):
        parts = value.values() if isinstance(value, dict) else value
        return [each for part in parts for each in all_tensors(part)]
    return [value] if isinstance(value, torch.Tensor) else []


# ---- from a file's content to an agent -----------------------------------------------------------


def agent_from(
    kind: type[Kind],
    content: dict,
    env: EnvLike | None,
    path: str | os.PathLike,
    changes: Mapping[str, Any],
) -> Kind:
    """The agent that `read` found in the file at `path`: `Agent.load` says what it raises.

    `changes` are settings other than the file's.
    """
    known: Any = kind
    if content["agent"] != kind.__name__:
        there = shortly(ascii(content["agent"])[1:-1], 60)
        raise ValueError(f"{path} holds a {there} agent: load it with {there}.load.")
    env = env if env is not None else env_of(path, content)
    check_names(f"{kind.__name__}.load", changes, [*known.settings, "env"], EVERY)
    settings = content["hyperparameters"] | changes
    check_own(path, f"{kind.__name__}.load", settings)
    try:
        check_weights(content)
        agent = known(env, **{name: from_plain(value) for name, value in settings.items()})
        here = agent.observation_space, agent.action_space
        if same_spaces := content["described_spaces"] == described(*here):
            restore(agent, content, changes)
    except Exception as error:  # what a damaged file holds may fail in any way
        other = f" with another {' and '.join(changes)}" if changes else ""
        reason = shortly(" ".join(str(error).split()), 300)
        raise ValueError(
            f"{path} cannot be loaded as {kind.__name__}{other} ({reason})."
        ) from error
    if not same_spaces:
        raise ValueError(
            f"{path} was trained with {shortly(content['spaces'])}, this environment has "
            f"{shortly(in_words(*here))}: pass an env whose spaces are equal in every number."
        )
    return agent


def check_own(path: Any, loader: str, settings: Mapping[str, Any]) -> None:
    """Raise `ValueError` for the first setting that a file only knows the name of."""
    for name, value in settings.items():
        if isinstance(value, dict) and value.keys() == {OWN}:
            said = value[OWN]
            named = isinstance(said, str) and re.fullmatch(r"[\w<>]{1,60}(\(\.\.\.\))?", said)
            shown = said if named else "..."
            raise ValueError(
                f"{path} was saved with your own {name} {shown.removesuffix('(...)')}, which no "
                f"file can hold: pass it, {loader}(path, {name}={shown})."
            )


def restore(agent: Any, content: dict, changes: Mapping[str, Any]) -> None:
    """Give a fresh agent what `contents` took from another. Raises if that does not fit.

    The agent was made with other settings, `changes`: what follows from these stays.
    """
    before, now = tuple(content["hyperparameters"].get("normalize", ())), tuple(agent.normalize)
    if before != now:
        raise ValueError(f"its weights go with normalize={before}, not with {now}")
    groups = {
        name: [dict(group) for group in part.param_groups]
        for name, part in agent.parts().items()
        if isinstance(part, torch.optim.Optimizer)
    }
    state = {name: each for name, each in content["state"].items() if name not in changes}
    set_states(agent, state, exact=not changes.keys() & content["state"].keys(), own_groups=False)
    for name, made in groups.items():  # what was given counts more than what was set by hand
        for group, new in zip(getattr(agent, name).param_groups, made, strict=True):
            group.update({key: new[key] for key in changes.keys() & new.keys()})
    for name in changes.keys() & agent.rates.keys():
        agent.follow(name, *agent.rates[name])
    if "seed" not in changes:
        agent.rng.bit_generator.state = content["rng"]
        agent.predict_rng.bit_generator.state = content["predict_rng"]
    agent.recount(content["steps"], content["counts"])
    agent.history.update({name: list(values) for name, values in content["history"].items()})
    if "under_way" in content:
        _restore_memories(agent, content, changes)
        if "seed" not in changes:  # another seed, other episodes
            _restore_episode(agent, content["under_way"]["episode"])


def env_of(path: str | os.PathLike, content: dict) -> EnvLike:
    """The environment that the file at `path` names, or `Missing` if it cannot be made here."""
    try:
        name = named_env(path, content)
        make_env(name).close()
        return name
    except ValueError as error:
        reason, described_ = str(error), content["described_spaces"]
    try:
        both = [space_from(described_[part]) for part in ("observation", "action")]
    except Exception as error:  # what a damaged file holds may fail in any way
        raise ValueError(f"{path} is not an agent of this course (or is damaged).") from error
    return Missing(content["env_id"], reason, *both)


def named_env(path: str | os.PathLike, content: dict) -> str:
    """The environment that the file at `path` names; gymnasium may make it without asking.

    Raises `ValueError` if there is none, or for "module:Name-v0": gymnasium would import the
    module, and no file may have that done.
    """
    name = content["env_id"]
    if name is None:
        raise ValueError(
            f"{path} names no environment: pass one, {content['agent']}.load(path, env=...)."
        )
    if not ENV_ID.fullmatch(name):
        raise ValueError(
            f"{path} names the environment {shortly(ascii(name), 60)}, which could run code: if "
            f"you know it, pass it, {content['agent']}.load(path, env=...)."
        )
    return name
