"""An agent's file: what is in it, how it is written and read, how an agent goes on from it."""

import os
import re
import shutil
import textwrap
import warnings
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from gymnasium import spaces

from helpers import __version__
from helpers.agents import distrust, earlier
from helpers.agents.hyperparameters import as_plain, check_own, made_from, same_kind, settings_of
from helpers.agents.limits import LIMITS
from helpers.agents.noise import Noise
from helpers.agents.normalize import Normalizer
from helpers.agents.parameters import part_of
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
from helpers.files import replaced_whole
from helpers.memory.buffers import restore_memory, stored_memory
from helpers.names import check_names

Kind = TypeVar("Kind")

FORMAT, VERSION = "actor-critic-course agent", 6
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


def contents(agent: Any, replay: bool) -> dict:
    """All that the agent's file holds, as tensors and plain values; the tensors are not copies."""
    here = agent.observation_space, agent.action_space
    content = {
        "format": FORMAT,
        "version": VERSION,
        "course": __version__,  # for people; nothing depends on it
        "agent": type(agent).__name__,
        "env_id": env_id(agent.env_source),
        "spaces": shortly(in_words(*here)),  # for people
        "described_spaces": describe_both(*here),
        "hyperparameters": plain_hyperparameters(agent),
        "steps": agent.steps,
        "counts": {name: getattr(agent, name) for name in agent.counted},
        "history": as_stored({name: list(values) for name, values in agent.history.items()}),
        "rng": agent.rng.bit_generator.state,
        "predict_rng": agent.predict_rng.bit_generator.state,
        "state": {name: as_stored(part_of(agent, name).state_dict()) for name in agent.saved},
    }
    distrust.check_loadable(content)
    distrust.check_names_of_weights(agent)
    distrust.warn_of_unsaved(agent)
    if replay:
        memories = {name: _memory(getattr(agent, name)) for name in agent.memories}
        content["under_way"] = {"memories": memories, "episode": _episode(agent)}
    return content


def as_stored(state: Any) -> Any:
    """A state_dict, or a part of one: tensors on the CPU, no numbers of numpy's."""
    if isinstance(state, dict):
        return {key: as_stored(value) for key, value in state.items()}
    if type(state) in (list, tuple):
        return type(state)(map(as_stored, state))
    if isinstance(state, np.generic):
        return state.item()
    return state.cpu() if isinstance(state, torch.Tensor) else state


def restore(agent: Any, content: dict, changes: Mapping[str, Any]) -> None:
    """Give a fresh agent what `contents` took from another. Raises if that does not fit.

    The agent was made with other settings, `changes`: what follows from these stays.
    """
    settings = content["hyperparameters"], agent.hyperparameters
    before, now = (tuple(each.get("normalize", ())) for each in settings)
    if before != now:
        raise ValueError(f"its weights go with normalize={before}, not with {now}")
    for name in (each for each in agent.saved if each not in changes):  # such as a temperature
        _restore_state(agent, name, content["state"][name], changes)
    if "seed" not in changes:
        agent.rng.bit_generator.state = content["rng"]
        if content["predict_rng"]:
            agent.predict_rng.bit_generator.state = content["predict_rng"]
    agent.steps = content["steps"]
    agent.history.update({name: list(values) for name, values in content["history"].items()})
    _restore_counts(agent, content["counts"])
    if "under_way" in content:
        settings, here = content["hyperparameters"], plain_hyperparameters(agent)
        replaced = [name for name in changes if not same_kind(settings.get(name), here.get(name))]
        _restore_memories(agent, content["under_way"]["memories"], replaced)
        if "seed" not in changes:  # another seed, other episodes
            _restore_episode(agent, content["under_way"]["episode"])


def in_words(observation_space: spaces.Space, action_space: spaces.Space) -> str:
    """Both spaces in words, of which numpy may leave some out."""
    return f"observations {one_line(observation_space)} and actions {one_line(action_space)}"


def describe_both(observation_space: spaces.Space, action_space: spaces.Space) -> dict:
    """Both spaces in plain values; equal values, equal spaces."""
    return {
        "observation": describe_space(observation_space),
        "action": describe_space(action_space),
    }


def shortly(words: str) -> str:
    """As much as a sentence can hold."""
    return textwrap.shorten(words, 140, placeholder=" ...")


def plain_hyperparameters(agent: Any) -> dict:
    """The agent's hyperparameters as a file holds them: which device is for the next machine."""
    acting = {name: each for name, each in vars(agent).items() if isinstance(each, Noise)}
    settings, taken = agent.hyperparameters, settings_of(type(agent))
    # Of a noise its parameters as they are now: `agent.noise.sigma = 0.2` is obeyed as well.
    return {
        name: as_plain(acting.get(name, value))
        for name, value in settings.items()
        if name != "device" and name in taken  # a class may decide its seed itself
    }


# ---- states, counts, memories, the episode under way ---------------------------------------------


def _restore_state(agent: Any, name: str, state: Any, changes: Mapping[str, Any]) -> None:
    """Put the file's state into a network or optimiser; the latter keeps what `changes` gave it."""
    part = getattr(agent, name)
    if isinstance(part, torch.optim.Optimizer):
        there, here = state["param_groups"], part.state_dict()["param_groups"]
        _check_groups(name, there, here)
        given = _given(agent, name, changes)
        pairs = zip(there, here, strict=True)
        groups = [{**old, **{key: new[key] for key in given}} for old, new in pairs]
        state = {**state, "param_groups": groups}
    else:
        state = part.fitting(state) if isinstance(part, Normalizer) else state
        for key, tensor in part.state_dict().items():
            if state[key].shape != tensor.shape:
                shapes = f"{tuple(state[key].shape)} there, {tuple(tensor.shape)} here"
                raise ValueError(f"{key} of the {name} has the shape {shapes}")
    part.load_state_dict(state)
    # As it was taken over: what was not asked for may be anything.
    distrust.check_tensors_finite(name, part.state_dict())


def _check_groups(name: str, there: list[dict], here: list[dict]) -> None:
    """Raise `ValueError` for the settings of an optimiser that was made in another way."""
    # What torch has added since are switches.
    numbers = [{key for key, each in group.items() if _is_number(each)} for group in here]
    if len(there) != len(here) or any(
        not needed <= group.keys() for needed, group in zip(numbers, there, strict=True)
    ):
        raise ValueError(
            f"its {name} is of another class or has other groups of parameters: make it in the "
            "constructor of a class of your own, which load then calls"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, tuple)) and not isinstance(value, bool)


def _given(agent: Any, name: str, changes: Mapping[str, Any]) -> set[str]:
    """What an optimiser, by its name, was made with and not as in the file: "lr", "weight_decay".

    A learning rate, and a setting that stands in the optimiser under its own name.
    """
    group = getattr(agent, name).param_groups[0]
    found = {key for key, value in changes.items() if key in group and group[key] == value}
    followed = (names for rate, (_, names) in agent.rates.items() if rate in changes)
    return found | {"lr"} if any(name in names for names in followed) else found


def _restore_counts(agent: Any, counts: dict) -> None:
    if not counts.keys() <= set(agent.counted):
        raise ValueError("it counts what this agent does not")
    for name in agent.counted:
        count = counts.get(name, agent.steps)  # version 1: about one update a step
        if type(count) is not int or count < 0:
            raise ValueError(f"{name} cannot be {count!r}")
        setattr(agent, name, count)


def _memory(thing: Any) -> dict | None:
    """What a buffer stores, or what a noise remembers (None: there is no noise)."""
    if thing is None:
        return None
    if not hasattr(thing, "memory"):
        if not hasattr(thing, "arrays"):
            raise ValueError(
                f"A file cannot hold {type(thing).__name__}, a replay memory of your own: save "
                "without replay, or make it a subclass of ReplayBuffer."
            )
        return stored_memory(thing)
    memory = thing.memory()
    try:
        distrust.check_plain(memory)  # it may be a noise of one's own
    except ValueError as error:
        raise ValueError(
            f"{type(thing).__name__} remembers what no file can hold ({error}): let its memory() "
            "give numbers and tensors, and remember_again take them."
        ) from error
    return memory


def _restore_memories(agent: Any, memories: dict, replaced: Collection[str]) -> None:
    distrust.check_tensors_finite("its memory", memories)
    for name in (each for each in agent.memories if each not in replaced):
        thing = getattr(agent, name)
        if hasattr(thing, "remember_again"):
            thing.remember_again(memories[name])
        elif thing is not None:
            restore_memory(thing, memories[name])


def _episode(agent: Any) -> dict | None:
    """The way to where the environment is, and whether the agent goes on from there."""
    env = agent.envs if hasattr(agent, "envs") else agent.env
    if env is None:
        return None
    return {"trace": env.trace(), "going_on": getattr(agent, "obs", None) is not None}


def _restore_episode(agent: Any, episode: dict | None) -> None:
    if episode is None or isinstance(agent.env_source, Missing):
        return
    if _is_back(agent, episode["trace"]):
        if episode["going_on"]:
            agent.go_on(agent.envs if hasattr(agent, "envs") else agent.env)
    else:
        print(
            f"The environment cannot be brought back to where it was at step {agent.steps:,}: a "
            "new episode begins, and training goes on from there."
        )


def _is_back(agent: Any, trace: Any) -> bool:
    """Whether the agent's environment, made for that, came to where `trace` leads."""
    if not hasattr(agent, "envs"):
        agent.env = make_training_env(agent.env_source)
        return agent.env.resume(trace)
    # Asked before so many environments are made as the file says.
    if not isinstance(trace, list) or len(trace) != agent.n_envs:
        return False
    agent.envs = make_vector_env(agent.env_source, agent.n_envs)
    return agent.envs.resume(trace)


# ---- files ---------------------------------------------------------------------------------------


def file_path(path: str | os.PathLike) -> Path:
    """The path of a file that can be written; one that begins with ~ leads to the home folder.

    Raises `IsADirectoryError` for that of a folder, `ValueError` for what is no file, as /dev/null.
    """
    file = Path(os.path.expanduser(path))
    if file.is_dir() or os.fspath(path).endswith(("/", os.sep)):
        raise IsADirectoryError(
            f"{path} is a folder: name a file in it, such as {file / 'agent.pt'}."
        )
    if file.exists() and not file.is_file():
        raise ValueError(f"{path} is no file, and an agent would take its place: name another.")
    return file


def write(path: str | os.PathLike, content: dict) -> None:
    """Write the content to a file that appears whole or not at all, whatever happens meanwhile.

    Raises `OSError` if there is no room or no right to write; the old file is then still there.
    """
    path = Path(os.path.realpath(file_path(path)))  # a link goes on leading there
    try:
        with replaced_whole(path) as unfinished:
            unfinished.touch()
            if path.exists():
                shutil.copymode(path, unfinished)
            torch.save(content, unfinished)
            with open(unfinished, "rb+") as file:
                os.fsync(file.fileno())  # on the disk, before the old file goes
    except OSError as error:
        raise type(error)(f"{path} cannot be written: {error.strerror or error}.") from error
    except RuntimeError as error:  # torch's writer, for which every trouble is one of these
        raise OSError(f"{path} cannot be written, perhaps because the disk is full.") from error


def read(path: str | os.PathLike) -> dict:
    """The content of an agent's file, checked as far as can be without knowing the agent.

    Raises `FileNotFoundError`, `OSError` for a file that must not be read, `ValueError` otherwise.
    """
    path = Path(os.path.expanduser(path))
    if not path.exists():
        raise FileNotFoundError(
            f"There is no file {path}: save an agent there first, agent.save(path)."
        )
    if path.is_dir():
        raise ValueError(f"{path} is a folder and not an agent of this course: name a file in it.")
    content = _unpacked(path)
    version = content.get("version")
    if type(version) is int and VERSION < version < 10**9:
        raise ValueError(
            f"{path} was written by a newer version of this course ({_course(content)}format "
            f"{version}, this one, {__version__}, reads up to {VERSION}): update the course."
        )
    content = earlier.completed(content)
    kinds = ENTRIES | ({"under_way": dict} if "under_way" in content else {})
    whole = kinds.keys() <= content.keys()
    if not whole or not all(isinstance(content[name], kind) for name, kind in kinds.items()):
        raise _foreign(path)
    try:
        distrust.check_values(content)
        return earlier.brought_up(content)
    except Exception as error:
        reason = textwrap.shorten(str(error), 200, placeholder=" ...")
        raise ValueError(
            f"{path} holds what no agent can have ({reason}): do not use it."
        ) from error


def _course(content: dict) -> str:
    """The course's version in a file, "0.2.0, ", if it is one; a file may say anything."""
    said = str(content.get("course"))
    return f"{said}, " if re.fullmatch(r"\d[\d.]{0,19}", said) else ""


def _unpacked(path: Path) -> dict:
    """What torch reads from the file, if it is an agent of this course."""
    try:
        distrust.check_archive(path)
        with warnings.catch_warnings(action="ignore"):  # torch on how foreign files were pickled
            content = torch.load(path, weights_only=True, map_location="cpu")
        distrust.check_plain(content, path.stat().st_size)
    except PermissionError as error:
        raise OSError(f"{path} cannot be read ({error.strerror}).") from error
    except Exception as error:  # a damaged file may fail in any way
        raise _foreign(path) from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise _foreign(path)
    return content


def _foreign(path: Path) -> ValueError:
    return ValueError(
        f"{path} is not an agent of this course (or is damaged): save it again with agent.save."
    )


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
    if content["agent"] != kind.__name__:
        there = textwrap.shorten(ascii(content["agent"])[1:-1], 60, placeholder=" ...")
        raise ValueError(f"{path} holds a {there} agent: load it with {there}.load.")
    env = env if env is not None else env_of(path, content)
    check_names(f"{kind.__name__}.load", changes, settings_of(kind), LIMITS)
    settings = content["hyperparameters"] | changes
    check_own(path, f"{kind.__name__}.load", settings)
    try:
        agent = made_from(kind, env, settings)
        here = agent.observation_space, agent.action_space
        if same_spaces := _are_those(content, *here):
            restore(agent, content, changes)
    except Exception as error:  # what a damaged file holds may fail in any way
        reason = textwrap.shorten(str(error).rstrip("."), 300, placeholder=" ...")
        other = f" with another {' and '.join(changes)}" if changes else ""
        raise ValueError(
            f"{path} cannot be loaded as {kind.__name__}{other} ({reason})."
        ) from error
    if not same_spaces:
        raise ValueError(
            f"{path} was trained with {shortly(content['spaces'])}, this environment has "
            f"{shortly(in_words(*here))}: pass an env whose spaces are equal in every number."
        )
    return agent


def _are_those(content: dict, *here: spaces.Space) -> bool:
    """Whether the agent in the file acts in these spaces."""
    if content["version"] < 6:  # what was said of them may lack some part
        return content["spaces"] == in_words(*here)
    return content["described_spaces"] == describe_both(*here)


def env_of(path: str | os.PathLike, content: dict) -> EnvLike:
    """The environment that the file at `path` names, or `Missing` if it cannot be made here.

    Raises `ValueError` if its spaces are not in the file either, as before version 5.
    """
    try:
        name = named_env(path, content)
        make_env(name).close()
        return name
    except ValueError as error:
        if not content["described_spaces"].get("observation"):
            raise
        reason, described = str(error), content["described_spaces"]
    try:
        both = [space_from(described[part]) for part in ("observation", "action")]
    except Exception as error:  # what a damaged file holds may fail in any way
        raise _foreign(Path(path)) from error
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
        shown = textwrap.shorten(ascii(name), 60, placeholder=" ...")
        raise ValueError(
            f"{path} names the environment {shown}, which could run code: if you know it, pass it, "
            f"{content['agent']}.load(path, env=...)."
        )
    return name
