"""`memgraph-engine ingest`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import typer

from memgraph_engine.cli import progress
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import Json, NoWait, Shared, Tenant, User, whose
from memgraph_engine.cli.tally import Shown, tell
from memgraph_engine.errors import StoreError

if TYPE_CHECKING:
    from memgraph_engine.client import Memory

Format = Literal["jsonl", "json", "markdown", "text", "html", "pdf", "code", "locomo"]


class How(TypedDict):
    """How files are read."""

    format: Format | None
    sample_id: str | None
    encoding: str
    repository: bool


def ingest(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Files of messages or documents, and folders of them.", exists=True),
    ],
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    format: Annotated[  # noqa: A002  the option's name
        Format | None, typer.Option(help="The format of the files; else their names and beginnings tell it.")
    ] = None,
    id: Annotated[  # noqa: A002
        str | None, typer.Option(metavar="ID", help="The id of the document or folder; else its name.")
    ] = None,
    sample: Annotated[str | None, typer.Option(metavar="ID", help="The conversation of a LoCoMo file.")] = None,
    encoding: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The encoding of texts that are not UTF-8 and have no byte order mark.",
            show_default=False,
        ),
    ] = "",
    repository: Annotated[
        bool,
        typer.Option(
            "--repository", help="Read folders as code, cut at its definitions, and follow them as --update does."
        ),
    ] = False,
    update: Annotated[
        bool, typer.Option("--update", help="Follow the files: update changed passages, delete those that are gone.")
    ] = False,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> None:
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
    owner = whose(user, shared)
    if id is not None and len(paths) > 1:
        raise typer.BadParameter("it names one document or folder, and there are several.", param_hint="--id")
    how: How = {"format": format, "sample_id": sample, "encoding": encoding, "repository": repository}
    with connect(tenant) as memory, progress.bar("Ingesting", lambda: _count(memory, paths, how)) as bar:
        shown = Shown(bar)
        try:
            done = memory.ingest(
                paths,
                **owner,
                update=update,
                **how,
                id=id,
                wait=not no_wait,
                progress=shown,
            )
        except (KeyboardInterrupt, StoreError):
            bar.tell(f"Stopped: {shown.done}. Run the same command again to go on; what is stored is recognised.")
            raise
    tell(done, as_json=as_json)
    if done.faults:
        raise typer.Exit(1)


def _count(memory: "Memory", paths: list[Path], how: How) -> int:
    """Count what there is to ingest: it takes less time by far than to embed it."""
    from memgraph_engine.ingest import readers

    reader = readers.Reader.of(memory.engine.settings, **how)
    return reader.count(reader.listed(paths, None, {}))
