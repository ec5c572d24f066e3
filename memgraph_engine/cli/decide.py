"""What commands share that make one decision about notes."""

from typing import TYPE_CHECKING

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known

if TYPE_CHECKING:
    from collections.abc import Callable

    from memgraph_engine.client import Memory
    from memgraph_engine.interface.whose import Whose
    from memgraph_engine.model.result import Decision


def decide(tenant: str | None, owner: "Whose", do: "Callable[[Memory], Decision]", done: str, *, as_json: bool) -> None:
    """Let a memory make a decision, and tell it: `done` says what it did."""
    with known(tenant, owner) as memory:
        decision = do(memory)
    if as_json:
        show.document(decision)
    else:
        typer.echo(f"{show.clean(done)} (decision {decision.id}).")
