"""`memgraph-engine ask`."""

import logging
from typing import TYPE_CHECKING

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
    from collections.abc import Iterator

    from memgraph_engine.interface.filters import SearchFilters
    from memgraph_engine.model.answer import Answer


@filtered
def ask(
    question: Question,
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    budget: Budget = None,
    top_k: Considered = TOP_K,
    history: History = "",
    *,
    filters: "SearchFilters",
    as_json: Json = False,
) -> None:
    """Answer a question from the memory, with citations.

    Without a chat model it prints the context.
    A user's question reads the tenant's shared memory too.
    """
    owner = whose(user, shared)
    with known(tenant, owner, asking=True) as memory:
        logging.getLogger("memgraph_engine").addHandler(logging.NullHandler())  # the answer tells the same
        pieces = memory.answer_stream(
            question,
            **owner,
            budget=budget,
            top_k=top_k,
            history=history,
            **filters,
        )
        answer = _told(pieces, aloud=not as_json)
    if as_json:
        show.document(answer)
        return
    show.asked(answer.context.asked)
    show.fallbacks(answer.fallbacks)
    out = show.console()
    for entry in answer.citations if answer.text else answer.context.entries:
        show.cited(out, entry)
    from memgraph_engine.model.answer import UNSURE

    if not answer.text and not answer.context.sure:
        typer.echo(UNSURE if answer.context.entries else "Nothing found.", err=True)
    if answer.text and answer.known and not answer.supported:
        typer.echo("The answer cites nothing of the memory.", err=True)


def _told(pieces: "Iterator[str | Answer]", *, aloud: bool) -> "Answer":
    """Print an answer while it comes, and return the whole."""
    begun = False
    for piece in pieces:
        if not isinstance(piece, str):
            if begun:
                typer.echo("")
            return piece
        if aloud:
            begun = True
            typer.echo(show.clean(piece), nl=False)
    raise AssertionError("the last piece is the answer")
