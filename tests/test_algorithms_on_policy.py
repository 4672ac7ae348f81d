"""The files of REINFORCE, A2C and PPO: they learn, and as the library does."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces

from helpers.agents import A2C, PPO
from helpers.agents.schedules import LinearSchedule
from helpers.algorithms import a2c, ppo, reinforce, shared
from helpers.algorithms.policies import policy_for
from helpers.evaluation import evaluate
from helpers.training.settings import get_setting

LENGTH = 3  # of every episode


class World(gym.Env):
    """Shows a sign that actions should have, or counts its steps. Ends after `LENGTH` of them."""

    def __init__(self, task, cut=False):
        self.task, self.cut = task, cut
        self.observation_space = spaces.Box(-9, 9, (1,), np.float32)
        is_continuous = task == "aim"
        self.action_space = spaces.Box(-2, 2, (1,)) if is_continuous else spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.observe(), {}

    def observe(self):
        self.sign = self.np_random.choice([-1, 1])
        shown = {"match": self.sign, "aim": self.sign, "count": self.steps, "wait": 1}
        return np.array([shown[self.task]], np.float32)

    def step(self, action):
        reward = 1.0
        if self.task == "match":
            reward = float(2 * action - 1 == self.sign)
        elif self.task == "aim":
            reward = float(action[0] * self.sign / 2)
        self.steps += 1
        over = self.steps == LENGTH
        return self.observe(), reward, over and not self.cut, over and self.cut, {}


for task in ("match", "aim", "count", "wait"):
    for name, cut in (("over", False), ("cut", True)):
        gym.register(f"{task}-{name}-v0", World, kwargs={"task": task, "cut": cut})

SMALL = {"n_envs": 4, "n_steps": 8}
QUICK = {
    reinforce: {"annealing_steps": 10**9, "learning_rate": 1e-2, "reward_scale": 1.0, "gamma": 0.5},
    a2c: {**SMALL, "annealing_steps": 10**9, "reward_scale": 1.0, "gamma": 0.5},
    ppo: {**SMALL, "n_epochs": 4, "batch_size": 16, "reward_scale": 1.0, "gamma": 0.5},
}
FILES = pytest.mark.parametrize("file", QUICK, ids=lambda file: file.__name__.split(".")[-1])


def trained(file, env_id, steps, seed=0, watch=shared.unwatched, **settings):
    return file.train(
        file.Settings(env_id=env_id, steps=steps, **QUICK[file] | settings), seed, watch
    )


# ---- they learn ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "env_id", "steps"),
    [
        (reinforce, "match-over-v0", 1000),
        (a2c, "match-over-v0", 2000),
        (ppo, "match-cut-v0", 1000),
        (a2c, "aim-over-v0", 2000),
        (ppo, "aim-cut-v0", 1000),
    ],
)
def test_it_learns_a_tiny_world(file, env_id, steps):
    agent = trained(file, env_id, steps)
    for policy in (agent, agent.act):
        assert evaluate(policy, env_id, episodes=20).mean == pytest.approx(LENGTH, abs=0.1)
    logged, returns = zip(*agent.history["return"], strict=True)
    assert list(logged) == sorted(logged)
    assert len(returns) == pytest.approx(steps / LENGTH, abs=12)  # of every episode, one each
    assert np.mean(returns[-100:]) > np.mean(returns[:100])


@FILES
@pytest.mark.parametrize(("end", "worth"), [("cut", 2.0), ("over", (1.75 + 1.5 + 1) / 3)])
def test_the_future_counts_after_a_cut_and_not_after_an_end(file, end, worth):
    """1 a step for ever is worth 2 at gamma 0.5; the mean of three steps' returns is less."""
    agent = trained(file, f"wait-{end}-v0", steps=1500)
    assert agent.critic(torch.ones(1)).item() == pytest.approx(worth, abs=0.1)


@FILES
def test_a_seed_gives_the_same_weights(file):
    def weights(seed):
        agent = trained(file, "match-over-v0", steps=200, seed=seed)
        return torch.cat([p.flatten() for p in agent.critic.parameters()])

    assert torch.equal(weights(1), weights(1))
    assert not torch.equal(weights(1), weights(2))


@FILES
def test_what_watches_may_stop_it(file):
    def watch(steps, agent, history):
        for step in steps:
            yield step
            if step >= 100:
                return

    agent = trained(file, "match-over-v0", steps=10**6, watch=watch)
    assert 90 < agent.history["return"][-1][0] < 200


@pytest.mark.parametrize(
    ("file", "optimizer", "steps"),
    [(reinforce, "actor_optimizer", 320), (a2c, "policy_optimizer", 320), (ppo, "optimizer", 640)],
)
def test_the_learning_rate_falls_on_a_straight_line(file, optimizer, steps):
    s = {"learning_rate": 1e-2, "final_learning_rate": 1e-3}
    falling = {"annealing_steps": 640} if file is not ppo else {}  # PPO's falls all the time
    agent = trained(file, "match-over-v0", steps, **s, **falling)
    last = agent.history["return"][-1][0]
    rate = getattr(agent, optimizer).param_groups[0]["lr"]
    assert rate == pytest.approx(1e-2 - 9e-3 * last / 640)
    assert file is ppo or agent.critic_optimizer.param_groups[0]["lr"] == 1e-2


# ---- rollouts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "returns"),
    [("cut", [2.125, 2.25, 2.5, 1.5]), ("over", [1.75, 1.5, 1.0, 1.5])],
)
def test_a_rollout_has_no_filler_and_sees_what_ended(end, returns):
    """V(s) is the step that is shown: 3 where an episode ended, 1 after the rollout's last step."""
    envs = a2c.make_envs(f"count-{end}-v0", 2)
    obs, _ = envs.reset(seed=0)
    policy = policy_for(1, spaces.Discrete(2))
    rollout, after, episodes = a2c.collect(envs, obs, policy, 4, np.random.default_rng(0))
    for column, expected in (
        (rollout.obs, [0, 1, 2, 0]),
        (rollout.next_obs, [1, 2, 3, 1]),
        (rollout.rewards, [1, 1, 1, 1]),
        (rollout.terminated, [0, 0, end == "over", 0]),
        (rollout.truncated, [0, 0, end == "cut", 0]),
    ):
        np.testing.assert_array_equal(column.reshape(4, 2), np.transpose([expected, expected]))
    assert (after.tolist(), episodes) == ([[1], [1]], [LENGTH, LENGTH])
    rows = a2c.as_rows(rollout, lambda obs: obs, reward_scale=1.0, gamma=0.5, lam=1.0)
    assert rows.returns.reshape(4, 2)[:, 0].tolist() == returns
    assert torch.equal(rows.advantages, rows.returns - rows.obs[:, 0])


# ---- file and library agree ----------------------------------------------------------------------

AGREEING = [
    (a2c, A2C, {"critic_steps": 3, "entropy_coef": 0.1, "max_grad_norm": 0.05}),
    (ppo, PPO, {"n_epochs": 3, "batch_size": 16, "entropy_coef": 0.1, "max_grad_norm": 0.05}),
    (ppo, PPO, {"n_epochs": 9, "batch_size": 20, "value_clip_range": 0.1, "target_kl": 0.002}),
]


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Pendulum-v1"])
@pytest.mark.parametrize(("file", "kind", "settings"), AGREEING)
def test_updates_equal_the_librarys(file, kind, settings, env_id):
    theirs = kind(env_id, seed=0, learning_rate=1e-2, **settings)
    s = file.Settings(learning_rate=1e-2, **settings)
    ours = file.Agent(a2c.make_envs(env_id, 1), s)
    for name in ("policy", "critic"):
        getattr(ours, name).load_state_dict(getattr(theirs, name).state_dict())
    theirs.rng, rng = np.random.default_rng(7), np.random.default_rng(7)
    for seed in range(4):
        batch = a_batch(ours, np.random.default_rng(seed))
        theirs.learn_from(*batch)
        numbers = file.update(ours, batch, s, *([rng] if file is ppo else []))
        for name in ("policy", "critic"):
            for a, b in zip(*(getattr(x, name).parameters() for x in (ours, theirs)), strict=True):
                torch.testing.assert_close(a, b, atol=1e-6, rtol=0)
    assert not any(number.requires_grad for number in numbers.values())


def a_batch(agent, rng, size=64):
    obs = torch.from_numpy(rng.normal(size=(size, agent.critic[0].in_features))).float()
    with torch.no_grad():
        actions = torch.from_numpy(agent.policy.sample(obs, rng))
    advantages, returns = torch.from_numpy(rng.normal(2, 3, (2, size))).float()
    return a2c.Rows(obs, actions, advantages, returns)


@pytest.mark.parametrize(
    ("algorithm", "s", "others"),
    [
        ("reinforce", reinforce.CARTPOLE, {}),
        ("a2c", a2c.CARTPOLE, {}),
        ("a2c", a2c.PENDULUM, {}),
        ("ppo", ppo.CARTPOLE, {}),
        ("ppo", ppo.ACROBOT, {}),
        ("ppo", ppo.PENDULUM, {"n_steps": 201, "batch_size": 256}),  # with filler rows
    ],
)
def test_settings_are_the_lessons(algorithm, s, others):
    setting = get_setting(algorithm, s.env_id)
    expected = {**setting.make(seed=0).hyperparameters, "steps": setting.steps}
    own = {**vars(s), "env_id": None, "final_learning_rate": None, "annealing_steps": None} | others
    falls = s.final_learning_rate, getattr(s, "annealing_steps", s.steps)
    own["learning_rate"] = LinearSchedule(s.learning_rate, *falls)
    assert {name: value for name, value in own.items() if value is not None} == {
        name: value for name, value in expected.items() if name in own and value is not None
    }
