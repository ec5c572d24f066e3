"""Write a batch of candidates as the verdicts on them say: each input one decision, all in one transaction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import uuid4

from memgraph_engine.embedding import CheckedEmbedder
from memgraph_engine.errors import SourceConflict
from memgraph_engine.gate.verdict import Verdict
from memgraph_engine.graph import notes as note_graph
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.notes import USER, Found, NewNote, Relation, Revision, metadata_tags, texts_of
from memgraph_engine.graph.sources import Known, Seen
from memgraph_engine.language import tokenize
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import Source, note_id
from memgraph_engine.model.result import Decision, Entry
from memgraph_engine.model.scope import Scope
from memgraph_engine.rendering import Text, render
from memgraph_engine.writing import contexts
from memgraph_engine.writing.transaction import Transaction


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


def entries(given: Sequence[Source], made: Mapping[str, Entry], known: Mapping[str, Known]) -> list[Entry]:
    """Return an entry for each given source, in order: what was made of it, or that it is known."""
    fresh, found = dict(made), []
    for source in given:
        entry = fresh.pop(source.id, None)
        if not entry and source.id in known:
            stored = known[source.id]
            entry = Entry(source.id, stored.note, "repeat", None, stored.status)
        found.append(entry or replace(made[source.id], kind="repeat", decision=None))
    return found


@dataclass
class Draft:
    """A note that sources of the batch join: what it comes from so far, and its keywords."""

    found: Found | None
    turns: list[tuple[Source, Source | None]]
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    constructed_by: str
    text: Text
    said_at: datetime


@dataclass
class Batch:
    """Plans what becomes of a batch; `pending` are the notes that some of its sources have already, by source."""

    db: Database
    scope: Scope
    seen: Seen
    now: datetime
    embedder: CheckedEmbedder
    max_keywords: int
    thresholds: Mapping[str, float]
    pending: Mapping[str, Found] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start with nothing planned."""
        self._transaction = Transaction(self.scope, self.seen.version, self.now, self.seen.keywords.values())
        self._drafts: dict[str, Draft] = {}
        self._entries: dict[str, Entry] = {}
        self._decisions: dict[str, str] = {}
        self._joined: list[tuple[str, Revision, Text]] = []

    def write(self, candidates: Sequence[Candidate], verdicts: Sequence[Verdict]) -> dict[str, Entry]:
        """Write it; return the entry of each candidate's source. Raises Stale, with nothing written."""
        self._load(verdicts)
        corrected = self._corrected(candidates, verdicts)
        quoting = self._without(candidates, corrected)
        for place, (candidate, verdict) in enumerate(zip(quoting, verdicts, strict=True)):
            self._decide(candidate, verdict, place)
        self._embed()
        self._rewrite(corrected)
        self._transaction.commit(self.db)
        return self._entries

    def _load(self, verdicts: Iterable[Verdict]) -> None:
        """Read the stored notes that the batch changes."""
        targets = {verdict.target for verdict in verdicts if verdict.target}
        for one in note_graph.renderings(self.db, self.scope.name, sorted(targets)):
            note = one.found.note
            self._drafts[note.id] = Draft(
                one.found,
                [(turn.source, turn.previous) for turn in one.turns],
                note.keywords,
                note.tags,
                one.found.constructed_by,
                Text(note.raw, note.context),
                note.valid_from,
            )

    def _corrected(self, candidates: Sequence[Candidate], verdicts: Sequence[Verdict]) -> dict[str, str]:
        """Return the sources of all that is superseded, which no context repeats from now on, with what replaces it."""
        by = {
            verdict.target: note_id(self.scope.name, candidate.source.id)
            for candidate, verdict in zip(candidates, verdicts, strict=True)
            if verdict.kind == "supersede"
        }
        sources = {source.id: note for note, draft in self._drafts.items() for source, _ in draft.turns}
        for candidate, verdict in zip(candidates, verdicts, strict=True) if by else ():
            joins = verdict.kind in ("merge", "reinforce")
            sources[candidate.source.id] = verdict.target if joins else note_id(self.scope.name, candidate.source.id)
        return {source: by[note] for source, note in sources.items() if note in by}

    def _without(self, candidates: Sequence[Candidate], corrected: Mapping[str, str]) -> list[Candidate]:
        """Take the words of what is superseded out of the local contexts of the batch."""
        for draft in self._drafts.values() if corrected else ():
            draft.turns = [
                (turn, None if before and before.id in corrected else before) for turn, before in draft.turns
            ]
        found = list(candidates)
        quoting = [place for place, one in enumerate(candidates) if one.before and one.before.id in corrected]
        for place in quoting:
            one = found[place] = replace(candidates[place], before=None)
            if not one.constructed_by:
                context = render([(one.source, None)], self.seen.language).context
                vector = None
                if one.context_vector is not None:
                    (vector,) = self.embedder.embed_documents([context])
                terms = tokenize(context, self.seen.language)
                found[place] = replace(one, context=context, context_terms=terms, context_vector=vector)
        return found

    def _rewrite(self, corrected: Mapping[str, str]) -> None:
        """Take the words of what is superseded out of the stored contexts that quote them."""
        for note in dict.fromkeys(corrected.values()):
            hidden = dict.fromkeys(source for source, by in corrected.items() if by == note)
            contexts.rewrite(
                self.db,
                self._transaction,
                self._decisions[note],
                contexts.Turns.after(self.db, self.scope.name, hidden),
                language=self.seen.language,
                embedder=self.embedder,
                without=[joined for joined, *_ in self._joined],
            )

    def _decide(self, candidate: Candidate, verdict: Verdict, place: int) -> None:
        source, waiting = candidate.source, self.pending.get(candidate.source.id)
        own = note_id(self.scope.name, source.id)
        joins = verdict.kind in ("merge", "reinforce")
        note = verdict.target if joins else "" if verdict.kind == "discard" else own
        decision = self._transaction.decide(
            Decision(
                id=uuid4().hex,
                kind=verdict.kind,
                at=self.now,
                note=note,
                sources=() if waiting else (source.id,),
                considered=verdict.considered,
                evidence=verdict.evidence,
                thresholds=self.thresholds,
                model=verdict.model,
                cost=verdict.cost,
            )
        )
        if not waiting:
            self._transaction.store(candidate)
        if joins:
            self._join(candidate, verdict, decision)
        elif verdict.kind != "discard":
            self._make(candidate, verdict, decision, place, waiting)
        if waiting and (joins or not note):
            self._transaction.retire(waiting, decision.id)
        status = {"defer": "pending", "discard": "none"}.get(verdict.kind, "active")
        self._entries[source.id] = Entry(source.id, note, verdict.kind, decision.id, status)

    def _make(
        self, candidate: Candidate, verdict: Verdict, decision: Decision, place: int, waiting: Found | None
    ) -> None:
        """Make a note of its own, or construct the one that waits."""
        # a millisecond apart, so that listing by time keeps the order in which they came
        created = self.now + timedelta(milliseconds=place)
        status = "pending" if verdict.kind == "defer" else "active"
        new = NewNote(decision.note, decision.id, candidate, self.now, created, status)
        said_at = waiting.note.said_at if waiting else candidate.source.said_at or self.now
        if waiting:
            self._transaction.name(candidate.keywords)
            begins = min(said_at, candidate.valid_from or said_at)
            properties = {**texts_of(candidate), "status": "active", "valid_from": begins}
            names = tuple(keyword.name for keyword in candidate.keywords)
            vectors = candidate.raw_vector, candidate.context_vector
            self._transaction.revise(
                waiting, Revision(decision.note, decision.id, properties, "changed", *vectors, names)
            )
        else:
            self._transaction.create(new)
        tags = tuple(sorted({*candidate.source.tags, *metadata_tags(candidate.source.metadata)}))
        self._drafts[decision.note] = Draft(
            waiting,
            [(candidate.source, candidate.before)],
            tuple(keyword.name for keyword in candidate.keywords),
            tags,
            candidate.constructed_by,
            Text((candidate.raw,), candidate.context),
            said_at,
        )
        for tie in verdict.ties:
            if tie.note != decision.note:
                self._transaction.relate(Relation(decision.note, tie.note, tie.kind, tie.score, decision.id))
        if verdict.kind == "supersede":
            self._decisions[decision.note] = decision.id
            self._supersede(said_at, verdict.target, decision)

    def _supersede(self, said_at: datetime, old: str, decision: Decision) -> None:
        """End the truth of the old note where that of the new one begins."""
        draft = self._drafts[old]
        ends = max(said_at, draft.said_at)
        properties = {"status": "superseded", "valid_to": ends}
        self._transaction.revise(draft.found, Revision(old, decision.id, properties, "superseded"))
        self._transaction.relate(Relation(decision.note, old, "supersede", 1.0, decision.id))

    def _join(self, candidate: Candidate, verdict: Verdict, decision: Decision) -> None:
        """Let a source join a note: with its text (merge), or as one more witness of it (reinforce)."""
        source, draft = candidate.source, self._drafts[verdict.target]
        text = self._joint(draft, candidate, verdict)
        draft.turns.append((source, candidate.before))
        if verdict.kind == "merge":
            written = verdict.model if verdict.context else ""
            draft.constructed_by = draft.constructed_by or candidate.constructed_by or written
        if verdict.kind == "reinforce" and text == draft.text:
            self._transaction.revise(draft.found, Revision(verdict.target, decision.id, {}, adds=(source.id,)))
            return
        draft.text = text
        names = dict.fromkeys((*draft.keywords, *(keyword.name for keyword in candidate.keywords)))
        draft.keywords = tuple(names)[: self.max_keywords]
        draft.tags = tuple(sorted({*draft.tags, *source.tags, *metadata_tags(source.metadata)}))
        self._transaction.name(k for k in candidate.keywords if k.name in draft.keywords)
        properties = {
            "raw": list(text.raw),
            "context": text.context,
            "raw_terms": " ".join(tokenize(text.spoken, self.seen.language)),
            "context_terms": " ".join(tokenize(text.context, self.seen.language)),
            "tags": list(draft.tags),
            "constructed_by": draft.constructed_by,
        }
        revision = Revision(verdict.target, decision.id, properties, keywords=draft.keywords, adds=(source.id,))
        self._joined.append((verdict.target, revision, text))
        self._transaction.revise(draft.found, revision)
        for tie in verdict.ties:
            self._transaction.relate(Relation(verdict.target, tie.note, tie.kind, tie.score, decision.id))

    def _joint(self, draft: Draft, candidate: Candidate, verdict: Verdict) -> Text:
        """Return the texts of a note with what joins it; what the user wrote stays, and so does a model's context."""
        language, merges, source = self.seen.language, verdict.kind == "merge", candidate.source
        text = render([*draft.turns, (source, candidate.before)], language)
        if draft.constructed_by == USER:
            text = replace(text, raw=(*draft.text.raw, candidate.raw) if merges else draft.text.raw)
        if not merges:
            return replace(text, context=draft.text.context) if draft.constructed_by else text
        if not (draft.constructed_by or candidate.constructed_by or verdict.context):
            return text
        # never rendered anew from here on, so it repeats no other turn, which may be deleted later
        old = draft.text if draft.constructed_by else render([(turn, None) for turn, _ in draft.turns], language)
        new = candidate if candidate.constructed_by else render([(source, None)], language)
        return replace(text, context=verdict.context or f"{old.context} {new.context}")

    def _embed(self) -> None:
        """Embed all merged texts in one call, and put the vectors into the transaction."""
        texts = list(dict.fromkeys(t for _, _, text in self._joined for t in (text.spoken, text.context)))
        vectors = dict(zip(texts, self.embedder.embed_documents(texts), strict=True)) if texts else {}
        for _, revision, text in self._joined:
            done = replace(revision, raw_vector=vectors[text.spoken], context_vector=vectors[text.context])
            self._transaction.replace(revision, done)
