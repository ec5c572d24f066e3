"""From sources to candidate notes, without an LLM: context, terms, vectors and keywords (MemFly, section 3.3.1)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from memgraph_engine.embedding import CheckedEmbedder
from memgraph_engine.ingest.extract import Extracted
from memgraph_engine.ingest.keywords import candidates as phrases_of
from memgraph_engine.ingest.keywords import choose
from memgraph_engine.language import tokenize
from memgraph_engine.model.candidate import Candidate, Keyword
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.memory import Source
from memgraph_engine.model.names import canonical, key
from memgraph_engine.rendering import noise, render, told

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Vectors:
    """The vectors of one batch: a text is embedded once, however often the batch is tried."""

    def __init__(self, embedder: CheckedEmbedder) -> None:
        self._embedder = embedder
        self._known: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Iterable[str]) -> None:
        """Embed those not known yet, in one call."""
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        if new:
            self._known.update(zip(new, self._embedder.embed_documents(new), strict=True))

    def __getitem__(self, text: str) -> "NDArray[np.float32]":
        return self._known[text]


def keyword_phrases(source: Source, language: str) -> list[str]:
    """Return the phrases that may become a source's keywords; the speaker's name is none."""
    said = without_recalled(source.text)
    text = f"{said}\n{source.caption}" if source.caption else said
    return phrases_of(text, language, speaker=source.speaker)


@dataclass(frozen=True, slots=True)
class Placed:
    """A source in its place (`seq`), the id of the turn before it, and that turn if a context may repeat it."""

    source: Source
    previous: str | None = None
    before: Source | None = None


def place(sources: Iterable[Source], tails: Mapping[str, Source], hidden: Collection[str] = ()) -> list[Placed]:
    """Put sources into their sessions, in order.

    `tails` is the last turn of each session so far, of which no context repeats the `hidden`.
    """
    last, placed = dict(tails), []
    for source in sources:
        previous = last.get(source.session) if source.session else None
        here = replace(source, seq=previous.seq + 1 if previous else 0)
        if source.session:
            last[source.session] = here
        before = previous if previous and previous.id not in hidden else None
        placed.append(Placed(here, previous.id if previous else None, before))
    return placed


def past_noise(placed: Sequence[Placed], language: str, extracted: Mapping[str, Extracted]) -> list[Placed]:
    """Let no context repeat the noise of the same batch, which makes no note: as if it had come in a batch before."""
    noises = {one.source.id for one in placed if _noise(one.source, language, extracted.get(one.source.id))}
    return [replace(one, before=None) if one.before and one.before.id in noises else one for one in placed]


def _noise(source: Source, language: str, by: Extracted | None) -> str:
    return by.noise if by else noise(source, language)


def construct(
    placed: Sequence[Placed],
    known_keywords: Mapping[str, str],
    *,
    language: str,
    max_keywords: int,
    vectors: Vectors,
    extracted: Mapping[str, Extracted] = MappingProxyType({}),
) -> list[Candidate]:
    """Build a candidate note for each source, in order.

    `known_keywords` is the stored name for a keyword's key; `extracted` is what a chat model made of sources, by
    their ids: its context, keywords and event time go before the local ones.
    """
    texts = [render([(one.source, one.before)], language) for one in placed]
    written = [extracted.get(one.source.id) for one in placed]
    spoken = [text.spoken for text in texts]
    contexts = [by.context if by else text.context for by, text in zip(written, texts, strict=True)]
    phrases = [
        (list(by.keywords) if by else keyword_phrases(one.source, language)) if max_keywords else []
        for by, one in zip(written, placed, strict=True)
    ]
    vectors.embed(spoken + contexts + [phrase for some in phrases for phrase in some])
    names = dict(known_keywords)
    made = []
    for one, by, own, context, some in zip(placed, written, spoken, contexts, phrases, strict=True):
        chosen = choose(some, [vectors[p] for p in some], vectors[own], max_keywords)
        candidate = _waiting(one, own, context, language)
        made.append(
            replace(
                candidate,
                raw_vector=vectors[own],
                context_vector=vectors[context],
                keywords=_keywords(chosen, names, language, vectors),
                constructed_by=by.model if by else "",
                valid_from=by.event if by and by.event else candidate.valid_from,
                noise=_noise(one.source, language, by),
            )
        )
    return made


def waiting(placed: Sequence[Placed], language: str) -> list[Candidate]:
    """Build candidates that are to be constructed later: without vectors and keywords, found by their words."""
    texts = [render([(one.source, one.before)], language) for one in placed]
    return [_waiting(one, text.spoken, text.context, language) for one, text in zip(placed, texts, strict=True)]


def _waiting(one: Placed, raw: str, context: str, language: str) -> Candidate:
    return Candidate(
        source=one.source,
        previous=one.previous,
        before=one.before,
        raw=raw,
        context=context,
        raw_terms=tokenize(raw, language),
        context_terms=tokenize(context, language),
        raw_vector=None,
        context_vector=None,
        keywords=(),
        valid_from=min((event.start for event in told(one.source, language)), default=None),
        noise=noise(one.source, language),
    )


def _keywords(chosen: Iterable[str], names: dict[str, str], language: str, vectors: Vectors) -> tuple[Keyword, ...]:
    """Give near-identical phrases one name: the stored one, else the first seen."""
    found: dict[str, Keyword] = {}
    for phrase in chosen:
        meeting = key(phrase, language)
        if meeting and meeting not in found:
            name = names.setdefault(meeting, canonical(phrase))
            found[meeting] = Keyword(name, meeting, vectors[phrase])
    return tuple(found.values())
