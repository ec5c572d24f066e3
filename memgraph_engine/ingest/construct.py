"""From sources to candidate notes, without an LLM: context, terms, vectors and keywords (MemFly, section 3.3.1)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.ingest.extract import Extracted
from memgraph_engine.language.keywords import candidates as phrases_of, canonical, choose, key
from memgraph_engine.language.terms import tokenize
from memgraph_engine.lifecycle.policies import quoted
from memgraph_engine.model import code
from memgraph_engine.model.candidate import Candidate, Keyword, Placed
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.memory import Key, Source
from memgraph_engine.rendering.context import render, terms, told


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


class Constructor:
    """Builds the candidate notes of one batch: a text is embedded once, however often the batch is tried.

    So are the phrases of a source that may become keywords found once.
    """

    def __init__(self, embedder: CheckedEmbedder, max_keywords: int) -> None:
        self._embedder, self._max_keywords = embedder, max_keywords
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._phrases: dict[tuple[str, int, str], list[str]] = {}

    def keys(self, sources: Iterable[Source], language: str) -> list[str]:
        """Return the keys of the keywords that sources may carry."""
        found = (key(phrase, language) for source in sources for phrase in self._named(source, language))
        return sorted({meeting for meeting in found if meeting})

    @property
    def vectors(self) -> "Mapping[str, NDArray[np.float32]]":
        """Those that were made, by their texts."""
        return self._vectors

    def clear(self) -> None:
        """Forget all texts."""
        self._vectors.clear()
        self._phrases.clear()

    def construct(
        self,
        placed: Sequence[Placed],
        known_keywords: Mapping[str, str],
        language: str,
        extracted: Mapping[Key, Extracted] = MappingProxyType({}),
    ) -> list[Candidate]:
        """Build a candidate note for each source, in order; one that makes no note has neither vectors nor keywords.

        `known_keywords` is the stored name for a keyword's key; `extracted` is what a chat model made of sources: its
        context, keywords and event time go before the local ones. What is kept apart has no keywords.
        """
        drafts = [_written(draft, extracted.get(draft.source.key), language) for draft in waiting(placed, language)]
        named = [self._chosen(draft, extracted.get(draft.source.key), language) for draft in drafts]
        notes = [draft for draft in drafts if not draft.noise]
        texts = [note.raw for note in notes] + [note.context for note in notes]
        self._embed(texts + [phrase for some in named for phrase in some])
        names = dict(known_keywords)
        made = []
        for draft, some in zip(drafts, named, strict=True):
            if draft.noise:
                made.append(draft)
                continue
            own, context = self._vectors[draft.raw], self._vectors[draft.context]
            near = [self._vectors[phrase] for phrase in some]
            chosen = some if draft.source.kind == "code" else choose(some, near, own, self._max_keywords)
            keywords = _keywords(chosen, names, language, self._vectors)
            made.append(replace(draft, raw_vector=own, context_vector=context, keywords=keywords))
        return made

    def _chosen(self, draft: Candidate, by: Extracted | None, language: str) -> list[str]:
        """Return the phrases that a candidate's keywords are chosen from."""
        if not self._max_keywords or draft.noise or draft.source.apart:
            return []
        some = list(by.keywords) if by else self._named(draft.source, language)
        return some[: self._max_keywords] if draft.source.kind == "code" else some

    def _named(self, source: Source, language: str) -> list[str]:
        """Return the phrases of a source; the speaker's name is none. Of code they are what its syntax names."""
        place = source.hash, source.part, language
        if source.kind == "code":
            return code.keywords(source)
        if place not in self._phrases:
            said = without_recalled(source.text)
            text = f"{said}\n{source.caption}" if source.caption else said
            self._phrases[place] = phrases_of(text, language, speaker=source.speaker)
        return self._phrases[place]

    def _embed(self, texts: Iterable[str]) -> None:
        """Embed those not known yet, in one call."""
        new = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        if new:
            self._vectors.update(zip(new, self._embedder.embed_documents(new), strict=True))


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


def _keywords(
    chosen: Iterable[str], names: dict[str, str], language: str, vectors: "Mapping[str, NDArray[np.float32]]"
) -> tuple[Keyword, ...]:
    """Give near-identical phrases one name: the stored one, else the first seen."""
    found: dict[str, Keyword] = {}
    for phrase in chosen:
        meeting = key(phrase, language)
        if meeting and meeting not in found:
            name = names.setdefault(meeting, canonical(phrase))
            found[meeting] = Keyword(name, meeting, vectors[phrase])
    return tuple(found.values())
