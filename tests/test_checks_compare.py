"""Comparing what two functions gave, whatever they gave it as."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from helpers.checks import exercises
from helpers.checks.compare import convert, differences, snapshot, types
from helpers.checks.running import expected

EXERCISES = exercises()

ARRAYS = hnp.arrays(
    np.float64,
    hnp.array_shapes(max_dims=3, max_side=4),
    elements=st.floats(-1e3, 1e3, allow_subnormal=False),
)
quick = settings(max_examples=60, deadline=None)


def kinds(want, have):
    return [difference.kind for difference in differences(snapshot(want), snapshot(have))]


@quick
@given(ARRAYS)
def test_the_same_numbers_agree_in_every_type(array):
    versions = [
        array,
        array.tolist(),
        torch.tensor(array),
        array.astype(np.float32),
        torch.tensor(array, dtype=torch.float32),
        [torch.tensor(row) for row in array],
    ]
    for want in versions[:1] + versions[2:3]:
        for have in versions:
            assert kinds(want, have) == []
            changed = convert(have, snapshot(want))
            assert types(snapshot(want)) == types(snapshot(changed))
            assert kinds(want, changed) == []


@quick
@given(ARRAYS, st.data())
def test_one_wrong_entry_is_found(array, data):
    place = data.draw(st.tuples(*(st.integers(0, side - 1) for side in array.shape)))
    scale = max(1.0, np.abs(array).max())
    changed = array.copy()
    changed[place] += data.draw(st.sampled_from([-1, 1])) * 1e-3 * scale
    assert kinds(array, changed) == ["value"]
    changed[place] = np.nan
    assert kinds(array, changed) == ["nan"]
    assert kinds(changed, changed) == []


@quick
@given(ARRAYS)
def test_another_shape_is_found(array):
    assert kinds(array, array[None]) == ["reshaped"]
    assert kinds(array, np.append(array.ravel(), 1.0)) == ["shape"]
    assert kinds({"part": array}, {"other": array}) == ["type"]
    assert kinds((array, "text"), (array, "texts")) == ["value"]
    assert kinds((array, 1.0), (array,)) == ["type"]


def test_no_gradient_agrees_with_a_gradient_of_zeros_but_a_missing_output_does_not():
    zeros = torch.zeros(3)
    assert kinds({"gradient": None}, {"gradient": zeros}) == []
    assert kinds({"gradient": None}, {"gradient": zeros + 1}) == ["unexpected"]
    assert kinds({"gradient": zeros}, {"gradient": None}) == ["none"]
    assert kinds(np.zeros(3), None) == ["none"]


def test_special_values():
    inf = np.array([np.inf, -np.inf, 1.0])
    assert kinds(inf, inf.copy()) == []
    assert kinds(inf, -inf) == ["value"]
    assert kinds(np.array([1.0]), np.array([np.inf])) == ["value"]
    assert kinds(np.zeros((0, 2)), np.zeros((0, 2))) == []
    assert kinds(np.zeros(2), np.zeros(0)) == ["shape"]
    assert kinds(1.0, np.float32(1.0)) == []
    assert kinds(1.0, torch.tensor(1.0)) == []
    assert kinds(True, np.bool_(True)) == []
    assert kinds(torch.float32, torch.float32) == []
    assert kinds(torch.ones(2, dtype=torch.bfloat16), [1, 1]) == []
    assert kinds(np.ones(2), ["one", "two"]) == ["type"]
    assert kinds(np.ones(2), object()) == ["type"]
    assert kinds(np.ones(2), [10**400, 1]) == ["type"]


def test_expected_is_cached_per_exercise():
    assert expected(EXERCISES[0]) is expected(EXERCISES[0])
