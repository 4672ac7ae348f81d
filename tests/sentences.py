"""What every error message of the course must be."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def one_sentence(
    error: type[Exception], *names: str, match: str | None = None
) -> Iterator[pytest.ExceptionInfo]:
    """An `error` is raised within, in one sentence that has all of the `names`."""
    with pytest.raises(error, match=match) as caught:
        yield caught
    assert_one_sentence(caught.value, *names)


def assert_one_sentence(message: object, *names: str) -> None:
    """One line, one full stop at its end (brackets aside), and it has all of the `names`."""
    text = str(message)
    assert "\n" not in text
    assert len(text) < 500
    outside = text
    while (shorter := re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", outside)) != outside:
        outside = shorter
    ends = re.findall(r"[.!?](?=\s|$)", outside)
    assert len(ends) == 1, f"not one sentence: {text}"
    assert outside.endswith("."), f"not a sentence: {text}"
    for name in names:
        assert name in text, f"{name!r} is missing in: {text}"
