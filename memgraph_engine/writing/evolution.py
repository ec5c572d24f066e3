"""Let a memory evolve: what came last is held against what is near it (MLA-ARC, sections 3.6 and 4.4).

With a chat model (the role `evolving`) ties are added or strengthened, notes get tags, and the notes near a new one get
another context. Without one, ties follow from shared topics and rare keywords, and tags from topics' labels. The words
of a note are never changed. All that one new note changes is one decision.

Where the settings say so, a model may also join notes that tell different aspects of one thing. The joint note stands
for them as a summary does, with all of their lines, so that they come back whole.

A model is shown side by side only what ends together, and nothing that is kept apart. What it saw is told by the
decision: an erasure makes anew what may hold words of the erased.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from memgraph_engine.arrays import np
from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.engine.passes import Pass, Progress
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.gate.calibration import calibration
from memgraph_engine.gate.gate import Gate, known_of
from memgraph_engine.graph import notes, scopes
from memgraph_engine.graph.neighbourhood import neighbourhood
from memgraph_engine.graph.notes import SUMMARY, USER, Evolving, Found, Relation, Rendering, Revision
from memgraph_engine.language.details import details
from memgraph_engine.language.terms import tokenize
from memgraph_engine.lifecycle.summaries import unfaithful
from memgraph_engine.llm.role import role
from memgraph_engine.llm.roles import CheckedAnswer
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.result import Considered, Decision, Evolved
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import Settings
from memgraph_engine.writing import contexts, summaries
from memgraph_engine.writing.commit import until_current
from memgraph_engine.writing.transaction import Transaction

if TYPE_CHECKING:
    from memgraph_engine.gate.score import Scores
    from memgraph_engine.graph.scopes import ScopeState

_TURNS = 2  # of one interaction: what was asked, and what was answered
_NEWEST = 100  # notes of one evolution
_SHARED = 2  # rare keywords that tie two notes of a topic, and keywords by which a note is of a topic
_RARE, _FEW = 0.05, 10  # a keyword is rare that this share of the notes carries at most, or so few
_TAGS, _WORDS, _LONGEST = 3, 3, 40  # tags that a note gets at once, and how many words and characters one has
_FULL = 8  # tags of a note that gets no more
_ALIKE = ("policy", "policy_as", "apart", "speaker", "role")
_STRONGER = 0.5  # share of what a tie lacks of 1 that it gains


def turns(settings: Settings) -> int:
    """Return after how many new messages a memory evolves, 0 for never."""
    return _TURNS * settings.lifecycle.evolve


@dataclass(frozen=True, slots=True)
class One:
    """A note, what it is compared by, and what it says, without the turn before it."""

    found: Found
    by: Evolving
    text: str

    @property
    def id(self) -> str:
        """The note's id."""
        return self.found.note.id

    @property
    def life(self) -> tuple[object, ...]:
        """What a model is shown side by side has this in common."""
        return self.found.note.expires_at, self.found.note.erase_at, self.found.note.trust


@dataclass(frozen=True, slots=True)
class Near:
    """An older note near a new one, their scores, and what is to become of it, and why.

    That is a tie to the new one, tags, a context ('' for none), or to `join` it. `seen` tells whether the model saw it.
    """

    one: One
    scores: "Scores"
    tie: bool = False
    tags: tuple[str, ...] = ()
    context: str = ""
    why: str = ""
    seen: bool = False
    join: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A new note, those near it, the nearest first, the tags that it gets, and the model that says so ('' for none).

    `joint` is what tells it and those that it is joined with.
    """

    new: One
    near: Sequence[Near]
    tags: tuple[str, ...] = ()
    model: str = ""
    cost: Cost = NOTHING
    joint: str = ""


class Evolution(Pass[Evolved]):
    """Holds what came to a scope since it evolved last against what is near it.

    A model is asked once about the same, however often the write is prepared.
    """

    name = "evolve"
    sign, why = "evolving", "new interactions"
    limit = "lifecycle", "evolve", "new interactions"
    tells = "notes ties tags contexts joined"

    def __init__(self, engine: Engine, scope: Scope, tell: Progress | None = None) -> None:
        super().__init__(engine, scope, tell)
        self._asked: dict[tuple[object, ...], CheckedAnswer | None] = {}

    def work(self) -> Evolved:
        """Evolve by what came since the last time; raises WriteConflict."""
        return until_current(self.db, self.scope.name, self._attempt)

    def _attempt(self) -> Evolved:
        db, scope = self.engine.db, self.scope.name
        state = scopes.state(db, scope)
        if not state:
            return Evolved(0)
        new = [row["id"] for row in reversed(db.run("notes/unevolved", scope=scope, limit=_NEWEST))]
        if not new:  # what was told is small talk, or kept apart: no worker need look at it again
            db.commit("scopes/evolved", scope=scope, version=state.version)
            return Evolved(0)
        steps = self._modelled(
            [self._local(step, state.language) for step in self._compared(state, new)], state.language
        )
        transaction = Transaction(self.engine, self.scope, state)
        writing = _Writing(transaction)
        for step in steps:
            writing.add(step)
        transaction.commit()
        db.commit("scopes/evolved", scope=scope, version=state.version + bool(writing.decisions))
        counts = writing.ties, len(writing.tags), len(writing.contexts)
        made = tuple(writing.decisions), self.spent.cost, self.spent.fallbacks
        return Evolved(len(steps), *counts, *made, joined=len(writing.gone))

    # ---- what is near -------------------------------------------------------------------------

    def _compared(self, state: "ScopeState", ids: Sequence[str]) -> list[Step]:
        """Return the new notes, oldest first, with what is near each, and nothing to be done yet."""
        engine = self.engine
        settings, maps = engine.settings.gate, calibration(engine.embedder.name, engine.embedder.fitted)
        rare = max(int(state.notes * _RARE), _FEW)
        new = self._read(ids, rare)
        given = [_candidate(one) for one in new.values()]
        words, reach = [one.raw_terms for one in given], [0] * len(given)
        around = neighbourhood(
            engine.db, self.scope, given, words, reach, near=settings.near + 1, lexical=settings.lexical
        )  # one more, since each is the nearest to itself
        others = self._read([id for id in around.notes if id not in new], rare)
        every = {**others, **new}
        known = {id: known_of(note, state.language) for id, note in around.notes.items()}
        gate = Gate(settings, maps, self.scope, state.language, state.notes, engine.policies)
        compared = []
        for one, cosines in zip(new.values(), around.near, strict=True):
            older = (
                [two for two in map(every.get, cosines) if two and _place(two) < _place(one)] if one.id in known else []
            )
            near = [
                Near(every[two.known.id], two.scores)
                for two in gate.beside(known[one.id], [(known[two.id], cosines[two.id]) for two in older])
            ]
            compared.append(Step(one, sorted(near, key=lambda two: (-two.scores.related, two.one.id))))
        return compared

    def _read(self, ids: Sequence[str], rare: int) -> dict[str, One]:
        """Read notes that may evolve, in the order of the ids: no summary, and nothing that is kept apart."""
        db, scope = self.engine.db, self.scope.name
        by = notes.evolving(db, scope, ids, rare)
        told = {one.found.note.id: one for one in notes.renderings(db, scope, list(by))}
        found = ((told[id], by[id]) for id in ids if id in told and id in by)
        return {one.found.note.id: One(one.found, more, _text(one)) for one, more in found if not one.found.note.sums}

    # ---- what is to change --------------------------------------------------------------------

    def _local(self, step: Step, language: str) -> Step:
        """Tie a note to those of its topics that share rare keywords; tag both by the topics' labels."""
        new, near = step.new, list(step.near)
        alike = [place for place, two in enumerate(near) if self._alike(new, two)]
        for place in alike[: self.engine.settings.gate.most_links]:
            one = near[place].one
            why = f"Both tell of {', '.join(sorted(new.by.rare & one.by.rare)[:_TAGS])}."
            near[place] = replace(near[place], tie=True, tags=_labels(one, language), why=why)
        return Step(new, near, _labels(new, language))

    def _alike(self, new: One, two: Near) -> bool:
        """Tell whether two notes are to be tied, and neither are so nor were."""
        settings = self.engine.settings.gate
        topics = {topic for topic, _, _ in new.by.topics} & {topic for topic, _, _ in two.one.by.topics}
        shared = new.by.rare & two.one.by.rare
        near = two.scores.related > settings.link_threshold
        return settings.link and near and bool(topics) and len(shared) >= _SHARED and two.one.id not in new.by.ties

    def _modelled(self, steps: Sequence[Step], language: str) -> list[Step]:
        """Let a model say what is to change, where there is one that answers."""
        roles = self.engine.roles
        if not roles.has("evolving"):
            return list(steps)
        shown = [[two for two in step.near if two.one.life == step.new.life] for step in steps]
        keys = [
            (step.new.text, *((two.one.id, two.one.text, *_filed(two.one)) for two in some))
            for step, some in zip(steps, shown, strict=True)
        ]
        asked = {key: place for place, key in enumerate(keys) if shown[place] and key not in self._asked}
        self._asked |= dict.fromkeys(asked)
        for place, answer in roles.answered(
            list(asked.values()),
            lambda place: role("evolving-joining" if self._joins else "evolving").request(
                [
                    {"new": True, "text": steps[place].new.text},
                    *({"text": two.one.text, "tags": _filed(two.one)} for two in shown[place]),
                ]
            ),
            self.spent,
        ):
            self._asked[keys[place]] = answer
        return [
            self._answered(step, some, by, language) if (by := self._asked.get(key)) else step
            for step, some, key in zip(steps, shown, keys, strict=True)
        ]

    @property
    def _joins(self) -> bool:
        return self.engine.settings.lifecycle.join

    def _answered(self, step: Step, shown: Sequence[Near], by: CheckedAnswer, language: str) -> Step:
        """Return a step as a model wants it, as far as that may be."""
        link, most = self.engine.settings.gate.link, self.engine.settings.gate.most_links
        new, tied, filed = step.new, 0, {tag for two in shown for tag in _filed(two.one)}
        said = {one.note: one for one in by.items}  # of each note, by its number in the request
        near = {two.one.id: Near(two.one, two.scores) for two in step.near}
        for place, two in enumerate(shown, 2):
            one, wish, bound = two.one, said[place], new.by.ties.get(two.one.id)
            free = bound is None or (bound.kind == "link" and not bound.strengthened)
            tie = wish.tie and link and free and tied < most
            tied += tie
            tags, told = _fitting(wish.tags, one, _filed(new), language), _context(wish.context, one, new, language)
            near[one.id] = Near(one, two.scores, tie, tags, *told, seen=True)
        tags = _fitting(said[1].tags, new, filed, language)
        step = Step(new, [*near.values()], tags, by.model, by.cost)
        joined = [two.one for place, two in enumerate(shown, 2) if self._joins and said[place].join]
        return self._joined(step, joined, said[1].context, language)

    def _joined(self, step: Step, some: Sequence[One], context: str, language: str) -> Step:
        """Return a step that joins some notes with the new one, if they may be, and a text tells all of them."""
        every, text = (step.new, *some), " ".join(context.split())
        if not some or not text or not _alike(every):
            return step
        lines = [line for one in every for line in (*one.found.note.raw, one.text)]
        why = _unfaithful(text, lines, [one.found.note.text for one in every], language)
        joined = {one.id for one in some}
        told = f"The notes were not joined: {why}." if why else ""
        near = [replace(two, join=not why, why=told or two.why) if two.one.id in joined else two for two in step.near]
        return replace(step, near=near, joint="" if why else text)


@dataclass
class _Writing:
    """Plans what is written; a note may be near several new ones."""

    transaction: Transaction
    decisions: list[Decision] = field(default_factory=list)
    ties: int = 0
    tags: dict[str, list[str]] = field(default_factory=dict)
    contexts: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)  # what is told by a joint note

    def add(self, step: Step) -> None:
        """Plan what a step changes, if it changes anything, as one decision."""
        step = replace(step, near=[two for two in step.near if two.one.id not in self.gone])
        joined = [step.new, *(two.one for two in step.near if two.join)]
        if step.new.id in self.gone or (len(joined) > 1 and self._join(step, joined)):
            return
        new, ties = step.new, [two for two in step.near if two.tie]
        every = (new, *(two.one for two in step.near))
        found = {new.id: self._properties(new, step.tags)}
        found |= {two.one.id: self._properties(two.one, two.tags, two.context) for two in step.near}
        changed = {id: given for id, given in found.items() if given}
        if not ties and not changed:
            return
        decision = self.transaction.decide(
            "evolve",
            new.id,
            considered=_considered(step, changed),
            evidence=_evidence(len(ties), changed),
            thresholds=self.transaction.engine.settings.gate.thresholds,
            model=step.model,
            cost=step.cost,
        )
        self.decisions.append(decision)
        self.ties += len(ties)
        for two in ties:
            self._tie(new, two, decision.id)
        for one in every:
            given = changed.get(one.id, {})
            if given or (one is new and ties):  # a tie is a change of the newer note
                context = str(given.pop("context", ""))
                if context:
                    given |= {**contexts.terms_of(context, (), self.transaction.language), "constructed_by": step.model}
                    self.contexts[one.id] = context
                if "tags" in given:
                    self.tags[one.id] = list(given["tags"])  # type: ignore[call-overload]
                self.transaction.revise(one.found, Revision(one.id, decision.id, given))

    def _join(self, step: Step, joined: Sequence[One]) -> bool:
        """Plan a note that stands for notes that it joins, unless an earlier step changed one of them."""
        transaction, ids = self.transaction, {one.id for one in joined}
        found = notes.summed(transaction.db, transaction.scope.name, sorted(ids), transaction.embedder.dimensions)
        if not step.joint or len(found) < len(ids) or not ids.isdisjoint({*self.tags, *self.contexts}):
            return False
        parts = summaries.parts_of(found)
        told = summaries.told(transaction, parts, summaries.rare(parts, transaction.language), keep=1.0)
        by = summaries.Written(step.joint, step.model, step.cost)
        considered, thresholds = _considered(step, ids), transaction.engine.settings.gate.thresholds
        why = f"It joins {len(ids)} notes."
        self.decisions.append(
            summaries.sum_up(
                transaction,
                "evolve",
                found,
                parts,
                told,
                by,
                evidence=why,
                considered=considered,
                thresholds=thresholds,
            )
        )
        self.gone |= ids
        return True

    def _properties(self, one: One, tags: Sequence[str], context: str = "") -> dict[str, object]:
        """Return what changes of a note: nothing of one that is pinned; no context twice."""
        note = one.found.note
        if note.pinned:
            return {}
        now = self.tags.get(one.id, list(note.tags))
        more = [tag for tag in tags if tag not in now][: max(_FULL - len(now), 0)]
        given: dict[str, object] = {"tags": sorted({*now, *more})} if more else {}
        if context and one.id not in self.contexts:
            given["context"] = context
        return given

    def _tie(self, new: One, two: Near, decision: str) -> None:
        bound = new.by.ties.get(two.one.id)
        if bound:
            score = round(bound.score + (1 - bound.score) * _STRONGER, 4)
            self.transaction.put("strengthen", new=bound.newer, old=bound.older, score=score, decision=decision)
        else:
            self.transaction.relate(Relation(new.id, two.one.id, "link", round(two.scores.related, 4), decision))


def _considered(step: Step, changed: Collection[str]) -> tuple[Considered, ...]:
    """Return what the notes near a new one are to it: those that the model saw, and those that change."""
    return tuple(
        Considered(
            two.one.id,
            round(two.scores.redundancy, 4),
            round(two.scores.complementarity, 4),
            round(two.scores.cosine, 4),
            "related" if two.tie or two.one.id in changed else "none",
            two.why,
        )
        for two in step.near
        if two.seen or two.tie or two.one.id in changed
    )


def _alike(every: Sequence[One]) -> bool:
    """Tell whether one note may stand for some: they live and are said alike, none pinned, none takes another back."""
    alike = {(one.life, *(getattr(one.found.note, name) for name in _ALIKE)) for one in every}
    ties = {tie.kind for one in every for tie in one.by.ties.values()}
    return len(alike) == 1 and ties <= {"link"} and not any(one.found.note.pinned for one in every)


def _candidate(one: One) -> Candidate:
    """Return a stored note as the gate looks for what is near it."""
    note, terms = one.found.note, one.found.raw_terms.split()
    raw, context = (np.asarray(vector, dtype=np.float32) for vector in (one.by.raw_vector, one.by.context_vector))
    words = sorted(set(terms), key=lambda term: (-len(term), term))[:_FULL]
    return Candidate(note.sources[0], None, None, one.text, note.context, words, (), raw, context, (), waiting=note.id)


def _place(one: One) -> tuple[datetime, str]:
    """Return where a note stands among all: of two new ones the later is held against the earlier."""
    return one.found.note.created_at, one.id


def _text(one: Rendering) -> str:
    """Return what a note says: a model's context, else its lines, which repeat no other turn."""
    found = one.found
    return found.note.context if found.by_model else "\n".join(map(without_recalled, found.note.raw))


def _filed(one: One) -> list[str]:
    """Return the tags of a note that are no metadata."""
    return [tag for tag in one.found.note.tags if "=" not in tag]


def _labels(one: One, language: str) -> tuple[str, ...]:
    """Return what a note says itself of the labels of its topics."""
    parts = [part for _, label, keywords in one.by.topics if keywords >= _SHARED for part in label.split(", ")]
    return _fitting(parts, one, (), language)


def _fitting(given: Sequence[str], one: One, others: Collection[str], language: str) -> tuple[str, ...]:
    """Return the tags that may be a note's: few and short, in words that it says itself, or a tag of `others`."""
    said = {*one.found.raw_terms.split()}
    found = []
    for tag in dict.fromkeys(" ".join(tag.split()).casefold() for tag in given):
        terms = tokenize(tag, language)
        short = len(tag) <= _LONGEST and len(tag.split()) <= _WORDS and "=" not in tag and tag.isprintable()
        if short and ((terms and said.issuperset(terms)) or tag in others):
            found.append(tag)
    return tuple(found[:_TAGS])


def _context(context: str, one: One, new: One, language: str) -> tuple[str, str]:
    """Return the context that an older note gets, '' for none, and why a model's is not used."""
    found, text = one.found, " ".join(context.split())
    if not text or text == found.note.context or found.constructed_by in (USER, SUMMARY):
        return "", ""
    said = [found.note.text, *([found.note.context] if found.by_model else [])]
    lines = [*found.note.raw, one.text, new.text]
    why = _unfaithful(text, lines, said, language)
    return ("", f"The model's context was not used: {why}.") if why else (text, "")


def _unfaithful(text: str, lines: Sequence[str], said: Sequence[str], language: str) -> str:
    """Say what a model's text adds to lines, or lacks of what is `said` in them; '' for nothing."""
    told, known, own = (
        {word for one in some for kind, word in details(one, language) if kind == "denial"}
        for some in ([text], lines, said)
    )
    lost, added = sorted(own - told), sorted(told - known)
    denial = f"it no longer denies {lost[0]!r}" if lost else f"it denies {added[0]!r}" if added else ""
    return unfaithful(text, lines, said, language) or denial


def _evidence(ties: int, changed: Mapping[str, Mapping[str, object]]) -> str:
    """Say what a decision does.

    >>> _evidence(1, {"a": {"tags": ["boat"]}, "b": {"tags": ["boat"], "context": "Ana sold the boat."}})
    'It ties the note to 1 other, tags 2 notes, gives 1 note another context.'
    """
    tagged, told = (sum(name in given for given in changed.values()) for name in ("tags", "context"))
    done = [
        f"ties the note to {ties} other{'s' * (ties != 1)}" if ties else "",
        f"tags {_notes(tagged)}" if tagged else "",
        f"gives {_notes(told)} another context" if told else "",
    ]
    return f"It {', '.join(filter(None, done))}."


def _notes(number: int) -> str:
    return f"{number} note{'s' * (number != 1)}"
