"""`memgraph-engine blocks`: notes that belong together, in a tree, and the runs that build it."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory
from memgraph_engine.cli.group import Commands, Group
from memgraph_engine.cli.options import MANY, Question
from memgraph_engine.cli.progress import bar
from memgraph_engine.interface.defaults import BLOCKS, OUTLINE

if TYPE_CHECKING:
    from memgraph_engine.model.block import Block

blocks_app = Commands(cls=Group, help="Blocks: notes that belong together, in a tree.", no_args_is_help=True)

_PHASES = 6


@blocks_app.command()
@on_memory
def rebuild(on: Target) -> Iterator[object]:
    """Build the tree of blocks anew.

    A block of the same notes keeps its id.
    If a run fails or is killed, the former tree stays.
    """
    memory = on.memory()
    with bar("Blocks", lambda: _PHASES) as running:
        seen = set[str]()

        def tell(phase: str) -> None:
            running.advance(phase != "wait" and phase not in seen)
            seen.add(phase)

        run = memory.rebuild_blocks(**on.owner, progress=tell)
    yield run
    typer.echo(
        f"{show.clean(run.scope)}: {show.count(run.blocks, 'block')} of {show.count(run.notes, 'note')}, "
        f"{run.leaves:,} leaves, {run.kept:,} kept, {run.created:,} new, {run.renewed:,} renewed, {run.ended:,} ended; "
        f"{sum(run.seconds.values()):.1f} s"
    )
    if run.described or run.described_before or run.undescribed:
        typer.echo(
            f"A model described {show.count(run.described, 'block')} now, {run.described_before:,} before; "
            f"{run.undescribed:,} are told by their notes alone."
        )
    show.fallbacks(run.fallbacks)


@blocks_app.command("list")
@on_memory
def list_blocks(on: Target) -> Iterator[object]:
    """List all blocks in the tree's order.

    What a block holds stands behind it, indented. `blocks show` and `blocks outline` tell what they are about.
    """
    found = on.memory().block_tree(**on.owner)
    yield found
    open_ = list[int]()
    for block in found:
        while open_ and open_[-1] < block.entered:
            open_.pop()
        typer.echo(f"{'  ' * len(open_)}{_head(block)}")
        open_.append(block.left)
    _none(on, found)


@blocks_app.command("show")
@on_memory
def show_block(on: Target, id: Annotated[str, "ID: A block's id."]) -> Iterator[object]:
    """Show a block with its fields.

    What they are is said by the schema, the setting blocks.schema_file.
    They are made of its notes, or written by the chat model that is named.
    """
    memory = on.memory()
    block = memory.block(id, **on.owner)
    parts = memory.outline(below=id, **on.owner)
    yield block
    _print(block)
    if block.described_by:
        typer.echo(f"  described by {show.clean(block.described_by)}")
    for part in parts:
        typer.echo(f"  part: {_head(part)}")


@blocks_app.command()
@on_memory
def outline(on: Target, nodes: Annotated[int, "N: Blocks, at most.", MANY] = OUTLINE) -> Iterator[object]:
    """Show a whole memory in a few blocks.

    They hold all notes between them, and are as different from each other as so few can be.
    """
    found = on.memory().outline(nodes, **on.owner)
    yield found
    for block in found:
        _print(block, notes=False)
    _none(on, found)


@blocks_app.command()
@on_memory
def search(on: Target, question: Question, k: Annotated[int, "N: Blocks, at most.", MANY] = BLOCKS) -> Iterator[object]:
    """Find the blocks nearest to a question.

    None of them holds another.
    """
    found = on.memory(asking=True).blocks(question, **on.owner, k=k)
    return on.listed(found, lambda block: _print(block, notes=False), "Nothing found.")


def _head(block: "Block") -> str:
    first, last = f"{block.first_at:%Y-%m-%d}", f"{block.last_at:%Y-%m-%d}"
    span = first if first == last else f"{first} to {last}"
    score = "" if block.score is None else f"  {block.score:.2f}"
    return f"{block.id}{score}  {show.count(block.notes, 'note')}, {span}{', stale' if block.stale else ''}"


def _print(block: "Block", *, notes: bool = True) -> None:
    from memgraph_engine.model.memory import Note

    typer.echo(_head(block))
    for name, value in block.fields.items():
        some = value if isinstance(value, list | tuple) else [value]
        for note in some if notes else ():
            if isinstance(note, Note):
                typer.echo(f"  {name}: {show.clean(note.text)}")
        told = [_word(one) for one in some if one and not isinstance(one, Note)]
        if told:
            typer.echo(f"  {name}: {show.inline(', '.join(told))}")


def _word(value: object) -> str:
    return f"{value:%Y-%m-%d}" if isinstance(value, datetime) else str(value)


def _none(on: Target, found: "list[Block]") -> None:
    if not found:
        typer.echo(f"There are no blocks. To build them: {on.again('blocks rebuild')}")
