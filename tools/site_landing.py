"""The first page of the site: what the course is, three ways in, the lessons, the map."""

import re
from html import escape
from pathlib import Path

import nbformat
from nbformat import NotebookNode

LEAD = (
    "Build A2C, DDPG, TD3, SAC and PPO by hand, one small function at a time, and watch each learn "
    "in about a minute on your laptop. A free course in notebooks. Its exercises name your mistake."
)
PAGE = """---
myst:
  html_meta:
    description: "{lead}"
    "property=og:title": "{title}"
    "property=og:description": "{lead}"
    "property=og:type": "website"
    "property=og:image": "{picture}"
---
# {title}

<p class="course-lead">{lead}</p>

![A pendulum before and after twelve thousand steps of TD3](data/pictures/td3_pendulum.png)

<p>
<a class="course-button course-first" href="try_it.html">Watch one learn in your browser</a>
<a class="course-button" href="notebooks/00_start_here.html">Read lesson 00</a>
<a class="course-button" href="README.html">Run it on your machine</a>
</p>

## Lessons

<div class="course-cards">
{cards}
</div>

## The map

{course_map}
"""


def landing(root: Path, title: str, course_map: str, repository: str) -> str:
    """The page in Markdown for MyST; `course_map` is a picture in HTML."""
    cards = "\n".join(
        card(path, nbformat.read(path, as_version=4))
        for path in sorted((root / "notebooks").glob("*.ipynb"))
    )
    owner, _, name = repository.partition("/")
    picture = f"https://{owner}.github.io/{name}/_images/td3_pendulum.png"
    return PAGE.format(lead=LEAD, title=title, picture=picture, cards=cards, course_map=course_map)


def card(path: Path, lesson: NotebookNode) -> str:
    """A link to a lesson: its title, and the sentence in bold type that begins it."""
    text = lesson.cells[0].source
    title = text.partition("\n")[0].removeprefix("# ")
    sentence = re.search(r"(?s)\n\n\*\*([^*]{40,})\*\*\n", text)
    said = " ".join(sentence[1].split()) if sentence else ""
    link = f"notebooks/{path.stem}.html"
    return f'<a class="course-card" href="{link}"><b>{escape(title)}</b> {escape(said)}</a>'
