"""`memgraph-engine demo`."""

import json
import shlex
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import connect
from memgraph_engine.errors import InvalidInput
from memgraph_engine.resources import resource

if TYPE_CHECKING:
    from memgraph_engine.client import Memory
    from memgraph_engine.model.result import Hit

_TENANT = "demo"
_QUESTIONS = 6
_ANSWERS = 3


@dataclass(frozen=True)
class Conversation:
    """What the demo ingests, for which user, what it asks, and what is said anew then, if anything."""

    file: Path
    user: str
    questions: Sequence[str]
    sample: str | None = None
    correction: Mapping[str, Any] | None = None
    """A `message` that says something anew of a fact, and the `question` whose answer it changes."""


def demo(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="A LoCoMo file, whose first conversation is taken; else a sample of two friends.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
) -> None:
    """Ingest a conversation and ask it questions.

    In the sample it also corrects a fact, and undoes that.
    Then it says how to go on and how to look at the graph. It can be repeated: what is stored is recognised.
    """
    conversation = _locomo(file) if file else _sample()
    typer.echo("Making the embedding model and Neo4j ready; what is lacking is fetched.", err=True)
    with connect(_TENANT) as memory:
        typer.echo("Ingesting a conversation.", err=True)
        _ingest(memory, conversation)
        for question in conversation.questions:
            hits = memory.search(question, user_id=conversation.user, top_k=_ANSWERS)
            _answer(memory, conversation.user, question, hits)
        if conversation.correction:
            _correct(memory, conversation.user, conversation.correction)
    _go_on(conversation)
    _look()


def _sample() -> Conversation:
    folder = resource("config", "sample")
    questions = (folder / "questions.txt").read_text("utf-8").splitlines()
    correction = json.loads((folder / "correction.json").read_text("utf-8"))
    return Conversation(folder / "conversation.jsonl", "sample", questions, correction=correction)


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


def _ingest(memory: "Memory", conversation: Conversation) -> None:
    with show.bar("Ingesting", lambda: None) as bar:
        done = memory.ingest(
            conversation.file, user_id=conversation.user, sample_id=conversation.sample, progress=show.Shown(bar)
        )
    stats = memory.stats(user_id=conversation.user)
    size = f"{show.count(stats.sources, 'message')} in {show.count(stats.sessions, 'session')}"
    show.put(f"A conversation of {size}: {done}.", style="dim")


def _answer(memory: "Memory", user: str, question: str, hits: "Sequence[Hit]") -> None:
    from memgraph_engine.cli import display

    show.put()
    show.put(show.clean(question), style="bold")
    for rank, hit in enumerate(hits, 1):
        by = display.quoted(memory.get(hit.replaced_by, user_id=user).text) if hit.replaced_by else ""
        display.hit(rank, hit, by)


def _correct(memory: "Memory", user: str, correction: Mapping[str, Any]) -> None:
    """Let a fact be said anew, show what a prompt is told of it, take that back, and show it again."""
    message, question = correction["message"], correction["question"]
    show.put()
    show.put("What has changed", style="bold")
    show.put(f"  {message['speaker']} says on {message['time'][:10]}: {message['text']}")
    (entry,) = memory.add(message, user_id=user).entries
    about = {entry.note, *(tie.note for tie in memory.explain(entry.note, user_id=user).ties if tie.kind == "change")}
    show.put(f'  Who asks "{question}" is told, among others:')
    _tell(memory, user, question, about)
    if entry.decision:
        memory.undo(entry.decision, user_id=user)
        show.put("  `undo` takes that back, as if nothing had been said:")
        _tell(memory, user, question, about)


def _tell(memory: "Memory", user: str, question: str, about: Container[str]) -> None:
    """Print the lines of a question's context that are about some notes."""
    for one in memory.context(question, user_id=user).entries:
        if one.note.id in about:
            show.put(f"    {show.clean(one.line)}")


def _go_on(conversation: Conversation) -> None:
    """Say how to ask the same memory more."""
    whose = f"--tenant {_TENANT} --user {shlex.quote(conversation.user)}"
    question = shlex.quote(next(iter(conversation.questions), "QUESTION"))
    show.put()
    show.put("Go on in this memory", style="bold")
    for command, what in (
        (f"search {question} {whose} --explain", "with the scores of each channel"),
        (f"context {question} {whose}", "what the prompt of a model is told"),
        (f"decisions {whose}", "what was done, newest first; `undo` takes one of them back"),
    ):
        show.put(f"  memgraph-engine {command}", style="cyan", soft_wrap=True)
        show.put(f"    {what}", style="dim")


def _look() -> None:
    """Say how to see the graph."""
    from memgraph_engine.graph.server.local import LocalServer
    from memgraph_engine.settings import Settings

    settings = Settings.load()
    show.put()
    show.put("Look at the graph", style="bold")
    if settings.uri:
        show.put(f"  Open Neo4j Browser, connect it to {settings.uri}, and paste:")
        show.put()
        for line in resource("config", "browser", "first.cypher").read_text("utf-8").splitlines():
            show.put(f"    {line}", style="cyan")
    else:
        status = LocalServer(settings).status()
        show.put("  `memgraph-engine db browser` opens it, and shows the password.")
        show.put(f"  Or open it yourself, as {status.user}:")
        show.put(f"  {status.browser}", soft_wrap=True)  # one line, to be clicked on or copied
        show.put("  The server goes on until `memgraph-engine db stop`.")
