"""Exploration noise: its distribution, its memory, and how it is handed about."""

import copy
import json

import numpy as np
import pytest
from environments import LOPSIDED, AnySpace, make
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from sentences import one_sentence

from helpers.agents import DDPG, TD3
from helpers.agents.checkpoint import as_plain, from_plain
from helpers.agents.noise import GaussianNoise, OUNoise, OUNoiseAround, UniformNoise, as_noise
from helpers.agents.schedules import LinearSchedule
from helpers.training.asked import parse_value

quick = settings(deadline=None, max_examples=60, derandomize=True)
positive = st.floats(0.01, 3)
noises = st.one_of(
    st.builds(UniformNoise, positive),
    st.builds(GaussianNoise, positive),
    st.builds(OUNoise, positive, positive, st.floats(0.01, 0.3)),
)
SOME = pytest.mark.parametrize(
    "noise",
    [
        UniformNoise(), UniformNoise(0.3), GaussianNoise(), GaussianNoise(0.7), OUNoise(),
        OUNoise(sigma=0.5, theta=0.05), OUNoise(sigma=0.3, theta=1.5), OUNoise(theta=0.5, dt=0.1),
    ],
    ids=str,
)  # fmt: skip
N = 100_000


def long_after_a_reset(noise, rng, size, steps=150):
    """Many processes at once, after so many steps."""
    noise = copy.deepcopy(noise)
    noise.reset()
    return [noise.sample(size, rng) for _ in range(steps)]


# ---- distribution --------------------------------------------------------------------------------


@SOME
def test_values_have_the_mean_and_the_standard_deviation_that_std_says(noise):
    *_, before, values = long_after_a_reset(noise, np.random.default_rng(0), (N,))
    assert abs(values.mean()) < 4 * noise.std / np.sqrt(N)
    assert values.std() == pytest.approx(noise.std, rel=0.01)
    scaled = values / noise.std
    assert abs((scaled**3).mean()) < 0.03  # the skewness, and the kurtosis
    uniform = isinstance(noise, UniformNoise)
    assert (scaled**4).mean() == pytest.approx(1.8 if uniform else 3, abs=0.06)
    if uniform:
        assert 0.9999 * noise.width < abs(values).max() <= noise.width
    kept = 1 - getattr(noise, "theta", 1) * getattr(noise, "dt", 1)
    assert np.corrcoef(before, values)[0, 1] == pytest.approx(kept, abs=0.015)


@SOME
def test_dimensions_are_independent_of_each_other(noise):
    values = long_after_a_reset(noise, np.random.default_rng(0), (N // 10, 4), 20)[-1]
    assert np.abs(np.corrcoef(values.T) - np.eye(4)).max() < 0.05


@quick
@given(noises, st.lists(st.integers(1, 3), max_size=3).map(tuple), st.integers(0, 2**32))
def test_samples_have_the_shape_asked_for_and_come_from_the_generator_given(noise, shape, seed):
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    runs = []
    for keep in (np.array, lambda values: values):  # no sample changes one that was given away
        noise.reset()
        noise.sample((5,), np.random.default_rng(1))
        noise.reset()  # it allows another shape
        rng = np.random.default_rng(seed)
        runs.append([keep(noise.sample(shape, rng)) for _ in range(3)])
    np.testing.assert_array_equal(*runs)
    assert {np.shape(values) for values in runs[0]} == {shape}
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


# ---- for each dimension its own, around another mean, falling ------------------------------------

FALLING = LinearSchedule(0.3, 0.1, 100)
RICH = pytest.mark.parametrize(
    "noise",
    [
        GaussianNoise(0.1 * np.arange(1, 4)), GaussianNoise(FALLING), UniformNoise([1.0, 2.0, 3.0]),
        OUNoise(sigma=np.array([0.1, 0.2, 0.3]), theta=[0.1, 0.2, 0.3]),
        OUNoiseAround(mu=0.4), OUNoiseAround(mu=np.array([0.5, 0.0, -0.5]), sigma=0.1),
    ],
    ids=lambda noise: type(noise).__name__,
)  # fmt: skip
DIMENSIONS = spaces.Box(-1, 1, (3,))


@RICH
def test_each_dimension_has_the_mean_and_the_standard_deviation_that_it_was_given(noise):
    values = long_after_a_reset(noise, np.random.default_rng(0), (N // 10, 3), 80)[-1]
    np.testing.assert_allclose(values.mean(axis=0), noise.center + np.zeros(3), atol=0.06)
    np.testing.assert_allclose(values.std(axis=0), noise.std + np.zeros(3), rtol=0.04)


def test_a_process_around_mu_starts_at_0_and_is_pulled_there():
    noise, rng = OUNoiseAround(mu=2.0, sigma=0.0, theta=0.25), np.random.default_rng(0)
    for _ in range(2):
        path = [noise.sample((1,), rng)[0] for _ in range(3)]
        assert path == pytest.approx([2 * (1 - 0.75**k) for k in (1, 2, 3)])
        noise.reset()


@RICH
def test_such_a_noise_is_typed_stored_and_explored_with(noise, tmp_path):
    assert from_plain(json.loads(json.dumps(as_plain(noise)))) == noise
    assert parse_value(str(noise)) == noise
    env = make(AnySpace, action_space=DIMENSIONS)
    agent = TD3(env, seed=0, noise=noise, learning_starts=5, batch_size=4, hidden=4).learn(20)
    agent.save(tmp_path / "a.pt", replay=True)
    loaded = TD3.load(tmp_path / "a.pt", env=make(AnySpace, action_space=DIMENSIONS))
    assert loaded.noise == noise
    obs = np.zeros((9, 1), np.float32)
    for _ in range(2):
        explored = [each.predict(obs, deterministic=False) for each in (agent, loaded)]
        np.testing.assert_array_equal(*explored)
    assert np.ptp(explored[0], axis=0).all()


def test_a_falling_noise_follows_the_steps_of_the_agent_also_after_load(tmp_path):
    drawn = []

    class Watched(GaussianNoise):
        def sample(self, shape, rng):
            drawn.append(self.std)
            return super().sample(shape, rng)

    agent = DDPG("Pendulum-v1", seed=0, noise=GaussianNoise(FALLING), learning_starts=3, hidden=4)
    agent.noise = Watched(FALLING)
    agent.ready()
    drawn.clear()  # it was tried
    agent.learn(60)
    drawn.pop(0)  # when training begins, once more
    assert drawn == [FALLING(step) for step in range(3, 60)]
    agent.noise = GaussianNoise(FALLING)
    agent.save(tmp_path / "a.pt")
    loaded = DDPG.load(tmp_path / "a.pt")
    loaded.predict(np.zeros(3, np.float32), deterministic=False)
    assert loaded.noise.std == FALLING(60) < 0.2


# ---- handing it about ----------------------------------------------------------------------------


def test_as_noise_is_a_copy_with_a_memory_of_its_own():
    noise, rng = OUNoise(), np.random.default_rng(0)
    noise.sample((3,), rng)
    value = noise.value.copy()
    assert noise == OUNoise() != OUNoise(theta=0.1)  # whatever it remembers
    other = as_noise("noise", noise)
    other.sample((3,), rng)
    other.sigma = 9.0
    np.testing.assert_array_equal(noise.value, value)
    assert noise.sigma == 0.2
    assert str(noise) == "OUNoise(sigma=0.2, theta=0.15, dt=1.0)"
    assert as_noise("noise", None) is None
    shared = OUNoise()
    agents = [DDPG("Pendulum-v1", noise=shared, warm_up_noise=shared) for _ in range(2)]
    own = [each for agent in agents for each in (agent.noise, agent.warm_up_noise)]
    assert len({*map(id, own), id(shared)}) == 5
    plain, other = DDPG("Pendulum-v1"), DDPG("Pendulum-v1")
    assert plain.noise is not other.noise


class Three(GaussianNoise):
    """A noise of one's own that was written for one robot of three joints."""

    def sample(self, shape, rng):
        return rng.normal(0, self.sigma, 3)


STD, SIZES, ZERO = "noise has a standard deviation of", "one for each", "noise has a size of 0"


@pytest.mark.parametrize(
    ("noise", "told"),
    [
        *[(each, "GaussianNoise(0.1)") for each in (0.1, GaussianNoise, [0.1], {})],
        *[(GaussianNoise(size), STD) for size in (np.nan, -0.3, "0.1", [0.1, -0.1])],
        *[(OUNoise(theta=theta), STD) for theta in (0, [0, 0.1], 3, -0.1)],
        *[(each, SIZES) for each in (GaussianNoise([0.1, 0.2, 0.3]), OUNoise([[0.1] * 2]))],
        (OUNoiseAround(mu=np.ones(3)), SIZES),
        # `OrnsteinUhlenbeckActionNoise(np.zeros(2), 0.5 * np.ones(2))` of a peer: a mean, a size.
        (OUNoise(np.zeros(2), 0.5 * np.ones(2)), ZERO),
        (GaussianNoise(np.zeros(2)), ZERO),
        (Three(), "was asked for values of shape (2,) and gave (3,)"),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence_before_any_step(noise, told):
    env = make(AnySpace, action_space=LOPSIDED)
    for name in ("noise", "warm_up_noise"):
        with one_sentence(ValueError, told, "" if isinstance(noise, dict) else name):
            TD3(env, **{name: noise})


def test_a_size_of_0_is_the_last_of_a_row_of_sizes():
    assert TD3("Pendulum-v1", noise=GaussianNoise(0.0)).noise == GaussianNoise(0.0)
