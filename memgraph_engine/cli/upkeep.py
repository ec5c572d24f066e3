"""A memory as a whole: written into a file, rendered anew, checked, and how large it may be."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from memgraph_engine.cli import progress, show
from memgraph_engine.cli.command import Target, on_memory

_SETTING = "default"


@on_memory
def export(on: Target, file: Annotated[Path, "FILE: The file to write.", {"dir_okay": False}]) -> Iterator[object]:
    """Write all of a memory into a file of JSON lines.

    `import` makes exactly the same memory of it.
    It has notes in all states with their vectors and former versions, sources, keywords, topics, decisions, use, holds
    and costs. Its owner alone can read it. A file that is there is replaced when the new one is whole.
    """
    memory = on.memory()
    with progress.bar("Exporting", lambda: None) as bar:
        done = memory.export(file, **on.owner, progress=bar.reach)
    yield done
    nodes, ties = show.count(done.nodes, "node"), show.count(done.relationships, "relationship")
    typer.echo(f"Exported {nodes} and {ties} to {done.path} ({done.bytes / 1e6:,.1f} MB, SHA-256 {done.sha256}).")


@on_memory
def render(on: Target) -> Iterator[object]:
    """Render the contexts of a memory as this version does.

    For a memory that an older version wrote. Can be stopped and run again.
    """
    changed = on.memory().render(**on.owner)
    yield {"rendered": changed}
    typer.echo(f"Rendered {changed} contexts anew.")


@on_memory
def verify(on: Target) -> Iterator[object]:
    """Check that a memory is in order.

    It recounts the sums and looks for states that must never be. It prints a line for each fault; the exit code is 1 if
    there is one.
    """
    return on.faults(on.memory().verify(**on.owner))


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
