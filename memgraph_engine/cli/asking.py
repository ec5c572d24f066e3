"""What a memory is asked: notes and answers, and which of the notes were of use."""

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory
from memgraph_engine.cli.options import MANY, Budget, Considered, History, Question
from memgraph_engine.interface.defaults import TOP_K
from memgraph_engine.interface.filters import SearchFilters

if TYPE_CHECKING:
    from memgraph_engine.model.answer import Answer


@on_memory
def search(
    on: Target,
    question: Question,
    top_k: Annotated[int, "--top-k -k N: How many notes to find, at most.", MANY] = TOP_K,
    rounds: Annotated[
        int | None, "N: If the best notes do not cover the question, ask again: at most so many rounds (1 to 3)."
    ] = None,
    history: History = "",
    *,
    filters: SearchFilters,
    explain: Annotated[bool, "Show each channel's scores."] = False,
    whole: Annotated[bool, "Print long notes to their end."] = False,
) -> Iterator[object]:
    """Find the notes that answer a question best.

    A user's search reads the tenant's shared memory too. Of a long note the beginning is printed.
    """
    memory = on.memory(asking=True)
    hits = memory.search(question, **on.owner, top_k=top_k, rounds=rounds, history=history, **filters, explain=explain)
    floor = memory.engine.settings.answer.relevance
    show.asked(hits.asked)
    show.fallbacks(hits.fallbacks)
    yield hits
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


@on_memory
def ask(
    on: Target,
    question: Question,
    budget: Budget = None,
    top_k: Considered = TOP_K,
    history: History = "",
    *,
    filters: SearchFilters,
) -> Iterator[object]:
    """Answer a question from the memory, with citations.

    Without a chat model it prints the context.
    A user's question reads the tenant's shared memory too.
    """
    logging.getLogger("memgraph_engine").addHandler(logging.NullHandler())  # the answer tells the same
    pieces = on.memory(asking=True).answer_stream(
        question, **on.owner, budget=budget, top_k=top_k, history=history, **filters
    )
    answer = _told(pieces, aloud=not on.as_json)
    yield answer
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


@on_memory
def reflect(
    on: Target,
    question: Question,
    answer: Annotated[str, "ANSWER: What was answered."],
    shown: Annotated[list[str] | None, "--note ID: A note that was shown, the best first; can be repeated."] = None,
) -> Iterator[object]:
    """Say which of the notes shown an answer used.

    Others were contradicted or left. How useful each has proved is kept.
    """
    if not shown:
        raise typer.BadParameter("name the notes that were shown, by their ids or their sources'.", param_hint="--note")
    return on.shown(on.memory(asking=True).reflect(question, shown, answer, **on.owner))
