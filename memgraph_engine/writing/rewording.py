"""Give a message another text, passage by passage: what it still says keeps its notes.

The passages of both texts are compared. One that stays keeps its note; one in whose place another stands changes it. A
passage that is gone leaves its note, which is deleted unless others tell it too. A new passage makes a note. All of
this is one decision. It makes a new version of each note of the message: so none before it can be undone beneath it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput
from memgraph_engine.graph import notes, sources
from memgraph_engine.graph.notes import NewNote, Rendering, Revision, tags_of, texts_of
from memgraph_engine.ingest.messages import content_hash
from memgraph_engine.ingest.passages import of_message
from memgraph_engine.lifecycle.policies import Life, quoted
from memgraph_engine.model.candidate import Candidate, Placed
from memgraph_engine.model.memory import READABLE, Key, Source, note_id
from memgraph_engine.model.result import Decision
from memgraph_engine.model.scope import Scope
from memgraph_engine.rendering.context import render
from memgraph_engine.writing import change, contexts
from memgraph_engine.writing.construction import Work, construct_alone, tell
from memgraph_engine.writing.lives import unsummed
from memgraph_engine.writing.profile import change_profile
from memgraph_engine.writing.transaction import Transaction


@unsummed
def update(engine: Engine, scope: Scope, id: str, text: str, like: Source | None = None) -> Decision:
    """Give a note, or a message with all of its notes, a new text, and tags and metadata `like` a source's."""
    at = change.target(engine, scope, id)
    if at.source.kind == "item":
        raise InvalidInput(f"{id!r} of {scope} is an item of a store: it is changed there, by its key.")
    text = engine.redaction.text(text, "the text")
    if at.whole:
        with Work.begin(engine, scope) as work:
            return _reword(work, at, text, like)
    changed = replace(at.source, text=text)
    changed = replace(changed, hash=content_hash(engine.policies.as_given(changed)))
    waits = at.found.note.status == "pending"
    (candidate,) = construct_alone(at.transaction, [Placed(changed)], waits=waits)
    if at.found.note.raw == (candidate.raw,) and (made := _by_update(engine, scope, at.found)):
        return made
    return change.update(at, candidate)


def _reword(work: Work, at: change.Target, text: str, like: Source | None) -> Decision:
    """Give a source a new text."""
    engine, scope, language = work.engine, work.scope, at.transaction.language
    old = sources.passages(engine.db, scope.name, at.whole)
    new = replace(sources.joined(old), text=text)
    new = replace(new, tags=like.tags, metadata=like.metadata) if like else new
    new = replace(new, hash=content_hash(engine.policies.as_given(new)))
    told = at.message or at.found.note.raw == render([(new, None)], language).raw
    if told and new.hash == old[0].hash and (made := _by_update(engine, scope, at.found)):
        return made
    if at.found.note.status != "pending":  # else it is read when it is constructed
        for one in tell(work, language, [new]).values():
            change_profile(at.transaction, new, at.found.note.id, one)
    stored = notes.renderings(engine.db, scope.name, [one.note.id for one in at.notes])
    return reword(at.transaction, Reworded(old, of_message(new, engine.settings.passage), stored))


def _by_update(engine: Engine, scope: Scope, found: notes.Found) -> Decision | None:
    """Return the update that made a note what it is, if one did: a text that is given twice is one update."""
    made = notes.history(engine.db, scope.name, found.note.id)[-1].decision
    return made if made and made.kind == "update" else None


@dataclass(frozen=True)
class Reworded:
    """The text of a source before and after, in passages, and its notes in whatever state."""

    old: Sequence[Source]
    new: Sequence[Source]
    told: Sequence[Rendering]

    @property
    def id(self) -> str:
        """The source's id."""
        return self.new[0].id

    @property
    def end(self) -> Key:
        """The last passage of before: what the turn after it may quote."""
        return self.old[-1].key

    @cached_property
    def homes(self) -> Mapping[int, Rendering]:
        """The note of each passage of before that has one."""
        return {turn.source.part: one for one in self.told for turn in one.turns if turn.source.id == self.id}

    @cached_property
    def places(self) -> Mapping[int, int]:
        """From the passages of before to those of after in which their notes live on."""
        return {**self._compared[0], **self._compared[1]}

    @cached_property
    def changed(self) -> Collection[int]:
        """The passages of after that give a note of before another text."""
        return self._compared[1].values()

    @cached_property
    def added(self) -> Collection[int]:
        """The passages of after that make a note."""
        return [part for part in range(len(self.new)) if part not in self.places.values()]

    @cached_property
    def waiting(self) -> Collection[int]:
        """The passages of after whose notes wait for their construction."""
        pending = [one.found.note.status == "pending" for one in self.told]
        homes = [part for part, one in self.homes.items() if one.found.note.status == "pending"]
        waits = [self.places[part] for part in homes if part in self.places]
        return [*waits, *(self.added if any(pending) else ())]

    @cached_property
    def quotable(self) -> Mapping[int, Source]:
        """The passages of after that contexts may repeat."""
        homes = {self.places[part]: one for part, one in self.homes.items() if part in self.places}
        read = {part for part, one in homes.items() if one.found.note.status in READABLE}
        return {part: one for part, one in enumerate(self.new) if part in read or part in self.added}

    @cached_property
    def _compared(self) -> tuple[dict[int, int], dict[int, int]]:
        """Passages that stay, and passages with a note of their own in whose place another stands."""
        stay, change = dict[int, int](), dict[int, int]()
        old, new = ([one.text.strip() for one in some] for some in (self.old, self.new))
        for kind, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            pairs = zip(range(start, end), range(first, last), strict=False)
            if kind == "equal" and max(len(old), len(new)) > 1:
                stay.update(pairs)
            else:
                change.update(pair for pair in pairs if self._alone(pair[0]))
        return stay, change

    def _alone(self, part: int) -> bool:
        """Tell whether a note that can be read tells this passage and nothing else."""
        one = self.homes.get(part)
        return one is not None and one.found.note.status in READABLE and len(one.turns) == 1


def reword(transaction: Transaction, given: Reworded, life: Life | None = None) -> Decision:
    """Give a source another text, and its notes another life if one is given; raises Stale, with nothing written."""
    notes = [one.found.note.id for one in given.told]
    only = notes[0] if len(notes) == 1 and not given.added else ""
    decision = transaction.decide("update", only)
    around = sources.around(transaction.db, transaction.scope.name, [given.id])
    before = [
        quoted(around[given.id, 0].previous, given.new[0]),
        *(given.quotable.get(part) for part in range(len(given.new) - 1)),
    ]
    made = _made(transaction, given, before)
    plan = _Plan(transaction, given, decision.id, before, made, life.properties if life else {})
    parted = [one.found.note.id for one in given.told if not plan.revise(one)]
    plan.add()
    transaction.rewrite(sources.joined(given.new), sources.cuts(given.new), parted=parted)
    contexts.follow(transaction, decision.id, {given.end: plan.end}, notes)
    transaction.commit()
    return decision


def _made(transaction: Transaction, given: Reworded, before: Sequence[Source | None]) -> dict[int, Candidate]:
    """Return candidates of the passages that are worded anew."""
    made: dict[int, Candidate] = {}
    for waits in (False, True):
        some = [part for part in sorted((*given.added, *given.changed)) if (part in given.waiting) == waits]
        placed = [Placed(given.new[part], None, before[part]) for part in some]
        made |= zip(some, construct_alone(transaction, placed, waits=waits), strict=True)
    return made


@dataclass(frozen=True)
class _Plan:
    """What becomes of the notes: `before` are the turns before the passages, `made` are candidates of some of these.

    `life` are the properties of the life that the notes get, none where that stays.
    """

    transaction: Transaction
    given: Reworded
    decision: str
    before: Sequence[Source | None]
    made: Mapping[int, Candidate]
    life: Mapping[str, Any]

    @property
    def end(self) -> Source | None:
        """What the turn after the message may quote."""
        return self.given.quotable.get(len(self.given.new) - 1)

    def revise(self, one: Rendering) -> bool:
        """Make a new version of a note; tell whether it tells anything of what the source says now."""
        given, note = self.given, one.found.note
        old = [turn.source.part for turn in one.turns if turn.source.id == given.id]
        new = [given.places[part] for part in old if part in given.places]
        turns = self._sourced(one)
        if not turns:
            gone = Revision(note.id, self.decision, {"status": "deleted"} if note.status in READABLE else {})
            ended = note.status == "expired"  # and no sweep will find what it told
            self.transaction.revise(one.found, Revision.archived(note.id, self.decision) if ended else gone)
            return False
        candidate = next((self.made[part] for part in new if part in self.made), None)
        properties = self._reworded(one, candidate) if candidate else self._retold(one, turns)
        adds, drops = ({(given.id, part) for part in some} for some in (set(new) - set(old), set(old) - set(new)))
        revision = Revision(
            note.id,
            self.decision,
            {**properties, **self.life},
            raw_vector=candidate.raw_vector if candidate else None,
            context_vector=candidate.context_vector if candidate else None,
            keywords=tuple(keyword.name for keyword in candidate.keywords) if candidate else None,
            adds=tuple(sorted(adds)),
            drops=tuple(sorted(drops)),
        )
        self.transaction.revise(one.found, revision)
        if "raw" in properties and (candidate or drops):
            self.transaction.loosen(self.decision, note.id, None if candidate else {source.id for source, _ in turns})
        return True

    def _sourced(self, one: Rendering) -> change.Sourced:
        """Return what a note is told by from now on."""
        given, turns = self.given, list[tuple[Source, Source | None]]()
        for turn in one.turns:
            if turn.source.id != given.id:
                turns.append((turn.source, self.end if turn.previous_key == given.end else turn.previous))
            elif (part := given.places.get(turn.source.part)) is not None:
                turns.append((given.new[part], self.before[part]))
        return turns

    def _retold(self, one: Rendering, turns: change.Sourced) -> dict[str, Any]:
        if one.found.note.status not in READABLE:
            return {}
        tell = change.remaining if len(turns) < len(one.turns) else change.retold
        return tell(self.transaction, one.found, turns)

    def _reworded(self, one: Rendering, candidate: Candidate) -> dict[str, Any]:
        note = one.found.note
        begins = min(note.said_at, candidate.valid_from or note.said_at)
        self.transaction.name(candidate.keywords)
        properties = {**texts_of(candidate), "valid_from": begins, "role": candidate.source.role}
        if candidate.source.kind == "code":  # its tags are what its text names
            properties["tags"] = tags_of([candidate.source])
        return properties

    def add(self) -> None:
        """Make notes of the new passages, said when the others were."""
        given, now = self.given, self.transaction.now
        said = max(one.found.note.said_at for one in given.told)  # who joins another note joins an older one
        for part in given.added:
            made, status = self.made[part], "pending" if part in given.waiting else "active"
            own = note_id(self.transaction.scope.name, f"{given.id}\0{self.decision}", part)
            created = now + timedelta(milliseconds=part)
            self.transaction.create(NewNote(own, self.decision, made, said, created, status))
