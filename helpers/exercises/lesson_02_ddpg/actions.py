"""Lesson 02's actions: exercises 2.10 `to_env_units` and 2.11 `OUNoise`.

Two right noises may draw their numbers in another way, so what is compared is what every right one
has in common: how much is left of a value when nothing is added to it any more, which can be said
exactly, and the spread of many values, within three percent.
"""

import numpy as np

from helpers.algorithms.shared import OUNoise
from helpers.checks.exercise import Case
from helpers.envs.units import to_env_units
from helpers.exercises.observing import values
from helpers.exercises.properties import drawn_from, no_mutation
from helpers.exercises.text import exercise


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
        Case(
            (np.array([-0.3]), np.array([-1.0]), np.array([5.0])),
            note="bounds that are not symmetric",
        ),
        Case(
            (np.array([[-1.0], [0.0], [1.0]]), *valve), note="a batch: both bounds and the middle"
        ),
        Case((car, ends[:1], ends[1:]), note="bounds that are -1 and 1 already"),
        Case((rng.uniform(-1, 1, size=3), *bounds(3)), note="three dimensions, one action"),
        Case((rng.uniform(-1, 1, size=(5, 3)), *bounds(3)), note="a batch of three dimensions"),
        Case((rng.uniform(-1, 1, size=(3, 3)), *bounds(3)), note="as many actions as dimensions"),
        Case((rng.uniform(-1, 1, size=(4, 2, 2)), *bounds(2, 2)), note="actions of shape (2, 2)"),
    ]


TO_ENV_UNITS = exercise(
    __file__, "2.10", to_env_units, unit_cases, properties=no_mutation(unit_cases)
)


MANY = 1000  # from so many values on their spread says something


def kind_of(sample) -> str:
    if isinstance(sample, float):  # numpy's own numbers are floats, too
        return "a plain number"
    return "a numpy array" if isinstance(sample, np.ndarray) else f"of type {type(sample).__name__}"


def left_of(first: np.ndarray, later: np.ndarray) -> float:
    """The factor between two samples, 0 where there is none."""
    squares = float((first * first).sum())
    return float((first * later).sum()) / squares if squares and first.shape == later.shape else 0.0


def observe_noise(function, sigma, theta, shape):
    """A first sample of a new noise; then the pushes are switched off, to see it fade."""
    noise, rng = function(sigma=sigma, theta=theta), np.random.default_rng(5)
    given = noise.sample(shape, rng)
    if given is None:
        return None
    first = values(given)
    noise.sigma = 0.0
    later = [values(noise.sample(shape, rng)) for _ in range(3)]
    seen = {
        "type and shape of a sample": f"{kind_of(given)}, {first.shape}",
        "number of different values in a sample": len(np.unique(first)),
        "share left after 1, 2, 3 samples without pushes": [left_of(first, x) for x in later],
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
        Case((0.2, 0.15, (1,)), note="one value"),
        Case((0.3, 0.4, (3,)), note="three action dimensions"),
        Case((0.5, 0.6, (2, 3)), note="two rows of three, a strong pull"),
        Case((2.0, 0.7, (40_000,)), note="many values at once"),
        Case((2.8, 0.8, (200, 150)), note="many values at once, in rows"),
    ]


def path(function, seed: int) -> list[list[float]]:
    noise, rng = function(sigma=0.3, theta=0.2), np.random.default_rng(seed)
    return [values(noise.sample((3,), rng)).tolist() for _ in range(4)]


def pushes_differ(function, rng):
    """With hardly a pull, what two steps add is not the same."""
    noise, rng = function(sigma=0.3, theta=1e-6), np.random.default_rng(3)
    seen = [values(noise.sample((3,), rng)) for _ in range(3)]
    return not np.allclose(seen[1] - seen[0], seen[2] - seen[1])


def settings_stay(function, rng):
    noise, rng = function(sigma=0.3, theta=0.2), np.random.default_rng(7)
    for _ in range(3):
        noise.sample((3,), rng)
    return (noise.sigma, noise.theta) == (0.3, 0.2)


def samples_stay(function, rng):
    noise, rng = function(sigma=0.3, theta=0.2), np.random.default_rng(4)
    samples = [noise.sample((3,), rng) for _ in range(3)]
    before = [values(sample) for sample in samples]
    noise.sample((3,), rng)
    return all(np.array_equal(a, values(b)) for a, b in zip(before, samples, strict=True))


OU_NOISE = exercise(
    __file__, "2.11", OUNoise, noise_cases, observe_noise, rtol=0.03,
    properties={
        **drawn_from(path),
        "the same push again": pushes_differ,
        "changes its settings": settings_stay,
        "earlier samples change": samples_stay,
    },
)  # fmt: skip
