"""How the rooms of `helpers` are built: who imports whom, how long things are, what stays private.

Read from the files, without importing them.
"""

import ast
from functools import cache
from pathlib import Path

HELPERS = Path(__file__).resolve().parent.parent / "helpers"
# Room -> those that it may import; `names`, `files` and `evaluation` are modules that stand alone.
MAY_IMPORT = {
    "names": set(),
    "files": set(),
    "envs": set(),
    "memory": {"names"},
    "algorithms": {"memory"},
    "evaluation": {"names", "envs"},
    "demos": {"files", "envs", "evaluation"},
    "agents": {"names", "files", "envs", "memory", "demos", "algorithms"},
    "training": {"names", "files", "envs", "memory", "demos", "agents", "algorithms", "evaluation"},
    "show": {"envs", "memory", "demos", "agents", "algorithms", "evaluation", "training"},
    "checks": {"agents", "algorithms", "show"},
    "exercises": {
        "envs",
        "memory",
        "algorithms",
        "demos",
        "agents",
        "evaluation",
        "training",
        "checks",
    },
    "labs": {"envs", "demos", "agents", "evaluation", "training", "checks", "exercises"},
}
FILES = [
    path
    for room in MAY_IMPORT
    for path in sorted([*HELPERS.glob(f"{room}.py"), *HELPERS.glob(f"{room}/**/*.py")])
]
ABOVE = [  # what may use every room, and is used by none
    path
    for place in ("lessons", "tools")
    for path in sorted(HELPERS.parent.glob(f"{place}/**/*.py"))
]
OTHERS = [
    path for place in ("tests", "benchmarks") for path in HELPERS.parent.glob(f"{place}/*.py")
]


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def nodes(path, *kinds):
    return [node for node in ast.walk(parsed(path)) if isinstance(node, kinds)]


def imported(path):
    """(module, name) of all that a file imports of `helpers`; name None for a whole module."""
    for node in nodes(path, ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        else:
            yield from ((node.module or "", alias.name) for alias in node.names)


def found_in(paths, wrong):
    """File -> what `wrong` finds in it, of those where it finds anything."""
    found = {path.relative_to(HELPERS.parent).as_posix(): wrong(path) for path in paths}
    return {name: each for name, each in found.items() if each}


def test_a_room_imports_only_those_below_it():
    def above(path):
        room = path.relative_to(HELPERS).parts[0].removesuffix(".py")
        parts = [module.split(".") for module, _ in imported(path)]
        rooms = {part[1] for part in parts if part[0] == "helpers" and len(part) > 1}
        outside = {part[0] for part in parts} & {"lessons", "tools"}
        return (rooms - MAY_IMPORT[room] - {room}) | outside

    assert found_in(FILES, above) == {}


def test_private_names_stay_in_their_file():
    def private(path):
        ours = ("helpers", "lessons", "tools")
        names = [name for module, name in imported(path) if module.split(".")[0] in ours and name]
        modules = {name for name in names if name.islower()}
        reached = {
            node.attr
            for node in nodes(path, ast.Attribute)
            if isinstance(node.value, ast.Name) and node.value.id in modules
            if not node.attr.startswith("__")
        }
        return {n for n in {*names} | reached if n.startswith("_") and n != "__version__"}

    assert found_in([*FILES, *ABOVE], private) == {}


def test_functions_are_short():
    def long(path):
        functions = nodes(path, ast.FunctionDef)
        return {f.name: n for f in functions if (n := f.end_lineno - f.lineno + 1) > 40}

    assert found_in([*FILES, *ABOVE, *OTHERS], long) == {}
