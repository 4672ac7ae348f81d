"""What the course was last verified with, and what Colab has today. Run by newest.yml, weekly.

python -m tools.versions colab            # reads Colab's list into tests/colab.txt
python -m tools.versions page FOLDER      # VERIFIED.md from FOLDER/NAME.txt, lists of `pip freeze`
"""

import datetime
import re
import sys
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
LIST = "https://raw.githubusercontent.com/googlecolab/backend-info/main/{}"
HEAD = """\
# Colab's versions of what the course imports, as of {day}, with {python}: from
# https://github.com/googlecolab/backend-info, read by `python -m tools.versions colab`.
"""
PAGE = """\
# Last verified

**{day}: the tests passed with the newest version of every package, and all packed lessons ran with
Colab's.** `.github/workflows/newest.yml` tries both every Monday, and writes this page when both
went well: an old date means that they have not since. `python course.py --newest` installs today's
newest versions for you.
"""


def main(argv: list[str]) -> None:
    day = datetime.date.today().isoformat()
    if argv == ["colab"]:
        path = ROOT / "tests" / "colab.txt"
        freeze, system = (read(LIST.format(name)) for name in ("pip-freeze.txt", "os-info.txt"))
        path.write_text(colab(path.read_text("utf-8"), freeze, system, day), encoding="utf-8")
    elif argv[:1] == ["page"] and len(argv) == 2:
        lists = {path.stem: path.read_text("utf-8") for path in sorted(Path(argv[1]).glob("*.txt"))}
        (ROOT / "VERIFIED.md").write_text(page(lists, day), encoding="utf-8")
    else:
        sys.exit(__doc__)


def read(url: str) -> str:
    with urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def versions(freeze: str) -> dict[str, str]:
    """Package -> version, from the lines of `pip freeze`, of requirements, or of a wheel's URL."""
    lines = re.findall(r"(?m)^([\w.-]+)(?:\[.*?\])?(?:==| @ \S*/\w+-)(\d[\w.]*)", freeze)
    return {name.lower().replace("_", "-"): version for name, version in lines}


def colab(old: str, freeze: str, system: str, day: str) -> str:
    """The list of `old`, with the versions that Colab has today."""
    theirs = versions(freeze)
    if lost := [name for name in versions(old) if name not in theirs]:
        sys.exit(f"Colab has no {', '.join(lost)} any more: see what the course needs of it.")
    head = HEAD.format(day=day, python=re.search(r"Python [\d.]+", system)[0])
    return head + "".join(f"{name}=={theirs[name]}\n" for name in versions(old))


def page(lists: dict[str, str], day: str) -> str:
    """VERIFIED.md, with each of the lists below its name."""
    shown = [f"\n## {name}\n\n```text\n{text.rstrip()}\n```\n" for name, text in lists.items()]
    return PAGE.format(day=day) + "".join(shown)


if __name__ == "__main__":
    main(sys.argv[1:])
