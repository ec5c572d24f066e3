"""What calls return: hits of a search, receipts of a write, versions of a note, counts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Literal

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.interface.results import Result
from memgraph_engine.model.claim import Claim
from memgraph_engine.model.memory import Note, Source
from memgraph_engine.model.profile import Delta
from memgraph_engine.model.usage import Outcome

DecisionKind = Literal[
    "append",
    "link",
    "merge",
    "reinforce",
    "supersede",
    "discard",
    "defer",
    "update",
    "delete",
    "untie",
    "render",
    "undo",
    "expire",
    "restore",
    "consolidate",
    "pin",
    "policy",
    "erase",
    "archive",
    "profile",
    "evolve",
    "flag",
]
AT_ONCE = timedelta(minutes=10)
"""Within this time one puts right a slip of one's own; what is said later is news."""
SUCCEEDS = ("change", "supersede")
"""The kinds of ties by which a note takes the place of an older one."""
Relation = Literal["same", "update", "change", "before", "conflict", "related", "none"]
EntryKind = Literal["append", "link", "merge", "reinforce", "supersede", "discard", "defer", "restore", "repeat"]


@dataclass(frozen=True, slots=True, repr=False)
class ChannelScore(Result):
    """One channel's score of a hit: as it is, scaled to 0 to 1 within the question, and as part of the fused score."""

    raw: float
    normalised: float
    weighted: float


@dataclass(frozen=True, slots=True, repr=False)
class QueryPlan(Result):
    """How a question was read (MemFly, section 3.4.1), by the chat model `model` ('' for none).

    `topic` describes what it is about ('' if only the question itself does), `keywords` are the entities that a model
    found in it. `times` are the ranges that it names: each from its first moment to the first moment after it.
    `queries` are the questions that a model made of it, which are looked for beside it; where claims have a share,
    those that ask what holds in `general` are looked for among these instead.
    `policies` and `kind` are the classes and the kind of source that it is about, () and '' for all (the setting
    `recall.intent`): only such notes are found, or if there are none, which `dropped` tells, all others.
    """

    topic: str = ""
    keywords: tuple[str, ...] = ()
    times: tuple[tuple[datetime, datetime], ...] = ()
    model: str = ""
    queries: tuple[str, ...] = ()
    general: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    kind: str = ""
    dropped: bool = False

    @property
    def share(self) -> float:
        """The share of the queries that are looked for among claims."""
        return len(self.general) / max(len(self.general) + len(self.queries), 1)


@dataclass(frozen=True, slots=True, repr=False)
class Round(Result):
    """One round of retrieval (MemFly, section 3.4.2): what was asked, and whether the notes found answer the question.

    `confidence` (0 to 1) is the model's; without a model it is the share of the question's terms that the best notes
    hold, and `missing` are the other terms. `model` is the chat model that judged, '' for none. If models judge, the
    last round's `confidence` is None, since no model is asked after it. `pool` notes were scored, of which `fetched`
    were not in the client's cache. `pathways` tells whether keywords, topics and ties were followed, since nothing that
    words and vectors found was relevant (the setting `recall.pathways`).
    """

    brief = ("query", "confidence", "sufficient")

    query: str
    confidence: float | None
    sufficient: bool
    missing: tuple[str, ...] = ()
    model: str = ""
    plan: QueryPlan = QueryPlan()
    pool: int = 0
    fetched: int = 0
    pathways: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Reranked(Result):
    """What the second stage of a search made of a hit.

    Before it, the hit had the place `place`, counted from 1, and the score `before`. `by` is the reranker, or the chat
    model of the role `selecting`; '' for a note that it was not shown, which keeps its place. `score` is the reranker's
    own, of any scale; None if it gave none, as that role never does.
    """

    place: int
    before: float
    by: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Result):
    """Why a hit stands where it stands.

    `proposed_by` names the channels that brought the note into the pool. The `weighted` scores of all `channels`, plus
    `neighbours` (the turns around) and `session`, add up to a fused score (0 to 1). If notes are ranked by weights
    alone, that is the hit's score. Otherwise `ranking` tells what each feature adds to the log-odds, and the score is
    their probability. If the question was asked in several `rounds`, all these are those of the first round that found
    the note; the hit's score is then the mean over all rounds, where each counts less than the one before.
    If use or policies have a weight, the score is the sum of what `use` has `weighted` instead: "ranking", which is the
    score without them (in a paper's ranking "similarity"), and each of them.
    Where a search has a second stage, all these are of the first, and so is the score that they make; `reranked` tells
    what the second made of the hit. It is None without one, or if that failed.
    """

    brief = ("proposed_by", "neighbours", "session")

    proposed_by: tuple[str, ...]
    channels: Mapping[str, ChannelScore]
    neighbours: float
    session: float
    ranking: Mapping[str, float] = field(default_factory=dict)
    rounds: tuple[Round, ...] = ()
    use: Mapping[str, ChannelScore] = field(default_factory=dict)
    reranked: Reranked | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Hit(Result):
    """A note found for a question.

    `score` (0 to 1) ranks the hits of one question; what took the place of a better hit has that one's. If a second
    stage put the hits in another order, each has the score that its new place had before.
    The others can be compared between questions: `similarity` (-1 to 1) is the larger cosine of the note's two vectors
    to the question's; `relevance` (0 to 1) is how likely the note is about the question at all, None for an embedder
    that was never calibrated; `coverage` (0 to 1) is the share of the question's words that the note holds, where rare
    words count more.
    `later` is the id of the hit that the same speaker said on a later day, where each is the nearest to the other: it
    is perhaps on the same matter. None where there is none.
    `until`, `replaced_by` and `former` are the note's: whether it is true still, as of the time that was asked about.
    """

    brief = ("score", "relevance", "note")
    derived = ("until", "replaced_by", "former")

    note: Note
    score: float
    similarity: float
    explanation: Explanation | None = None
    coverage: float = 0.0
    relevance: float | None = None
    later: str | None = None

    @property
    def until(self) -> datetime | None:
        """When the note ceased to be true; None if it is true as far as is known."""
        return self.note.until

    @property
    def replaced_by(self) -> str | None:
        """The id of the note that took its place."""
        return self.note.replaced_by

    @property
    def former(self) -> str:
        """The words of it that ceased to be true, if others did not."""
        return self.note.former

    @property
    def sources(self) -> tuple[Source, ...]:
        """The verbatim sources that the note comes from."""
        return self.note.sources

    def reaches(self, floor: float) -> bool:
        """Return whether it is that relevant; where that is not known, whether it has a word of the question."""
        return self.coverage > 0 if self.relevance is None else self.relevance >= floor


class Hits(list[Hit]):
    """The notes found for a question, the best first.

    `degraded` names what was left out because the client was busy (the setting `recall.busy`): pathways, by the names
    of their channels, `rounds` and `reranker`. `among` counts the notes of the memories that were searched. `dropped`
    says, by the note's id, why a note that the second stage read is not among the hits. `fallbacks` says where the
    search did without a model that the settings name, and why. `asked` is the question as the memory was asked it where
    that differs, since it refers back to the `history`. `claims` are what holds in general of what the question names,
    in the place of as many notes, where the setting `claims.share` has them. `plan` is how a model read the question.
    """

    def __init__(
        self,
        hits: Iterable[Hit] = (),
        degraded: tuple[str, ...] = (),
        among: int = 0,
        dropped: Mapping[str, str] | None = None,
        fallbacks: tuple[str, ...] = (),
        asked: str = "",
        claims: tuple[Claim, ...] = (),
        plan: QueryPlan | None = None,
    ) -> None:
        super().__init__(hits)
        self.degraded, self.among = degraded, among
        self.dropped, self.fallbacks = dict(dropped or {}), fallbacks
        self.asked, self.claims, self.plan = asked, claims, plan


@dataclass(frozen=True, slots=True, repr=False)
class Anchor(Result):
    """A keyword that a pathway of a question leads over (MemFly, section 3.4.1), and the notes that carry it.

    `channel` is `keywords` or `topics`; for `topics`, `topic` is the label of the topic that led to the keyword.
    `score` is the cosine of the question to the keyword, or to the topic's centroid; 1 for a keyword that the question
    names. `rarity` is the keyword's idf. The anchor adds `score` · `rarity` to each of `notes` in its channel.
    """

    channel: Literal["keywords", "topics"]
    keyword: str
    topic: str | None
    score: float
    rarity: float
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class PassageEntry(Result):
    """What became of a passage of a long message: its note, and how, as Entry has it."""

    note: str
    kind: EntryKind
    status: str = "active"


@dataclass(frozen=True, slots=True, repr=False)
class Entry(Result):
    """What became of one input: its note, and the decision about it (None for a repeat).

    append     a new note               link       a new note, tied to others
    merge      joined a note that says the same in other words; the note has both texts now
    reinforce  joined a note that says the same in the same words
    supersede  a new note, which replaces an older one
    discard    kept as a source, without a note (''): it tells nothing, or only confirms what the user said
    defer      a pending note, to be constructed later
    repeat     stored already; nothing was written
    `status` is the note's. A repeat of a deleted note has the status deleted; give it another id to store it anew.
    A long message has a note for each of its passages: `passages` tell what became of each, in order, all by one
    decision, and `kind`, `note` and `status` are those of the passage that changed most. Otherwise `passages` is empty.
    """

    brief = ("source", "note", "kind", "decision", "status")

    source: str
    note: str
    kind: EntryKind
    decision: str | None
    status: str = "active"
    passages: tuple[PassageEntry, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes that hold it, each once."""
        held = [one.note for one in self.passages] or [self.note]
        return tuple(dict.fromkeys(note for note in held if note))


@dataclass(frozen=True, slots=True, repr=False)
class Receipt(Result):
    """What a write did with each input, the seconds that each stage took, and what models cost.

    `fallbacks` says, once for each reason, what the engine did itself because a model did not.
    """

    brief = ("entries", "fallbacks")

    entries: tuple[Entry, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    cost: Cost = NOTHING
    fallbacks: tuple[str, ...] = ()

    @property
    def added(self) -> int:
        """How many inputs made a new note; a long message makes several."""
        return sum(entry.kind in ("append", "link", "supersede", "defer") for entry in self.entries)

    @property
    def repeats(self) -> int:
        """How many inputs were known already."""
        return self.count("repeat")

    def count(self, kind: str) -> int:
        """How many inputs became this."""
        return sum(entry.kind == kind for entry in self.entries)


@dataclass(frozen=True, slots=True, repr=False)
class Considered(Result):
    """A note that a new one was compared with: the two scores (MemFly, equation 6), the relation of the two, and why.

    `similarity` is the larger cosine of the two texts' vectors (-1 to 1). The scores lie between 0 and 1. `part` is the
    passage of a long message that was compared, counted from 0. `former` are the words of the note that a change makes
    untrue, where it says more than these; where the new one was said "before" the note that tells its change, they are
    the new one's. `follows` is the note whose words it repeated, and whose change it shares.
    """

    note: str
    redundancy: float
    complementarity: float
    similarity: float
    relation: Relation
    evidence: str = ""
    part: int = 0
    former: str = ""
    follows: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class About(Result):
    """The words that a decision is about: those of a note as the decision left it, or of a source (then `note` is '').

    said        a source that joined a note, made none, or told of a profile
    created   a new note
    superseded  a note that was replaced                    changed   a note that was updated, deleted or brought back
    retired     a note that an undo took back
    untied      a note that lost a tie to another           tied      a note that got it back
    """

    role: Literal["said", "created", "superseded", "changed", "retired", "untied", "tied"]
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Decision(Result):
    """One change of the memory, as the audit log holds it.

    `note` is the note that it is about, '' for none or many; `sources` are the inputs. `considered` are the notes that
    were compared, best first. `model` is the chat model that judged, '' for none. `undoes` is the decision that it
    takes back, `undone_by` the one that took it back. `version` is the memory's after the write, `place` the decision's
    place in that write: together they give the order of commits, whatever the writers' clocks say. `scrubbed_by` is the
    erasure that took its words away: it can't be taken back. `about` holds the
    words that it is about, four entries at most; only `Memory.decisions` fills it.
    One of the kind `profile` changes the profile of `subject` (None for other kinds) by `delta`, as told by its source,
    whose text had the `hash`.
    """

    brief = ("id", "kind", "at", "note", "evidence", "undone_by")

    id: str
    kind: DecisionKind
    at: datetime
    note: str
    sources: tuple[str, ...] = ()
    considered: tuple[Considered, ...] = ()
    evidence: str = ""
    thresholds: Mapping[str, float] = field(default_factory=dict)
    model: str = ""
    cost: Cost = NOTHING
    undoes: str | None = None
    undone_by: str | None = None
    version: int = 0
    place: int = 0
    about: tuple[About, ...] = field(default=(), compare=False)
    scrubbed_by: str | None = None
    subject: str | None = None
    delta: tuple[Delta, ...] = ()
    hash: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Deletion(Result):
    """How many notes were deleted, and by which decisions; undo each of these to bring back what they took.

    A note that other sources tell too loses some and stays: it is not counted.
    """

    notes: int
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Swept(Result):
    """How many notes a sweep archived, and by which decisions; undo each of these to bring its notes back.

    `erased` are the receipts of what it erased for good. `held` are the holds that kept something from that. `pruned`
    counts the former versions, decisions and runs that it removed, where history has a budget.
    """

    brief = ("notes", "erased", "pruned")

    notes: int
    decisions: tuple[Decision, ...] = ()
    erased: "tuple[ErasureReceipt, ...]" = ()
    held: "tuple[Hold, ...]" = ()
    pruned: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Evicted(Result):
    """How many notes were archived for a memory's cap, how many summaries stand for them, and by which decisions.

    Each decision made one summary; undo it to bring back what that sums. `left` is how many notes can be read now, and
    `cap` how many may; 0 is any number. So are `megabytes` and `cap_mb`. Of a dry run there are no decisions.
    `fallbacks` says, once for each reason, what was summed up without a model though there is one.
    """

    brief = ("notes", "summaries", "left", "cap")

    notes: int
    summaries: int
    left: int
    cap: int
    decisions: tuple[Decision, ...] = ()
    cost: Cost = NOTHING
    fallbacks: tuple[str, ...] = ()
    megabytes: float = 0.0
    cap_mb: float = 0.0


@dataclass(frozen=True, slots=True, repr=False)
class Evolved(Result):
    """What an evolution looked at, and what it changed, by which decisions; undo each of these to have it as before.

    `notes` are the new notes that were held against those near them. `ties` counts ties between notes that were added
    or strengthened, `tags` the notes that got tags, `contexts` those that a chat model wrote another context for, and
    `joined` those that it joined. `fallbacks` says, once for each reason, what was done without a model though there is
    one.
    """

    brief = ("notes", "ties", "tags", "contexts")

    notes: int
    ties: int = 0
    tags: int = 0
    contexts: int = 0
    decisions: tuple[Decision, ...] = ()
    cost: Cost = NOTHING
    fallbacks: tuple[str, ...] = ()
    joined: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Applied(Result):
    """What became, or would become, of the notes of a memory by the policies of now.

    `classes` counts the notes that get another class, by that class; `ends` those of the same class that end at another
    time. `decisions` are empty if nothing was written.
    """

    classes: Mapping[str, int]
    ends: int = 0
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Hold(Result):
    """What must not be erased, and why: of a memory all of it, or a session or a source (`''` for all)."""

    id: str
    reason: str
    at: datetime
    session: str = ""
    source: str = ""

    def keeps(self, source: str, session: str) -> bool:
        """Tell whether it keeps a source of a session, by their ids.

        >>> from datetime import UTC, datetime
        >>> Hold("1", "A dispute.", datetime(2024, 5, 1, tzinfo=UTC), session="bank").keeps("a", "sea")
        False
        """
        return self.source == source if self.source else self.session in ("", session)


@dataclass(frozen=True, slots=True, repr=False)
class Chosen(Result):
    """A source that an erasure takes, or that is near: the first words of its `text`, and `why`, '' without a query.

    `status` is that of its note: "active", "superseded", "deleted", "archived" …; '' if it has none.
    """

    brief = ("source", "text", "why", "status")

    source: str
    text: str
    why: str = ""
    status: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class ErasurePlan(Result):
    """What `Memory.erase` would erase: `sources` by their ids, and the `notes` that they alone tell.

    `remade` counts the notes that stay and are made anew, since they tell one of the sources too, or may quote one.
    `chosen` has the words of each source and why it was chosen, the best first; `near` is what a query was near to and
    left out. It holds for the `version` of the memory that it names. `held` are
    the holds that refuse it. `rule` says how the sources were chosen, without their words. `tenant` and `user_id` say
    whose memory it is of.
    """

    brief = ("id", "rule", "notes", "remade", "held")

    id: str
    tenant: str
    user_id: str | None
    rule: str
    version: int
    sources: tuple[str, ...]
    notes: int
    remade: int
    chosen: tuple[Chosen, ...] = ()
    near: tuple[Chosen, ...] = ()
    held: tuple[Hold, ...] = ()
    everything: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class ErasureReceipt(Result):
    """Proof of an erasure, without content: the `number`th of a tenant, chained to the one before by its `hash`.

    `scope` is a hash of whose memory it was, salted with the erasure's `id`. `counts` tell how many sources and notes
    were erased, and how many notes were made anew. `residue` counts what the check still found (0, or the erasure
    was not whole), `probes` the runs of words that it looked for; 0 where the process that held them was killed: then
    the check saw the structure alone.
    """

    brief = ("number", "rule", "counts", "residue", "ended")

    number: int
    id: str
    scope: str
    rule: str
    begun: datetime
    ended: datetime
    counts: Mapping[str, int]
    residue: int
    probes: int
    previous: str
    hash: str


@dataclass(frozen=True, slots=True, repr=False)
class Exported(Result):
    """What an export wrote: the file, how many nodes and relationships, its bytes, and the SHA-256 in its last line."""

    path: str
    nodes: int
    relationships: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, repr=False)
class Imported(Result):
    """What an import read: the file, and how many nodes and relationships are in the memory now."""

    path: str
    nodes: int
    relationships: int


@dataclass(frozen=True, slots=True, repr=False)
class Reflected(Result):
    """What an answer made of a note that was shown for it, and `why` that is known.

    used          the answer cites it, or has a word that it alone has, or else is related to it
    contradicted  a sentence of the answer and the note can't both be true
    unused        none of these, of the first five shown
    shown         none of these, of those behind

    `utility` (0 to 100) is how useful it has proved to its reader, this answer included, and `before` what that was;
    both are None where use is not counted, if the note can't be read any more, and for who has no memory of his own.
    """

    brief = ("note", "outcome", "why", "utility")

    note: str
    outcome: Outcome
    why: str
    before: int | None = None
    utility: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Reflection(Result):
    """What an answer to a question made of the notes shown for it, in their order.

    `decisions` ended notes that were used as often as their policy allows, prolonged such as it prolongs, or tagged
    what the answer contradicts (`use.flag`).
    """

    brief = ("query", "notes")

    query: str
    notes: tuple[Reflected, ...]
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class User(Result):
    """A user of a tenant: `id` is the `user_id`; `notes` counts those that can be read."""

    id: str
    notes: int


@dataclass(frozen=True, slots=True, repr=False)
class Tenant(Result):
    """A tenant of the database: how many users it has, and notes that can be read, the shared ones included.

    Of several servers, the one that it lives on, and the one that it is being moved `to`.
    """

    name: str
    users: int
    notes: int
    server: str = ""
    to: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Session(Result):
    """A conversation, or a document: how many sources it has, and when its first and last were said.

    `began` and `ended` are None where no time was given.
    """

    id: str
    sources: int
    began: datetime | None = None
    ended: datetime | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Spending(Result):
    """What chat models cost a memory on one day (UTC)."""

    day: date
    cost: Cost


@dataclass(frozen=True, slots=True, repr=False)
class Tie(Result):
    """Another note that a note is tied to, by a link, change, conflict or supersede; `newer` if it came later."""

    note: str
    context: str
    status: str
    kind: str
    score: float
    newer: bool
    decision: str


def steps_behind(taken: Sequence[tuple[str, str]], known: Iterable[str]) -> dict[str, int]:
    """Count for each known note how many took the place of one another, down to it: a third may have the second's.

    `taken` are pairs of notes: one, and that which it took the place of.

    >>> steps_behind([("2", "1"), ("3", "2")], ["1", "2", "3"])
    {'1': 2, '2': 1, '3': 0}
    """
    steps = dict.fromkeys(known, 0)
    for _ in taken:
        for newer, older in taken:
            if newer in steps and older in steps:
                steps[older] = min(max(steps[older], steps[newer] + 1), len(taken))
    return steps


@dataclass(frozen=True, slots=True, repr=False)
class Contrary(Result):
    """Two notes, by id, that can't both be true of one time.

    `kind` is conflict, change if the newer tells the present state, supersede if it replaced the older, or untied where
    such a tie was taken back: then nothing is contrary.
    `same_speaker` tells whether one speaker said both. `lower` is the one that is trusted less, '' if neither is.
    `former` are the words of the older one that a change makes untrue; '' for all of them.
    """

    newer: str
    older: str
    kind: str
    newer_said: datetime
    older_said: datetime
    same_speaker: bool = True
    former: str = ""
    lower: str = ""

    @property
    def at_once(self) -> bool:
        """Whether a change puts right what was said just before, and may share no word with it."""
        return self.kind == "change" and self.newer_said - self.older_said <= AT_ONCE


@dataclass(frozen=True, slots=True, repr=False)
class Story(Result):
    """How a note came to be what it is: its versions and decisions, oldest first, and its ties."""

    brief = ("note",)

    note: Note
    versions: "tuple[Version, ...]"
    decisions: tuple[Decision, ...]
    ties: tuple[Tie, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Version(Result):
    """A note as it was from `note.recorded_at` to `note.superseded_at`, and the decision that made it so."""

    note: Note
    decision: Decision | None


@dataclass(frozen=True, slots=True, repr=False)
class Known(Result):
    """A note that tells of something, and why it is still there.

    `relevance` is that of a Hit. `kept` says by which policy it is there, and until when; `holds` are those that keep
    it from being erased. `decisions` are all about it, oldest first. Its sources are in the note.
    """

    brief = ("note", "kept")

    note: Note
    relevance: float | None
    kept: str
    holds: tuple[Hold, ...]
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Removed(Result):
    """Notes that left a memory, when, and by which rule.

    `rule` is the kind of the decision (delete, expire, archive, consolidate, undo …), or that of an erasure's receipt.
    `notes` counts them; it is 0 where notes lost one of several sources and stayed. One of `decision`, which can be
    undone unless it is undone already, and `receipt` is there.
    """

    brief = ("at", "rule", "notes")

    at: datetime
    rule: str
    notes: int
    decision: Decision | None = None
    receipt: ErasureReceipt | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Change(Result):
    """How a version of a note differs from the one before: of each field that does, what it was and is.

    Of the first version `was` is empty. `decision` made it.
    """

    brief = ("at", "was", "now")

    at: datetime
    was: Mapping[str, object]
    now: Mapping[str, object]
    decision: Decision | None


@dataclass(frozen=True, slots=True, repr=False)
class Given(Result):
    """A note that a reader was given, its version, from 1, and, of a call to `reflect`, its `utility` to him since."""

    note: str
    revision: int
    utility: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Retrieval(Result):
    """What a call gave a reader, and when: the `notes`, the best first.

    The reader is `user_id`, None for whoever asked the shared memory alone; `agent` and `session` are as they were
    given to the `call` (search, blocks, claims, context, answer, prompt or reflect), '' if they were not. `query` is
    '' where its words are not recorded, or were erased.
    """

    brief = ("at", "user_id", "call", "query", "notes")

    id: str
    at: datetime
    user_id: str | None
    notes: tuple[Given, ...]
    call: str
    query: str = ""
    agent: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class CacheStats(Result):
    """The cache of notes of a client: how many notes, their bytes, and the most bytes allowed.

    Of the notes that its searches have looked at, `found` were in the cache, and `fetched` were not.
    """

    notes: int = 0
    bytes: int = 0
    most_bytes: int = 0
    found: int = 0
    fetched: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Stats(Result):
    """How much a memory holds; `notes` counts by status, `past` counts former versions, `cache` is this client's.

    `used` counts the notes of which it is counted how its reader uses them, `attributes` what was told or set of
    profiles, `retrievals` the calls of which it is recorded what they gave its reader. Of a shared memory
    `shares_claims` tells whether the tenant's users share claims, and `shared_claims` counts those that enough of them
    make; of a user's `withholds_claims` tells that he takes no part.
    """

    brief = ("scope", "notes", "sources", "sessions", "keywords", "topics")

    scope: str
    model: str
    language: str = ""
    version: int = 0
    notes: Mapping[str, int] = field(default_factory=dict)
    sources: int = 0
    sessions: int = 0
    keywords: int = 0
    pairs: int = 0
    topics: int = 0
    blocks: int = 0
    claims: int = 0
    decisions: int = 0
    past: int = 0
    used: int = 0
    attributes: int = 0
    retrievals: int = 0
    shares_claims: bool = False
    withholds_claims: bool = False
    shared_claims: int = 0
    cache: CacheStats = CacheStats()
