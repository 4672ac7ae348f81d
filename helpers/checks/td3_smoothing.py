"""Lesson 03's smoothing: exercise 3.5 `smoothed_target_action`.

Two right ways to smooth may draw their noise in another way. So what is compared is what every
right one has in common: where there is nothing to draw, or so much that all of it is cut off, the
numbers themselves, and else who has noise of its own and the spread of many values, within three
percent. Wrong ones are told apart by the same, whatever they draw (a test draws otherwise).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import torch

from helpers.agents.td3 import smoothed_target_action
from helpers.checks.ddpg_losses import INFERENCE, NO_TENSOR, SmallActor, floats
from helpers.checks.exercise import Card, Case, Exercise, Misconception, Property
from helpers.checks.observing import ANOTHER, gradient, no_mutation

MANY = 40_000  # rows; from so many on their spread says something
NO_LIMIT = 10.0  # a noise_clip that nothing reaches
WEAK = 0.02  # a target_noise that reaches no bound
OVERWHELMING = 1e10  # a target_noise that reaches any noise_clip
OWN = "every entry has its own"


class Endless(RuntimeError):
    """Somebody draws again and again."""


class Generator(np.random.Generator):
    """`np.random.default_rng(seed)`, but whoever draws without end for one output is stopped."""

    def __init__(self, seed: int, entries: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.left = 1000 + 10 * entries

    def standard_normal(self, *args, **kwargs):
        self._count()
        return super().standard_normal(*args, **kwargs)

    def normal(self, *args, **kwargs):
        self._count()
        return super().normal(*args, **kwargs)

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Endless("numbers are drawn again and again for one output: does this loop end?")


def generator(seed: int, obs: torch.Tensor) -> Generator:
    """For actions in `obs`, of which no row has more numbers than one of `obs` and one."""
    return Generator(seed, entries=obs.numel() + len(obs))


def observe_smoothing(function, target_actor, next_obs, target_noise, noise_clip):
    """What every right version has in common, and every wrong one of a kind, whatever it draws."""

    def ask(obs: torch.Tensor, std: float, seed: int, clip: float = noise_clip):
        return function(target_actor, obs, std, clip, generator(seed, obs))

    with torch.no_grad():
        plain = target_actor(next_obs).double().numpy()
    given = ask(next_obs, target_noise, 5)
    if given is None:
        return None
    action = values(given)
    seen = {"type of the output": kind_of(given), "shape of the output": f"{action.shape}"}
    comparable = action.shape == plain.shape
    if target_noise == 0 or noise_clip == 0:
        others = [values(ask(next_obs, target_noise, seed)) for seed in range(6, 12)]
        alike = all(np.array_equal(action, other) for other in others)
        actions = floats(action) if alike else ANOTHER
        return seen | {"actions": actions if comparable else None}
    if not comparable:
        action = np.zeros_like(plain)
    few = next_obs[:8]  # and noise so weak that nothing is cut off
    sharing = shared(values(ask(few, WEAK, 5)) - plain[:8]) if comparable else None
    rest: dict = {}
    if target_noise == OVERWHELMING:
        rest = {"distance from the actor's action": distances(action - plain)}
    if len(plain) == MANY:
        rest = spread_of(action - plain, action, noise_clip)
        close = values(ask(few, OVERWHELMING, 5, clip=0.01)) - plain[:8] if comparable else None
        if comparable and shrunk(close, 0.01):
            rest |= dict.fromkeys(WIDTHS)
    if sharing != OWN:  # then all else is a matter of chance
        rest = dict.fromkeys(rest)
    return seen | {"noise of a batch": sharing} | rest


def shared(noise: np.ndarray) -> str:
    """Who has noise of its own, (B, action_dim)."""
    if not noise.any():
        return "there is none"
    found = []
    if np.ptp(noise, axis=0).max() < 1e-5:
        found.append("all rows have the same")
    if noise.shape[1] > 1 and np.ptp(noise, axis=1).max() < 1e-5:
        found.append("all dimensions have the same")
    if not noise.any(axis=0).all():
        found.append("a dimension has none")
    return ", ".join(found) or OWN


def shrunk(noise: np.ndarray, noise_clip: float) -> bool:
    """Whether all of an overwhelming noise ends short of `noise_clip`, as a mean of draws does.

    How many were drawn would decide about all widths.
    """
    size = np.abs(noise)
    return bool((size > 1e-6).any() and (size < noise_clip - 1e-6).all())


def distances(noise: np.ndarray) -> str:
    """As "0.25", or "0.5 or 1.5"."""
    different = sorted({rounded(size, 2) for size in np.abs(noise).ravel()})
    return " or ".join(map(str, different)) if len(different) < 4 else "many different ones"


def spread_of(noise: np.ndarray, action: np.ndarray, noise_clip: float) -> dict:
    """Numbers that hold within a few percent whatever was drawn, or rounded ones."""
    deviation, at = noise.std(axis=0), np.abs(np.abs(noise) - noise_clip) < 1e-5
    widths = (
        np.float32(deviation),
        rounded(noise.mean() / (noise.std() or 1.0)),
        shares(action, 1.0),
        shares(noise, noise_clip),
        [float(at.mean()), float((~at).mean())],
    )
    return dict(zip(WIDTHS, widths, strict=True)) | {
        "correlation of two dimensions' noise": rounded(correlation(*noise.T)),
        "mean distance of the noise from its mean, in standard deviations": distance(noise),
    }


WIDTHS = (
    "standard deviation of the noise in each dimension",
    "mean of the noise, in standard deviations",
    "list of shares: actions below -1, in between, above 1",
    "list of shares: noises below -noise_clip, in between, above",
    "list of shares: noises at noise_clip, others",
)


def distance(noise: np.ndarray) -> float:
    """0.80 where it is Gaussian, 0.87 where it is uniform, in whatever dimension."""
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


def values(given) -> np.ndarray:
    if isinstance(given, torch.Tensor):
        given = given.detach().numpy()
    return np.array(given, dtype=float)


def kind_of(given) -> str:
    kind = "tensor" if isinstance(given, torch.Tensor) else type(given).__name__
    return f"{kind} {str(getattr(given, 'dtype', '')).removeprefix('torch.')}".strip()


def smoothing_cases(rng: np.random.Generator) -> list[Case]:
    def actor(*weights: float) -> SmallActor:
        """For an observation of three ones."""
        return SmallActor(np.tile(weights, (3, 1)))

    one, two = SmallActor([[0.5]]), actor(0.25, -0.375)
    still, middle = SmallActor([[0.0]]), SmallActor([[0.0, 0.0]])
    ones, many = torch.ones(1, 1), torch.ones(MANY, 3)
    return [
        Case((one, ones, 0.0, 0.5), note="no noise: what the target actor itself does"),
        Case((one, ones, 0.2, 0.0), note="a noise_clip of 0, which cuts all noise off"),
        Case((two, floats(rng.normal(size=(4, 3))), 0.0, 0.25), note="no noise, four rows"),
        Case((one, torch.ones(8, 1), 0.2, 0.5), note="eight rows"),
        Case((two, torch.ones(8, 3), 0.2, 0.5), note="eight rows, two action dimensions"),
        Case((still, torch.ones(30, 1), OVERWHELMING, 0.25), note="noise that is always cut off"),
        Case((still, torch.ones(30, 1), OVERWHELMING, 2.0), note="always out of the bounds"),
        Case((one, torch.ones(30, 1), OVERWHELMING, 0.25), note="always cut off, off the middle"),
        Case((one, torch.ones(30, 1), OVERWHELMING, 0.9), note="always cut off, a wide noise_clip"),
        Case((middle, torch.ones(30, 1), OVERWHELMING, 0.25), note="all cut off, two dimensions"),
        Case((two, many, 0.04, NO_LIMIT), note="many rows, weak noise that is never cut off"),
        Case((actor(0.125, -0.125), many, 0.8, 0.5), note="many rows, noise that is often cut off"),
        Case((actor(0.5, -0.5), many, 0.3, 0.5), note="many rows, actions near their bounds"),
    ]


def drawn(function, seed: int, times: int = 1) -> list:
    """What comes out when one generator is used several times."""
    actor, rng = SmallActor([[0.2, -0.1]]), generator(seed, torch.ones(3, 1))
    return [values(function(actor, torch.ones(3, 1), 0.2, 0.5, rng)).tolist() for _ in range(times)]


def noise_for_a_batch_of_one(function, rng):
    actor, obs = SmallActor([[0.2]]), torch.ones(1, 1)
    rngs = generator(1, obs), generator(2, obs)
    one, other = (values(function(actor, obs, WEAK, NO_LIMIT, rng)) for rng in rngs)
    return not np.array_equal(one, other)


def shared_streams() -> tuple:
    """Where the random streams stand that a whole process shares: torch's, numpy's, Python's."""
    _, keys, position, *_ = np.random.get_state()  # noqa: NPY002
    state = torch.get_rng_state().numpy().tobytes()
    return state, keys.tobytes(), position, random.getstate()


def leaves_shared_streams_alone(function, rng):
    before = shared_streams()
    drawn(function, 1)
    return shared_streams() == before


def follows_the_generator(function, rng):
    return drawn(function, 1) == drawn(function, 1)


def another_seed_another_noise(function, rng):
    return drawn(function, 1) != drawn(function, 2)


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


def normal(rng: np.random.Generator, shape) -> torch.Tensor:
    return torch.from_numpy(rng.standard_normal(tuple(shape), dtype=np.float32))


def cut(noise: torch.Tensor, clip: float) -> torch.Tensor:
    return noise.clamp(-clip, clip)


def noisy(noise: Callable, end: Callable = lambda x, clip: x.clamp(-1, 1)):
    """A wrong version: `noise(action, std, clip, rng)` is added, and `end(sum, clip)` returned."""
    return torch.no_grad()(
        lambda actor, obs, std, clip, rng: end(actor(obs) + noise(actor(obs), std, clip, rng), clip)
    )


def drawing(draw: Callable):
    """A wrong version: `draw(action, rng)` in place of standard normal numbers."""
    return noisy(lambda action, std, clip, rng: cut(draw(action, rng) * std, clip))


def scaled(scale: Callable):
    """A wrong version: `scale(std, action)` in place of the standard deviation."""
    return noisy(
        lambda action, std, clip, rng: cut(normal(rng, action.shape) * scale(std, action), clip)
    )


def clipped(clip_noise: Callable):
    """A wrong version: `clip_noise(noise, clip)` in place of cutting it off."""
    return noisy(lambda action, std, clip, rng: clip_noise(normal(rng, action.shape) * std, clip))


def ends_in(end: Callable):
    """A wrong version: right noise, but `end(sum, clip)` in place of the bounds."""
    return noisy(lambda action, std, clip, rng: cut(normal(rng, action.shape) * std, clip), end)


def only_first(action, rng):
    noise = torch.zeros_like(action)
    noise[:, :1] = normal(rng, (len(action), 1))
    return noise


@torch.no_grad()
def averaged(actor, obs, std, clip, rng):
    action = actor(obs)
    draws = [(action + cut(normal(rng, action.shape) * std, clip)).clamp(-1, 1) for _ in range(20)]
    return torch.stack(draws).mean(0)


@torch.no_grad()
def drawn_again(actor, obs, std, clip, rng):
    action = actor(obs)
    noise = normal(rng, action.shape) * std
    while (noise.abs() > clip).any():
        noise = torch.where(noise.abs() > clip, normal(rng, action.shape) * std, noise)
    return (action + noise).clamp(-1, 1)


def centred(action, rng):
    noise = normal(rng, action.shape)
    return noise - noise.mean(0)


def smoothed_with_gradient(actor, obs, std, clip, rng):
    action = actor(obs)
    return (action + cut(normal(rng, action.shape) * std, clip)).clamp(-1, 1)


@torch.no_grad()
def noise_on_the_observation(actor, obs, std, clip, rng):
    return actor(obs + cut(normal(rng, obs.shape) * std, clip)).clamp(-1, 1)


@torch.no_grad()
def as_many_as_observed(actor, obs, std, clip, rng):
    return (actor(obs) + cut(normal(rng, obs.shape) * std, clip)).clamp(-1, 1)


@torch.no_grad()
def noise_alone(actor, obs, std, clip, rng):
    return cut(normal(rng, actor(obs).shape) * std, clip)


@torch.no_grad()
def observation_changed(actor, obs, std, clip, rng):
    action = smoothed_target_action(actor, obs, std, clip, rng)
    obs += 1
    return action


def smoothed_in_numpy(actor, obs, std, clip, rng):
    return smoothed_target_action(actor, obs, std, clip, rng).numpy()


OWN_STREAM = (
    "Your noise does not come from `rng`, but from a random stream that the whole process shares "
    "(`torch.randn_like`, `np.random`). Then the seed no longer decides how a training goes, and "
    "no run can be repeated: draw from the generator that you are given."
)
ONE_DIRECTION = (
    "All targets of a batch are pushed in one direction then, and only many batches together "
    "average over anything: ask the action for its shape, and draw that many."
)
SHARED_STREAM = (
    "The noise follows `rng`, but on the way your function sets or uses a random stream that the "
    "whole process shares (`torch.manual_seed`, `np.random`), and whoever draws from it next gets "
    "other numbers. Draw from `rng` alone."
)
SUM_CLIPPED = (
    "You added first and cut the sum off at `noise_clip`, so no action can be larger than that, "
    "while the noise itself is not cut off. `noise_clip` is for the noise alone, before it is "
    "added; the sum has the bounds -1 and 1."
)
NO_NOISE_FOR_ONE = (
    "A batch of one gets no noise: it looks as if the mean of the batch's noise were subtracted. "
    "Each number is drawn for itself, with mean 0; that the numbers of a batch do not add up to 0 "
    "is as it should be."
)
VARIANCE = "is a standard deviation: standard normal numbers times `target_noise` have it."
PROPORTION = (
    "Your noise is multiplied by the action, so an action near 0 gets none. Noise is added, and "
    "equally strong everywhere."
)
AS_THE_MEAN = (
    "The first number that `rng.normal` takes is the mean, and the standard deviation comes "
    "second. So your noise leans to one side, and it is 1 wide whatever `target_noise` is: the "
    "mean is 0, or write `scale=` before the number."
)
ONE_SIDE = (
    "You cut the noise off on one side only, so what is left leans to the other. Both ends are "
    "meant, from `-noise_clip` to `noise_clip`."
)
BOUNDS = "All actions of this course live in [-1, 1], and the sum has to as well:"
NOISE_GRADIENT = (
    "The numbers are right, but your actions carry a gradient back to the target actor. They are "
    "made for a target, which holds still: compute them under `torch.no_grad()`, or `.detach()` "
    "them."
)
SHAPE = "Ask the action for its shape, and draw that many."

SMOOTHED_TARGET_ACTION = Exercise(
    id="3.5",
    lesson="03_td3",
    reference=smoothed_target_action,
    card=Card(
        title="Not one action, but its neighbourhood",
        what="Write `smoothed_target_action(target_actor, next_obs, target_noise, noise_clip, "
        "rng)`: the target actor's actions plus Gaussian noise of standard deviation "
        "`target_noise`, which is cut off at `noise_clip` to either side. The sum `(B, "
        "action_dim)` stays in [-1, 1], float32 and without gradient; the random numbers come "
        "from `rng`.",
        why="A critic's error is often a narrow peak that the actor climbs. Averaged over "
        "neighbouring actions, a peak is worth little. In much code one number is drawn for the "
        "whole batch: then all its targets are pushed in one direction, and only many batches "
        "together average over anything.",
        difficulty=2,
        minutes=8,
    ),
    hints=(
        "Two things are cut off in turn, for two reasons: the noise, so that the action stays near "
        "the actor's, and the sum, so that it stays possible. How many random numbers does a batch "
        "of B actions with several dimensions need?",
        "Ask `rng.standard_normal` for as many numbers as the action has entries, `dtype="
        "np.float32`, make a tensor of them with `torch.from_numpy` and multiply by "
        "`target_noise`. Then `clamp` twice: the noise by `noise_clip`, the sum by 1.",
    ),
    cases=smoothing_cases,
    observe=observe_smoothing,
    rtol=0.03,
    atol=0.01,
    misconceptions=[
        Misconception(
            "one noise for the whole batch",
            drawing(lambda action, rng: torch.tensor(rng.standard_normal(), dtype=torch.float32)),
            f"You drew a single number and added it to all actions. {ONE_DIRECTION}",
        ),
        Misconception(
            "one noise for all rows",
            drawing(lambda action, rng: normal(rng, action.shape[1:])),
            f"All rows get the same noise, one number for each dimension. {ONE_DIRECTION}",
        ),
        Misconception(
            "one noise for all dimensions",
            drawing(lambda action, rng: normal(rng, (len(action), 1))),
            "All dimensions of an action get the same noise, so it is moved along a diagonal only. "
            f"The neighbourhood lies in all directions. {SHAPE}",
        ),
        Misconception(
            "only the first dimension",
            drawing(only_first),
            "Only the first dimension of the action gets noise. That goes unnoticed with "
            "Pendulum's single torque, but a robot has one for each joint: "
            "smooth over all of them.",
        ),
        Misconception(
            "one number a row, without its axis",
            drawing(lambda action, rng: normal(rng, (len(action),))),
            "You drew `(B,)` numbers and added them to actions `(B, action_dim)`: the two are "
            f"broadcast to a matrix, or do not fit. {SHAPE}",
        ),
        Misconception(
            "as many noises as observed numbers",
            as_many_as_observed,
            "You drew noise of the shape of the observations, which fits the actions by chance at "
            f"best. {SHAPE}",
        ),
        Misconception(
            "noise not clipped",
            clipped(lambda noise, clip: noise),
            "You did not cut the noise off at `noise_clip`. Now and then a normal number is large, "
            "and then an action that has nothing to do with the actor's is judged in its place.",
        ),
        Misconception(
            "action not clipped",
            ends_in(lambda x, clip: x),
            "Your sum may leave [-1, 1]. No such action is ever taken, so the critics have never "
            "learned anything about it, and their guess would go into the target: clamp it, after "
            "the noise was added.",
        ),
        Misconception(
            "neither is clipped",
            noisy(lambda action, std, clip, rng: normal(rng, action.shape) * std, lambda x, c: x),
            "Nothing is cut off in your version. The noise has to stay within `noise_clip`, so "
            "that the action is a neighbour of the actor's, and the sum within [-1, 1], so that it "
            "is a possible one.",
        ),
        Misconception(
            "the sum clipped to noise_clip",
            noisy(
                lambda action, std, clip, rng: normal(rng, action.shape) * std,
                lambda x, clip: cut(x, clip),
            ),
            SUM_CLIPPED,
        ),
        Misconception(
            "the sum clipped to noise_clip and to 1",
            noisy(
                lambda action, std, clip, rng: normal(rng, action.shape) * std,
                lambda x, clip: cut(x, clip).clamp(-1, 1),
            ),
            SUM_CLIPPED,
        ),
        Misconception(
            "both clipped to noise_clip",
            ends_in(lambda x, clip: cut(x, clip)),
            "You cut the sum off at `noise_clip` as well, so no action can be larger than that. "
            f"{BOUNDS} its bounds are -1 and 1.",
        ),
        Misconception(
            "noise clipped to target_noise",
            noisy(lambda action, std, clip, rng: cut(normal(rng, action.shape) * std, std)),
            "You cut the noise off at `target_noise`, which is how wide it is, so a third of it "
            "ends there. How far it may go is said by `noise_clip`.",
        ),
        Misconception(
            "noise clipped to 1",
            clipped(lambda noise, clip: cut(noise, 1.0)),
            "You cut the noise off at 1, which are the bounds of an action. How far the noise may "
            "go is said by `noise_clip`.",
        ),
        Misconception(
            "the two clips exchanged",
            noisy(
                lambda action, std, clip, rng: cut(normal(rng, action.shape) * std, 1.0),
                lambda x, clip: cut(x, clip),
            ),
            "The two bounds have changed places: the noise is cut off at 1 and the sum at "
            "`noise_clip`. `noise_clip` is for the noise, 1 for the action.",
        ),
        Misconception(
            "clipped before it is scaled",
            noisy(lambda action, std, clip, rng: cut(normal(rng, action.shape), clip) * std),
            "You cut the standard normal numbers off at `noise_clip` and scaled them afterwards, "
            "as if `noise_clip` were a number of standard deviations. It is in units of the "
            "action: scale by `target_noise` first.",
        ),
        Misconception(
            "target_noise and noise_clip exchanged",
            noisy(lambda action, std, clip, rng: cut(normal(rng, action.shape) * clip, std)),
            "`target_noise` and `noise_clip` have changed places: the first is how wide the noise "
            "is, the second where it is cut off.",
        ),
        Misconception(
            "cut off above only", clipped(lambda noise, clip: noise.clamp(max=clip)), ONE_SIDE
        ),
        Misconception(
            "cut off below only", clipped(lambda noise, clip: noise.clamp(min=-clip)), ONE_SIDE
        ),
        Misconception(
            "negative noise cut off",
            clipped(lambda noise, clip: noise.clamp(0, clip)),
            "You cut all negative noise off, so what is left pushes every action upwards. Both "
            "sides are meant, from `-noise_clip` to `noise_clip`.",
        ),
        Misconception(
            "set to 0 beyond noise_clip",
            clipped(lambda noise, clip: torch.where(noise.abs() > clip, 0.0, noise)),
            "You set noise beyond `noise_clip` to 0, so where it is largest there is none at all. "
            "What is too large becomes as large as allowed, `noise_clip`: a `clamp`.",
        ),
        Misconception(
            "drawn again until it fits",
            drawn_again,
            "You draw again until all noise lies within `noise_clip`, which for a `noise_clip` of "
            "0 never ends. It would be another distribution, too: what lies beyond is to be cut "
            "off, so that it ends at the bound itself.",
        ),
        Misconception(
            "averaged over many draws",
            averaged,
            "You drew many times and returned the mean, so hardly any noise is left, and the "
            "critics are asked about one action again. Draw once for every entry: that the target "
            "becomes a mean over nearby actions is the work of many batches.",
        ),
        Misconception(
            "the batch's mean subtracted",
            drawing(centred),
            NO_NOISE_FOR_ONE,
        ),
        Misconception(
            "noise squeezed by a tanh",
            clipped(lambda noise, clip: clip * torch.tanh(noise / clip) if clip else 0 * noise),
            "You bent the noise with a tanh in place of cutting it off, so all of it becomes "
            "smaller, not only what is too large. A plain `clamp` is meant.",
        ),
        Misconception(
            "actions cut off at 0",
            ends_in(lambda x, clip: x.clamp(0, 1)),
            f"You cut off whatever is below 0. {BOUNDS} its bounds are -1 and 1.",
        ),
        Misconception(
            "actions cut off above only",
            ends_in(lambda x, clip: x.clamp(max=1)),
            f"You cut the sum off at 1, but not at -1. {BOUNDS} both bounds.",
        ),
        Misconception(
            "actions cut off below only",
            ends_in(lambda x, clip: x.clamp(min=-1)),
            f"You cut the sum off at -1, but not at 1. {BOUNDS} both bounds.",
        ),
        Misconception(
            "a tanh on the sum",
            ends_in(lambda x, clip: torch.tanh(x)),
            "You put a tanh on the sum. The actor has one already, so even without noise its "
            "action would become another one: only what is outside of [-1, 1] is cut off.",
        ),
        Misconception(
            "target_noise squared",
            scaled(lambda std, action: std**2),
            f"You multiplied by `target_noise` squared. It {VARIANCE}",
        ),
        Misconception(
            "target_noise taken for a variance",
            scaled(lambda std, action: math.sqrt(std)),
            f"You took the root of `target_noise`, as if it were a variance. It {VARIANCE}",
        ),
        Misconception(
            "target_noise not used",
            scaled(lambda std, action: 1.0),
            "Your noise has the standard deviation 1 whatever `target_noise` is, so nearly all of "
            "it ends at `noise_clip`. Multiply the standard normal numbers by `target_noise`.",
        ),
        Misconception(
            "always 0.2",
            scaled(lambda std, action: 0.2),
            "Your noise always has the standard deviation 0.2. That is only the usual choice: take "
            "it from the argument `target_noise`.",
        ),
        Misconception(
            "always 0.2 and 0.5",
            noisy(lambda action, std, clip, rng: cut(0.2 * normal(rng, action.shape), 0.5)),
            "Your noise is 0.2 wide and cut off at 0.5 whatever the function is given. These are "
            "only the usual choices: take the arguments `target_noise` and `noise_clip`.",
        ),
        Misconception(
            "noise_clip always 0.5",
            clipped(lambda noise, clip: cut(noise, 0.5)),
            "You always cut the noise off at 0.5. That is only the usual choice: take the bound "
            "from the argument `noise_clip`.",
        ),
        Misconception(
            "in the environment's units",
            scaled(lambda std, action: 2 * std),
            "Your noise is twice as strong as `target_noise` says, as if it were in Pendulum's "
            "units. Everything here is in [-1, 1], whatever the environment's bounds are: no "
            "scaling.",
        ),
        Misconception(
            "in proportion to the action",
            scaled(lambda std, action: std * action),
            PROPORTION,
        ),
        Misconception(
            "in proportion to the action, after it is cut off",
            noisy(
                lambda action, std, clip, rng: action * cut(normal(rng, action.shape) * std, clip)
            ),
            PROPORTION,
        ),
        Misconception(
            "scaled by the number of dimensions",
            scaled(lambda std, action: std / math.sqrt(action.shape[1])),
            "You made the noise weaker the more dimensions an action has. `target_noise` is the "
            "standard deviation in each dimension.",
        ),
        Misconception(
            "the mean given as standard deviation",
            noisy(
                lambda action, std, clip, rng: cut(
                    torch.from_numpy(rng.normal(std, size=tuple(action.shape))).float(), clip
                )
            ),
            AS_THE_MEAN,
        ),
        Misconception(
            "uniform noise",
            drawing(
                lambda action, rng: torch.from_numpy(
                    rng.uniform(-1, 1, tuple(action.shape))
                ).float()
            ),
            "Your noise is uniform, which is a standard deviation of 0.58 times `target_noise` and "
            "no tail to cut off. Gaussian noise is meant: `rng.standard_normal`.",
        ),
        Misconception(
            "uniform up to noise_clip",
            noisy(
                lambda action, std, clip, rng: torch.from_numpy(
                    rng.uniform(-clip, clip, tuple(action.shape))
                ).float()
            ),
            "Your noise is uniform up to `noise_clip`, and `target_noise` has no say. It is "
            "Gaussian, near 0 most of the time, and only its tails are cut off.",
        ),
        Misconception(
            "never negative",
            drawing(lambda action, rng: torch.from_numpy(rng.random(tuple(action.shape))).float()),
            "Your noise is never negative: uniform numbers between 0 and 1 push every action "
            "upwards. Gaussian noise has mean 0: `rng.standard_normal`.",
        ),
        Misconception(
            "without its sign",
            drawing(lambda action, rng: normal(rng, action.shape).abs()),
            "Your noise has lost its sign, so every action is pushed upwards. Normal numbers fall "
            "on both sides of 0, and that is meant.",
        ),
        Misconception(
            "no noise",
            drawing(lambda action, rng: torch.zeros_like(action)),
            "There is no noise in your actions. Without it the target looks at a single action, "
            "and a narrow peak of the critics' error goes straight into it.",
        ),
        Misconception(
            "the noise alone",
            noise_alone,
            "You return the noise alone. It is added to what the target actor would do.",
        ),
        Misconception(
            "noise on the observation",
            noise_on_the_observation,
            "You added the noise to the observation. It is nearby actions that should have nearby "
            "values: ask the actor about `next_obs` as it is, and add noise to its answer.",
        ),
        Misconception(
            "float64",
            drawing(lambda action, rng: torch.from_numpy(rng.standard_normal(tuple(action.shape)))),
            "The numbers are right, but they are float64: numpy draws doubles unless told "
            "otherwise, and the networks are float32 and refuse them. Draw with `dtype="
            "np.float32`, or call `.float()`.",
        ),
        Misconception("in numpy", smoothed_in_numpy, NO_TENSOR),
        Misconception(
            "random numbers of its own",
            drawing(lambda action, rng: torch.randn_like(action)),
            OWN_STREAM,
        ),
        Misconception(
            "a new generator for every call",
            drawing(lambda action, rng: normal(np.random.default_rng(0), action.shape)),
            "You make a generator anew at every call, with a fixed seed, so every batch gets the "
            "same noise again. Draw from `rng`, which moves on by itself.",
        ),
        Misconception("with gradient", smoothed_with_gradient, NOISE_GRADIENT),
        Misconception(
            "in inference mode", torch.inference_mode()(smoothed_with_gradient), INFERENCE
        ),
        Misconception(
            "changes the observations",
            observation_changed,
            "The actions are right, but you changed the observations that you were given (`+=`, or "
            "a method whose name ends in `_`). The critics still need them.",
        ),
    ],
    properties=[
        Property("does not draw from rng", follows_the_generator, OWN_STREAM),
        Property(
            "the same from every seed",
            another_seed_another_noise,
            "Two generators with different seeds give the same noise: draw from `rng`, which is "
            "handed to you.",
        ),
        Property(
            "the same noise again",
            new_noise_at_each_call,
            "Called twice, your function gives the same noise again: draw new numbers from `rng` "
            "each time.",
        ),
        Property("no noise for a batch of one", noise_for_a_batch_of_one, NO_NOISE_FOR_ONE),
        Property("uses a shared stream", leaves_shared_streams_alone, SHARED_STREAM),
        Property("no tensor in the graph", usable_in_a_graph, INFERENCE),
        Property("gradient in the actions", carries_no_gradient, NOISE_GRADIENT),
        no_mutation(few_smoothing_cases, observe_for_mutation),
    ],
)
