"""Exploration noise: its distribution, its memory, and how it is handed about."""

import copy
import json

import numpy as np
import pytest
from environments import AnySpace, make
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from sentences import assert_one_sentence, one_sentence

from helpers.agents import DDPG, TD3, noise
from helpers.agents.noise import (
    KINDS,
    GaussianNoise,
    Noise,
    OUNoise,
    OUNoiseAround,
    UniformNoise,
    as_noise,
)
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


def moments(values):
    """Mean, standard deviation, skewness and kurtosis."""
    mean, std = values.mean(), values.std()
    scaled = (values - mean) / std
    return mean, std, (scaled**3).mean(), (scaled**4).mean()


def long_after_a_reset(noise, rng, steps=150):
    """Many processes at once, after so many steps."""
    for _ in range(steps):
        values = noise.sample((N,), rng)
    return values


# ---- distribution --------------------------------------------------------------------------------


@SOME
def test_the_mean_is_0_and_the_standard_deviation_is_what_std_says(noise):
    noise = copy.deepcopy(noise)
    values = long_after_a_reset(noise, np.random.default_rng(0))
    mean, std, skewness, kurtosis = moments(values)
    assert abs(mean) < 4 * noise.std / np.sqrt(N)
    assert std == pytest.approx(noise.std, rel=0.01)
    assert abs(skewness) < 0.03
    assert kurtosis == pytest.approx(1.8 if isinstance(noise, UniformNoise) else 3, abs=0.06)


def test_the_width_of_uniform_noise_is_how_far_it_goes():
    values = UniformNoise(0.7).sample((N,), np.random.default_rng(0))
    assert -0.7 <= values.min() < -0.6999
    assert 0.7 >= values.max() > 0.6999


@pytest.mark.parametrize("noise", [UniformNoise(), GaussianNoise()], ids=str)
def test_independent_noise_forgets_at_once(noise):
    rng = np.random.default_rng(0)
    first, second = noise.sample((N,), rng), noise.sample((N,), rng)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.015


@SOME
def test_dimensions_are_independent_of_each_other(noise):
    noise, rng = copy.deepcopy(noise), np.random.default_rng(0)
    over_time = np.array([noise.sample((2, 2), rng).ravel() for _ in range(20_000)])
    kept = getattr(noise, "theta", 1) * getattr(noise, "dt", 1)  # of each value this is new
    new = over_time[1:] - (1 - kept) * over_time[:-1]
    between = np.corrcoef(new.T) - np.eye(4)
    assert np.abs(between).max() < 0.03
    assert len(set(over_time[0])) == 4


@quick
@given(noises, st.lists(st.integers(1, 3), max_size=3).map(tuple), st.integers(0, 2**32))
def test_samples_have_the_shape_asked_for_and_come_from_the_generator_given(noise, shape, seed):
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    runs = []
    for _ in range(2):
        rng = np.random.default_rng(seed)
        noise.reset()
        runs.append([noise.sample(shape, rng) for _ in range(3)])
    np.testing.assert_array_equal(*runs)
    assert {np.shape(values) for values in runs[0]} == {shape}
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


# ---- the Ornstein-Uhlenbeck process --------------------------------------------------------------


@quick
@given(positive, positive, positive, st.integers(1, 3), st.integers(0, 2**32))
def test_ou_is_its_definition(sigma, theta, dt, size, seed):
    noise, rng = OUNoise(sigma, theta, dt), np.random.default_rng(seed)
    draws = np.random.default_rng(seed).standard_normal((6, size))
    x = np.zeros(size)
    for t, draw in enumerate(draws):
        if t == 3:
            noise.reset()
            x = np.zeros(size)
        x = x - theta * x * dt + sigma * np.sqrt(dt) * draw
        np.testing.assert_allclose(noise.sample((size,), rng), x, rtol=1e-9)


def test_a_reset_allows_another_shape():
    noise, rng = OUNoise(), np.random.default_rng(0)
    noise.sample((5,), rng)
    noise.reset()
    assert noise.sample((2, 3), rng).shape == (2, 3)


def test_what_was_returned_stays_as_it_was():
    noise, rng = OUNoise(), np.random.default_rng(0)
    first = noise.sample((3,), rng)
    kept = first.copy()
    noise.sample((3,), rng)
    noise.reset()
    np.testing.assert_array_equal(first, kept)


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
    noise, rng = copy.deepcopy(noise), np.random.default_rng(0)
    noise.reset()
    values = [noise.sample((N // 10, 3), rng) for _ in range(80)][-1]
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
    assert as_noise(json.loads(json.dumps(noise.to_plain()))) == noise
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


@pytest.mark.parametrize("name", ["noise", "warm_up_noise"])
def test_sizes_that_do_not_fit_the_actions_are_one_sentence(name):
    env = make(AnySpace, action_space=DIMENSIONS)
    for wrong in (GaussianNoise([0.1, 0.2]), OUNoiseAround(mu=np.ones(2)), OUNoise([[0.1] * 3])):
        with one_sentence(ValueError, "one for each", name, "3 dimensions"):
            TD3(env, **{name: wrong})


# ---- handing it about ----------------------------------------------------------------------------


@quick
@given(noises)
def test_a_noise_comes_back_from_plain_values(noise):
    plain = noise.to_plain()
    again = as_noise(json.loads(json.dumps(plain)))
    assert type(again) is type(noise)
    assert again == noise
    assert str(again) == str(noise)
    assert again.to_plain() == plain


@quick
@given(noises)
def test_numbers_from_numpy_become_plain(noise):
    plain = noise.to_plain()
    numbers = {name: np.float64(value) for name, value in plain.items() if name != "kind"}
    from_numpy = type(noise)(**numbers).to_plain()
    assert from_numpy == plain
    assert {type(value) for value in from_numpy.values()} == {str, float}


def test_every_kind_can_be_read():
    kinds = [each for each in vars(noise).values() if isinstance(each, type)]
    ours = {kind for kind in kinds if issubclass(kind, Noise) and kind is not Noise}
    assert set(KINDS.values()) == ours


def test_reading_leaves_the_plain_values_alone():
    plain = OUNoise(0.3).to_plain()
    before = dict(plain)
    as_noise(plain)
    assert plain == before


def test_as_noise_is_a_copy_with_a_memory_of_its_own():
    noise, rng = OUNoise(), np.random.default_rng(0)
    noise.sample((3,), rng)
    value = noise.value.copy()
    other = as_noise(noise)
    other.sample((3,), rng)
    np.testing.assert_array_equal(noise.value, value)
    other.sigma = 9.0
    assert noise.sigma == 0.2
    other.reset()
    np.testing.assert_array_equal(noise.value, value)


def test_noises_are_equal_whatever_they_remember():
    noise, rng = OUNoise(), np.random.default_rng(0)
    noise.sample((3,), rng)
    assert noise == OUNoise()
    assert noise != OUNoise(theta=0.1)
    assert str(noise) == "OUNoise(sigma=0.2, theta=0.15, dt=1.0)"


def test_no_noise_stays_none():
    assert as_noise(None) is None


@pytest.mark.parametrize("wrong", [0.1, "GaussianNoise", GaussianNoise, [0.1]], ids=str)
def test_what_is_no_noise_is_one_sentence(wrong):
    with one_sentence(ValueError, repr(wrong), match=r"GaussianNoise\(0\.1\)"):
        as_noise(wrong)


@pytest.mark.parametrize("plain", [{}, {"kind": "Pink"}, {"kind": None, "sigma": 0.1}], ids=str)
def test_an_unknown_kind_lists_the_known(plain):
    with one_sentence(ValueError, "No noise is called", repr(plain.get("kind")), *KINDS):
        as_noise(plain)


class Three(GaussianNoise):
    """A noise of one's own that was written for one robot."""

    def sample(self, shape, rng):
        return rng.normal(0, self.sigma, 3)


@pytest.mark.parametrize("name", ["noise", "warm_up_noise"])
def test_a_noise_that_gives_another_shape_is_one_sentence_before_any_step(name):
    with pytest.raises(ValueError, match=rf"^{name} was asked for values of shape \(1,\)") as error:
        TD3("Pendulum-v1", **{name: Three()})
    assert_one_sentence(error.value, "gave (3,)")


@pytest.mark.parametrize("kind", [GaussianNoise, OUNoise])
def test_zeros_for_sizes_are_refused_since_a_peers_noises_begin_with_a_mean(kind):
    """`OrnsteinUhlenbeckActionNoise(np.zeros(1), 0.5 * np.ones(1))` there; here 0.5 is theta."""
    noise = OUNoise(np.zeros(1), 0.5 * np.ones(1)) if kind is OUNoise else kind(np.zeros(1))
    with one_sentence(ValueError, "noise has a size of 0", kind.__name__):
        TD3("Pendulum-v1", noise=noise)
    assert TD3("Pendulum-v1", noise=kind(0.0)).noise == kind(0.0)  # the last of a row of sizes


@pytest.mark.parametrize(
    "noise",
    [
        GaussianNoise(np.nan), GaussianNoise(-0.3), GaussianNoise("0.1"), UniformNoise(-1),
        GaussianNoise([0.1, -0.1]), OUNoise(theta=0), OUNoise(theta=[0, 0.1]), OUNoise(theta=3),
        OUNoise(theta=-0.1), OUNoise(np.inf),
    ],
    ids=str,
)  # fmt: skip
def test_a_size_that_cannot_be_is_one_sentence(noise):
    with pytest.raises(ValueError, match="noise has a standard deviation of") as error:
        as_noise(noise)
    assert_one_sentence(error.value, "theta * dt between 0 and 2")
