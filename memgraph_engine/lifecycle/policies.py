"""Policy classes (MemoryArchitect, section II.B), the rules that assign them, and the life that follows from both.

Nothing here looks at a clock or a graph: the life of a source is a function of its class, its times, and now.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, cast

from memgraph_engine.errors import InvalidInput
from memgraph_engine.language.questions import of_oneself, only_asks, small_talk
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.memory import DEFAULT_POLICY, NEVER, Note, Source
from memgraph_engine.resources import LANGUAGES
from memgraph_engine.trust import Trust, below, beside, by_origin, least

End = Literal["archive", "erase"]
Says = Literal["small-talk", "request"]
"""What a message says and nothing besides: greetings, thanks and the like; or questions and what is asked for."""


class Pattern(Protocol):
    """A regular expression."""

    def search(self, text: str, /) -> object | None:
        """Return what it finds in a text first, if anything."""


@dataclass(frozen=True, slots=True)
class Life:
    """The class of a note, when it ceases to be readable, when nothing is left of it, and whether it is kept apart."""

    policy: str = DEFAULT_POLICY
    expires_at: datetime = NEVER
    erase_at: datetime = NEVER
    apart: str | None = None

    @property
    def properties(self) -> dict[str, Any]:
        """The properties of a note that lives so."""
        ends = {"expires_at": self.expires_at, "erase_at": self.erase_at}
        return {"policy": self.policy, **ends, "apart": self.apart}

    @property
    def endless(self) -> "Life":
        """The same without an end."""
        return replace(self, expires_at=NEVER, erase_at=NEVER)


Lives = Life | Note | Source
"""Whatever ends, and may be kept apart."""


@dataclass(frozen=True, slots=True)
class Extension:
    """How much longer a note is kept each time that its utility rises `above` a bound (0 to 100)."""

    above: int
    by: timedelta


@dataclass(frozen=True, slots=True)
class Policy:
    """A class: for how long it can be read, and what becomes of it then; None is for ever.

    What lives as long as its `session` ends when that is ended, or had no turn for the time `ttl`.
    It counts from when it was stored, or `said`. What is archived is kept for `archive`, found by no search. What is
    `join`ed merges with a repeat of its own class; with `restart` the note then ends when the repeat does.
    Without `models` no chat model sees it; what is `asked` for is found only where its class is named.
    It also ends once `uses` answers used it, and `extend` prolongs it.
    `boost` (-1 to 1) moves its notes up or down in a search, and `half_life` says in which time they count half as
    much there, where the settings give that a weight. Its notes `start` with this utility (0 to 100), None for that of
    their kind. What may not `prune` or `evict` is kept however little it is used, and however full the memory is.
    `about` tells a chat model what is of it.
    """

    name: str
    ttl: timedelta | None = None
    said: bool = False
    at_end: End = "archive"
    archive: timedelta | None = None
    restart: bool = True
    join: bool = True
    session: bool = False
    models: bool = True
    asked: bool = False
    uses: int | None = None
    extend: Extension | None = None
    boost: float = 0.0
    half_life: timedelta | None = timedelta(days=30)
    start: int | None = None
    prune: bool = True
    evict: bool = True
    about: str = ""

    @property
    def apart(self) -> bool:
        """Whether its notes are kept apart: without keywords and ties, compared with none, quoted by their own alone.

        Whatever stands between notes would tell of them where they must not be told.
        """
        return self.asked or not self.models

    def life(self, begins: datetime, expires: datetime | None = None) -> Life:
        """Return the life of what begins then; it `expires` at a time of its own, if there is one.

        >>> from datetime import UTC
        >>> day = datetime(2024, 1, 1, tzinfo=UTC)
        >>> str(Policy("brief", timedelta(hours=24), archive=timedelta(days=30)).life(day).erase_at)
        '2024-02-01 00:00:00+00:00'
        """
        ends = expires or _after(begins, self.ttl)
        erased = ends if self.at_end == "erase" else _after(ends, self.archive)
        return Life(self.name, ends, erased, self.name if self.apart else None)


def _after(begins: datetime, time: timedelta | None) -> datetime:
    try:
        return begins + time if time is not None and begins < NEVER else NEVER
    except OverflowError:
        return NEVER


@dataclass(frozen=True, slots=True)
class Rule:
    """Assigns a class, of policies or of trust, to what has all that is given: '' and () ask for nothing."""

    policy: str
    kind: str = ""
    role: str = ""
    speaker: str = ""
    agent: str = ""
    session: str = ""
    tags: tuple[str, ...] = ()
    pattern: Pattern | None = None
    says: Says | None = None

    def fits(self, source: Source) -> bool:
        """Tell whether a source has all of it.

        >>> import re
        >>> Rule("private", pattern=re.compile("(?i)one-time code")).fits(Source("1", "My one-time code is 17.", ""))
        True
        >>> Rule("brief", says="request").fits(Source("1", "Book a table for two, please.", ""))
        True
        """
        own = (getattr(self, name) in ("", getattr(source, name)) for name in _NAMES)
        texts = (source.text, source.caption)
        found = not self.pattern or any(self.pattern.search(text) for text in texts)
        plain = found and all(own) and set(self.tags) <= set(source.tags)
        return plain and (self.says is None or self.says == _said(source))


_NAMES = ("kind", "role", "speaker", "agent", "session")


def _said(source: Source) -> Says | None:
    """Return what a message says and nothing besides, in any listed language; None for what may tell something.

    Who names himself in a request may tell of himself: "Remember that I am diabetic."
    """
    text = without_recalled(source.text)
    if source.kind != "message" or source.caption or not text.strip():
        return None
    if any(small_talk(text, one, assistant=source.role == "assistant") for one in LANGUAGES):
        return "small-talk"
    return "request" if not of_oneself(text) and any(only_asks(text, one) for one in LANGUAGES) else None


@dataclass(frozen=True, slots=True)
class Policies:
    """The classes by name, the class of what no rule fits, and the rules, of which the first that fits counts.

    `trust` are those by which sources get another class of trust than that of their kind and role.
    """

    default: str = DEFAULT_POLICY
    classes: Mapping[str, Policy] = field(default_factory=lambda: {DEFAULT_POLICY: Policy(DEFAULT_POLICY)})
    rules: tuple[Rule, ...] = ()
    trust: tuple[Rule, ...] = ()

    def assigned(self, source: Source, where: str, now: datetime) -> Source:
        """Return a source with its class and life; raises InvalidInput for what can't be.

        The class is that which came with the source, else that of the first rule that fits, else the default.
        """
        if source.policy_as and source.policy_as not in self.classes:
            raise InvalidInput(
                f"{where}: there is no policy {source.policy_as!r}; the policies are {', '.join(self.classes)}."
            )
        if source.expires_as and source.expires_as <= now:
            raise InvalidInput(f"{where}: expires {source.expires_as.isoformat()} is past; nothing was stored of it.")
        source = replace(source, begins_at=self._counted(self.of(source), source, now))
        life = self.life(source, now)
        if life.erase_at <= now:
            raise InvalidInput(
                f"{where} ended on {life.expires_at:%Y-%m-%d %H:%M} UTC and would be erased at once: policy "
                f"{life.policy} counts from when it was said. Nothing was stored of it."
            )
        return replace(source, **life.properties, trust_as=self._trust(source))

    def _trust(self, source: Source) -> Trust | Literal[""]:
        """Return the class of trust that a source has by a rule, or lower as it came; '' for that of its kind and role.

        A call may lower it, and only the policy file raises it.
        """
        own, ruled = by_origin(source.kind, source.role), self._ruled(source)
        given = least((ruled, source.trust_as or ruled))
        return "" if given == own == ruled else given

    def _ruled(self, source: Source) -> Trust:
        own = by_origin(source.kind, source.role)
        return next((cast("Trust", rule.policy) for rule in self.trust if rule.fits(source)), own)

    def as_given(self, source: Source) -> Source:
        """Return a source with the class of trust that a call gave it alone, as it came: its hash has no other."""
        return source if below(source.trust, self._ruled(source)) else replace(source, trust_as="")

    def life(self, source: Source, created: datetime) -> Life:
        """Return the life of a source that was stored then."""
        begins = source.begins_at or created
        own = source.expires_as and source.expires_as > begins  # else it has begun anew since
        return self.of(source).life(begins, source.expires_as if own else None)

    @staticmethod
    def _counted(policy: Policy, source: Source, stored: datetime) -> datetime:
        """Return from when the life of a source counts in a class.

        One that erases counts from when it was said, where that is known: a file that is read every night would else
        bring back what was erased.
        """
        said = (policy.said or policy.at_end == "erase") and not policy.session
        return min(source.said_at, stored) if said and source.said_at else stored

    def of_note(self, note: Note) -> Life:
        """Return the life that a note has by its sources, or by the class that it was given.

        It is the longest of theirs; but where one of them is kept apart, so is all of the note.
        """
        if note.policy_as in self.classes:
            return self.given(note, note.policy_as)
        lives = [self.life(source, note.created_at) for source in note.sources]
        return max(lives, key=lambda life: (life.apart is not None, life.expires_at, life.erase_at))

    def given(self, note: Note, policy: str) -> Life:
        """Return the life of a note in a class that it is given; raises InvalidInput for one that there is not.

        It counts from when the note's sources were stored, or said if the class counts from that: the last of these.
        """
        if policy not in self.classes:
            raise InvalidInput(f"There is no policy {policy!r}; the policies are {', '.join(self.classes)}.")
        own = self.classes[policy]
        begins = (self._counted(own, source, source.begins_at or note.created_at) for source in note.sources)
        return own.life(max(begins, default=note.created_at))

    def of(self, source: Source) -> Policy:
        """Return the class of a source: one that a model gave counts only where no rule fits."""
        named = source.policy_as if source.policy_as in self.classes else ""
        rule = next((rule.policy for rule in self.rules if rule.fits(source)), "")
        return self.classes[(rule or named if source.policy_by else named or rule) or self.default]

    def given_by(self, model: str, policy: str, source: Source, now: datetime) -> Source:
        """Return a source in a class that a chat model gave it; as it is where that would have been erased by now."""
        with suppress(InvalidInput):
            return self.assigned(replace(source, policy_as=policy, policy_by=model), "", source.begins_at or now)
        return source

    def unplaced(self, source: Source) -> bool:
        """Tell whether a source is in the default class because nobody and no rule gave it any."""
        named = source.policy_as or source.policy != self.default
        return not named and not any(rule.fits(source) for rule in self.rules)

    @property
    def open(self) -> list[Policy]:
        """The classes that a model may give, and a question may be about: their notes are not kept apart."""
        return [one for one in self.classes.values() if not one.apart]

    def wanted(self, question: str) -> tuple[str, ...]:
        """Return the classes that a question is about, by the rules that ask for a pattern and nothing else."""
        plain = (one for one in self.rules if one.pattern and one == Rule(one.policy, pattern=one.pattern))
        return tuple(one.policy for one in plain if one.pattern and one.pattern.search(question))

    def shown(self, include: Collection[str] = (), where: str = "include") -> frozenset[str]:
        """Return the classes whose notes a question may find: those that need not be asked for, and those to `include`.

        Raises InvalidInput for a class that there is not.

        >>> Policies(classes={"plain": Policy("plain"), "secret": Policy("secret", asked=True)}).shown()
        frozenset({'plain'})
        """
        for name in include:
            if name not in self.classes:
                raise InvalidInput(f"{where}: there is no policy {name!r}; the policies are {', '.join(self.classes)}.")
        return frozenset(one.name for one in self.classes.values() if not one.asked or one.name in include)

    @property
    def modelled(self) -> frozenset[str]:
        """The classes whose notes a chat model may see."""
        return frozenset(one.name for one in self.classes.values() if one.models)

    def seen_by_models(self, one: Lives) -> bool:
        """Tell whether a chat model may see it. What is kept apart with a class that the file lacks is seen by none."""
        return one.apart is None or one.apart in self.modelled

    def of_sessions(self, now: datetime) -> dict[str, Life]:
        """Return the lives, by class, of what lives as long as a session that has a turn now."""
        return {one.name: one.life(now) for one in self.classes.values() if one.session}

    def known(self, policy: str) -> Policy:
        """Return a class by its name; one that is unknown is the default."""
        return self.classes.get(policy) or self.classes[self.default]

    def anew(self, note: Note, now: datetime) -> Life:
        """Return the life of a note that comes back now: its class begins anew.

        A class that is unknown is the default, but does not end that the note is kept apart.
        """
        life = self.known(note.policy).life(now)
        return life if note.policy in self.classes else replace(life, apart=note.apart)

    @property
    def staying(self) -> list[str]:
        """The classes that no cap evicts."""
        return [one.name for one in self.classes.values() if not one.evict]

    def joins(self, new: tuple[str, datetime], known: tuple[str, datetime]) -> bool:
        """Tell whether what is new may join a known note: the class of each, and when it ends.

        Never across classes, and never where the note would end before what it is told, or tell it after its end.

        >>> Policies().joins(("factual", NEVER), ("private", NEVER))
        False
        """
        (policy, ends), (other, end) = new, known
        own = self.classes.get(policy, Policy(policy))
        return policy == other and own.join and (end == ends or (own.restart and end < ends))


def life_of(one: Source | Note) -> Life:
    """Return the life of a source or a note."""
    return Life(one.policy, one.expires_at, one.erase_at, one.apart)


def outlives(one: Lives, other: Lives) -> bool:
    """Tell whether one ends no earlier than another."""
    return one.expires_at >= other.expires_at and one.erase_at >= other.erase_at


def quoted(before: Source | None, source: Source, by: Lives | None = None) -> Source | None:
    """Return the turn before a source, if a context of it may repeat that; it lives as its note does (`by`), else so.

    Else the words of the turn would outlive it there, or pass for those of somebody who is trusted more. What is kept
    apart is repeated by its own class alone.
    """
    by = by or source
    fits = before and outlives(before, by) and before.apart in (None, by.apart) and beside(before.trust, source.trust)
    return before if fits else None
