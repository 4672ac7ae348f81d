"""Evaluation: fresh starts, the same for everyone, without exploring and without side effects."""

import numpy as np
import pytest
from environments import Constant, Faulty, Guess, Log, Probe, make
from gymnasium import spaces
from sentences import one_sentence

from helpers.agents import A2C
from helpers.evaluation import Evaluation, as_function, evaluate


class Start(Probe):
    """An episode's return and its length, one to three steps, depend on its start alone."""

    def reset(self, *, seed=None, options=None):
        result = super().reset(seed=seed)
        self.length = int(self.np_random.integers(1, 4))
        self.worth = float(self.np_random.normal())
        return result

    def play(self, action):
        over = self.t == self.length
        return (self.worth if over else 0.0), over and self.length == 1, over and self.length > 1

    def close(self):
        self.seeds.append("closed")


def stay(obs):
    return 0


def test_every_episode_has_its_own_start_and_every_call_the_same():
    seeds = Log()
    env = make(Start, seeds=seeds)
    first = evaluate(stay, env, episodes=5, seed=70)
    assert seeds == [70, 71, 72, 73, 74, "closed"]
    assert len(set(first.returns.tolist())) == 5
    again = evaluate(lambda obs: 1, env, episodes=5, seed=70)
    np.testing.assert_array_equal(first.returns, again.returns)
    np.testing.assert_array_equal(first.lengths, again.lengths)
    shifted = evaluate(stay, env, episodes=4, seed=71)
    np.testing.assert_array_equal(shifted.returns, first.returns[1:])


@pytest.mark.parametrize("ending", ["terminated", "truncated"])
def test_returns_and_lengths_are_those_of_whole_episodes(ending):
    result = evaluate(stay, make(Constant, ending=ending, length=4, reward=2.5), episodes=3)
    assert result.returns.tolist() == [10.0, 10.0, 10.0]
    assert result.lengths.tolist() == [4, 4, 4]
    assert result.lengths.dtype.kind == "i"


def test_the_numbers_of_an_evaluation_and_its_words():
    result = Evaluation(np.array([1.0, 2.0, 6.0]), np.array([1, 2, 6]))
    assert (result.mean, result.std) == pytest.approx((3.0, np.sqrt(14 / 3)))
    assert type(result.mean) is type(result.std) is float
    assert str(result) == "3.0 ± 2.2 over 3 episodes (worst 1.0, best 6.0)"


def test_an_agent_is_evaluated_without_exploring():
    env = make(Guess, action_space=spaces.Box(-2, 2, (1,)), wanted={-1: [0.5], 1: [-1.0]})
    agent = A2C(env, hidden=8, seed=0)
    result = evaluate(agent, episodes=10)
    returns = [
        -float((agent.predict(np.float32([sign]))[0] - wanted) ** 2)
        for sign, wanted in ((-1.0, 0.5), (1.0, -1.0))
    ]
    assert np.unique(result.returns).tolist() == pytest.approx(sorted(returns))


def test_the_environment_the_agent_was_given_is_left_alone():
    seeds = Log()
    env = make(Start, seeds=seeds)
    env.reset(seed=1)
    agent = A2C(env, seed=0)
    evaluate(agent, episodes=2, seed=50)
    assert seeds == [1, 50, 51, "closed"]
    assert env.unwrapped.t == 0
    assert not env.unwrapped.over


AGENT = A2C(make(Constant, ending="terminated"), hidden=4, seed=0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        *((lambda wrong=wrong: evaluate(stay, "CartPole-v1", episodes=wrong), ValueError,
           f"episodes must be a whole number from 1 up, got {wrong!r}")
          for wrong in (0, 1.5, "3", True)),
        *((lambda wrong=wrong: evaluate(stay, "CartPole-v1", seed=wrong), ValueError,
           f"seed must be a whole number from 0 up, got {wrong!r}") for wrong in (-1, None)),
        (lambda: evaluate(stay), ValueError, "needs its environment"),
        (lambda: evaluate(A2C, "CartPole-v1"), TypeError, "neither an agent nor a function"),
        (lambda: evaluate(AGENT, "CartPole-v1"), ValueError, "(4,)"),
    ],
)  # fmt: skip
def test_what_cannot_be_evaluated_is_one_sentence(call, error, words):
    with one_sentence(error, words):
        call()


def test_another_environment_may_be_given():
    other = make(Constant, ending="terminated", reward=9)
    assert evaluate(AGENT, other, episodes=1).mean == 9


def test_a_function_may_give_the_pair_of_stable_baselines3():
    class Model:
        def predict(self, obs, state=None, episode_start=None, deterministic=False):
            return np.array(0), state

    plain = evaluate(stay, "CartPole-v1", episodes=2)
    for policy in (Model(), Model().predict):
        np.testing.assert_array_equal(
            evaluate(policy, "CartPole-v1", episodes=2).returns, plain.returns
        )
    for parts in ((0, 1), (np.zeros(2), np.zeros(2))):
        assert as_function(lambda obs, parts=parts: parts)(None) is parts


def test_the_environment_is_closed_when_it_fails():
    class Closing(Faulty):
        def close(self):
            steps.append("closed")

    steps = Log()
    env = make(Closing, fault=ArithmeticError("broken"), at=2, steps=steps)
    with pytest.raises(ArithmeticError, match="broken"):
        evaluate(stay, env)
    assert steps[-1] == "closed"
