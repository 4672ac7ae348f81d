"""Which observations and actions each agent takes: found by asking the agents.

`python -m tools.spaces_table` prints the table that USING.md shows.
"""

from dataclasses import dataclass
from itertools import groupby

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from helpers import agents
from helpers.agents.base import Agent

AGENTS: tuple[type[Agent], ...] = (
    agents.A2C, agents.ReinforceWithBaseline, agents.PPO, agents.DDPG, agents.TD3, agents.DDPGfD,
    agents.SAC, agents.BehaviourCloning, agents.TD3BC, agents.RLPD,
)  # fmt: skip
BOUNDED = spaces.Box(np.float32([-1, 10]), np.float32([3, 20]))
# An example of every kind. Kinds that neither may be, such as Graph, are left out.
OTHERS: dict[str, spaces.Space] = {
    "MultiDiscrete": spaces.MultiDiscrete([2, 3]),
    "MultiBinary": spaces.MultiBinary(3),
    "Tuple": spaces.Tuple([spaces.Discrete(2), BOUNDED]),
    "Dict": spaces.Dict({"left": spaces.Discrete(2), "right": BOUNDED}),
    "Text": spaces.Text(4, charset="ab"),
}
EXAMPLES: dict[str, dict[str, spaces.Space]] = {
    "observations": {
        "Box of floats": BOUNDED,
        "with bounds, with one or without": spaces.Box(
            np.float32([-np.inf, 0]), np.float32([np.inf, np.inf])
        ),
        "of any shape": spaces.Box(-1, 1, (2, 3), np.float64),
        "Box of whole numbers": spaces.Box(0, 255, (4, 3, 3), np.uint8),
        "pictures: uint8 (channels, height, width)": spaces.Box(0, 255, (2, 8, 8), np.uint8),
        "(height, width, channels)": spaces.Box(0, 255, (9, 8, 3), np.uint8),
        "a stack of either": spaces.Box(0, 255, (2, 9, 8, 3), np.uint8),
        "Discrete": spaces.Discrete(3, start=5),
        **OTHERS,
    },
    "actions": {
        "Box of floats with bounds": BOUNDED,
        "of any shape": spaces.Box(-0.1, 0.3, (2, 2), np.float64),
        "Box of floats without bounds": spaces.Box(-np.inf, np.inf, (2,)),
        "with one bound": spaces.Box(0, np.inf, (2,)),
        "Discrete": spaces.Discrete(3, start=5),
        "Box of whole numbers": spaces.Box(0, 9, (2,), np.int64),
        **OTHERS,
    },
}


@dataclass(frozen=True)
class Row:
    """One kind of space, as `part`: "observations" or "actions".

    `answers`: class -> None if it takes such a space, otherwise what it says.
    """

    part: str
    name: str
    space: spaces.Space
    answers: dict[type[Agent], str | None]


class Nowhere(gym.Env):
    """An environment that has spaces and nothing else."""

    def __init__(self, observation_space: spaces.Space, action_space: spaces.Space) -> None:
        self.observation_space, self.action_space = observation_space, action_space


def supported_spaces() -> list[Row]:
    """A row for each kind of observation, then one for each kind of action."""
    return [
        Row(part, name, space, {kind: refusal(kind, part, space) for kind in AGENTS})
        for part, examples in EXAMPLES.items()
        for name, space in examples.items()
    ]


def refusal(kind: type[Agent], part: str, space: spaces.Space) -> str | None:
    """What the agent says when its observations or actions are to be of `space`; None: nothing."""
    try:
        kind(Nowhere(*both_spaces(kind, part, space)), seed=0)
    except ValueError as error:
        return str(error)
    return None


def both_spaces(
    kind: type[Agent], part: str, space: spaces.Space
) -> tuple[spaces.Space, spaces.Space]:
    """`space` in its part, beside another one that every agent of this class takes."""
    if part == "actions":
        return BOUNDED, space
    return space, spaces.Discrete(2) if spaces.Discrete in kind.action_kinds else BOUNDED


def as_markdown(rows: list[Row]) -> str:
    """The rows as a table; kinds that follow each other and get the same answers share a line."""

    def cells(row: Row) -> str:
        return " | ".join("no" if row.answers[kind] else "yes" for kind in AGENTS)

    lines = [
        f"| | {' | '.join(kind.__name__ for kind in AGENTS)} |",
        "| --- " * (len(AGENTS) + 1) + "|",
    ]
    for part in EXAMPLES:
        lines.append(f"| **{part}** " + "| " * len(AGENTS) + "|")
        for answers, alike in groupby((row for row in rows if row.part == part), key=cells):
            lines.append(f"| {', '.join(row.name for row in alike)} | {answers} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(as_markdown(supported_spaces()))
