"""`memgraph-engine reflect`."""

from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Question, Shared, Tenant, User, whose


def reflect(
    question: Question,
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="What was answered.")],
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    shown: Annotated[
        list[str] | None,
        typer.Option("--note", metavar="ID", help="A note that was shown, the best first; can be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say which of the notes shown an answer used.

    Others were contradicted or left. How useful each has proved is kept.
    """
    owner = whose(user, shared)
    if not shown:
        raise typer.BadParameter("name the notes that were shown, by their ids or their sources'.", param_hint="--note")
    with known(tenant, owner, asking=True) as memory:
        found = memory.reflect(question, shown, answer, **owner)
    if as_json:
        show.document(found)
        return
    for one in found.notes:
        worth = "" if one.utility is None else f"  {one.before} -> {one.utility}"
        typer.echo(show.clean(f"{one.note}  {one.outcome}{worth}  {one.why}"))
