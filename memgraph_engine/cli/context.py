"""`memgraph-engine context`."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import (
    Budget,
    Considered,
    History,
    Json,
    Question,
    Shared,
    Tenant,
    User,
    filtered,
    whose,
)
from memgraph_engine.interface.defaults import TOP_K

if TYPE_CHECKING:
    from memgraph_engine.interface.filters import SearchFilters


@filtered
def context(
    question: Question,
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    budget: Budget = None,
    top_k: Considered = TOP_K,
    by: Annotated[
        Literal["notes", "blocks"],
        typer.Option("--by", help="What finds the notes: a search for them, or the blocks nearest to the question."),
    ] = "notes",
    claims: Annotated[
        bool, typer.Option("--claims", help="Add claims on what the question names; without filters.")
    ] = False,
    history: History = "",
    *,
    filters: "SearchFilters",
    as_json: Json = False,
) -> None:
    """Print what the memory holds on a question.

    Its lines are numbered and dated, for the prompt of a model.
    A user's question reads the tenant's shared memory too.
    """
    owner = whose(user, shared)
    with known(tenant, owner, asking=True) as memory:
        found = memory.context(
            question,
            **owner,
            budget=budget,
            top_k=top_k,
            by=by,
            claims=claims,
            history=history,
            **filters,
        )
    if as_json:
        show.document(found)
        return
    show.asked(found.asked)
    if not found.entries:
        typer.echo("Nothing found.", err=True)
        return
    typer.echo(show.clean(found.text))
