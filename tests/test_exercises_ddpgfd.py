"""Exercise 4.12: an update that does more than it should is refused."""

import pytest

from helpers.agents.ddpgfd import DDPGfD
from helpers.checks.core import judge
from helpers.exercises.lesson_04_ddpgfd.update import DDPGFD_UPDATE


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ("batch.reward.mul_(0.5)", "parts of the batch that were changed"),
        ("self.steps += 1", "count in `self.steps`"),
    ],
)
def test_an_update_that_changes_something_else_is_refused(change, part):
    scope = {"DDPGfD": DDPGfD}
    exec(
        "def update(self, batch):\n    losses = DDPGfD.update(self, batch)\n"
        f"    {change}\n    return losses",
        scope,
    )
    result = judge(DDPGFD_UPDATE, type("DDPGfD", (DDPGfD,), {"update": scope["update"]}))
    assert part in result.message
