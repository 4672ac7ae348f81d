"""The figures with sliders of lesson 02: uphill on Q, what a critic thinks, noise, target networks.

As in `explore.py`, each explorer is a plain function `plot_...(...) -> Figure` with sliders in
front. In the two figures of Q blue is the critic, vermillion the actor, orange the slope, and green
where a step along it leads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from helpers.agents.noise import GaussianNoise, OUNoise
from helpers.envs.units import to_env_units
from helpers.show.figures.explore import Choice, Slider, explore
from helpers.show.plotting import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    WIDTH,
    label,
    legend_above,
    margins,
    new_figure,
)

__all__ = [
    "ou_explorer", "plot_ou", "plot_q", "plot_tau", "plot_uphill", "q_explorer", "tau_explorer",
    "uphill_explorer",
]  # fmt: skip

FAINT = "#C4C9CF"  # the colour of axes
TOP = 0.6  # inches above a panel: the headline, and a legend or a title
DASHES = (0, (5, 3))


@dataclass(frozen=True)
class Scale(Choice):
    """A slider over listed values, for a quantity whose steps are not even."""

    def widget(self, name: str, **style: Any) -> Any:
        import ipywidgets

        return ipywidgets.SelectionSlider(
            options=list(self.options),
            value=self.default,
            description=self.label or name,
            continuous_update=True,
            **style,
        )


def headline(fig: Figure, sentence: str) -> None:
    """What is to be seen, in one line above all panels."""
    fig.suptitle(sentence, x=0.012, y=0.98, ha="left", va="top", fontsize=10.5, color=INK)


def note(ax: Axes, x: float, y: float, text: str, colour: str = INK, ha: str = "left") -> None:
    """A line of text at a place given in parts of the panel, readable above lines."""
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5}
    ax.text(
        x, y, text, transform=ax.transAxes, ha=ha, va="center", fontsize=9, color=colour, bbox=box
    )


def signed(value: float, decimals: int = 2) -> str:
    """+0.25, −0.25 with a real minus, or 0.00 without a sign."""
    rounded = round(value, decimals)
    return minus(f"{rounded:+.{decimals}f}" if rounded else f"{0:.{decimals}f}")


def short(value: float, sign: str = "") -> str:
    """Three digits at most, and a small number as 7.5e−4: few characters whatever its size."""
    if value == 0 or abs(value) >= 0.001:
        return minus(f"{value:{sign}.3g}")
    mantissa, exponent = f"{value:.1e}".split("e")
    return minus(f"{float(mantissa):{sign}g}e{int(exponent)}")


def minus(text: str) -> str:
    """The text with a real minus for each hyphen."""
    return text.replace("-", "−")


# --- Uphill -----------------------------------------------------------------------------------

HILLS = ((1.0, 0.35, 0.32), (0.6, -0.6, 0.2))  # height, place, width of each hill of the toy Q
ERROR = (1.2, 0.85, 0.35)  # the hill that a wrong critic adds
FURTHEST = 20  # steps


def toy_q(action: ArrayLike, error: float = 0.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Q(s, a) of one imagined state and its slope dQ/da, both of the shape of `action`.

    A hill at 0.35, a lower one at -0.6; `error` times a third one at 0.85, which is not there.
    """
    action = np.asarray(action, dtype=np.float64)
    q, slope = np.zeros_like(action), np.zeros_like(action)
    for height, place, width in (*HILLS, (error * ERROR[0], *ERROR[1:])):
        z = (action - place) / width
        hill = height * np.exp(-(z**2))
        q, slope = q + hill, slope - 2 * z / width * hill
    return q, slope


def ascend(action: float, step: float, steps: int, error: float = 0.0) -> NDArray[np.float64]:
    """The actions of `steps` steps of gradient ascent on the toy Q, shape `(steps + 1,)`."""
    path = [float(action)]
    for _ in range(steps):
        path.append(float(np.clip(path[-1] + step * toy_q(path[-1], error)[1], -1, 1)))
    return np.array(path)


def plot_uphill(
    action: float = 0.0, step: float = 0.04, steps: int = 5, error: float = 0.0
) -> Figure:
    """The deterministic policy gradient in one picture: the action moves uphill on the critic.

    An actor that knows one state only, and no network: its parameter is the action itself, so
    that a step of gradient ascent is a <- a + step dQ/da, clipped to [-1, 1]. (In a real actor the
    step goes through the weights, and a tanh keeps the action in bounds.)

    Args:
        action: where the actor is now, in [-1, 1].
        step: the step size (learning rate).
        steps: how many steps to take, 1 to 20.
        error: how wrong the critic is: 0 is right, 1 adds a hill that is not there.
    """
    if not -1 <= action <= 1:
        raise ValueError(f"action must lie in [-1, 1], not {action}.")
    if step < 0:
        raise ValueError(f"step must not be negative, not {step}: the gradient points uphill.")
    if not 1 <= steps <= FURTHEST:
        raise ValueError(f"steps must lie between 1 and {FURTHEST}, not {steps}.")
    path = ascend(action, step, steps, error)
    fig, ax = new_figure(height=3.9, layout=None)
    margins(fig, left=0.75, top=TOP)
    headline(fig, _verdict(path, step, error))
    _draw_hill(ax, path, step, error)
    _draw_track(ax, path)
    ax.set(xlim=(-1.02, 1.02), ylim=(_depth(FURTHEST + 2), 1.5))
    ax.set_xticks([-1, -0.5, 0, 0.5, 1])
    q, steps = [0, 0.5, 1, 1.5], [0, 10, 20]
    names = ["0", "0.5", "1", "1.5", "start", "10 steps", "20 steps"]
    ax.set_yticks([*q, *map(_depth, steps)], names)
    label(ax, x="action a")
    return fig


def _depth(step: float) -> float:
    """Where a step is drawn: the track of actions runs downwards below the hill."""
    return -0.2 - 0.032 * step


def _draw_hill(ax: Axes, path: NDArray, step: float, error: float) -> None:
    actions = np.linspace(-1, 1, 161)
    (truth,) = ax.plot(actions, toy_q(actions)[0], color=GREY, lw=1.3, ls=DASHES, label="true Q")
    name = "critic's Q(s, a)"
    (critic,) = ax.plot(actions, toy_q(actions, error)[0], color=BLUE, lw=2.2, label=name)
    q, slope = toy_q(path, error)
    reach = 0.25 / math.hypot(1, slope[0] * 0.6)  # of even length on the page
    ends = path[0] + np.array([-reach, reach])
    (line,) = ax.plot(ends, q[0] + slope[0] * (ends - path[0]), color=ORANGE, lw=2, label="slope")
    _draw_dots(ax, path, q)
    note(ax, 0.015, 0.95, f"slope ∂Q/∂a = {signed(slope[0])}", ORANGE)
    held = ", held at the bound" if abs(path[0] + step * slope[0]) > 1 else ""
    text = f"first step: {step:g} · ({signed(slope[0])}) = {signed(step * slope[0], 3)}{held}"
    note(ax, 0.015, 0.88, text, GREEN)
    legend_above(ax, [critic, truth, line])


def _draw_track(ax: Axes, path: NDArray) -> None:
    ax.axhline(-0.1, color=FAINT, lw=0.8)
    depths = _depth(np.arange(len(path)))
    ax.plot(path, depths, color=GREEN, lw=1.3)
    _draw_dots(ax, path, depths)


def _draw_dots(ax: Axes, x: NDArray, y: NDArray) -> None:
    """Where the actor was, small; where it is in the end; where it began."""
    ax.plot(x[1:-1], y[1:-1], "o", ms=4, mew=0, color=GREEN, alpha=0.6)
    ax.plot(x[-1:], y[-1:], "o", ms=7.5, mew=0, color=GREEN)
    ax.plot(x[:1], y[:1], "o", ms=8.5, mew=0, color=VERMILLION)


def _verdict(path: NDArray, step: float, error: float) -> str:
    """What became of the actor, in one sentence."""
    if step == 0:
        return "Step size 0: whatever the slope says, the actor stays where it is."
    q, slope = toy_q(path, error)
    moves, end = np.diff(path), f"a = {signed(path[-1])}"
    many = "One step uphill" if len(moves) == 1 else f"{len(moves)} steps uphill"
    jumped = slope[:-1] * slope[1:] < -1e-3
    if jumped[-1] and abs(moves[-1]) > 0.05:
        if jumped[-4:].sum() > 1:
            return "The step is too large: the actor leaps to and fro across a top."
        lower = ", and lands lower than it stood" if q[-1] < q[-2] else ""
        return f"A step too far: it jumps across a top, to {end}{lower}."
    change = f"{'rises' if q[-1] > q[0] else 'falls'} from {q[0]:.2f} to {q[-1]:.2f}"
    was, truth = (float(toy_q(a)[0]) for a in path[[0, -1]])
    if q[-1] > q[0] and truth < was - 0.1:
        return f"Misled: the critic's Q {change}, the true Q falls from {was:.2f} to {truth:.2f}."
    if abs(moves[-1]) > 0.01 or abs(slope[-1]) > 0.2:
        return f"{many}: to {end}; the critic's Q {change}."
    highest = float(toy_q(np.linspace(-1, 1, 201), error)[0].max())
    if q[-1] - truth > 0.1:
        return f"Misled: the critic says Q = {q[-1]:.2f} at {end}. In truth it is {truth:.2f}."
    if q[-1] > highest - 0.02:
        return f"Arrived: hardly any slope is left at {end}, the highest point."
    if q[-1] > 0.5:
        return (
            f"Trapped: a lower hill, Q = {q[-1]:.2f}. No slope leads to the highest, {highest:.2f}."
        )
    return f"Hardly any slope at {end}: nothing tells the actor which way is up."


def uphill_explorer() -> None:
    """`plot_uphill` with sliders: action, step size, number of steps, the critic's error."""
    explore(
        plot_uphill,
        alt="A hill of Q over the action: five steps along the slope bring the actor to its top.",
        action=Slider(-1.0, 1.0, 0.0, 0.02, "action now"),
        step=Slider(0.0, 0.3, 0.04, 0.01, "step size"),
        steps=Slider(1, FURTHEST, 5, 1, "steps"),
        error=Slider(0.0, 1.0, 0.0, 0.05, "critic's error"),
    )


# --- What a critic thinks of the pendulum -----------------------------------------------------

TORQUE, SPEED = 2.0, 8.0  # Pendulum-v1's bounds, in N m and rad/s
DIVERGING = LinearSegmentedColormap.from_list("torque", ["#5B3A8E", "#FFFFFF", VERMILLION])
RISING = LinearSegmentedColormap.from_list("value", ["#FFFFFF", SKY, BLUE, "#002F4B"])
MAPS = {"what the actor does": "policy", "what the critic expects": "value"}


def plot_q(
    agent: Any,
    angle: float = 25.0,
    speed: float = 0.0,
    step: float = 0.1,
    zoom: float = 1.0,
    shows: str = "policy",
) -> Figure:
    """What an agent on Pendulum-v1 thinks in one state: its critic over all actions, its actor.

    Left: Q(s, a) above what the actor's own action is worth, the slope there (by autograd) and
    where a step of gradient ascent leads: a + step dQ/da, clipped to [-1, 1]. Values are in the
    units that the agent learned with (times `reward_scale`). The axis spans the largest
    differences between actions in all states, divided by `zoom`. Middle: the state, with angle
    0 upright and both angle and torque positive counter-clockwise. Right: all states.

    Args:
        agent: trained or not; it needs `actor(obs)` and `critic(obs, action)` on tensors
            (B, 3) and (B, 1), as `helpers.agents.DDPG` has. If its networks take observations in
            other units than the environment's, its `flat(obs)` changes them.
        angle: in degrees.
        speed: angular velocity in rad/s, -8 to 8.
        step: the step size.
        zoom: of the left panel's vertical axis.
        shows: "policy" (the actor's torque in all states) or "value", Q(s, mu(s)).
    """
    if getattr(agent, "obs_size", 3) != 3 or getattr(agent, "action_size", 1) != 1:
        raise ValueError("plot_q draws Pendulum-v1 only: three observations and one action.")
    if not -SPEED <= speed <= SPEED:
        raise ValueError(f"speed must lie between -8 and 8 rad/s, not {speed}.")
    if shows not in MAPS.values():
        raise ValueError(f'shows is "policy" or "value", not {shows!r}.')
    angle = (angle + 180) % 360 - 180 if abs(angle) > 180 else angle
    policy, value, spread = _everywhere(agent)
    here = critic_at(agent, angle, speed)
    fig, axes = new_figure(3, height=3.2, layout=None)
    for ax, left, width in zip(axes, (0.73, 3.5, 5.45), (2.57, 1.45, 2.0), strict=True):
        ax.set_position([left / WIDTH, 0.65 / 3.2, width / WIDTH, 1.95 / 3.2])
    _draw_q(axes[0], here, step, _nice(spread) / zoom)
    _draw_pendulum(axes[1], angle, speed, here["action"])
    _draw_map(axes[2], policy if shows == "policy" else value, shows)
    axes[2].plot(angle, speed, "o", ms=8, mew=2, mec=INK, color="white", clip_on=False)
    headline(fig, _opinion(here, spread))
    return fig


def critic_at(agent: Any, angle: float, speed: float) -> dict[str, Any]:
    """Q over 101 actions in one state, the actor's action there, its Q, and dQ/da by autograd."""
    obs = _observations(agent, np.array([angle]), np.array([speed]))
    actions = torch.linspace(-1, 1, 101)[:, None]
    with torch.no_grad():
        q = agent.critic(obs.expand(len(actions), 3), actions).reshape(-1)
        action = agent.actor(obs)
    action.requires_grad_()
    with torch.enable_grad():
        chosen = agent.critic(obs, action).sum()
        (slope,) = torch.autograd.grad(chosen, action)
    return {
        "actions": actions.numpy()[:, 0],
        "q": q.numpy(),
        "action": action.item(),
        "chosen": chosen.item(),
        "slope": slope.item(),
    }


def _observations(agent: Any, angles: NDArray, speeds: NDArray) -> torch.Tensor:
    """States (B,) and (B,) as Pendulum-v1 shows them and the agent's networks take them, (B, 3)."""
    radians = np.radians(angles)
    obs = np.stack([np.cos(radians), np.sin(radians), speeds], axis=-1).astype(np.float32)
    return agent.flat(obs) if hasattr(agent, "flat") else torch.from_numpy(obs)


@torch.no_grad()
def _everywhere(agent: Any) -> tuple[NDArray, NDArray, float]:
    """Action and value on a grid of speeds and angles, and how much actions matter at most."""
    angles, speeds = np.meshgrid(np.linspace(-180, 180, 41), np.linspace(-SPEED, SPEED, 29))
    obs = _observations(agent, angles.ravel(), speeds.ravel())
    actions = agent.actor(obs)
    values = agent.critic(obs, actions).reshape(-1)
    ends = torch.stack(
        [agent.critic(obs, torch.full_like(actions, a)).reshape(-1) for a in (-1, 1)]
    )
    spread = (ends - values).abs().max().item()
    if not math.isfinite(spread):
        raise ValueError("The critic's values are not finite: this agent has diverged.")
    return actions.reshape(angles.shape).numpy(), values.reshape(angles.shape).numpy(), spread


def _nice(value: float) -> float:
    """The next round number that is not below `value`, so that an axis seldom changes."""
    power = 10 ** math.floor(math.log10(max(value, 1e-9)))
    return power * next(n for n in (1, 1.5, 2, 3, 5, 7, 10) if n * power >= value * 0.999999)


def _draw_q(ax: Axes, here: dict[str, Any], step: float, span: float) -> None:
    def above(q: Any) -> Any:
        return q - here["chosen"]

    action, slope = here["action"], here["slope"]
    low, high = -1.05 * span, 0.65 * span
    reach = 0.42 / math.hypot(1, slope / (high - low) * 2)
    ends = action + np.array([-reach, reach])
    landing = float(np.clip(action + step * slope, -1, 1))
    landed = np.interp(landing, here["actions"], above(here["q"]))
    ax.plot(here["actions"], above(here["q"]), color=BLUE, lw=2.2)
    ax.plot(ends, slope * (ends - action), color=ORANGE, lw=2)
    ax.plot(landing, landed, "o", ms=12, mew=2, mec=GREEN, color="none")
    ax.plot(action, 0, "o", ms=7.5, mew=0, color=VERMILLION)
    ax.set(xlim=(-1.08, 1.08), ylim=(low, high))
    ticks, heights = np.linspace(-1, 1, 5), np.array([-1, -0.5, 0, 0.5]) * span
    ax.set_xticks(ticks, [minus(f"{a:g}\n{_torque(a):g}") for a in ticks])
    ax.set_yticks(heights, [short(h) for h in heights])
    label(ax, "Q(s, a) − Q(s, μ(s))", "action a, below it the torque in N m", size=9.5)
    note(ax, 0.02, 0.95, f"Q(s, μ(s)) = {short(here['chosen'])}", BLUE)
    note(ax, 0.98, 0.95, f"slope {short(slope, '+')}", ORANGE, ha="right")


def _torque(action: float) -> float:
    return float(to_env_units(action, -TORQUE, TORQUE))


def _draw_pendulum(ax: Axes, angle: float, speed: float, action: float) -> None:
    torque, t = _torque(action), math.radians(angle)
    tip = np.array([-math.sin(t), math.cos(t)])
    ax.set_axis_off()
    ax.plot([0, tip[0]], [0, tip[1]], color="#B7BEC6", lw=9, solid_capstyle="round")
    ax.plot(0, 0, "o", ms=5, mew=0, color=INK)
    # Speed: along the circle of the tip, ahead of it. Torque: around the pivot, from the rod on.
    _arc(ax, 1.22, angle, 70 * speed / SPEED, INK, 1.6)
    _arc(ax, 0.5, angle, 150 * torque / TORQUE, VERMILLION, 2.4)
    ax.set(xlim=(-1.45, 1.45), ylim=(-1.95, 1.95))
    ax.text(0, 1.9, f"torque {signed(torque, 1)} N m", color=VERMILLION, fontsize=9, ha="center")
    state = minus(f"angle {angle:g}°\nspeed {speed:g} rad/s")
    ax.text(0, -2.4, state, color=INK, fontsize=9, ha="center", linespacing=1.35)


def _arc(ax: Axes, radius: float, start: float, sweep: float, colour: str, lw: float) -> None:
    """An arrow along a circle; degrees, 0 upright, positive counter-clockwise."""
    if abs(sweep) < 3:
        return
    t = np.radians(start + np.linspace(0, sweep, 30))
    x, y = -radius * np.sin(t), radius * np.cos(t)
    ax.plot(x, y, color=colour, lw=lw, solid_capstyle="butt")
    heading = start + sweep + (90 if sweep > 0 else -90)
    ax.plot(x[-1], y[-1], marker=(3, 0, heading), ms=4 + 2.5 * lw, mew=0, color=colour)


def _draw_map(ax: Axes, values: NDArray, shows: str) -> None:
    if shows == "policy":
        colours, low, high = DIVERGING, -1.0, 1.0
        title, names = "actor:", (f"■ −{TORQUE:g}", f"■ +{TORQUE:g} N m")
        inks = colours(0.0), colours(1.0)
    else:
        colours, low, high = RISING, float(values.min()), float(values.max())
        title, names = "critic:", (f"□ {short(low)}", f"■ {short(high)}")
        inks = GREY, colours(1.0)
    for x, text, ink in zip((0.23, 0.65), names, inks, strict=True):
        ax.text(x, 1.045, text, transform=ax.transAxes, fontsize=9, color=ink)
    half = 180 / (values.shape[1] - 1), SPEED / (values.shape[0] - 1)  # of the pixel at a point
    extent = (-180 - half[0], 180 + half[0], -SPEED - half[1], SPEED + half[1])
    ax.imshow(
        values, cmap=colours, vmin=low, vmax=high, extent=extent, origin="lower", aspect="auto"
    )
    ax.grid(False)
    ax.set(xlim=(-180, 180), ylim=(-SPEED, SPEED))
    ax.set_xticks([-180, 0, 180])
    ax.set_yticks([-8, 0, 8])
    label(ax, title, "angle in degrees", "speed in rad/s", size=9.5)


def _opinion(here: dict[str, Any], spread: float) -> str:
    """Whether actor and critic agree, in one sentence."""
    best = int(np.argmax(here["q"]))
    missed = float(here["q"][best]) - here["chosen"]
    chosen, favourite = (
        signed(_torque(here["action"]), 1),
        signed(_torque(here["actions"][best]), 1),
    )
    span = float(here["q"].max() - here["q"].min())
    if span < 0.03 * spread:
        return f"Torque hardly matters here: the critic sees a difference of {short(span)} at most."
    if missed < 0.01 * span or abs(here["actions"][best] - here["action"]) < 0.03:
        return f"Actor and critic agree on torque {chosen} N m."
    return (
        f"The actor chooses torque {chosen}. "
        f"The critic likes {favourite} best: Q is {short(missed)} higher there."
    )


def q_explorer(agent: Any) -> None:
    """`plot_q` of an agent on Pendulum-v1, with sliders for the state and the step."""

    def draw(**settings: Any) -> Figure:
        return plot_q(agent, **settings)

    explore(
        draw,
        alt="The critic's Q over the action in one state of the pendulum, and the actor's choice.",
        angle=Slider(-180, 180, 25, 5, "angle (degrees)"),
        speed=Slider(-8.0, 8.0, 0.0, 0.5, "speed (rad/s)"),
        zoom=Scale((1, 2, 5, 10, 20, 50), 1, "zoom in on Q"),
        step=Slider(0.0, 1.0, 0.1, 0.05, "step size"),
        shows=Choice(MAPS, "policy", "map"),
    )


# --- Noise with a memory ----------------------------------------------------------------------

STEPS = 200  # an episode of Pendulum-v1
FRICTION = 0.1  # of the speed, lost in a step


def plot_ou(theta: float = 0.15, sigma: float = 0.2, dt: float = 1.0, seed: int = 1) -> Figure:
    """Ornstein-Uhlenbeck noise beside independent noise of the same width, and what both push.

    Left: 200 steps of `OUNoise` after a reset, and of `GaussianNoise` with the same standard
    deviation. Right: each as the force on a mass that loses a tenth of its speed in a step: the
    path of its place, and a band of one standard deviation, computed exactly. The unit is how far
    independent pushes typically carry the mass in 200 steps.

    Args:
        theta: how strongly the process is pulled back to 0.
        sigma: how strongly it is pushed about.
        dt: the time between two looks; the memory is about 1 / (theta dt) steps.
        seed: another one gives other paths, and the same bands.
    """
    if not 0 < theta * dt < 2:
        raise ValueError(f"theta * dt must lie between 0 and 2, not {theta * dt:g}: else it grows.")
    if sigma <= 0:
        raise ValueError(f"sigma must be above 0, not {sigma}.")
    rng, ou = np.random.default_rng(seed), OUNoise(sigma, theta, dt)
    correlated = np.concatenate([ou.sample((1,), rng) for _ in range(STEPS)])
    independent = GaussianNoise(ou.std).sample((STEPS,), rng)
    bands = carried(theta, sigma, dt)
    fig, (left, right) = new_figure(2, height=3.3, layout=None, width_ratios=[1.35, 1])
    margins(fig, top=TOP)
    _draw_noise(left, correlated, independent, ou)
    _draw_pushed(right, pushed(correlated), pushed(independent), *bands)
    headline(fig, _memory(theta * dt, bands))
    return fig


def pushed(force: NDArray) -> NDArray[np.float64]:
    """Where a mass at rest is after each of the pushes `force`, shape `(steps,)`."""
    speed, speeds = 0.0, []
    for push in force.tolist():
        speed = (1 - FRICTION) * speed + push
        speeds.append(speed)
    return np.cumsum(speeds)


def carried(theta: float, sigma: float, dt: float) -> tuple[NDArray, NDArray]:
    """The standard deviation of the mass's place after each step: pushed by OU, by Gaussian noise.

    The place is a sum over all pushes so far, each times what it has done since; independent
    pushes add up in squares.
    """
    response = pushed(np.eye(1, STEPS)[0])  # to a single push at the first step
    memory = (1 - theta * dt) ** np.arange(STEPS)
    chain = np.convolve(memory, response)[:STEPS]  # what one push of the OU process does over time
    white, ou = (np.sqrt(np.cumsum(r**2)) for r in (response, chain))
    return sigma * math.sqrt(dt) * ou, OUNoise(sigma, theta, dt).std * white


def _draw_noise(ax: Axes, correlated: NDArray, independent: NDArray, ou: OUNoise) -> None:
    steps = np.arange(1, STEPS + 1)
    ax.axhline(0, color=FAINT, lw=1)
    (dots,) = ax.plot(steps, independent, "o", ms=3, mew=0, color=ORANGE, label="independent")
    (line,) = ax.plot(steps, correlated, color=BLUE, lw=1.7, label="Ornstein-Uhlenbeck")
    memory = 1 / (ou.theta * ou.dt)
    reach = max(2.5, 2.5 * ou.std)
    ax.plot(
        [6, min(6 + memory, STEPS)], [-0.85 * reach] * 2, color=INK, lw=3, solid_capstyle="butt"
    )
    late = ", OU's only in the long run" if memory > STEPS / 4 else ""
    note(ax, 0.03, 0.95, f"both have std {ou.std:.2f}{late}")
    beyond = ", beyond the right edge" if 6 + memory > STEPS else ""
    note(ax, 0.03, 0.14, f"memory 1 / (θ dt) = {_steps(memory)}{beyond}")
    ax.set(xlim=(0, STEPS + 1), ylim=(-reach, reach))
    ax.set_xticks([0, 100, 200])
    if reach == 2.5:
        ax.set_yticks([-2, -1, 0, 1, 2])
    label(ax, x="step", y="added to actions in [−1, 1]")
    legend_above(ax, [line, dots])


def _steps(count: float) -> str:
    text = f"{count:,.0f}" if count >= 10 else f"{count:.2g}"
    return f"{text} step{'s' * (text != '1')}"


def _draw_pushed(ax: Axes, ou: NDArray, white: NDArray, band: NDArray, narrow: NDArray) -> None:
    steps, unit = np.arange(1, STEPS + 1), narrow[-1]
    for place, std, colour in ((ou, band, BLUE), (white, narrow, ORANGE)):
        ax.fill_between(steps, -std / unit, std / unit, color=colour, alpha=0.2, lw=0)
        ax.plot(steps, place / unit, color=colour, lw=1.7)
    ax.set(xlim=(0, STEPS + 1), ylim=(-10, 10))
    ax.set_xticks([0, 100, 200])
    ax.set_yticks([-5, 0, 5])
    note(ax, 0.03, 0.14, "bands: ± one std", GREY)
    note(ax, 0.03, 0.06, "unit: the end of the narrow one", GREY)
    label(ax, "the mass that each pushes", "step", "place", size=9.5)


def _memory(theta_dt: float, bands: tuple[NDArray, NDArray]) -> str:
    further = bands[0][-1] / bands[1][-1]
    if abs(theta_dt - 1) < 1e-9:
        return "θ dt = 1: each step undoes all of the past, and OU noise is independent noise."
    if theta_dt > 1:
        return "θ dt above 1: pulled beyond 0, the noise changes sides and takes its pushes back."
    times = f"OU noise pushes a mass {further:.1f} times as far"
    if theta_dt * STEPS < 1:
        return f"A memory longer than the episode: one long push, {further:.1f} times as far."
    return f"A memory of {_steps(1 / theta_dt)}: {times} as independent noise does."


def ou_explorer() -> None:
    """`plot_ou` with sliders for theta, sigma, dt and the seed."""
    explore(
        plot_ou,
        alt="Correlated noise wanders and carries a mass far; independent noise of the same size "
        "cancels out.",
        theta=Slider(0.05, 1.0, 0.15, 0.05, "θ (pull to 0)"),
        sigma=Slider(0.05, 0.3, 0.2, 0.05, "σ (pushes)"),
        dt=Scale((0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0), 1.0, "dt"),
        seed=Slider(0, 20, 1, 1, "seed"),
    )


# --- Target networks --------------------------------------------------------------------------

UPDATES, JUMP = 2000, 800
TAUS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def plot_tau(tau: float = 0.005, noise: float = 0.15, seed: int = 0) -> Figure:
    """One weight of an online network, and the same weight of the target network that follows it.

    Left: the online weight learns, is noisy, and jumps once; at each update the target moves a
    fraction tau towards it (`helpers.agents.ddpg.polyak_update`). A difference fades as
    (1 - tau)^updates: half of it is left after log(1/2) / log(1 - tau), about 0.69 / tau updates,
    and 37 % after about 1 / tau. Right: what a smaller tau buys and what it costs. Of independent
    noise a part sqrt(tau / (2 - tau)) passes through (standard deviations); behind a steady change
    the target stays (1 - tau) / tau updates.

    Args:
        tau: above 0, at most 1.
        noise: standard deviation of the online weight around its trend.
        seed: another one gives other noise.
    """
    if not 0 < tau <= 1:
        raise ValueError(f"tau must be above 0 and at most 1, not {tau}.")
    steps = np.arange(UPDATES + 1)
    online = trend(steps) + noise * np.random.default_rng(seed).standard_normal(UPDATES + 1)
    online[0] = 0.0
    fig, (left, right) = new_figure(2, height=3.3, layout=None, width_ratios=[1.75, 1])
    margins(fig, bottom=0.65, top=TOP)
    headline(fig, _follows(tau))
    _draw_target(left, online, follow(online, tau), tau)
    _draw_bargain(right, tau)
    return fig


def trend(steps: ArrayLike) -> NDArray[np.float64]:
    """Where the online weight is going: it learns, and at `JUMP` it leaps to where it stays."""
    steps = np.asarray(steps)
    return np.where(steps < JUMP, 1 - np.exp(-steps / 200), 1.8)


def follow(online: NDArray, tau: float) -> NDArray[np.float64]:
    """The target's path beside `online` (updates,), both starting at the same place."""
    target = [float(online[0])]
    for weight in online[1:].tolist():
        target.append(target[-1] + tau * (weight - target[-1]))
    return np.array(target)


def half_life(tau: float) -> float:
    """After how many updates half of a difference is left: log(1/2) / log(1 - tau), 0 at tau 1."""
    return math.log(0.5) / math.log1p(-tau) if tau < 1 else 0.0


def passes(tau: ArrayLike) -> NDArray[np.float64]:
    """Which part of independent noise the target shows, in standard deviations."""
    tau = np.asarray(tau, dtype=np.float64)
    return np.sqrt(tau / (2 - tau))


def _draw_target(ax: Axes, online: NDArray, target: NDArray, tau: float) -> None:
    steps = np.arange(len(online))
    (thin,) = ax.plot(steps, online, color=ORANGE, lw=0.7, alpha=0.75, label="online weight")
    (bold,) = ax.plot(steps, target, color=BLUE, lw=2, label="target weight")
    # After the jump the trend is constant, so that these two points stand on the target's own path.
    marks = ("half-life", half_life(tau), VERMILLION, 0.94), ("1 / τ", 1 / tau, PURPLE, 0.85)
    for name, after, colour, y in marks:
        x, height = JUMP + after, np.interp(JUMP + after, steps, target)
        ax.plot([x, x], [-0.5, height], color=colour, lw=1.2, ls=DASHES)
        ax.plot(x, height, "o", ms=6.5, mew=0, color=colour)
        count = f"{after:,.0f}" if after >= 10 or after == round(after) else f"{after:.1f}"
        note(ax, 0.02, y, f"{name}: {count} update{'s' * (count != '1')}", colour)
    ax.set(xlim=(0, UPDATES), ylim=(-0.5, 2.5))
    ax.set_xticks([0, JUMP, UPDATES])
    ax.set_yticks([0, 1, 2])
    label(ax, x="updates", y="weight")
    legend_above(ax, [thin, bold])


def _draw_bargain(ax: Axes, tau: float) -> None:
    exponents = np.linspace(-3, 0, 60)  # a logarithmic axis by hand: matplotlib's takes long
    ax.plot(exponents, 100 * passes(10**exponents), color=BLUE, lw=2)
    ax.plot(math.log10(tau), 100 * passes(tau), "o", ms=8, mew=0, color=VERMILLION, clip_on=False)
    ax.set(xlim=(-3, 0), ylim=(0, 104))
    ax.set_yticks([0, 50, 100])
    ax.set_xticks([-3, -2, -1, 0], ["0.001\n999", "0.01\n99", "0.1\n9", "1\n0"])
    label(ax, "noise that comes through, in %", "τ, below it the updates behind", size=9.5)


def _follows(tau: float) -> str:
    """What this target is good for, in one sentence."""
    if tau == 1:
        return "τ = 1: the target is the online weight itself. There is no target network."
    lag, part = (1 - tau) / tau, 100 * float(passes(tau))
    behind = f"{lag:,.0f} update{'s' * (round(lag) != 1)}"
    return f"τ = {tau:g}: the target is {behind} behind and lets {part:.0f} % of the noise through."


def tau_explorer() -> None:
    """`plot_tau` with a slider for tau, in steps that grow with it."""
    explore(
        plot_tau,
        alt="A noisy weight that jumps; the target weight follows it late and smoothly.",
        tau=Scale(TAUS, 0.005, "τ"),
        noise=Slider(0.0, 0.25, 0.15, 0.05, "noise"),
    )
