"""The verdict as a student sees it: a card on a notebook's page, plain text anywhere else."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from html import escape
from typing import Any

import numpy as np

from helpers.checks.compare import Difference, snapshot
from helpers.checks.exercise import Case, Exercise
from helpers.checks.words import pretty

# Colours are only laid over the page, half transparent, and text takes the page's own colour: the
# card reads well in light and dark themes. Okabe and Ito's green and orange, and grey.
LOOKS = {
    "passed": ("✓", "passed", "0, 158, 115"),
    "failed": ("↻", "not yet", "230, 159, 0"),
    "not started": ("○", "not started yet", "128, 134, 140"),
    "not mended": ("↻", "not yet", "230, 159, 0"),
    "no answer": ("○", "no answer yet", "128, 134, 140"),
    "not yours": ("○", "no new answer", "128, 134, 140"),
}
SOFT = "opacity: .8"  # of what is said beside: less would be hard to read in a dark theme


@dataclass(frozen=True)
class Report:
    """The smallest case that differs. A row is a label, a value, and its shape and type."""

    note: str
    rows: list[tuple[str, str, str]]

    @property
    def heading(self) -> str:
        return f"The smallest case that differs{f': {self.note}' if self.note else ''}"


@dataclass(frozen=True)
class Result:
    """What `grade` found.

    Attributes:
        exercise: the one that was tried.
        status: "passed", "failed", "not started", "not mended" where a bug to find is still there
            in changed code, "no answer", or "not yours" for the course's own version.
        message: what to tell the student, in a few sentences.
        diagnosis: the mistake's name, None where it has none; "not-started" for an empty blank.
        report: the smallest case that differs, None where there is none to show.
        version: what later cells should use: the student's when it passed, else the course's.
    """

    exercise: Exercise
    status: str
    message: str
    diagnosis: str | None
    version: Callable
    report: Report | None = None
    footer: str = ""

    @property
    def passed(self) -> bool:
        """Whether it is right on all cases, as the course's own version is, too."""
        return self.status in ("passed", "not yours")

    def __str__(self) -> str:
        return as_text(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": as_html(self), "text/plain": as_text(self)}


def report(exercise: Exercise, case: Case, difference: Difference, printed: str = "") -> Report:
    """Write a failing case down: inputs, expected, got, the largest gap, what was printed."""
    rows = [(name, *pretty(snapshot(value), value)) for name, value in _inputs(exercise, case)]
    if difference.where:
        rows.append(("compared", f"the {difference.where}", ""))
    rows.append(("expected", *pretty(difference.expected)))
    rows.append(("yours", *pretty(difference.got)))
    worst = _worst(difference)
    rows += [("largest gap", worst, "")] if worst else []
    if printed.strip():
        lines = printed.strip().splitlines()
        rows.append(("printed", "\n".join(lines[:5] + ["..."] * (len(lines) > 5)), ""))
    return Report(case.note, rows)


def _worst(difference: Difference) -> str:
    """The entry that is furthest off, for arrays too large to read."""
    want, have = difference.expected, difference.got
    if difference.kind != "value" or not want.numeric or max(want.value.shape, default=0) <= 6:
        return ""
    with np.errstate(all="ignore"):
        gap = np.abs(have.value.astype(float) - want.value.astype(float))
    at = np.unravel_index(np.argmax(np.where(np.isnan(gap), np.inf, gap)), gap.shape)
    index = ", ".join(str(int(i)) for i in at)
    return f"at [{index}]: expected {want.value[at]:.6g}, yours {have.value[at]:.6g}"


def _inputs(exercise: Exercise, case: Case) -> list[tuple[str, Any]]:
    """Arguments with their names: those of the function, or of `observe` where it has its own."""
    named = "args" not in inspect.signature(exercise.observe).parameters
    owner, skipped = (exercise.observe, [None]) if named else (exercise.reference, [])
    bound = inspect.signature(owner).bind(*skipped, *case.args)
    return _rows(list(bound.arguments.items())[len(skipped) :], exercise)


def _rows(named: list[tuple[str, Any]], exercise: Exercise) -> list[tuple[str, Any]]:
    """The parts of a batch have a row each, and so have an agent's networks. Of the calls of an
    update the first is shown, under the names of its signature."""
    rows: list[tuple[str, Any]] = []
    for name, value in named:
        if name == "calls" and isinstance(value, list):
            names = list(inspect.signature(exercise.reference).parameters)[1:]
            rows += _rows(list(zip(names, value[0], strict=False)), exercise)
            rows += [("calls", f"{len(value)}, of which this is the first")] * (len(value) > 1)
        elif hasattr(value, "_asdict"):
            rows += value._asdict().items()
        elif name == "agent" and hasattr(value, "networks"):
            rows += value.networks().items()
        elif is_dataclass(value) and not isinstance(value, type):
            rows.append((name, _changed_fields(value)))
        else:
            rows.append((name, value))
    return rows


def _changed_fields(settings: Any) -> str:
    """`gamma=0.9, tau=0.2`: the fields of a dataclass that are not its defaults."""
    given = {f.name: (getattr(settings, f.name), f.default) for f in fields(settings)}
    return ", ".join(
        f"{name}={value!r}" for name, (value, usual) in given.items() if value != usual
    )


# --- Text and HTML --------------------------------------------------------------------------------


def as_text(result: Result, footer: bool = True) -> str:
    """The verdict in plain text."""
    icon, verdict, _ = LOOKS[result.status]
    name = f" ({result.diagnosis})" if result.status == "failed" and result.diagnosis else ""
    lines = [f"{icon} {_title(result)}: {verdict}{name}", f"  {result.message}"]
    if result.report:
        lines.append(f"  {result.report.heading}")
        width = max(len(label) for label, _, _ in result.report.rows)
        for label, text, kind in result.report.rows:
            between = ("\n" if "\n" in text else "   ") * bool(kind)
            indented = f"{text}{between}{kind}".replace("\n", "\n" + " " * (width + 6))
            lines.append(f"    {label:<{width}}  {indented}")
    if footer and result.footer:
        lines.append(f"  {result.footer}")
    return "\n".join(lines)


def _title(result: Result) -> str:
    return f"{result.exercise.id} {result.exercise.card.title}"


def as_html(result: Result) -> str:
    """The verdict as a card. Everything a student wrote is escaped."""
    icon, verdict, rgb = LOOKS[result.status]
    name = result.diagnosis if result.status == "failed" else None
    pill = (
        f'<span style="margin-left: .6em; padding: .1em .6em; border-radius: 1em; '
        f'font-size: .82em; background: rgba({rgb}, .18)">{escape(name)}</span>'
        if name
        else ""
    )
    parts = [
        f'<div style="border-left: 4px solid rgb({rgb}); border-radius: 4px; '
        f"background: rgba({rgb}, .08); padding: .7em 1em; margin: .3em 0; max-width: 54em; "
        'line-height: 1.5">',
        f'<div><span style="color: rgb({rgb}); font-weight: 700; margin-right: .5em">{icon}</span>'
        f"<strong>{escape(_title(result))}</strong>"
        f'<span style="{SOFT}; margin-left: .6em">{verdict}</span>{pill}</div>',
        f'<div style="margin-top: .35em">{_marked(result.message)}</div>',
    ]
    if result.report:
        parts.append(_details(result.report, is_open=result.diagnosis is None))
    if result.footer:
        footer = _marked(result.footer)
        parts.append(f'<div style="margin-top: .45em; font-size: .88em; {SOFT}">{footer}</div>')
    return "\n".join([*parts, "</div>"])


def _details(shown: Report, is_open: bool) -> str:
    mono = "font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .88em"
    left = f"{mono}; {SOFT}; white-space: nowrap"
    right = f"{mono}; white-space: pre-wrap; overflow-wrap: anywhere; min-width: 0"
    muted = f' <span style="{SOFT}; white-space: nowrap; margin-left: 1em">{{}}</span>'
    rows = "\n".join(
        f'<div style="{left}">{escape(label)}</div>'
        f'<div style="{right}">{escape(text)}'
        f"{muted.format(escape(kind)) if kind else ''}</div>"
        for label, text, kind in shown.rows
    )
    return (
        f'<details style="margin-top: .5em"{" open" if is_open else ""}>'
        f'<summary style="cursor: pointer">{escape(shown.heading)}</summary>\n'
        '<div style="display: grid; grid-template-columns: max-content minmax(0, 1fr); '
        f'gap: .3em 1.2em; margin: .5em 0 .2em">\n{rows}\n</div></details>'
    )


def _marked(message: str) -> str:
    """Escape a message and set its `code` as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(message))
