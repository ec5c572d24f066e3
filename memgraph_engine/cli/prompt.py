"""`memgraph-engine prompt`."""

from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Considered, Json, Question, Shared, Tenant, User, whose
from memgraph_engine.interface.defaults import TOP_K


def prompt(
    question: Question,
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    session: Annotated[str, typer.Option(metavar="ID", help="The conversation that goes on, if there is one.")] = "",
    system: Annotated[str, typer.Option(metavar="TEXT", help="What stands in front of all else.")] = "",
    window: Annotated[
        int | None, typer.Option(metavar="TOKENS", min=1, help="The model's window; else the setting `prompt.window`.")
    ] = None,
    top_k: Considered = TOP_K,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="POLICY", help="Also notes of this policy, which are shown only if asked for."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the messages to give a model for a question.

    They hold what is known, what is remembered and what was just said.
    """
    owner = whose(user, shared)
    with known(tenant, owner, asking=True) as memory:
        made = memory.prompt(
            question,
            **owner,
            session=session,
            system=system,
            window=window,
            top_k=top_k,
            include=include or (),
        )
    if as_json:
        show.document(made)
        return
    for message in made.messages:
        typer.echo(show.clean(f"{message['role']}:\n{message['content']}\n"))
    typer.echo(f"{made.tokens:,} of {made.window:,} tokens.", err=True)
