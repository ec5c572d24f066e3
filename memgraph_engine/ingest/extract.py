"""Let a chat model make sources self-contained (MemFly, section 3.3.1): context, keywords, event time, or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

from memgraph_engine.cost import Cost
from memgraph_engine.language.dates import events
from memgraph_engine.language.keywords import is_hub
from memgraph_engine.llm.role import Entry, Request, role
from memgraph_engine.llm.roles import Roles
from memgraph_engine.llm.spent import Spent
from memgraph_engine.model.candidate import Placed
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.memory import Source

_EARLIER = 4  # turns before a batch that say what its pronouns mean


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a model made of a source; `noise` says why it makes no note, '' if it does. `cost` is the source's share."""

    model: str
    context: str
    keywords: tuple[str, ...]
    event: datetime | None
    noise: str
    cost: Cost
    policy: str = ""
    """The class that it gave, '' for none; there may be none of that name."""


def extract(
    roles: Roles, placed: Sequence[Placed], language: str, spent: Spent, classes: Sequence[Entry] = ()
) -> list[Extracted | None]:
    """Ask the extractor about sources, several in a request; None for what it can't answer.

    It also gives each one of the `classes`, if any. What models cost, and why they failed, is added to `spent`.
    """
    sources = [one.source for one in placed]
    turns = [_turn(source) for source in sources]
    groups = roles.batches("extraction", range(len(turns)), turns.__getitem__)

    def request(group: Sequence[int]) -> Request:
        earlier = _earlier(sources[: group[0]], placed[group[0]])
        return extraction([turns[at] for at in group], earlier, classes)

    found: list[Extracted | None] = [None] * len(sources)
    for group, answer in roles.answered(groups, request, spent):
        share = answer.cost.share(len(group))
        for one in answer.items:
            at = group[one.turn - 1]
            found[at] = _extracted(one, sources[at], language, answer.model, share)
    return found


def extraction(turns: Sequence[Entry], earlier: Sequence[Entry] = (), classes: Sequence[Entry] = ()) -> Request:
    """Ask what to keep of turns, numbered from 1; earlier ones only say what words like "she" refer to."""
    before = [{"turn": "earlier", **one} for one in earlier]
    if classes:
        return role("extraction-classing").request(turns, earlier=before, classes=classes)
    return role("extraction").request(turns, earlier=before)


def turn(text: str, speaker: str = "", said_at: datetime | None = None) -> Entry:
    """Return what a model sees of a turn; the day of the week helps it to find the date of "last Friday".

    >>> turn("I moved last Friday.", "Ana", datetime(2023, 5, 8, 13, 56, tzinfo=UTC))
    {'speaker': 'Ana', 'said': 'Monday 2023-05-08 13:56', 'text': 'I moved last Friday.'}
    """
    said = {"said": f"{said_at:%A %Y-%m-%d %H:%M}"} if said_at else {}
    return {**({"speaker": speaker} if speaker else {}), **said, "text": text}


def _extracted(turn: Any, source: Source, language: str, model: str, cost: Cost) -> Extracted:
    if not turn.keep:
        return Extracted(model, "", (), None, "nothing to remember, by the extractor", cost)
    event = datetime.combine(turn.event_from, time(), UTC) if turn.event_from else None
    keywords, policy = _keywords(turn.keywords, source, language), getattr(turn, "class", "")
    return Extracted(model, turn.context, keywords, event, "", cost, policy)


def _turn(source: Source) -> Entry:
    caption = f" [image: {source.caption}]" if source.caption else ""
    return turn(without_recalled(source.text) + caption, source.speaker or source.role, source.said_at)


def _earlier(asked: Sequence[Source], first: Placed) -> list[Entry]:
    """Return the turns just before the first of a group, of the same session."""
    session = first.source.session
    some = [source for source in asked[-_EARLIER:] if session and source.session == session]
    if not some and first.before:
        some = [first.before]
    return [_turn(source) for source in some]


def _keywords(given: Sequence[str], source: Source, language: str) -> tuple[str, ...]:
    """Leave out what makes a hub of every note: the speaker, and dates."""
    return tuple(
        word
        for word in given
        if not is_hub(word, language, speaker=source.speaker) and not events(word, source.said_at, language)
    )
