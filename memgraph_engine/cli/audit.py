"""`memgraph-engine audit`: what is known and why, what was deleted, how a note changed, what was given to whom."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory
from memgraph_engine.cli.group import Commands, Group
from memgraph_engine.cli.options import NoteId

if TYPE_CHECKING:
    from memgraph_engine.model.result import Change, Known, Removed, Retrieval

audit_app = Commands(cls=Group, help="What is known and why, what left, changed or was given.", no_args_is_help=True)


@audit_app.command()
@on_memory
def about(on: Target, topic: Annotated[str, "TOPIC: What it is about, in words."]) -> Iterator[object]:
    """Tell what a memory knows of something, and why.

    For each note it says why it is still there.
    It is of all policies, and what summaries stand for: with sources, decisions, and the holds that keep it.
    """
    found = on.memory(asking=True).audit.about(topic, **on.owner)
    return on.listed(found, _known, "Nothing is known of it.")


@audit_app.command()
@on_memory
def deleted(
    on: Target,
    since: Annotated[str | None, "TIME: Only what left then or later, ISO 8601."] = None,
    until: Annotated[str | None, "TIME: Only what left then or before, ISO 8601."] = None,
    rule: Annotated[
        str | None, "RULE: Only by this kind of decision (delete, expire …), or rule of an erasure."
    ] = None,
) -> Iterator[object]:
    """Tell what left a memory, when and why, newest first.

    That is by which decision, or by which erasure.
    """
    memory = on.connect()  # also of who was erased whole, of whom nothing but receipts is left
    found = memory.audit.deleted(**on.owner, since=since, until=until, rule=rule)
    return on.listed(found, _removed, "Nothing was deleted.")


@audit_app.command()
@on_memory
def changed(on: Target, id: NoteId) -> Iterator[object]:
    """Tell how a note came to be what it is.

    It lists what each decision changed of it, oldest first.
    """
    return on.listed(on.memory().audit.changed(id, **on.owner), _changed)


@audit_app.command()
@on_memory
def retrievals(
    on: Target,
    since: Annotated[str | None, "TIME: Only what was given then or later, ISO 8601."] = None,
    until: Annotated[str | None, "TIME: Only what was given then or before, ISO 8601."] = None,
    note: Annotated[str | None, "ID: Only what gave this note, or one that tells this source."] = None,
    query: Annotated[str | None, "WORDS: Only questions that hold all of these words."] = None,
) -> Iterator[object]:
    """Tell which notes a reader was given, and when, newest first.

    That is recorded with the setting audit.retrievals alone; the question's words are with its value "text".
    """
    memory = on.memory()
    found = memory.audit.retrievals(**on.owner, since=since, until=until, note=note, query=query)
    if not found:
        kept = memory.engine.settings.audit.retrievals
        off = "" if kept else " The log of retrievals is switched off (the setting audit.retrievals)."
        typer.echo(f"Nothing is recorded that is meant.{off}", err=True)
    return on.listed(found, _retrieved)


def _known(one: "Known") -> None:
    out, note = show.console(), one.note
    told = f"  {then}" if (then := show.until(note)) else ""
    out.print(f"{show.moment(note.said_at)}  {note.id}  {note.status}{told}", style="bold")
    show.lines(out, note)
    out.print(f"    {show.clean(one.kept)}")
    for hold in one.holds:
        out.print(show.clean(f"    Held by {hold.id}: {hold.reason}"))
    out.print(f"    sources: {show.ids(note)}")
    for decision in one.decisions:
        out.print(f"    {show.moment(decision.at)}  {decision.kind}  {decision.id}")


def _removed(one: "Removed") -> None:
    by = f"receipt {one.receipt.number} ({one.receipt.hash[:16]})" if one.receipt else ""
    if one.decision:
        undone = f", undone by {one.decision.undone_by}" if one.decision.undone_by else ""
        by = f"decision {one.decision.id}{undone}  {one.decision.evidence}".rstrip()
    what = show.count(one.notes, "note")
    if one.decision and not one.notes:
        what = f"a source of note {one.decision.note}" if one.decision.note else "sources of notes that stay"
    typer.echo(show.clean(f"{show.moment(one.at)}  {one.rule}: {what}  {by}"))


def _retrieved(one: "Retrieval") -> None:
    by = "".join(f"  {name} {value}" for name, value in (("agent", one.agent), ("session", one.session)) if value)
    told = f"  {one.question}" if one.question else ""
    typer.echo(show.clean(f"{show.moment(one.at)}  {one.call}{by}{told}"))
    for given in one.notes:
        typer.echo(f"    {given.note}  version {given.revision}")


def _changed(one: "Change") -> None:
    made = f"{one.decision.kind} (decision {one.decision.id})" if one.decision else ""
    typer.echo(f"{show.moment(one.at)}  {made}".rstrip())
    for name in one.now:
        was = f"{_value(one.was, name)} -> " if name in one.was else ""
        typer.echo(show.clean(f"    {name}: {was}{_value(one.now, name)}"))


def _value(told: Mapping[str, object], name: str) -> str:
    value = told[name]
    if isinstance(value, datetime):
        return "never" if value.year == 9999 else show.moment(value)
    return " / ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value)
