"""Lesson 02: what an agent thinks of the pendulum, its critic over all actions and its actor.

Blue is the critic, vermillion the actor, orange the slope, and green where a step along it leads.
"""

import math
from functools import partial
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from helpers.show.colours import BLUE, DARK, DIVERGING, GREEN, GREY, INK, ORANGE, SKY, VERMILLION
from helpers.show.figures.drawing import headline, minus, note, panels, short, signed
from helpers.show.figures.explore import Choice, Scale, Slider, explore
from helpers.show.plotting import label

TORQUE, SPEED = 2.0, 8.0  # Pendulum-v1's bounds, in N m and rad/s
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
            (B, 3) and (B, 1), as those of `helpers.algorithms.ddpg` and `helpers.agents` have.
        angle: in degrees.
        speed: angular velocity in rad/s, -8 to 8.
        step: the step size.
        zoom: of the left panel's vertical axis.
        shows: "policy" (the actor's torque in all states) or "value", Q(s, mu(s)).
    """
    policy, value, spread = _everywhere(agent)
    here = critic_at(agent, angle, speed)
    places = (0.73, 0.65, 2.57, 1.95), (3.45, 0.65, 1.45, 1.95), (5.38, 0.65, 2.0, 1.95)
    fig, axes = panels(3.2, *places)
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
    if hasattr(agent, "flat"):
        return agent.flat(obs)
    if hasattr(agent, "env"):  # as `shared.scaled_env` shows them
        obs = agent.env.env.observation(obs).astype(np.float32)
    return torch.from_numpy(obs)


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
    action, slope, above = here["action"], here["slope"], here["q"] - here["chosen"]
    low, high = -1.05 * span, 0.65 * span
    reach = 0.42 / math.hypot(1, slope / (high - low) * 2)
    ends = action + np.array([-reach, reach])
    landing = float(np.clip(action + step * slope, -1, 1))
    landed = np.interp(landing, here["actions"], above)
    ax.plot(here["actions"], above, color=BLUE, lw=2.2)
    ax.plot(ends, slope * (ends - action), color=ORANGE, lw=2)
    ax.plot(landing, landed, "o", ms=12, mew=2, mec=GREEN, color="none")
    ax.plot(action, 0, "o", ms=7.5, mew=0, color=VERMILLION)
    ax.set(xlim=(-1.08, 1.08), ylim=(low, high))
    ticks, heights = np.linspace(-1, 1, 5), np.array([-1, -0.5, 0, 0.5]) * span
    ax.set_xticks(ticks, [minus(f"{a:g}\n{TORQUE * a:g}") for a in ticks])
    ax.set_yticks(heights, [short(h) for h in heights])
    label(ax, "Q(s, a) − Q(s, μ(s))", "action a, below it the torque in N m", size=9.5)
    note(ax, 0.02, 0.95, f"Q(s, μ(s)) = {short(here['chosen'])}", BLUE)
    note(ax, 0.98, 0.95, f"∂Q/∂a {short(slope, '+')}", ORANGE, ha="right")


def _draw_pendulum(ax: Axes, angle: float, speed: float, action: float) -> None:
    torque, t = TORQUE * action, math.radians(angle)
    tip = np.array([-math.sin(t), math.cos(t)])
    ax.set_axis_off()
    ax.plot([0, tip[0]], [0, tip[1]], color="#B7BEC6", lw=9, solid_capstyle="round")
    ax.plot(0, 0, "o", ms=5, mew=0, color=INK)
    # Speed: along the circle of the tip, ahead of it. Torque: around the pivot, from the rod on.
    _arc(ax, 1.22, angle, 70 * speed / SPEED, INK, 1.6)
    _arc(ax, 0.5, angle, 150 * torque / TORQUE, VERMILLION, 2.4)
    ax.set(xlim=(-1.45, 1.45), ylim=(-1.95, 1.95))
    said = f"torque {signed(torque, 1)} N m"
    ax.text(0, 1.9, said, color=DARK[VERMILLION], fontsize=9, ha="center")
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
        inks: tuple = colours(0.0), DARK[VERMILLION]
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
    ax.set(xlim=(-180, 180), ylim=(-SPEED, SPEED), xticks=[-180, 0, 180], yticks=[-8, 0, 8])
    label(ax, title, "angle in degrees", "speed in rad/s", size=9.5)


def _opinion(here: dict[str, Any], spread: float) -> str:
    """Whether actor and critic agree, in one sentence."""
    best = int(np.argmax(here["q"]))
    missed = float(here["q"][best]) - here["chosen"]
    chosen, favourite = (signed(TORQUE * a, 1) for a in (here["action"], here["actions"][best]))
    span = float(here["q"].max() - here["q"].min())
    if span <= 0.03 * spread:
        return f"Torque hardly matters here: the critic sees a difference of {short(span)} at most."
    near = chosen == favourite or abs(here["actions"][best] - here["action"]) < 0.03
    if missed < 0.01 * span or near:
        return f"Actor and critic agree on torque {chosen} N m."
    return (
        f"The actor chooses torque {chosen}. "
        f"The critic likes {favourite} best: Q is {short(missed)} higher there."
    )


def q_explorer(agent: Any) -> None:
    """`plot_q` of an agent on Pendulum-v1, with sliders for the state and the step."""
    explore(
        partial(plot_q, agent),
        alt="The critic's Q over the action in one state of the pendulum, and the actor's choice.",
        angle=Slider(-180, 180, 140, 5, "angle (degrees)"),
        speed=Slider(-8.0, 8.0, 6.0, 0.5, "speed (rad/s)"),
        zoom=Scale((1, 2, 5, 10, 20, 50), 10, "zoom in on Q"),
        step=Slider(0.0, 1.0, 0.1, 0.05, "size of an update"),
        shows=Choice(MAPS, "policy", "map"),
    )
