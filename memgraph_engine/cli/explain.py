"""`memgraph-engine explain`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory
from memgraph_engine.cli.options import NoteId
from memgraph_engine.errors import NotFound
from memgraph_engine.interface.whose import Whose

if TYPE_CHECKING:
    from rich.console import Console

    from memgraph_engine.client import Memory
    from memgraph_engine.model.result import Considered, Decision, Story, Tie, Version

_MOST_FAR = 1  # unrelated notes that are shown


@on_memory
def explain(on: Target, id: NoteId) -> Iterator[object]:
    """Tell how a note came to be what it is.

    It prints the note's versions, the decisions about it (with the notes that were considered, and their scores), and
    its ties.
    """
    memory = on.memory()
    story = memory.explain(id, **on.owner)
    yield story
    _print(on, story, _texts(memory, on.owner, story))


def _texts(memory: "Memory", owner: Whose, story: "Story") -> dict[str, str]:
    """Return the texts of the notes that were considered; for a deleted one, its status."""
    texts = {story.note.id: "(this note)"}
    for id in (one.note for decision in story.decisions for one in _shown(decision.considered)):  # noqa: A001
        if id not in texts:
            try:
                note = memory.explain(id, **owner).note
            except NotFound:
                texts[id] = "(gone)"
            else:
                hidden = note.status in ("deleted", "undone")
                texts[id] = f"({note.status})" if hidden else " / ".join(note.raw)
    return texts


def _shown(considered: "Iterable[Considered]") -> "list[Considered]":
    """Return the notes that are related, and the best of the others."""
    far = [one for one in considered if one.relation == "none"]
    return [one for one in considered if one.relation != "none"] + far[:_MOST_FAR]


def _print(on: Target, story: "Story", texts: Mapping[str, str]) -> None:
    out, note = show.console(), story.note
    show.facts(
        out,
        {
            "note": note.id,
            "status": note.status,
            "true": show.until(note),
            "keywords": ", ".join(note.keywords),
            "sources": show.ids(note),
            "context": note.context,
        },
    )
    out.print("\nversions", style="bold")
    for version in story.versions:
        _version(out, version)
    out.print("\ndecisions", style="bold")
    for decision in story.decisions:
        _decision(out, decision, texts)
    if story.ties:
        out.print("\nties", style="bold")
    for tie in story.ties:
        _tie(out, tie, on.again(f"untie {note.id} {tie.note}"))


def _version(out: "Console", version: "Version") -> None:
    note = version.note
    held = show.period(note.recorded_at, note.superseded_at)
    out.print(f"{held}  {note.status}, {show.count(len(note.sources), 'source')}")
    for line in note.raw:
        out.print(f"    {show.clean(line)}")


def _decision(out: "Console", decision: "Decision", texts: Mapping[str, str]) -> None:
    show.decision(out, decision)
    if decision.considered:
        limits = ", ".join(f"{name} above {limit:g}" for name, limit in decision.thresholds.items())
        out.print(f"    {show.count(len(decision.considered), 'note')} considered ({limits}):", style="dim")
    for one in _shown(decision.considered):
        scores = f"redundancy {one.redundancy:.2f}, complementarity {one.complementarity:.2f}, "
        out.print(f"    {one.relation:8} {scores}similarity {one.similarity:.2f}  {one.note}")
        out.print(f"             {show.clean(texts.get(one.note, ''))}")
        if one.evidence not in decision.evidence:
            out.print(f"             {show.clean(one.evidence)}", style="dim")


def _tie(out: "Console", tie: "Tie", untie: str) -> None:
    age = "newer" if tie.newer else "older"
    status = "" if tie.status == "active" else f", {tie.status}"
    out.print(f"{tie.kind} {tie.score:.2f}  {tie.note} ({age}{status})")
    out.print(f"    {show.clean(tie.context)}")
    if tie.kind != "link":
        why = f", whose reasons `explain {tie.note}` tells" if tie.newer and tie.kind == "conflict" else ""
        out.print(f"    by decision {tie.decision}{why}; to take it back: {show.clean(untie)}", style="dim")
