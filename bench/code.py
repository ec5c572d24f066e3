"""Code as memory: are functions found by what their docstrings say, once these are taken out."""

import argparse
import ast
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.baselines import Words
from bench.server import bench_settings, connected, of_its_own
from memgraph_engine import Memory, Note
from memgraph_engine.embedding.choose import embedder_named
from memgraph_engine.evaluation.kept import KeptEmbedder
from memgraph_engine.evaluation.report import table

_HELD_OUT = "click,httpx,jinja2"
"""Not requests, which was looked at while this was made."""
_USER = "bench"
_K = 10
_QUESTIONS = 150  # of a package
_WORDS = 4  # the least of a question
_NODES = 12  # of an outline, of which one block should not hold more than half
_RARE = 10  # files that import a library of which it is asked
_SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)", re.DOTALL)


@dataclass(frozen=True)
class Question:
    """A question, and what answers it: functions (path, qualified name), or any piece of a file (path, '')."""

    text: str
    functions: frozenset[tuple[str, str]] = frozenset()
    library: str = ""

    def answered(self, note: Note) -> set[tuple[str, str]]:
        """Return which of the answers a note holds."""
        (source,) = note.sources
        path, _, name = source.id.partition("::")
        name = name.partition("@")[0]
        if self.library:
            return {(path, "")} if f"library:{self.library}" in source.tags else set()
        return {
            (file, function)
            for file, function in self.functions
            if file == path
            and (function == name or (function.startswith(f"{name}.") and f"def {_last(function)}(" in note.text))
        }


def _last(function: str) -> str:
    return function.rpartition(".")[2]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--model", default="bge-small", help="the embedder")
    parser.add_argument("--packages", default=_HELD_OUT, help="installed packages, with commas between")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure; return flat figures and a report in Markdown."""
    settings = bench_settings(given.model)
    settings = settings.model_copy(update={"home": Path(settings.home).with_name(f"{given.model}-code")})
    embedder = KeptEmbedder(embedder_named(settings))
    found = dict[str, dict[str, float]]()
    with connected(settings, embedder) as memory:
        for package in given.packages.split(","):
            with of_its_own(memory) as one, of_its_own(memory) as again:
                found[package] = _package(one, again, package)
            embedder.forget()
    names = [name for name in next(iter(found.values())) if name not in _SUMS]
    sums = {name: sum(one[name] for one in found.values()) for name in _SUMS}
    weights = {package: one["questions"] for package, one in found.items()}
    figures = {
        f"code.{name}": sum(one[name] * weights[package] for package, one in found.items()) / sums["questions"]
        for name in names
    }
    figures |= {
        "code_over_bm25": figures["code.R@10"] / figures["code.bm25.R@10"],
        "code.definitions_s": sums["definitions"] / sums["seconds"],
        "code.pieces_s": sums["pieces"] / sums["seconds"],
        "code.cut_definitions_s": sums["definitions"] / sums["cut_seconds"],
        "code.questions": sums["questions"],
    }
    rows = [
        (
            package,
            *(f"{one[name]:,.0f}" for name in ("questions", "pieces", "definitions")),
            *(f"{100 * one[name]:.1f}" for name in names),
            f"{one['definitions'] / one['seconds']:,.0f}",
        )
        for package, one in found.items()
    ]
    every = (
        "all",
        *(f"{sums[name]:,.0f}" for name in ("questions", "pieces", "definitions")),
        *(f"{100 * figures[f'code.{name}']:.1f}" for name in names),
        f"{figures['code.definitions_s']:,.0f}",
    )
    head = ("package", "questions", "pieces", "definitions", *names, "definitions/s")
    return figures, (
        f"### Functions by the first sentences of their docstrings, {given.model}\n\n{table(head, [*rows, every])}\n\n"
        f"R@10 over BM25's: {figures['code_over_bm25']:.2f}. Definitions a second are those stored, without the time "
        f"of the embedder; cut alone {figures['code.cut_definitions_s']:,.0f}.\n"
    )


_SUMS = ("questions", "pieces", "definitions", "seconds", "cut_seconds")


def _package(memory: Memory, again: Memory, package: str) -> dict[str, float]:
    """Ingest a package twice, the second time with all vectors known: what that takes is everything else."""
    with TemporaryDirectory() as folder:
        root = Path(folder) / package
        questions = list(copied(package, root))
        done = memory.ingest(root, user_id=_USER, repository=True)
        assert not done.faults, done.faults
        begun = perf_counter()
        again.ingest(root, user_id=_USER, repository=True)
        seconds = perf_counter() - begun
        begun = perf_counter()
        definitions = sum(_definitions(file) for file in root.rglob("*.py"))
        cut_seconds = perf_counter() - begun
    random.Random(0).shuffle(questions)
    questions = questions[:_QUESTIONS]
    notes = list(memory.get_all(user_id=_USER, kind="code"))
    libraries = list(_libraries(notes))
    words = Words([note.text for note in notes])
    contexts = Words([note.context for note in notes])

    def search(question: Question) -> list[Note]:
        hits = memory.search(question.text, user_id=_USER, top_k=_K, kind="code")
        return [hit.note for hit in hits]

    memory.rebuild_blocks(user_id=_USER)
    held = [block.notes for block in memory.outline(_NODES, user_id=_USER)]
    asked = {question: search(question) for question in (*questions, *libraries)}
    plain = {question: [notes[place] for place in words.best(question.text)] for question in asked}
    said = {question: [notes[place] for place in contexts.best(question.text)] for question in questions}
    return {
        "R@10": fmean(_recall(one, asked[one]) for one in questions),
        "MRR": fmean(_reciprocal(one, asked[one]) for one in questions),
        "bm25.R@10": fmean(_recall(one, plain[one]) for one in questions),
        "bm25.MRR": fmean(_reciprocal(one, plain[one]) for one in questions),
        "bm25_context.R@10": fmean(_recall(one, said[one]) for one in questions),
        "imports.R@10": fmean(_recall(one, asked[one]) for one in libraries),
        "bm25.imports.R@10": fmean(_recall(one, plain[one]) for one in libraries),
        "outline.largest": max(held) / sum(held),
        "questions": float(len(questions)),
        "pieces": float(len(notes)),
        "definitions": float(definitions),
        "seconds": seconds,
        "cut_seconds": cut_seconds,
    }


def _recall(question: Question, notes: Sequence[Note]) -> float:
    answers = {answer for note in notes for answer in question.answered(note)}
    return len(answers) / min(len(question.functions), _K)


def _reciprocal(question: Question, notes: Sequence[Note]) -> float:
    return next((1 / place for place, note in enumerate(notes, 1) if question.answered(note)), 0.0)


def _definitions(file: Path) -> int:
    from memgraph_engine.ingest import code

    pieces = code.cut(file.name, file.read_text(encoding="utf-8"), 1200).pieces
    return sum(kind == "symbol" for piece in pieces for kind, _ in piece.keywords)


def copied(package: str, root: Path) -> Iterator[Question]:
    """Copy a package's Python files without the docstrings of functions; yield a question for each of these."""
    spec = find_spec(package)
    if not spec or not spec.submodule_search_locations:
        raise SystemExit(f"{package} is no package that is installed here.")
    source = Path(next(iter(spec.submodule_search_locations)))
    said = defaultdict[str, set[tuple[str, str]]](set)
    for file in sorted(source.rglob("*.py")):
        within = file.relative_to(source)
        if "tests" in within.parts:
            continue
        text = file.read_text(encoding="utf-8")
        target = root / within
        target.parent.mkdir(parents=True, exist_ok=True)
        taken: list[ast.Expr] = []
        for name, doc in _functions(ast.parse(text)):
            taken.append(doc)
            assert isinstance(doc.value, ast.Constant)
            sentence = " ".join(str(doc.value.value).split())
            found = _SENTENCE.match(sentence)
            said[found[1] if found else sentence].add((f"{package}/{within.as_posix()}", name))
        target.write_text(_without(text, taken), encoding="utf-8")
    for sentence, functions in sorted(said.items()):
        if len(functions) == 1 and len(sentence.split()) >= _WORDS:
            yield Question(sentence, frozenset(functions))


def _functions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, ast.Expr]]:
    """Yield the qualified names of functions and methods, with their docstrings; none that is inside a function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{within}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            if isinstance(first, ast.Expr) and ast.get_docstring(node):
                yield f"{within}{node.name}", first
        elif not isinstance(node, ast.expr):
            yield from _functions(node, within)


def _without(text: str, taken: Sequence[ast.Expr]) -> str:
    lines = text.split("\n")
    for doc in sorted(taken, key=lambda one: -one.lineno):
        assert doc.end_lineno
        indent = lines[doc.lineno - 1][: doc.col_offset]
        if indent.strip():  # it stands behind "def f():"
            continue
        lines[doc.lineno - 1 : doc.end_lineno] = [f"{indent}..."]
    return "\n".join(lines)


def _libraries(notes: Sequence[Note]) -> Iterator[Question]:
    """Ask for each library of one word that few files import."""
    files = defaultdict[str, set[tuple[str, str]]](set)
    for note in notes:
        for tag in note.tags:
            kind, _, word = tag.partition(":")
            if kind == "library" and word.isidentifier():
                files[word].add((note.sources[0].session, ""))
    for library, some in sorted(files.items()):
        if len(some) <= _RARE:
            yield Question(f"What imports {library}?", frozenset(some), library)
