"""Answers that no catalogue has: the line to look at, two mistakes at once, or nothing at all."""

import ast
import builtins
import os
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from test_checks import CARD, double, exercise_of, written

from helpers.checks import repair
from helpers.checks.advice import told_of_pairs
from helpers.checks.core import judge
from helpers.checks.edits import Edit
from helpers.checks.exercise import Case, Exercise, Mistake, Property
from helpers.checks.mutants import mutants, words_of
from helpers.checks.source import source_of
from helpers.exercises.properties import no_mutation


def advantage(reward, value, next_value, over, gamma):
    # 1. What is still to come.
    future = gamma * next_value * (1 - over)
    # 2. How much better it was than expected.
    return reward + future - value


def cases(rng):
    for size in (1, 4, 9):
        over = np.arange(size) % 3 == 2
        yield Case((*rng.normal(size=(3, size)), over, 0.9))
        yield Case((*rng.normal(size=(3, size)), ~over, 0.7))


def a_mistake(name, *edits):
    message = f"The advantages are right, but {name}."
    return Mistake(name, message, advantage, [[Edit(*edit) for edit in edits]])


MISTAKES = [
    a_mistake("no discount", ("gamma * ", "")),
    a_mistake("the mask is inverted", ("(1 - over)", "over")),
    a_mistake("the value is missing", (" - value", "")),
]
EXERCISE = Exercise("99.1", "99_test", advantage, CARD, ("a", "b"), cases, mistakes=MISTAKES)


def told(text, exercise=EXERCISE):
    return judge(exercise, written(exercise.reference, text))


# --- One line -------------------------------------------------------------------------------------

SQUARED = """\
goes_on = 1 - over
discounted = gamma**2 * next_value
return reward + discounted * goes_on - value"""
IN_A_LOOP = """\
result = []
for i in range(len(reward)):
    ahead = 0.0
    if over[i] == 0:
        ahead = gamma * next_value[i]
    result.append(reward[i] + ahead + value[i])
return result"""
ALL_BUT_THE_FIRST = """\
result = np.zeros(len(reward))
for i in range(len(reward) - 1, 0, -1):
    result[i] = reward[i] + gamma * next_value[i] * (1 - over[i]) - value[i]
return result"""
# The statement to look at, the kind of change, and what stands around the statement.
ONE_LINE = [
    ("discounted = gamma**2 * next_value", "leave out `**2`", SQUARED),
    ("future = gamma * value * (1 - over)", "use something else instead of `value`",
     "{}  # the present value\nreturn reward + future - value"),
    ("result.append(reward[i] + ahead + value[i])", "change the sign before `value[i]`", IN_A_LOOP),
    ("return reward + 0.9 * next_value * (1 - over) - value",
     "use a name instead of the number `0.9`", "{}"),
    ("return np.clip(reward + gamma * next_value * (1 - over) - value, -1, 1)",
     "leave out `np.clip(..., -1, 1)`", "{}"),
    ("both = np.cumsum([reward, gamma * next_value * (1 - over)], axis=1)",
     "use another axis instead of the second `1`", "{}\nreturn both[-1] - value"),
    ("for i in range(len(reward) - 1, 0, -1):",
     "let `range` end elsewhere: its end, `0`, is left out itself", ALL_BUT_THE_FIRST),
]  # fmt: skip


@pytest.mark.parametrize(("line", "kind", "text"), ONE_LINE)
def test_the_line_is_named_and_the_kind_of_change_not_the_change(line, kind, text):
    result = told(text.format(line) if "{}" in text else text)
    assert result.diagnosis == "one line"
    look = f"Look at `{line}`. A small change to this line alone makes it right: {kind}"
    assert look in result.message, result.message
    assert "`next_value`" not in result.message


EITHER_LINE = """\
future = 2 * gamma * next_value * (1 - over)
later = future * 1
return reward + later - value"""
SAME_SLIP = """\
result = np.zeros(len(reward))
for i in range(len(reward)):
    if over[i]:
        result[i] = reward[i].clip(-0.1, 0.1) - value[i]
    else:
        result[i] = reward[i].clip(-0.1, 0.1) + gamma * next_value[i] - value[i]
return result"""
STANDARDISED = """\
scaled = (reward - reward.mean()) / (reward.std() + 1e-8)
return scaled + gamma * next_value * (1 - over) - value"""
AN_ERROR = """\
goes_on = (1 - over).reshape(len(reward) + 1)
return reward + gamma * next_value * goes_on - value"""
SEVERAL_LINES = """\
return (
    reward
    + gamma**2 * next_value * (1 - over)
    - value
)"""


@pytest.mark.parametrize(
    ("text", "diagnosis", "says"),
    [
        (SEVERAL_LINES, "one line", ["Look at `+ gamma**2 * next_value * (1 - over)`.",
                                     "this line alone makes it right: leave out `**2`."]),
        (EITHER_LINE, "one line", ["One small change in one of these places makes it right. `fut",
                                   "`future = 2 * gamma * next_value * (1 - over)`: leave out `2",
                                   "`later = future * 1`: use another number instead of `1`."]),
        (SAME_SLIP, "one line", ["The same small change in several places makes it right",
                                 ": leave out `.clip(-0.1, 0.1)`."]),
        (STANDARDISED, "one line", ["leave out `(... - reward.mean()) / (reward.std() + 1e-8)`"]),
        (AN_ERROR, "error", ["leave out `+ 1`"]),
        ("return reward + gamma * next_value * (1 - over)", "the value is missing", []),
        ("return np.tanh(np.sin(reward) * np.cumsum(value)) + 3", None, []),
    ],
)  # fmt: skip
def test_what_is_told_of_one_line_or_several(text, diagnosis, says):
    result = told(text)
    assert result.diagnosis == diagnosis
    assert all(each in result.message for each in says), result.message


def rises(x):
    return np.diff(x, prepend=x[0])


def sums_of_rows(x):
    return x.sum(1)


LATE = """\
result = np.zeros(len(x))
for i in range(2, len(x)):
    result[i] = x[i] - x[i - 1]
return result"""


@pytest.mark.parametrize(
    ("reference", "inputs", "text", "says"),
    [
        (rises, [[1.0, -2.0, 3.0], [2.0, -1.0, 0.5, -1.5]], LATE,
         "let `range` begin elsewhere: what comes before `2` is left out"),
        (sums_of_rows, [np.arange(6.0).reshape(2, 3), np.eye(3) + 1], "return x.sum(0)",
         "use another axis instead of `0`, which runs from row to row"),
        (double, [[1.0], [1.0, -2.0, 3.0]],
         "some_values = x\n"
         "return 2 * ((some_values - some_values.mean()) / (some_values.std() + 0.000000001))",
         "leave out `(... - some_values.mean())  ... "),
    ],
)  # fmt: skip
def test_other_kinds_of_changes(reference, inputs, text, says):
    exercise = exercise_of(reference, lambda rng: [(np.array(each),) for each in inputs])
    message = told(text, exercise).message
    assert says in message, message


def changed(text):
    """The likelier half of all that one change makes of an expression."""
    root = ast.parse(f"def f(x, y, z):\n    return {text}").body[0]
    made = [ast.unparse(root.body[0].value) for _ in mutants(root, words_of(root))]
    return made[: len(made) // 2]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("x - y / z", "(x - y) / z"),
        ("(x + y) * z * 3", "x + y * z * 3"),
        ("x * y / x * z", "x * y / (x * z)"),
        ("x['a'] + y['b']", "x['b'] + y['b']"),
        ("not x or y", "not (x or y)"),
        ("not (x and y)", "not x and y"),
        ("f(x, y, size=z)", "f(x, z, size=y)"),
        ("x is None", "x is not None"),
        ("f(x, keep=True)", "f(x, keep=False)"),
        ("x * 0.9", "x * z"),
    ],
)
def test_brackets_keys_and_numbers_are_tried(text, other):
    assert other in changed(text)


# --- Two mistakes ---------------------------------------------------------------------------------


def test_two_entries_of_the_catalogue():
    """Neither says that the rest is right."""
    result = told("ahead = next_value * over\nreturn -value + ahead + reward")
    assert result.diagnosis == "two mistakes"
    said = {"First: No discount. Second: The mask is inverted.",
            "First: The mask is inverted. Second: No discount."}  # fmt: skip
    assert any(f"Two things are wrong. {each}" in result.message for each in said)


def test_a_line_and_what_breaks_whatever_the_values_are():
    careful = [Property(n, test, "Copy first.") for n, test in no_mutation(cases).items()]
    text = "reward += gamma * value * (1 - over)\nreturn reward - value"
    result = told(text, replace(EXERCISE, properties=careful))
    assert result.diagnosis == "two mistakes"
    assert "Copy first." in result.message
    assert "`reward += gamma * value * (1 - over)`" in result.message


@pytest.mark.parametrize(
    "text",
    [
        # With 1 for 0.5 there would be no discount: all that is wrong stands on one line.
        "return reward + np.where(next_value > 0, 1, 0.5) * next_value * (1 - over) - value",
        # With `over` for one `value` the mask would be inverted, which it is not.
        "return reward + gamma * next_value * value - value",
    ],
)
def test_one_mistake_that_is_near_a_known_one_is_not_taken_for_it(text):
    result = told(text)
    assert result.diagnosis != "two mistakes"
    assert "inverted" not in result.message


def test_what_all_pairs_have_in_common_is_told_alone():
    entries = [replace(MISTAKES[0], message=f"{n}.") for n in ("One", "Other", "Third")]
    pairs = [(entries[0], entries[1]), (entries[0], entries[2])]
    assert told_of_pairs(pairs).message.startswith("Begin with this: One. ")
    assert told_of_pairs([*pairs, (entries[1], entries[2])]) is None


# --- Good manners ---------------------------------------------------------------------------------


def test_changed_code_writes_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    opened = []
    monkeypatch.setattr(builtins, "open", lambda *args, **kwargs: opened.append(args))
    body = "if gamma > 5:\n    open('written.txt', 'w').close()\n    os.mkdir('made')\n"
    told(f"{body}return reward + gamma * next_value / (1 + over) - value")
    assert not [args for args in opened if "written.txt" in str(args[0])]
    assert os.getcwd() == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_change_that_never_ends_is_given_up(monkeypatch):
    monkeypatch.setattr(repair, "ONE_TRY", 0.1)
    body = "left = 3\nwhile left > 0:\n    left -= 1\n"
    text = f"{body}return reward + gamma * gamma * next_value * (1 - over) - value"
    assert told(text).diagnosis == "one line"


def test_a_search_ends_after_so_much_work(monkeypatch):
    monkeypatch.setattr(repair, "WORK", 1000)
    assert told(SQUARED).diagnosis is None


def test_an_interrupt_ends_the_search_with_a_plain_verdict(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(repair, "mutants", interrupted)
    result = told(SQUARED)
    assert result.status == "failed"
    assert result.diagnosis is None


def test_no_source_no_search():
    scope, number = {}, 2
    exec("def advantage(reward, value, next_value, over, gamma):\n    return reward - value", scope)
    assert judge(EXERCISE, scope["advantage"]).diagnosis is None

    def closure(x):
        return number * x

    for each in (scope["advantage"], closure, lambda x: x, SimpleNamespace()):
        assert source_of(each) is None


def collects(rewards):
    kept, places, total = [], [0.0] * len(rewards), 0.0
    for i, reward in enumerate(rewards):
        step = reward
        total = total + step
        kept.append(total)
        places[i] = step
    return np.array(kept), places


def test_no_change_puts_a_list_into_itself():
    """Python would take all memory, and end: numpy goes down into such a list for ever."""
    node = source_of(collects).node
    texts = {ast.unparse(node) for _ in mutants(node, words_of(node))}
    assert any("kept.append(step)" in text for text in texts)
    lines = {line for text in texts for line in text.splitlines()}
    for own in ("append(kept)", "append(places)", "= kept", "= places"):
        assert not any(line.endswith(own) for line in lines), own


def test_a_search_that_ends_halfway_leaves_the_source_as_it_was():
    """Else all that is tried after it is another function."""
    node = source_of(collects).node
    before = ast.unparse(node)
    for number in range(0, 400, 7):
        changes = mutants(node, words_of(node))
        for _ in zip(range(number), changes, strict=False):
            pass
        changes.close()
        assert ast.unparse(node) == before


class Both:
    def first(self, x):
        return x + 1

    def second(self, x):
        return 2 * self.first(x)


WRONG_SECOND = """\
class Both:
    def first(self, x):
        return 1 + x

    def second(self, x):
        return np.sqrt(self.first(x)) + np.cos(x)
"""


def test_of_a_class_the_method_that_is_wrong():
    exercise = exercise_of(
        Both,
        lambda rng: [(np.array([1.0, 2.0]),), (np.array([0.5]),)],
        observe=lambda made, x: {"first": made().first(x), "second": made().second(x)},
    )
    message = told(WRONG_SECOND, exercise).message
    assert "With the course's `second` instead of yours all cases are right" in message


@pytest.mark.skipif(sys.platform != "linux", reason="only there memory can be limited")
def test_a_try_takes_little_memory(monkeypatch):
    """Of a shape twice as long numpy would make an array that fills all of it."""
    import resource

    limits, seen = resource.getrlimit(resource.RLIMIT_AS), []

    def tried(*_):
        with pytest.raises(MemoryError):
            np.ones(2**28)
        seen.append(resource.getrlimit(resource.RLIMIT_AS))
        yield from ()

    monkeypatch.setattr(repair, "mutants", tried)
    told(SQUARED)
    assert seen
    assert limits not in seen
    assert resource.getrlimit(resource.RLIMIT_AS) == limits
