"""Take a decision back: what it created leaves, what it changed is as it was before. Or a single tie: both notes stay.

Decisions, former versions and recorded times stay: what was believed in between can still be asked for. What was taken
for replaced is found again once its tie is taken back, and what an assistant repeated of it loses its tie with it. Ties
are kept as UNTIED: the gate does not make them again, and an undo can bring them back.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput, NotFound, UndoRefused
from memgraph_engine.graph import decisions, notes, scopes, sources
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.decisions import Tied
from memgraph_engine.graph.notes import QUOTABLE, SUMMARY, Found, Gathered, Revision
from memgraph_engine.lifecycle.policies import Life, life_of
from memgraph_engine.model.memory import NEVER, Key, Note, Source
from memgraph_engine.model.result import Decision
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing import change, contexts, summaries
from memgraph_engine.writing.commit import Stale, retried
from memgraph_engine.writing.lives import keywords, part
from memgraph_engine.writing.transaction import Transaction

_MARKING = ("update", "change", "conflict")
_TOUCHED = ("created", "changed", "superseded", "retired")


def undo(engine: Engine, scope: Scope, id: str, *, cascade: bool = False) -> Decision:
    """Take a decision back, with `cascade` after all later ones that touched what it made; raises UndoRefused."""
    known: list[str] | None = None
    why: UndoRefused | None = None
    while True:
        try:
            return _undo(engine, scope, id)
        except UndoRefused as refused:
            found = later(engine.db, scope, id) if cascade else []  # refused too if it can't be undone
            if not cascade or found == known:
                raise (why or refused) from None
            known = found
        for other in found:
            try:
                undo(engine, scope, other, cascade=True)
            except UndoRefused as refused:  # or somebody else was faster
                why = refused


def later(db: Database, scope: Scope, id: str) -> list[str]:
    """Return the decisions that touched, since this one, a note that it created or changed: newest first."""
    check(db, scope, id)
    about = (one for one in notes.gathered(db, scope.name, id) if one.role in _TOUCHED)
    found = {other: None for one in about for other, _ in one.later}
    made = [decision for other in found if (decision := decisions.find(db, scope.name, other))]
    return [one.id for one in sorted(made, key=lambda one: (one.version, one.place), reverse=True)]


def check(db: Database, scope: Scope, id: str) -> Decision:
    """Return a decision that can be undone; raises NotFound or UndoRefused."""
    decision = decisions.find(db, scope.name, id)
    state = scopes.state(db, scope.name)
    since = state.decisions_since if state else None
    if not decision:
        pruned = (
            f" Decisions from before {since:%Y-%m-%d} by which nothing stands any more were pruned." if since else ""
        )
        raise NotFound(f"There is no decision {id!r} in the memory of {scope}.{pruned}")
    if since and decision.at < since:
        raise UndoRefused(
            f"Decision {id} of {scope} can't be undone any more: it is from before {since:%Y-%m-%d}, and later ones "
            "that stood on it may have been pruned (the setting lifecycle.decisions_days)."
        )
    if decision.undone_by:
        raise UndoRefused(f"Decision {id} of {scope} is undone already, by {decision.undone_by}.")
    if decision.kind == "erase" or decision.scrubbed_by:
        by = decision.scrubbed_by or id
        raise UndoRefused(
            f"Decision {id} of {scope} is about what was erased (erasure {by}); nothing brings that back."
        )
    if decision.kind == "render":
        raise UndoRefused(f"Decision {id} of {scope} rendered contexts as this version does; it changed no words.")
    if decision.kind == "undo":
        raise UndoRefused(f"Decision {id} of {scope} is itself an undo, of {decision.undoes}. Add or change anew.")
    if decision.kind == "untie" and not decisions.untied(db, scope.name, id):
        raise UndoRefused(
            f"Decision {id} of {scope} took back a tie that is gone: the decision that made it, or one of its notes, "
            "was undone since."
        )
    return decision


@retried
def _undo(engine: Engine, scope: Scope, id: str) -> Decision:
    """Undo one decision; raises UndoRefused where a later one touched what it made."""
    db, transaction = engine.db, Transaction.begin(engine, scope)
    undone = check(db, scope, id)
    about = _first(notes.gathered(db, scope.name, id))
    touched = {other: kind for one in about for other, kind in one.later}
    if touched:
        named = ", ".join(f"{kind} {other}" for other, kind in sorted(touched.items()))
        raise UndoRefused(
            f"Decision {id} of {scope} can't be undone alone: later ones changed what it made ({named}). "
            "Undo those first, or with cascade."
        )
    if any(one.role != "created" and one.before is None for one in about):
        raise UndoRefused(
            f"Decision {id} of {scope} can't be undone: the former version of a note that it changed was pruned, since "
            "it is older than the setting lifecycle.past_days allows."
        )
    if any(note.note.erase_at <= db.alive() for one in about for note in (one.before, one.now) if note):
        raise UndoRefused(
            f"Decision {id} of {scope} is about what is to be erased by its policy; it comes back no more."
        )
    decision = transaction.decide("undo", undone.note, evidence=_evidence(undone), undoes=id)
    _Undoing(transaction, undone, decision).run(about)
    transaction.commit()
    return decision


def _evidence(undone: Decision) -> str:
    """Say what is taken back, and how to have a message without the mark that it set on another note."""
    marked = next((one.note for one in undone.considered if one.relation in _MARKING), "")
    if undone.kind not in ("link", "supersede") or not marked:
        return f"Takes back {undone.kind}."
    return (
        f"Takes back {undone.kind}, and the message that it stored. If only what it says of note {marked} is wrong, "
        "add the message again, and untie the two notes."
    )


def _first(about: Iterable[Gathered]) -> list[Gathered]:
    """Return the first that a decision did to each note: taken back, it takes back what the decision did after it."""
    found: dict[str, Gathered] = {}
    for one in about:
        if one.role in _TOUCHED:
            found.setdefault(one.id, one)
    return list(found.values())


class _Undoing:
    """One undo, planned step by step."""

    def __init__(self, transaction: Transaction, undone: Decision, decision: Decision) -> None:
        self._db, self._transaction, self._undone, self._decision = transaction.db, transaction, undone, decision
        self._repeatable: dict[Key, Source | None] = {}
        self._apart: dict[str, frozenset[str]] = {}

    def run(self, about: Sequence[Gathered]) -> None:
        """Plan it all."""
        created = [one for one in about if one.role == "created"]
        changed = [one for one in about if one.role != "created"]
        # what a note tells of a profile it tells on; what a program set came with the decision
        leaving = () if self._undone.kind == "profile" and self._undone.note else self._undone.sources
        for one in about:
            for operation in ("cut", "weaken"):
                self._transaction.put(operation, note=one.id, decision=self._undone.id)
        self._transaction.put("retie", untied_by=self._undone.id, decision=self._decision.id)
        for one in created:
            self._leave(one)
        for one in changed:
            self._repeat(one)
        for source in leaving:
            self._transaction.leave(source)
        former = self._former(changed)
        before, after = self._around(former, leaving)
        self._apart = self._kept_apart(changed)
        for one in changed:
            if one.role == "retired":
                self._reinstate(one, before)
            else:
                self._restore(one, before)
        retold = self._retell(changed)
        parted, returned = [one.id for one in created], [one.id for one in changed]
        for text in former.values():
            self._transaction.rewrite(sources.joined(text), sources.cuts(text), parted=parted, returned=returned)
        contexts.rewrite(self._transaction, self._decision.id, after, [*(one.id for one in about), *retold])

    def _retell(self, changed: Sequence[Gathered]) -> list[str]:
        """Let nothing tell what is kept apart again; return the notes that get another context."""
        parted = defaultdict[str, list[Note]](list)
        for one in changed:
            if one.before and one.now and one.before.note.apart not in (None, one.now.note.apart):
                parted[one.before.note.apart].append(one.before.note)
        without = [one.id for one in changed]
        return part(self._transaction, self._decision.id, parted, self._repeatable, without)

    def _former(self, changed: Sequence[Gathered]) -> dict[Key, list[Source]]:
        """Return the passages of the sources that had another text before, by the last passage of now."""
        hashes = {source.id: source.hash for one in changed if one.before for source in one.before.note.sources}
        db, scope = self._db, self._transaction.scope.name
        seen = sources.look_up(db, scope, sorted(hashes), [], []) if hashes else None
        known = seen.known if seen else {}
        return {
            sources.passages(db, scope, id)[-1].key: sources.passages(db, scope, id, was)
            for id, was in hashes.items()
            if id in known and known[id].hashes[0] != was
        }

    def _around(
        self, former: Mapping[Key, Sequence[Source]], leaving: Collection[str]
    ) -> tuple[contexts.Turns, contexts.Turns]:
        """Return what is around the sources that change, for notes as they were before, and for those that stand after.

        A text that comes back has its former passages, and what stands after it quotes the last one of these.
        """
        last = {now: self._repeatable.get(before[-1].key) for now, before in former.items()}
        scope = self._transaction.scope.name
        turns = contexts.Turns.after(self._db, scope, {**last, **self._repeatable}, leaving)
        inside = {
            after.key: sources.Around(None, before.key, ())
            for passages in former.values()
            for before, after in pairwise(passages)
        }
        own = {key: self._repeatable.get(key) for key in last}
        before = contexts.Turns({**turns.around, **inside}, {**turns.now, **own})
        return before, contexts.Turns(turns.around, {**turns.now, **last})

    def _leave(self, one: Gathered) -> None:
        if not one.now:  # retired by a decision that was made while this was read
            raise Stale
        self._transaction.retire(one.now, self._decision.id)
        self._repeatable |= dict.fromkeys(source.key for source in one.now.note.sources)

    def _repeat(self, one: Gathered) -> None:
        """Let contexts repeat the sources of a note again, or no more."""
        assert one.before
        life = self._life(one.before)
        for source in one.before.note.sources:
            living = replace(source, **life.properties)
            quotable = one.before.note.status in QUOTABLE
            # what is archived again is told by its summary, which may be restored as well
            self._repeatable[source.key] = living if quotable else self._repeatable.get(source.key)

    def _life(self, before: Found) -> Life:
        """Return the life of a note that is as it was before; what had expired begins anew."""
        if self._undone.kind == "expire":
            policies, now = self._transaction.engine.policies, self._transaction.now
            return replace(policies.anew(before.note, now), apart=before.note.apart)
        return life_of(before.note)

    def _reinstate(self, one: Gathered, turns: contexts.Turns) -> None:
        assert one.before
        self._name(one.before)
        self._transaction.reinstate(one.before, self._undone.id, self._decision.id)
        context = self._context(one.before, turns)
        if context != one.before.note.context:
            properties = contexts.terms_of(context, one.before.note.sources, self._transaction.language)
            self._transaction.revise(one.before, Revision(one.id, self._decision.id, properties, "rewritten"))

    def _restore(self, one: Gathered, turns: contexts.Turns) -> None:
        """Give a note the content and status that it had before."""
        before, now = one.before, one.now
        assert before  # a change has both
        assert now
        before = self._local(before)
        context = self._context(before, turns)
        archived = before.note.status == "archived"
        properties: dict[str, Any] = {
            "raw": list(before.note.raw),
            "raw_terms": before.raw_terms,
            **contexts.terms_of(context, before.note.sources, self._transaction.language),
            "status": before.note.status,
            "tags": list(before.note.tags),
            **{name: getattr(before.note, name) for name in ("session", "seq", "speaker", "role")},
            "agent_id": before.note.agent,
            "said_at": before.note.said_at,
            "valid_from": before.note.valid_from,
            "valid_to": before.note.valid_to,
            "constructed_by": before.constructed_by,
            "keywords": list(before.note.keywords) if archived else None,  # an archived note has them by name
            "pinned": before.note.pinned,
            "policy_as": before.note.policy_as or None,
            **self._life(before).properties,
        }
        begins = self._transaction.now if self._undone.kind == "expire" else None
        for source in before.note.sources:  # one that waits again has no class by a model yet
            asked = source.policy_by and before.note.status == "pending"
            self._transaction.live([source.id], begins, replace(source, policy_as="", policy_by="") if asked else None)
        names = None if before.note.keywords == now.note.keywords else before.note.keywords
        if archived:
            names = ()
        if names:
            self._name(before)
        kept, told = ({source.key for source in one.note.sources} for one in (before, now))
        if before.note.sums:  # it has none of its own
            kept = told
        drops, adds = tuple(sorted(told - kept)), tuple(sorted(kept - told))
        vectors = before.raw_vector, before.context_vector if context == before.note.context else None
        sums = None if before.note.sums == now.note.sums else before.note.sums
        self._transaction.revise(
            now,
            Revision(one.id, self._decision.id, properties, "changed", *vectors, names, adds, drops, archived, sums),
        )

    def _kept_apart(self, changed: Sequence[Gathered]) -> dict[str, frozenset[str]]:
        """Return with which classes turns of sessions are kept apart, where contexts come back that a model wrote."""
        notes_before = [one.before for one in changed if one.before]
        sessions = {
            source.session for one in notes_before if one.by_model for source in one.note.sources if source.session
        }
        if not sessions:
            return {}
        own = {source.id: (source.session, one.note.apart) for one in notes_before for source in one.note.sources}
        given = {"sessions": sorted(sessions), "without": sorted(own)}
        rows = self._db.run("sources/apart", scope=self._transaction.scope.name, **given)
        found = {row["session"]: frozenset(row["classes"]) for row in rows}
        for session, apart in own.values():
            if apart:
                found[session] = found.get(session, frozenset()) | {apart}
        return found

    def _local(self, before: Found) -> Found:
        """Return a note as it was before, without what a chat model wrote where turns are kept apart by now."""
        others = {name for one in before.note.sources for name in self._apart.get(one.session, ())}
        if not before.by_model or others <= {before.note.apart}:
            return before
        if not before.note.sums:
            return replace(before, constructed_by="")
        note = replace(before.note, context=summaries.local(before.note, self._transaction.language))
        return replace(before, note=note, constructed_by=SUMMARY, context_vector=None)

    def _context(self, before: Found, turns: contexts.Turns) -> str:
        """Return the context of a note as it was before, without the turns that were deleted or corrected since."""
        return before.note.context if before.constructed_by else turns.context(before, self._transaction.language)

    def _name(self, found: Found) -> None:
        """Store the keywords that a note gets back: those that no other note carried meanwhile are gone."""
        self._transaction.name(keywords(self._transaction, found.note.keywords))


@retried
def untie(engine: Engine, scope: Scope, *ids: str) -> Decision:
    """Take back the tie between two notes; raises InvalidInput, NotFound or UndoRefused."""
    db, transaction = engine.db, Transaction.begin(engine, scope)
    one, other = (_tied_note(db, scope, id) for id in ids)
    if one.id == other.id:
        raise InvalidInput(f"{ids[0]!r} and {ids[1]!r} are the same note, {one.id}: give the two notes of a tie.")
    ties = _ties(db, scope, one, other)
    ties += [echoed for tie in ties for echoed in _echoes(db, scope, tie)]
    why = " ".join(f"Takes back a tie of the kind {tie.kind}, from {tie.newer} to {tie.older}." for tie in ties)
    decision = transaction.decide("untie", evidence=why)
    for newer, older in dict.fromkeys((tie.newer, tie.older) for tie in ties):
        transaction.put("untie", newer=newer, older=older, decision=decision.id)
    for tie in ties:
        if tie.kind == "supersede":
            _bring_back(transaction, decision.id, tie.older)
    transaction.commit()
    return decision


def _tied_note(db: Database, scope: Scope, id: str) -> Note:
    """Return a note that is not deleted; one that was replaced is as good as any."""
    found = notes.find(db, scope.name, id)
    if not found:
        raise NotFound(f"There is no note {id!r} in the memory of {scope}.")
    if found.note.status == "deleted":
        raise NotFound(
            f"{id!r} of {scope} is deleted, and its ties with it. Its `history` names the decision; undo that first."
        )
    return found.note


def _ties(db: Database, scope: Scope, one: Note, other: Note) -> list[Tied]:
    """Return the ties between two notes, of which there is at least one."""
    known = decisions.between(db, scope.name, one.id, other.id)
    ties = [tie for tie in known if not tie.untied_by]
    if ties:
        return ties
    between = f"between notes {one.id} and {other.id} of {scope}"
    if known:
        raise UndoRefused(f"The tie {between} is taken back already, by {known[0].untied_by}.")
    raise NotFound(f"There is no tie {between}. `explain` lists the ties of a note.")


def _echoes(db: Database, scope: Scope, tie: Tied) -> list[Tied]:
    """Return the ties to what only repeated the note that was taken for changed."""
    judged = (seen for made in decisions.of_note(db, scope.name, tie.newer) for seen in made.considered)
    repeated = dict.fromkeys(seen.note for seen in judged if seen.follows == tie.older)
    known = (decisions.between(db, scope.name, tie.newer, note) for note in repeated)
    return [one for some in known for one in some if one.newer == tie.newer and not one.untied_by]


def _bring_back(transaction: Transaction, decision: str, note: str) -> None:
    """Let a note that was replaced hold again, as its sources tell it now; contexts may quote it again."""
    db, scope = transaction.db, transaction.scope
    (found,) = notes.renderings(db, scope.name, [note])
    turns = [(turn.source, turn.previous) for turn in found.turns]
    if not turns:
        raise UndoRefused(
            f"Note {note} of {scope} can't be brought back: its message no longer says it. "
            "Its `history` names the update that took it out; undo that first."
        )
    holds = {**change.retold(transaction, found.found, turns), "status": "active", "valid_to": NEVER}
    transaction.revise(found.found, Revision(note, decision, holds))
    contexts.follow(transaction, decision, {source.key: source for source, _ in turns}, without=[note])
