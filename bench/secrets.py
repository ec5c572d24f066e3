"""What is taken for a secret, rightly and wrongly: of planted ones among ordinary lines, and of chats without any."""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from memgraph_engine.evaluation.report import table
from memgraph_engine.language.secrets import masked, secrets

_PLANTED = Path(__file__).with_name("secrets.jsonl")  # written before there was a table that finds them
_SHORT = 4  # letters of a word of a passphrase that may stand elsewhere as well
_AROUND = 40  # characters of a text before what was taken for a secret in it


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--files", type=Path, nargs="*", default=[], help="JSON or JSON lines, whose texts are read")
    parser.add_argument("--failures", action="store_true", help="print what was missed, or taken wrongly")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Mask the planted lines, and count what is taken for a secret in the texts of files."""
    planted = [json.loads(line) for line in _PLANTED.read_text("utf-8").splitlines()]
    counts: dict[str, Counter[str]] = {}
    for one in planted:
        told = masked(one["text"])
        parts = [part for part in one.get("secret", "").split() if len(part) > _SHORT]
        found = told != one["text"] and not any(part in told for part in parts)
        counts.setdefault(one.get("kind", ""), Counter()).update({"lines": 1, "found": found})
        if given.failures and found != ("secret" in one):
            print("missed" if "secret" in one else "wrongly", repr(one["text"]))
    wrong = counts.pop("")
    every = sum(counts.values(), Counter[str]())
    figures = {
        "secrets.precision": every["found"] / (every["found"] + wrong["found"]),
        "secrets.recall": every["found"] / every["lines"],
    }
    rows = [(kind, f"{count['lines']}", f"{count['found']}") for kind, count in sorted(counts.items())]
    rows.append(("ordinary", f"{wrong['lines']}", f"{wrong['found']}"))
    for path in given.files:
        texts = list(_texts(path))
        taken = [text[max(start - _AROUND, 0) : end] for text in texts for start, end, _ in secrets(text)]
        rows.append((path.name, f"{len(texts)}", f"{len(taken)}"))
        if given.failures:
            print(*map(repr, taken), sep="\n")
    told = ", ".join(f"{name.partition('.')[2]} {value:.3f}" for name, value in figures.items())
    return figures, f"### Planted: {told}\n\n{table(('', 'texts', 'taken for secrets'), rows)}"


def _texts(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8")
    yield from _strings(json.loads(f"[{','.join(text.splitlines())}]" if path.suffix == ".jsonl" else text))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)
