"""Lesson 02's exercises: what their Markdown files cannot say."""

import numpy as np
import pytest
import torch
from torch import nn

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


def test_only_add_is_written_yet():
    class Buffer(ReplayBuffer):
        def sample(self, batch_size):
            raise NotImplementedError("exercise 2.5")

    result = grade("2.5", Buffer)
    assert result.diagnosis == "unfinished"
    assert "`sample` still raises" in result.message


def test_a_batch_may_be_larger_than_the_memory():
    class Buffer(ReplayBuffer):
        def sample(self, batch_size):
            return super().sample(min(batch_size, self.size))

    class FromEmptyPlaces(ReplayBuffer):
        def sample(self, batch_size):
            stored, self.size = self.size, min(max(self.size, batch_size), self.capacity)
            batch = super().sample(batch_size)
            self.size = stored
            return batch

    for kind in (Buffer, FromEmptyPlaces):
        assert grade("2.5", kind).diagnosis == "no batch larger than the memory"


def test_the_newest_step_is_not_drawn_more_often():
    class Buffer(ReplayBuffer):
        def sample(self, batch_size):
            batch = super().sample(batch_size)
            for rows, memory in zip(batch, self.tensors, strict=True):
                rows[0] = memory[(self.position - 1) % self.capacity]
            return batch

    assert "some much more often than others" in str(grade("2.5", Buffer))


def test_rewards_keep_their_decimals():
    class Buffer(ReplayBuffer):
        def add(self, obs, action, reward, *rest):
            super().add(obs, action, int(reward), *rest)

    assert "none of these" in str(grade("2.5", Buffer))


def test_critics_that_leave_a_number_out_or_start_wide_are_refused():
    class Twice(QNetwork):
        def forward(self, obs, action):
            return super().forward(obs[:, :1].expand_as(obs), action)

    class WideStart(QNetwork):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            nn.init.uniform_(self.output.weight, -0.3, 0.3)

    assert not grade("2.3", Twice).passed
    assert grade("2.3", WideStart).diagnosis == "weights of the last layer not small"


def test_a_target_that_is_wrong_has_its_name_with_or_without_gradient():
    def with_gradient(batch, actor, critic, gamma):
        return batch.reward + gamma * critic(batch.next_obs, actor(batch.next_obs))

    for target in (with_gradient, torch.no_grad()(with_gradient)):
        assert grade("2.6", target).diagnosis == "no mask"


def test_layers_that_torch_does_not_know_are_told_from_wrong_sizes():
    """Whichever of them they are, and wherever layers of another kind stand."""

    class FirstInAList(QNetwork):
        def __init__(self, obs_size, action_dim, hidden=64):
            super().__init__(obs_size, action_dim, hidden)
            self.first = [self.hidden1]
            del self.hidden1

        def forward(self, obs, action):
            x = torch.relu(self.first[0](torch.cat([obs, action], dim=-1)))
            return self.output(torch.relu(self.hidden2(x))).squeeze(-1)

    class Normalised(QNetwork):
        def __init__(self, obs_size, action_dim, hidden=64):
            super().__init__(obs_size, action_dim, hidden)
            self.norm = nn.LayerNorm(obs_size + action_dim)

        def forward(self, obs, action):
            x = self.norm(torch.cat([obs, action], dim=-1))
            x = torch.relu(self.hidden2(torch.relu(self.hidden1(x))))
            return self.output(x).squeeze(-1)

    assert grade("2.3", FirstInAList).diagnosis == "some layers in a plain list"
    assert grade("2.3", Normalised).diagnosis == "normalised layers"


def test_the_first_sample_after_a_reset_is_pushed():
    class Noise(OUNoise):
        def reset(self):
            self.value = None

        def sample(self, shape, rng):
            if self.value is None:
                self.value = torch.zeros(shape).numpy()
                return self.value
            return super().sample(shape, rng)

    assert grade("2.9", Noise).diagnosis == "no push after a reset"


def test_a_single_number_of_numpys_is_the_same_mistake_as_one_of_pythons():
    class Noise(OUNoise):
        def sample(self, shape, rng):
            push = self.sigma * np.sqrt(self.dt) * rng.standard_normal()
            self.value = self.value - self.theta * self.value * self.dt + push
            return self.value

    assert grade("2.9", Noise).diagnosis == "shape ignored"


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
