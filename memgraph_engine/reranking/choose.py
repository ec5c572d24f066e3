"""From the setting `recall.reranker` to a reranker: a cross-encoder, or a provider's model by LiteLLM."""

from collections.abc import Sequence
from math import nan

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.errors import ModelRefused, ModelUnavailable, SettingsError
from memgraph_engine.inference.cross_encoder import CrossEncoder, cross_encoder
from memgraph_engine.model.ports import Reranker
from memgraph_engine.providers import brief, load_litellm
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

    def rerank(self, query: str, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (texts,)."""
        return self._read([(query, text) for text in texts])[:, 0]


def reranker_named(settings: Settings) -> Reranker | None:
    """Load the reranker that the settings name; None if they name none, or the role `selecting`."""
    named = settings.recall.reranker
    family, _, model = named.partition("/")
    if not named or settings.recall.selects:
        return None
    if family == "litellm" and model:
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


_REFUSED = (400, 413, 422)  # statuses that the same request will always have


class LiteLLMReranker:
    """A provider's model; keys and addresses come from LiteLLM's own environment variables.

    A search waits for it, so each request is made once, and may take `timeout` seconds.
    """

    remote = True

    def __init__(self, model: str, timeout: float) -> None:
        self._litellm = load_litellm(f"the reranker litellm/{model}")
        self._model, self._timeout = model, timeout
        self.name = f"litellm/{model}"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, NaN where none came; raises ModelUnavailable or ModelRefused."""
        try:
            answer = self._litellm.rerank(
                model=self._model,
                query=query,
                documents=list(texts),
                top_n=len(texts),
                return_documents=False,
                timeout=self._timeout,
                drop_params=True,
            )
            given = {row["index"]: float(row["relevance_score"]) for row in answer.results or ()}
        except Exception as error:  # LiteLLM lets through whatever a provider's code raises
            refused = getattr(error, "status_code", None) in _REFUSED
            raise (ModelRefused if refused else ModelUnavailable)(f"{self.name}: {brief(error)}") from error
        return [given.get(place, nan) for place in range(len(texts))]
