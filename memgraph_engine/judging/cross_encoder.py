"""A cross-encoder for natural language inference, by its name or folder."""

from collections.abc import Sequence

from memgraph_engine.errors import MissingExtra, SettingsError
from memgraph_engine.forks import lock
from memgraph_engine.model.ports import Judgement

_LABELS = ("contradiction", "entailment", "neutral")


class CrossEncoderJudge:
    """Asks whether either text entails the other: a turn entails what is observed in it, seldom the other way round.

    Two texts state the same where one entails the other and neither contradicts it.
    """

    def __init__(self, model: str) -> None:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError:
            raise MissingExtra(f"the judge sentence-transformers/{model}", "sentence-transformers") from None
        try:
            self._model = CrossEncoder(model)
        except (OSError, ValueError) as error:
            raise SettingsError(f"sentence-transformers could not load the judge {model!r}: {error}") from error
        named = {name.casefold(): place for place, name in (self._model.config.id2label or {}).items()}
        if not set(_LABELS) <= set(named):
            raise SettingsError(
                f"The cross-encoder {model!r} has the labels {', '.join(map(str, named))}; one for natural language "
                f"inference has {', '.join(_LABELS)}."
            )
        self._places = [int(named[label]) for label in _LABELS]
        self._lock = lock()  # a tokenizer must not be shared between threads
        self.name = f"sentence-transformers/{model.rstrip('/').rpartition('/')[2]}"

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """Return a judgement for each pair, read in both directions."""
        if not pairs:
            return []
        both = [list(pair) for pair in pairs] + [[new, old] for old, new in pairs]
        with self._lock:
            shares = self._model.predict(both, apply_softmax=True, show_progress_bar=False)
        rows = [[float(row[place]) for place in self._places] for row in shares]
        return [_judgement(*ways) for ways in zip(rows[: len(pairs)], rows[len(pairs) :], strict=True)]


def _judgement(forth: Sequence[float], back: Sequence[float]) -> Judgement:
    contradiction, entailment = (max(way[place] for way in (forth, back)) for place in (0, 1))
    if contradiction >= max(entailment, 0.5):
        return Judgement("contradictory", contradiction)
    if entailment > 0.5:
        return Judgement("same", entailment)
    return Judgement("different", min(forth[2], back[2]))
