"""From sources to candidate notes, without an LLM: context, terms, vectors and keywords (MemFly, section 3.3.1)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.ingest.extract import Extracted
from memgraph_engine.language.keywords import candidates as phrases_of, canonical, choose, key
from memgraph_engine.language.terms import tokenize
from memgraph_engine.lifecycle.policies import quoted
from memgraph_engine.model import code
from memgraph_engine.model.candidate import Candidate, Keyword
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.memory import Key, Source
from memgraph_engine.rendering.context import render, terms, told


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

    def clear(self) -> None:
        """Forget all of them."""
        self._known.clear()

    def __getitem__(self, text: str) -> "NDArray[np.float32]":
        return self._known[text]


class Phrases:
    """The phrases of one batch that may become keywords: found once for a source, however often the batch is tried."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, str], list[str]] = {}

    def of(self, source: Source, language: str) -> list[str]:
        """Return those of a source; the speaker's name is none. Of code they are what its syntax names."""
        place = source.hash, source.part, language
        if source.kind == "code":
            return code.keywords(source)
        if place not in self._known:
            said = without_recalled(source.text)
            text = f"{said}\n{source.caption}" if source.caption else said
            self._known[place] = phrases_of(text, language, speaker=source.speaker)
        return self._known[place]

    def keys(self, sources: Iterable[Source], language: str) -> list[str]:
        """Return the keys of the keywords that sources may carry."""
        found = (key(phrase, language) for source in sources for phrase in self.of(source, language))
        return sorted({meeting for meeting in found if meeting})

    def clear(self) -> None:
        """Forget all of them."""
        self._known.clear()


@dataclass(frozen=True, slots=True)
class Placed:
    """A source, or a passage of it, in its place (`seq`): after which source, and what a context may repeat before it.

    `previous` is the id of the turn before, None for a later passage too. `before` is the passage before it, else the
    turn before (of a long one the last passage). `noise` says why it makes no note, '' if it does. `waiting` is the id
    of the note that it has already.
    """

    source: Source
    previous: str | None = None
    before: Source | None = None
    noise: str = ""
    waiting: str = ""


def place(
    sources: Iterable[Source],
    tails: Mapping[str, Source],
    hidden: Collection[Key] = (),
    noise: Mapping[Key, str] = MappingProxyType({}),
) -> list[Placed]:
    """Put sources into their sessions, in order; those of a long message stand behind each other, passage by passage.

    `tails` is the last turn of each session so far, of which no context repeats the `hidden`. Nor does one repeat
    what makes no note (`noise` says why), nor what ends earlier, nor what is kept apart with another class.
    """
    last, placed = dict(tails), list[Placed]()
    for source in sources:
        previous = placed[-1].source if source.part else last.get(source.session) if source.session else None
        after = previous.id if previous and not source.part else None
        here = replace(source, seq=previous.seq + (after is not None) if previous else 0)
        if source.session:
            last[source.session] = here
        before = previous if previous and previous.key not in hidden and previous.key not in noise else None
        before = quoted(before, here) if here.kind != "code" else None
        placed.append(Placed(here, after, before, noise.get(source.key, "")))
    return placed


def construct(
    placed: Sequence[Placed],
    known_keywords: Mapping[str, str],
    *,
    language: str,
    max_keywords: int,
    vectors: Vectors,
    phrases: Phrases | None = None,
    extracted: Mapping[Key, Extracted] = MappingProxyType({}),
) -> list[Candidate]:
    """Build a candidate note for each source, in order; one that makes no note has neither vectors nor keywords.

    `known_keywords` is the stored name for a keyword's key; `extracted` is what a chat model made of sources: its
    context, keywords and event time go before the local ones. `phrases` are those found before. What is kept apart has
    no keywords.
    """
    drafts = [_written(draft, extracted.get(draft.source.key), language) for draft in waiting(placed, language)]
    local = phrases or Phrases()
    named = [
        (list(by.keywords) if (by := extracted.get(draft.source.key)) else local.of(draft.source, language))[
            : max_keywords if draft.source.kind == "code" else None
        ]
        if max_keywords and not draft.noise and not draft.source.apart
        else []
        for draft in drafts
    ]
    notes = [draft for draft in drafts if not draft.noise]
    texts = [note.raw for note in notes] + [note.context for note in notes]
    vectors.embed(texts + [phrase for some in named for phrase in some])
    names = dict(known_keywords)
    made = []
    for draft, some in zip(drafts, named, strict=True):
        if draft.noise:
            made.append(draft)
            continue
        own = vectors[draft.raw]
        chosen = some if draft.source.kind == "code" else choose(some, [vectors[p] for p in some], own, max_keywords)
        keywords = _keywords(chosen, names, language, vectors)
        made.append(replace(draft, raw_vector=own, context_vector=vectors[draft.context], keywords=keywords))
    return made


def waiting(placed: Sequence[Placed], language: str) -> list[Candidate]:
    """Build candidates that are to be constructed later: without vectors and keywords, found by their words."""
    texts = [render([(one.source, one.before)], language) for one in placed]
    return [
        Candidate(
            source=one.source,
            previous=one.previous,
            before=one.before,
            raw=text.spoken,
            context=text.context,
            raw_terms=terms(text.spoken, [one.source], language),
            context_terms=terms(text.context, [one.source], language),
            raw_vector=None,
            context_vector=None,
            keywords=(),
            valid_from=min((event.start for event in told(one.source, language)), default=None),
            noise=one.noise,
            waiting=one.waiting,
        )
        for one, text in zip(placed, texts, strict=True)
    ]


def _written(draft: Candidate, by: Extracted | None, language: str) -> Candidate:
    """Put what a model wrote in the place of what was made locally."""
    if not by or by.noise:
        return replace(draft, noise=by.noise) if by else draft
    return replace(
        draft,
        context=by.context,
        context_terms=tokenize(by.context, language),
        constructed_by=by.model,
        valid_from=by.event or draft.valid_from,
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
