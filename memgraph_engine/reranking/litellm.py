"""Rerankers of any provider that LiteLLM speaks to."""

from collections.abc import Sequence
from math import nan

from memgraph_engine.errors import ModelRefused, ModelUnavailable
from memgraph_engine.providers import brief, load_litellm

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

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, NaN where none came; raises ModelUnavailable or ModelRefused."""
        try:
            answer = self._litellm.rerank(
                model=self._model,
                query=question,
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
