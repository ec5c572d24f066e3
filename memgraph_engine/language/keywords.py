"""Find the keywords of a text without an LLM: candidate phrases, chosen by their vectors.

Weighed: yake and HanTa (LGPL/GPL), rake-nltk (downloads its data), multi-rake (no longer kept), rakun2
(matplotlib at run time), pytextrank (spaCy's models), keybert (torch). Ours is word lists and one grammar.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memgraph_engine.language.phrases import phrases
from memgraph_engine.language.terms import tokenize, word_list

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_CANDIDATES = 12
_LONGEST = 60  # characters of a phrase
_LETTERS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_NAME_BONUS = 0.15  # of cosine: what a name is worth over a phrase that is as near to the text


def candidates(text: str, language: str, *, speaker: str) -> list[str]:
    """Return at most 12 phrases that may be keywords, in the order of the text; names keep their capitals.

    Never the speaker, a date, a number or an address. `speaker` is '' for a document.

    >>> candidates("I joined a support group in New York last May.", "english", speaker="Ann")
    ['support group', 'New York']
    """
    own = canonical(speaker)
    counts: Counter[str] = Counter()
    spelt: dict[str, str] = {}
    for phrase in phrases(text, language, frozenset(own.split())):
        if len(phrase) > _LONGEST or canonical(phrase) == own:
            continue
        form = key(phrase, language)
        counts[form] += 1
        if _is_name(phrase) > _is_name(spelt.setdefault(form, phrase)):
            spelt[form] = phrase
    best = sorted(spelt, key=lambda form: (-counts[form], not _is_name(spelt[form])))[:MAX_CANDIDATES]
    return [phrase for form, phrase in spelt.items() if form in best]


def choose(
    candidates: Sequence[str],
    phrase_vectors: "NDArray[np.float32] | Sequence[NDArray[np.float32]]",
    text_vector: "NDArray[np.float32]",
    limit: int,
) -> list[str]:
    """Return at most `limit` candidates, the nearest to the text first, none inside a better one.

    `phrase_vectors` (n, d) and `text_vector` (d,) are unit vectors; a name counts as .15 of cosine nearer.
    """
    scores = [
        float(vector @ text_vector) + _NAME_BONUS * _is_name(phrase)
        for phrase, vector in zip(candidates, phrase_vectors, strict=True)
    ]
    ranked = sorted(zip(scores, candidates, strict=True), key=lambda scored: -scored[0])
    chosen: list[str] = []
    for _, phrase in ranked:
        inner = f" {canonical(phrase)} "
        if len(chosen) < limit and not any(inner in f" {canonical(better)} " for better in chosen):
            chosen.append(phrase)
    return chosen


def is_hub(phrase: str, language: str, *, speaker: str) -> bool:
    """Tell whether a phrase is one that every note would share: the speaker, a date, a number.

    >>> [is_hub(phrase, "english", speaker="Ana Sol") for phrase in ("Ana", "Friday", "8 May, 2023", "Porto")]
    [True, True, True, False]
    """
    own, said = canonical(speaker), canonical(phrase)
    if own and said in (own, *own.split()):
        return True
    words = set(_LETTERS.findall(_ORDINAL.sub("", said)))
    times, small = word_list(language, "time-words"), word_list(language, "common-words")
    dated = bool(words & times) or any(letter.isdigit() for letter in said)
    return not words or (dated and words <= times | small)


def _is_name(phrase: str) -> bool:
    return any(c.isupper() for c in phrase)


def canonical(name: str) -> str:
    """Return a keyword's name: NFC, case-folded, white space folded.

    >>> canonical("  Support   Groups ")
    'support groups'
    """
    folded = unicodedata.normalize("NFC", name).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def key(name: str, language: str) -> str:
    """Return the form by which names that differ in ending, hyphen or spacing meet.

    >>> key("Support groups", "english") == key("support-group", "english")
    True
    """
    return "".join(tokenize(name, language)) or canonical(name)
