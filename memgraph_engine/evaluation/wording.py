"""How near an answer's words are to the reference's; each measure is 0 to 100.

Nothing is fetched: BLEU's tokenizer is nltk's without its sentence splitter, METEOR matches words and stems but no
synonyms, since WordNet is a download of its own.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.errors import needed

MEASURES = ("F1", "BLEU-1", "ROUGE-L", "ROUGE-2", "ROUGE-2 recall", "METEOR")
SBERT = "SBERT"

_SPLIT = re.compile(r"[\s.,!?]+")


def wording(answer: str, reference: str) -> dict[str, float]:
    """Score an answer's words by all MEASURES; raises MissingExtra.

    >>> {name: round(value) for name, value in wording("in May 2023", "7 May 2023").items()}
    {'F1': 67, 'BLEU-1': 67, 'ROUGE-L': 67, 'ROUGE-2': 50, 'ROUGE-2 recall': 50, 'METEOR': 62}
    """
    rouge = _rouge().score(reference, answer)
    return {
        "F1": f1(answer, reference),
        "BLEU-1": bleu_1(answer, reference),
        "ROUGE-L": 100 * rouge["rougeL"].fmeasure,
        "ROUGE-2": 100 * rouge["rouge2"].fmeasure,
        "ROUGE-2 recall": 100 * rouge["rouge2"].recall,
        "METEOR": meteor(answer, reference),
    }


def f1(answer: str, reference: str) -> float:
    """Return the harmonic mean of precision and recall over the sets of lower-cased words, as A-MEM counts it.

    MemFly (section 4.1) follows A-MEM (Xu et al. 2025).

    >>> round(f1("He lives in Lisbon.", "Lisbon"))
    40
    """
    given, wanted = _words(answer), _words(reference)
    both = len(given & wanted)
    return 100 * 2 * both / (len(given) + len(wanted)) if both else 0.0


def bleu_1(answer: str, reference: str) -> float:
    """Return the precision of the words, times the brevity penalty (Papineni et al. 2002).

    >>> round(bleu_1("the Lisbon", "the city of Lisbon"), 1)
    36.8
    """
    from nltk.translate.bleu_score import sentence_bleu

    given = _tokens(answer)
    return 100 * float(sentence_bleu([_tokens(reference)], given, weights=(1,))) if given else 0.0


def meteor(answer: str, reference: str) -> float:
    """Return METEOR (Banerjee and Lavie 2005) by exact words and Porter stems, without WordNet's synonyms.

    >>> meteor("he paints", "painting he") > meteor("he draws", "painting he")
    True
    """
    from nltk.translate.meteor_score import single_meteor_score

    return 100 * float(single_meteor_score(_tokens(reference), _tokens(answer), wordnet=_NoSynonyms()))


def similarity(vectors: "NDArray[np.float32]") -> float:
    """Return the cosine of two sentence vectors, shape (2, dimensions), times 100: SBERT similarity."""
    answer, reference = vectors
    return 100 * float(answer @ reference / (np.linalg.norm(answer) * np.linalg.norm(reference)))


def require_measures() -> None:
    """Raise MissingExtra unless everything that measures and draws is installed."""
    _nltk()
    _rouge()
    with needed("Evaluating", "eval"):
        import matplotlib  # noqa: F401


class _NoSynonyms:
    """Stands in for nltk's WordNet: nothing has a synonym."""

    def synsets(self, word: str) -> Sequence[Any]:  # noqa: ARG002  as nltk calls it
        return ()


def _words(text: str) -> set[str]:
    return set(_SPLIT.split(text.lower())) - {""}


def _tokens(text: str) -> list[str]:
    tokenized: list[str] = _nltk().word_tokenize(text.lower(), preserve_line=True)
    return tokenized


@cache
def _rouge() -> Any:
    with needed("Measuring answers", "eval"):
        from rouge_score.rouge_scorer import RougeScorer
    return RougeScorer(["rouge2", "rougeL"], use_stemmer=True)


@cache
def _nltk() -> Any:
    with needed("Measuring answers", "eval"):
        from nltk import tokenize
    return tokenize
