"""Diagrams of boxes and arrows: agent and environment, actor and critic."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.show.colours import BLUE, GREEN, GREY, INK, ORANGE, VERMILLION
from helpers.show.figures.drawing import Place, arrow, box, say, sheet

# A name, what stands below it, its middle in inches, its size, its colour.
Box = tuple[str, str, Place, tuple[float, float], str]
# What flows, where its words stand, and the corners of its way; an arrowhead at the last one.
Flow = tuple[str, Place, Sequence[Place]]


def plot_agent_environment() -> Figure:
    """The loop of agent and environment, and what flows in one step of it."""
    boxes: Sequence[Box] = (
        ("agent", "policy π(a | s)", (1.2, 1.1), (1.7, 0.8), BLUE),
        ("environment", "dynamics p(s′ | s, a)", (5.8, 1.1), (1.9, 0.8), GREEN),
    )
    flows: Sequence[Flow] = (
        ("action  aₜ", (3.5, 1.98), ((1.2, 1.5), (1.2, 1.8), (5.8, 1.8), (5.8, 1.5))),
        (
            "reward  rₜ,  next observation  sₜ₊₁,  terminated?  truncated?", (3.5, 0.2),
            ((5.8, 0.7), (5.8, 0.4), (1.2, 0.4), (1.2, 0.7)),
        ),
    )  # fmt: skip
    return _diagram(boxes, flows, (7.0, 2.2))


def plot_actor_critic(critic: str = "V(s)") -> Figure:
    """Actor, critic and environment: what each gets, and what each learns from.

    `critic`: "V(s)", which judges states, or "Q(s, a)", which judges actions.
    """
    if critic.startswith("Q"):
        acts, memory, learns = "a = μ(s)", "replay buffer", "batches of transitions"
        advice = "which way is up: ∇ₐ Q(s, a)"
    else:
        acts, memory, learns = "a ~ π(a | s)", "transitions", "target: the rewards after s"
        advice = "advantage: better than expected?"
    boxes: Sequence[Box] = (
        ("actor", f"acts: {acts}", (1.3, 2.0), (1.8, 0.8), BLUE),
        ("critic", f"judges: {critic}", (1.3, 0.6), (1.8, 0.8), VERMILLION),
        ("environment", "", (5.9, 2.0), (1.6, 0.8), GREEN),
        (memory, "s, a, r, s′", (5.9, 0.6), (1.6, 0.8), GREY),
    )
    flows: Sequence[Flow] = (
        ("action a", (3.7, 2.36), ((2.2, 2.2), (5.1, 2.2))),
        ("state s", (3.7, 1.64), ((5.1, 1.8), (2.2, 1.8))),
        (advice, (1.45, 1.3), ((1.3, 1.0), (1.3, 1.6))),
        ("each step", (6.0, 1.3), ((5.9, 1.6), (5.9, 1.0))),
        (learns, (3.7, 0.78), ((5.1, 0.6), (2.2, 0.6))),
    )
    return _diagram(boxes, flows, (7.0, 2.6))


def plot_gradient_path() -> Figure:
    """How the actor learns: forward from state to value, and the gradient all the way back."""
    boxes: Sequence[Box] = (
        ("state s", "", (0.75, 1.5), (1.1, 0.6), GREY),
        ("actor", "weights θ move", (2.75, 1.5), (1.7, 0.8), BLUE),
        ("critic", "weights φ stay", (5.35, 1.5), (1.7, 0.8), VERMILLION),
        ("Q(s, a)", "", (7.35, 1.5), (1.1, 0.6), GREY),
    )
    flows: Sequence[Flow] = (
        ("", (0, 0), ((1.3, 1.5), (1.9, 1.5))),
        ("a = μ(s)", (4.05, 1.65), ((3.6, 1.5), (4.5, 1.5))),
        ("", (0, 0), ((6.2, 1.5), (6.8, 1.5))),
        ("s", (3.1, 2.4), ((0.75, 1.8), (0.75, 2.25), (5.35, 2.25), (5.35, 1.9))),
    )
    back: Sequence[Flow] = (
        ("up: +1", (6.45, 0.52), ((7.35, 1.2), (7.35, 0.7), (5.55, 0.7), (5.55, 1.1))),
        (
            "∇ₐ Q(s, a): how the action should change", (4.05, 0.28),
            ((5.2, 1.1), (5.2, 0.5), (2.95, 0.5), (2.95, 1.1)),
        ),
        (
            "∇θ μ(s): how the weights\nmove the action", (1.1, 0.55),
            ((2.6, 1.1), (2.6, 0.8), (2.05, 0.8), (2.05, 1.1)),
        ),
    )  # fmt: skip
    fig = _diagram(boxes, flows, (8.0, 2.6))
    for words, (x, y), way in back:
        _arrow(fig.axes[0], way, ORANGE, "--")
        say(fig.axes[0], x, y, words, 9.5)
    return fig


def _diagram(boxes: Sequence[Box], flows: Sequence[Flow], size: Place) -> Figure:
    fig, ax = sheet(*size)
    for words, place, way in flows:
        _arrow(ax, way)
        upright = way[0][0] == way[-1][0]  # its words stand to the right of it
        say(ax, *place, words, 9.5, INK, ha="left" if upright else "center")
    for name, below, (x, y), extent, colour in boxes:
        box(ax, (x, y), extent, colour, 0.12)
        say(ax, x, y + (0.14 if below else 0), name, 11, colour)
        say(ax, x, y - 0.17, below, 9, INK)
    return fig


def _arrow(ax: Axes, way: Sequence[Place], colour: str = GREY, dashes: str = "-") -> None:
    ax.plot(*zip(*way[:-1], strict=True), color=colour, lw=1.3, ls=dashes)
    arrow(ax, way[-2], way[-1], colour, lw=1.3, ls=dashes)
