"""Make the course's web page: a static site from the built notebooks, which are not run again.

    python -m tools.site [FOLDER] [--repository OWNER/NAME] [--still]

The pages are those that GitHub shows as well: the documents in the course's folder and both
editions of every lesson. The first page and the page "Try it" are the site's own. Sphinx with
MyST-NB and its book theme makes a site of them. CONTRIBUTING.md says why these tools.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.environment import Environment
from tools.folder import writable
from tools.project import project
from tools.site_pages import OUTPUTS, TITLE, lay_out, notebooks
from tools.site_try_it import DRIVER

ROOT = Path(__file__).resolve().parent.parent


def main(argv: list[str] | None = None, root: Path = ROOT) -> int:
    """Build the site; gives 0, or 1 where a page has a fault, such as a link to nowhere."""
    args = _parser(root).parse_args(argv)
    folder = args.folder.resolve()
    if folder.exists() and any(folder.iterdir()) and not (folder / ".buildinfo").exists():
        print(f"'{folder}' holds something else: name an empty folder.", file=sys.stderr)
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as place:
        source = Path(place, "source")
        if not args.still:
            draw_frames(root, folder / OUTPUTS / "frames")
        lay_out(root, source, folder / OUTPUTS, args.repository)
        faults = run_sphinx(source, folder, settings(root, args.repository))
    for path in notebooks(root):  # what "Download" gives is the notebook, not the page made of it
        shutil.copy(path, folder / "_sources" / path.relative_to(root))
    print(f"The site has {faults} faults." if faults else f"Open {folder / 'index.html'}.")
    return min(faults, 1)


def _parser(root: Path) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="site", description="Make the course's web page.")
    parser.add_argument("folder", nargs="?", type=writable, default=str(root / "runs" / "site"))
    parser.add_argument(
        "--repository",
        metavar="OWNER/NAME",
        default=project(root)[0],
        help="where the course is published on GitHub (default: what pyproject.toml says)",
    )
    parser.add_argument(
        "--still", action="store_true", help="leave explorers pictures: some minutes less"
    )
    return parser


def draw_frames(root: Path, folder: Path) -> None:
    """The explorers' pictures, by the course's own environment, if there is one."""
    python = Environment(root).python
    if python.exists():
        subprocess.run([python, "-m", "tools.frames", folder], cwd=root, check=True)
    else:
        print("The explorers stay pictures: `python course.py` makes what draws them.")


# --- Sphinx -----------------------------------------------------------------------------------


def settings(root: Path, repository: str) -> dict[str, Any]:
    """What Sphinx would read from a conf.py."""
    theme = {
        "home_page_in_toc": True,
        "use_download_button": False,
        "use_fullscreen_button": False,
        "show_toc_level": 2,
        "navbar_persistent": [],  # one search field, the one beside the page
        "pygments_light_style": "a11y-high-contrast-light",
        "pygments_dark_style": "a11y-high-contrast-dark",
    }
    if repository:
        theme |= {
            "repository_url": f"https://github.com/{repository}",
            "repository_branch": "main",
            "use_repository_button": True,
        }
    return {
        "project": TITLE,
        "author": "",  # else the pages are "By Author name not set"
        "version": project(root)[1],
        "extensions": ["myst_nb", "sphinx.ext.githubpages", "sphinx-mathjax-offline"],
        "nb_execution_mode": "off",
        "myst_enable_extensions": ["dollarmath", "amsmath"],
        "myst_heading_anchors": 3,
        "suppress_warnings": ["myst.header"],  # a card of an exercise may stand below the title
        "html_theme": "sphinx_book_theme",
        "html_theme_options": theme,
        "html_title": TITLE,
        "html_favicon": str(root / "tools" / "site_style" / "favicon.svg"),
        "html_static_path": [str(root / "tools" / "site_style"), str(root / DRIVER)],
        "html_css_files": ["course.css"],
        "html_js_files": ["explorers.js"],
        "html_copy_source": True,
        "html_sourcelink_suffix": "",
        "html_show_sphinx": False,
        "language": "en",
    }


def run_sphinx(source: Path, folder: Path, conf: dict[str, Any]) -> int:
    """Build, and give the number of warnings: a reference to nowhere is one."""
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace

    with docutils_namespace():
        trees = source.parent / "trees"
        app = Sphinx(source, None, folder, trees, "html", confoverrides=conf, status=None)
        app.build()
        return app._warncount or app.statuscode


if __name__ == "__main__":
    sys.exit(main())
