"""One transaction to be: every write of the memory is collected here, and committed whole or not at all.

Each method gives rows to the operation of its name (`cypher/fragments/writes/`). What follows from a change is worked
out here too: the scope's sums, the pairs of keywords, which keywords are lost and gained, and the vectors of texts that
come without. A note may change several times in one transaction, each time with its own former version.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import decisions as decision_graph, notes as note_graph, scopes, sources, writes
from memgraph_engine.graph.database import Row
from memgraph_engine.graph.notes import Found, NewNote, NewSummary, Relation, Revision
from memgraph_engine.graph.rows import milliseconds, packed, source_properties
from memgraph_engine.graph.scopes import ScopeState
from memgraph_engine.graph.writes import Sums
from memgraph_engine.lifecycle.policies import Life
from memgraph_engine.model.candidate import Candidate, Keyword
from memgraph_engine.model.memory import NEVER, READABLE, Source
from memgraph_engine.model.result import Decision, DecisionKind
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.commit import Stale


@dataclass(frozen=True, slots=True)
class Counted:
    """What sums and pairs see of a note, and whether its texts have vectors: not while it waits, or is archived."""

    readable: bool
    embedded: bool
    raw_length: int
    context_length: int
    keywords: tuple[str, ...]

    @property
    def found_by(self) -> frozenset[str]:
        """The keywords over which it is found."""
        return frozenset(self.keywords) if self.readable else frozenset()

    @classmethod
    def of(cls, found: Found) -> "Counted":
        """Return that of a stored note."""
        note = found.note
        embedded = note.status not in _BARE
        return cls(found.counted, embedded, found.raw_length, found.context_length, note.keywords)

    def after(self, revision: Revision) -> "Counted":
        """Return what a revision makes of it."""
        given = revision.properties
        return Counted(
            given["status"] in READABLE if "status" in given else self.readable,
            given["status"] not in _BARE if "status" in given else self.embedded,
            len(given["raw_terms"].split()) if "raw_terms" in given else self.raw_length,
            len(given["context_terms"].split()) if "context_terms" in given else self.context_length,
            self.keywords if revision.keywords is None else revision.keywords,
        )


_BARE = ("pending", "archived")
_NOTHING = Counted(readable=False, embedded=False, raw_length=0, context_length=0, keywords=())


class Transaction:
    """Collects what one transaction does to a scope, as of a version of it."""

    def __init__(
        self, engine: Engine, scope: Scope, seen: ScopeState | sources.Seen, stored: Collection[str] = ()
    ) -> None:
        """Begin; `stored` are names of keywords that are there already, as of what was seen."""
        self.engine, self.scope, self.version, self.language = engine, scope, seen.version, seen.language
        self.db, self.embedder, self.now = engine.db, engine.embedder, engine.now()
        self._stored = frozenset(stored)
        # of each operation, by what they are sorted by
        self._rows: defaultdict[str, dict[Any, Any]] = defaultdict(dict)
        self._waves: list[dict[str, Row]] = []
        self._counted: dict[str, Counted] = {}
        self._texts: list[tuple[Row, str, str]] = []  # of each a row, the vector that it lacks, and of which text
        self._sums = Sums()
        self._pairs: writes.Pairs = Counter()

    @classmethod
    def begin(cls, engine: Engine, scope: Scope) -> "Transaction":
        """Begin as of what a scope is now; of one that there is not, nothing is found, and nothing can be written."""
        state = scopes.state(engine.db, scope.name)
        if not state:  # what was known of it holds no more
            engine.languages.pop(scope.name, None)
        return cls(engine, scope, state or ScopeState(-1, engine.language_of(scope), 0))

    def decide(self, kind: DecisionKind, note: str = "", sources: Sequence[str] = (), **told: Any) -> Decision:
        """Record a decision with what else it tells, and return it; what it does is said by the other methods."""
        decision = Decision(uuid4().hex, kind, self.now, note, tuple(sources), **told)
        decision = replace(decision, version=self.version + 1, place=len(self._rows["decide"]))
        self._put("decide", decision_graph.recorded(decision))
        return decision

    def store(self, passages: Sequence[Candidate]) -> None:
        """Store a source, by the candidates made of its passages."""
        self._put("store", sources.arriving(passages))
        self._end(passages[0].source.expires_at)
        self._mark(passages[0].source.apart)

    def create(self, new: NewNote) -> None:
        """Make a note of a candidate."""
        candidate = new.candidate
        names = tuple(keyword.name for keyword in candidate.keywords)
        lengths = len(candidate.raw_terms), len(candidate.context_terms)
        state = Counted(new.status in READABLE, new.status not in _BARE, *lengths, names)
        self._put("create", self._embedded(note_graph.created(self.scope, new), state))
        self.name(candidate.keywords)
        self._count(_NOTHING, state)
        self._counted[new.id] = state
        self._end(candidate.source.expires_at)

    def sum_up(self, new: NewSummary) -> None:
        """Make a summary of notes, whose keywords it carries."""
        raw, context = (len(new.properties[terms].split()) for terms in ("raw_terms", "context_terms"))
        state = Counted(readable=True, embedded=True, raw_length=raw, context_length=context, keywords=new.keywords)
        self._put("create", self._embedded(note_graph.summary(self.scope, new), state))
        self._count(_NOTHING, state)
        self._counted[new.id] = state
        self._end(new.ends[0])
        self._mark(new.properties.get("apart"))

    def name(self, keywords: Iterable[Keyword]) -> None:
        """Store keywords that notes will carry, unless they are there."""
        for one in keywords:
            if one.name not in self._stored:
                self._put("name", writes.named(one), one.name)

    def revise(self, before: Found | None, revision: Revision) -> None:
        """Change a note; `before` is how it is stored, None for one that this transaction creates."""
        now = self._counted.get(revision.id) or (Counted.of(before) if before else _NOTHING)
        after = now.after(revision)
        times = sum(revision.id in wave for wave in self._waves)
        if times == len(self._waves):
            self._waves.append({})
        self._waves[times][revision.id] = self._embedded(note_graph.revised(revision), after)
        self._list("lose", set(now.keywords) - set(after.keywords))
        self._end(revision.properties.get("expires_at", NEVER))
        self._mark(revision.properties.get("apart"))
        self._count(now, after)
        self._counted[revision.id] = after

    def retire(self, found: Found, decision: str) -> None:
        """Take a note out; its sources stay unless they leave too."""
        self._put("retire", {"id": found.note.id, "decision": decision}, found.note.id)
        self._list("lose", found.note.keywords)
        self._count(self._counted.get(found.note.id) or Counted.of(found), _NOTHING)

    def reinstate(self, found: Found, retired_by: str, decision: str) -> None:
        """Take back that a decision retired the note that was `found`."""
        state = Counted.of(found)
        ids = {"id": found.note.id, "retired_by": retired_by, "decision": decision, "stamp": note_graph.new_stamp()}
        self._put("reinstate", {**ids, "keywords": list(state.keywords)})
        self._end(found.note.expires_at)
        self._count(_NOTHING, state)
        self._counted[found.note.id] = state

    def relate(self, relation: Relation) -> None:
        """Tie a note to an older one."""
        self._put("relate", asdict(relation), (relation.new, relation.old, len(self._rows["relate"])))

    def put(self, operation: str, **row: Any) -> None:
        """Give a row to an operation that nothing follows from: cut, untie, retie, strengthen, weaken."""
        self._put(operation, row)

    def loosen(self, decision: str, note: str, sources: Collection[str] | None = None) -> None:
        """Take back what was judged by words that a note has no more; some `sources` may still tell it."""
        row = {"note": note, "decision": decision, "sources": None if sources is None else sorted(sources)}
        self._put("loosen", row)

    def rebuild(self, found: Found, revision: Revision, *, losing: bool) -> None:
        """Make a note anew in place, without a former version; it may lose keywords, and gains none."""
        before = Counted.of(found)
        after = before.after(revision)
        self._list("lose", set(before.keywords) - set(after.keywords))
        self._count(before, after)
        self._put("rebuild", self._embedded({**note_graph.revised(revision), "losing": losing}, after))

    def erase(self, found: Found) -> None:
        """Remove a note with all of its versions."""
        self._put("erase", found.note.id)
        self._list("lose", found.note.keywords)
        self._count(Counted.of(found), _NOTHING)

    def live(self, sources: Iterable[str], begins: datetime | None = None, given: Source | None = None) -> None:
        """Let sources live as their notes do from now on; their lives may begin anew, in the class that is `given`."""
        since = None if begins is None else milliseconds(begins)
        named = {"policy_as": given.policy_as, "policy_by": given.policy_by} if given else {}
        for source in sources:
            self._put("live", {"id": source, "begins": since, "given": named}, source)

    def prolong(self, session: str, lives: Mapping[str, Life]) -> None:
        """Let what lives as long as a session go on, by classes: it has a turn now."""
        for policy, life in lives.items():
            row = {"session": session, "policy": policy, **note_graph.ends(life.expires_at, life.erase_at)}
            self._put("prolong", row, (session, policy))

    def part(self, notes: Iterable[str], apart: str) -> None:
        """Keep the former versions of notes apart with a class."""
        for note in notes:
            self._put("part", {"id": note, "apart": apart}, note)

    def leave(self, source: str) -> None:
        """Take a source out."""
        self._list("leave", [source])

    def rewrite(
        self,
        whole: Source,
        cuts: Sequence[int] | None = None,
        *,
        parted: Collection[str] = (),
        returned: Collection[str] = (),
    ) -> None:
        """Give a stored source the text, tags, metadata and own end of this one, cut before these characters.

        The notes that are `parted` go on telling its former text. Those `returned` told this text before, and do again.
        """
        told = {name: source_properties(whole)[name] for name in ("text", "hash", "tags", "metadata", "expires_as")}
        row = {"id": whole.id, **told, "cuts": list(cuts or ()) or None}
        self._put("rewrite", {**row, "parted": sorted(parted), "returned": sorted(returned)}, whole.id)

    def _put(self, operation: str, row: Any, key: Any = None) -> None:
        """Give an operation a row, in place of one with the same key; without a key they stay in this order."""
        rows = self._rows[operation]
        rows[len(rows) if key is None else key] = row

    def _list(self, operation: str, names: Iterable[str]) -> None:
        """Give an operation these names or ids, each once."""
        self._rows[operation] |= {name: name for name in names}

    def _end(self, at: datetime) -> None:
        """Let the scope know when the first of what is written ends."""
        if at < NEVER:
            first, known = milliseconds(at), self._sums.ends
            self._sums.ends = first if known is None else min(first, known)

    def _mark(self, apart: str | None) -> None:
        """Let the scope know that it holds what is kept apart."""
        if apart:
            self._sums.apart = True

    def _embedded(self, row: Row, state: Counted) -> Row:
        """Let a row get the vectors that it lacks of its texts, if its note has any from now on; return it."""
        given = row["properties"] if state.embedded else {}
        said = {"raw_vector": "\n".join(given["raw"])} if "raw" in given else {}
        said |= {"context_vector": given["context"]} if "context" in given else {}
        self._texts += [(row, name, text) for name, text in said.items() if row[name] is None]
        return row

    def _embed(self) -> None:
        """Embed all texts that lack a vector, in one call."""
        texts = list(dict.fromkeys(text for *_, text in self._texts))
        vectors = dict(zip(texts, map(packed, self.embedder.embed_documents(texts)), strict=True))
        for row, name, text in self._texts:
            row[name] = vectors[text]

    def _count(self, before: Counted, after: Counted) -> None:
        sums = self._sums
        for state, sign in ((before, -1), (after, 1)):
            if state.readable:
                sums.notes += sign
                sums.raw_length += sign * state.raw_length
                sums.context_length += sign * state.context_length
                for pair in writes.pairs(state.keywords):
                    self._pairs[pair] += sign
        if after.readable and after.keywords and not (before.readable and before.keywords):
            sums.joined += 1
        had, has = before.found_by, after.found_by
        self._list("lose", had - has)
        self._list("gain", has - had)

    def commit(self) -> None:
        """Write it all, or raise Stale, with nothing written, when another write came between.

        A write that was committed though its answer was lost is known by its decisions.
        """
        db, scope = self.db, self.scope.name
        decisions = list(self._rows["decide"].values())
        self._embed()
        written = not decisions or writes.commit(db, scope, self.version, self.now, self._write(), self._sums)
        if not written and not decision_graph.find(db, scope, decisions[0]["id"]):
            raise Stale

    def _write(self) -> dict[str, list[Any]]:
        """Return the rows of all operations; keywords that were named in vain are lost at once."""
        self._list("lose", self._rows["name"].keys() - self._rows["gain"].keys())
        rows = {operation: [some[key] for key in sorted(some)] for operation, some in self._rows.items()}
        return {
            **rows,
            "revise": [[wave[note] for note in sorted(wave)] for wave in self._waves],
            "pair": writes.changed(self._pairs),
            "unname": rows["lose"] if self._sums.apart else [],
        }
