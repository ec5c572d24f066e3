"""From sources to candidate notes, without an LLM: context, terms, vectors and keywords (MemFly, section 3.3.1)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memgraph_engine.embedding import CheckedEmbedder
from memgraph_engine.ingest.keywords import candidates as phrases_of
from memgraph_engine.ingest.keywords import choose
from memgraph_engine.language import tokenize
from memgraph_engine.model.candidate import Candidate, Keyword
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
    text = f"{source.text}\n{source.caption}" if source.caption else source.text
    return phrases_of(text, language, speaker=source.speaker)


def construct(
    sources: Sequence[Source],
    tails: Mapping[str, Source],
    known_keywords: Mapping[str, str],
    *,
    hidden: Collection[str] = (),
    language: str,
    max_keywords: int,
    vectors: Vectors,
) -> list[Candidate]:
    """Build a candidate note for each source, in order.

    `tails` is the last turn of each session so far, of which no context repeats the `hidden`; `known_keywords`
    is the stored name for a keyword's key. A source's place in its session (`seq`) is set here.
    """
    placed = list(_in_sessions(sources, tails))
    befores = [previous if previous and previous.id not in hidden else None for _, previous in placed]
    texts = [render([(source, before)], language) for (source, _), before in zip(placed, befores, strict=True)]
    phrases = [keyword_phrases(source, language) if max_keywords else [] for source, _ in placed]
    spoken, contexts = [text.spoken for text in texts], [text.context for text in texts]
    vectors.embed(spoken + contexts + [phrase for some in phrases for phrase in some])
    names = dict(known_keywords)
    made = []
    for (source, previous), before, own, context, some in zip(placed, befores, spoken, contexts, phrases, strict=True):
        chosen = choose(some, [vectors[p] for p in some], vectors[own], max_keywords)
        made.append(
            Candidate(
                source=source,
                previous=previous.id if previous else None,
                before=before,
                raw=own,
                context=context,
                raw_terms=tokenize(own, language),
                context_terms=tokenize(context, language),
                raw_vector=vectors[own],
                context_vector=vectors[context],
                keywords=_keywords(chosen, names, language, vectors),
                valid_from=min((event.start for event in told(source, language)), default=None),
                noise=noise(source, language),
            )
        )
    return made


def _in_sessions(sources: Sequence[Source], tails: Mapping[str, Source]) -> Iterable[tuple[Source, Source | None]]:
    """Yield each source with its place in its session, and the turn before it."""
    last = dict(tails)
    for source in sources:
        previous = last.get(source.session) if source.session else None
        placed = replace(source, seq=previous.seq + 1 if previous else 0)
        if source.session:
            last[source.session] = placed
        yield placed, previous


def _keywords(chosen: Iterable[str], names: dict[str, str], language: str, vectors: Vectors) -> tuple[Keyword, ...]:
    """Give near-identical phrases one name: the stored one, else the first seen."""
    found: dict[str, Keyword] = {}
    for phrase in chosen:
        meeting = key(phrase, language)
        if meeting and meeting not in found:
            name = names.setdefault(meeting, canonical(phrase))
            found[meeting] = Keyword(name, meeting, vectors[phrase])
    return tuple(found.values())
