"""An agent's file: what is in it, how it is written and read, how an agent goes on from it."""

import os
import warnings
from pathlib import Path
from typing import Any

import torch

from helpers.buffers import restore_memory, stored_memory
from helpers.envs import env_id, make_training_env, make_vector_env, one_line

FORMAT, VERSION = "actor-critic-course agent", 2
# What a file holds beside these two, and of which kind it is; with `replay` "under_way" as well.
ENTRIES = {
    "version": int,
    "agent": str,
    "env_id": str | None,
    "spaces": str,
    "hyperparameters": dict,
    "steps": int,
    "counts": dict,
    "history": dict,
    "rng": dict,
    "predict_rng": dict,
    "state": dict,
}
# Version 1 did without these.
EARLIER = {"counts": {}, "predict_rng": {}}


def contents(agent: Any, replay: bool) -> dict:
    """All that the agent's file holds, as tensors and plain values; the tensors are no copies."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "agent": type(agent).__name__,
        "env_id": env_id(agent.env_source),
        "spaces": spaces_of(agent),
        "hyperparameters": plain_hyperparameters(agent),
        "steps": agent.steps,
        "counts": {name: getattr(agent, name) for name in agent.counted},
        "history": {name: list(values) for name, values in agent.history.items()},
        "rng": agent.rng.bit_generator.state,
        "predict_rng": agent.predict_rng.bit_generator.state,
        "state": {name: getattr(agent, name).state_dict() for name in agent.saved},
    }
    if replay:
        memories = {name: _memory(getattr(agent, name)) for name in agent.memories}
        content["under_way"] = {"memories": memories, "episode": _episode(agent)}
    return content


def restore(agent: Any, content: dict) -> None:
    """Give a fresh agent what `contents` took from another. Raises if that does not fit."""
    for name in agent.saved:
        getattr(agent, name).load_state_dict(content["state"][name])
    agent.rng.bit_generator.state = content["rng"]
    if content["predict_rng"]:
        agent.predict_rng.bit_generator.state = content["predict_rng"]
    agent.steps = content["steps"]
    agent.history.update({name: list(values) for name, values in content["history"].items()})
    _restore_counts(agent, content["counts"])
    if "under_way" in content:
        _restore_memories(agent, content["under_way"]["memories"])
        _restore_episode(agent, content["under_way"]["episode"])


def spaces_of(agent: Any) -> str:
    """Both spaces in words; equal words, equal spaces."""
    return (
        f"observations {one_line(agent.observation_space)} "
        f"and actions {one_line(agent.action_space)}"
    )


def plain_hyperparameters(agent: Any) -> dict:
    """The agent's hyperparameters as a file holds them: a noise says itself how."""
    return {
        name: value.to_plain() if hasattr(value, "to_plain") else value
        for name, value in agent.hyperparameters.items()
    }


# ---- counts, memories, the episode under way -----------------------------------------------------


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
    return thing.memory() if hasattr(thing, "memory") else stored_memory(thing)


def _restore_memories(agent: Any, memories: dict) -> None:
    for name in agent.memories:
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
    return {"trace": env.trace(), "going_on": getattr(agent, "_obs", None) is not None}


def _restore_episode(agent: Any, episode: dict | None) -> None:
    if episode is None:
        return
    if hasattr(agent, "envs"):
        env = agent.envs = make_vector_env(agent.env_source, agent.n_envs)
    else:
        env = agent.env = make_training_env(agent.env_source)
    if not env.retrace(episode["trace"]):
        print(
            f"The environment cannot be brought back to where it was at step {agent.steps:,}: a "
            "new episode begins, and training goes on from there."
        )
    elif episode["going_on"]:
        agent.go_on()


# ---- files ---------------------------------------------------------------------------------------


def write(path: str | os.PathLike, content: dict) -> None:
    """Write the content to a file that appears whole or not at all, whatever happens meanwhile.

    Raises `OSError` if there is no room or no right to write; the old file is then still there.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".unfinished")
    try:
        torch.save(content, unfinished)
        with open(unfinished, "rb+") as file:
            os.fsync(file.fileno())  # on the disk, before the old file goes
        os.replace(unfinished, path)
    except RuntimeError as error:  # torch's writer, for which every trouble is one of these
        unfinished.unlink(missing_ok=True)
        raise OSError(f"{path} cannot be written, perhaps because the disk is full.") from error
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def read(path: str | os.PathLike) -> dict:
    """The content of an agent's file, checked as far as can be without knowing the agent."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(
            f"There is no file {path}: save an agent there first, agent.save(path)."
        )
    foreign = (
        f"{path} is not an agent of this course (or is damaged): save it again with agent.save."
    )
    try:
        with warnings.catch_warnings(action="ignore"):  # torch on how foreign files were pickled
            content = torch.load(path, weights_only=True)
    except Exception as error:  # a damaged file may fail in any way
        raise ValueError(foreign) from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(foreign)
    version = content.get("version")
    if isinstance(version, int) and version > VERSION:
        raise ValueError(
            f"{path} was written by a newer version of this course (format {version}, "
            f"this one reads up to {VERSION}): update the course."
        )
    if version == 1:
        content = EARLIER | content
    kinds = ENTRIES | ({"under_way": dict} if "under_way" in content else {})
    whole = kinds.keys() <= content.keys()
    if not whole or not all(isinstance(content[name], kind) for name, kind in kinds.items()):
        raise ValueError(foreign)
    return content
