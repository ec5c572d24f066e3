"""One transaction to be: every write of the memory is collected here, and committed whole or not at all.

What follows from a change is worked out here too: the scope's sums, the pairs of keywords, the order of the
statements. A note may change several times in one transaction, each time with its own former version.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import (
    decisions as decision_graph,
    keywords as keyword_graph,
    notes as note_graph,
    scopes,
    sources,
    writes,
)
from memgraph_engine.graph.notes import Found, NewNote, NewSummary, Relation, Revision
from memgraph_engine.graph.rows import milliseconds, source_properties
from memgraph_engine.graph.scopes import ScopeState
from memgraph_engine.graph.writes import Sums, Write
from memgraph_engine.lifecycle import Life
from memgraph_engine.model.candidate import Candidate, Keyword
from memgraph_engine.model.memory import NEVER, READABLE, Source
from memgraph_engine.model.result import Decision, DecisionKind
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.commit import Stale


@dataclass(frozen=True, slots=True)
class Counted:
    """What sums and pairs see of a note."""

    readable: bool
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
        return cls(found.counted, found.raw_length, found.context_length, note.keywords)

    def after(self, revision: Revision) -> "Counted":
        """Return what a revision makes of it."""
        given = revision.properties
        return Counted(
            given["status"] in READABLE if "status" in given else self.readable,
            len(given["raw_terms"].split()) if "raw_terms" in given else self.raw_length,
            len(given["context_terms"].split()) if "context_terms" in given else self.context_length,
            self.keywords if revision.keywords is None else revision.keywords,
        )


_NOTHING = Counted(readable=False, raw_length=0, context_length=0, keywords=())


class Transaction:
    """Collects what one transaction does to a scope, as of a version of it."""

    def __init__(
        self, engine: Engine, scope: Scope, seen: ScopeState | sources.Seen, stored: Collection[str] = ()
    ) -> None:
        """Begin; `stored` are names of keywords that are there already, as of what was seen."""
        self.engine, self.scope, self.version, self.language = engine, scope, seen.version, seen.language
        self.db, self.embedder, self.now = engine.db, engine.embedder, engine.now()
        self._stored = frozenset(stored)
        self._decisions: list[Decision] = []
        self._arriving: list[Sequence[Candidate]] = []
        self._created: list[NewNote] = []
        self._summaries: list[NewSummary] = []
        self._waves: list[dict[str, Revision]] = []
        self._times: Counter[str] = Counter()
        self._counted: dict[str, Counted] = {}
        self._retired: dict[str, str] = {}
        self._reinstated: list[dict[str, Any]] = []
        self._relations: list[Relation] = []
        self._rows: defaultdict[str, list[Any]] = defaultdict(list)  # those that are written as they came
        self._parted: dict[str, str] = {}
        self._leaving: list[str] = []
        self._living: dict[str, datetime | None] = {}
        self._prolonged: dict[tuple[str, str], Life] = {}
        self._rewritten: dict[str, dict[str, Any]] = {}
        self._keywords: dict[str, Keyword] = {}
        self._lost: set[str] = set()
        self._gained: set[str] = set()
        self._sums = Sums()
        self._pairs: keyword_graph.Pairs = Counter()

    @classmethod
    def begin(cls, engine: Engine, scope: Scope) -> "Transaction | None":
        """Begin as of what a scope is now; None if there is no such scope."""
        state = scopes.state(engine.db, scope.name)
        return cls(engine, scope, state) if state else None

    def decide(self, kind: DecisionKind, note: str = "", sources: Sequence[str] = (), **told: Any) -> Decision:
        """Record a decision with what else it tells, and return it; what it does is said by the other methods."""
        decision = Decision(uuid4().hex, kind, self.now, note, tuple(sources), **told)
        decision = replace(decision, version=self.version + 1, place=len(self._decisions))
        self._decisions.append(decision)
        return decision

    def store(self, passages: Sequence[Candidate]) -> None:
        """Store a source, by the candidates made of its passages."""
        self._arriving.append(passages)
        self._end(passages[0].source.expires_at)
        self._mark(passages[0].source.apart)

    def create(self, new: NewNote) -> None:
        """Make a note of a candidate."""
        candidate = new.candidate
        names = tuple(keyword.name for keyword in candidate.keywords)
        state = Counted(new.status in READABLE, len(candidate.raw_terms), len(candidate.context_terms), names)
        self._created.append(new)
        self.name(candidate.keywords)
        self._count(_NOTHING, state)
        self._counted[new.id] = state
        self._end(candidate.source.expires_at)

    def sum_up(self, new: NewSummary) -> None:
        """Make a summary of notes, whose keywords it carries."""
        raw, context = (len(new.properties[terms].split()) for terms in ("raw_terms", "context_terms"))
        state = Counted(readable=True, raw_length=raw, context_length=context, keywords=new.keywords)
        self._summaries.append(new)
        self._count(_NOTHING, state)
        self._counted[new.id] = state
        self._end(new.ends[0])
        self._mark(new.properties.get("apart"))

    def name(self, keywords: Iterable[Keyword]) -> None:
        """Store keywords that notes will carry, unless they are there."""
        self._keywords.update((k.name, k) for k in keywords if k.name not in self._stored)

    def revise(self, before: Found | None, revision: Revision) -> None:
        """Change a note; `before` is how it is stored, None for one that this transaction creates."""
        now = self._counted.get(revision.id) or (Counted.of(before) if before else _NOTHING)
        after = now.after(revision)
        wave = self._times[revision.id]
        self._times[revision.id] += 1
        if wave == len(self._waves):
            self._waves.append({})
        self._waves[wave][revision.id] = revision
        self._lost |= set(now.keywords) - set(after.keywords)
        self._end(revision.properties.get("expires_at", NEVER))
        self._mark(revision.properties.get("apart"))
        self._count(now, after)
        self._counted[revision.id] = after

    def replace(self, planned: Revision, by: Revision) -> None:
        """Put another revision, of the same effect on sums and pairs, into the place of one that is planned."""
        for wave in self._waves:
            if wave.get(planned.id) is planned:
                wave[planned.id] = by

    def retire(self, found: Found, decision: str) -> None:
        """Take a note out; its sources stay unless they leave too."""
        self._retired[found.note.id] = decision
        self._lost |= set(found.note.keywords)
        self._count(self._counted.get(found.note.id) or Counted.of(found), _NOTHING)

    def reinstate(self, found: Found, retired_by: str, decision: str) -> None:
        """Take back that a decision retired the note that was `found`."""
        self._reinstated.append(
            {"id": found.note.id, "retired_by": retired_by, "decision": decision, "stamp": note_graph.new_stamp()}
        )
        state = Counted.of(found)
        self._end(found.note.expires_at)
        self._count(_NOTHING, state)
        self._counted[found.note.id] = state

    def relate(self, relation: Relation) -> None:
        """Tie a note to an older one."""
        self._relations.append(relation)

    def cut(self, decision: str, note: str) -> None:
        """Cut the ties of a note that a decision made."""
        self._rows["cut"].append({"note": note, "decision": decision})

    def untie(self, decision: str, newer: str, older: str) -> None:
        """Take back the tie from a note to an older one."""
        self._rows["untied"].append({"newer": newer, "older": older, "decision": decision})

    def loosen(self, decision: str, note: str, sources: Collection[str] | None = None) -> None:
        """Take back what was judged by words that a note has no more; some `sources` may still tell it."""
        row = {"note": note, "decision": decision, "sources": None if sources is None else sorted(sources)}
        self._rows["loosed"].append(row)

    def retie(self, untied_by: str, decision: str) -> None:
        """Bring back the ties that a decision took back."""
        self._rows["retied"].append({"untied_by": untied_by, "decision": decision})

    def strengthen(self, decision: str, newer: str, older: str, score: float) -> None:
        """Give a tie a higher score, once; it remembers the one before."""
        self._rows["strengthened"].append({"new": newer, "old": older, "score": score, "decision": decision})

    def weaken(self, decision: str, note: str) -> None:
        """Give the ties of a note that a decision strengthened the scores that they had before."""
        self._rows["weakened"].append({"note": note, "decision": decision})

    def rebuild(self, found: Found, revision: Revision, *, losing: bool) -> None:
        """Make a note anew in place, without a former version; it may lose keywords, and gains none."""
        before = Counted.of(found)
        after = before.after(revision)
        self._lost |= set(before.keywords) - set(after.keywords)
        self._count(before, after)
        self._rows["rebuilt"].append({**note_graph.revised([revision])[0], "losing": losing})

    def erase(self, found: Found) -> None:
        """Remove a note with all of its versions."""
        self._rows["erased"].append(found.note.id)
        self._lost |= set(found.note.keywords)
        self._count(Counted.of(found), _NOTHING)

    def live(self, sources: Iterable[str], begins: datetime | None = None) -> None:
        """Let sources live as their notes do from now on; their lives may begin anew."""
        self._living |= dict.fromkeys(sources, begins)

    def prolong(self, session: str, lives: Mapping[str, Life]) -> None:
        """Let what lives as long as a session go on, by classes: it has a turn now."""
        self._prolonged |= {(session, policy): life for policy, life in lives.items()}

    def part(self, notes: Iterable[str], apart: str) -> None:
        """Keep the former versions of notes apart with a class."""
        self._parted |= dict.fromkeys(notes, apart)

    def leave(self, source: str) -> None:
        """Take a source out."""
        self._leaving.append(source)

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
        self._rewritten[whole.id] = {**row, "parted": sorted(parted), "returned": sorted(returned)}

    def _end(self, at: datetime) -> None:
        """Let the scope know when the first of what is written ends."""
        if at < NEVER:
            first = milliseconds(at)
            known = self._sums.ends
            self._sums = replace(self._sums, ends=first if known is None else min(first, known))

    def _mark(self, apart: str | None) -> None:
        """Let the scope know that it holds what is kept apart."""
        if apart:
            self._sums = replace(self._sums, apart=True)

    def _count(self, before: Counted, after: Counted) -> None:
        for state, sign in ((before, -1), (after, 1)):
            if state.readable:
                c = self._sums
                self._sums = replace(
                    c,
                    notes=c.notes + sign,
                    raw_length=c.raw_length + sign * state.raw_length,
                    context_length=c.context_length + sign * state.context_length,
                )
                for pair in keyword_graph.pairs(state.keywords):
                    self._pairs[pair] += sign
        if after.readable and after.keywords and not (before.readable and before.keywords):
            self._sums = replace(self._sums, joined=self._sums.joined + 1)
        had, has = before.found_by, after.found_by
        self._lost |= had - has
        self._gained |= has - had

    def commit(self) -> None:
        """Write it all, or raise Stale, with nothing written, when another write came between.

        A write that was committed though its answer was lost is known by its decisions.
        """
        db, scope = self.db, self.scope.name
        written = not self._decisions or writes.commit(db, scope, self.version, self.now, self._write(), self._sums)
        if not written and not decision_graph.find(db, scope, self._decisions[0].id):
            raise Stale

    def _write(self) -> Write:
        return Write(
            sources=sources.arriving(self._arriving),
            decisions=decision_graph.recorded(self._decisions),
            keywords=keyword_graph.named(self._keywords.values()),
            reinstated=[{**row, "keywords": list(self._counted[row["id"]].keywords)} for row in self._reinstated],
            notes=note_graph.created(self.scope, self._created) + note_graph.summaries(self.scope, self._summaries),
            waves=[note_graph.revised(wave.values()) for wave in self._waves],
            rewritten=[row for _, row in sorted(self._rewritten.items())],
            relations=note_graph.related(self._relations),
            **self._rows,
            retired=[{"id": note, "decision": decision} for note, decision in sorted(self._retired.items())],
            parted=[{"id": note, "apart": apart} for note, apart in sorted(self._parted.items())],
            leaving=sorted(self._leaving),
            living=[
                {"id": source, "begins": None if begins is None else milliseconds(begins)}
                for source, begins in sorted(self._living.items())
            ],
            prolonged=[
                {"session": session, "policy": policy, **note_graph.ends(life.expires_at, life.erase_at)}
                for (session, policy), life in sorted(self._prolonged.items())
            ],
            pairs=keyword_graph.changed(self._pairs),
            lost=sorted(self._lost | (self._keywords.keys() - self._gained)),
            gained=sorted(self._gained),
        )
