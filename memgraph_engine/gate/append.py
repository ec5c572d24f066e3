"""Store new notes: known repeats are told apart, everything else is appended, in one transaction."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import uuid4

from memgraph_engine.errors import SourceConflict
from memgraph_engine.gate.commit import Stale
from memgraph_engine.graph import keywords as keyword_graph
from memgraph_engine.graph import notes as note_graph
from memgraph_engine.graph import scopes, sources
from memgraph_engine.graph.database import Database, Runner
from memgraph_engine.graph.notes import NewNote
from memgraph_engine.graph.scopes import Change
from memgraph_engine.graph.sources import Known, Seen
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import Source
from memgraph_engine.model.result import Entry
from memgraph_engine.model.scope import Scope


def note_id(scope: str, source: str) -> str:
    """Return the id of the note that a source founds: the same however often it is tried."""
    return hashlib.blake2b(f"{scope}\0{source}".encode(), digest_size=16).hexdigest()


def unknown(given: Sequence[Source], known: Mapping[str, Known]) -> list[Source]:
    """Return the sources that are not stored yet, each once.

    Raises SourceConflict for an id that comes with another content than before.
    """
    new: dict[str, Source] = {}
    for source in given:
        if source.id in known:
            if source.hash not in known[source.id].hashes:
                raise _conflict(source, "is already stored")
        elif source.id not in new:
            new[source.id] = source
        elif new[source.id].hash != source.hash:
            raise _conflict(source, "comes twice in this batch")
    return list(new.values())


def _conflict(source: Source, how: str) -> SourceConflict:
    return SourceConflict(
        f"Source {source.id!r} {how} with another content (text, speaker, role, session, time or caption). "
        "Nothing was written with it. update changes what is stored; another id stores it beside."
    )


def append(
    db: Database,
    scope: Scope,
    given: Sequence[Source],
    candidates: Sequence[Candidate],
    seen: Seen,
    now: datetime,
) -> list[Entry]:
    """Write the candidates in one transaction; return an entry for each given source, in order.

    Raises Stale, with nothing written, when another write came between.
    """
    new = [
        # a millisecond apart, so that listing by time keeps the order in which they came
        NewNote(note_id(scope.name, c.source.id), uuid4().hex, c, now, now + timedelta(milliseconds=place))
        for place, c in enumerate(candidates)
    ]
    if new:
        db.write(lambda tx: _write(tx, scope, new, seen.version))
    fresh = {n.candidate.source.id: n for n in new}
    entries = []
    for source in given:
        made = fresh.pop(source.id, None)
        if made:
            entries.append(Entry(source.id, made.id, "append", made.decision))
        else:
            known = seen.known.get(source.id)
            note = known.note if known else note_id(scope.name, source.id)
            entries.append(Entry(source.id, note, "repeat", None, known.status if known else "active"))
    return entries


def _write(tx: Runner, scope: Scope, new: Sequence[NewNote], version: int) -> None:
    candidates = [n.candidate for n in new]
    change = Change(
        notes=len(new),
        raw_length=sum(len(c.raw_terms) for c in candidates),
        context_length=sum(len(c.context_terms) for c in candidates),
    )
    if not scopes.advance(tx, scope.name, version, change):
        raise Stale
    sources.create(tx, scope.name, candidates)
    note_graph.create(tx, scope, new)
    keyword_graph.create(tx, scope.name, (k for c in candidates for k in c.keywords))
    keyword_graph.attach(tx, scope.name, {n.id: [k.name for k in n.candidate.keywords] for n in new})
    keyword_graph.co_occur(tx, scope.name, _pairs(candidates))


def _pairs(candidates: Iterable[Candidate]) -> keyword_graph.Pairs:
    total: keyword_graph.Pairs = Counter()
    for candidate in candidates:
        total.update(keyword_graph.pairs(k.name for k in candidate.keywords))
    return total
