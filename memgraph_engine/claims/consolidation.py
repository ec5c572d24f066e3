"""The job: read the notes that are new or have changed, store what they claim, remove what nothing supports any more.

Notes are read and written a page at a time, each page in one transaction. So a run that is killed leaves what it has
done, and the next one does the rest. Nothing is added up: how far a claim is to be trusted follows from its notes when
it is read (LightMem, section 3.6, algorithm 3).
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence

from memgraph_engine.claims.patterns import Told, claims_in
from memgraph_engine.claims.sharing import mark
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import NotFound
from memgraph_engine.graph import claims as claim_graph
from memgraph_engine.graph import leases
from memgraph_engine.graph.claims import Supported, Unread
from memgraph_engine.graph.database import Row
from memgraph_engine.model.claim import LEAST, ClaimRun
from memgraph_engine.model.names import key
from memgraph_engine.model.scope import Scope

READ, TIDY, WAIT = "read", "tidy", "wait"
Progress = Callable[[str], None]
"""Told `read` before each page of notes, `tidy` at the end, `wait` while another run works; what it raises ends it."""
_PATIENCE = 900.0  # seconds to wait for another run


def consolidate(engine: Engine, scope: Scope, progress: Progress = lambda _phase: None) -> ClaimRun:
    """Run the claims job over a memory; raises NotFound for one that nothing was written to."""
    db = engine.db
    with leases.held(db, f"claims {scope.name}", patience=_PATIENCE, waiting=lambda: progress(WAIT)):
        state = claim_graph.state(db, scope.name)
        if state is None:
            raise NotFound(f"Nothing was ever written to {scope.name!r}, so it claims nothing.")
        notes = claims = created = 0
        for page in claim_graph.unread(db, scope.name):
            progress(READ)
            rows, new = _claimed(engine, scope, page, state.language)
            notes += claim_graph.write(db, scope.name, state.cycle + 1, rows)
            claims += sum(len(row["claims"]) for row in rows)
            created += new
        progress(TIDY)
        claim_graph.end(db, scope.name, state.version, state.cycle + bool(notes))
        gone = [_gone(one) for one in claim_graph.told(db, [scope.name]) if one.claim.confidence < LEAST]
        claim_graph.remove(db, scope.name, gone)
    return ClaimRun(scope.name, engine.now(), notes, claims, created, len(gone))


def claim_id(scope: str, told: Told, language: str) -> str:
    """Return the id of a claim: the same for all words that only differ in case, ending or article."""
    of = "\0".join([scope, told.kind, key(told.subject, language), key(told.object, language)])
    return hashlib.blake2b(of.encode(), digest_size=16).hexdigest()


def _claimed(engine: Engine, scope: Scope, page: Sequence[Unread], language: str) -> tuple[list[Row], int]:
    """Return what the notes of a page claim, and how many claims of it are new; these have vectors."""
    names = claim_graph.speakers(engine.db, scope.name)
    rows: list[Row] = [
        {"id": note.id, "stamp": note.stamp, "claims": list(_rows(scope, note, language, names))} for note in page
    ]
    texts = {one["id"]: one["text"] for row in rows for one in row["claims"]}
    new = [id for id in texts if id not in claim_graph.known(engine.db, scope.name, list(texts))]  # noqa: A001
    vectors = dict(zip(new, engine.embedder.embed_documents([texts[id] for id in new]), strict=True)) if new else {}  # noqa: A001
    for row in rows:
        for one in row["claims"]:
            one["vector"] = vectors.get(one["id"])
    return rows, len(new)


def _rows(scope: Scope, note: Unread, language: str, names: Sequence[str]) -> Iterator[Row]:
    found = {claim_id(scope.name, one, language): one for text in note.said for one in claims_in(text, language)}
    for id, one in found.items():  # noqa: A001  the graph's own word
        yield {
            "id": id,
            "kind": one.kind,
            "text": one.text,
            "subject": one.subject,
            "object": one.object,
            "subject_key": key(one.subject, language),
            "object_key": key(one.object, language),
            "shared_as": mark(scope, one, language, names),
        }


def _gone(one: Supported) -> Row:
    return {"id": one.claim.id, "decayed": bool(one.stamps)}
