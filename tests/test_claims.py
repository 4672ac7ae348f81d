"""The ledger: the stored data bear every claim out, and no sentence compares without one."""

import pytest

from tools.claims import LESSONS, TEXTS, Claim, claims_of, sentences, unclaimed

ALL = [
    pytest.param(claim, id=f"{path.stem[:3]} {claim.says[:50]}")
    for path in TEXTS
    for claim in claims_of(path)
]


@pytest.mark.parametrize("claim", ALL)
def test_a_claim_holds(claim):
    found, holds = claim.check()
    assert holds, f"{claim.says}: {found}"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_no_sentence_compares_without_a_claim(lesson):
    found = unclaimed(lesson)
    assert not found, f"add a comment after each, <!-- claim: ... -->, or reword: {found}"


@pytest.mark.parametrize(
    ("words", "holds"),
    [
        ('poles.sooner("TD3", "DDPG")', True),
        ('poles.sooner("DDPG", "TD3")', False),
        ('poles.sooner("no smoothing", "TD3")', False),
        ('lab.reach_the_bar(10, TAUGHT, "no delay")', True),
        ("lab.reach_the_bar(9, TAUGHT)", False),
        ("near(0.995**460, 0.1, 0.005)", True),
        ("near(0.995**460, 0.2, 0.005)", False),
    ],
)
def test_a_comparison_needs_a_small_p_and_a_number_its_value(words, holds):
    assert Claim("", "claim", words, "03").check()[1] == holds


def test_a_sentence_that_compares_needs_a_claim_right_after_it(tmp_path):
    text = """# Title

It learns sooner. <!-- claim: a(
    1) --> *It* ends later than that.
<!-- source: a paper --> And here it learns faster: no difference.

| one | two seeds |
<!-- claim: b() -->
<!-- claim: c() -->
| two | no seed |

```{code-cell}
# two seeds of ten
```

Nothing here.
"""
    file = tmp_path / "09_x.md"
    file.write_text(text)
    assert [(claim.says, claim.kind, claim.words) for claim in claims_of(file)] == [
        ("It learns sooner.", "claim", "a(\n    1)"),
        ("It ends later than that.", "source", "a paper"),
        ("| one | two seeds |", "claim", "b()"),
        ("| one | two seeds |", "claim", "c()"),
    ]
    assert unclaimed(file) == ["And here it learns faster: no difference.", "| two | no seed |"]
    assert "".join(sentence for sentence, _ in sentences(text)).count("<!--") == 0
