"""The job: read notes that are new, changed or recalled, store what they claim, remove what nothing supports any more.

Notes are read and written a page at a time, each page in one transaction. So a run that is killed leaves what it has
done, and the next one does the rest. Nothing is added up: how far a claim is to be trusted follows from its notes when
it is read (LightMem, section 3.6, algorithm 3).
"""

import hashlib
from collections.abc import Sequence

from memgraph_engine.claims.abstracting import Abstractor, Found, Reading
from memgraph_engine.claims.reading import mark
from memgraph_engine.engine.passes import Pass
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import NotFound
from memgraph_engine.graph import claims as claim_graph
from memgraph_engine.graph.claims import Unread
from memgraph_engine.graph.database import Row
from memgraph_engine.language.claims import Told, identity
from memgraph_engine.language.keywords import key
from memgraph_engine.model.claim import LEAST, ClaimRun
from memgraph_engine.model.scope import Scope

_SOME = 1000  # claims that one transaction removes
READ, TIDY = "read", "tidy"


class Claims(Pass[ClaimRun]):
    """Looks for claims: READ is told before each page of notes, TIDY at the end."""

    name = "claims"
    sign, why = "unclaimed", "writes since claims were looked for"
    limit = "worker", "claims_after", "writes"
    writing = (TIDY,)
    tells = "notes claims created removed abstracted deferred"

    def work(self) -> ClaimRun:
        """Read the notes, then remove what nothing supports; raises NotFound for a scope never written to."""
        with self.alone():
            engine, db, scope, state = self.engine, self.db, self.scope, claim_graph.state(self.db, self.scope.name)
            if state is None:
                raise NotFound(f"Nothing was ever written to {scope.name!r}, so it claims nothing.")
            notes = done = claims = created = 0
            model = Abstractor(engine, scope.name, state.language, self.spent, names=[scope.user or ""])
            begun, since = engine.now(), state.begun if engine.settings.claims.reread else None
            for page in claim_graph.unread(db, scope.name, since):
                for part in model.parts(page):
                    self.tell(READ)
                    model.abstract(part)
                    rows, new = _claimed(engine, scope, part, state.language)
                    written, read = claim_graph.write(db, scope.name, state.cycle + 1, rows)
                    notes, done = notes + written, done + read
                    claims += sum(len(row["claims"]) for row in rows)
                    created += new
            with self.phase(TIDY):
                given = {"version": state.version, "cycle": state.cycle + bool(done), "begun": begun}
                db.commit("claims/end", scope=scope.name, **given)
                weak = (one for one in claim_graph.told(db, [scope.name]) if one.claim.confidence < LEAST)
                gone = [{"id": one.claim.id, "decayed": bool(one.stamps)} for one in weak]
                for start in range(0, len(gone), _SOME):
                    db.commit("claims/remove", scope=scope.name, rows=gone[start : start + _SOME])
        return ClaimRun(
            scope.name,
            engine.now(),
            notes,
            claims,
            created,
            len(gone),
            abstracted=model.abstracted,
            deferred=notes - done,
            refused=model.refused,
            fallbacks=self.spent.fallbacks,
            cost=self.spent.cost,
        )


def claim_id(scope: str, told: Told, language: str) -> str:
    """Return the id of a claim: the same for all words that only differ in case, ending or article."""
    of = "\0".join([scope, *identity(told, language)])
    return hashlib.blake2b(of.encode(), digest_size=16).hexdigest()


def _claimed(engine: Engine, scope: Scope, part: Sequence[Reading], language: str) -> tuple[list[Row], int]:
    """Return what notes claim, and how many claims of it are new; these have vectors."""
    speakers = engine.db.run("claims/speakers", scope=scope.name) if any(one.found for one in part) else []
    names = [row["name"] for row in speakers]
    rows: list[Row] = [
        {
            "id": one.note.id,
            "stamp": one.note.stamp,
            "recalled": one.note.recalled,
            "done": one.done,
            "claims": [_row(scope, one.note, found, language, names) for found in one.found.values()],
        }
        for one in part
    ]
    texts = {one["id"]: one["text"] for row in rows for one in row["claims"] if not one["reworded"]}
    new = [id for id in texts if id not in claim_graph.known(engine.db, scope.name, list(texts))]
    vectors = dict(zip(new, engine.embedder.embed_documents([texts[id] for id in new]), strict=True)) if new else {}
    for row in rows:
        for one in row["claims"]:
            one["vector"] = vectors.get(one["id"])
    return rows, len(new)


def _row(scope: Scope, note: Unread, found: Found, language: str, names: Sequence[str]) -> Row:
    one = found.told
    return {
        "id": claim_id(scope.name, one, language),
        "kind": one.kind,
        "text": one.text,
        "subject": one.subject,
        "object": one.object,
        "subject_key": key(one.subject, language),
        "object_key": key(one.object, language),
        "shared_as": None if found.made_by or note.trust != "user" else mark(scope, one, language, names),
        "made_by": found.made_by or None,
        "reworded": found.reworded,
    }
