"""Write a batch of candidates as the verdicts on them say: each input one decision, all in one transaction.

A long message comes as several candidates, a passage each. It is one input, so one decision holds all verdicts on it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from types import MappingProxyType

from memgraph_engine.cost import NOTHING
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import SourceConflict
from memgraph_engine.gate.verdict import Verdict
from memgraph_engine.graph import notes as note_graph
from memgraph_engine.graph.notes import USER, Found, NewNote, Relation, Revision, tags_of, texts_of
from memgraph_engine.graph.sources import Known, Seen
from memgraph_engine.ingest.profiling import Profiled
from memgraph_engine.language.terms import tokenize
from memgraph_engine.lifecycle.policies import Life, life_of, quoted
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import MOST_KEYWORDS, Key, Source
from memgraph_engine.model.result import Decision, Entry, EntryKind, PassageEntry
from memgraph_engine.model.scope import Scope
from memgraph_engine.rendering.context import Text, render
from memgraph_engine.writing import contexts
from memgraph_engine.writing.profile import change_profile
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
        f"Source {source.id!r} {how} with another content (text, speaker, role, session, time, caption or trust). "
        "Nothing was written with it. update changes what is stored; another id stores it beside."
    )


def entries(given: Sequence[Source], made: Iterable[Entry], known: Mapping[str, Known]) -> list[Entry]:
    """Return an entry for each given source, in order: what was made of it, or that it is known."""
    by_source = {entry.source: entry for entry in made}
    fresh, found = dict(by_source), []
    for source in given:
        entry = fresh.pop(source.id, None)
        if not entry and source.id in known:
            stored = known[source.id].notes or (("", "none"),)
            entry = _entry(source.id, None, [PassageEntry(note, "repeat", status) for note, status in stored])
        if not entry:
            passages = tuple(replace(one, kind="repeat") for one in by_source[source.id].passages)
            entry = replace(by_source[source.id], kind="repeat", decision=None, passages=passages)
        found.append(entry)
    return found


_KINDS: Sequence[EntryKind] = ("defer", "supersede", "link", "append", "merge", "reinforce", "discard", "repeat")
"""What may become of a passage; the first of these that happened is what became of the message."""


def _entry(source: str, decision: str | None, passages: Sequence[PassageEntry]) -> Entry:
    """Return the entry of an input by what became of its passages, or of all of it."""
    lead = min(passages, key=lambda one: _KINDS.index(one.kind))
    several = tuple(passages) if len(passages) > 1 else ()
    return Entry(source, lead.note, lead.kind, decision, lead.status, several)


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
    life: Life


@dataclass(frozen=True, slots=True)
class _Judged:
    """A candidate with its verdict, the id of the note that it would make, and its place in the batch."""

    candidate: Candidate
    verdict: Verdict
    own: str
    place: int

    @property
    def source(self) -> Source:
        return self.candidate.source

    @property
    def joins(self) -> bool:
        return self.verdict.kind in ("merge", "reinforce")

    @property
    def note(self) -> str:
        """The note that holds it from now on, '' for none."""
        return self.verdict.target if self.joins else "" if self.verdict.kind == "discard" else self.own

    @property
    def entry(self) -> PassageEntry:
        status = {"defer": "pending", "discard": "none"}.get(self.verdict.kind, "active")
        return PassageEntry(self.note, self.verdict.kind, status)


@dataclass
class Batch:
    """Plans what becomes of a batch; `pending` are the notes that some of its passages have already."""

    engine: Engine
    scope: Scope
    seen: Seen
    pending: Mapping[Key, Found] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start with nothing planned."""
        self._transaction = Transaction(self.engine, self.scope, self.seen, self.seen.keywords.values())
        self._of_sessions = self.engine.policies.of_sessions(self._transaction.now)
        self._drafts: dict[str, Draft] = {}
        self._decisions: dict[str, str] = {}
        self._joined: list[str] = []
        self._told: Mapping[Key, Profiled] = {}

    def write(
        self,
        candidates: Sequence[Candidate],
        verdicts: Sequence[Verdict],
        told: Mapping[Key, Profiled] = MappingProxyType({}),
    ) -> list[Entry]:
        """Write it; return an entry for each input, or note that was pending. Raises Stale, with nothing written.

        `told` is what some of them tell of profiles.
        """
        self._told = told
        self._load(verdicts)
        corrected = self._corrected(candidates, verdicts)
        judged = [
            _Judged(candidate, verdict, candidate.note(self.scope.name), place)
            for place, (candidate, verdict) in enumerate(
                zip(self._without(candidates, corrected), verdicts, strict=True)
            )
        ]
        made = [self._decide(some) for some in self._inputs(judged)]
        self._rewrite(corrected)
        self._transaction.commit()
        return made

    def _inputs(self, judged: Iterable["_Judged"]) -> Iterator[Sequence["_Judged"]]:
        """Yield the passages of each message together; what waits was decided on when it came, and stands alone."""
        for _, some in groupby(judged, lambda one: one.source.key if one.source.key in self.pending else one.source.id):
            yield list(some)

    def _load(self, verdicts: Iterable[Verdict]) -> None:
        """Read the stored notes that the batch changes."""
        targets = {verdict.target for verdict in verdicts if verdict.target}
        for one in note_graph.renderings(self.engine.db, self.scope.name, sorted(targets)):
            note = one.found.note
            self._drafts[note.id] = Draft(
                one.found,
                [(turn.source, turn.previous) for turn in one.turns],
                note.keywords,
                note.tags,
                one.found.constructed_by,
                Text(note.raw, note.context),
                note.valid_from,
                life_of(note),
            )

    def _corrected(self, candidates: Sequence[Candidate], verdicts: Sequence[Verdict]) -> dict[Key, str]:
        """Return the sources of all that is superseded, which no context repeats from now on, with what replaces it."""
        by = {
            verdict.target: candidate.note(self.scope.name)
            for candidate, verdict in zip(candidates, verdicts, strict=True)
            if verdict.kind == "supersede"
        }
        sources = {source.key: note for note, draft in self._drafts.items() for source, _ in draft.turns}
        for candidate, verdict in zip(candidates, verdicts, strict=True) if by else ():
            joins = verdict.kind in ("merge", "reinforce")
            sources[candidate.source.key] = verdict.target if joins else candidate.note(self.scope.name)
        return {source: by[note] for source, note in sources.items() if note in by}

    def _without(self, candidates: Sequence[Candidate], corrected: Mapping[Key, str]) -> list[Candidate]:
        """Take the words of what is superseded out of the local contexts of the batch."""
        for draft in self._drafts.values() if corrected else ():
            draft.turns = [
                (turn, None if before and before.key in corrected else before) for turn, before in draft.turns
            ]
        found = list(candidates)
        quoting = [place for place, one in enumerate(candidates) if one.before and one.before.key in corrected]
        for place in quoting:
            one = found[place] = replace(candidates[place], before=None)
            if not one.constructed_by:
                context = render([(one.source, None)], self.seen.language).context
                terms = tokenize(context, self.seen.language)
                found[place] = replace(one, context=context, context_terms=terms, context_vector=None)
        return found

    def _rewrite(self, corrected: Mapping[Key, str]) -> None:
        """Take the words of what is superseded out of the stored contexts that quote them."""
        for note in dict.fromkeys(corrected.values()):
            hidden = dict.fromkeys(source for source, by in corrected.items() if by == note)
            contexts.follow(self._transaction, self._decisions[note], hidden, self._joined)

    def _decide(self, judged: Sequence["_Judged"]) -> Entry:
        """Plan what one decision does: on an input, or on a note that waits."""
        waiting = self.pending.get(judged[0].source.key)
        verdicts = [one.verdict for one in judged]
        kind = min((verdict.kind for verdict in verdicts), key=_KINDS.index)
        decision = self._transaction.decide(
            kind,
            judged[0].note if len({one.note for one in judged}) == 1 else "",
            () if waiting else (judged[0].source.id,),
            considered=tuple(replace(seen, part=one.source.part) for one in judged for seen in one.verdict.considered),
            evidence=" ".join(dict.fromkeys(verdict.evidence for verdict in verdicts if verdict.evidence)),
            thresholds=self.engine.settings.gate.thresholds,
            model=next((verdict.model for verdict in verdicts if verdict.model), ""),
            cost=sum((verdict.cost for verdict in verdicts), NOTHING),
        )
        self._arrive(judged, waiting)
        witnesses: defaultdict[str, list[Key]] = defaultdict(list)
        for one in judged:
            if one.joins and not self._join(one.candidate, one.verdict, decision):
                witnesses[one.note].append(one.source.key)
            elif one.note and not one.joins:
                self._make(one, decision, waiting)
            if waiting and one.note != one.own:
                self._transaction.retire(waiting, decision.id)
        for note, adds in witnesses.items():
            tags = {"tags": list(self._drafts[note].tags)}
            self._transaction.revise(self._drafts[note].found, Revision(note, decision.id, tags, adds=tuple(adds)))
        for one in judged:
            if one.note and one.source.key in self._told:
                change_profile(self._transaction, one.source, one.note, self._told[one.source.key])
        return _entry(judged[0].source.id, decision.id, [one.entry for one in judged])

    def _arrive(self, judged: Sequence["_Judged"], waiting: Found | None) -> None:
        """Store an input; of one that was stored while it waited, the class that a model has given it since."""
        source = judged[0].source
        if not waiting:
            self._transaction.store([one.candidate for one in judged])
            if source.session:
                self._transaction.prolong(source.session, self._of_sessions)
        elif source.policy_by:
            self._transaction.live([source.id], given=source)

    def _make(self, judged: "_Judged", decision: Decision, waiting: Found | None) -> None:
        """Make a note of its own, or construct the one that waits."""
        candidate, verdict, note = judged.candidate, judged.verdict, judged.own
        now = self._transaction.now
        # a millisecond apart, so that listing by time keeps the order in which they came
        created = now + timedelta(milliseconds=judged.place)
        status = "pending" if verdict.kind == "defer" else "active"
        new = NewNote(note, decision.id, candidate, now, created, status)
        said_at = waiting.note.said_at if waiting else candidate.source.said_at or now
        if waiting:
            self._transaction.name(candidate.keywords)
            begins = min(said_at, candidate.valid_from or said_at)
            properties = {**texts_of(candidate), "status": "active", "valid_from": begins}
            if candidate.source.policy_by and not waiting.note.policy_as:
                life = life_of(candidate.source)
                properties |= (life.endless if waiting.note.pinned else life).properties
            names = tuple(keyword.name for keyword in candidate.keywords)
            vectors = candidate.raw_vector, candidate.context_vector
            self._transaction.revise(waiting, Revision(note, decision.id, properties, "changed", *vectors, names))
        else:
            self._transaction.create(new)
        tags = tuple(tags_of([candidate.source]))
        self._drafts[note] = Draft(
            waiting,
            [(candidate.source, candidate.before)],
            tuple(keyword.name for keyword in candidate.keywords),
            tags,
            candidate.constructed_by,
            Text((candidate.raw,), candidate.context),
            said_at,
            life_of(candidate.source),
        )
        self._tie(note, verdict, decision)
        if verdict.kind == "supersede":
            self._decisions[note] = decision.id
            old, draft = verdict.target, self._drafts[verdict.target]
            # the truth of the old note ends where that of the new one begins
            ended = {"status": "superseded", "valid_to": max(said_at, draft.said_at)}
            self._transaction.revise(draft.found, Revision(old, decision.id, ended, "superseded"))
            self._transaction.relate(Relation(note, old, "supersede", 1.0, decision.id))

    def _join(self, candidate: Candidate, verdict: Verdict, decision: Decision) -> bool:
        """Let a source join a note with its text; tell whether it has one, or is one more witness of the note's."""
        source, draft = candidate.source, self._drafts[verdict.target]
        renewed = source.expires_at > draft.life.expires_at
        draft.life = life_of(source) if renewed else draft.life
        text = self._joint(draft, candidate, verdict)
        draft.turns.append((source, candidate.before))
        draft.tags = tuple(sorted({*draft.tags, *tags_of([source])}))
        if verdict.kind == "merge":
            written = verdict.model if verdict.context else ""
            draft.constructed_by = draft.constructed_by or candidate.constructed_by or written
        if verdict.kind == "reinforce" and text == draft.text and not renewed:
            return False
        draft.text = text
        names = dict.fromkeys((*draft.keywords, *(keyword.name for keyword in candidate.keywords)))
        draft.keywords = tuple(names)[:MOST_KEYWORDS]
        self._transaction.name(k for k in candidate.keywords if k.name in draft.keywords)
        properties = {
            **contexts.texts_of(text, (), self.seen.language),
            "tags": list(draft.tags),
            "constructed_by": draft.constructed_by,
            **(draft.life.properties if renewed else {}),
        }
        if renewed:
            self._transaction.live(one.id for one, _ in draft.turns)
        revision = Revision(verdict.target, decision.id, properties, keywords=draft.keywords, adds=(source.key,))
        self._joined.append(verdict.target)
        self._transaction.revise(draft.found, revision)
        self._tie(verdict.target, verdict, decision)
        return True

    def _tie(self, note: str, verdict: Verdict, decision: Decision) -> None:
        """Tie a note to others, from the newer to the older."""
        for tie in verdict.ties:
            if tie.note != note:
                ends = tie.between(note)
                self._transaction.relate(Relation(*ends, tie.kind, tie.score, decision.id, tie.former))

    def _joint(self, draft: Draft, candidate: Candidate, verdict: Verdict) -> Text:
        """Return the texts of a note with what joins it; what the user wrote stays, and so does a model's context."""
        language, merges, source = self.seen.language, verdict.kind == "merge", candidate.source
        every = (*draft.turns, (source, candidate.before))
        turns = [(turn, quoted(before, turn, draft.life)) for turn, before in every]
        text = render(turns, language)
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
