"""`memgraph-engine blocks`: notes that belong together, in a tree, and the runs that build it."""

from collections.abc import Iterator

import typer

from memgraph_engine.cli.command import Target, on_memory
from memgraph_engine.cli.group import Commands
from memgraph_engine.cli.progress import bar

blocks_app = Commands("blocks", "Blocks: notes that belong together, in a tree.", ("outline", "search", "show", "runs"))

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
    return on.shown(run)


@blocks_app.command("list")
@on_memory
def list_blocks(on: Target) -> Iterator[object]:
    """List all blocks in the tree's order.

    What a block holds stands behind it, indented. `blocks show` and `blocks outline` tell what they are about.
    """
    found = on.memory().block_tree(**on.owner)
    yield found
    from memgraph_engine.cli.display import block_head

    open_ = list[int]()
    for block in found:
        while open_ and open_[-1] < block.entered:
            open_.pop()
        typer.echo(f"{'  ' * len(open_)}{block_head(block)}")
        open_.append(block.left)
    if not found:
        typer.echo(f"There are no blocks. To build them: {on.again('blocks rebuild')}")
