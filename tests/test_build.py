"""The notebook builder: what it writes, what it refuses, and that it changes nothing needlessly."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tools.build import main
from tools.editions import editions
from tools.sources import BuildError, blank, definition, shuffled

AGENT = '''\
"""Small functions to include."""

import functools

STEPS = 128  # how many


def gae(rewards, gamma, lam):
    """Advantages.

    # not a comment
    """
    advantages, running = [], 0.0
    # 1. From the end backwards, add up what
    #    is still to come.
    for reward in reversed(rewards):  # one by one
        # a remark about the solution
        running = reward + gamma * lam * running
        # 2. Keep each sum.
        advantages.append(running * 1.0)
    return advantages[::-1]


@functools.lru_cache(maxsize=None)
def twice(x):
    return x * 2


class Agent:
    """An agent."""

    size = 3

    def __init__(self, seed):
        """Seed it."""
        # 1. Remember the seed.
        self.seed_of_agent = seed + 1

    @property
    def actor(self):
        text = """
        # 1. this is text
        """
        return text + str(self.seed_of_agent)  # 2. not a step

    def hook(self): ...
'''

LESSON = """\
# One lesson

What you will build. ![picture](../data/picture.png) and `links[0](x.y)`, [next](02_next.ipynb)

```{code-cell}
:setup:
```

```{code-cell}
:slug: imports
:tags: [exercise-only]

def check(id, f):
    return f
```

## The advantage, $\\lambda$

Text.

```{code-cell}
:include: helpers.agents.agent:gae
:exercise: "1.1"
```

```{code-cell}
print(1 + 1)
```

+++ {"tags": ["lesson-only"]}

Only in the lesson.

+++

For both.

## Training

```{code-cell}
6 * 7
```
"""


def advantage_exercise(**changes):
    card = SimpleNamespace(
        title="Look ahead", what="Write `gae`.", why="It is the idea.", difficulty=3, minutes=15
    )
    reference = SimpleNamespace(__module__="helpers.agents.agent", __qualname__="gae")
    fields = {"name": "gae", "reference": reference, "card": card, "bug": "", **changes}
    return {"1.1": SimpleNamespace(hints=("Think backwards.", "Multiply."), **fields)}


class Course:
    """A course of one lesson in a temporary folder."""

    def __init__(self, root: Path):
        self.root, self.exercises = root, advantage_exercise()
        for folder in ("lessons", "helpers/agents", "helpers/checks"):
            (root / folder).mkdir(parents=True)
        (root / "helpers/agents/agent.py").write_text(AGENT)
        self.repository("")
        self.write(LESSON)

    def repository(self, name: str) -> None:
        text = f'[project]\nversion = "1.2"\n\n[tool.course]\nrepository = "{name}"\n'
        (self.root / "pyproject.toml").write_text(text)

    def write(self, text: str, name: str = "01_one") -> None:
        (self.root / "lessons" / f"{name}.md").write_text(text)

    def cell(self, options: str, body: str = "") -> None:
        """Make the lesson a title and one code cell."""
        self.exercises = {}
        self.write(f"# One\n\n```{{code-cell}}\n{options}\n\n{body}\n```\n")

    def editions(self):
        return editions(self.root, "01_one", self.exercises)

    def refused(self) -> str:
        with pytest.raises(BuildError) as caught:
            self.editions()
        return str(caught.value)

    def main(self, *arguments: str) -> int:
        return main(list(arguments), self.root, self.exercises)

    def path(self, folder: str = "notebooks") -> Path:
        return self.root / folder / "01_one.ipynb"


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path / "course")


def ids(notebook) -> list[str]:
    return [cell.id for cell in notebook.cells]


# Definitions and blanks -------------------------------------------------------------------------


def test_a_definition_is_the_exact_source(course):
    source = definition(course.root, "helpers.agents.agent:gae")
    assert source == AGENT[AGENT.index("def gae") : AGENT.index("\n\n\n@functools")]
    assert definition(course.root, "helpers.agents.agent:twice").startswith("@functools.lru_cache(")
    assert definition(course.root, "helpers.agents.agent:STEPS") == "STEPS = 128  # how many"


@pytest.mark.parametrize(
    "spec", ["helpers.agents.agent", "helpers.agents.nothing:gae", "helpers.agents.agent:sac"]
)
def test_an_unknown_definition_is_refused_with_its_cell(course, spec):
    course.cell(f":include: {spec}\n:slug: here")
    message = course.refused()
    assert message.startswith("01_one, cell 01-here: ")
    assert spec in message


def test_a_blank_class_keeps_everything_but_bodies_with_steps(course):
    assert (
        blank(definition(course.root, "helpers.agents.agent:Agent"), "1.2")
        == '''\
class Agent:
    """An agent."""

    size = 3

    def __init__(self, seed):
        """Seed it."""
        # 1. Remember the seed.
        ...
        raise NotImplementedError("exercise 1.2")

    @property
    def actor(self):
        text = """
        # 1. this is text
        """
        return text + str(self.seed_of_agent)  # 2. not a step

    def hook(self): ...'''
    )


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("def f(x):\n    return x", "..."),
        ("def f(x):\n    # 1. a\n    y = x\n\n    # 2. b\n    return y", "# 1. a|...|# 2. b|..."),
        ("def f(x):\n    s = '''\n# 1. a\n'''\n    return s", "..."),
        ("def f(x):\n    if x:\n        # 1. a\n        return 1\n    # 2. b\n    return 2",
         "...|# 1. a|...|# 2. b|..."),
        ("def f(\n    x,  # 1. no step\n    # nor this\n    y=2,\n):\n    # 1. a\n    return x",
         "# 1. a|..."),
        ("def f(x):\n    @d\n    def g():\n        return 1\n\n    # 1. a\n    return g",
         "...|# 1. a|..."),
        ("def f(x):\n    # 1. a\n    #    b\n    return x", "# 1. a|#    b|..."),
        ("@d(1)  # 1. no\ndef f(x: int = 3) -> dict[str, int]:\n    return {}", "..."),
    ],
)  # fmt: skip
def test_what_stays_of_a_body(source, kept):
    result = blank(source, "2.8")
    tail = "".join(f"    {line}\n" for line in [*kept.split("|")])
    assert result.endswith(f':\n{tail}    raise NotImplementedError("exercise 2.8")')


def test_what_cannot_be_made_blank_is_refused():
    with pytest.raises(BuildError, match="no function body"):
        blank("class C:\n    x = 1", "1.1")


def test_the_lines_of_a_solution_come_in_another_order_and_whole():
    source = (
        "def f(x):\n    # 1. step\n    a = x\n    for b in x:\n        c = [\n"
        "            b,  # 5, 6\n        ]\n        d = c\n    e = d\n    return e"
    )
    lines = shuffled(source, "4.1").split("\n")
    right = ["a = x", "for b in x:", "c = [ b, ]", "d = c", "e = d", "return e"]
    assert sorted(lines) == sorted(right) != lines
    assert shuffled(source, "4.1") == "\n".join(lines)  # the same in every build
    assert shuffled("def f(x):\n    return x", "4.1") == ""


# Leaks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "refused"),
    [
        ("```{code-cell}\nrunning = reward + gamma * lam * running\n```\n", True),
        ("```{code-cell}\n:include: helpers.agents.agent:gae\n```\n", True),
        ("```{code-cell}\n:tags: [lesson-only]\nrunning=reward+gamma*lam*running\n```\n", False),
        ("```{code-cell}\nrunning = reward+gamma*(lam)*running\n```\n", False),  # is none: brackets
        ("```{code-cell}\n# running = reward + gamma * lam * running\n```\n", True),
        ("```{code-cell}\nadvantages.append(running*1.0,)\n```\n", True),
        ("```{code-cell}\nfor reward in reversed(rewards):\n    1\n```\n", False),
        ("In code: `running = reward + gamma * lam * running`.\n", True),
        ("<details>\n<summary>S</summary>\n\n`return advantages[::-1]`\n\n</details>\n", False),
        ("<details open>\n\n`return advantages[::-1]`\n\n</details>\n", True),
    ],
)
def test_a_solution_in_sight_is_refused(course, more, refused):
    course.write(LESSON + "\n" + more)
    if refused:
        assert "cell 01-training-" in (message := course.refused())
        assert "gives exercise 1.1 away: " in message
    else:
        course.editions()
