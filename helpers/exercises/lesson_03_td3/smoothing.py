"""Lesson 03's smoothing: exercise 3.2 `smoothed_target_action`.

Two right versions may draw different noise, so only what all of them have in common is compared:
the actions themselves where there is no noise or all of it is clipped, otherwise which entries have
noise of their own, and the distribution of many values within three percent. Mistakes are told
apart by the same (a test repeats them with other random numbers).
"""

import random

import numpy as np
import torch

from helpers.algorithms.td3 import smoothed_target_action
from helpers.checks.exercise import Case
from helpers.exercises.observing import gradient, kind_of, values
from helpers.exercises.properties import drawn_from, no_mutation
from helpers.exercises.text import exercise
from helpers.exercises.toys import SmallActor, floats

MANY = 40_000  # rows, enough to compare distributions
NO_LIMIT = 10.0  # a noise_clip that no noise reaches
WEAK = 0.02  # a target_noise too small to reach any bound
OVERWHELMING = 1e10  # a target_noise so large that all noise is clipped
OWN = "every entry has its own"


class Endless(RuntimeError):
    """A function draws again and again."""


class Generator(np.random.Generator):
    """`np.random.default_rng(seed)`, but with an error for a loop that draws without end, or for
    more numbers at once than memory has room for.
    """

    def __init__(self, seed: int, entries: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.left = 1000 + 10 * entries

    def standard_normal(self, size=None, *args, **kwargs):
        self._count(size)
        return super().standard_normal(size, *args, **kwargs)

    def normal(self, loc=0.0, scale=1.0, size=None):
        self._count(size)
        return super().normal(loc, scale, size)

    def _count(self, size) -> None:
        if size is not None and np.prod(size, dtype=float) > 100 * MANY:
            raise Endless("so many numbers are drawn at once: is this the shape of the actions?")
        self.left -= 1
        if self.left < 0:
            raise Endless("numbers are drawn again and again for one output: does this loop end?")


def generator(seed: int, obs: torch.Tensor) -> Generator:
    """For actions in `obs` that have at most one dimension more than it."""
    return Generator(seed, entries=obs.numel() + len(obs))


def observe_smoothing(function, target_actor, next_obs, target_noise, noise_clip):
    """What does not depend on the random numbers drawn."""

    def ask(obs: torch.Tensor, std: float, seed: int, clip: float = noise_clip):
        return function(target_actor, obs, std, clip, generator(seed, obs))

    with torch.no_grad():
        plain = target_actor(next_obs).double().numpy()
    given = ask(next_obs, target_noise, 5)
    if given is None:
        return None
    action = values(given)
    seen = {"kind of the output": kind_of(given)}
    comparable = action.shape == plain.shape
    if target_noise == 0 or noise_clip == 0:
        others = [values(ask(next_obs, target_noise, seed)) for seed in range(6, 12)]
        alike = all(np.array_equal(action, other) for other in others)
        left = {"noise where none may be left": "none" if alike else "some"}
        return seen | left | {"actions": floats(action) if comparable and alike else None}
    if not comparable:
        action = np.zeros_like(plain)
    few = next_obs[:8]  # and noise so weak that nothing is cut off
    draws = [values(ask(few, WEAK, seed)) - plain[:8] for seed in range(5, 9) if comparable]
    sharing = shared(*draws) if comparable else None
    rest: dict = {}
    if target_noise == OVERWHELMING:
        rest = {"distance from the target actor's action": distances(action - plain)}
    if len(plain) == MANY:
        rest = spread_of(action - plain, action, noise_clip)
        close = values(ask(few, OVERWHELMING, 5, clip=0.01)) - plain[:8] if comparable else None
        if close is not None and shrunk(close, 0.01):
            rest |= dict.fromkeys(WIDTHS)
    if sharing != OWN:  # then the rest depends on the numbers drawn
        rest = dict.fromkeys(rest)
    rows = None
    if sharing == OWN and len(plain) != MANY:
        rows = repeated(values(ask(next_obs, WEAK, 5)) - plain)
    return seen | {"noise within the batch": sharing, "noise of the rows": rows} | rest


def shared(*draws: np.ndarray) -> str:
    """Which entries of (B, action_dim) have noise of their own; what is shared is so in all draws,
    since noise that is cut off may be the same by chance.
    """
    if not any(noise.any() for noise in draws):
        return "none"
    found = []
    if all(np.ptp(noise, axis=0).max() < 1e-5 for noise in draws):
        found.append("the same in all rows")
    if draws[0].shape[1] > 1 and all(np.ptp(noise, axis=1).max() < 1e-5 for noise in draws):
        found.append("the same in all dimensions")
    if all(not noise.any(axis=0).all() for noise in draws):
        found.append("none in one dimension")
    return ", ".join(found) or OWN


def repeated(noise: np.ndarray) -> str:
    """Whether rows of (B, action_dim) that are not cut off have the same noise as others."""
    size = np.abs(noise).round(7)
    inside = size[((size > 0) & (size < size.max(initial=0.0))).all(axis=1)]
    again = len(np.unique(inside, axis=0)) < len(inside)
    return "the same in two rows, up to the sign" if again else "another in each row"


def shrunk(noise: np.ndarray, noise_clip: float) -> bool:
    """Whether overwhelming noise stays below `noise_clip`: then several draws are averaged.

    All standard deviations would depend on how many.
    """
    size = np.abs(noise)
    return bool((size > 1e-6).any() and (size < noise_clip - 1e-6).all())


def distances(noise: np.ndarray) -> str:
    """Such as "0.25" or "0.5 or 1.5"."""
    different = sorted({rounded(size, 2) for size in np.abs(noise).ravel()})
    return " or ".join(map(str, different)) if len(different) < 4 else "many different values"


def spread_of(noise: np.ndarray, action: np.ndarray, noise_clip: float) -> dict:
    """Numbers that hardly depend on the random numbers drawn."""
    deviation, at = noise.std(axis=0), np.abs(np.abs(noise) - noise_clip) < 1e-5
    widths = (
        np.float32(deviation),
        rounded(noise.mean() / (noise.std() or 1.0)),
        shares(action, 1.0),
        shares(noise, noise_clip),
        [float(at.mean()), float((~at).mean())],
    )
    return dict(zip(WIDTHS, widths, strict=True)) | {
        "correlation between the noise of two dimensions": rounded(correlation(*noise.T)),
        "mean distance of the noise from its mean, in standard deviations": distance(noise),
    }


WIDTHS = (
    "standard deviation of the noise in each dimension",
    "mean of the noise, in standard deviations",
    "distribution of the actions: below -1, in between, above 1",
    "distribution of the noise: below `-noise_clip`, in between, above `noise_clip`",
    "distribution of the noise: at either bound, elsewhere",
)


def distance(noise: np.ndarray) -> float:
    """0.80 for Gaussian noise, 0.87 for uniform noise; the mean over the dimensions."""
    centred = noise - noise.mean(axis=0)
    deviation = centred.std(axis=0)
    return float((np.abs(centred).mean(axis=0) / np.where(deviation > 0, deviation, 1.0)).mean())


def shares(of: np.ndarray, bound: float) -> list[float]:
    """Below minus the bound, in between, above it."""
    below, above = of < -bound - 1e-5, of > bound + 1e-5
    return [float(x.mean()) for x in (below, ~below & ~above, above)]


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.corrcoef(one, other)[0, 1]) if one.std() and other.std() else 0.0


def rounded(x: float, digits: int = 1) -> float:
    return round(float(x), digits) + 0.0  # no -0.0


def smoothing_cases(rng: np.random.Generator) -> list[Case]:
    def actor(*weights: float) -> SmallActor:
        """For an observation of three ones."""
        return SmallActor(np.tile(weights, (3, 1)))

    one, two = SmallActor([[0.5]]), actor(0.25, -0.375)
    still, middle = SmallActor([[0.0]]), SmallActor([[0.0, 0.0]])
    ones, many = torch.ones(1, 1), torch.ones(MANY, 3)
    return [
        Case((one, ones, 0.0, 0.5), note="no noise: the target actor's own action"),
        Case((one, ones, 0.2, 0.0), note="a noise_clip of 0, so no noise is left"),
        Case((two, floats(rng.normal(size=(4, 3))), 0.0, 0.25), note="no noise, four rows"),
        Case((one, torch.ones(8, 1), 0.2, 0.5), note="eight rows"),
        Case((two, torch.ones(8, 3), 0.2, 0.5), note="eight rows, two action dimensions"),
        Case((still, torch.ones(30, 1), OVERWHELMING, 0.25), note="noise that is always clipped"),
        Case((one, torch.ones(30, 1), OVERWHELMING, 2.0), note="a sum that is always clipped"),
        Case(
            (one, torch.ones(30, 1), OVERWHELMING, 0.25),
            note="noise that is always clipped, an action that is not 0",
        ),
        Case(
            (one, torch.ones(30, 1), OVERWHELMING, 0.9),
            note="noise that is always clipped, a wide noise_clip",
        ),
        Case(
            (middle, torch.ones(30, 1), OVERWHELMING, 0.25),
            note="noise that is always clipped, two dimensions",
        ),
        Case((two, many, 0.04, NO_LIMIT), note="many rows, weak noise that is never clipped"),
        Case((actor(0.125, -0.125), many, 0.8, 0.5), note="many rows, noise that is often clipped"),
        Case((actor(0.5, -0.5), many, 0.3, 0.5), note="many rows, actions near their bounds"),
    ]


def drawn(function, seed: int, times: int = 1) -> list:
    """The outputs of several calls with one generator."""
    actor, rng = SmallActor([[0.2, -0.1]]), generator(seed, torch.ones(3, 1))
    return [values(function(actor, torch.ones(3, 1), 0.2, 0.5, rng)).tolist() for _ in range(times)]


def noise_for_a_batch_of_one(function, rng):
    actor, obs = SmallActor([[0.2]]), torch.ones(1, 1)
    rngs = [generator(seed, obs) for seed in range(1, 9)]
    one, *others = (values(function(actor, obs, WEAK, NO_LIMIT, rng)) for rng in rngs)
    cut_off = np.abs(one).max() >= 1  # weak noise does not get there: this is something else
    return cut_off or not all(np.array_equal(one, other) for other in others)


def shared_streams() -> tuple:
    """The state of the random streams that a whole process shares: torch's, numpy's, Python's."""
    numpys = np.random.get_state(legacy=False)["state"]  # noqa: NPY002
    state = torch.get_rng_state().numpy().tobytes()
    return state, numpys["key"].tobytes(), numpys["pos"], random.getstate()


def leaves_shared_streams_alone(function, rng):
    before = shared_streams()
    drawn(function, 1)
    return shared_streams() == before


def new_noise_at_each_call(function, rng):
    first, second = drawn(function, 3, times=2)
    return first != second


def smoothed(function) -> torch.Tensor:
    actor, obs = SmallActor([[0.5, -0.2]]), torch.ones(3, 1)
    return function(actor, obs, 0.2, 0.5, generator(0, obs))


def carries_no_gradient(function, rng):
    return not smoothed(function).requires_grad


def usable_in_a_graph(function, rng):
    weights = torch.ones(2, requires_grad=True)
    return gradient(smoothed(function).detach() @ weights, weights) is not None


def few_smoothing_cases(rng):
    return [case for case in smoothing_cases(rng) if len(case.args[1]) < MANY]


def observe_for_mutation(function, target_actor, next_obs, target_noise, noise_clip):
    function(target_actor, next_obs, target_noise, noise_clip, generator(0, next_obs))


SMOOTHED_TARGET_ACTION = exercise(
    __file__, "3.2", smoothed_target_action, smoothing_cases, observe_smoothing,
    rtol=0.03, atol=0.01,
    properties={
        **drawn_from(drawn),
        "the same noise again": new_noise_at_each_call,
        "no noise for a batch of one": noise_for_a_batch_of_one,
        "uses a shared stream": leaves_shared_streams_alone,
        "no tensor in the graph": usable_in_a_graph,
        "gradient in the actions": carries_no_gradient,
        **no_mutation(few_smoothing_cases, observe_for_mutation),
    },
)  # fmt: skip
