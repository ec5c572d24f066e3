"""From sources in their places to notes: extracted, constructed, judged, written. What models cost is kept."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from types import MappingProxyType

from memgraph_engine.cost import NOTHING
from memgraph_engine.engine.account import on_account
from memgraph_engine.engine.wiring import Engine, followed
from memgraph_engine.errors import Unusable
from memgraph_engine.gate.ask import Asking
from memgraph_engine.gate.calibration import calibration
from memgraph_engine.gate.gate import Gate
from memgraph_engine.gate.repair import mended
from memgraph_engine.gate.verdict import Verdict
from memgraph_engine.graph import sources
from memgraph_engine.graph.neighbourhood import neighbourhood
from memgraph_engine.graph.notes import Found, renderings
from memgraph_engine.ingest.attributes import attributes
from memgraph_engine.ingest.construct import Constructor, waiting
from memgraph_engine.ingest.extract import Extracted, extract
from memgraph_engine.ingest.profiling import Profiled, profiled, subject
from memgraph_engine.language.keywords import key
from memgraph_engine.lifecycle.policies import outlives, quoted
from memgraph_engine.llm.spent import Spent
from memgraph_engine.model.candidate import Candidate, Placed
from memgraph_engine.model.memory import Key, Source
from memgraph_engine.model.profile import Delta
from memgraph_engine.model.result import Entry, Receipt
from memgraph_engine.model.scope import Scope
from memgraph_engine.trust import marked
from memgraph_engine.writing.batch import Batch
from memgraph_engine.writing.transaction import Transaction


@dataclass
class Work:
    """One call that writes to a scope: what it has used so far, and what need not be done twice in another try."""

    engine: Engine
    scope: Scope
    constructor: Constructor
    spent: Spent
    asking: Asking
    shown: Sequence[str] = ()
    seconds: Counter[str] = field(default_factory=Counter)
    extracted: dict[str, Extracted | None] = field(default_factory=dict)  # by the hash of the source's content
    profiled: dict[str, Profiled | None] = field(default_factory=dict)  # likewise
    classes: dict[str, tuple[str, str]] = field(default_factory=dict)  # likewise: the model, and the class that it gave

    @classmethod
    @contextmanager
    def begin(cls, engine: Engine, scope: Scope, shown: Sequence[str] = ()) -> "Iterator[Work]":
        """Begin a call, on the account of the scope."""
        with on_account(engine, scope) as spent:
            asking = Asking(engine.roles, spent, engine.settings.gate, engine.judge)
            yield cls(engine, scope, _constructor(engine), spent, asking, shown)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of what is done inside to a stage."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += perf_counter() - start  # type: ignore[assignment]

    def follow(self) -> None:
        """Go on with the embedder that the database has by now."""
        self.engine = followed(self.engine)
        self.constructor = _constructor(self.engine)

    def clear(self) -> None:
        """Forget what only another try of the last batch would need: a call may bring millions of messages."""
        self.constructor.clear()
        self.extracted.clear()
        self.profiled.clear()
        self.classes.clear()
        self.asking.clear()

    def receipt(self, entries: Iterable[Entry]) -> Receipt:
        """Return what the call did."""
        return Receipt(tuple(entries), dict(self.seconds), self.spent.cost, self.spent.fallbacks)


def make_notes(
    work: Work, seen: sources.Seen, placed: Sequence[Placed], pending: Mapping[Key, Found] = MappingProxyType({})
) -> list[Entry]:
    """Make notes of sources and write them; return what became of each. Raises Stale, with nothing written.

    `pending` are the notes that some of the sources have already.
    """
    engine = work.engine
    with work.timed("extract"):
        extracted = _extracted(work, seen, placed)
        placed = _classed(work, placed)
        keywords = {**seen.keywords, **_stored_keywords(work, seen.language, extracted.values())}
    with work.timed("construct"):
        candidates = work.constructor.construct(placed, keywords, seen.language, extracted)
    with work.timed("gate"):
        settings, maps = engine.settings.gate, calibration(engine.embedder.name, engine.embedder.fitted)
        gate = Gate(settings, maps, work.scope, seen.language, seen.notes - len(pending), engine.policies)
        stored = partial(neighbourhood, engine.db, work.scope, near=settings.near, lexical=settings.lexical)
        judged = gate.verdicts(stored, candidates, work.asking.opinions)
        judged = work.asking.merges(candidates, judged, gate.contexts)
        verdicts = [
            _whole(verdict, one.source, extracted.get(one.source.key))
            for one, verdict in zip(candidates, judged, strict=True)
        ]
    noted = [one.source for one, by in zip(candidates, verdicts, strict=True) if by.kind != "discard"]
    told = tell(work, seen.language, noted)
    if engine.settings.lifecycle.profile != "off":
        told = {**told, **_put_right(work, seen.language, candidates, verdicts, told)}
    with work.timed("write"):
        return Batch(engine, work.scope, seen, pending).write(candidates, verdicts, told)


def _whole(verdict: Verdict, source: Source, by: Extracted | None) -> Verdict:
    """Return a verdict with the extraction's share of the costs, and with who gave the source its class."""
    told = f"{source.policy_by} gave it the class {source.policy}." if source.policy_by else ""
    verdict = replace(verdict, evidence=f"{verdict.evidence} {told}".strip())
    return replace(verdict, model=verdict.model or by.model, cost=verdict.cost + by.cost) if by else verdict


def construct_alone(transaction: Transaction, placed: Sequence[Placed], *, waits: bool = False) -> list[Candidate]:
    """Make candidates of sources that are no batch; those that wait have no vectors."""
    language, constructor = transaction.language, _constructor(transaction.engine)
    if waits or not placed:
        return waiting(placed, language)
    keys = constructor.keys([one.source for one in placed], language)
    seen = sources.look_up(transaction.db, transaction.scope.name, [], [], keys)
    return constructor.construct(placed, seen.keywords if seen else {}, language)


def _constructor(engine: Engine) -> Constructor:
    return Constructor(engine.embedder, engine.settings.max_keywords)


def tell(work: Work, language: str, given: Sequence[Source]) -> dict[Key, Profiled]:
    """Return what sources tell of profiles, if that is to be noted (`lifecycle.profile`); each is read once."""
    engine = work.engine
    lives = engine.settings.lifecycle
    if lives.profile == "off":
        return {}
    new = [one for one in given if _asked(one) not in work.profiled]
    hidden = {one.key for one in new if not engine.policies.seen_by_models(one)}
    with work.timed("profile"):
        roles = engine.roles if lives.profile == "models" else engine.roles.without(["profiling"])
        found = profiled(roles, new, work.scope.user, language, lives.attributes, hidden=hidden, spent=work.spent)
    work.profiled |= {_asked(one): found.get(one.key) for one in new}
    return {one.key: told for one in given if (told := work.profiled[_asked(one)])}


def _put_right(
    work: Work,
    language: str,
    candidates: Sequence[Candidate],
    verdicts: Sequence[Verdict],
    told: Mapping[Key, Profiled],
) -> dict[Key, Profiled]:
    """Return what repairs tell of profiles: "Bath, not Bristol" tells what "I live in Bristol" does, of Bath."""
    scope = work.scope
    ties = {
        one.source.key: {tie.note for tie in by.ties if tie.kind == "change" and not tie.back}
        for one, by in zip(candidates, verdicts, strict=True)
    }
    tied = sorted({note for some in ties.values() for note in some})
    if not tied:
        return {}
    stored = renderings(work.engine.db, scope.name, tied)
    old = {one.found.note.id: [turn.source for turn in one.turns] for one in stored}
    old |= {one.note(scope.name): [one.source] for one in candidates}
    found = dict[Key, Profiled]()
    for new in (one.source for one in candidates if ties[one.source.key]):
        who = subject(new, scope.user)
        before = [
            source for note in ties[new.key] for source in old.get(note, ()) if subject(source, scope.user) == who
        ]
        instead = {
            source.id: _told_instead(new, source, language, work.engine.settings.lifecycle.attributes)
            for source in before
        }
        delta = tuple(one for some in instead.values() for one in some)
        if who is not None and delta:
            own = told.get(new.key) or Profiled(who, ())
            beside = tuple(id for id, some in instead.items() if some)
            found[new.key] = replace(own, delta=tuple(dict.fromkeys((*delta, *own.delta))), beside=beside)
    return found


def _told_instead(new: Source, old: Source, language: str, own: str) -> list[Delta]:
    """Return what an old message tells once a new one has put it right, as far as it told something else."""
    known = attributes(old.text, language, own)
    return [one for one in attributes(mended(new, old, language), language, own) if one not in known] if known else []


def _extracted(work: Work, seen: sources.Seen, placed: Sequence[Placed]) -> dict[Key, Extracted]:
    """Return what the extractor made of sources that it may see; where the settings say so it gives them classes.

    It is asked once about each, but for what it was shown beside what ends sooner in the class that it gave.
    """
    settings, roles = work.engine.settings, work.engine.roles
    if not settings.gate.denoise or not roles.has("extraction"):
        return {}
    asked = (one for one in placed if not one.noise and one.source.kind != "code")  # which is read by its syntax
    worth = [one for one in asked if work.engine.policies.seen_by_models(one.source)]
    new = [one for one in worth if _asked(one.source) not in work.extracted]
    for some in _of_one_life(new):
        unplaced = [one.source for one in some if work.engine.policies.unplaced(one.source)]
        gives = unplaced and settings.lifecycle.classes == "models"
        offered = {one.name: one.about for one in work.engine.policies.open} if gives else {}
        _read(work, some, seen.language, offered)
        if offered:
            _give(work, unplaced, offered)
            for alike in _of_one_life(_mixed(some, _classed(work, some))):
                _read(work, alike, seen.language)
    found = {one.source.key: work.extracted[_asked(one.source)] for one in worth}
    return {source: by for source, by in found.items() if by and (settings.gate.discard or not by.noise)}


def _read(work: Work, some: Sequence[Placed], language: str, offered: Mapping[str, str] = MappingProxyType({})) -> None:
    """Ask the extractor about sources, and for one of the classes that are `offered`, by what they are about."""
    classes = [{"class": name, "about": about} for name, about in offered.items()]
    answers = extract(work.engine.roles, some, language, work.spent, classes)
    work.extracted |= {_asked(one.source): by for one, by in zip(some, answers, strict=True)}


def _give(work: Work, unplaced: Iterable[Source], offered: Collection[str]) -> None:
    """Keep the classes that a model gave; what got none that was offered stays in that of the rules, which is told."""
    for source in unplaced:
        by = work.extracted[_asked(source)]
        if by and by.policy in offered:
            work.classes[_asked(source)] = by.model, by.policy
        elif by and not by.noise:
            named = f"the class {by.policy!r}, which is none of {', '.join(offered)}" if by.policy else "no class"
            work.spent.failed("Choosing a class", Unusable(f"{by.model} gave {source.id!r} {named}.", NOTHING))


def _classed(work: Work, placed: Sequence[Placed]) -> list[Placed]:
    """Return sources in the classes that models gave; one whose passages got several stays in that of the rules."""
    given = defaultdict[str, dict[str, str]](dict)
    for one in placed:
        if _asked(one.source) in work.classes:
            model, policy = work.classes[_asked(one.source)]
            given[one.source.id][policy] = model

    def living(source: Source) -> Source:
        if len(given[source.id]) != 1:
            return source
        ((policy, model),) = given[source.id].items()
        return work.engine.policies.given_by(model, policy, source, work.engine.now())

    classed = (replace(one, source=living(one.source), before=one.before and living(one.before)) for one in placed)
    return [replace(one, before=quoted(one.before, one.source)) for one in classed] if given else list(placed)


def _mixed(shown: Sequence[Placed], classed: Sequence[Placed]) -> list[Placed]:
    """Return what was shown beside what ends sooner in the classes of now: its context may have words of that."""

    def sure(old: Placed, now: Placed) -> bool:
        return bool(now.before or not old.before) and all(outlives(one.source, now.source) for one in classed)

    return [now for old, now in zip(shown, classed, strict=True) if not sure(old, now)]


def _of_one_life(placed: Iterable[Placed]) -> Iterable[Sequence[Placed]]:
    """Return what ends, is kept apart, and is marked together: a model may put words of one into another's context."""
    found: dict[object, list[Placed]] = {}
    for one in placed:
        source = one.source
        life = source.expires_at, source.erase_at, source.apart, marked(source.trust)
        found.setdefault(life, []).append(one)
    return found.values()


def _asked(source: Source) -> str:
    """Return what an extraction depends on: the same id may have another text when a batch is tried again."""
    return f"{source.id}\0{source.part}\0{source.hash}"


def _stored_keywords(work: Work, language: str, extracted: Iterable[Extracted]) -> Mapping[str, str]:
    """Return the stored names of a model's keywords, by their keys."""
    phrases = {phrase for by in extracted for phrase in by.keywords}
    keys = sorted({meeting for phrase in phrases if (meeting := key(phrase, language))})
    seen = sources.look_up(work.engine.db, work.scope.name, [], [], keys) if keys else None
    return seen.keywords if seen else {}
