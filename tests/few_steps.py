"""What the tests' runs of notebooks leave out of long trainings and films. Every cell still runs.

Each algorithm trains at full scale once, in its lesson's solved edition (`test_notebooks.py`).
"""

import re

from nbformat import NotebookNode

# For the environment variable COURSE_TEST_STEPS, which `get_setting` and `live` obey: an episode on
# the mountain, the longest there is, ends within so many steps.
FEW_STEPS = "1000"

# What a cell trains by numbers of its own, and no bar asks for: its id, what stands in it, and what
# runs instead.
SHORTER = {
    "01-train-long-pendulum": ('np.array(long_agent.history["return"])', "np.array([[2e5, -500]])"),
    "01-now-you": ("train(changed,", "train(replace(changed, steps=1024),"),
    "01-own-network": ("train(a2c.CARTPOLE,", "train(replace(a2c.CARTPOLE, steps=1024),"),
    "02-now-you": ("steps=6000", "steps=1200"),
    "03-now-you": ("steps=6_000", "steps=1_200"),
    "04-now-you": ("(0, 1, 2)", "(0,)"),
    "05-now-you": (".learn(4000)", ".learn(1000)"),
    "05-train-evaluated": ("episodes=100", "episodes=10"),
    "05-pretrain": ("epochs=100", "epochs=20"),
    "05-probe-two": ("probes.quick(kind)", "probes.quick(kind), steps=100"),
    "05-toys": (".learn(2000)", ".learn(600)"),
    "05-search": ("range(6)", "range(1)"),
    "05-normalized": (".learn(2000)", ".learn(600)"),
    "05-probabilities": (".learn(20_000)", ".learn(2_000)"),
    "06-one-state": ("updates=2000", "updates=200"),
    "06-now-you": ("steps=4000", "steps=1200"),
    "07-now-you": ("Settings(n_epochs=3)", "Settings(n_epochs=3, steps=2_000)"),
    "08-td3-alone": ("bc_alpha=1e6)", "bc_alpha=1e6, steps=100)"),
    "08-now-you": ("bc_alpha=10.0)", "bc_alpha=10.0, steps=100)"),
}

# What a lesson's bar asks for beside the one training that is full in the solved editions.
SECOND = {
    "02-bar": (', "MountainCarContinuous-v0": car}', "}"),
    "03-bar": (">= 90", ">= -9e9"),
    "06-bar": (', "MountainCarContinuous-v0": car_result}', "}"),
}
# The trainings of whole lessons, which are full in the solved editions.
TRAININGS = {
    "03-train-pendulum": ("1500, 3000, 6000, 12_000", "500, 1000", "=1500", "=500"),
    "03-bar": (">= -200", ">= -9e9", ">= 90", ">= -9e9"),
    "06-moments": (
        "actors[step]", "actors[3000] = actors[4000] = actors[8000] = actors[step]",
        "films[step]", "films[3000] = films[8000] = films[step]",
    ),
    "07-train-cartpole": ("{}", "__import__('collections').defaultdict(lambda: agent)"),
    "07-bar": (">= threshold", ">= -9e9"),
    "08-bar": (">= 120", ">= -9e9"),
}  # fmt: skip


RECORDED = re.compile(r"(record\([^()]+, seed=\d)(, max_steps=\d+)?\)")  # a film of an episode


def shorten(cell: NotebookNode, full: bool = False) -> None:
    """The trainings that are written out in a cell, and films, made short; in place.

    `full`: the first of the lesson's own trainings stays as it is.
    """
    more = SECOND if full else TRAININGS
    texts = SHORTER.get(cell.get("id"), ()) + more.get(cell.get("id"), ())
    for long, short in zip(texts[::2], texts[1::2], strict=True):
        assert long in cell.source, f"{cell.id} has no {long} any more: mend tests/few_steps.py"
        cell.source = cell.source.replace(long, short)
    cell.source = RECORDED.sub(r"\1, max_steps=40)", cell.source)
