"""What a command line asks to be trained: a lesson's setting, changed, or one of its own."""

import argparse
import ast
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any

import gymnasium as gym

from helpers.agents.noise import KINDS
from helpers.envs.make import one_line
from helpers.training.settings import ALGORITHMS, LONG, ROBOTS, SETTINGS, Setting, get_setting

TAUGHT = ("ddpgfd", "bc", "td3bc", "rlpd")  # by demonstrations


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What both `train` and `study` can be asked for."""
    parser.add_argument("algorithm", help=", ".join(ALGORITHMS))
    parser.add_argument("environment", help="such as Walker2d-v5")
    parser.add_argument("--steps", type=int, help="in all; without it what the lesson takes")
    parser.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE",
        help="settings other than the lesson's: --set tau=0.01 noise='OUNoise(0.3)'",
    )  # fmt: skip
    parser.add_argument(
        "--demos", metavar="FILE.npz", help=f"to learn from, with {', '.join(TAUGHT)}"
    )
    parser.add_argument("--jobs", type=int, default=1, help="seeds trained side by side")


def ask(options: argparse.Namespace) -> Setting:
    """What is to be trained. Raises `ValueError` for what cannot be.

    Where no lesson trains it there is no bar (minus infinity), and `lesson` is empty.
    """
    for name, value in vars(options).items():
        if isinstance(value, int | float) and name != "seed" and not value > 0:
            raise ValueError(f"--{name.replace('_', '-')} must be above 0, it cannot be {value}.")
    algorithm, env_id = options.algorithm, options.environment
    if algorithm not in ALGORITHMS:
        raise ValueError(f"There is no '{algorithm}' to train; there are: {', '.join(ALGORITHMS)}.")
    if lessons_own(algorithm, env_id):
        setting = get_setting(algorithm, env_id)
    elif options.steps is None:
        raise ValueError(f"No lesson says how long to train on {env_id}: add --steps 100000.")
    else:
        setting = Setting(algorithm, env_id, lesson="", steps=0, bar=-inf)
    params = usual_params(algorithm, env_id) | parse_settings(options.set)
    setting = replace(setting, params=params, steps=options.steps or setting.steps)
    if options.demos:
        setting = replace(setting, demos=options.demos, episodes=None)
    if (algorithm in TAUGHT) != (setting.demos is not None):
        wanted = "needs demonstrations, --demos FILE.npz" if algorithm in TAUGHT else "takes none"
        raise ValueError(f"{algorithm} {wanted}: they are for {' and '.join(TAUGHT)}.")
    return setting


def make_agent(setting: Setting, seed: int) -> Any:
    """The untrained agent. Raises `ValueError` if there can be none."""
    try:
        return setting.make(seed)
    except Exception as error:  # a setting of the wrong kind may fail in any way
        raise ValueError(
            f"{setting.algorithm} cannot be trained on {setting.env_id} as asked: "
            f"{one_line(error).rstrip('.')}."
        ) from error


def lessons_own(algorithm: str, env_id: str) -> Setting | None:
    """What a lesson trains there, if one does."""
    return (SETTINGS | LONG).get((algorithm, env_id))


def usual_params(algorithm: str, env_id: str) -> dict[str, Any]:
    """What a lesson trains with; where none does, an agent's defaults, or those for robots."""
    if own := lessons_own(algorithm, env_id):
        return own.params
    spec = gym.registry.get(env_id)
    is_robot = spec is not None and "mujoco" in str(spec.entry_point)
    return ROBOTS.get(algorithm, {}) if is_robot else {}


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """['tau=0.01', 'noise=OUNoise(0.3)'] -> {'tau': 0.01, 'noise': OUNoise(sigma=0.3)}."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier() or name in ("env", "seed"):
            raise ValueError(f"Settings are written as --set gamma=0.98, not as '{text}'.")
        settings[name] = value if name == "device" else parse_value(value)
    return settings


def parse_value(text: str) -> Any:
    """A number, None, True, or an object such as GaussianNoise(0.2); nothing is run."""
    try:
        return _value_of(ast.parse(text.strip(), mode="eval").body)
    except Exception as error:  # whatever was written there
        raise ValueError(
            f"'{text}' is not a value that a setting can have: write a number, None, True, or an "
            f"object such as GaussianNoise(0.1); there are: {', '.join(KINDS)}."
        ) from error


def _value_of(node: ast.expr) -> Any:
    """What a literal says, or one of `KINDS`, whose arguments may be objects too."""
    if not isinstance(node, ast.Call):
        return ast.literal_eval(node)
    arguments = [_value_of(each) for each in node.args]
    named = {str(each.arg): _value_of(each.value) for each in node.keywords}
    return KINDS[ast.unparse(node.func)](*arguments, **named)
