"""The gate at work: conversations and what was observed in them, ingested into a memory and asked for."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from bench.conversations import locomo_file
from bench.observations import FiledEmbedder, Observation, observations
from bench.scores import score
from bench.server import bench_settings, connected
from memgraph_engine import Memory
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.evaluation.report import table
from memgraph_engine.testing import purge

_DEEP = 100  # hits of a question: enough for 20 turns among observations
_MEASURES = ("R@10", "R@20")
_AGAIN = "again:"


def measure(file: Path | None, model: str) -> tuple[dict[str, float], str]:
    """Ingest each conversation, its observations, and all of it twice; return flat figures and a report."""
    every = list(observations(locomo_file(file), dated=True))
    with kept(model) as memory:
        gated = [_grow(memory, *one) for one in every]
        with of(memory, update=False) as ungated:
            plain = [_grow(ungated, *one, twice=False) for one in every]
    figures = _totals(gated)
    figures |= {f"{name}.ungated": value for name, value in _totals(plain).items() if name[:2] in ("R@", "no")}
    names = [conversation.id for conversation, _ in every]
    columns = [figures, *(_totals([one]) for one in gated)]
    rows = [(name, *(f"{column[name]:.4g}" if name in column else "" for column in columns)) for name in figures]
    return figures, f"### {model}, through Neo4j\n\n{table(('', 'all', *names), rows)}"


@contextmanager
def kept(model: str) -> Iterator[Memory]:
    """Yield a memory on the gate's own server for a model, Discard off; vectors are kept between runs."""
    embedder = FiledEmbedder(model)
    settings = bench_settings(model)
    settings = settings.model_copy(update={"home": settings.home.with_name(f"{model}-gate")})
    with connected(settings, embedder) as memory, of(memory, discard=False) as mine:
        try:
            yield mine
        finally:
            embedder.keep()


@contextmanager
def of(memory: Memory, **gate: object) -> Iterator[Memory]:
    """Yield the memory of a tenant of its own, with other settings of the gate; it is purged afterwards."""
    engine, tenant = memory.engine, f"bench-{uuid4().hex}"
    changed = engine.settings.model_copy(
        update={"tenant": tenant, "gate": engine.settings.gate.model_copy(update=gate)}
    )
    try:
        yield Memory(replace(engine, settings=changed, embedder=CheckedEmbedder(engine.embedder)))
    finally:
        purge(tenant, settings=changed)


def _grow(
    memory: Memory, conversation: Conversation, observed: Sequence[Observation], *, twice: bool = True
) -> Counter[str]:
    """Return sums of one conversation: notes, turns without one, new notes of a second time, scores of questions."""
    user, turns = conversation.id, {turn["id"] for turn in conversation.turns}
    facts = [one.message for one in observed]
    cites = {one.message["id"]: one.evidence for one in observed}
    sums: Counter[str] = Counter(turns=len(turns), questions=len(conversation.questions))
    memory.add_many(conversation.turns, user_id=user)
    sums.update(_counted(memory, user, turns, "before"))
    sums.update(_asked(memory, conversation, {}, "before"))
    receipt = memory.add_many(facts, user_id=user)
    sums.update(Counter(f"observations.{entry.kind}" for entry in receipt.entries))
    sums.update(_counted(memory, user, turns, "after"))
    sums.update(_asked(memory, conversation, cites, "after"))
    if twice:
        memory.add_many([*conversation.turns, *facts], user_id=user)
        sums.update(_counted(memory, user, turns, "second"))
        memory.add_many([{**turn, "id": _AGAIN + turn["id"]} for turn in conversation.turns], user_id=user)
        sums.update(_counted(memory, user, turns, "renamed"))
    return sums


def _counted(memory: Memory, user: str, turns: set[str], when: str) -> Mapping[str, int]:
    notes = [note for note in memory.get_all(user_id=user) if note.status == "active"]
    held = {source.id for note in notes for source in note.sources}
    return {f"notes.{when}": len(notes), f"without.{when}": len(turns - held)}


def _asked(
    memory: Memory, conversation: Conversation, cites: Mapping[str, Sequence[str]], when: str
) -> Mapping[str, float]:
    """Score the questions in three readings, summed.

    Of turns: sources that are no turns are left out before the cut. `places`: they take places in it. `cited`: they
    take places, and stand for the turns that they cite.
    """
    turns = {turn["id"] for turn in conversation.turns}
    sums: Counter[str] = Counter()
    for question in conversation.questions:
        hits = memory.search(question.text, user_id=conversation.id, top_k=_DEEP)
        found = [source.id for hit in hits for source in hit.sources]
        meant = [_stands_for(id, cites, question.evidence) for id in found]
        for reading, ids in (("", [i for i in found if i in turns]), (".places", found), (".cited", meant)):
            scores = score(ids, question.evidence)
            sums.update({f"{name}.{when}{reading}": scores[name] for name in _MEASURES})
    return sums


def _stands_for(source: str, cites: Mapping[str, Sequence[str]], evidence: Sequence[str]) -> str:
    return next((turn for turn in cites.get(source, ()) if turn in evidence), source)


def _totals(some: Sequence[Counter[str]]) -> dict[str, float]:
    whole: Counter[str] = sum(some, Counter())
    figures: dict[str, float] = {
        "note_growth": whole["notes.after"] / whole["notes.before"],
        "turns_without_note": whole["without.after"] / whole["turns"],
        "turns_without_note.before": whole["without.before"] / whole["turns"],
    }
    if whole["notes.second"]:
        figures["second_time_new_notes"] = whole["notes.second"] - whole["notes.after"]
        figures["second_time_new_notes.new_ids"] = whole["notes.renamed"] - whole["notes.second"]
    figures |= {name: value / whole["questions"] for name, value in sorted(whole.items()) if name.startswith("R@")}
    figures |= {name: value for name, value in sorted(whole.items()) if name.startswith(("notes.", "observations."))}
    return figures
