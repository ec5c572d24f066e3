"""`memgraph-engine search`."""

from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import History, Json, Question, Shared, Tenant, User, filtered, whose
from memgraph_engine.interface.defaults import MOST, TOP_K

if TYPE_CHECKING:
    from memgraph_engine.interface.filters import SearchFilters


@filtered
def search(
    question: Question,
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    top_k: Annotated[
        int, typer.Option("--top-k", "-k", metavar="N", min=1, max=MOST, help="How many notes to find, at most.")
    ] = TOP_K,
    rounds: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="If the best notes do not cover the question, ask again: at most so many rounds (1 to 3)."
        ),
    ] = None,
    history: History = "",
    *,
    filters: "SearchFilters",
    explain: Annotated[bool, typer.Option("--explain", help="Show each channel's scores.", show_default=False)] = False,
    whole: Annotated[bool, typer.Option("--whole", help="Print long notes to their end.", show_default=False)] = False,
    as_json: Json = False,
) -> None:
    """Find the notes that answer a question best.

    A user's search reads the tenant's shared memory too. Of a long note the beginning is printed.
    """
    owner = whose(user, shared)
    with known(tenant, owner, asking=True) as memory:
        hits = memory.search(
            question,
            **owner,
            top_k=top_k,
            rounds=rounds,
            history=history,
            **filters,
            explain=explain,
        )
        floor = memory.engine.settings.answer.relevance
    show.asked(hits.asked)
    show.fallbacks(hits.fallbacks)
    if as_json:
        show.document(hits)
        return
    if not hits:
        typer.echo("Nothing found.", err=True)
    elif (best := max(1.0 if hit.relevance is None else hit.relevance for hit in hits)) < floor:
        typer.echo(f"Nothing is likely to answer this: the best note has a relevance of {best:.2f}.", err=True)
    out = show.console()
    if hits and hits[0].explanation:
        show.rounds(out, hits[0].explanation.rounds)
    for rank, hit in enumerate(hits, 1):
        show.hit(out, rank, hit, whole=whole)
        if hit.explanation:
            show.explanation(out, hit, hit.explanation)
    for note, why in hits.dropped.items() if explain else ():
        out.print(show.clean(f"dropped {note}: {why}"), style="dim")
