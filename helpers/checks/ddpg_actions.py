"""Lesson 02's actions: exercises 2.2 `to_env_units` and 2.9 `OUNoise`.

Two right noises may draw their numbers in another way, so what is compared is what every right one
has in common: how much is left of a value when nothing is added to it any more, which can be said
exactly, and the spread of many values, within three percent.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from helpers.agents.noise import OUNoise
from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.checks.observing import no_mutation
from helpers.envs.units import to_env_units, to_scaled

# --- 2.2 to_env_units -----------------------------------------------------------------------------


def unit_cases(rng: np.random.Generator) -> list[Case]:
    def bounds(*shape: int) -> tuple[np.ndarray, np.ndarray]:
        low = rng.uniform(-3, 1, size=shape)
        return low, low + rng.uniform(0.5, 4, size=shape)

    pendulum, valve = (np.array([-2.0]), np.array([2.0])), (np.array([0.0]), np.array([10.0]))
    car = np.array([[0.4], [-0.9]], dtype=np.float32)
    ends = np.array([-1.0, 1.0], dtype=np.float32)
    return [
        Case((np.array([0.5]), *pendulum), note="Pendulum, a torque between -2 and 2"),
        Case((np.array([-0.6]), *valve), note="a valve between 0 and 10"),
        Case((np.array([-0.3]), np.array([-1.0]), np.array([5.0])), note="bounds that lie askew"),
        Case(
            (np.array([[-1.0], [0.0], [1.0]]), *valve), note="a batch: both bounds and the middle"
        ),
        Case((car, ends[:1], ends[1:]), note="bounds that are -1 and 1 already"),
        Case((rng.uniform(-1, 1, size=3), *bounds(3)), note="three dimensions, one action"),
        Case((rng.uniform(-1, 1, size=(5, 3)), *bounds(3)), note="a batch of three dimensions"),
        Case((rng.uniform(-1, 1, size=(3, 3)), *bounds(3)), note="as many actions as dimensions"),
        Case((rng.uniform(-1, 1, size=(4, 2, 2)), *bounds(2, 2)), note="actions of shape (2, 2)"),
    ]


def unit_change(action, low, high):
    """Right, but the caller's action is gone."""
    action += 1
    action *= (high - low) / 2
    action += low
    return action


def by_rows(strict: bool):
    """Walks over the first axis of all three, which is the batch's where there is one."""
    return lambda action, low, high: np.array(
        [x + (a + 1) / 2 * (y - x) for a, x, y in zip(action, low, high, strict=strict)]
    )


BY_ROWS = (
    "You walk through action and bounds together, entry by entry of the first axis. With a batch "
    "in front these are rows, not dimensions, so each row meets the bounds of one dimension, or is "
    "left out. Leave the loop away: numpy pairs the last axes up."
)

TO_ENV_UNITS = Exercise(
    id="2.2",
    lesson="02_ddpg",
    reference=to_env_units,
    card=Card(
        title="The border to the environment",
        what="Write `to_env_units(action, low, high)`: translate actions from [-1, 1] to the units "
        "of the environment, in a straight line, so that -1 becomes `low` and 1 becomes `high`. "
        "`low` and `high` have the shape of one action, each dimension its own bounds; `action` "
        "may have a batch in front.",
        why="Pendulum's bounds are -2 and 2, where nearly any mistake goes unnoticed. The next "
        "environment has a valve from 0 to 10, and whoever forgets to shift by 1 never opens it "
        "more than half.",
        difficulty=1,
        minutes=5,
    ),
    hints=(
        "How far along its way from -1 to 1 is an action, as a number between 0 and 1? Try it with "
        "-1, 0 and 1. And then: what lies that far along the way from `low` to `high`?",
        "Shift by 1 and halve: that is the fraction. Begin at `low` and add this fraction of the "
        "whole range, `high - low`. numpy does it for all dimensions at once.",
    ),
    cases=unit_cases,
    misconceptions=[
        Misconception(
            "times high",
            lambda action, low, high: action * high,
            "You multiplied by `high`. That is right as long as `low` is minus `high`; with bounds "
            "from 0 to 10 half of your actions would be negative. `low` has to have its say.",
        ),
        Misconception(
            "times high, then clipped",
            lambda action, low, high: np.clip(action * high, low, high),
            "You multiplied by `high` and cut off the rest. That is right as long as `low` is "
            "minus `high`; a valve from 0 to 10 would stay shut for half of your actions. Stretch "
            "[-1, 1] to the whole range instead.",
        ),
        Misconception(
            "times the larger bound",
            lambda action, low, high: action * np.maximum(np.abs(low), np.abs(high)),
            "You multiplied by the larger of the two bounds. That is right only where they lie "
            "evenly around 0: -1 should become `low`, and 1 `high`.",
        ),
        Misconception(
            "times half the range",
            lambda action, low, high: action * (high - low) / 2,
            "The width is right, but the middle is not: an action of 0 has to become the middle "
            "between `low` and `high`, which need not be 0.",
        ),
        Misconception(
            "times the range",
            lambda action, low, high: action * (high - low),
            "You multiplied by `high - low`. The step from -1 to 1 has length 2, so that is twice "
            "too wide, and the middle between `low` and `high` is missing.",
        ),
        Misconception(
            "not shifted",
            lambda action, low, high: low + action * (high - low),
            "You took the action itself as the fraction of the way, but it runs from -1 to 1, and "
            "a fraction from 0 to 1: shift by 1 and halve first.",
        ),
        Misconception(
            "shifted the wrong way",
            lambda action, low, high: low + (action - 1) / 2 * (high - low),
            "You subtracted 1, so your fraction runs from -1 to 0 and all actions end up below "
            "`low`. Add 1: -1 has to become 0.",
        ),
        Misconception(
            "from high on",
            lambda action, low, high: high + (action + 1) / 2 * (high - low),
            "You begin at `high` and go up from there, beyond the bounds. The way begins at `low`.",
        ),
        Misconception(
            "moved, not stretched",
            lambda action, low, high: (low + high) / 2 + action,
            "You moved the action to the middle of the range, but it still reaches only 1 to "
            "either side: stretch it by half the range.",
        ),
        Misconception(
            "halved but not shifted",
            lambda action, low, high: low + action / 2 * (high - low),
            "You halved the action but did not shift it by 1 first: your fraction runs from -0.5 "
            "to 0.5, so half of the actions end up below `low`.",
        ),
        Misconception(
            "shifted but not halved",
            lambda action, low, high: low + (action + 1) * (high - low),
            "You shifted by 1 but did not halve: your fraction runs from 0 to 2, so an action of 1 "
            "ends up far above `high`.",
        ),
        Misconception(
            "the whole range to either side of the middle",
            lambda action, low, high: (low + high) / 2 + action * (high - low),
            "0 becomes the middle, which is right, but from there it is only half the range to "
            "either bound. In case you wrote `action + 1 / 2`: division comes before addition, so "
            "put the sum in brackets.",
        ),
        Misconception(
            "fraction of high",
            lambda action, low, high: (action + 1) / 2 * high,
            "Your fraction is right, but you took it of `high`, as if the way began at 0. It "
            "begins at `low`.",
        ),
        Misconception(
            "from low on by a fraction of high",
            lambda action, low, high: low + (action + 1) / 2 * high,
            "You begin at `low`, but the way from there to `high` is `high - low` long, not "
            "`high`.",
        ),
        Misconception(
            "from low on by a fraction of the sum",
            lambda action, low, high: low + (action + 1) / 2 * (high + low),
            "You added the bounds where their difference is meant: the way from `low` to `high` is "
            "`high - low` long. With bounds of -2 and 2 the sum is 0, and every action would "
            "become -2.",
        ),
        Misconception(
            "low not added",
            lambda action, low, high: (action + 1) / 2 * (high - low),
            "Fraction and range are right, but the way begins at `low`: add it.",
        ),
        Misconception(
            "middle and half range exchanged",
            lambda action, low, high: (high - low) / 2 + action * (high + low) / 2,
            "The sum and the difference of the bounds have changed places: the middle is half "
            "their sum, and the way from there to a bound half their difference.",
        ),
        Misconception(
            "the middle with the wrong sign",
            lambda action, low, high: (high - low) / 2 * (action + 1) - low,
            "You subtracted `low`, but the way begins there: add it. With a negative `low` that "
            "already points the right way.",
        ),
        Misconception(
            "bounds exchanged",
            lambda action, low, high: high + (action + 1) / 2 * (low - high),
            "-1 becomes `high` and 1 becomes `low` in your version: every action would do the "
            "opposite. The way begins at `low`.",
        ),
        Misconception(
            "the other direction",
            to_scaled,
            "This is the way back, from the environment's units to [-1, 1]. Here the actor's "
            "numbers come in, and the environment's go out.",
        ),
        Misconception(
            "clipped, not scaled",
            lambda action, low, high: np.clip(action, low, high),
            "You cut actions off at the bounds. Numbers in [-1, 1] are no torques yet: they have "
            "to be stretched, or the outer part of a wide range is never used.",
        ),
        Misconception(
            "as it came",
            lambda action, low, high: action,
            "You return the action as it came. It is still in [-1, 1]: stretch that to the range "
            "from `low` to `high`.",
        ),
        Misconception(
            "a tanh first",
            lambda action, low, high: low + (np.tanh(action) + 1) / 2 * (high - low),
            "You put a tanh on the action, which has been through one in the actor: the bounds "
            "could not be reached any more.",
        ),
        Misconception(
            "bounds of the first dimension for all",
            lambda action, low, high: low[0] + (action + 1) / 2 * (high[0] - low[0]),
            "You used the bounds of the first dimension for all. That goes unnoticed with "
            "Pendulum's single torque; each dimension has its own, and numpy pairs them up.",
        ),
        Misconception(
            "the widest bounds for all",
            lambda action, low, high: low.min() + (action + 1) / 2 * (high.max() - low.min()),
            "You used the smallest `low` and the largest `high` for all dimensions. Each has its "
            "own bounds, and numpy pairs them up without `min` and `max`.",
        ),
        Misconception("bounds for rows", by_rows(strict=False), BY_ROWS),
        Misconception("bounds for rows, of equal number", by_rows(strict=True), BY_ROWS),
        Misconception(
            "only the first dimension",
            lambda action, low, high: to_env_units(action, low, high)[..., 0],
            "You return the first dimension only. Pendulum has no more than one, but a robot has "
            "one for each joint: the output has the shape of `action`.",
        ),
        Misconception(
            "whole numbers",
            lambda action, low, high: low + (action + 1) // 2 * (high - low),
            "`//` rounds down, so every action but 1 becomes `low`. Halve with `/`.",
        ),
        Misconception(
            "in place",
            unit_change,
            "The numbers are right, but you changed what you were given (`+=`, `*=`): the agent "
            "stores the action in [-1, 1] after this, and would find the environment's units in "
            "it. Build a new array.",
        ),
    ],
    properties=[no_mutation(unit_cases)],
)


# --- 2.9 OUNoise ----------------------------------------------------------------------------------

MANY = 1000  # from so many values on their spread says something


def kind_of(sample) -> str:
    return "a numpy array" if isinstance(sample, np.ndarray) else f"of type {type(sample).__name__}"


def values(sample) -> np.ndarray:
    """A copy, whatever it was given as."""
    if isinstance(sample, torch.Tensor):
        sample = sample.detach().numpy()
    return np.array(sample, dtype=float)


def left_of(first: np.ndarray, later: np.ndarray) -> float:
    """The factor between two samples, 0 where there is none."""
    squares = float((first * first).sum())
    return float((first * later).sum()) / squares if squares and first.shape == later.shape else 0.0


def observe_noise(function, sigma, theta, dt, shape):
    """A first sample of a new noise; then the pushes are switched off, to see it fade."""
    noise, rng = function(sigma=sigma, theta=theta, dt=dt), np.random.default_rng(5)
    given = noise.sample(shape, rng)
    if given is None:
        return None
    first = values(given)
    noise.sigma = 0.0
    later = [values(noise.sample(shape, rng)) for _ in range(3)]
    noise.reset()
    afterwards = values(noise.sample(shape, rng))
    seen = {
        "type and shape of a sample": f"{kind_of(given)}, {first.shape}",
        "number of different values": len(np.unique(first)),
        "share left after 1, 2, 3 steps without pushes": [left_of(first, x) for x in later],
        "share left after a reset": left_of(first, afterwards),
    }
    if first.size >= MANY:
        spread = first.std()
        seen |= {
            "standard deviation of the first push": spread,
            "mean of the first push, in standard deviations": round(first.mean() / spread, 1)
            if spread
            else 0.0,
            "share of pushes within one standard deviation": round(
                float((np.abs(first - first.mean()) < spread).mean()), 1
            ),
        }
    return seen


def noise_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case((0.2, 0.15, 1.0, (1,)), note="one value"),
        Case((0.3, 0.4, 0.25, (3,)), note="three action dimensions, short steps in time"),
        Case((0.5, 0.5, 1.0, (2, 3)), note="two rows of three, a strong pull"),
        Case((2.0, 0.6, 1.0, (40_000,)), note="many values at once"),
        Case((2.8, 0.5, 0.25, (200, 200)), note="many values at once, short steps in time"),
    ]


def path(function, seed: int) -> list[list[float]]:
    noise, rng = function(sigma=0.3, theta=0.2, dt=0.5), np.random.default_rng(seed)
    return [values(noise.sample((3,), rng)).tolist() for _ in range(4)]


def follows_the_generator(function, rng):
    return path(function, 1) == path(function, 1)


def another_seed_another_path(function, rng):
    return path(function, 1) != path(function, 2)


def pushes_differ(function, rng):
    """Without a pull, what two steps add is not the same."""
    noise, rng = function(sigma=0.3, theta=0.0, dt=1.0), np.random.default_rng(3)
    seen = [values(noise.sample((3,), rng)) for _ in range(3)]
    return not np.allclose(seen[1] - seen[0], seen[2] - seen[1])


def samples_stay(function, rng):
    noise, rng = function(sigma=0.3, theta=0.2, dt=1.0), np.random.default_rng(4)
    samples = [noise.sample((3,), rng) for _ in range(3)]
    before = [values(sample) for sample in samples]
    noise.sample((3,), rng)
    noise.reset()
    return all(np.array_equal(a, values(b)) for a, b in zip(before, samples, strict=True))


class Parts(OUNoise):
    """The course's noise in parts, so that wrong versions can replace one of them."""

    def pull(self):
        return -self.theta * self.value * self.dt

    def push(self, shape, rng):
        return self.sigma * math.sqrt(self.dt) * self.draw(shape, rng)

    def draw(self, shape, rng):
        return rng.standard_normal(shape)

    def sample(self, shape, rng):
        self.value = self.value + self.pull() + self.push(shape, rng)
        return self.value


def noise_with(**methods) -> type[Parts]:
    """A wrong version: some parts replaced."""
    return type("OUNoise", (Parts,), methods)


def gives_the_old_value(self, shape, rng):
    old = self.value
    self.value = old + self.pull() + self.push(shape, rng)
    return old


def remembers_the_push_only(self, shape, rng):
    self.value = self.value + self.push(shape, rng)
    return self.value + self.pull()


def gives_the_step(self, shape, rng):
    step = self.pull() + self.push(shape, rng)
    self.value = self.value + step
    return step


def remembers_the_step(self, shape, rng):
    self.value = self.pull() + self.push(shape, rng)
    return self.value


def pulls_after_the_push(self, shape, rng):
    self.value = (self.value + self.push(shape, rng)) * (1 - self.theta * self.dt)
    return self.value


def in_place(self, shape, rng):
    if np.shape(self.value) != tuple(shape):
        self.value = np.full(shape, self.value)
    self.value += self.pull() + self.push(shape, rng)
    return self.value


def exact(self, shape, rng):
    keep = math.exp(-self.theta * self.dt)
    spread = self.dt if self.theta == 0 else (1 - keep**2) / (2 * self.theta)
    self.value = keep * self.value + self.sigma * math.sqrt(spread) * self.draw(shape, rng)
    return self.value


def clips(self, shape, rng):
    self.value = np.clip(self.value + self.pull() + self.push(shape, rng), -1, 1)
    return self.value


def clips_on_the_way_out(self, shape, rng):
    self.value = self.value + self.pull() + self.push(shape, rng)
    return np.clip(self.value, -1, 1)


NEVER_NEGATIVE = (
    "Your pushes are never negative: uniform numbers between 0 and 1 have mean 0.5, so the noise "
    "drifts off to one side. The pushes are Gaussian, with mean 0: `rng.standard_normal`."
)
NO_MEMORY = (
    "Nothing is left of one sample in the next, so this is white noise and its pushes cancel each "
    "other. Write the new value into `self.value`, and begin the next step from there."
)
CLIPPED = (
    "You clip the noise to [-1, 1]. What is clipped is the action with the noise added to it, and "
    "the agent does that; the process itself knows no bounds."
)

AS_THE_MEAN = (
    "The first number that `rng.normal` takes is the mean, and the standard deviation comes "
    "second. So your pushes all lean to one side, and they stay 1 wide whatever `sigma` is: the "
    "mean is 0, or write `scale=` before the number."
)

OU_NOISE = Exercise(
    id="2.9",
    lesson="02_ddpg",
    reference=OUNoise,
    card=Card(
        title="Noise with a memory",
        what="Write the two methods of `OUNoise`: `reset()` puts the process back to 0, and "
        r"`sample(shape, rng)` takes one step, $x \leftarrow x - \theta x\,\Delta t + "
        r"\sigma\sqrt{\Delta t}\,\varepsilon$, and returns the new value. Every entry is a process "
        "of its own; the random numbers come from `rng`.",
        why="A car that needs a run-up is not found out about by trembling. Many copies of this "
        "noise push one way only, forget the root of the time step, or carry the end of one "
        "episode into the next.",
        difficulty=2,
        minutes=10,
    ),
    hints=(
        "The process is a random walk on a rubber band: where it goes depends on where it is, so "
        "something has to be remembered between two calls. What makes the pull, what makes the "
        "push, and which of the two is random?",
        "The pull is `self.value` times `-theta` times `dt`. The push is `sigma` times the root of "
        "`dt`, times standard normal numbers of the asked shape. Store value plus pull plus push "
        "in `self.value` as a new array, and return it.",
    ),
    cases=noise_cases,
    observe=observe_noise,
    rtol=0.03,
    misconceptions=[
        Misconception(
            "pushes never negative",
            noise_with(draw=lambda self, shape, rng: rng.random(shape)),
            NEVER_NEGATIVE,
        ),
        Misconception(
            "pushes without sign",
            noise_with(draw=lambda self, shape, rng: np.abs(rng.standard_normal(shape))),
            "Your pushes have lost their sign, so the noise drifts off to one side. Gaussian "
            "numbers fall on both sides of 0, and that is meant.",
        ),
        Misconception(
            "uniform pushes",
            noise_with(draw=lambda self, shape, rng: rng.uniform(-1, 1, shape)),
            "Your pushes are uniform between -1 and 1, which is a standard deviation of 0.58 and "
            "not of 1. The process is made of Gaussian pushes: `rng.standard_normal`.",
        ),
        Misconception(
            "dt without its root",
            noise_with(push=lambda self, shape, rng: self.sigma * self.dt * self.draw(shape, rng)),
            "You multiplied the push by `dt`. Variances add up over time, and the standard "
            "deviation is their root: with `dt` itself, the noise would fade away as time steps "
            "get shorter.",
        ),
        Misconception(
            "push without dt",
            noise_with(push=lambda self, shape, rng: self.sigma * self.draw(shape, rng)),
            "Your push does not depend on `dt`: with four times as many steps in the same time, "
            "there would be twice as much noise. Multiply by the root of `dt`.",
        ),
        Misconception(
            "pull without dt",
            noise_with(pull=lambda self: -self.theta * self.value),
            "Your pull does not depend on `dt`: with shorter time steps the process would forget "
            "faster. It pulls by `theta` per unit of time, so multiply by `dt`.",
        ),
        Misconception(
            "dt nowhere",
            noise_with(
                pull=lambda self: -self.theta * self.value,
                push=lambda self, shape, rng: self.sigma * self.draw(shape, rng),
            ),
            "`dt` is nowhere in your step. The pull grows with the time that passes, `dt`, and the "
            "push with its root.",
        ),
        Misconception(
            "the root of dt for both",
            noise_with(pull=lambda self: -self.theta * self.value * math.sqrt(self.dt)),
            "You took the root of `dt` for the pull as well. The pull is no random thing: it grows "
            "with the time itself. The root belongs to the push, whose variances add up.",
        ),
        Misconception(
            "sigma squared",
            noise_with(
                push=lambda self, shape, rng: (
                    self.sigma**2 * math.sqrt(self.dt) * self.draw(shape, rng)
                )
            ),
            "You multiplied by `sigma` squared. `sigma` is a standard deviation: it stretches the "
            "normal numbers as it is.",
        ),
        Misconception(
            "a variance in place of a standard deviation",
            noise_with(
                push=lambda self, shape, rng: self.sigma**2 * self.dt * self.draw(shape, rng)
            ),
            "You stretch the pushes by `sigma` squared times `dt`, which is their variance. "
            "`rng.normal` and a product with normal numbers both want the standard deviation, its "
            "root.",
        ),
        Misconception(
            "a standard deviation given as the mean",
            noise_with(
                push=lambda self, shape, rng: rng.normal(
                    self.sigma * math.sqrt(self.dt), size=shape
                )
            ),
            AS_THE_MEAN,
        ),
        Misconception(
            "sigma given as the mean",
            noise_with(
                push=lambda self, shape, rng: (
                    math.sqrt(self.dt) * rng.normal(self.sigma, size=shape)
                )
            ),
            AS_THE_MEAN,
        ),
        Misconception(
            "theta before the push as well",
            noise_with(
                push=lambda self, shape, rng: (
                    self.theta * self.sigma * math.sqrt(self.dt) * self.draw(shape, rng)
                )
            ),
            "`theta` multiplies the push as well, by brackets that reach too far. It belongs to "
            "the pull only.",
        ),
        Misconception(
            "sigma taken for a variance",
            noise_with(
                push=lambda self, shape, rng: (
                    math.sqrt(self.sigma * self.dt) * self.draw(shape, rng)
                )
            ),
            "You took the root of `sigma`, as if it were a variance. It is a standard deviation; "
            "only `dt` stands under the root.",
        ),
        Misconception(
            "sigma missing",
            noise_with(
                push=lambda self, shape, rng: math.sqrt(self.dt) * self.draw(shape, rng),
            ),
            "`sigma` is missing: it says how strong the pushes are.",
        ),
        Misconception(
            "no pushes",
            noise_with(push=lambda self, shape, rng: np.zeros(shape)),
            "There are no pushes in your process, so it stays at 0 for ever. Add `sigma` times the "
            "root of `dt` times standard normal numbers.",
        ),
        Misconception(
            "no pull",
            noise_with(pull=lambda self: 0.0),
            "Nothing pulls your process back, so it is a random walk that wanders off for good. "
            "Take off `theta` times the value, times `dt`.",
        ),
        Misconception(
            "pulled away from 0",
            noise_with(pull=lambda self: self.theta * self.value * self.dt),
            "Your pull points away from 0, so the process runs off faster and faster. Above 0 it "
            "has to pull down, below 0 up: a minus.",
        ),
        Misconception(
            "theta missing",
            noise_with(pull=lambda self: -self.value * self.dt),
            "`theta` is missing in the pull: it says how strong the rubber band is, and so how "
            "long the memory lasts.",
        ),
        Misconception(
            "the same pull wherever it is",
            noise_with(pull=lambda self: -self.theta * np.sign(self.value) * self.dt),
            "Your pull is the same wherever the process is. A rubber band pulls in proportion to "
            "the distance: `theta` times the value.",
        ),
        Misconception(
            "no memory",
            noise_with(sample=lambda self, shape, rng: 0.0 + self.pull() + self.push(shape, rng)),
            NO_MEMORY,
        ),
        Misconception(
            "no memory and no dt",
            noise_with(sample=lambda self, shape, rng: self.sigma * self.draw(shape, rng)),
            NO_MEMORY,
        ),
        Misconception(
            "the step remembered, not the value",
            noise_with(sample=remembers_the_step),
            "You store the step, pull and push, in place of the value. The step has to be added to "
            "where the process was.",
        ),
        Misconception(
            "the step returned, not the value",
            noise_with(sample=gives_the_step),
            "You return the step, and not where it leads to. The steps are nearly independent of "
            "each other; it is the value that stays on one side for a while.",
        ),
        Misconception(
            "the pull is not remembered",
            noise_with(sample=remembers_the_push_only),
            "You remember the pushes, but not the pull: it is taken off what you return and then "
            "forgotten, so the process itself wanders off. Store what you return.",
        ),
        Misconception(
            "one step late",
            noise_with(sample=gives_the_old_value),
            "You return the value from before the step, so the very first sample is a plain 0. "
            "Take the step first, and return where it leads to.",
        ),
        Misconception(
            "pulled after the push",
            noise_with(sample=pulls_after_the_push),
            "You pushed first and pulled afterwards, so each push is weakened right away. Both are "
            "worked out from where the process was before.",
        ),
        Misconception(
            "the exact solution",
            noise_with(sample=exact),
            "You let the process fade by the exponential of `-theta * dt`, which is its exact "
            "solution, and better for long steps. Here the simple step is asked for, value plus "
            "pull plus push, as most code and the property `std` have it.",
        ),
        Misconception("clipped", noise_with(sample=clips), CLIPPED),
        Misconception("clipped on the way out", noise_with(sample=clips_on_the_way_out), CLIPPED),
        Misconception(
            "reset does nothing",
            noise_with(reset=lambda self: None),
            "After a `reset` your process goes on where it was, so that the end of one episode "
            "leans into the next. Put `self.value` back to 0, with `self.` before it: a `value` "
            "without is forgotten when the method ends.",
        ),
        Misconception(
            "one number for all entries",
            noise_with(draw=lambda self, shape, rng: np.full(shape, rng.standard_normal())),
            "All entries get the same push. Every entry is a process of its own, or all joints of "
            "a robot would twitch together: draw as many numbers as the shape has.",
        ),
        Misconception(
            "shape ignored",
            noise_with(draw=lambda self, shape, rng: rng.standard_normal()),
            "You draw a single number whatever `shape` is. Every entry is a process of its own: "
            "hand `shape` to the generator.",
        ),
        Misconception(
            "only the first axis",
            noise_with(draw=lambda self, shape, rng: rng.standard_normal(shape[0])),
            "You draw as many numbers as the first axis has. The shape may have several axes, such "
            "as rows and action dimensions: hand all of `shape` to the generator.",
        ),
        Misconception(
            "only the last axis",
            noise_with(draw=lambda self, shape, rng: rng.standard_normal(shape[-1])),
            "You draw as many numbers as the last axis has. The shape may have several axes: hand "
            "all of `shape` to the generator.",
        ),
        Misconception(
            "the same noise in every row",
            noise_with(
                draw=lambda self, shape, rng: np.broadcast_to(rng.standard_normal(shape[-1]), shape)
            ),
            "All rows get the same pushes. Every entry is a process of its own: hand all of "
            "`shape` to the generator.",
        ),
        Misconception(
            "a torch tensor",
            noise_with(
                sample=lambda self, shape, rng: torch.as_tensor(Parts.sample(self, shape, rng))
            ),
            "You return a torch tensor. The noise is added to actions that are numpy arrays on "
            "their way to the environment: stay in numpy.",
        ),
        Misconception(
            "random numbers of its own",
            noise_with(draw=lambda self, shape, rng: np.random.standard_normal(shape)),  # noqa: NPY002
            "Your pushes do not come from `rng`, but from a random stream that the whole process "
            "shares (`np.random`, `random` or `torch`). Then no run can be repeated: draw from the "
            "generator that you are given.",
        ),
        Misconception(
            "a new generator for every sample",
            noise_with(
                draw=lambda self, shape, rng: np.random.default_rng(0).standard_normal(shape)
            ),
            "You make a generator anew for every sample, with a fixed seed, so every push is the "
            "same one again. Draw from `rng`, which moves on by itself.",
        ),
        Misconception(
            "one array for all samples",
            noise_with(sample=in_place),
            "The numbers are right, but you change the array that you returned before (`+=`), so "
            "all samples that somebody kept become the newest one. Make a new array: "
            "`self.value = self.value + ...`.",
        ),
    ],
    properties=[
        Property(
            "does not draw from rng",
            follows_the_generator,
            "Two generators with the same seed give different noise: some of your random numbers "
            "come from elsewhere. Draw them all from `rng`.",
        ),
        Property(
            "the same from every seed",
            another_seed_another_path,
            "Two generators with different seeds give the same noise: draw from `rng`, which is "
            "handed to you.",
        ),
        Property(
            "the same push again",
            pushes_differ,
            "Every step makes the same push again: draw new numbers from `rng` each time.",
        ),
        Property(
            "earlier samples change",
            samples_stay,
            "The numbers are right, but a sample that was given out changes when the next one is "
            "drawn: they share one array. Make a new array at every step.",
        ),
    ],
)
