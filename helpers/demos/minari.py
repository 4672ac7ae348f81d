"""Demonstrations out of Minari (https://minari.farama.org), the public collection of such data."""

import textwrap
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from helpers.demos.files import ARRAYS, Demos, check_spaces
from helpers.envs.make import EnvLike, make_env, one_line
from helpers.envs.make import env_id as id_of


def from_minari(dataset: Any, env: EnvLike | None = None) -> Demos:
    """The demonstrations in a Minari dataset.

    Args:
        dataset: a `minari.MinariDataset`, or the name of one that is on this machine; nothing is
            downloaded.
        env: the environment that they must be of; by default the one that the dataset names.

    An episode that was left before its end counts as truncated.

    Raises:
        ValueError: Minari or the dataset is missing, or holds what this course cannot use.
    """
    dataset = _load(dataset) if isinstance(dataset, str) else dataset
    spec = dataset.spec
    name, of = spec.dataset_id, _env_id(spec, env)
    if not isinstance(spec.observation_space, spaces.Box):
        raise ValueError(
            f"The Minari dataset {name} has observations {one_line(spec.observation_space)}, and "
            "this course reads Box observations only: choose another dataset."
        )
    episodes = [_episode(episode) for episode in dataset.iterate_episodes()]
    try:
        demos = Demos.from_episodes(of, f"the Minari dataset {name}", episodes)
        if env is not None or of in gym.registry:
            check_spaces(demos, env if isinstance(env, gym.Env) else make_env(env or of))
    except ValueError as error:
        raise ValueError(
            f"The Minari dataset {name} cannot be used ({str(error).rstrip('.')}): choose another "
            "dataset."
        ) from error
    return demos


def _load(name: str) -> Any:
    try:
        import minari
    except ImportError as error:
        raise ValueError(
            'A Minari dataset needs the package minari: pip install "minari[hdf5]", then restart '
            "the kernel."
        ) from error
    try:
        return minari.load_dataset(name)
    except Exception as error:  # not there, misspelt, of another version, ...
        reason = textwrap.shorten(str(error).split(". ")[0].rstrip("."), 200, placeholder=" ...")
        raise ValueError(
            f"Minari cannot load {name!r} ({reason}): check the name, and fetch it with `minari "
            f"download {name}`."
        ) from error


def _env_id(spec: Any, env: EnvLike | None) -> str:
    """Of which environment the dataset is. It must be `env`, if given."""
    named = spec.env_spec.id if spec.env_spec is not None else None
    wanted = named if env is None else id_of(env)
    if named is None and wanted is None:
        raise ValueError(
            f"The Minari dataset {spec.dataset_id} names no environment: pass env, the id of the "
            "one it was recorded in."
        )
    if None not in (named, wanted) and named != wanted:
        raise ValueError(
            f"The Minari dataset {spec.dataset_id} was recorded in {named}, not in {wanted}: use "
            "it there, or choose another dataset."
        )
    return str(named or wanted)


def _episode(episode: Any) -> dict[str, np.ndarray]:
    """Minari keeps one observation more than steps."""
    obs, truncated = np.asarray(episode.observations), np.array(episode.truncations, dtype=bool)
    terminated = np.array(episode.terminations, dtype=bool)
    truncated[-1] |= not terminated[-1]
    parts = obs[:-1], episode.actions, episode.rewards, obs[1:], terminated, truncated
    return dict(zip(ARRAYS, parts, strict=True))
