"""Environments: made from an id or an instance, one or many, with errors that say what to do."""

import dataclasses
import functools
import inspect
import math
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import WrapperSpec
from gymnasium.wrappers import OrderEnforcing, RecordVideo, TimeLimit

from helpers.envs.flat import flat_space, flattened
from helpers.envs.resumable import Resumable, ResumableVector, wrappers_of

EnvLike = str | gym.Env | Callable[..., gym.Env]
CHOICES = (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
TRANSLATOR = "gymnasium.wrappers.TransformAction"
NORMALIZERS = {"NormalizeObservation": "('obs',)", "NormalizeReward": "('rewards',)"}

SPARSE = "helpers.envs.sparse_pendulum:SparsePendulum"
CAMERA = {"size": 16, "crop": 256, "frames": 3, "repeat": 2}
OURS: dict[str, tuple[str, int, dict[str, Any]]] = {  # id -> what makes it, steps, the rest
    "SparsePendulum-v0": (SPARSE, 200, {}),
    "KnockedPendulum-v0": (SPARSE, 200, {"kwargs": {"knock": 6.0}}),
    "DoublePole-v0": ("helpers.envs.double_pole:DoublePole", 500, {}),
    "LongPendulum-v0": ("helpers.envs.long_pendulum:long_pendulum", 1000, {}),
    "PixelPendulum-v0": (  # Pendulum-v1, its reward too, seen through `Pixels`
        "gymnasium.envs.classic_control.pendulum:PendulumEnv",
        200,  # of Pendulum's own: 100 actions, each taken twice
        {
            "kwargs": {"render_mode": "rgb_array"},
            "additional_wrappers": (WrapperSpec("Pixels", "helpers.envs.pixels:Pixels", CAMERA),),
        },
    ),
}
for its_id, (makes, steps, rest) in OURS.items():
    if its_id not in gym.registry:  # the module may be imported again
        gym.register(its_id, makes, max_episode_steps=steps, **rest)


class Missing(gym.Env):
    """In the place of an environment that cannot be made here: its id, its spaces, the reason.

    An agent acts without an environment; it cannot learn there.
    """

    def __init__(
        self, name: str | None, reason: str, observation_space: Any, action_space: Any
    ) -> None:
        self.name, self.reason = name, reason
        self.observation_space, self.action_space = observation_space, action_space

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> Any:
        raise ValueError(self.reason)

    def step(self, action: Any) -> Any:
        raise ValueError(self.reason)


def make_env(env: EnvLike, **kwargs) -> gym.Env:
    """A fresh environment like `env`: made from its id, by the function that makes it, or from the
    recipe (`spec`) that an instance carries, which is its id, its arguments and its wrappers.

    What else was done to an instance, such as `env.unwrapped.g = 0`, the fresh one does not have.
    An instance without a recipe is copied as it is, if `copy.deepcopy` can. Neither has a recorder
    (`gymnasium.wrappers.RecordVideo`): it would write over the videos of training.
    `kwargs` go to `gymnasium.make` or to the function (for example `render_mode="rgb_array"`).
    Raises `ValueError` with one sentence for an unknown id, a missing dependency, or an instance
    that cannot be copied.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*Overwriting existing videos")  # it will not
        return _without_recorders(_made(env, kwargs))


def _without_recorders(env: gym.Env) -> gym.Env:
    while isinstance(env, RecordVideo):
        env.recorded_frames = []  # of an instance in the middle of a video; it would warn of them
        env = env.env
    if isinstance(env, gym.Wrapper):
        env.env = _without_recorders(env.env)
    return env


def _made(env: EnvLike, kwargs: dict[str, Any]) -> gym.Env:
    if isinstance(env, Missing):
        raise ValueError(env.reason)
    without_screen()
    if not isinstance(env, (str, gym.Env)):
        return _made_by(env, kwargs)
    recipe: Any = env
    if isinstance(env, gym.Env) and (recipe := _recipe(env)) is None:
        return _copied(env, kwargs)
    try:
        return gym.make(recipe, **kwargs)
    except (gym.error.DependencyNotInstalled, ModuleNotFoundError) as error:
        raise ValueError(
            f"{_name(recipe)} needs a package that is missing ({one_line(error)})."
        ) from error
    except gym.error.Error as error:  # unknown, too old, or misspelt
        raise ValueError(
            f"gymnasium knows no environment {_name(recipe)!r} ({one_line(error)}): check the "
            "spelling and the version, for example 'CartPole-v1', or import what registers yours."
        ) from error


def _made_by(make: Callable[..., gym.Env], kwargs: dict[str, Any]) -> gym.Env:
    """What a function of one's own makes. Raises `ValueError` unless it takes `kwargs`."""
    if not callable(make):
        raise ValueError(
            "An environment is an id such as 'CartPole-v1', one that gymnasium.make gave, or a "
            f"function that makes one, not {type(make).__name__}: of many at once A2C and PPO make "
            "copies, as n_envs says."
        )
    try:
        inspect.signature(make).bind(**kwargs)
    except TypeError as error:
        given = f"with {', '.join(kwargs)}" if kwargs else "without arguments"
        raise ValueError(
            f"The function that makes the environment cannot be called {given} ({error}): write "
            "one that can, such as `lambda **given: gymnasium.make('CartPole-v1', **given)`."
        ) from error
    made = make(**kwargs)
    if not isinstance(made, gym.Env):
        raise ValueError(
            f"The function that makes the environment gave {type(made).__name__}, which is no "
            "gymnasium.Env."
        )
    return made


def _copied(env: gym.Env, kwargs: dict[str, Any]) -> gym.Env:
    """`env`, which has no recipe, once more as it is. Raises `ValueError` if that cannot be."""
    if not kwargs:
        with suppress(Exception):  # what it holds may refuse in any way
            made = deepcopy(env)
            if made.unwrapped is not env.unwrapped:
                return made
    recording = gym.utils.RecordConstructorArgs
    for name in (type(w).__name__ for w in wrappers_of(env) if not isinstance(w, recording)):
        raise ValueError(
            f"The wrapper {name} keeps no record of its arguments, so the environment cannot be "
            f"copied: pass a function that makes it, `lambda: {name}(gymnasium.make(...))`."
        )
    raise ValueError(
        f"{env} was not made by gymnasium.make, so it cannot be copied: pass a function that makes "
        f"it, `lambda: {type(env.unwrapped).__name__}(...)`, or register it with "
        "gymnasium.register and pass its id."
    )


def check_statistics(env: gym.Env) -> None:
    """Raise `ValueError` for a wrapper whose running statistics a copy would not have."""
    for name in (type(wrapper).__name__ for wrapper in wrappers_of(env)):
        if name in NORMALIZERS:
            raise ValueError(
                f"The environment has the wrapper {name}, whose measurements the copies for "
                f"evaluation would not have: leave it out, and set normalize={NORMALIZERS[name]}."
            )


def spaces_of(env: EnvLike) -> tuple[Any, Any]:
    """The spaces of observations and of actions.

    Raises `ValueError` for what is no environment, or none that an agent should be trained in.
    """
    opened = env if isinstance(env, gym.Env) else make_env(env)
    for name in ("observation_space", "action_space"):
        if not isinstance(there := getattr(opened, name, None), spaces.Space):
            raise ValueError(
                f"The environment's {name} must be one of gymnasium.spaces, such as "
                f"Box(-1, 1, (3,)), not {there!r:.80}: set it in its __init__."
            )
    check_statistics(opened)
    both = opened.observation_space, opened.action_space
    if opened is not env:
        opened.close()
    return both


def without_screen() -> None:
    """Let pygame and MuJoCo draw where there is no screen; leave pygame no signals and no sound.

    SDL, which draws for it, would catch SIGTERM: `kill` could then not end a training. Where there
    is no sound card (Colab), looking for one writes twenty lines to stderr.
    """
    os.environ.setdefault("SDL_NO_SIGNAL_HANDLERS", "1")
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    if sys.platform == "linux" and not {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        os.environ.setdefault("MUJOCO_GL", "egl")


def make_training_env(env: EnvLike) -> Resumable:
    """The environment that an agent trains in: the instance it was given, or else one made.

    What it shows is a Box (`helpers.envs.flat`).
    """
    return Resumable(flattened(env if isinstance(env, gym.Env) else _made(env, {})))


def make_vector_env(env: EnvLike, n_envs: int) -> ResumableVector:
    """`n_envs` copies of `env` (or itself, if it is one) together, with next-step autoreset.

    If there is a recorder of videos, the first of them has it.

    In that mode an episode's last observation is returned as it is; the step after it ignores the
    action, gives reward 0 and returns the first observation of the next episode: the *filler row*
    (`helpers.agents.on_policy.Rollout`).
    """
    if n_envs < 1:
        raise ValueError(f"n_envs must be at least 1, got {n_envs}.")
    copy = functools.partial(make_env, env)  # an agent with a lambda is not pickled
    first = functools.partial(_made, env, {}) if n_envs > 1 and isinstance(env, gym.Env) else env
    makes = [functools.partial(make_training_env, each) for each in [first, *[copy] * (n_envs - 1)]]
    envs = ResumableVector(makes, autoreset_mode=gym.vector.AutoresetMode.NEXT_STEP)
    if len({id(each.unwrapped) for each in envs.envs}) < n_envs:
        raise ValueError(
            "The function that makes the environment gave the same one again: it must make a new "
            "one at each call."
        )
    return envs


def observation_box(space: spaces.Space) -> spaces.Box:
    """The Box of what networks get. Raises `ValueError` if `space` cannot be made one."""
    box = flat_space(space)
    if box is None:
        flattens = space.is_np_flattenable  # as it does not of itself: pictures among parts, Text
        wrapper = "FlattenObservation" if flattens else "TransformObservation"
        raise ValueError(
            "The agents take Box observations (arrays of numbers) and what can be made one (but "
            f"not pictures within a Tuple or Dict), this environment has {one_line(space)}: make "
            f"an array of one length of it, for example with gymnasium.wrappers.{wrapper}."
        )
    if box.dtype.itemsize > 8:
        raise ValueError(
            f"Networks take no observations of {box.dtype}, as this environment has "
            f"({one_line(space)}): name float64 in its observation_space."
        )
    return box


def is_image(space: spaces.Box) -> bool:
    """Whether observations are pictures: uint8, of 8 pixels and more, see `picture_axes`."""
    return picture_axes(space) is not None


def picture_axes(space: spaces.Box) -> tuple[int, ...] | None:
    """In which order the axes of pictures are (..., channels, height, width); None: no pictures.

    Channels may come first, or last as most cameras have them, (96, 96, 3): they are fewer than
    pixels. Before them a stack of several pictures may have an axis of its own, as gymnasium's
    FrameStackObservation makes it.
    """
    stacks, shape = len(space.shape) - 3, space.shape[-3:]
    if space.dtype != np.uint8 or stacks not in (0, 1):
        return None
    axes = (2, 0, 1) if shape[2] < shape[0] else (0, 1, 2)
    if min(shape[axis] for axis in axes[1:]) < 8:
        return None
    return (*range(stacks), *(stacks + axis for axis in axes))


def picture_shape(space: spaces.Box) -> tuple[int, int, int]:
    """Channels, of all stacked pictures, height and width of what `picture_axes` knows."""
    *stack, height, width = (space.shape[axis] for axis in picture_axes(space) or ())
    return math.prod(stack), height, width


def check_action_space(agent: str, space: spaces.Space, supported: tuple[type, ...]) -> None:
    """Raise `ValueError` unless `space` is one of the `supported` kinds; a Box must hold floats."""
    if not isinstance(space, supported):
        names = " or ".join(kind.__name__ for kind in supported)
        simple = isinstance(space, CHOICES) or _is_of_floats(space)
        advice = (
            "train A2C there" if simple else f"put {names} ones in their place with {TRANSLATOR}"
        )
        raise ValueError(
            f"{agent} takes {names} actions, this environment has {one_line(space)}: {advice}."
        )
    if isinstance(space, spaces.Box) and not _is_of_floats(space):
        raise ValueError(
            f"{agent} takes Box actions of floats, this environment has {one_line(space)}: round "
            f"floats to them with {TRANSLATOR}."
        )
    if 0 in (space.shape or ()):
        raise ValueError(
            f"{agent} has nothing to choose in {one_line(space)}: the environment's action_space "
            "needs a dimension at least."
        )


def _is_of_floats(space: spaces.Space) -> bool:
    return isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating)


def env_id(env: EnvLike) -> str | None:
    """The id that says all about how to make `env`, or None: it has wrappers or arguments."""
    if isinstance(env, (str, Missing)):
        return env if isinstance(env, str) else env.name
    recipe = _recipe(env) if isinstance(env, gym.Env) else None
    registered = gym.registry.get(recipe.id) if recipe else None
    if recipe is None or registered is None or _changes(recipe) != _changes(registered):
        return None
    return recipe.id


def one_line(thing: object) -> str:
    """The text of a space or an error on one line, as a sentence can hold it."""
    return " ".join(str(thing).split())


def _recipe(env: gym.Env) -> gym.envs.registration.EnvSpec | None:
    """The spec from which an equal environment can be made, or None if there is no such spec."""
    try:
        spec = env.spec
    except Exception:  # a wrapper without recorded arguments has no recipe
        return None
    if spec is None or any(wrapper.kwargs is None for wrapper in spec.additional_wrappers):
        return None
    return _with_limits_in_place(env, spec)


def _with_limits_in_place(env: gym.Env, spec: Any) -> gym.envs.registration.EnvSpec:
    """gymnasium notes one time limit, and makes it below all wrappers. It is the shortest of those
    that stand there; one above a wrapper, which may repeat actions, is noted as a wrapper.
    """
    wrappers: list[Any] = list(wrappers_of(env))[::-1]
    made = next((i for i, each in enumerate(wrappers, 1) if isinstance(each, OrderEnforcing)), 0)
    # Up to there the id's own function makes all, limits too.
    noted = own = wrappers[made - 1].spec.additional_wrappers if made else ()
    limit = None
    for wrapper in wrappers[made:]:
        if not isinstance(wrapper, TimeLimit):
            noted += wrapper.spec.additional_wrappers[len(wrapper.env.spec.additional_wrappers) :]
        elif noted == own:
            limit = min(wrapper._max_episode_steps, limit or math.inf)
        else:
            noted += (TimeLimit.wrapper_spec(max_episode_steps=wrapper._max_episode_steps),)
    return dataclasses.replace(spec, max_episode_steps=limit, additional_wrappers=noted)


def _changes(spec: gym.envs.registration.EnvSpec) -> tuple:
    """What an instance may have changed in its id's recipe; how it is shown does not matter."""
    arguments = {name: repr(value) for name, value in spec.kwargs.items() if name != "render_mode"}
    return arguments, spec.max_episode_steps, spec.additional_wrappers


def _name(recipe: str | gym.envs.registration.EnvSpec) -> str:
    return recipe if isinstance(recipe, str) else recipe.id
