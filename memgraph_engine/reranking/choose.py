"""From the setting `recall.reranker` to a reranker."""

from collections.abc import Sequence

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.errors import SettingsError
from memgraph_engine.inference.cross_encoder import CrossEncoder, cross_encoder
from memgraph_engine.model.ports import Reranker
from memgraph_engine.settings import Settings


class CrossEncoderReranker:
    """A cross-encoder that gives one number to a pair: one trained on MS MARCO, say."""

    def __init__(self, model: CrossEncoder) -> None:
        self.name, self._read = model.name, model.read
        given = model.read([("Is it one?", "It is one.")]).shape[1]
        if given != 1:
            raise SettingsError(
                f"The cross-encoder {model.name} gives {given} numbers to a pair of texts; a reranker gives one."
            )

    def rerank(self, question: str, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (texts,)."""
        return self._read([(question, text) for text in texts])[:, 0]


def reranker_named(settings: Settings) -> Reranker | None:
    """Load the reranker that the settings name; None if they name none, or the role `selecting`."""
    named = settings.recall.reranker
    family, _, model = named.partition("/")
    if not named or settings.recall.selects:
        return None
    if family == "litellm" and model:
        from memgraph_engine.reranking.litellm import LiteLLMReranker

        return LiteLLMReranker(model, settings.llm.timeout)
    if found := cross_encoder(named, "reranker", settings):
        return CrossEncoderReranker(found)
    raise SettingsError(
        f"There is no reranker {named!r}: set recall.reranker to onnx:/FOLDER, fastembed/MODEL, "
        "sentence-transformers/MODEL, litellm/MODEL or llm, or give an object of your own to "
        "Memory.connect(reranker=…)."
    )


def check_reranker(given: object) -> Reranker:
    """Return a user's own reranker; raises SettingsError for what is none."""
    if not (isinstance(given, Reranker) and given.name):
        raise SettingsError(f"The reranker {given!r} needs a name (a string) and a method rerank(question, texts).")
    return given
