"""`memgraph-engine demo`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memgraph_engine.cli import progress, show
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.tally import Shown
from memgraph_engine.errors import InvalidInput
from memgraph_engine.resources import resource

if TYPE_CHECKING:
    from rich.console import Console

    from memgraph_engine.client import Memory
    from memgraph_engine.model.result import Hit

_TENANT = "demo"
_QUESTIONS = 6
_ANSWERS = 3


@dataclass(frozen=True)
class Conversation:
    """What the demo ingests, for which user, and what it asks."""

    file: Path
    user: str
    questions: Sequence[str]
    sample: str | None = None


def demo(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="A LoCoMo file, to see its first conversation; else a sample of two friends.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
) -> None:
    """Ingest a conversation and ask it questions.

    Then it says how to look at the graph. It can be repeated: what is stored is recognised.
    """
    conversation = _locomo(file) if file else _sample()
    out = show.console()
    with connect(_TENANT) as memory:
        _ingest(out, memory, conversation)
        for question in conversation.questions:
            hits = memory.search(question, user_id=conversation.user, top_k=_ANSWERS)
            _answer(out, question, hits)
    _look(out)


def _sample() -> Conversation:
    folder = resource("config", "sample")
    questions = (folder / "questions.txt").read_text("utf-8").splitlines()
    return Conversation(folder / "conversation.jsonl", "sample", questions)


def _locomo(file: Path) -> Conversation:
    """Choose the first conversation of a LoCoMo file, and its first questions that have evidence."""
    try:
        given: Any = json.loads(file.read_text("utf-8"))
        first = given[0] if isinstance(given, list) else given
        asked = [qa["question"] for qa in first["qa"] if qa.get("evidence")]
        sample = str(first.get("sample_id", ""))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise InvalidInput(f"{file} is no LoCoMo file. For others: memgraph-engine ingest, then search.") from None
    return Conversation(file, sample or file.stem, asked[:_QUESTIONS], sample)


def _ingest(out: "Console", memory: "Memory", conversation: Conversation) -> None:
    with progress.bar("Ingesting", lambda: None) as bar:
        done = memory.ingest(
            conversation.file, user_id=conversation.user, sample_id=conversation.sample, progress=Shown(bar)
        )
    stats = memory.stats(user_id=conversation.user)
    size = f"{show.count(stats.sources, 'message')} in {show.count(stats.sessions, 'session')}"
    out.print(f"A conversation of {size}: {done}.", style="dim")


def _answer(out: "Console", question: str, hits: "Sequence[Hit]") -> None:
    out.print()
    out.print(show.clean(question), style="bold")
    for rank, hit in enumerate(hits, 1):
        show.hit(out, rank, hit)


def _look(out: "Console") -> None:
    """Say how to see the graph."""
    from memgraph_engine.graph.server import LocalServer
    from memgraph_engine.settings import Settings

    settings = Settings.load()
    out.print()
    out.print("Look at the graph", style="bold")
    if settings.uri:
        out.print(f"  Open Neo4j Browser on {settings.uri} and paste:")
        out.print()
        for line in resource("config", "browser", "first.cypher").read_text("utf-8").splitlines():
            out.print(f"    {line}", style="cyan")
    else:
        status = LocalServer(settings).status()
        out.print(f"  Open {status.browser_url}", soft_wrap=True)  # one line, to be clicked on or copied
        out.print(f"  as {status.user}; `memgraph-engine db browser` opens it and shows the password.")
        out.print("  The server goes on; `memgraph-engine db stop` ends it.")
