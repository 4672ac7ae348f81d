"""The ledger: every claim stands in its text, and the stored data bear it out."""

import pytest

from tools import claims
from tools.claims import LESSONS, ROOT, claims_of, flowing, prose, unclaimed

ALL = [
    pytest.param(lesson, claim, id=f"{lesson.stem[:2]} {claim.says[:50]}")
    for lesson in LESSONS
    for claim in claims_of(lesson)
]


@pytest.mark.parametrize(("lesson", "claim"), ALL)
def test_a_claim_stands_in_its_text_and_holds(lesson, claim):
    file = ROOT / claim.file if claim.file else lesson
    text = prose(file) if file.suffix == ".md" else file.read_text(encoding="utf-8")
    assert flowing(claim.says) in flowing(text)
    found, holds = claim.check()
    assert holds, found


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_no_sentence_compares_without_a_claim(lesson):
    found = unclaimed(lesson, claims_of(lesson))
    ledger = f"lessons/claims/lesson_{lesson.stem[:2]}.py"
    assert not found, f"give each a Claim with evidence or a source in {ledger}, or reword: {found}"


def test_a_comparison_needs_a_small_p():
    lab = claims.Lab("03_break_it", "TD3 as taught")
    assert lab.sooner("no delay", "TD3 as taught")()[1]
    assert not lab.sooner("TD3 as taught", "no delay")()[1]
    assert not lab.sooner("no smoothing", "TD3 as taught")()[1]
    assert lab.no_difference("no smoothing")()[1]
    assert not lab.no_difference("no delay")()[1]
    assert lab.reach_the_bar(10, "TD3 as taught", "no delay")()[1]
    assert not lab.reach_the_bar(9, "TD3 as taught")()[1]


def test_a_sentence_that_compares_is_found(tmp_path):
    text = (
        "# Title\n\nIt learns sooner.\n\n```{code-cell}\n# two seeds of ten\n```\n\nNothing here.\n"
    )
    file = tmp_path / "09_x.md"
    file.write_text(text)
    assert unclaimed(file, []) == ["It learns sooner."]
    assert unclaimed(file, [claims.Claim("learns sooner", source="a paper")]) == []
