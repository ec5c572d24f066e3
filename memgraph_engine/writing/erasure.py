"""Erase what was remembered, so that nothing of it is left in the graph, and give a receipt that proves it.

An erasure hides first, in one transaction, all that it erases and all that may quote it. Then it makes anew what stays,
removes the rest, some hundreds of notes in a transaction, checks, and writes the receipt. Each step finds what
is left to do by what is hidden, so an erasure that was killed goes on where it was. One of everything sets aside all
that is there in its first transaction, and removes nothing else: what is written from then on stays. It works nothing
out of what it removes, so nothing that is stored can stop it: the words that it looks for at the end are all that it
reads.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from uuid import uuid4

from memgraph_engine.engine.passes import Pass
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import ErasureRefused, Held, InvalidInput, NotFound, named
from memgraph_engine.graph import erasures, keys, notes, retrievals, scopes, usage
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.erasures import Erasure, Meant
from memgraph_engine.graph.notes import USER, Revision, found_from
from memgraph_engine.graph.retrievals import Question
from memgraph_engine.ingest.messages import check_name, check_text
from memgraph_engine.language.terms import DEFAULT_LANGUAGE
from memgraph_engine.model.memory import UNKNOWN_PAST, Source, cut_up, line
from memgraph_engine.model.result import Chosen, ErasurePlan, ErasureReceipt, Hold
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing import contexts, summaries, traces
from memgraph_engine.writing.change import remaining, retold
from memgraph_engine.writing.commit import Stale, retried, until_current
from memgraph_engine.writing.traces import Run, Runs, Traces
from memgraph_engine.writing.transaction import Transaction

_SOME = 200
_ROWS = 1000  # nodes in one transaction
_MOST = 5000  # sources of one erasure by a sweep
_SHOWN = 200  # characters of a source that a plan shows
_QUOTE = 40  # characters of a turn that a context repeats at least


def plan(
    engine: Engine,
    scope: Scope,
    meant: Sequence[Meant],
    version: int,
    rule: str,
    *,
    everything: bool,
    why: Mapping[str, Chosen] = MappingProxyType({}),
    near: Sequence[Meant] = (),
) -> ErasurePlan:
    """Return the plan that erases some sources, as of a version of the scope.

    `why` says for the ids of sources by what a query means them, or is `near` to them.
    """
    ids = sorted({one.id for one in meant})
    concerned = _concerned(engine, scope, meant) if meant and not everything else []
    whole = sum(one.told and not one.kept for one in concerned)
    return ErasurePlan(
        uuid4().hex,
        scope.tenant,
        scope.user,
        rule,
        version,
        tuple(ids),
        erasures.everything(engine.db, scope.name)[1] if everything else whole,
        sum(one.kept for one in concerned),
        _chosen(meant, why),
        _chosen(near, why),
        tuple(_holding(engine, scope, [(one.id, one.session) for one in meant])),
        everything,
    )


def _chosen(some: Sequence[Meant], why: Mapping[str, Chosen]) -> tuple[Chosen, ...]:
    """Return each source once, with the first of its words as it says them now."""
    texts = {one.id: " ".join(f"{one.text}".split())[:_SHOWN] for one in reversed(some)}
    return tuple(replace(why.get(id, Chosen(id, "")), text=texts[id]) for id in dict.fromkeys(one.id for one in some))


def erase(engine: Engine, given: object) -> ErasureReceipt:
    """Carry a plan out; one that was begun goes on. Raises Held, ErasureRefused, NotFound, or InvalidInput."""
    if not isinstance(given, ErasurePlan):
        raise InvalidInput(f"erase takes a plan that forget made, not {named(given)}.")
    if given.tenant != engine.settings.tenant:
        raise InvalidInput(
            "This plan is of another tenant's memory. Nothing was erased; make the plan with forget of the Memory "
            "that is to carry it out."
        )
    scope = Scope(given.tenant, given.user_id)
    if not given.sources and not given.everything:
        raise NotFound(
            f"Nothing in the memory of {scope} holds all words of the query. Sources that are near: "
            f"{len(given.near)}. Use fewer words, or name those that are meant (source, --source)."
        )
    if not any(one.id == given.id for one in erasures.begun(engine.db, scope.name)):
        done = next((one for one in erasures.receipts(engine.db, scope.tenant) if one.id == given.id), None)
        if done:
            return done
        _begin(engine, scope, given)
    for receipt in unfinished(engine, scope):
        if receipt.id == given.id:
            return receipt
    return next(one for one in erasures.receipts(engine.db, scope.tenant) if one.id == given.id)  # a worker was faster


def _begin(engine: Engine, scope: Scope, given: ErasurePlan) -> None:
    if given.everything and scopes.left(engine.db, scope.name):  # an import that was cut off left no scope
        scopes.open_scope(engine.db, scope, engine.settings.language or DEFAULT_LANGUAGE)
    meant = [] if given.everything else erasures.select(engine.db, scope.name, ids=list(given.sources))
    there = [(one.id, one.session) for one in meant]
    if given.everything:
        there, _ = erasures.everything(engine.db, scope.name)
    if holding := _holding(engine, scope, there):
        told = ", ".join(f"{one.id} ({one.reason})" for one in holding)
        raise Held(f"What is to be erased of {scope} is held: {told}. Release that first, or leave it out.")
    begun = {id for id, _ in there} == {*given.sources}  # one that was made anew counts versions anew
    if begun and given.everything:
        begun = erasures.set_aside(engine.db, scope.name, given, engine.now())
    elif begun:
        begun = erasures.hide(engine.db, scope.name, given, _concerned(engine, scope, meant), engine.now())
    if not begun and not any(one.id == given.id for one in erasures.begun(engine.db, scope.name)):
        raise ErasureRefused(
            f"The plan of this erasure is out of date: {scope} was written to since it was made. Nothing was erased; "
            "make the plan anew."
        )
    engine.notes.drop([scope.name])


def ended(engine: Engine, scope: Scope) -> tuple[list[ErasureReceipt], list[Hold]]:
    """Erase what is to be erased by now; return the receipts, and the holds that keep some of it."""
    db, kept = engine.db, list[Hold]()

    def begin() -> bool:
        state = scopes.state(db, scope.name)
        found = db.run("erasures/ended", scope=scope.name) if state else []
        held = erasures.held(db, scope.name) if found else []
        kept[:] = [one for one in held if any(one.keeps(row["id"], row["session"]) for row in found)]
        some = [row["id"] for row in found if not any(one.keeps(row["id"], row["session"]) for one in kept)][:_MOST]
        if not state or not some:
            return False
        meant = erasures.select(db, scope.name, ids=some)
        try:
            _begin(engine, scope, plan(engine, scope, meant, state.version, "ended", everything=False))
        except (ErasureRefused, Held):
            raise Stale from None
        return True

    receipts = unfinished(engine, scope)
    while until_current(db, scope.name, begin):
        receipts += unfinished(engine, scope)
    return receipts, kept


class Resumption(Pass[list[ErasureReceipt]]):
    """Carries out the erasures of a scope that were begun and cut off."""

    name, when = "erase", "where an erasure was cut off"
    sign, why = "erasing", "an erasure that was cut off"

    def counts(self, made: list[ErasureReceipt]) -> Mapping[str, int] | None:
        """Return how many notes were erased."""
        return {"erased": sum(one.counts["notes"] for one in made)} if made else None

    def work(self) -> list[ErasureReceipt]:
        """Carry them out."""
        return unfinished(self.engine, self.scope)


def unfinished(engine: Engine, scope: Scope) -> list[ErasureReceipt]:
    """Carry out what was begun of a scope, then check it: one alone would count what others are about to remove."""
    begun = erasures.begun(engine.db, scope.name)
    hidden = [one for one in begun if one.state == "hidden"]
    meant = {one.id: _meant(engine.db, scope, one) for one in hidden}
    known = {one.id: traces.of(engine.db, scope, one, meant[one.id]) for one in hidden}
    losing = {note for one in hidden for note in one.losing}
    for one in hidden:
        _carry_out(engine, scope, one, losing, meant[one.id], known[one.id])
    return [_checked(engine, scope, one, known.get(one.id, Traces())) for one in begun]


def _carry_out(
    engine: Engine, scope: Scope, one: Erasure, losing: Collection[str], meant: Sequence[Meant], known: Traces
) -> None:
    """Make anew what stays, of which `losing` lose sources, to this erasure or another; remove the rest."""
    db = engine.db
    traces.forget(db, scope, one, meant, known)
    scopes.purge(db, scopes.importing(scope.name), whole=False)  # one that runs can't end any more
    if one.everything:
        if scope.user is not None:  # the keys of a whole tenant open more than the shared memory
            keys.remove(db, scope)
        usage.forget_all(db, scope.name, one.id, one.begun)
        erasures.purge(db, scope.name, one.id)
    else:
        erasures.unplace(db, scope.name, meant)
        _remake(engine, scope, one, losing)
        db.commit("usage/forget", scope=scope.name, rows=_ROWS)
        _remove(engine, scope)
    erasures.advance(db, scope.name, one.id, "removed")


def _checked(engine: Engine, scope: Scope, one: Erasure, known: Traces) -> ErasureReceipt:
    """Look for what is left of an erasure that was carried out, and end it with its receipt."""
    db = engine.db
    engine.notes.drop([scope.name])
    if not one.everything:
        erasures.tidy(db, scope.name)
        erasures.centre(db, scope.name)
    residue = _residue(engine, scope, one, known)
    if not one.everything:
        scopes.settle(db, scope.name, notes.UNSWEPT)
    counts = {"sources": len(one.sources), "notes": one.notes, "remade": len(one.kept)}
    salted = erasures.salted(one.id, scope.name)
    receipt = ErasureReceipt(
        0, one.id, salted, one.rule, one.begun, engine.now(), counts, residue, len(known.runs), "", ""
    )
    sealed = erasures.append(db, scope.tenant, receipt)
    erasures.end(db, scope.name, one)
    return sealed


def _meant(db: Database, scope: Scope, one: Erasure) -> list[Meant]:
    if not one.everything:
        return erasures.select(db, scope.name, ids=list(one.sources))
    aside = [Meant(**row) for row in db.run("erasures/erased", scope=scope.name, id=one.id)]
    return aside + erasures.select(db, scopes.importing(scope.name))


def verify(engine: Engine, scope: Scope | None, probe: str | None, *, files: bool) -> list[str]:
    """Return a sentence for each fault of the tenant's receipts, and for words of a probe that are still held."""
    found = _faults(engine)
    if scope:
        words = check_text(probe, "probe", engine.settings.max_text)
        # runs of five words, or all of them if these are fewer
        probes, questions = Runs.of(words.splitlines()), retrievals.questions(engine.db, [scope.name])
        if some := len(_seen(engine, scope, probes, questions, said_too=True) if probes else ()):
            found.append(f"The memory of {scope} still holds {some} of the runs of words that were looked for.")
    return found + _remains(engine, probe) if files else found


def _faults(engine: Engine) -> list[str]:
    """Return a sentence for each receipt of the tenant that was changed, is missing, or tells of residue."""
    found, before, number = list[str](), "", 0
    for one in erasures.receipts(engine.db, engine.settings.tenant):
        number += 1
        if one.number != number:
            found.append(f"Receipt {number} is missing: the next is {one.number}.")
            number = one.number
        if erasures.seal(one).hash != one.hash:
            found.append(f"Receipt {one.number} was changed: its hash is another.")
        if one.previous != before:
            found.append(f"Receipt {one.number} does not follow the one before it.")
        if one.residue:
            found.append(f"Receipt {one.number} tells that {one.residue} pieces were still there.")
        before = one.hash
    return found


def _remains(engine: Engine, probe: str | None) -> list[str]:
    """Say which files of the managed server still hold words of a probe."""
    from memgraph_engine.graph.server.compaction import remains

    settings = engine.settings
    if probe is None:
        raise InvalidInput("files looks for the words of a probe: give one.")
    if settings.uri:
        raise InvalidInput(
            f"The setting uri names {settings.uri}: only the files of the managed server can be searched."
        )
    held = remains(settings.home, probe)
    files = ", ".join(f"{some} in {path}" for path, some in held.items())
    return [
        f"The server's files still hold runs of words that were looked for: {files}. Where no memory is to keep "
        "them, memgraph-engine db compact takes them away."
    ] * bool(held)


def _concerned(engine: Engine, scope: Scope, meant: Sequence[Meant]) -> list[erasures.Concerned]:
    state = scopes.state(engine.db, scope.name)
    if not state:
        raise NotFound(f"The memory of {scope} is empty: there is nothing to erase.")
    return concerned(engine.db, scope.name, meant, state.language)


def concerned(db: Database, scope: str, meant: Sequence[Meant], language: str) -> list[erasures.Concerned]:
    """Return the notes that tell some sources in any version, or may quote them."""
    sessions = sorted({one.session for one in meant if one.session})
    quoting = erasures.quoting(db, scope, sessions, {quote for one in meant for quote in _quotes(one, language)})
    found = {one.id: one for one in erasures.notes(db, scope, sorted({one.id for one in meant}), quoting)}
    seen = list(found)
    # what evolutions changed while a chat model saw these may hold their words
    while seen := [id for row in db.run("erasures/evolved", scope=scope, ids=seen) if (id := row["id"]) not in found]:
        found |= {id: erasures.Concerned(id, told=False, kept=True) for id in seen}
    return list(found.values())


def _quotes(one: Meant, language: str) -> Iterator[str]:
    """Yield how contexts begin to repeat a source, or a passage of it."""
    whole = Source(one.id, one.text, "", role=one.role or "", speaker=one.speaker or "", caption=one.caption or "")
    for said in cut_up(whole, one.cuts or ()):
        if told := line(said, language):
            yield f"[before: {told[:_QUOTE]}".rpartition(" ")[0] if len(told) > _QUOTE else f"[before: {told}"


def _holding(engine: Engine, scope: Scope, sources: Sequence[tuple[str, str]]) -> list[Hold]:
    held = erasures.held(engine.db, scope.name)
    return [one for one in held if any(one.keeps(*source) for source in sources)]


def _remake(engine: Engine, scope: Scope, one: Erasure, losing: Collection[str]) -> None:
    """Make the notes anew that stay: twice, since each may quote another that could not be read the first time.

    Summaries are made in between, of what is left of the notes that they stand for: what they tell can be quoted then.
    """
    for anew in (_retold, _summed_up, _retold):
        for start in range(0, len(one.kept), _SOME):
            _make_some(engine, scope, one.kept[start : start + _SOME], losing, anew)


Lives = Mapping[str, tuple[datetime, datetime]]
Anew = Iterator[tuple[notes.Found, Revision]]


@retried
def _make_some(
    engine: Engine, scope: Scope, ids: Sequence[str], losing: Collection[str], anew: Callable[..., Anew]
) -> None:
    transaction = Transaction.begin(engine, scope)
    lives, decision = erasures.lives(engine.db, scope.name, ids), transaction.decide("erase").id
    changed = False
    for found, revision in anew(transaction, ids, losing, lives, decision):
        transaction.rebuild(found, revision, losing=found.note.id in losing)
        changed = True
    if changed:
        transaction.commit()


def _retold(transaction: Transaction, ids: Sequence[str], losing: Collection[str], lives: Lives, decision: str) -> Anew:
    """Tell notes anew that lose some of their sources, whose contexts quote what is erased, or that end otherwise."""
    for one in notes.renderings(transaction.db, transaction.scope.name, ids):
        note, turns = one.found.note, [(turn.source, turn.previous) for turn in one.turns]
        if note.sums or not turns:
            continue
        id, loses = note.id, note.id in losing
        if id in lives:
            note = replace(note, expires_at=lives[id][0], erase_at=lives[id][1])
        own = USER if one.found.constructed_by == USER and not loses else ""
        found = replace(one.found, note=note, constructed_by=own)
        properties = (remaining if loses else retold)(transaction, found, turns)
        if not ("raw" in properties or id in lives):
            continue
        names = contexts.keywords_in(note.keywords, properties, transaction.language) if "raw" in properties else None
        # an evolution may have taken others from what is erased
        tags = notes.tags_of(source for source, _ in turns)
        given = {**properties, "tags": tags, "constructed_by": own}
        yield found, Revision(id, decision, given, keywords=names)


def _summed_up(
    transaction: Transaction, ids: Sequence[str], losing: Collection[str], lives: Lives, decision: str
) -> Anew:
    """Make summaries anew, without a model, that lose some of what they tell, or that a model wrote who saw it."""
    for one in notes.summed(transaction.db, transaction.scope.name, ids, transaction.embedder.dimensions):
        id = one.found.note.id
        parts = [part for part in one.parts if any(source.erase_at > UNKNOWN_PAST for source in part.sources)]
        if one.found.note.sums and id in lives and parts:
            same = Revision(id, decision, {})
            if id in losing or one.found.by_model:
                properties, names = summaries.anew(transaction, one, parts)
                same = Revision(id, decision, properties, keywords=names)
            yield one.found, same


def _remove(engine: Engine, scope: Scope) -> None:
    """Remove what is hidden."""
    while _remove_some(engine, scope):
        pass
    erasures.remove(engine.db, scope.name)


@retried
def _remove_some(engine: Engine, scope: Scope) -> int:
    transaction = Transaction.begin(engine, scope)
    found = [found_from(row["note"]) for row in engine.db.run("erasures/hidden", scope=scope.name, limit=_SOME)]
    if found:
        transaction.decide("erase", evidence=f"{len(found):,} notes." if len(found) > 1 else "1 note.")
        for one in found:
            transaction.erase(one)
        transaction.commit()
    return len(found)


def _residue(engine: Engine, scope: Scope, one: Erasure, known: Traces) -> int:
    """Count what is left of the erased: nodes, what names its sources or notes, words that no kept source has."""
    if one.everything:
        left = int(engine.db.run("erasures/left", scope=scope.name, id=one.id)[0]["nodes"])
    else:
        left = sum(row["hidden"] for row in erasures.texts(engine.db, scope.name))
        named = engine.db.run("erasures/named", scope=scope.name, ids=list(one.sources), begun=one.begun)
        left += int(named[0]["decisions"])
    left += retrievals.naming(engine.db, known.readers, known.notes, known.until)
    questions = retrievals.questions(engine.db, known.readers, known.until)
    return left + len(_seen(engine, scope, known.runs, questions, said_too=False) if known.runs else ())


def _seen(engine: Engine, scope: Scope, probes: Runs, questions: Iterable[Question], *, said_too: bool) -> set[Run]:
    """Return the probes that a scope still holds, or questions that were asked of it.

    Those that sources which stay say are among them only if they are wanted too.
    """
    said, made = set[Run](), probes.found_in(one.words for one in questions)
    for row in erasures.texts(engine.db, scope.name):
        said |= probes.found_in(row["said"])
        made |= probes.found_in(row["made"])
    made |= probes.found_in(erasures.told(engine.db, scope.name))
    left, under = set[Run](), scopes.importing(scope.name)  # nothing there stays
    for row in erasures.texts(engine.db, under):
        left |= probes.found_in([*row["said"], *row["made"]])
    left |= probes.found_in(erasures.told(engine.db, under))
    left |= probes.found_in(one.words for one in retrievals.questions(engine.db, [under]))
    return left | (made | said if said_too else made - said)


def hold(engine: Engine, scope: Scope, reason: str, **what: str | None) -> Hold:
    """Hold a memory, or a session or a source of it; raises InvalidInput, or NotFound for an empty memory."""
    given = {name: check_name(one, name) for name, one in what.items() if one is not None}
    if len(given) > 1:
        raise InvalidInput("hold takes a session or a source, or neither for the whole memory; not both.")
    made = Hold(uuid4().hex, check_text(reason, "reason", 1000), engine.now(), **given)
    told = {"id": made.id, "session": made.session, "source": made.source, "reason": made.reason, "now": made.at}
    if not engine.db.commit("holds/create", scope=scope.name, **told):
        raise NotFound(f"The memory of {scope} is empty: there is nothing to hold.")
    return made


def release(engine: Engine, scope: Scope, id: str) -> None:
    """End a hold; raises NotFound."""
    if not engine.db.commit("holds/release", scope=scope.name, id=check_name(id, "id")):
        raise NotFound(f"There is no hold {id!r} in the memory of {scope}.")
