"""How large the project is, against what `bench/house.toml` allows; exits with 1 where something has grown."""

import argparse
import ast
import json
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memgraph_engine.evaluation.report import table

ROOT = Path(__file__).parent.parent
_PACKAGE = "memgraph_engine"
_FILE = "bench/house.toml"
_GENERATED = "Written by `make docs`"
_LOOSE = 100
"""A limit is loose when it is above its figure by more than one part of so many: what was won could be lost again."""
_HEAD = """\
# What the project may weigh. `make check` fails on what is above its `most`, and where a `most` is more than 1 % loose:
# `python -m bench house --lower` sets it to what there is. Raising one is done by hand, with a `reason` beside it: it
# is then above `reached`, the least that there ever was.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout")
    parser.add_argument("--check", action="store_true", help="count only what is limited")
    parser.add_argument("--lower", action="store_true", help="lower each limit to what there is, then tell")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Count; return flat figures and a report in Markdown, or exit with the report and what to do."""
    limits = read(given.root)
    counted = weighed(given.root, limits["reading"].files)
    others = {} if given.check else house(given.root)
    if given.lower:
        for name, limit in limits.items():
            limit.lower(counted[name])
        write(given.root, limits)
    rows = [(limits[name].what, value, limits[name].most) for name, value in counted.items()]
    text = table(("", "today", "at most"), [*rows, *((name, value, None) for name, value in others.items())])
    if faults := [fault for name, value in counted.items() if (fault := limits[name].fault(value))]:
        sys.exit("\n\n".join((text, *faults)))
    return {**counted, **{name: value for name, value in others.items() if isinstance(value, int)}}, text


# ---- what is counted ------------------------------------------------------------------------


def weighed(root: Path, reading: Sequence[str]) -> dict[str, int]:
    """Return what is limited, by its name in house.toml; `reading` are the files that read language."""
    package = root / _PACKAGE
    if gone := [name for name in reading if not (package / name).is_file()]:
        sys.exit(f"{_FILE}: {', '.join(gone)} of [reading] is gone; name there what reads language instead, if any.")
    pages = [root / "README.md", *(root / "docs").rglob("*.md")]
    own = [text for page in pages if _GENERATED not in (text := page.read_text("utf-8"))]
    return {
        "package": lines(package.rglob("*.py")),
        "gate": lines((package / "gate").rglob("*.py")),
        "reading": lines(package / name for name in reading),
        "language": lines((root / "config" / "language").rglob("*.toml")),
        "statement": max(lines([path]) for path in (root / "cypher").rglob("*.cypher")),
        "words": sum(len(text.split()) for text in own),
    }


def lines(paths: Iterable[Path]) -> int:
    """Count the lines of files."""
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def house(root: Path) -> dict[str, object]:
    """Return what is told beside the limits: files, code, the largest file, floors and circles of the package."""
    files = {path: path.read_text("utf-8") for path in (root / _PACKAGE).rglob("*.py")}
    largest = max(files, key=lambda path: files[path].count("\n"))
    contracts = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    return {
        "files": len(files),
        "code_lines": sum(map(code, files.values())),
        "largest_file": f"{largest.relative_to(root)}, {files[largest].count(chr(10))} lines",
        "floors": len(contracts[0]["layers"]),
        "circles": circles(),
    }


def code(text: str) -> int:
    """Count the lines that are neither blank nor comment nor docstring."""
    left = dict(enumerate(text.splitlines(), 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                left.pop(line, None)
    return sum(not line.lstrip().startswith("#") and not line.isspace() and line != "" for line in left.values())


def circles() -> int:
    """Count the sets of modules that import each other, imports within functions among them."""
    import grimp
    import igraph

    graph = grimp.build_graph(_PACKAGE)
    edges = [(one, other) for one in graph.modules for other in graph.find_modules_directly_imported_by(one)]
    return sum(len(part) > 1 for part in igraph.Graph.TupleList(edges, directed=True).connected_components("strong"))


# ---- what is allowed ------------------------------------------------------------------------


@dataclass
class Limit:
    """What may be counted at `most`; `reached` is the least that there ever was, and a `reason` stands for the rest."""

    what: str
    most: int
    reached: int
    reason: str = ""
    files: list[str] = field(default_factory=list)

    def fault(self, value: int) -> str:
        """Say in a sentence why a figure does not fit, if so."""
        if value > self.most:
            return (
                f"{self.what}: {value:,}, which is {value - self.most:,} more than {_FILE} allows ({self.most:,}). "
                "Shorten something in the same commit; if it must grow, raise `most` there and add a `reason`."
            )
        if self.most > self.reached and not self.reason.strip():
            return f"{self.what}: {_FILE} allows {self.most:,}, and {self.reached:,} were reached once; add a `reason`."
        if (self.most - value) * _LOOSE > self.most:
            less = self.most - value
            return f"{self.what}: {value:,}, {less:,} less than {_FILE} allows. Run python -m bench house --lower."
        return ""

    def lower(self, value: int) -> None:
        """Allow no more than there is; a reason goes with what it was given for."""
        self.most, self.reached = min(self.most, value), min(self.reached, value)
        self.reason = self.reason if self.most > self.reached else ""


def read(root: Path) -> dict[str, Limit]:
    """Read bench/house.toml."""
    return {name: Limit(**limit) for name, limit in tomllib.loads((root / _FILE).read_text("utf-8")).items()}


def write(root: Path, limits: dict[str, Limit]) -> None:
    """Write bench/house.toml."""
    text = _HEAD
    for name, one in limits.items():
        text += f'\n[{name}]\nwhat = "{one.what}"\nmost = {one.most}\nreached = {one.reached}\n'
        text += f"reason = {json.dumps(one.reason, ensure_ascii=False)}\n" if one.reason else ""
        text += f"files = {json.dumps(one.files, indent=2)}\n" if one.files else ""
    (root / _FILE).write_text(text, "utf-8")
