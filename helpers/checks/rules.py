"""All rules, in the order in which they are tried: from a context each makes a diagnosis, or None.

`outputs` and `differs` look at what an answer gave, `errors` at what stopped it,
`remarks` at its source, and `repair` at what a small change of it would do.
"""

from collections.abc import Callable
from dataclasses import replace

from helpers.checks.advice import TWO
from helpers.checks.context import Context, Diagnosis, Rule
from helpers.checks.errors import error
from helpers.checks.outputs import (
    another_at_each_call,
    draws_elsewhere,
    factor,
    kind_of_output,
    no_return,
    not_a_number,
    other_arguments,
    shape,
    unfinished,
    whole_numbers,
)
from helpers.checks.remarks import ends_at_once, line_without_effect, unused_argument, unused_name
from helpers.checks.repair import explain

IN_A_LOOP = "return in a loop"
_UNREAD = {"other arguments", "unfinished", "no return", IN_A_LOOP}


def first_of(rules: tuple[Rule, ...], c: Context) -> Diagnosis | None:
    """What the first rule says that says something."""
    return next(filter(None, (rule(c) for rule in rules)), None)


def explained(c: Context) -> Diagnosis | None:
    """Two mistakes at once, or one line to look at, beside what any function can have."""
    found = explain(c)
    if found and found.name == TWO:
        return found
    if looped := ends_at_once(c, c.source) if c.source else None:
        return Diagnosis(IN_A_LOOP, looped)
    plain = first_of(OF_VALUES, c)
    if found and plain:
        return replace(plain, message=f"{plain.message} {found.message}")
    return found or plain


OF_VALUES = (not_a_number, shape, whole_numbers, factor)
RULES = (
    other_arguments,
    unfinished,
    no_return,
    error,
    another_at_each_call,
    kind_of_output,
    draws_elsewhere,
    explained,
)


def remarks(c: Context, told: Diagnosis) -> list[str]:
    """What there is to say beside a diagnosis."""
    if c.source is None or told.name in _UNREAD:
        return []
    rules: list[Callable] = [line_without_effect]
    rules += [ends_at_once] * ("loop" not in told.message)
    rules += [unused_name] * (told.name in (None, "error", "unusable output"))
    rules += [unused_argument] * (told.name is None)
    return list(filter(None, (rule(c, c.source) for rule in rules)))
