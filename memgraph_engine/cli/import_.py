"""`memgraph-engine import`: an export of this engine, or what another program has kept."""

from collections.abc import Iterator
from itertools import islice
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_tenant
from memgraph_engine.cli.group import Commands, WithDefault
from memgraph_engine.cli.options import Ray, Shared, whose
from memgraph_engine.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memgraph_engine.model.ingested import Brought

_USERS = 20  # that are told of

import_app = Commands(
    "import",
    (
        "Read an export, or what another program has kept.\n\n`import FILE` makes the memory of a file that `export` "
        "wrote. The commands bring what mem0, LangGraph's stores or chats hold into the memories of their users."
    ),
    ("file",),
    epilog="A file that is called like one of the commands is named with its folder: `import ./mem0`.",
    cls=WithDefault,
    subcommand_metavar="FILE | COMMAND [ARGS]...",
)

Files = Annotated[list[Path], "FILE: One or several files.", {"exists": True}]
Only = Annotated[str | None, "--user -u NAME: Only what names this user; what names none is this user's as well."]
DryRun = Annotated[bool, "Write nothing, and tell what would come."]


@import_app.command()
@on_tenant
def mem0(
    on: Target,
    files: Files,
    user: Only = None,
    history_db: Annotated[
        Path | None, "FILE: mem0's history.db: former texts come as former versions.", {"exists": True}
    ] = None,
    dry_run: DryRun = False,
    ray: Ray = None,
) -> Iterator[object]:
    """Bring mem0's memories, as JSON.

    The files have what its `get_all` returned, or rows of its vector store (`id`, `payload`); docs/import.md has the
    lines that write them. Each memory comes into the memory of the user whom it names, with its id, times and metadata.
    What is there already is recognised, so a run that was cut off can be made again; what mem0 has changed since is
    updated. What can't be read is reported with its line, the rest is stored, and the exit code is 1.
    """
    if ray and history_db:
        raise typer.BadParameter("former texts are read on this machine alone: leave --ray out.", param_hint="--ray")
    from memgraph_engine.importers import import_mem0

    return _bring(on, import_mem0, files, user_id=user, history_db=history_db, dry_run=dry_run, ray=ray)


@import_app.command()
@on_tenant
def langgraph(
    on: Target,
    files: Files,
    user: Annotated[str | None, "--user -u NAME: Only the namespace of this user, such as users/ana."] = None,
    field: Annotated[
        list[str] | None,
        "PATH: What of a value an item is found by, as in a store's `index`; can be repeated. Else all of it.",
    ] = None,
    dry_run: DryRun = False,
    ray: Ray = None,
) -> Iterator[object]:
    """Bring the items of LangGraph's stores.

    A file is that of a SqliteStore, or has items as JSON lines: rows of a PostgresStore's table `store`, or what
    another store's `search` returned (docs/import.md). They come with namespaces, keys, times and times to live, where
    MemgraphStore reads them. What is newer here stays. What can't be read is reported, the rest is stored, and the exit
    code is 1.
    """
    from memgraph_engine.importers import import_langgraph

    return _bring(on, import_langgraph, files, user_id=user, fields=field or (), dry_run=dry_run, ray=ray)


@import_app.command()
@on_tenant
def jsonl(
    on: Target,
    files: Files,
    user: Only = None,
    shared: Shared = False,
    text_field: Annotated[str, "NAME: What a record's text is called."] = "",
    user_field: Annotated[str, "NAME: What the name of the user is called whose memory it is; else user_id."] = "",
    speaker_field: Annotated[str, "NAME: What the name of the speaker is called."] = "",
    role_field: Annotated[str, "NAME: What the role is called."] = "",
    time_field: Annotated[str, "NAME: What the time is called."] = "",
    id_field: Annotated[str, "NAME: What the id is called."] = "",
    session_field: Annotated[str, "NAME: What the id of the conversation is called."] = "",
    dry_run: DryRun = False,
    ray: Ray = None,
) -> Iterator[object]:
    """Bring chats of any shape in JSON: lines, or an array.

    It reads messages (as `ingest` does), conversations (`messages` of fine-tuning files, ShareGPT's `conversations`,
    conversations.json of ChatGPT and Claude), and records whose fields are named; a dot leads into an object
    (`--text-field message.body`). What else such a record has becomes metadata. What can't be read is reported with its
    line, the rest is stored, and the exit code is 1.
    """
    from memgraph_engine.importers import import_jsonl

    if shared and user is not None:
        whose(user, shared)
    named = {"text_field": text_field, "user_field": user_field, "speaker_field": speaker_field}
    named |= {"role_field": role_field, "time_field": time_field, "id_field": id_field, "session_field": session_field}
    return _bring(on, import_jsonl, files, user_id=user, shared=shared, dry_run=dry_run, ray=ray, **named)


def _bring(
    on: Target, work: "Callable[..., Brought]", files: list[Path], *, dry_run: bool, ray: str | None, **given: object
) -> Iterator[object]:
    """Import, tell how far it is and what can't be read, and print what came of it."""
    told = 0

    def tell_so_far(done: "Brought") -> None:
        nonlocal told
        for fault in done.done.faults[told:]:
            bar.tell(str(fault))
        told = len(done.done.faults)
        bar.reach(ceil(done.read / 1000), ceil(done.size / 1000))

    memory = on.spread(None if dry_run else ray)
    with show.bar("Importing, kB", lambda: None) as bar:
        try:
            done = work(memory, files, progress=tell_so_far, dry_run=dry_run, **given)
        except (KeyboardInterrupt, StoreError):
            bar.tell("Stopped. Run the same command again to go on; what is stored is recognised.")
            raise
    on.failed = bool(done.faulty)
    yield done
    _tell(done)


def _tell(done: "Brought") -> None:
    if done.dry_run:
        typer.echo("Nothing was written. It would be:")
    from memgraph_engine.cli.display import entry

    entry(done.done)
    for user, number in islice(done.users.items(), _USERS):
        typer.echo(show.inline(f"{f'user {user!r}' if user else 'the shared memory'}: {show.count(number, 'record')}"))
    if len(done.users) > _USERS:
        typer.echo(f"and {show.count(len(done.users) - _USERS, 'user')} more; --json tells of all")
    for why, number in done.left.items():
        typer.echo(show.inline(f"left out, {why}: {show.count(number, 'record')}"))
    if more := done.faulty - len(done.done.faults):
        typer.echo(f"{show.count(more, 'fault')} more than are told above")
