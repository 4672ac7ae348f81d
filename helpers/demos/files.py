"""Demonstrations: somebody's steps in an environment, in a file that runs no code when it is read.

Many tutorials keep demonstrations in a pickle, and to load a pickle is to run whatever its author
put there. Here they are plain arrays beside a text that says what they are, read by numpy without
pickles, and checked.
"""

import json
import os
import re
import textwrap
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from helpers.envs.make import EnvLike, make_env, one_line
from helpers.envs.make import env_id as id_of
from helpers.envs.plain_spaces import describe_space
from helpers.envs.resumable import Resumable
from helpers.evaluation import as_function
from helpers.files import replaced_whole

FORMAT, VERSION = "actor-critic-course demonstrations", 1
ARRAYS = ("obs", "action", "reward", "next_obs", "terminated", "truncated")
MAX_BYTES = 2**28  # of all that is packed into a file: 256 MB
MAX_ABOUT = 2**22  # of the text in it, of which lists can be made that are many times as large
MAX_MAKER = 500  # characters
# gymnasium takes "module:Name-v0" as well, and imports that module: never from a file.
ENV_ID = re.compile(r"([\w-]+/)?[\w.-]+", re.ASCII)


@dataclass(frozen=True, eq=False, repr=False)
class Demos:
    """Whole episodes of somebody's steps, one after another, a step a row.

    Attributes:
        env_id: where they were taken.
        maker: who or what acted, for people to read.
        obs, next_obs: `(N, *observation shape)` float32.
        action: `(N, *action shape)`, in the units of the environment: float32, or int64 where
            actions are discrete.
        reward: `(N,)` float32.
        terminated, truncated: `(N,)` bool; an episode ends where one of them is True.

    Raises:
        ValueError: the arrays do not fit together: lengths, shapes, kinds, NaN or infinity, an
            `obs` that is not the `next_obs` of the step before, a last episode without an end.
    """

    env_id: str
    maker: str
    obs: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    next_obs: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray

    def __post_init__(self) -> None:
        _check_words(self.env_id, self.maker)
        for name in ARRAYS:
            object.__setattr__(self, name, _as_kept(name, getattr(self, name)))
        _check_arrays(self)

    @classmethod
    def from_episodes(cls, env_id: str, maker: str, episodes: Sequence[Mapping]) -> Self:
        """From one dictionary for each episode, of arrays with the six names."""
        if not episodes:
            raise ValueError("There is no episode: demonstrations need at least one.")
        return cls(
            env_id,
            maker,
            **{name: np.concatenate([np.asarray(e[name]) for e in episodes]) for name in ARRAYS},
        )

    @cached_property
    def episodes(self) -> list[slice]:
        """Where each episode stands: `demos.obs[demos.episodes[0]]` is the first one's."""
        ends = np.flatnonzero(self.terminated | self.truncated) + 1
        starts = np.r_[0, ends[:-1]]
        return [slice(int(a), int(b)) for a, b in zip(starts, ends, strict=True)]

    def first(self, episodes: int) -> "Demos":
        """The first few episodes alone. Raises `ValueError` if there are not so many."""
        if not 1 <= episodes <= len(self.episodes):
            raise ValueError(f"There are {len(self.episodes)} episodes, not {episodes}.")
        stop = self.episodes[episodes - 1].stop
        return Demos(self.env_id, self.maker, *(getattr(self, name)[:stop] for name in ARRAYS))

    @property
    def returns(self) -> np.ndarray:
        """The undiscounted sum of rewards of each episode: `(episodes,)`."""
        return np.array([self.reward[e].sum(dtype=np.float64) for e in self.episodes])

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.reward)

    def __str__(self) -> str:
        number, returns = len(self.episodes), self.returns
        result = f"return {returns[0]:.1f}"
        if number > 1:
            result = (
                f"returns {returns.mean():.1f} ± {returns.std():.1f} "
                f"(worst {returns.min():.1f}, best {returns.max():.1f})"
            )
        return (
            f"{number} episode{'s' * (number > 1)}, {len(self):,} step{'s' * (len(self) > 1)} in "
            f"{self.env_id}: {result}; by {self.maker}"
        )

    __repr__ = __str__


def record_demos(
    policy: Any,
    env_id: str,
    episodes: int,
    seed: int = 0,
    maker: str = "an unnamed policy",
) -> Demos:
    """Let `policy` act for whole episodes and keep every step.

    Args:
        policy: an agent (`predict(obs, deterministic=True)`) or a function from observation to
            action. Continuous actions are clipped to the bounds before they are taken and kept.
        env_id: the environment. It must end its episodes. Number i starts from `seed` + i.
        episodes: how many are played.
        maker: who acts, in words.

    Raises:
        ValueError: the environment cannot be used.
    """
    if episodes < 1:
        raise ValueError(f"episodes must be at least 1, got {episodes}.")
    act, env = as_function(policy), make_env(env_id)
    try:
        name = getattr(env.spec, "id", env_id)
        _check_words(name, maker)  # before all is played
        describe_spaces(env)
        played = [_play(act, Resumable(env), seed + i) for i in range(episodes)]
        demos = Demos.from_episodes(name, maker, played)
        check_spaces(demos, env)
    finally:
        env.close()
    return demos


def _play(act, env: Resumable, seed: int) -> dict[str, np.ndarray]:
    """One episode, as a dictionary of arrays."""
    space, steps, over = env.action_space, [], False
    obs = env.reset(seed=seed)[0]
    while not over:
        action = np.array(act(obs), dtype=space.dtype)
        if isinstance(space, spaces.Box):
            action = np.clip(action, space.low, space.high)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        steps.append((obs, action, float(reward), next_obs, bool(terminated), bool(truncated)))
        obs, over = next_obs, terminated or truncated
    return {n: np.stack(c) for n, c in zip(ARRAYS, zip(*steps, strict=True), strict=True)}


# ---- checks --------------------------------------------------------------------------------------


def _check_words(env_id: str, maker: str) -> None:
    if not isinstance(env_id, str) or not ENV_ID.fullmatch(env_id):
        raise ValueError(
            f"{str(env_id)[:60]!r} is not an environment id such as 'Pendulum-v1': give one of "
            "gymnasium's, or register yours with gymnasium.register."
        )
    # What a terminal or a page would obey instead of show is not printable.
    if not isinstance(maker, str) or not maker.isprintable() or not 0 < len(maker) <= MAX_MAKER:
        raise ValueError(
            f"maker must be 1 to {MAX_MAKER} printable characters on one line, got "
            f"{str(maker)[:60]!r}."
        )


def _as_kept(name: str, values: Any) -> np.ndarray:
    """The array as demonstrations keep it: float32, int64 or bool."""
    values = np.asarray(values)
    if name in ("terminated", "truncated"):
        if values.dtype != bool:
            raise ValueError(f"{name} must be an array of bool, got {values.dtype}.")
        return values
    if not np.issubdtype(values.dtype, np.number) or np.iscomplexobj(values):
        raise ValueError(f"{name} must be an array of numbers, got {values.dtype}.")
    if name == "action" and np.issubdtype(values.dtype, np.integer):
        return values.astype(np.int64, copy=False)
    with np.errstate(over="ignore"):  # too large a number becomes infinity, and is refused as such
        return values.astype(np.float32, copy=False)


def _check_arrays(demos: Demos) -> None:
    n = len(demos.reward) if demos.reward.ndim == 1 else 0
    if n == 0:
        raise ValueError(
            f"reward must hold one number for each of at least one step, got shape "
            f"{demos.reward.shape}."
        )
    shapes = {name: getattr(demos, name).shape for name in ARRAYS}
    fits = shapes["next_obs"] == shapes["obs"] and shapes["terminated"] == shapes["truncated"]
    if not fits or shapes["terminated"] != (n,) or any(s[:1] != (n,) for s in shapes.values()):
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"The arrays differ in their number of steps or in shape: {listed}.")
    for name in ARRAYS[:4]:
        if not np.isfinite(getattr(demos, name)).all():
            raise ValueError(f"{name} holds NaN, infinity or a number too large for float32.")
    inside = ~(demos.terminated | demos.truncated)
    if inside[-1]:
        raise ValueError(
            "The last step ends no episode: set its truncated to True if recording stopped there."
        )
    inside = inside[:-1]
    if not np.array_equal(demos.next_obs[:-1][inside], demos.obs[1:][inside]):
        raise ValueError(
            "Within an episode a step must begin where the one before it ended, but some obs is "
            "not the next_obs before it."
        )


def check_spaces(demos: Demos, env: Any) -> None:
    """Raise `ValueError` unless the steps can have been taken in `env`, or by an agent."""
    if not isinstance(demos, Demos):
        raise TypeError(f"Demonstrations are what load_demos gives, not {type(demos).__name__}.")
    # Of an agent what its networks get.
    obs_space, space = getattr(env, "flat_space", env.observation_space), env.action_space
    shapes = demos.obs.shape[1:], demos.action.shape[1:]
    whole = isinstance(space, spaces.Discrete)
    if shapes != (obs_space.shape, space.shape) or whole != (demos.action.dtype == np.int64):
        raise ValueError(
            f"The demonstrations have observations {shapes[0]} and actions {shapes[1]} of "
            f"{demos.action.dtype}, which an environment with observations {one_line(obs_space)} "
            f"and actions {one_line(space)} cannot have: record them in this environment."
        )
    low, high = (space.start, space.start + space.n - 1) if whole else (space.low, space.high)
    slack = 0 if whole else 1e-6 * np.maximum(1, np.abs(demos.action))  # a rounded float64 bound
    if (demos.action < low - slack).any() or (demos.action > high + slack).any():
        raise ValueError(
            f"Some of the demonstrated actions lie outside {one_line(space)}: they must be in the "
            "units of the environment, not in those of an agent or a wrapper."
        )


def describe_spaces(env: gym.Env) -> dict[str, dict]:
    """Both spaces in plain values. Raises `ValueError` if demonstrations cannot hold such."""
    obs_space: Any = env.observation_space
    action_space: Any = env.action_space
    discrete = isinstance(action_space, spaces.Discrete)
    usable = discrete or isinstance(action_space, spaces.Box)
    if not usable or not isinstance(obs_space, spaces.Box):
        raise ValueError(
            "Demonstrations hold Box observations (gymnasium.wrappers.FlattenObservation helps) "
            f"and Box or Discrete actions, not {one_line(obs_space)} and {one_line(action_space)}."
        )
    return {"observation": describe_space(obs_space), "action": describe_space(action_space)}


# ---- writing and reading -------------------------------------------------------------------------


def save_demos(path: str | os.PathLike, demos: Demos) -> None:
    """Write demonstrations to a compressed `.npz`: six arrays, and `about`, a text in JSON.

    The file appears whole or not at all, and is the same to the byte for the same demonstrations.
    Raises `ValueError` if they do not fit the environment that they name, or are too many.
    """
    env = make_env(demos.env_id)
    try:
        check_spaces(demos, env)
        described = describe_spaces(env)
    finally:
        env.close()
    about = {
        "format": FORMAT,
        "version": VERSION,
        "env_id": demos.env_id,
        "maker": demos.maker,
        "steps": len(demos),
        "lengths": [e.stop - e.start for e in demos.episodes],
        "returns": {"mean": float(demos.returns.mean()), "each": demos.returns.tolist()},
        "spaces": described,
        "made with": {package: version(package) for package in ("gymnasium", "numpy")},
    }
    arrays: dict[str, Any] = {"about": np.array(json.dumps(about, allow_nan=False))}
    arrays |= {name: getattr(demos, name) for name in ARRAYS}
    size = sum(array.nbytes for array in arrays.values())
    if size > 0.99 * MAX_BYTES or arrays["about"].nbytes > 0.99 * MAX_ABOUT:
        raise ValueError(
            f"These demonstrations take {size / 2**20:.0f} MB in {len(demos.episodes):,} episodes, "
            f"more than one file holds ({MAX_BYTES // 2**20} MB): save fewer of them."
        )
    with replaced_whole(Path(path)) as unfinished, open(unfinished, "wb") as file:
        np.savez_compressed(file, **arrays)


def load_demos(path: str | os.PathLike, env: EnvLike | None = None) -> Demos:
    """Read what `save_demos` wrote, or with "minari:NAME" a Minari dataset of that name.

    Runs no code from the file, and unpacks nothing that would take more than `MAX_BYTES`.

    Args:
        path: the file.
        env: the environment that the demonstrations must be of, an id or an instance; by default
            the one that the file names.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, foreign, written by a newer version, or of another environment.
            Either way the error is one sentence that says what to do.
    """
    if isinstance(path, str) and path.startswith("minari:"):
        from helpers.demos.minari import from_minari

        return from_minari(path.removeprefix("minari:"), env)
    path = Path(path)
    arrays, about = _read(path)
    arena = _arena(path, about, env)
    try:
        demos = Demos(about["env_id"], about["maker"], **arrays)
        check_spaces(demos, arena)
    except ValueError as error:
        raise _damaged(path, error) from error
    finally:
        if arena is not env:
            arena.close()
    return demos


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """A file's arrays by name, and what it says about itself."""
    if not path.exists():
        raise FileNotFoundError(
            f"There is no file {path}: check its name, or make it with record_demos and save_demos."
        )
    try:
        with warnings.catch_warnings(action="ignore"):  # numpy's, on headers that it cannot parse
            arrays = _unpacked(path)
        about = _read_about(arrays.pop("about").item())
    except Exception as error:  # what a damaged file holds may fail in any way
        raise _damaged(path, error) from error
    return arrays, about


def _damaged(path: Path, error: Exception) -> ValueError:
    reason = textwrap.shorten(str(error).rstrip("."), 200, placeholder=" ...")
    return ValueError(
        f"{path} is damaged, or no file of demonstrations of this course "
        f"({reason if reason.isprintable() and reason else type(error).__name__}): make it "
        "again with record_demos and save_demos, or choose another path."
    )


def _unpacked(path: Path) -> dict[str, np.ndarray]:
    """The arrays in a file, by name, if they are the expected ones and not too large."""
    if not path.is_file():
        raise ValueError("it is not a file")
    with zipfile.ZipFile(path) as archive:
        sizes = [(each.filename, each.file_size) for each in archive.infolist()]
    if sorted(name for name, _ in sizes) != sorted(f"{name}.npy" for name in ("about", *ARRAYS)):
        raise ValueError("it holds other arrays than such a file does")
    if sum(size for _, size in sizes) > MAX_BYTES:
        raise ValueError(f"unpacked it would be larger than {MAX_BYTES // 2**20} MB")
    if dict(sizes)["about.npy"] > MAX_ABOUT:
        raise ValueError("its text is too long")
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def _read_about(text: str) -> dict:
    """The text in a file, checked as far as can be without its arrays."""
    about = json.loads(text)
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ValueError("its text names another format")
    if about.get("version") != VERSION:
        there = about.get("version")
        raise ValueError(f"it is of version {there}, the course reads {VERSION}: update the course")
    _check_words(about["env_id"], about["maker"])
    return about


def _arena(path: Path, about: dict, env: EnvLike | None) -> gym.Env:
    """The environment to check the arrays against: it is the one that the file names."""
    named = about["env_id"]
    if env is None and named not in gym.registry:
        raise ValueError(
            f"{path} holds demonstrations in {named}, which gymnasium does not know here: import "
            "what registers it, or pass env."
        )
    arena = env if isinstance(env, gym.Env) else make_env(named if env is None else env)
    wanted = id_of(arena)  # None: it has wrappers or arguments, so that only its spaces say more
    if wanted not in (named, None):
        raise ValueError(
            f"{path} holds demonstrations in {named}, not in {wanted}: use them there, or record "
            f"others in {wanted}."
        )
    if describe_spaces(arena) != about.get("spaces"):
        raise ValueError(
            f"{path} was recorded with other spaces than observations "
            f"{one_line(arena.observation_space)} and actions {one_line(arena.action_space)}: load "
            "it for the environment it was recorded in, or record it again in this one."
        )
    return arena
