"""Lesson 02's exercises: what their Markdown files cannot say."""

import pytest

from helpers.agents import off_policy
from helpers.agents.ddpg import DDPG
from helpers.agents.noise import OUNoise
from helpers.algorithms.ddpg import QNetwork
from helpers.checks import grade
from helpers.memory.buffers import ReplayBuffer


@pytest.mark.parametrize("seed", range(12))
def test_chance_decides_about_no_noise_and_no_buffer(seed):
    """Right ones pass whatever numbers they happen to draw."""

    class Noise(OUNoise):
        def sample(self, shape, rng):
            rng.random(seed)
            return super().sample(shape, rng)

    class Buffer(ReplayBuffer):
        def sample(self, batch_size):
            self.rng.random(seed)
            return super().sample(batch_size)

    for exercise_id, right in (("2.9", Noise), ("2.5", Buffer)):
        result = grade(exercise_id, right)
        assert result.passed, str(result)


def test_an_update_is_right_whatever_the_given_agent_is_made_of():
    """In an autograder its parts come from several loads of the course, and do not fit."""

    class OffPolicyAgent(off_policy.OffPolicyAgent):
        def build(self):
            raise ValueError("this noise is of another load")

    class Agent(OffPolicyAgent):
        critic_class = QNetwork
        update = DDPG.update

    result = grade("2.10", Agent)
    assert result.passed, str(result)
