"""What a memory is told, and what it is asked."""

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory
from memgraph_engine.cli.options import MANY, Budget, Considered, History, NoWait, Query, Ray, metadata
from memgraph_engine.errors import StoreError
from memgraph_engine.interface.defaults import TOP_K
from memgraph_engine.interface.filters import SearchFilters
from memgraph_engine.remote import settings

if TYPE_CHECKING:
    from memgraph_engine.client import Memory
    from memgraph_engine.model.answer import Answer

_SAID = {
    "append": "Added {note}, {source}.",
    "link": "Added {note}, {source}; it is tied to others (`explain` tells to which, and why).",
    "supersede": "Added {note}, {source}; it replaces the one that it corrects.",
    "merge": "Merged into {note}, {source}.",
    "reinforce": "Repeats {note}, {source}.",
    "discard": "Kept {source}, without a note (`decisions` tells why).",
    "defer": "Added {note}, {source}; it is to be constructed.",
    "restore": "Brought back {note}, {source}: it had expired.",
    "repeat": "Known already: {note}, {source}.",
}
Format = Literal["jsonl", "json", "markdown", "text", "html", "pdf", "code", "locomo"]


class How(TypedDict):
    """How files are read."""

    format: Format | None
    sample_id: str | None
    encoding: str
    repository: bool


@on_memory
def add(
    on: Target,
    text: Annotated[str, "TEXT: What to remember; - reads it from stdin."],
    id: Annotated[str | None, "ID: An id of your own for this source."] = None,
    speaker: Annotated[str | None, "NAME: Who said it."] = None,
    role: Annotated[str | None, "ROLE: As in chat APIs: user, assistant, system, tool."] = None,
    agent: Annotated[str | None, "ID: The agent that it was said to."] = None,
    session: Annotated[str | None, "ID: The conversation that it is part of."] = None,
    time: Annotated[str | None, "TIME: When it was said, ISO 8601."] = None,
    tag: Annotated[list[str] | None, "TAG: A tag; can be repeated."] = None,
    meta: Annotated[list[str] | None, "--metadata KEY=VALUE: An entry of the metadata; can be repeated."] = None,
    policy: Annotated[str | None, "NAME: Its policy, which says how long it can be read."] = None,
    expires: Annotated[str | None, "TIME: When it can be read no more, ISO 8601; a day means its end."] = None,
    trust: Annotated[str | None, "CLASS: Trust it no more than tool, document, web, unknown …"] = None,
    no_wait: NoWait = False,
) -> Iterator[object]:
    """Remember a text."""
    given = {"id": id, "speaker": speaker, "role": role, "agent": agent, "session": session, "time": time}
    given |= {"policy": policy, "expires": expires, "trust": trust}
    message: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    message |= {"tags": tag or [], "metadata": metadata(meta or [])}
    message["text"] = sys.stdin.read().rstrip("\n") if text == "-" else text
    receipt = (on.server() or on.connect()).add(message=message, **on.owner, wait=not no_wait)
    yield receipt
    (entry,) = receipt.entries
    said = _SAID[entry.kind] if entry.note or entry.kind == "discard" else "Known already: {source}, without a note."
    note = f"note{'s' if len(entry.notes) > 1 else ''} {', '.join(entry.notes)}"
    typer.echo(said.format(note=note, source=f"source {show.inline(entry.source)}"))


@on_memory
def ingest(
    on: Target,
    paths: Annotated[list[Path], "PATH: Files of messages or documents, and folders of them.", {"exists": True}],
    format: Annotated[Format | None, "The format of the files; else their names and beginnings tell it."] = None,
    id: Annotated[str | None, "ID: The id of the document or folder; else its name."] = None,
    sample_id: Annotated[str | None, "ID: The conversation of a LoCoMo file."] = None,
    encoding: Annotated[str, "NAME: The encoding of texts that are not UTF-8 and have no byte order mark."] = "",
    repository: Annotated[
        bool, "Read folders as code, cut at its definitions, and follow them as --update does."
    ] = False,
    update: Annotated[bool, "Follow the files: update changed passages, delete those that are gone."] = False,
    no_wait: NoWait = False,
    ray: Ray = None,
) -> Iterator[object]:
    """Remember files: messages, documents or code.

    Messages: JSON lines, a JSON array, a LoCoMo conversation. Documents: Markdown, plain text, HTML, PDF. A folder is
    read with all that is below it; the id of a document in it is its path, beginning with the folder's name. Hidden
    files, links and files of other kinds are passed over.

    With --repository a folder is read as code: the files that git knows or would take, but no binaries and none above
    1 MB, are cut at their functions and classes; Markdown is read as documents. The memory follows the files.

    What is stored already is recognised, so a run that was cut off can be made again. With --update the memory follows
    the files; what it deletes, `undo` brings back. What can't be read is reported with its line, the rest is stored,
    and the exit code is 1.
    """
    if id is not None and len(paths) > 1:
        raise typer.BadParameter("it names one document or folder, and there are several.", param_hint="--id")
    how: How = {"format": format, "sample_id": sample_id, "encoding": encoding, "repository": repository}
    memory = on.spread(ray)
    with show.bar("Ingesting", lambda: _count(memory, paths, how)) as bar:
        so_far = show.Shown(bar)
        try:
            done = memory.ingest(paths, **on.owner, update=update, **how, id=id, wait=not no_wait, progress=so_far)
        except (KeyboardInterrupt, StoreError):
            bar.tell(f"Stopped: {so_far.done}. Run the same command again to go on; what is stored is recognised.")
            raise
    on.failed = bool(done.faults)
    from memgraph_engine.cli.display import shown

    yield from shown(on, done)


def _count(memory: "Memory", paths: list[Path], how: How) -> int:
    """Count what there is to ingest: it takes less time by far than to embed it."""
    from memgraph_engine.ingest import readers

    reader = readers.Reader.of(memory.engine.settings, **how)
    return reader.count(reader.listed(paths, None, {}))


@on_memory
def process(on: Target) -> Iterator[object]:
    """Construct the notes that were added with --no-wait.

    Can be stopped and run again, or run several times at once: each note is constructed once.
    """
    from memgraph_engine.errors import MemgraphEngineError
    from memgraph_engine.model.ingested import Ingested

    done = Ingested()
    memory = on.memory()
    most = memory.engine.settings.ingest_batch
    with show.bar("Constructing", lambda: memory.stats(**on.owner).notes.get("pending", 0)) as bar:
        try:
            while (receipt := memory.process(**on.owner, limit=most)).entries:
                done += Ingested.of(receipt)
                bar.advance(len(receipt.entries))
        except (KeyboardInterrupt, MemgraphEngineError):
            bar.tell(f"Stopped: {done}. Run the same command again to go on.")
            raise
    from memgraph_engine.cli.display import shown

    yield from shown(on, done)


@on_memory
def search(
    on: Target,
    query: Query,
    top_k: Annotated[int, "--top-k -n N: How many notes to find, at most.", MANY] = TOP_K,
    rounds: Annotated[
        int | None, "N: If the best notes do not cover the question, ask again: at most so many rounds (1 to 3)."
    ] = None,
    history: History = "",
    *,
    filters: SearchFilters,
    explain: Annotated[bool, "Show each channel's scores."] = False,
    whole: Annotated[bool, "Print long notes to their end."] = False,
) -> Iterator[object]:
    """Find the notes that answer a question best.

    A user's search reads the tenant's shared memory too. Of a long note the beginning is printed.
    """
    at = on.server() or on.memory(asking=True)
    hits = at.search(query=query, **on.owner, top_k=top_k, rounds=rounds, history=history, **filters, explain=explain)
    floor = settings("answer")["relevance"]
    show.asked(hits.asked)
    show.fallbacks(hits.fallbacks)
    yield hits
    from memgraph_engine.cli import display

    if not hits:
        typer.echo("Nothing found.", err=True)
    elif (best := max(1.0 if hit.relevance is None else hit.relevance for hit in hits)) < floor:
        typer.echo(f"Nothing is likely to answer this: the best note has a relevance of {best:.2f}.", err=True)
    if hits and hits[0].explanation:
        display.rounds(hits[0].explanation.rounds)
    for rank, hit in enumerate(hits, 1):
        display.hit(rank, hit, whole=whole)
        if hit.explanation:
            display.explanation(hit, hit.explanation)
    for claim in hits.claims:
        show.put(show.clean(f"In general: {claim.text}"))
    for note, why in hits.dropped.items() if explain else ():
        show.put(show.clean(f"dropped {note}: {why}"), style="dim")


@on_memory
def ask(
    on: Target,
    query: Query,
    budget: Budget = None,
    top_k: Considered = TOP_K,
    history: History = "",
    *,
    filters: SearchFilters,
) -> Iterator[object]:
    """Answer a question from the memory, with citations.

    Without a chat model it prints the context.
    A user's question reads the tenant's shared memory too.
    """
    logging.getLogger("memgraph_engine").addHandler(logging.NullHandler())  # the answer tells the same
    at = on.server() or on.memory(asking=True)
    pieces = at.answer_stream(query=query, **on.owner, budget=budget, top_k=top_k, history=history, **filters)
    answer = _told(pieces, aloud=not on.as_json)
    yield answer
    show.asked(answer.context.asked)
    show.fallbacks(answer.fallbacks)
    from memgraph_engine.cli.display import entry
    from memgraph_engine.model.answer import UNSURE

    for one in answer.citations if answer.text else answer.context.entries:
        entry(one)
    if not answer.text and not answer.context.sure:
        typer.echo(UNSURE if answer.context.entries else "Nothing found.", err=True)
    if answer.text and answer.known and not answer.supported:
        typer.echo("The answer cites nothing of the memory.", err=True)


def _told(pieces: "Iterator[str | Answer]", *, aloud: bool) -> "Answer":
    """Print an answer while it comes, and return the whole."""
    begun = False
    for piece in pieces:
        if not isinstance(piece, str):
            if begun:
                typer.echo("")
            return piece
        if aloud:
            begun = True
            typer.echo(show.clean(piece), nl=False)
    raise AssertionError("the last piece is the answer")
