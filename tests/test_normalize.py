"""Running normalisation: the statistics of what training saw, used as they are everywhere else."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from environments import AnySpace, Probe, make
from gymnasium import spaces
from sentences import one_sentence
from wholes import AGENTS, everything, tiny

from helpers.agents import A2C, DDPG, PPO, TD3, BehaviourCloning
from helpers.agents.cloning import pretrain
from helpers.agents.normalize import Normalizer, Running
from helpers.demos.files import load_demos
from helpers.evaluation import evaluate

BOTH = ("obs", "rewards")
NAMES = ["ddpg-ou", "td3", "ddpgfd", "sac", "a2c", "gaussian", "ppo", "book"]
EVERY = pytest.mark.parametrize("name", NAMES)


class Huge(Probe):
    """Shows 5,000 give or take 3, and 0.001 or less; wants the sign of the first, at 1,000 each."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        gym.Env.reset(self, seed=seed)
        self.draw()
        return super().reset()

    def draw(self):
        self.sign = int(self.np_random.choice([-1, 1]))
        self.small = float(self.np_random.normal()) / 1000

    def observe(self):
        return np.array([5000 + 3 * self.sign, self.small])

    def play(self, action):
        right = action == (self.sign + 1) // 2
        self.draw()
        return 1000 * float(right), False, self.t == 10


def test_what_is_large_or_tiny_is_learned_from():
    """Without it the two signs are the same to a network, and so they stay."""
    settings = {"n_envs": 4, "n_steps": 16, "learning_rate": 1e-2, "hidden": 16, "seed": 0}
    with_it, without = (
        evaluate(PPO("Huge-v0", normalize=normalize, **settings).learn(2500), episodes=5).mean
        for normalize in (BOTH, ())
    )
    assert with_it > 9500
    assert without < 7500


def watched(name, monkeypatch, normalize=BOTH):
    """An agent, and all that its environments showed: first observations and steps."""
    from helpers.envs.resumable import Resumable

    shown = []
    reset, step = Resumable.reset, Resumable.step

    def seen_reset(self, **options):
        result = reset(self, **options)
        shown.append((id(self), np.array(result[0]), None, False))
        return result

    def seen_step(self, action):
        result = step(self, action)
        shown.append((id(self), np.array(result[0]), result[1], bool(result[2] or result[3])))
        return result

    monkeypatch.setattr(Resumable, "reset", seen_reset)
    monkeypatch.setattr(Resumable, "step", seen_step)
    return AGENTS[name](normalize=normalize), shown


@pytest.mark.parametrize("name", ["td3", "a2c", "ppo", "book"])
def test_the_statistics_are_those_of_all_that_was_shown_once_it_was_watched(name, monkeypatch):
    agent, shown = watched(name, monkeypatch)
    agent.learn(1)  # makes the environments
    shown.clear()
    assert agent.normalizer.of_obs.count == 0
    agent.learn(60)
    rows = agent.measured(np.array([obs for _, obs, *_ in shown])).double()
    stats = agent.normalizer.of_obs
    assert stats.count == len(rows)
    torch.testing.assert_close(stats.mean, rows.mean(dim=0))
    torch.testing.assert_close(stats.variance, rows.var(dim=0, correction=0))
    sums, totals = [], dict.fromkeys({env for env, *_ in shown}, 0.0)
    for env, _, reward, over in shown:
        if reward is None:
            totals[env] = 0.0
            continue
        totals[env] = totals[env] * agent.gamma + reward
        sums.append(totals[env])
        if over:
            totals[env] = 0.0
    assert agent.normalizer.of_returns.count == len(sums)
    assert agent.normalizer.of_returns.variance.item() == pytest.approx(np.var(sums))
    assert agent.reward_factor == pytest.approx(agent.reward_scale / np.std(sums), rel=1e-4)


@pytest.mark.parametrize("pieces", [[1] * 100, [30, 50, 20]])
def test_running_is_what_all_rows_at_once_would_be(pieces):
    rows = torch.from_numpy(np.random.default_rng(0).normal([5000, 1e-3], [3, 1e-4], (100, 2)))
    running = Running(2)
    for part in rows.split(pieces):
        running.add(part)
    torch.testing.assert_close(running.mean, rows.mean(dim=0), rtol=1e-9, atol=0)
    torch.testing.assert_close(running.variance, rows.var(dim=0, correction=0), rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    ("name", "normalize"),
    [*((name, BOTH) for name in NAMES), ("td3", ("rewards",)), ("ppo", ("obs",))],
)
def test_going_on_equals_never_having_stopped_whoever_looked_on(name, normalize, tmp_path):
    """A loop of `train_step` is as good as `learn`, and an evaluation measures nothing."""
    whole, parts = (AGENTS[name](normalize=normalize) for _ in range(2))
    whole.learn(47).learn(40)
    while parts.steps < 47:
        parts.train_step()
    evaluate(parts, episodes=1)
    parts.predict(parts.observation_space.sample())
    parts.save(tmp_path / "a.pt", replay=True)
    loaded = type(parts).load(tmp_path / "a.pt")
    assert loaded.hyperparameters["normalize"] == normalize
    assert everything(loaded.learn(40)) == everything(whole)


@pytest.mark.parametrize("replay", [False, True])
def test_loaded_with_another_number_of_environments_its_episodes_begin(replay, tmp_path):
    agent = A2C("CartPole-v1", n_envs=8, normalize=BOTH, hidden=4, seed=0).learn(300)
    agent.save(tmp_path / "a.pt", replay)
    loaded = A2C.load(tmp_path / "a.pt", n_envs=2)
    assert loaded.normalizer.returns.tolist() == [0, 0]
    assert loaded.reward_factor == agent.reward_factor
    assert loaded.learn(100).steps >= 400
    same = A2C.load(tmp_path / "a.pt", n_envs=8)
    assert same.normalizer.returns.tolist() == agent.normalizer.returns.tolist()


@pytest.mark.parametrize(("before", "now"), [((), BOTH), (BOTH, ()), (BOTH, ["obs"])], ids=str)
def test_weights_go_with_the_normalisation_that_they_were_trained_with(before, now, tmp_path):
    path = tmp_path / "a.pt"
    AGENTS["td3"](normalize=before).learn(15).save(path)
    assert TD3.load(path, normalize=list(before)).steps == 15
    with one_sentence(ValueError, "normalize", str(before)):
        TD3.load(path, normalize=now)


def test_the_memory_holds_what_the_environment_gave_and_batches_are_normalised():
    drawn = []

    class Keen(DDPG):
        def update(self, batch):
            drawn.append(batch)
            return super().update(batch)

    plain, keen = (
        Keen("Short-v0", seed=0, normalize=normalize, noise=None, **tiny).learn(10)
        for normalize in ((), BOTH)
    )
    assert plain.normalizer is None
    assert "normalizer" not in plain.parts()
    np.testing.assert_array_equal(plain.buffer.arrays.obs[:10], keen.buffer.arrays.obs[:10])
    np.testing.assert_array_equal(plain.buffer.arrays.reward[:10], keen.buffer.arrays.reward[:10])
    raw, normal = drawn
    stats = keen.normalizer
    assert (normal.obs[0] != raw.obs[0]).any()
    assert normal.obs.abs().max() <= 10
    assert torch.equal(raw.action, normal.action)
    assert torch.equal(normal.terminated, raw.terminated)
    assert stats.of_obs.count == 9 + 1  # without the first step, with another first observation


def test_demonstrations_are_measured_too():
    demos = load_demos("data/demos/sparse_pendulum.npz", "SparsePendulum-v0")
    cloned = BehaviourCloning("SparsePendulum-v0", seed=0, normalize=("obs",), hidden=4)
    cloned.remember(demos)
    assert cloned.normalizer.of_obs.count == len(demos)
    rows = cloned.normal(cloned.measured(demos.obs))
    torch.testing.assert_close(rows.mean(dim=0), torch.zeros(3), atol=1e-4, rtol=0)
    torch.testing.assert_close(rows.std(dim=0), torch.ones(3), atol=1e-2, rtol=0)
    agent = TD3("SparsePendulum-v0", seed=0, normalize=("obs",), hidden=4)
    pretrain(agent, demos, epochs=2)
    assert agent.normalizer.of_obs.count == len(demos)


@pytest.mark.parametrize("wrong", ["obs", ("reward",), True, ("obs", 3), None], ids=str)
def test_what_cannot_be_normalised_is_one_sentence(wrong):
    with one_sentence(ValueError, "normalize must be", "'obs', 'rewards'"):
        TD3("Pendulum-v1", normalize=wrong)


def test_pictures_are_not_normalised():
    with one_sentence(ValueError, "pictures", "normalize"):
        TD3("ShortPixels-v0", normalize=BOTH, **tiny)


def test_numbers_far_from_0_are_told_apart():
    """As clocks are: in float32 there is no difference between 1.7e9 and one more."""
    normalizer = Normalizer(("obs",), 1, 1, 0.99)
    seen = 1.7e9 + torch.randn(1000, 1, dtype=torch.float64)
    normalizer.of_obs.add(seen)
    scaled = normalizer.obs(seen)
    assert scaled.dtype == torch.float32
    torch.testing.assert_close(scaled.std().item(), 1.0, rtol=0, atol=0.01)
    space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float64)
    agent = PPO(make(AnySpace, observation_space=space), seed=0, normalize=("obs",), hidden=4)
    agent.normalizer.of_obs.add(seen)
    torch.testing.assert_close(agent.flat(seen.numpy()), scaled)
