"""What an agent writes down of its training: `agent.history` and `agent.last`."""

from typing import Any, NamedTuple

from helpers.envs.resumable import Transition

EPISODE = ("return", "length")  # what the history has of every episode; all else there are losses


class History(dict[str, list[tuple[int, float]]]):
    """Name -> list of (step, value). What was not written down yet is empty.

    It is a tuple then, since an append to a throw-away list would be lost in silence.
    """

    def __missing__(self, name: str) -> Any:
        return ()

    def add(self, name: str, step: int, value: float) -> None:
        """Write down one value."""
        self.setdefault(name, []).append((step, float(value)))


class Last(NamedTuple):
    """What training did last: a transition for each environment that it acts in (A2C and PPO have
    many, the others one, behaviour cloning none), in the environment's units, observations made
    flat where they are no Box; and name -> loss.
    """

    transitions: list[Transition]
    losses: dict[str, float]
