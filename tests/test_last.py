"""What a callback can look at, and a callback for who has no notebook."""

import re

import numpy as np
import pytest
from environments import LOPSIDED, TORQUE, Counting, Log, make
from wholes import AGENTS

from helpers.agents import A2C, DDPG, TD3, ReinforceWithBaseline
from helpers.training.callbacks import Print

TINY = {"learning_starts": 5, "batch_size": 4, "hidden": 4}


def counting(**settings):
    return make(Counting, transitions=Log(), **settings)


def as_logged(transition):
    """The transition in the form in which the environment noted it."""
    obs, action, reward, next_obs, terminated, truncated, _ = transition
    before, after = (tuple(map(int, each)) for each in (obs, next_obs))
    return before, np.asarray(action).tolist(), reward, after, terminated, truncated


@pytest.mark.parametrize("kind", [DDPG, ReinforceWithBaseline])
def test_the_last_transition_is_what_happened_in_the_environments_units(kind):
    settings = TINY | {"reward_scale": 0.1} if kind is DDPG else {"hidden": 4}
    env = counting(**({"action_space": LOPSIDED} if kind is DDPG else {}))
    log, agent = env.unwrapped.transitions, kind(env, seed=0, **settings)
    assert agent.last == ([], {})
    seen = []

    def look(agent):
        [transition] = agent.last.transitions
        seen.append(transition)
        assert as_logged(transition) == log[-1]

    agent.learn(40, callback=look)
    assert any(each.terminated for each in seen)
    assert any(each.truncated for each in seen)


def test_a2c_has_a_last_transition_for_each_of_its_environments():
    log = Log()
    agent = A2C(make(Counting, transitions=log), seed=0, n_envs=3, n_steps=7, hidden=4)

    def look(agent):
        transitions = list(map(as_logged, agent.last.transitions))
        assert len(transitions) == 3
        names = [env.unwrapped.name for env in agent.envs.envs]
        newest = [[each for each in log if each[0][0] == name][-1] for name in names]
        assert transitions == newest

    agent.learn(100, callback=look)


def test_the_last_losses_are_those_of_the_last_update_of_each():
    agent, seen = TD3("Pendulum-v1", seed=0, log_every=1, **TINY), []
    agent.learn(30, callback=lambda agent: seen.append((agent.steps, dict(agent.last.losses))))
    assert seen[0][1] == {}
    for step, losses in seen[4:]:
        for name in ("critic_loss", "actor_loss"):
            logged = [value for when, value in agent.history[name] if when <= step]
            assert losses.get(name) == (logged[-1] if logged else None)
    a2c = AGENTS["a2c"]().learn(50)
    assert a2c.last.losses == {name: a2c.history[name][-1][1] for name in a2c.last.losses}
    assert a2c.last.losses.keys() == {"actor_loss", "critic_loss", "entropy"}


def test_print_says_how_training_goes(capsys):
    agent = DDPG(counting(action_space=TORQUE), seed=0, **TINY)
    agent.learn(50, callback=Print(every=20, episodes=3))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    for line, step in zip(lines, (20, 40), strict=True):
        returns = [value for when, value in agent.history["return"] if when <= step]
        told = re.fullmatch(
            r"step (\d+) · (\d+) episodes · mean return of the last 3: (-?[\d.]+) · [\d,]+ steps/s",
            line,
        )
        assert told, line
        assert (int(told[1]), int(told[2])) == (step, len(returns))
        assert float(told[3]) == pytest.approx(np.mean(returns[-3:]), abs=0.051)


def test_print_before_the_first_episode_has_ended(capsys):
    DDPG("Pendulum-v1", seed=0, hidden=4).learn(20, callback=Print(every=10))
    assert capsys.readouterr().out.count(" · 0 episodes · ") == 2
