"""How long notes live: pins, ends and what is summed up."""

from collections.abc import Iterator
from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory
from memgraph_engine.cli.options import NoteId

_SETTING = "default"


@on_memory
def pin(on: Target, id: NoteId) -> Iterator[object]:
    """Keep a note for ever, whatever its policy."""
    return on.decided(f"Pinned {id}", on.memory().pin(id, **on.owner))


@on_memory
def unpin(on: Target, id: NoteId) -> Iterator[object]:
    """Let a pinned note end as its policy says.

    That may be past already.
    """
    return on.decided(f"Unpinned {id}", on.memory().unpin(id, **on.owner))


@on_memory
def restore(on: Target, id: NoteId) -> Iterator[object]:
    """Bring back a note that expired.

    The time of its policy begins anew.
    """
    return on.decided(f"Restored {id}", on.memory().restore(id, **on.owner))


@on_memory
def end_session(
    on: Target,
    session: Annotated[str, "SESSION: A session's id, as `sessions` lists it."],
) -> Iterator[object]:
    """End a session, and what lives only as long.

    What lives as long is said by its policy. `undo` brings it back.
    """
    return on.decided(f"Ended session {session}", on.memory().end_session(session, **on.owner))


@on_memory
def sweep(on: Target) -> Iterator[object]:
    """Archive what has expired, and erase what is to be erased.

    `undo` brings back what is archived. What is erased is what its policy erases by now. What has expired can't be read
    in any case. What an import left that was cut off is removed. A worker sweeps by itself.
    """
    swept = on.memory().sweep(**on.owner)
    yield swept
    typer.echo(f"Archived {show.count(swept.notes, 'note')}.")
    for receipt in swept.erased:
        typer.echo(show.erased(receipt))
    for hold in swept.held:
        typer.echo(show.clean(f"Not erased, since hold {hold.id} keeps it: {hold.reason}"), err=True)
    if swept.pruned:
        typer.echo(f"Removed {swept.pruned:,} former versions, decisions and runs that were too old.")
    on.undoing("To bring them back", swept.decisions)
    on.failed = any(one.residue for one in swept.erased)


@on_memory
def limit(on: Target, cap: Annotated[str, "CAP: A number of notes, 0 for any number, or default."]) -> Iterator[object]:
    """Give a memory a cap of its own, or that of the settings.

    `evict` or a worker then brings it down to that.
    """
    if cap != _SETTING and not cap.isdecimal():
        raise typer.BadParameter("give a number of notes, 0 for any number, or default.", param_hint="CAP")
    own = None if cap == _SETTING else int(cap)
    on.memory().limit(own, **on.owner)
    yield {"cap": own}
    told = "that of the settings" if own is None else f"{own:,} notes" if own else "any number of notes"
    typer.echo(f"The cap is {told}.")


@on_memory
def evict(on: Target, dry_run: Annotated[bool, "Only tell what would be summed up."] = False) -> Iterator[object]:
    """Sum up the coldest notes of a memory above its cap.

    `undo` brings them back.
    A worker does so by itself. The cap is the setting lifecycle.cap, or that of `limit`.
    """
    done = on.memory().evict(**on.owner, dry_run=dry_run)
    yield done
    cap = f"the cap is {done.cap:,}" if done.cap else "there is no cap"
    if done.notes:
        would = "Would archive" if dry_run else "Archived"
        made = "1 summary stands" if done.summaries == 1 else f"{done.summaries:,} summaries stand"
        typer.echo(f"{would} {show.count(done.notes, 'note')}, for which {made}.")
    typer.echo(f"{show.count(done.left, 'note')} left; {cap}.")
    on.undoing("To bring back what one sums", done.decisions, done.fallbacks)


@on_memory
def evolve(on: Target) -> Iterator[object]:
    """Tie and tag new notes by what is near them.

    With a chat model the contexts of the notes near them are written anew too. `undo` takes a change back.
    A worker does so by itself after as many interactions as the setting lifecycle.evolve says.
    """
    done = on.memory().evolve(**on.owner)
    yield done
    made = f"{show.count(done.ties, 'tie')}, {show.count(done.contexts, 'context')}"
    looked = f"Looked at {show.count(done.notes, 'new note')}"
    typer.echo(f"{looked}, changed {made} and the tags of {show.count(done.tags, 'note')}.")
    on.undoing("To take it back", done.decisions, done.fallbacks)
