"""`memgraph-engine ingest`."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memgraph_engine.cli import progress
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import Json, NoWait, Shared, Tenant, User, Whose, whose
from memgraph_engine.cli.tally import Tally
from memgraph_engine.errors import InvalidInput, SourceConflict, StoreError

if TYPE_CHECKING:
    from memgraph_engine.client import Memory
    from memgraph_engine.ingest.readers import BadLine, Item

Format = Literal["jsonl", "json", "markdown", "text", "locomo"]
Read = Callable[[Path], "Iterator[Item]"]


def ingest(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Messages or documents.", exists=True, dir_okay=False, readable=True),
    ],
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    format: Annotated[  # noqa: A002  the option's name
        Format | None, typer.Option(help="What the files are; else told from their names and beginnings.")
    ] = None,
    id: Annotated[  # noqa: A002
        str | None, typer.Option(metavar="ID", help="A document's id; else the file's name.")
    ] = None,
    sample: Annotated[str | None, typer.Option(metavar="ID", help="The conversation of a LoCoMo file.")] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Update what is stored with another text; the old text is kept.")
    ] = False,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> None:
    """Remember files: messages or documents.

    JSON lines or a JSON array of messages, Markdown, plain text, or a LoCoMo conversation.

    What is stored already is recognised, so a run that was cut off can be made again. What can't be read is
    reported with its line, the rest is stored, and the exit code is 1.
    """
    owner = whose(user, shared)
    if id is not None and len(files) > 1:
        raise typer.BadParameter("it names one document, and there are several files.", param_hint="--id")
    with connect(tenant) as memory:
        read = partial(reader(memory), format=format, id=id, sample_id=sample)
        tally = store_files(memory, owner, files, read, update=update, wait=not no_wait)
    tally.tell(as_json=as_json)
    if tally.faults:
        raise typer.Exit(1)


def reader(memory: "Memory") -> Callable[..., "Iterator[Item]"]:
    """Return `read` as this memory's settings want it."""
    from memgraph_engine.ingest.readers import read

    settings = memory.engine.settings
    return partial(read, passage=settings.passage, max_text=settings.max_text, timezone=settings.timezone)


def store_files(
    memory: "Memory", owner: Whose, files: Iterable[Path], read: Read, *, update: bool = False, wait: bool = True
) -> Tally:
    """Store all that can be read, with a progress bar; tell on stderr what can't be, as it comes."""
    tally = Tally()
    with progress.bar("Ingesting", lambda: sum(1 for file in files for _ in _items(file, read))) as bar:
        try:
            for file in files:
                items = _items(file, read)
                while batch := list(islice(items, memory.engine.settings.ingest_batch)):
                    for fault in _store(memory, owner, file, batch, tally, update=update, wait=wait):
                        tally.faults.append(fault)
                        bar.tell(f"{fault.file}{f':{fault.line}' if fault.line else ''}: {fault.reason}")
                    bar.advance(len(batch))
        except (KeyboardInterrupt, StoreError):
            bar.tell(f"Stopped: {tally}. Run the same command again to go on; what is stored is recognised.")
            raise
    return tally


def _items(file: Path, read: Read) -> "Iterator[Item]":
    """Yield what a file holds; a file that can't be read is one fault among others."""
    from memgraph_engine.ingest.readers import BadLine

    try:
        yield from read(file)
    except InvalidInput as error:
        yield BadLine(str(file), 0, str(error).removeprefix(f"{file} "))


def _store(
    memory: "Memory", owner: Whose, file: Path, batch: "Iterable[Item]", tally: Tally, *, update: bool, wait: bool
) -> "Iterator[BadLine]":
    """Store the messages of a batch at once or, where one is refused, each alone; yield the faults."""
    from memgraph_engine.ingest.readers import BadLine

    messages = [item for item in batch if not isinstance(item, BadLine)]
    yield from (item for item in batch if isinstance(item, BadLine))
    try:
        tally.count(memory.add_many(messages, **owner, wait=wait))
    except InvalidInput:
        for message in messages:
            try:
                tally.count(memory.add(message, **owner, wait=wait))
            except SourceConflict as error:
                if update:
                    memory.update(message["id"], message["text"], **owner)
                    tally.updated += 1
                else:
                    yield BadLine(str(file), 0, f"{error} Or ingest with --update.")
            except InvalidInput as error:
                yield BadLine(str(file), 0, str(error))
