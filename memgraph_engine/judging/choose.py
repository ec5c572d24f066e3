"""From the setting `gate.judge` to a judge."""

from collections.abc import Sequence

from memgraph_engine.arrays import np
from memgraph_engine.errors import SettingsError
from memgraph_engine.inference.cross_encoder import CrossEncoder, cross_encoder
from memgraph_engine.model.ports import Judge, Judgement
from memgraph_engine.settings import Settings

_LABELS = ("contradiction", "entailment", "neutral")


class CrossEncoderJudge:
    """Asks whether either text entails the other: a turn entails what is observed in it, seldom the other way round.

    Two texts state the same where one entails the other and neither contradicts it.
    """

    def __init__(self, model: CrossEncoder) -> None:
        if not set(_LABELS) <= set(model.labels):
            raise SettingsError(
                f"The cross-encoder {model.name} has the labels {', '.join(model.labels) or '(none)'}; one for natural "
                f"language inference has {', '.join(_LABELS)}."
            )
        self._places = [model.labels.index(label) for label in _LABELS]
        self.name, self._read = model.name, model.read

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """Return a judgement for each pair, read in both directions."""
        if not pairs:
            return []
        numbers = self._read([*pairs, *((new, old) for old, new in pairs)])
        shares = np.exp(numbers - numbers.max(axis=1, keepdims=True))
        rows = (shares / shares.sum(axis=1, keepdims=True))[:, self._places].tolist()
        return [_judgement(*ways) for ways in zip(rows[: len(pairs)], rows[len(pairs) :], strict=True)]


def judge_named(settings: Settings) -> Judge | None:
    """Load the judge that the settings name; None if they name none."""
    named = settings.gate.judge
    if not named:
        return None
    if found := cross_encoder(named, "judge", settings):
        return CrossEncoderJudge(found)
    raise SettingsError(
        f"There is no judge {named!r}: set gate.judge to onnx:/FOLDER or sentence-transformers/MODEL, a cross-encoder "
        "for natural language inference, or give an object of your own to Memory.connect(judge=…)."
    )


def _judgement(forth: Sequence[float], back: Sequence[float]) -> Judgement:
    contradiction, entailment = (max(way[place] for way in (forth, back)) for place in (0, 1))
    if contradiction >= max(entailment, 0.5):
        return Judgement("contradictory", contradiction)
    if entailment > 0.5:
        return Judgement("same", entailment)
    return Judgement("different", min(forth[2], back[2]))
