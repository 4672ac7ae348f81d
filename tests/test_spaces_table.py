"""The table of spaces in USING.md: what it promises trains, what it denies says what to do.

Which observations and actions an agent takes is found by asking it. Where USING.md has another
table the test says which it should be.
"""

from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from environments import AnySpace, make
from gymnasium import spaces
from sentences import assert_one_sentence

from helpers import agents
from helpers.agents import A2C, PPO, ReinforceWithBaseline
from helpers.agents.cloning import OfflineAgent
from helpers.demos.files import Demos

AGENTS = (
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
USING = Path(__file__).resolve().parent.parent / "USING.md"
replay = {"learning_starts": 8, "batch_size": 4, "buffer_size": 60, "hidden": 4}
SETTINGS = {
    A2C: {"n_envs": 2, "n_steps": 4, "hidden": 4},
    PPO: {"n_envs": 2, "n_steps": 4, "hidden": 4, "batch_size": 3},
    ReinforceWithBaseline: {"hidden": 4},
}


class Row(NamedTuple):
    """One kind of space, as `part`: "observations" or "actions"."""

    part: str
    name: str
    space: spaces.Space
    answers: dict  # class -> None if it takes such a space, otherwise what it says


def refusal(kind, part, space):
    """What the agent says when its observations or actions are to be of `space`; None: nothing."""
    obs_space, action_space = both_spaces(kind, part, space)
    try:
        kind(make(AnySpace, observation_space=obs_space, action_space=action_space), seed=0)
    except ValueError as error:
        return str(error)
    return None


def both_spaces(kind, part, space):
    """`space` in its part, beside another one that every agent of this class takes."""
    if part == "actions":
        return BOUNDED, space
    return space, spaces.Discrete(2) if spaces.Discrete in kind.action_kinds else BOUNDED


ROWS = [
    Row(part, name, space, {kind: refusal(kind, part, space) for kind in AGENTS})
    for part, examples in EXAMPLES.items()
    for name, space in examples.items()
]
CELLS = [
    pytest.param(row, kind, id=f"{row.part}-{row.name}-{kind.__name__}")
    for row in ROWS
    for kind in AGENTS
]


def as_markdown(rows):
    """The rows as a table; kinds that follow each other and get the same answers share a line."""

    def cells(row):
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


def some_demos(observation_space, action_space):
    """One episode of ten steps, drawn from the spaces."""
    observation_space.seed(0)
    action_space.seed(0)
    samples = [spaces.flatten(observation_space, observation_space.sample()) for _ in range(11)]
    shape = observation_space.shape if isinstance(observation_space, spaces.Box) else (-1,)
    obs = np.array(samples, np.float32).reshape(11, *shape)
    action = np.array([action_space.sample() for _ in range(10)])
    ends = np.arange(10) == 9
    return Demos(
        "Any-v0", "chance", obs[:-1], action, np.ones(10), obs[1:], ends, np.zeros(10, bool)
    )


def weights(agent):
    return [p.detach().clone() for name in agent.parts() for p in parameters(getattr(agent, name))]


def parameters(part):
    return part.parameters() if hasattr(part, "parameters") else ()


@pytest.mark.parametrize(("row", "kind"), CELLS)
def test_a_supported_space_trains_and_another_says_what_to_do(row, kind):
    obs_space, action_space = both_spaces(kind, row.part, row.space)
    env = make(AnySpace, observation_space=obs_space, action_space=action_space)
    settings = SETTINGS.get(kind, replay)
    if sentence := row.answers[kind]:
        assert_one_sentence(sentence, " ".join(str(row.space).split()))
        advice = (
            ("an array of one length", "FlattenObservation")
            if row.part == "observations"
            else ("Transform", "A2C there")
        )
        assert any(each in sentence for each in advice)
        with pytest.raises(ValueError, match="environment has"):
            kind(env, seed=0, **settings)
        return
    agent = kind(env, seed=0, **settings)
    if issubclass(kind, OfflineAgent):
        agent.remember(some_demos(obs_space, action_space))
    before = weights(agent)
    agent.learn(30)  # the environment itself refuses wrong actions
    assert any((a != b).any() for a, b in zip(before, weights(agent), strict=True))
    assert all(each.isfinite().all() for each in weights(agent))
    obs_space.seed(1)
    assert action_space.contains(agent.predict(obs_space.sample()))


def test_using_shows_the_table():
    table = as_markdown(ROWS)
    assert f"\n\n{table}\n\n" in USING.read_text(encoding="utf-8"), f"it should be:\n{table}"


def test_every_agent_is_asked():
    assert {kind.__name__ for kind in AGENTS} == set(agents.__all__)


def test_the_advice_for_observations_works():
    refused = [row for row in ROWS if row.part == "observations" and row.answers[A2C]]
    assert len(refused) == 4  # three kinds of pictures, and texts
    for row in refused:
        env = gym.wrappers.FlattenObservation(make(AnySpace, observation_space=row.space))
        assert A2C(env, seed=0, **SETTINGS[A2C]).learn(8).steps >= 8, row.name
