"""What a search is compared with: BM25 and plain vectors over the same texts, of which there may come more."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memgraph_engine.language.terms import tokenize
from memgraph_engine.model.ports import Embedder
from memgraph_engine.recall.fusion import bm25

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Words:
    """BM25 over texts, plain."""

    def __init__(self, texts: Sequence[str] = (), language: str = "english") -> None:
        self._language = language
        self._texts: list[Counter[str]] = []
        self.add(texts)

    def add(self, texts: Sequence[str]) -> None:
        """Count the words of more texts."""
        self._texts += [Counter(tokenize(text, self._language)) for text in texts]

    def best(self, question: str, most: int = 10) -> list[int]:
        """Return the places of the best texts that share a word with the question."""
        import numpy as np

        words = list(dict.fromkeys(tokenize(question, self._language)))
        counts = np.array([[text[word] for word in words] for text in self._texts], dtype=np.float64)
        lengths = np.array([text.total() for text in self._texts], dtype=np.float64)
        if not counts.size:
            return []
        scores = bm25(counts, lengths, len(lengths), float(lengths.mean())).sum(axis=1)
        return [int(place) for place in np.argsort(-scores, kind="stable")[:most] if scores[place] > 0]


class Vectors:
    """Cosines of texts."""

    def __init__(self, embedder: Embedder, texts: Sequence[str] = ()) -> None:
        self._embedder = embedder
        self._vectors: list[NDArray[np.float32]] = []
        self.add(texts)

    def add(self, texts: Sequence[str]) -> None:
        """Embed more texts."""
        import numpy as np

        self._vectors += [np.asarray(one) for one in self._embedder.embed_documents(list(texts))] if texts else []

    def best(self, question: str, most: int = 10) -> list[int]:
        """Return the places of the best texts."""
        import numpy as np

        if not self._vectors:
            return []
        scores = np.stack(self._vectors) @ np.asarray(self._embedder.embed_query(question))
        return [int(place) for place in np.argsort(-scores, kind="stable")[:most]]
