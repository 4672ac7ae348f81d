"""Prioritized replay: how often steps are drawn, what they count for, how far they look ahead."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sentences import assert_one_sentence, one_sentence
from test_buffers import quick
from test_prioritized import filled, step

from helpers.memory.buffers import PrioritizedReplayBuffer

# ---- n steps ahead -------------------------------------------------------------------------------

endings = st.sampled_from(["goes on"] * 6 + ["terminated", "truncated", "both", "broken off"])


def plain_look_ahead(steps, stored, i, n, gamma):
    """What a loop over the steps i, i + 1, ... makes of it: return, last step, discount."""
    total, discount, last = 0.0, 1.0, i
    for j in range(i, i + n):
        total, discount, last = total + discount * steps[j][2], discount * gamma, j
        on = steps[j][6]  # whether the next step belongs to the same episode
        if not on or j + 1 not in stored:
            break
    return total, last, discount


@quick
@given(
    st.lists(endings, min_size=1, max_size=40),
    st.integers(0, 6),
    st.integers(1, 9),
    st.integers(1, 12),
    st.sampled_from([0.0, 0.5, 0.99, 1.0]),
)
@example(["goes on"] * 30, 3, 5, 12, 0.5)  # longer than the buffer
@example(["goes on"] * 9, 0, 1, 3, 0.5)
def test_every_step_looks_ahead_as_far_as_its_own_episode_reaches(ends, demos, own, n, gamma):
    """Beside a loop, with ends of all kinds, at every moment of a buffer that runs full."""
    demos = min(demos, len(ends))
    buffer = PrioritizedReplayBuffer(demos + own, (2,), (1,), 0, n_steps=n, gamma=gamma)
    steps, where, place = [], {}, 0  # where: step number -> place
    for i, end in enumerate(ends):
        broken = 1000 * sum(each == "broken off" for each in ends[:i])  # elsewhere from then on
        flags = end in ("terminated", "both"), end in ("truncated", "both")
        obs, action, _, next_obs, *_ = step(i + broken)
        steps.append((obs, action, i + 0.5, next_obs, *flags, end == "goes on" and i + 1 != demos))
        (buffer.add_demonstration if i < demos else buffer.add)(*steps[i][:6])
        where = {number: at for number, at in where.items() if at != place} | {i: place}
        place = place + 1 if place + 1 < demos + own else demos

        assert len(buffer) == len(where)
        numbers = {at: number for number, at in where.items()}
        returns, last, discounts = buffer.look_ahead(np.arange(len(buffer)))
        for at, number in numbers.items():
            total, final, discount = plain_look_ahead(steps, where, number, n, gamma)
            assert returns[at] == pytest.approx(total)
            assert discounts[at] == pytest.approx(discount)
            assert numbers[last[at]] == final

    batch = buffer.sample(40)
    for row, at in enumerate(batch.indices.tolist()):
        total, final, discount = plain_look_ahead(steps, where, numbers[at], n, gamma)
        assert batch.reward[row] == steps[numbers[at]][2]
        assert batch.terminated[row] == steps[numbers[at]][4]
        np.testing.assert_array_equal(batch.obs[row], np.float32(steps[numbers[at]][0]))
        np.testing.assert_array_equal(batch.n_next_obs[row], np.float32(steps[final][3]))
        assert batch.n_terminated[row] == steps[final][4]
        assert batch.n_reward[row].item() == pytest.approx(total, rel=1e-6)
        assert batch.n_discount[row].item() == pytest.approx(discount, rel=1e-6)


# ---- what it refuses -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("alpha", -0.1), ("alpha", 1.1), ("beta", -0.1), ("beta", 1.1), ("beta", math.nan),
        ("gamma", -0.1), ("gamma", 1.1), ("beta_samples", 0), ("n_steps", 0),
    ],
)  # fmt: skip
def test_a_number_out_of_its_range_is_one_sentence(name, wrong):
    with one_sentence(ValueError, f"got {wrong}", match=f"^{name} must be"):
        PrioritizedReplayBuffer(5, (2,), (1,), **{name: wrong})


@pytest.mark.parametrize(
    ("indices", "priorities", "kind", "told"),
    [
        ([0, 1], [1.0, 0.0], ValueError, "small positive"),
        ([0, 1], [1.0, -1.0], ValueError, "got -1.0"),
        ([0, 1], [1.0, math.nan], ValueError, "got nan"),
        ([0, 1], [math.inf, 1.0], ValueError, "got inf"),
        ([0, 1], [1.0], ValueError, "one shape"),
        ([0], 1.0, ValueError, "one shape"),
        ([[0, 1]], [[1.0, 2.0]], ValueError, "one shape"),
        ([0, 3], [1.0, 1.0], IndexError, "0 to 2"),  # there is room, but no step yet
        ([-1, 0], [1.0, 1.0], IndexError, "0 to 2"),
        ([0.0, 1.0], [1.0, 1.0], IndexError, "whole numbers"),
    ],
)
def test_priorities_that_cannot_be_are_one_sentence_and_change_nothing(
    indices, priorities, kind, told
):
    buffer = filled(3, 5)
    buffer.update_priorities([0, 1, 2], [2.0, 3.0, 4.0])
    before = buffer.sums.nodes.tolist(), buffer.smallest, buffer.max_priority
    with pytest.raises(kind, match=told) as error:
        buffer.update_priorities(indices, priorities)
    assert_one_sentence(error.value)
    assert before == (buffer.sums.nodes.tolist(), buffer.smallest, buffer.max_priority)
