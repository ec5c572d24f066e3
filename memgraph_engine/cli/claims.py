"""`memgraph-engine claims`: what notes say that holds in general, and who shares it."""

from collections.abc import Iterator
from typing import Annotated, Literal

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory
from memgraph_engine.cli.group import Commands

claims_app = Commands(
    "claims", "Claims: what notes say that holds in general.", ("list", "about", "show", "consolidate")
)


@claims_app.command()
@on_memory
def share(on: Target, switch: Annotated[Literal["on", "off"], "Whether to."]) -> Iterator[object]:
    """Let the tenant's users share claims, with --shared.

    Or let one of them take part, with --user.
    Off is the default of a tenant, and on that of a user.
    """
    memory = on.memory()
    memory.share_claims(on=switch == "on", **on.owner)
    counts = memory.stats(**on.owner)
    yield {"on": switch == "on"}
    if on.owner["shared"]:
        told = (
            f"Users share claims: {counts.shared_claims:,} are told." if counts.shares_claims else "No claim is shared."
        )
    else:
        told = f"{show.clean(counts.scope)} takes {'no part' if counts.withholds_claims else 'part'} in shared claims."
    typer.echo(told)
