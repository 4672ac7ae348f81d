"""Behaviour cloning and pre-training: an actor comes to do what it was shown."""

import re
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentences import one_sentence
from trials import quick, snapshot

from helpers import agents
from helpers.agents import A2C, DDPG, PPO, RLPD, SAC, TD3, TD3BC, BehaviourCloning, DDPGfD
from helpers.agents.cloning import as_shown, loss_on, pretrain, split_episodes
from helpers.algorithms import cloning
from helpers.algorithms.cloning import early_stopping, minibatches
from helpers.demos.files import Demos, save_demos

PENDULUM = "Pendulum-v1"


def as_demos(obs, action, ends, reward=None):
    """Steps in a row; an episode is cut off where `ends` says."""
    path, reward = np.concatenate([obs, obs[:1]]), ends * 1.0 if reward is None else reward
    return Demos(PENDULUM, "a test", path[:-1], action, reward, path[1:], ends & False, ends)


def shown(steps=400, length=20, seed=0, scale=1.0) -> Demos:
    """Steps of a linear policy: torque -1.5 times the sine of the angle, -0.1 times the speed."""
    rng = np.random.default_rng(seed)
    angle, velocity = rng.uniform(-np.pi, np.pi, steps), rng.uniform(-4, 4, steps)
    obs = np.stack([np.cos(angle), np.sin(angle), velocity], axis=1)
    action = -1.5 * obs[:, 1:2] - 0.1 * obs[:, 2:]
    ends = np.arange(steps) % length == length - 1
    return as_demos(obs, action, ends, scale * rng.normal(size=steps))


def chance(lengths, seed=0) -> Demos:
    """Episodes that teach nothing; the reward says which one a step is of."""
    rng, n = np.random.default_rng(seed), sum(lengths)
    ends = np.zeros(n, dtype=bool)
    ends[np.cumsum(lengths) - 1] = True
    number = np.repeat(np.arange(len(lengths)), lengths)
    return as_demos(rng.normal(size=(n, 3)), rng.uniform(-2, 2, (n, 1)), ends, number)


def small(demos, seed=0, **settings):
    settings = {"hidden": 32, "batch_size": 64, "actor_learning_rate": 3e-3} | settings
    return BehaviourCloning(PENDULUM, seed=seed, **settings).remember(demos)


def agent_of(kind, **settings):
    own = {} if kind in (A2C, PPO) else {"learning_starts": 10}
    return kind(PENDULUM, **{"seed": 0, "hidden": 32} | own | settings)


def miss(agent, demos):
    """How far its actions are from those that were shown, in torques of up to 2."""
    return np.abs(agent.predict(demos.obs) - demos.action).mean()


def equal(one, other):
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.fixture(scope="module")
def demos():
    return shown()


@pytest.fixture(scope="module")
def trained(demos):
    return small(demos).learn(600)


# ---- the agent -----------------------------------------------------------------------------------


def test_it_does_what_the_policy_would_do_in_states_that_were_not_shown(trained):
    assert miss(trained, shown(seed=1)) < 0.1
    losses = [loss for _, loss in trained.history["bc_loss"]]
    assert len(losses) == 12
    assert losses[-1] < 0.1 * losses[0]
    assert (trained.steps, trained.updates, trained.env) == (600, 600, None)
    assert "return" not in trained.history


def test_seed_and_demonstrated_actions_decide_and_nothing_else(demos):
    agent = small(demos)
    others = [agent.critic, agent.target_critic, agent.target_actor]
    before = [snapshot(network) for network in others]
    actor = snapshot(agent.learn(10).learn(20).actor)
    assert all(map(equal, before, map(snapshot, others)))
    other_rewards, other_seed = small(shown(scale=100)), small(demos, seed=4)
    assert equal(actor, snapshot(other_rewards.learn(30).actor))
    assert not equal(actor, snapshot(other_seed.learn(30).actor))


def test_what_the_docs_do_with_demonstrations_runs(trained, tmp_path, monkeypatch):
    using = Path("USING.md").read_text(encoding="utf-8")
    [lines] = re.findall(r"^( {4}from helpers.demos.files .*\n(?:\n| {4}.*\n)+)", using, re.M)
    monkeypatch.chdir(tmp_path)
    names = {"agent": trained, "BehaviourCloning": BehaviourCloning}
    exec(textwrap.dedent(lines).replace("2_000", "3"), names)
    assert len(names["copy"].buffer) == 20 * 200


@pytest.mark.parametrize("kind", [BehaviourCloning, TD3BC])
def test_without_demonstrations_it_says_what_to_do(kind):
    with one_sentence(ValueError, "remember"):
        kind(PENDULUM, seed=0).learn(1)


@pytest.mark.parametrize("kind", [BehaviourCloning, DDPGfD, TD3BC, RLPD])
def test_more_than_the_memory_holds_is_refused_and_not_overwritten(kind, demos):
    agent = kind(PENDULUM, seed=0, buffer_size=399, learning_starts=10)
    with one_sentence(ValueError, "400 steps", "399", f"give {kind.__name__} a buffer_size"):
        agent.remember(demos)
    assert len(agent.buffer) == 0
    with one_sentence(ValueError, "cannot have"):
        kind("MountainCarContinuous-v0", seed=0).remember(demos)
    with one_sentence(TypeError, "load_demos", "list"):
        agent.remember([1, 2, 3])


# ---- pre-training: episodes set aside, minibatches, the early stop -------------------------------


def numbers(demos):
    """Which episodes they are."""
    return [int(demos.reward[rows][0]) for rows in demos.episodes]


@quick
@given(st.lists(st.integers(1, 4), min_size=2, max_size=20), st.floats(0.01, 0.99), st.integers(0))
def test_whole_episodes_go_to_one_side_in_the_lessons_file_too(lengths, share, seed):
    demos, count = chance(lengths), len(lengths)
    train, valid = split_episodes(demos, share, np.random.default_rng(seed))
    assert len(valid.episodes) == min(max(1, round(share * count)), count - 1)
    assert sorted(numbers(train) + numbers(valid)) == list(range(count))
    for side in (train, valid):
        assert numbers(side) == sorted(numbers(side))
        for rows, number in zip(side.episodes, numbers(side), strict=True):
            np.testing.assert_array_equal(side.obs[rows], demos.obs[demos.episodes[number]])
    rows, aside = cloning.split_episodes(demos.truncated, share, np.random.default_rng(seed))
    np.testing.assert_array_equal(demos.obs[rows], train.obs)
    np.testing.assert_array_equal(demos.obs[aside], valid.obs)


def test_an_epoch_learns_from_every_row_once():
    rng = np.random.default_rng(0)
    first, second = (list(minibatches(10, 4, rng)) for _ in range(2))
    assert [len(rows) for rows in first] == [4, 4, 2]
    assert sorted(torch.cat(first).tolist()) == list(range(10)) != torch.cat(first).tolist()
    assert torch.cat(first).tolist() != torch.cat(second).tolist()


@pytest.mark.parametrize(
    ("losses", "patience", "answer"),
    [
        ([3.0], 1, (False, 0)),
        ([3.0, 2.0, 1.0], 1, (False, 2)),
        ([3.0, 1.0, 2.0], 1, (True, 1)),
        ([3.0, 1.0, 2.0], 2, (False, 1)),
        ([3.0, 1.0, 1.0], 2, (False, 1)),  # as low is not lower
        ([1.0, 2.0, 3.0, 0.5], 3, (False, 3)),
        ([3.0, 2.0, float("nan")], 1, (True, 1)),
    ],
)
def test_the_early_stop_by_hand(losses, patience, answer):
    assert early_stopping(losses, patience) == answer


def test_the_lessons_file_copies_and_keeps_the_best_epoch(demos, tmp_path):
    save_demos(tmp_path / "demos.npz", demos)
    s = cloning.Settings(PENDULUM, tmp_path / "demos.npz", epochs=300, patience=20)
    agent = cloning.train(s, seed=0)
    assert miss(agent, demos) < 0.1
    losses = [loss for _, loss in agent.history["validation_loss"]]
    assert len(losses) == 300 or len(losses) - 1 - int(np.argmin(losses)) == 20
    again = cloning.train(replace(s, epochs=int(np.argmin(losses)) + 1), seed=0)
    assert equal(agent.actor.parameters(), again.actor.parameters())


# ---- pre-training: agents ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [A2C, PPO, DDPG, TD3, DDPGfD, SAC, BehaviourCloning])
def test_an_agent_comes_to_do_what_it_was_shown(kind):
    agent, others = agent_of(kind), shown(seed=1)
    before = miss(agent, others)
    result = pretrain(agent, shown(120), epochs=60, learning_rate=3e-3, batch_size=16)
    assert miss(agent, others) < 0.4 * before
    assert result.validation_losses[result.best_epoch] == min(result.validation_losses)
    assert len(result.train_losses) == len(result.validation_losses) <= 61
    assert agent.steps == 0


def test_only_the_policy_moves_and_the_target_actor_follows():
    agent = agent_of(TD3)
    critics, actor = [snapshot(agent.critic), snapshot(agent.target_critic)], snapshot(agent.actor)
    pretrain(agent, shown(120), epochs=2)
    assert all(map(equal, critics, map(snapshot, (agent.critic, agent.target_critic))))
    assert not equal(actor, snapshot(agent.actor))
    assert equal(snapshot(agent.actor), snapshot(agent.target_actor))
    assert not agent.actor_optimizer.state
    agent.learn(20)


def test_it_stops_when_it_learns_by_heart_and_keeps_the_best():
    """There is nothing to learn from chance: whatever improves is learned by heart."""
    demos, agent = chance([30] * 5), agent_of(TD3, hidden=64)
    parts = [as_shown(agent, part) for part in split_episodes(demos, 0.2, np.random.default_rng(0))]
    before = [loss_on(agent, *part) for part in parts]
    result = pretrain(agent, demos, epochs=300, patience=5, learning_rate=0.01)
    assert [result.train_losses[0], result.validation_losses[0]] == before
    assert len(result.validation_losses) - 1 == result.best_epoch + 5 < 300
    kept = [loss_on(agent, *part) for part in parts]
    best = result.best_epoch
    assert kept == [result.train_losses[best], result.validation_losses[best]]
    assert kept[1] == min(result.validation_losses) < result.validation_losses[-1]
    assert result.train_losses[-1] < result.train_losses[0]
    last = len(result.validation_losses) - 1
    assert str(result).startswith(f"epoch {best} of {last} kept: validation loss {kept[1]:.4g}, ")


def test_what_never_improves_stays_as_it_was():
    agent = agent_of(TD3)
    before = snapshot(agent.actor)
    assert pretrain(agent, chance([30] * 5), patience=2, learning_rate=1e6).best_epoch == 0
    assert equal(before, snapshot(agent.actor))


def test_the_seed_and_the_rate_decide():
    def losses(agent=None, **settings):
        agent = agent or agent_of(TD3)
        return pretrain(agent, shown(120), epochs=3, **settings).validation_losses

    assert losses() == losses(seed=0) == losses(learning_rate=1e-3)
    assert losses(seed=1) != losses()
    slow = agent_of(TD3, actor_learning_rate=1e-4)
    assert losses(slow) == losses(learning_rate=1e-4) != losses()


def test_a2c_maximises_the_probability_of_what_was_done():
    """By hand, in the policy's units: torques of [-2, 2] are actions of [-1, 1]."""
    agent, demos = agent_of(A2C), shown(120)
    obs, action = as_shown(agent, demos)
    np.testing.assert_allclose(action.numpy(), demos.action / 2, rtol=1e-6)
    density = torch.distributions.Normal(agent.policy.actor(obs), agent.policy.log_std.exp())
    expected = -density.log_prob(action).sum(dim=1).mean().item()
    assert loss_on(agent, obs, action) == pytest.approx(expected, rel=1e-5)


def test_a2c_with_discrete_actions():
    rng = np.random.default_rng(0)
    path = rng.normal(size=(301, 4)).astype(np.float32)
    action, end = (path[:-1, 2] > 0).astype(np.int64), np.arange(300) % 50 == 49
    demos = Demos(
        "CartPole-v1", "a rule", path[:-1], action, np.ones(300), path[1:], end, ~end & end
    )
    agent = A2C("CartPole-v1", seed=0)
    result = pretrain(agent, demos, learning_rate=3e-3)
    assert result.validation_losses[0] == pytest.approx(np.log(2), abs=0.1)
    fresh = rng.normal(size=(500, 4)).astype(np.float32)
    assert (agent.predict(fresh) == (fresh[:, 2] > 0)).mean() > 0.9


@pytest.mark.parametrize(
    ("kind", "env_id", "settings", "words"),
    [
        ("ReinforceWithBaseline", "CartPole-v1", {}, "cannot be pre-trained"),
        ("A2C", "CartPole-v1", {}, "cannot have"),
        ("DDPG", "MountainCarContinuous-v0", {}, "cannot have"),
        ("TD3", PENDULUM, {"epochs": 0}, "epochs must be a whole number from 1 up, got 0"),
        ("TD3", PENDULUM, {"batch_size": 0}, "batch_size"),
        ("TD3", PENDULUM, {"patience": 0}, "patience"),
        *[
            ("TD3", PENDULUM, {"validation": share}, "between 0 and 1")
            for share in (0, 1, float("nan"))
        ],
    ],
)
def test_what_cannot_be_pretrained_is_one_sentence(kind, env_id, settings, words, demos):
    with one_sentence(ValueError, words):
        pretrain(getattr(agents, kind)(env_id, seed=0), demos, **settings)


def test_what_cannot_be_split_or_read_is_one_sentence():
    with one_sentence(ValueError, "only one episode"):
        pretrain(agent_of(TD3), chance([9]))
    with one_sentence(TypeError, "load_demos", "dict"):
        pretrain(agent_of(TD3), {"obs": np.zeros((4, 3))})
