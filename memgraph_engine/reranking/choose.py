"""From the setting `recall.reranker` to a reranker."""

from memgraph_engine.errors import SettingsError
from memgraph_engine.model.ports import Reranker
from memgraph_engine.settings import Settings


def reranker_named(settings: Settings) -> Reranker | None:
    """Load the reranker that the settings name; None if they name none, or the role `selecting`."""
    named = settings.recall.reranker
    family, _, model = named.partition("/")
    if not named or settings.recall.selects:
        return None
    if family == "sentence-transformers" and model:
        from memgraph_engine.reranking.cross_encoder import CrossEncoderReranker

        return CrossEncoderReranker(model)
    if family == "litellm" and model:
        from memgraph_engine.reranking.litellm import LiteLLMReranker

        return LiteLLMReranker(model, settings.llm.timeout)
    raise SettingsError(
        f"There is no reranker {named!r}: set recall.reranker to sentence-transformers/MODEL, litellm/MODEL or llm, or "
        "give an object of your own to Memory.connect(reranker=…)."
    )


def check_reranker(given: object) -> Reranker:
    """Return a user's own reranker; raises SettingsError for what is none."""
    if not (isinstance(given, Reranker) and given.name):
        raise SettingsError(f"The reranker {given!r} needs a name (a string) and a method rerank(question, texts).")
    return given
