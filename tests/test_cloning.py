"""Behaviour cloning: its loss by hand, and an actor that comes to do what it was shown."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest
import torch
from sentences import one_sentence
from torch import nn

from helpers.agents import (
    A2C,
    DDPG,
    PPO,
    RLPD,
    SAC,
    TD3,
    TD3BC,
    BehaviourCloning,
    DDPGfD,
    ReinforceWithBaseline,
)
from helpers.agents.cloning import PretrainingResult, as_shown, loss_on, pretrain, split_episodes
from helpers.algorithms.cloning import bc_loss, early_stopping, minibatches
from helpers.demos.files import Demos, load_demos

PENDULUM = "Pendulum-v1"


def shown(steps=400, seed=0, scale=1.0) -> Demos:
    """Steps of a linear policy, each an episode of its own: torque -1.5 times the sine of the
    angle, minus 0.1 times the velocity.
    """
    rng = np.random.default_rng(seed)
    angle, velocity = rng.uniform(-np.pi, np.pi, steps), rng.uniform(-4, 4, steps)
    obs = np.stack([np.cos(angle), np.sin(angle), velocity], axis=1)
    action = -1.5 * obs[:, 1:2] - 0.1 * obs[:, 2:]
    elsewhere, ends = np.roll(obs, 1, axis=0), np.ones(steps, dtype=bool)
    reward = scale * rng.normal(size=steps)
    return Demos(PENDULUM, "a linear policy", obs, action, reward, elsewhere, ~ends, ends)


def small(demos, seed=0, **settings):
    settings = {"hidden": 32, "batch_size": 64, "actor_learning_rate": 3e-3} | settings
    return BehaviourCloning(PENDULUM, seed=seed, **settings).remember(demos)


def weights_of(network):
    return [parameter.detach().clone() for parameter in network.parameters()]


def equal(one, other):
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.fixture(scope="module")
def demos():
    return shown()


@pytest.fixture(scope="module")
def trained(demos):
    return small(demos).learn(600)


# --- The loss -------------------------------------------------------------------------------------


def test_the_loss_by_hand():
    double = nn.Linear(1, 2, bias=False)
    double.weight.data = torch.tensor([[2.0], [-1.0]])
    obs, action = torch.tensor([[1.0], [0.5]]), torch.tensor([[1.0, -1.0], [0.0, 1.5]])
    loss = bc_loss(double, obs, action)
    # The actor does (2, -1) and (1, -0.5).
    assert loss.item() == pytest.approx((1 + 0 + 1 + 4) / 4)
    loss.backward()
    # Twice the difference times the observation, over four entries.
    torch.testing.assert_close(double.weight.grad, torch.tensor([[0.75], [-0.5]]))


def test_a_perfect_copy_has_no_loss():
    assert bc_loss(torch.tanh, torch.ones(3, 2), torch.tanh(torch.ones(3, 2))) == 0


# --- The agent ------------------------------------------------------------------------------------


def test_the_loss_becomes_smaller(trained):
    losses = [loss for _, loss in trained.history["bc_loss"]]
    assert len(losses) == 12
    assert losses[-1] < 0.1 * losses[0]


def test_it_does_what_the_policy_would_do_in_states_that_were_not_shown(trained):
    others = shown(seed=1)
    error = np.abs(trained.predict(others.obs) - others.action)
    assert error.mean() < 0.1  # actions are in [-2, 2], in the environment's units


def test_it_takes_no_step_and_counts_updates(trained):
    assert (trained.steps, trained.updates) == (600, 600)
    assert trained.env is None
    assert "return" not in trained.history


def test_critic_and_targets_have_no_part_in_it(demos):
    agent = small(demos)
    others = [agent.critic, agent.target_critic, agent.target_actor]
    before, actor = [weights_of(network) for network in others], weights_of(agent.actor)
    agent.learn(5)
    assert all(map(equal, before, map(weights_of, others)))
    assert not equal(actor, weights_of(agent.actor))


def test_rewards_have_no_part_in_it(demos):
    one, other = (small(shown(scale=scale)).learn(20) for scale in (1.0, 100.0))
    assert equal(weights_of(one.actor), weights_of(other.actor))


def test_its_seed_decides_how_it_goes(demos):
    one, again, other = (small(demos, seed=seed).learn(20) for seed in (3, 3, 4))
    assert equal(weights_of(one.actor), weights_of(again.actor))
    assert not equal(weights_of(one.actor), weights_of(other.actor))


def test_it_goes_on_where_it_stopped(demos):
    at_once, in_two = small(demos).learn(30), small(demos).learn(10).learn(20)
    assert equal(weights_of(at_once.actor), weights_of(in_two.actor))


def test_it_can_be_saved_and_loaded(trained, demos, tmp_path):
    trained.save(tmp_path / "copy.pt")
    loaded = BehaviourCloning.load(tmp_path / "copy.pt")
    np.testing.assert_array_equal(loaded.predict(demos.obs), trained.predict(demos.obs))


def test_what_the_docs_do_with_demonstrations_runs(trained, tmp_path, monkeypatch):
    using = Path("USING.md").read_text(encoding="utf-8")
    [lines] = re.findall(r"^( {4}from helpers.demos.files .*\n(?:\n| {4}.*\n)+)", using, re.M)
    monkeypatch.chdir(tmp_path)
    names = {"agent": trained, "BehaviourCloning": BehaviourCloning}
    exec(textwrap.dedent(lines).replace("2_000", "3"), names)
    assert len(names["copy"].buffer) == 20 * 200


def test_it_learns_from_the_courses_own_files():
    demos = load_demos("data/demos/pendulum.npz")
    agent = small(demos)
    assert len(agent.buffer) == len(demos)
    before = np.abs(agent.predict(demos.obs) - demos.action).mean()
    agent.learn(400)
    assert np.abs(agent.predict(demos.obs) - demos.action).mean() < 0.5 * before


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
    assert pretrain(TD3(PENDULUM, buffer_size=399, learning_starts=10), demos, epochs=1)


def test_what_no_file_of_demonstrations_gave_is_no_demonstration():
    with one_sentence(TypeError, "load_demos", "dict"):
        pretrain(TD3(PENDULUM), {"obs": np.zeros((4, 3))})


def test_demonstrations_of_another_environment_are_refused(demos):
    with one_sentence(ValueError, "cannot have"):
        BehaviourCloning("MountainCarContinuous-v0", seed=0).remember(demos)


# --- Pre-training: episodes set aside -------------------------------------------------------------


def episodes_of(lengths, seed=0) -> Demos:
    """Whole episodes; the reward says which one a step is of."""
    rng, parts = np.random.default_rng(seed), []
    for number, length in enumerate(lengths):
        path = rng.normal(size=(length + 1, 3))
        end = np.arange(length) == length - 1
        parts.append(
            {
                "obs": path[:-1], "next_obs": path[1:], "action": rng.uniform(-2, 2, (length, 1)),
                "reward": np.full(length, number), "terminated": end & False, "truncated": end,
            }
        )  # fmt: skip
    return Demos.from_episodes(PENDULUM, "chance", parts)


def numbers(demos):
    """Which episodes they are."""
    return [int(demos.reward[rows][0]) for rows in demos.episodes]


@pytest.mark.parametrize(
    ("count", "share", "aside"),
    [(2, 0.2, 1), (2, 0.9, 1), (5, 0.2, 1), (10, 0.2, 2), (10, 0.96, 9), (20, 0.25, 5)],
)
def test_whole_episodes_go_to_one_side(count, share, aside):
    lengths = [3 + i % 4 for i in range(count)]
    demos = episodes_of(lengths)
    train, valid = split_episodes(demos, share, np.random.default_rng(0))
    assert len(valid.episodes) == aside
    assert sorted(numbers(train) + numbers(valid)) == list(range(count))
    for side in (train, valid):
        assert numbers(side) == sorted(numbers(side))
        assert [e.stop - e.start for e in side.episodes] == [lengths[n] for n in numbers(side)]
        for rows, number in zip(side.episodes, numbers(side), strict=True):
            np.testing.assert_array_equal(side.obs[rows], demos.obs[demos.episodes[number]])


def test_chance_decides_which_episodes():
    demos = episodes_of([2] * 10)
    chosen = {
        tuple(numbers(split_episodes(demos, 0.2, np.random.default_rng(seed))[1]))
        for seed in range(20)
    }
    assert len(chosen) > 10
    assert len({number for pair in chosen for number in pair}) == 10


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan")])
def test_a_share_that_is_none_is_refused(share):
    with one_sentence(ValueError, "between 0 and 1"):
        split_episodes(episodes_of([2, 2]), share, np.random.default_rng(0))


def test_one_episode_cannot_be_split():
    with one_sentence(ValueError, "only one episode"):
        split_episodes(episodes_of([9]), 0.2, np.random.default_rng(0))


# --- Pre-training: minibatches and the early stop -------------------------------------------------


def test_an_epoch_learns_from_every_row_once():
    rng = np.random.default_rng(0)
    first, second = (list(minibatches(10, 4, rng)) for _ in range(2))
    assert [len(rows) for rows in first] == [4, 4, 2]
    assert sorted(torch.cat(first).tolist()) == list(range(10))
    assert torch.cat(first).tolist() != list(range(10))
    assert torch.cat(first).tolist() != torch.cat(second).tolist()


@pytest.mark.parametrize(
    ("losses", "patience", "answer"),
    [
        ([3.0], 1, (False, 0)),
        ([3.0, 2.0, 1.0], 1, (False, 2)),
        ([3.0, 1.0, 2.0], 1, (True, 1)),
        ([3.0, 1.0, 2.0], 2, (False, 1)),
        ([3.0, 1.0, 2.0, 1.5], 2, (True, 1)),
        ([3.0, 1.0, 1.0], 2, (False, 1)),  # as low is not lower
        ([1.0, 2.0, 3.0, 0.5], 3, (False, 3)),
        ([3.0, 2.0, float("nan")], 1, (True, 1)),
    ],
)
def test_the_early_stop_by_hand(losses, patience, answer):
    assert early_stopping(losses, patience) == answer


# --- Pre-training: agents -------------------------------------------------------------------------


def a_few(steps=20, count=6, seed=0) -> Demos:
    """Episodes of the linear policy of `shown`."""
    demos = shown(steps * count, seed)
    path = np.concatenate([demos.obs, demos.obs[:1]])
    end = np.arange(len(demos)) % steps == steps - 1
    return Demos(
        PENDULUM, demos.maker, demos.obs, demos.action, demos.reward, path[1:], end & False, end
    )


def agent_of(kind, **settings):
    own = {} if kind in (A2C, PPO) else {"learning_starts": 10}
    return kind(PENDULUM, **{"seed": 0, "hidden": 32} | own | settings)


@pytest.mark.parametrize("kind", [A2C, PPO, DDPG, TD3, DDPGfD, SAC, BehaviourCloning])
def test_an_agent_comes_to_do_what_it_was_shown(kind):
    agent, others = agent_of(kind), shown(seed=1)
    before = np.abs(agent.predict(others.obs) - others.action).mean()
    result = pretrain(agent, a_few(), epochs=60, learning_rate=3e-3, batch_size=16)
    assert np.abs(agent.predict(others.obs) - others.action).mean() < 0.4 * before
    assert result.validation_losses[result.best_epoch] == min(result.validation_losses)
    assert len(result.train_losses) == len(result.validation_losses) <= 61
    assert agent.steps == 0


def test_only_the_policy_moves_and_the_target_actor_follows():
    agent = agent_of(TD3)
    critics = [weights_of(agent.critic), weights_of(agent.target_critic)]
    actor = weights_of(agent.actor)
    pretrain(agent, a_few(), epochs=2)
    assert all(map(equal, critics, map(weights_of, (agent.critic, agent.target_critic))))
    assert not equal(actor, weights_of(agent.actor))
    assert equal(weights_of(agent.actor), weights_of(agent.target_actor))
    assert not agent.actor_optimizer.state
    agent.learn(20)


def test_the_losses_are_those_of_the_split():
    agent, demos = agent_of(TD3, seed=4), a_few()
    train, aside = split_episodes(demos, 0.3, np.random.default_rng(4))
    expected = [loss_on(agent, *as_shown(agent, part)) for part in (train, aside)]
    result = pretrain(agent, demos, validation=0.3, epochs=3)
    assert [result.train_losses[0], result.validation_losses[0]] == expected
    kept = [loss_on(agent, *as_shown(agent, part)) for part in (train, aside)]
    best = result.best_epoch
    assert kept == [result.train_losses[best], result.validation_losses[best]]


def random_teacher():
    """There is nothing to learn from chance: whatever improves is learned by heart."""
    return episodes_of([30] * 5)


def test_it_stops_when_it_learns_by_heart_and_keeps_the_best():
    agent = agent_of(TD3, hidden=64)
    result = pretrain(agent, random_teacher(), epochs=300, patience=5, learning_rate=0.01)
    assert len(result.validation_losses) - 1 == result.best_epoch + 5 < 300
    _, aside = split_episodes(random_teacher(), 0.2, np.random.default_rng(0))
    assert loss_on(agent, *as_shown(agent, aside)) == min(result.validation_losses)
    assert loss_on(agent, *as_shown(agent, aside)) < result.validation_losses[-1]
    assert result.train_losses[-1] < result.train_losses[0]


def test_what_never_improves_stays_as_it_was():
    agent = agent_of(TD3)
    before = weights_of(agent.actor)
    result = pretrain(agent, random_teacher(), patience=2, learning_rate=1e6)
    assert result.best_epoch == 0
    assert equal(before, weights_of(agent.actor))


def test_the_seed_and_the_rate_decide():
    def losses(**settings):
        return pretrain(agent_of(TD3), a_few(), epochs=3, **settings).validation_losses

    assert losses() == losses(seed=0) == losses(learning_rate=1e-3)
    assert losses(seed=1) != losses()
    assert losses(learning_rate=1e-4) != losses()
    slow = agent_of(TD3, actor_learning_rate=1e-4)
    assert pretrain(slow, a_few(), epochs=3).validation_losses == losses(learning_rate=1e-4)


def test_a2c_maximises_the_probability_of_what_was_done():
    """By hand, in the policy's units: torques of [-2, 2] are actions of [-1, 1]."""
    agent, demos = agent_of(A2C), a_few()
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


def test_the_result_says_which_epoch_was_kept():
    result = PretrainingResult([3.0, 2.0, 1.0], [3.0, 2.5, 2.75], 1)
    assert str(result) == "epoch 1 of 2 kept: validation loss 2.5, before training 3"


def test_what_cannot_be_pretrained_is_one_sentence():
    demos = a_few()
    for agent, settings, words in [
        (ReinforceWithBaseline("CartPole-v1", seed=0), {}, "cannot be pre-trained"),
        (agent_of(TD3), {"epochs": 0}, "epochs"),
        (agent_of(TD3), {"batch_size": 0}, "batch_size"),
        (agent_of(TD3), {"patience": 0}, "patience"),
        (A2C("CartPole-v1", seed=0), {}, "cannot have"),
        (DDPG("MountainCarContinuous-v0", seed=0), {}, "cannot have"),
    ]:
        with one_sentence(ValueError, match=words):
            pretrain(agent, demos, **settings)
