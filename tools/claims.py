"""The ledger of claims: what a text says was measured, tied to the data that bear it out.

A claim is a comment after its sentence or table row, in `lessons/NN.md` or `helpers/labs/NN.md`:

    Without the delay it learns sooner. <!-- claim: lab.sooner("no delay", TAUGHT) -->
    The paper trains for a million steps. <!-- source: Fujimoto et al. 2018, section 6.1 -->

A claim is Python in the names of `lessons/evidence/lesson_NN.py` and `lessons/evidence/shared.py`,
and gives evidence: what was computed, and whether that bears the sentence out. A source is for
people to look up. Several may follow one sentence. Notebooks and labs are shown without them.

`python -m tools.claims` prints all claims with what was computed; tests/test_claims.py fails if the
data no longer say it, or if a sentence of a lesson compares without a claim.
"""

import importlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lessons.evidence import shared
from lessons.evidence.shared import Evidence
from tools.sources import CLAIM

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted((ROOT / "lessons").glob("[0-9]*.md"))
TEXTS = [*LESSONS, *sorted((ROOT / "helpers" / "labs").glob("[0-9]*.md"))]

CODE = re.compile(r"^```\{code-cell\}.*?^```$", re.MULTILINE | re.DOTALL)
COMPARES = re.compile(
    r"\b(sooner|later than|learns? (more slowly|faster|slower|later)|better than|worse than"
    r"|no (clear )?difference|no harm|does no harm|does not (show|suffer|mind)"
    r"|(seeds?|out) of (ten|20|twenty)|(one|two|three|four|five|six|seven|eight|nine|all ten|ten)"
    r" seeds?|median|as good as|never learns?|no seed)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Claim:
    """A sentence, and what holds for it: Python that gives evidence, or a source to look up."""

    says: str
    kind: str  # "claim" or "source"
    words: str
    lesson: str  # such as "01"

    def check(self) -> Evidence:
        """What was computed, and whether it bears the sentence out."""
        if self.kind == "source":
            return self.words, True
        names = importlib.import_module(f"lessons.evidence.lesson_{self.lesson}")
        return eval(f"({self.words})", {**vars(shared), **vars(names)})


def sentences(text: str) -> Iterator[tuple[str, list[re.Match[str]]]]:
    """Sentences and table rows of a text, one by one, each with the comments after it."""
    comments: list[re.Match[str]] = []

    def number(comment: re.Match[str]) -> str:
        comments.append(comment)
        return f"⟦{len(comments) - 1}⟧"

    text = CLAIM.sub(number, CODE.sub("", text))
    text = re.sub(r"([.!?:|]?\)?)((?:⟦\d+⟧)+)", r"\2\1", text)  # before the full stop: inside
    for block in re.split(r"\n\s*\n|\n(?=[-|\d] ?)", text):
        for part in re.split(r"(?<=[.!?:])\s+(?=[A-Z*`$])", flowing(block).strip()):
            found = [comments[int(number)] for number in re.findall(r"⟦(\d+)⟧", part)]
            yield re.sub(r"⟦\d+⟧", "", part), found


def flowing(text: str) -> str:
    """Text without line breaks and emphasis."""
    return re.sub(r"\s+", " ", re.sub(r"[*_]{1,2}(?=\w)|(?<=[\w.,])[*_]{1,2}", "", text))


def claims_of(path: Path) -> list[Claim]:
    """The claims of a text, in its order."""
    return [
        Claim(sentence, comment[1], comment[2], path.stem[:2])
        for sentence, comments in sentences(path.read_text(encoding="utf-8"))
        for comment in comments
    ]


def unclaimed(path: Path) -> list[str]:
    """Sentences of a text that compare or count seeds, and have no claim."""
    found = sentences(path.read_text(encoding="utf-8"))
    return [sentence for sentence, comments in found if COMPARES.search(sentence) and not comments]


def main() -> int:
    """Print every claim with what was computed; the exit status says whether all hold."""
    wrong = 0
    for path in TEXTS:
        claims = claims_of(path)
        print(f"\n{path.relative_to(ROOT).as_posix()}: {len(claims)} claims")
        for claim in claims:
            found, holds = claim.check()
            wrong += not holds
            print(f"  {'ok   ' if holds else 'WRONG'} {claim.says}\n        {found}")
        for sentence in unclaimed(path) if path in LESSONS else ():
            print(f"  without a claim: {sentence}")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
