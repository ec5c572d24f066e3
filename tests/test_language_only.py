"""What people say is read in `language/` alone: nowhere else are words cut by a pattern, or looked for in a list."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "memgraph_engine"
LISTS = {"word_list", "word_values", "listed_terms", "lists_of", "CLAUSES", "CLOSED", "SPOKEN"}
WORDS = re.compile(r"\\[wWb]|a-z|A-Z")
NO_SPEECH = {
    "answer/ask.py": "whether a model's answer begins as the prompt asks",
    "answer/lines.py": "signs of the page that a context is",
    "blocks": "TOML, and what a model is told",
    "cli": "commands and files of settings",
    "evaluation": "measures as papers define them",
    "graph": "Cypher, and what a server logs",
    "ingest/code.py": "comments of programs",
    "ingest/files.py": "encodings",
    "ingest/passages.py": "paragraphs",
    "ingest/readers.py": "files of known forms",
    "integrations": "headers and paths",
    "interface": "names of arguments",
    "lifecycle/file.py": "files of policies",
    "llm": "prompts, and pieces as models count them",
    "model/marker.py": "marks of the memory itself, however they are disguised",
}
"""Files and rooms with patterns of letters, and what these are of instead of speech."""
OTHERS = {
    "ingest/attributes.py": "what a user tells of himself",
}
"""Readers that stand elsewhere, and what they read."""


@cache
def trees():
    """The modules beside `language/` by their names: read by the one process that asks, and not by all that collect."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text())
        for path in PACKAGE.rglob("*.py")
        if PACKAGE / "language" not in path.parents
    }


def patterns(tree):
    """The patterns of words that a module has."""
    for node in ast.walk(tree):
        owner = getattr(getattr(getattr(node, "func", None), "value", None), "id", "")
        if isinstance(node, ast.Call) and node.args and owner == "re":
            told = (str(one.value) for one in ast.walk(node.args[0]) if isinstance(one, ast.Constant))
            yield from filter(WORDS.search, told)


def lists(tree):
    """What a module imports that reads lists of words."""
    named = (one.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for one in node.names)
    return LISTS.intersection(named)


def excused(name, excuses):
    return any(name == one or name.startswith(f"{one}/") for one in excuses)


def test_no_pattern_elsewhere_reads_words():
    found = {name: [*patterns(tree)] for name, tree in trees().items() if not excused(name, NO_SPEECH | OTHERS)}
    assert {name: some for name, some in found.items() if some} == {}


def test_no_list_of_words_is_read_elsewhere():
    found = {name: lists(tree) for name, tree in trees().items() if not excused(name, OTHERS)}
    assert {name: some for name, some in found.items() if some} == {}


@pytest.mark.parametrize("excuse", [*NO_SPEECH, *OTHERS])
def test_no_excuse_is_left_that_is_not_needed(excuse):
    some = [tree for name, tree in trees().items() if excused(name, [excuse])]
    assert any([*patterns(tree)] or lists(tree) for tree in some)
