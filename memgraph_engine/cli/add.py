"""`memgraph-engine add`."""

import sys
from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import Json, NoWait, Shared, Tenant, User, metadata, whose

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


def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember; - reads it from stdin.")],
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    id: Annotated[  # noqa: A002  the option's name
        str | None, typer.Option(metavar="ID", help="An id of your own for this source.")
    ] = None,
    speaker: Annotated[str | None, typer.Option(metavar="NAME", help="Who said it.")] = None,
    role: Annotated[
        str | None, typer.Option(metavar="ROLE", help="As in chat APIs: user, assistant, system, tool.")
    ] = None,
    agent: Annotated[str | None, typer.Option(metavar="ID", help="The agent that it was said to.")] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="The conversation that it is part of.")] = None,
    time: Annotated[str | None, typer.Option(metavar="TIME", help="When it was said, ISO 8601.")] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="A tag; can be repeated.")] = None,
    meta: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="An entry of the metadata; can be repeated.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its policy, which says how long it can be read.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="TIME", help="When it can be read no more, ISO 8601; a day means its end.")
    ] = None,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> None:
    """Remember a text."""
    owner = whose(user, shared)
    given = {"id": id, "speaker": speaker, "role": role, "agent": agent, "session": session, "time": time}
    given |= {"policy": policy, "expires": expires}
    message: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    message |= {"tags": tag or [], "metadata": metadata(meta or [])}
    message["text"] = sys.stdin.read().rstrip("\n") if text == "-" else text
    with connect(tenant) as memory:
        receipt = memory.add(message, **owner, wait=not no_wait)
    if as_json:
        show.document(receipt)
        return
    (entry,) = receipt.entries
    said = _SAID[entry.kind] if entry.note or entry.kind == "discard" else "Known already: {source}, without a note."
    note = f"note{'s' if len(entry.notes) > 1 else ''} {', '.join(entry.notes)}"
    typer.echo(said.format(note=note, source=f"source {show.inline(entry.source)}"))
