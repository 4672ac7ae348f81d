"""Answers that no catalogue has: the line to look at, two mistakes at once, or nothing at all."""

import ast
import builtins
import os
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.checks import repair
from helpers.checks.advice import both, told_of_pairs, which
from helpers.checks.core import judge
from helpers.checks.edits import Edit
from helpers.checks.exercise import Card, Exercise, Mistake, Property
from helpers.checks.mutants import Mutant, mutants, words_of
from helpers.checks.places import told_more
from helpers.checks.source import source_of
from helpers.exercises.properties import no_mutation

CARD = Card("Title", "what `f` is", "why", difficulty=1, minutes=1)


def advantage(reward, value, next_value, over, gamma):
    # 1. What is still to come.
    future = gamma * next_value * (1 - over)
    # 2. How much better it was than expected.
    return reward + future - value


def cases(rng):
    for size in (1, 4, 9):
        over = np.arange(size) % 3 == 2
        yield *rng.normal(size=(3, size)), over, 0.9
        yield *rng.normal(size=(3, size)), ~over, 0.7


def a_mistake(name, *edits):
    return Mistake(name, f"{name}.", advantage, [[Edit(*edit) for edit in edits]])


MISTAKES = [
    a_mistake("No discount", ("gamma * ", "")),
    a_mistake("The mask is inverted", ("(1 - over)", "over")),
    a_mistake("The value is missing", (" - value", "")),
]
EXERCISE = Exercise("99.1", "99_test", advantage, CARD, ("a", "b"), cases, mistakes=MISTAKES)


def told(candidate):
    return judge(EXERCISE, candidate)


# --- One line -------------------------------------------------------------------------------------


def discounted_twice(reward, value, next_value, over, gamma):
    future = next_value * (1 - over)
    future = future * gamma
    future = future * gamma
    return reward + future - value


def squared(reward, value, next_value, over, gamma):
    goes_on = 1 - over
    discounted = gamma**2 * next_value
    return reward + discounted * goes_on - value


def another_name(reward, value, next_value, over, gamma):
    future = gamma * value * (1 - over)  # the present value
    return reward + future - value


def in_a_loop(reward, value, next_value, over, gamma):
    result = []
    for i in range(len(reward)):
        ahead = 0.0
        if over[i] == 0:
            ahead = gamma * next_value[i]
        result.append(reward[i] + ahead + value[i])
    return result


def written_out(reward, value, next_value, over, gamma):
    return reward + 0.9 * next_value * (1 - over) - value


def cut_off(reward, value, next_value, over, gamma):
    return np.clip(reward + gamma * next_value * (1 - over) - value, -1, 1)


def over_several_lines(reward, value, next_value, over, gamma):
    return (
        reward
        + gamma**2 * next_value * (1 - over)
        - value
    )  # fmt: skip


def the_same_slip_twice(reward, value, next_value, over, gamma):
    result = np.zeros(len(reward))
    for i in range(len(reward)):
        if over[i]:
            result[i] = reward[i].clip(-0.1, 0.1) - value[i]
        else:
            result[i] = reward[i].clip(-0.1, 0.1) + gamma * next_value[i] - value[i]
    return result


def standardised(reward, value, next_value, over, gamma):
    scaled = (reward - reward.mean()) / (reward.std() + 1e-8)
    return scaled + gamma * next_value * (1 - over) - value


def an_error_alone(reward, value, next_value, over, gamma):
    goes_on = (1 - over).reshape(len(reward) + 1)
    return reward + gamma * next_value * goes_on - value


def along_the_rows(reward, value, next_value, over, gamma):
    both = np.cumsum([reward, gamma * next_value * (1 - over)], axis=1)
    return both[-1] - value


def all_but_the_first(reward, value, next_value, over, gamma):
    result = np.zeros(len(reward))
    for i in range(len(reward) - 1, 0, -1):
        result[i] = reward[i] + gamma * next_value[i] * (1 - over[i]) - value[i]
    return result


def the_second_of_two_numbers(reward, value, next_value, over, gamma):
    return reward + gamma * 1 * next_value * (2 - over) - value


def in_either_line(reward, value, next_value, over, gamma):
    future = 2 * gamma * next_value * (1 - over)
    later = future * 1
    return reward + later - value


def no_value(reward, value, next_value, over, gamma):
    return reward + gamma * next_value * (1 - over)


class TestOneLine:
    @pytest.mark.parametrize(
        ("candidate", "line", "kind"),
        [
            (squared, "discounted = gamma**2 * next_value", "leave out `**2`"),
            (
                another_name,
                "future = gamma * value * (1 - over)",
                "use something else instead of `value`",
            ),
            (
                in_a_loop,
                "result.append(reward[i] + ahead + value[i])",
                "change the sign before `value[i]`",
            ),
            (
                written_out,
                "return reward + 0.9 * next_value * (1 - over) - value",
                "use a name instead of the number `0.9`",
            ),
            (
                cut_off,
                "return np.clip(reward + gamma * next_value * (1 - over) - value, -1, 1)",
                "leave out `np.clip(..., -1, 1)`",
            ),
            (
                along_the_rows,
                "both = np.cumsum([reward, gamma * next_value * (1 - over)], axis=1)",
                "use another axis instead of the second `1`",
            ),
            (
                all_but_the_first,
                "for i in range(len(reward) - 1, 0, -1):",
                "let `range` end elsewhere: its end, `0`, is left out itself",
            ),
        ],
    )
    def test_the_line_is_named_and_the_kind_of_change_not_the_change(self, candidate, line, kind):
        result = told(candidate)
        assert result.diagnosis == "one line"
        look = f"Look at `{line}`. A small change to this line alone makes it right: {kind}."
        assert look in result.message
        assert "`next_value`" not in result.message

    def test_the_axis_of_rows_and_the_begin_of_a_range_are_told(self):
        change = ast.parse("x.sum(0)", mode="eval").body
        told = told_more(change, change.args[0], ast.Constant(-1))
        assert told[0] == "use another axis instead of {}, which runs from row to row"
        change = ast.parse("range(1, n)", mode="eval").body
        told = told_more(change, ast.Constant(1), change.args[0])
        assert told[0] == "let `range` begin elsewhere: what comes before {} is left out"

    def test_of_a_statement_of_several_lines_the_one_with_the_part_is_named(self):
        message = told(over_several_lines).message
        assert "Look at `+ gamma**2 * next_value * (1 - over)`." in message
        assert "this line alone makes it right: leave out `**2`." in message

    def test_of_two_like_parts_it_says_which(self):
        line = "return reward + gamma * 1 * next_value * (2 - over) - value"
        assert line in told(the_second_of_two_numbers).message
        again = "return 2 * reward + gamma * next_value * (2 - over) - value"
        source = SimpleNamespace(lines=[again])
        parts = [each for each in ast.walk(ast.parse(again)) if isinstance(each, ast.Constant)]
        said = [which(source, Mutant(1, "", 0, part), "2") for part in parts]
        assert sorted(said) == ["the first `2`", "the second `2`"]

    def test_where_one_of_a_few_lines_can_be_changed_all_are_named(self):
        message = told(in_either_line).message
        assert "One small change in one of these places makes it right. `future = " in message
        assert "`future = 2 * gamma * next_value * (1 - over)`: leave out `2 *`." in message
        assert "`later = future * 1`: use another number instead of `1`." in message

    def test_a_line_that_stands_there_again_is_told_once(self):
        message = told(discounted_twice).message
        look = "Look at `future = future * gamma`, which occurs more than once."
        assert message.startswith(f"{look} A small change to one of them alone makes it right: ")

    def test_the_same_slip_in_two_places_is_one(self):
        result = told(the_same_slip_twice)
        assert result.diagnosis == "one line"
        assert "The same small change in several places makes it right" in result.message
        assert result.message.endswith(": leave out `.clip(-0.1, 0.1)`.")

    def test_of_what_was_standardised_it_says_what_to_leave(self):
        assert "leave only `reward` of `(reward - reward.mean())" in told(standardised).message

    def test_a_line_that_stops_is_repaired_as_well(self):
        result = told(an_error_alone)
        assert result.diagnosis == "error"
        assert "leave out `+ 1`" in result.message

    def test_known_mistakes_come_first(self):
        result = told(no_value)
        assert result.diagnosis == "The value is missing"


# --- Two mistakes ---------------------------------------------------------------------------------


def two_known(reward, value, next_value, over, gamma):
    ahead = next_value * over
    return -value + ahead + reward


def in_place(reward, value, next_value, over, gamma):
    reward += gamma * value * (1 - over)
    return reward - value


def by_the_value(reward, value, next_value, over, gamma):
    return reward + gamma * next_value * value - value


def near_a_known_one(reward, value, next_value, over, gamma):
    return reward + np.where(next_value > 0, 1, 0.5) * next_value * (1 - over) - value


class TestTwoMistakes:
    def test_two_entries_of_the_catalogue(self):
        result = told(two_known)
        assert result.diagnosis == "two mistakes"
        assert "No discount." in result.message
        assert "The mask is inverted." in result.message

    def test_a_line_and_what_breaks_whatever_the_values_are(self):
        careful = [Property(n, test, "Copy first.") for n, test in no_mutation(cases).items()]
        result = judge(replace(EXERCISE, properties=careful), in_place)
        assert result.diagnosis == "two mistakes"
        assert "Copy first." in result.message
        assert "`reward += gamma * value * (1 - over)`" in result.message

    def test_one_mistake_that_is_near_a_known_one_is_not_two(self):
        """With 1 for 0.5 there would be no discount. That is no second mistake: all that is wrong
        stands on one line.
        """
        assert told(near_a_known_one).diagnosis != "two mistakes"

    def test_what_all_pairs_have_in_common_is_told_alone(self):
        entries = [replace(MISTAKES[0], message=f"{n}.") for n in ("One", "Other", "Third")]
        pairs = [(entries[0], entries[1]), (entries[0], entries[2])]
        _, message = told_of_pairs(pairs)
        assert message.startswith("Begin with this: One. ")
        assert told_of_pairs([*pairs, (entries[1], entries[2])]) is None

    def test_a_change_that_makes_a_known_mistake_of_another_one_does_not_name_it(self):
        """With `over` for one `value` the mask would be inverted, which it is not."""
        assert "inverted" not in told(by_the_value).message


# --- Silence, and good manners --------------------------------------------------------------------


def far_from_it(reward, value, next_value, over, gamma):
    return np.tanh(np.sin(reward) * np.cumsum(value)) + 3


def writes_a_file(reward, value, next_value, over, gamma):
    if gamma > 5:
        open("written.txt", "w").close()
        os.mkdir("made")
    future = gamma * next_value / (1 + over)
    return reward + future - value


def counts_down(reward, value, next_value, over, gamma):
    left = 3
    while left > 0:
        left -= 1
    return reward + gamma * gamma * next_value * (1 - over) - value


def test_where_nothing_explains_it_nothing_is_said():
    assert told(far_from_it).diagnosis is None


def test_changed_code_writes_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    opened = []
    monkeypatch.setattr(builtins, "open", lambda *args, **kwargs: opened.append(args))
    told(writes_a_file)
    assert not [args for args in opened if "written.txt" in str(args[0])]
    assert os.getcwd() == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_change_that_never_ends_is_given_up(monkeypatch):
    monkeypatch.setattr(repair, "ONE_TRY", 0.1)
    assert told(counts_down).diagnosis == "one line"


def test_a_search_ends_after_so_much_work_and_not_at_a_time(monkeypatch):
    monkeypatch.setattr(repair, "SECONDS", 0.0, raising=False)
    assert told(squared).diagnosis == "one line"
    monkeypatch.setattr(repair, "WORK", 1000)
    assert told(squared).diagnosis is None


def test_an_interrupt_ends_the_search_with_a_plain_verdict(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(repair, "mutants", interrupted)
    result = told(squared)
    assert result.status == "failed"
    assert result.diagnosis is None


def test_no_source_no_search():
    scope = {}
    exec("def advantage(reward, value, next_value, over, gamma):\n    return reward - value", scope)
    assert source_of(scope["advantage"]) is None
    assert told(scope["advantage"]).diagnosis is None
    number = 2

    def closure(x):
        return number * x

    assert source_of(closure) is None
    assert source_of(lambda x: x) is None
    assert source_of(SimpleNamespace()) is None
    assert source_of(told).line(source_of(told).node.lineno) == "def told(candidate):"


def test_of_two_messages_neither_says_that_the_rest_is_right():
    said = both("The loss is right, but one.", "The weights are right, but two.")
    assert said == "Two things are wrong. First: One. Second: Two."


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
    assert any("np.array(places)" in text for text in texts)
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


def test_the_part_that_is_shown_stands_in_the_source():
    node, source = source_of(collects).node, source_of(collects)
    lines = "\n".join(source.lines)
    for mutant in mutants(node, words_of(node)):
        if mutant.part is not None and mutant.kept is None:
            assert source.text(mutant.part) in lines


class Both:
    def first(self, x):
        return x + 1

    def second(self, x):
        return 2 * self.first(x)


class WrongSecond:
    def first(self, x):
        return 1 + x

    def second(self, x):
        return np.sqrt(self.first(x)) + np.cos(x)


def test_of_a_class_the_method_that_is_wrong():
    exercise = replace(
        EXERCISE,
        reference=Both,
        cases=lambda rng: [(np.array([1.0, 2.0]),), (np.array([0.5]),)],
        mistakes=[],
        observe=lambda made, x: {"first": made().first(x), "second": made().second(x)},
    )
    message = judge(exercise, WrongSecond).message
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
    told(squared)
    assert seen
    assert limits not in seen
    assert resource.getrlimit(resource.RLIMIT_AS) == limits
