"""The ledger of claims: what a text says was measured, tied to the data that bear it out.

Beside each lesson stands `lessons/claims/lesson_NN.py` with a list `CLAIMS`. A claim is a piece of
the lesson's text, word for word, and what must hold for it:

    lab = Lab("03_break_it", "TD3 as taught")
    CLAIMS = [
        Claim("without it TD3 learns sooner", lab.sooner("no delay", "TD3 as taught")),
        Claim("no difference shown", lab.no_difference("no smoothing")),
        Claim("the critic promises 21 too much", lambda: ("20.9", abs(gap() - 21) < 0.5)),
        Claim("the paper's agents", source="Fujimoto et al. 2018, table 1"),
    ]

The rule for comparisons: *better*, *sooner* and the like need p < 0.05 in a permutation test over
seeds (`helpers.training.statistics.permutation_test`); otherwise *no difference shown*.
`python -m tools.claims` prints all claims with what was computed; tests/test_claims.py fails if a
text is gone, if the data no longer say it, or if a sentence compares without a claim.
"""

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helpers.training.results import load_results
from helpers.training.settings import SETTINGS
from helpers.training.statistics import LEVEL, permutation_test

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted((ROOT / "lessons").glob("[0-9]*.md"))
Evidence = Callable[[], tuple[str, bool]]  # what was computed, and whether it bears the claim out


@dataclass(frozen=True)
class Claim:
    """Words of a text, and what holds for them: computed `evidence`, or a `source` to look up.

    `file` is the text's path from the course's folder, "" for the lesson's own.
    """

    says: str
    evidence: Evidence | None = None
    source: str = ""
    file: str = ""

    def check(self) -> tuple[str, bool]:
        """What was computed, and whether it bears the claim out."""
        return self.evidence() if self.evidence else (self.source, bool(self.source))


def seconds_of(study: str) -> list[float]:
    """What training took, seed by seed: CPU time; in older studies what the clock said."""
    return [row.get("cpu_seconds", row["seconds"]) for row in load_results(study)["results"]]


def means(study: str) -> NDArray[np.float64]:
    """The evaluation after training, one number a seed."""
    return np.array([row["mean"] for row in load_results(study)["results"]])


class Lab:
    """A stored lab: variants with returns while training and evaluations afterwards, ten seeds.

    `taught` is the one beside which the others are looked at, unless another one is named.
    """

    def __init__(self, name: str, taught: str = "") -> None:
        self.name, self.taught = name, taught

    def runs(self, variant: str) -> dict[str, Any]:
        found = load_results(self.name)
        if variant not in found:
            raise KeyError(f"{self.name} has no variant {variant!r}.")
        return found[variant]

    def final(self, variant: str) -> NDArray[np.float64]:
        """The evaluation after training, one number a seed."""
        return np.array(self.runs(variant)["evaluations"], dtype=float)

    def training(self, variant: str) -> NDArray[np.float64]:
        """The mean return while training, one number a seed: higher is sooner."""
        return np.mean(self.runs(variant)["returns"], axis=1)

    def value(self, variant: str) -> NDArray[np.float64]:
        """What the critic says of a start after training, one number a seed."""
        return np.array(self.runs(variant)["values"], dtype=float)

    def first_times(self, variant: str) -> NDArray[np.float64]:
        """Steps until training episodes first average the bar, one a seed; infinity for never."""
        runs = self.runs(variant)
        above = np.array(runs["returns"]) >= runs["bar"]
        return np.where(above.any(axis=1), np.array(runs["steps"])[above.argmax(axis=1)], np.inf)

    def falls_back(self, variant: str) -> NDArray[np.float64]:
        """Which seeds averaged less than 400 after they had reached the bar: 1 or 0."""
        runs = self.runs(variant)
        curves = np.array(runs["returns"])
        reached = np.maximum.accumulate(curves >= runs["bar"], axis=1)
        return (reached & (curves < 400)).any(axis=1).astype(float)

    # --- evidence -------------------------------------------------------------------------------

    def sooner(self, one: str, other: str) -> Evidence:
        return lambda: higher(self.training(one), self.training(other))

    def later(self, one: str, other: str, most: float = 0.001) -> Evidence:
        """The first variant learns later, and p is below `most`."""
        return lambda: higher(self.training(other), self.training(one), most)

    def better(self, one: str, other: str) -> Evidence:
        return lambda: higher(self.final(one), self.final(other))

    def no_difference(self, *variants: str, taught: str = "") -> Evidence:
        """Each is neither sooner nor better at the end, nor the opposite."""
        training = self.same_in_training(*variants, taught=taught)
        return both(training, self.same_after(*variants, taught=taught))

    def same_in_training(self, *variants: str, taught: str = "") -> Evidence:
        return self._same(self.training, variants, taught)

    def same_after(self, *variants: str, taught: str = "") -> Evidence:
        return self._same(self.final, variants, taught)

    def _same(self, of: Callable, variants: Sequence[str], taught: str) -> Evidence:
        than = taught or self.taught
        return both(*(lambda one=one: alike(of(one), of(than)) for one in variants))

    def p_training(self, said: float, one: str, other: str) -> Evidence:
        return p_is(said, lambda: self.training(one), lambda: self.training(other))

    def p_after(self, said: float, one: str, other: str) -> Evidence:
        return p_is(said, lambda: self.final(one), lambda: self.final(other))

    def ten_seeds(self) -> tuple[str, bool]:
        """Of each variant."""
        kept = (runs for runs in load_results(self.name).values() if isinstance(runs, dict))
        counts = {len(runs["seeds"]) for runs in kept if "seeds" in runs}
        return str(counts), counts == {10}

    def reach_the_bar(self, count: int, *variants: str) -> Evidence:
        """Each of the variants reaches its bar with just so many seeds."""

        def evidence() -> tuple[str, bool]:
            there = {v: int((self.final(v) >= self.runs(v)["bar"]).sum()) for v in variants}
            return ", ".join(f"{v}: {n}" for v, n in there.items()), set(there.values()) == {count}

        return evidence


def higher(one: NDArray, other: NDArray, most: float = LEVEL) -> tuple[str, bool]:
    """Whether the first is higher by the course's rule, or with a p below `most`."""
    p = permutation_test(one, other)
    return f"{one.mean():.4g} against {other.mean():.4g}, p = {p:.2g}", (
        p < most and one.mean() > other.mean()
    )


def alike(one: NDArray, other: NDArray) -> tuple[str, bool]:
    """Whether no difference is shown by the course's rule."""
    p = permutation_test(one, other)
    return f"{one.mean():.4g} against {other.mean():.4g}, p = {p:.2g}", p >= LEVEL


def both(*all_of: Evidence) -> Evidence:
    """Evidence that holds if each one does."""

    def evidence() -> tuple[str, bool]:
        found = [each() for each in all_of]
        return "; ".join(said for said, _ in found), all(holds for _, holds in found)

    return evidence


def at_the_bar(study: str, count: int) -> Evidence:
    """A stored study in which just so many seeds reach the bar."""

    def evidence() -> tuple[str, bool]:
        reached = means(study) >= load_results(study)["settings"]["bar"]
        return f"{reached.sum()} of {len(reached)}", reached.sum() == count

    return evidence


def twenty_seeds(*studies: str) -> Evidence:
    """In each just the seeds that its setting is reported on."""

    def evidence() -> tuple[str, bool]:
        seeds = {
            study: [row["seed"] for row in load_results(study)["results"]] for study in studies
        }
        said = {study: f"{each[0]} to {each[-1]}" for study, each in seeds.items()}
        reported = {f"{each.algorithm}_{each.env_id}": each.seeds for each in SETTINGS.values()}
        return str(said), all(each == [*reported[study]] for study, each in seeds.items())

    return evidence


def p_is(said: float, one: Callable[[], NDArray], other: Callable[[], NDArray]) -> Evidence:
    """The p that the text names, to its last digit."""
    digits = len(f"{said:.10f}".rstrip("0").split(".")[1])
    return near(lambda: permutation_test(one(), other()), said, 0.5001 * 10**-digits)


def near(value: Callable[[], float], said: float, within: float) -> Evidence:
    """A computed number that rounds to what the text says."""

    def evidence() -> tuple[str, bool]:
        found = float(value())
        return f"{found:.6g}", abs(found - said) <= within

    return evidence


# --- Reading the texts ----------------------------------------------------------------------------

COMPARES = re.compile(
    r"\b(sooner|later than|learns? (more slowly|faster|slower|later)|better than|worse than"
    r"|no (clear )?difference|no harm|does no harm|does not (show|suffer|mind)"
    r"|(seeds?|out) of (ten|20|twenty)|(one|two|three|four|five|six|seven|eight|nine|all ten|ten)"
    r" seeds?|median|as good as|never learns?|no seed)\b",
    re.IGNORECASE,
)


def claims_of(lesson: Path) -> list[Claim]:
    """The claims that stand beside a lesson's text; none where there is no file."""
    name = f"lessons.claims.lesson_{lesson.stem[:2]}"
    if not (ROOT / "lessons" / "claims" / f"lesson_{lesson.stem[:2]}.py").exists():
        return []
    return importlib.import_module(name).CLAIMS


def flowing(text: str) -> str:
    """Text without line breaks, emphasis and quotation marks of a block."""
    return re.sub(r"\s+", " ", re.sub(r"[*_]{1,2}(?=\w)|(?<=[\w.,])[*_]{1,2}", "", text))


def prose(path: Path) -> str:
    """A lesson's text without its code cells."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^```\{code-cell\}.*?^```$", "", text, flags=re.M | re.S)


def sentences(text: str) -> Iterator[str]:
    """Sentences and table rows, one by one."""
    for block in re.split(r"\n\s*\n|\n(?=[-|\d] ?)", text):
        yield from re.split(r"(?<=[.!?:])\s+(?=[A-Z*`$])", flowing(block).strip())


def unclaimed(path: Path, claims: Sequence[Claim]) -> list[str]:
    """Sentences that compare or count seeds, of which no claim says a part."""
    said = [flowing(claim.says) for claim in claims]
    return [
        sentence
        for sentence in sentences(prose(path))
        if COMPARES.search(sentence)
        and not any(words in sentence or sentence in words for words in said)
    ]


def main() -> int:
    """Print every claim with what was computed; the exit status counts those that do not hold."""
    wrong = 0
    for lesson in LESSONS:
        claims = claims_of(lesson)
        print(f"\n{lesson.stem}: {len(claims)} claims")
        for claim in claims:
            found, holds = claim.check()
            wrong += not holds
            print(f"  {'ok   ' if holds else 'WRONG'} {claim.says}\n        {found}")
        for sentence in unclaimed(lesson, claims):
            print(f"  without a claim: {sentence}")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
