"""Lesson 00: which idea led to which algorithm, with years; the course's lessons among them.

Years are those of the papers: Barto, Sutton & Anderson 1983; Williams 1992; Mnih et al. 2013 and
2015 (DQN), Silver et al. 2014 (DPG), Lillicrap et al. 2015 (DDPG), Mnih et al. 2016 (A3C),
OpenAI's Baselines 2017 (A2C), Schulman et al. 2017 (PPO), Vecerik et al. 2017 (DDPGfD), Fujimoto et
al. 2018 (TD3), Haarnoja et al. 2018 (SAC), Fujimoto & Gu 2021 (TD3+BC).
"""

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.show.colours import BLUE, DARK, GREEN, GREY, INK
from helpers.show.figures.drawing import Place, arrow, box, headline, say, sheet

WIDE, HIGH = 1.3, 0.86  # inches of a box
COLUMNS = tuple(0.78 + 1.51 * column for column in range(5))  # the middles, in inches
ROWS = tuple(0.55 + 1.25 * row for row in range(3))
KINDS = {BLUE: "from fresh experience: on-policy", GREEN: "from a replay buffer: off-policy"}


@dataclass(frozen=True)
class Entry:
    """An algorithm: its years, the idea that is new in it, its lesson, and its place."""

    name: str
    years: tuple[int, ...]
    idea: str
    lesson: str
    place: tuple[int, int]  # column and row
    colour: str


ENTRIES = (
    Entry("Actor-critic", (1983,), "a critic judges\nevery step", "", (0, 1), GREY),
    Entry("REINFORCE", (1992,), "up the gradient\nof log π × return", "01", (0, 2), BLUE),
    Entry("DQN", (2013, 2015), "replay buffer,\ntarget network", "", (1, 0), GREY),
    Entry("DPG", (2014,), "an actor that follows\nthe gradient of Q", "", (1, 1), GREY),
    Entry("DDPG", (2015,), "DPG with\nDQN's two parts", "02", (2, 1), GREEN),
    Entry("A3C, A2C", (2016, 2017), "many environments,\nadvantages", "01", (2, 2), BLUE),
    Entry("DDPGfD", (2017,), "demonstrations in\nthe replay buffer", "04", (3, 0), GREEN),
    Entry("PPO", (2017,), "a batch used often,\nthe ratio clipped", "07", (3, 2), BLUE),
    Entry("TD3", (2018,), "two critics,\nthe lower counts", "03, 05", (4, 1), GREEN),
    Entry("SAC", (2018,), "random on purpose:\nmaximum entropy", "06", (4, 2), GREEN),
    Entry("TD3+BC", (2021,), "old data alone,\nactions near them", "08", (4, 0), GREEN),
)
LED_TO = (
    ("REINFORCE", "A3C, A2C"),
    ("Actor-critic", "A3C, A2C"),
    ("Actor-critic", "DPG"),
    ("DPG", "DDPG"),
    ("DQN", "DDPG"),
    ("A3C, A2C", "PPO"),
    ("DDPG", "DDPGfD"),
    ("DDPG", "TD3"),
    ("DDPG", "SAC"),
    ("TD3", "TD3+BC"),
)


def plot_course_map() -> Figure:
    """A box for each algorithm, with its year and its idea; arrows lead to what was built on it."""
    width, height = COLUMNS[-1] + COLUMNS[0], ROWS[-1] + 1.0
    fig, ax = sheet(width, height)
    headline(fig, "Which idea led to which algorithm")
    for x, (colour, kind) in zip((3.15, 5.42), KINDS.items(), strict=True):
        say(ax, x, height - 0.16, f"■ {kind}", 8.5, colour, ha="left")
    middles = {entry.name: _middle(entry) for entry in ENTRIES}
    for one, other in LED_TO:
        _arrow(ax, middles[one], middles[other])
    _arrow(ax, middles["TD3"], middles["SAC"], "--")
    x, y = middles["TD3"]
    say(ax, x + 0.06, y + 0.625, "two critics", 7.5, GREY, ha="left")
    for entry in ENTRIES:
        _box(ax, entry)
    return fig


def _middle(entry: Entry) -> Place:
    column, row = entry.place
    return COLUMNS[column], ROWS[row]


def _box(ax: Axes, entry: Entry) -> None:
    x, y = _middle(entry)
    box(ax, (x, y), (WIDE, HIGH), entry.colour, 0.12 if entry.colour == GREY else 0.25)
    years = "/".join(map(str, entry.years)).replace("/20", "/")
    say(ax, x, y + 0.29, f"{entry.name} · {years}", 8.5, DARK.get(entry.colour, INK))
    say(ax, x, y - 0.01, entry.idea, 8)
    if entry.lesson:
        plural = "lessons" if "," in entry.lesson else "lesson"
        say(ax, x, y - 0.31, f"{plural} {entry.lesson}", 8)


def _arrow(ax: Axes, start: Place, end: Place, line: str = "-") -> None:
    """From box to box: sideways between columns, along the slant between rows, or straight up."""
    (x0, y0), (x1, y1) = start, end
    up = (y1 > y0) - (y1 < y0)
    if x0 == x1:
        tail, head = (x0, y0 + up * HIGH / 2), (x1, y1 - up * HIGH / 2)
    else:
        tail = (x0 + WIDE / 2 - abs(up) * 0.2, y0 + up * HIGH / 2)
        head = (x1 - WIDE / 2 + abs(up) * 0.1, y1 - up * HIGH / 2)
    arrow(ax, tail, head, lw=1.1, ls=line)
