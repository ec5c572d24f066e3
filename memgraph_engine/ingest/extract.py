"""Let a chat model make sources self-contained (MemFly, section 3.3.1): context, keywords, event time, or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Protocol

from memgraph_engine.errors import ModelError
from memgraph_engine.llm import Roles, Spent, Turn, batches, extraction
from memgraph_engine.model.cost import Cost
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.memory import Source
from memgraph_engine.model.names import canonical
from memgraph_engine.rendering import events

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


def extract(
    roles: Roles, placed: Sequence[_Placed], language: str, *, batch_tokens: int, spent: Spent
) -> dict[str, Extracted]:
    """Ask the extractor about sources, several in a request; what it can't answer is left to the local way.

    What models cost, and why they failed, is added to `spent`.
    """
    if not roles.has("extractor"):
        return {}
    sources = [one.source for one in placed]
    before = [one.before for one in placed]
    groups, start = [], 0
    for batch in batches([_turn(source) for source in sources], batch_tokens):
        groups.append((start, batch))
        start += len(batch)
    requests = [extraction(batch, _earlier(sources, before, at)) for at, batch in groups]
    found: dict[str, Extracted] = {}
    for (at, batch), answer in zip(groups, roles.ask_many(requests, meters=spent.meters), strict=True):
        if isinstance(answer, ModelError):
            spent.failed("Extraction", answer)
            continue
        spent.cost += answer.cost
        share = answer.cost.share(len(batch))
        for turn in answer.response.turns:
            source = sources[at + turn.turn - 1]
            event = datetime.combine(turn.event_from, time(), UTC) if turn.event_from else None
            context = turn.context if turn.keep else without_recalled(source.text) or source.text
            noise = "" if turn.keep else "nothing to remember, by the extractor"
            found[source.id] = Extracted(
                answer.model, context, _keywords(turn.keywords, source, language), event, noise, share
            )
    return found


def _turn(source: Source) -> Turn:
    caption = f" [image: {source.caption}]" if source.caption else ""
    return Turn(without_recalled(source.text) + caption, source.speaker or source.role, source.said_at)


def _earlier(sources: Sequence[Source], before: Sequence[Source | None], at: int) -> list[Turn]:
    """Return the turns just before a group, of the same session."""
    session = sources[at].session
    some = [source for source in sources[max(at - _EARLIER, 0) : at] if session and source.session == session]
    if not some and before[at]:
        some = [source for source in (before[at],) if source]
    return [_turn(source) for source in some]


def _keywords(given: Sequence[str], source: Source, language: str) -> tuple[str, ...]:
    """Leave out what makes a hub of every note: the speaker, and dates."""
    own = canonical(source.speaker)
    return tuple(
        word
        for word in given
        if canonical(word) not in (own, own.partition(" ")[0])
        and not events(word, source.said_at, language)
        and not word.strip().isdigit()
    )
