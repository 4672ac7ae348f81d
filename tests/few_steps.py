"""What the tests' runs of notebooks leave out of long trainings and films. Every cell still runs.

Each lesson trains at full scale once, in the solved edition (`test_notebooks.py`).
"""

import re

from nbformat import NotebookNode

# For the environment variable COURSE_TEST_STEPS, which `get_setting` and `live` obey: an episode on
# the mountain, the longest there is, ends within so many steps.
FEW_STEPS = "1000"

# What a cell trains by numbers of its own, and no bar asks for: its id, what stands in it, and what
# runs instead.
SHORTER = {
    "01-gradient-noise": (".learn(15_000)", ".learn(1_000)"),
    "01-now-you": ("range(3)", "range(1)"),
    "02-now-you": ("steps=6000", "steps=1200"),
    "03-now-you": ("(0, 1, 2)", "(0,)"),
    "04-now-you": ("(0, 1, 2)", "(0,)"),
    "05-now-you": ("(0, 1, 2)", "(0,)"),
    "05-fresh-starts": ("(100, 20_000)", "(10, 20_000)"),
    "05-pretrain": ("pretrain(pupil, demos)", "pretrain(pupil, demos, epochs=20)"),
    "05-pixels": ("episodes=10)", "episodes=1)"),
    "05-probe-td3": ("probe(quick(TD3))", "probe(quick(TD3), steps=100)"),
    "05-patients": ("probe(quick(kind))", "probe(quick(kind), steps=100)"),
    "05-own-networks": (".learn(2000)", ".learn(1_000)"),
    "05-after-pretraining": (".learn(2500", ".learn(500"),
    "05-reminded": (
        "pretrain(pupil, demos)",
        "pretrain(pupil, demos, epochs=20)",
        ".learn(2500",
        ".learn(500",
    ),
    "05-probabilities": (".learn(20_000)", ".learn(2_000)"),
    "06-one-state": ("updates=2000", "updates=200"),
    "07-ratios-by-epoch": (".learn(10_000)", ".learn(1_000)"),
    "07-kl-through-training": (".learn(30_000)", ".learn(1_000)"),
    "07-now-you": ("range(3)", "range(1)"),
}


RECORDED = re.compile(r"(record\([^()]+, seed=\d)(, max_steps=\d+)?\)")  # a film of an episode


def shorten(cell: NotebookNode) -> None:
    """The trainings that are written out in a cell, and films, made short; in place."""
    texts = SHORTER.get(cell.get("id"), ())
    for long, short in zip(texts[::2], texts[1::2], strict=True):
        assert long in cell.source, f"{cell.id} has no {long} any more: mend tests/few_steps.py"
        cell.source = cell.source.replace(long, short)
    cell.source = RECORDED.sub(r"\1, max_steps=40)", cell.source)
