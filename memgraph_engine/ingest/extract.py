"""Let a chat model make sources self-contained (MemFly, section 3.3.1): context, keywords, event time, or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Protocol

from memgraph_engine.cost import Cost
from memgraph_engine.language.dates import events
from memgraph_engine.language.keywords import is_hub
from memgraph_engine.llm.answers import ExtractedTurn
from memgraph_engine.llm.requests import Request, Turn, extraction
from memgraph_engine.llm.roles import CheckedAnswer, Roles
from memgraph_engine.llm.spent import Spent
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


class _Placed(Protocol):
    @property
    def source(self) -> Source: ...
    @property
    def before(self) -> Source | None: ...


def extract(roles: Roles, placed: Sequence[_Placed], language: str, spent: Spent) -> list[Extracted | None]:
    """Ask the extractor about sources, several in a request; None for what it can't answer.

    What models cost, and why they failed, is added to `spent`.
    """
    sources = [one.source for one in placed]
    groups, start = list[range](), 0
    for batch in roles.batches([_turn(source) for source in sources]):
        groups.append(range(start, start + len(batch)))
        start += len(batch)

    def request(group: range) -> Request[ExtractedTurn]:
        earlier = _earlier(sources[: group.start], placed[group.start])
        return extraction([_turn(sources[at]) for at in group], earlier)

    found: list[Extracted | None] = [None] * len(sources)
    for group, answer in roles.answered("Extraction", groups, request, spent):
        found[group.start : group.stop] = _read(answer, sources[group.start : group.stop], language)
    return found


def _read(answer: CheckedAnswer[ExtractedTurn], group: Sequence[Source], language: str) -> list[Extracted | None]:
    turns = {turn.turn: turn for turn in answer.items}
    share = answer.cost.share(len(group))
    return [_extracted(turns[at], source, language, answer.model, share) for at, source in enumerate(group, 1)]


def _extracted(turn: ExtractedTurn, source: Source, language: str, model: str, cost: Cost) -> Extracted:
    if not turn.keep:
        return Extracted(model, "", (), None, "nothing to remember, by the extractor", cost)
    event = datetime.combine(turn.event_from, time(), UTC) if turn.event_from else None
    return Extracted(model, turn.context, _keywords(turn.keywords, source, language), event, "", cost)


def _turn(source: Source) -> Turn:
    caption = f" [image: {source.caption}]" if source.caption else ""
    return Turn(without_recalled(source.text) + caption, source.speaker or source.role, source.said_at)


def _earlier(asked: Sequence[Source], first: _Placed) -> list[Turn]:
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
