"""What all tests and notebooks share: quiet threads, an order that keeps two cores busy."""

import os
from itertools import zip_longest

import pytest
from few_steps import FEW_STEPS, shorten
from xdist.scheduler import LoadGroupScheduling

# Before anything imports torch: two workers with two threads each would fight for two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")  # the kernel of this environment


LONG_FILES = ("browser", "probes", "exercises.py", "break_it", "train")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="the tests marked `long` as well")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Long tests run when asked for; the kernels of nbval's notebooks train for a moment."""
    if item.get_closest_marker("long") and not item.config.getoption("--all"):
        pytest.skip("all of them take minutes: python course.py test --all")
    if item.path.suffix == ".ipynb":
        os.environ["COURSE_TEST_STEPS"] = FEW_STEPS
        shorten(item.cell)
    else:
        os.environ.pop("COURSE_TEST_STEPS", None)


class FilesAndGroups(LoadGroupScheduling):
    """A file's tests stay on one worker, in their order: a notebook's cells share a kernel.

    A test with `@pytest.mark.xdist_group(name)` is apart from its file: it may run elsewhere.
    """

    def _split_scope(self, nodeid):
        group = super()._split_scope(nodeid)
        return group.split("::")[0] if group == nodeid else group


def pytest_xdist_make_scheduler(config, log):
    return FilesAndGroups(config, log) if config.getvalue("dist") == "loadgroup" else None


def group_of(item: pytest.Item) -> str:
    """What runs on one worker together: its file, or the group that its mark names."""
    mark = item.get_closest_marker("xdist_group")
    return mark.args[0] if mark else item.nodeid.split("::")[0]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long groups first: solved editions between nbval's notebooks, then files, the longest first.

    A worker always holds one group more than it runs, so what trains for long must not come last.
    Exercise editions that run packed as well (`tests/test_pack.py`) are not run a second time.
    """
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        groups.setdefault(group_of(item), []).append(item)
    if config.getoption("--all"):
        for name in [name for name in groups if name.startswith("packed ")]:
            lesson = name.removeprefix("packed ")
            groups.pop(f"notebooks/exercises/{lesson}.ipynb", None)
    names = sorted(groups, key=lambda name: -len(groups[name]))
    notebooks = [name for name in names if name.endswith(".ipynb")]
    files = [name for name in names if name.endswith(".py")]
    files.sort(key=lambda name: not any(part in name for part in LONG_FILES))
    alone = [name for name in names if name not in notebooks and name not in files]
    alone.sort(key=lambda name: "solved" not in name)
    first = [name for pair in zip_longest(alone, notebooks) for name in pair if name]
    items[:] = [item for name in first + files for item in groups[name]]
