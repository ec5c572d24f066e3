"""From the setting `embedder` to an embedder."""

from dataclasses import dataclass

from memgraph_engine.artifacts import model_files
from memgraph_engine.embedding.libraries import FastembedEmbedder, LiteLLMEmbedder, SentenceTransformersEmbedder
from memgraph_engine.embedding.multilingual import prepare
from memgraph_engine.embedding.onnx import OnnxEmbedder, Reading, reading_of
from memgraph_engine.errors import SettingsError
from memgraph_engine.inference.onnx import onnx_folder
from memgraph_engine.language.terms import DEFAULT_LANGUAGE
from memgraph_engine.model.ports import Embedder
from memgraph_engine.settings import Settings


@dataclass(frozen=True, slots=True)
class Known:
    """A model whose files have a lock: the name that it reports, how it is read, and its languages; none is any."""

    name: str
    reading: Reading
    languages: tuple[str, ...] = ()


MODELS = {
    "bge-small": Known("bge-small-en-v1.5", Reading("cls", 512), ("english",)),
    "minilm": Known("all-MiniLM-L6-v2", Reading("mean", 256), ("english",)),
    "multilingual": Known("multilingual-e5-small", Reading("mean", 512, "query: ", "passage: ")),
}


def embedder_named(settings: Settings, recorded: str = "") -> Embedder:
    """Load the embedder that `named_in` tells; fetches a model file when it is not there yet."""
    named = named_in(settings, recorded)
    family, _, model = named.partition("/")
    if known := MODELS.get(named):
        folder = model_files(named, settings)
        if named == "multilingual":
            prepare(folder)
        return OnnxEmbedder(known.name, folder, known.reading, settings, known.languages)
    if folder_ := onnx_folder(named):
        return OnnxEmbedder(f"onnx/{folder_.name}", folder_, reading_of(folder_, settings), settings)
    if family == "fastembed" and model:
        return FastembedEmbedder(model, settings)
    if family == "sentence-transformers" and model:
        return SentenceTransformersEmbedder(model, settings.embedding_batch)
    if family == "litellm" and model:
        return LiteLLMEmbedder(model, settings.embedding_batch)
    raise SettingsError(
        f"There is no embedder {named!r}: choose {', '.join(MODELS)}, onnx:/FOLDER, fastembed/MODEL, "
        "sentence-transformers/MODEL or litellm/MODEL, or give an object of your own to Memory.connect(embedder=…)."
    )


def named_in(settings: Settings, recorded: str = "") -> str:
    """Return the embedder that the settings name, as they do.

    Where they name none it is that of the database, by the name `recorded` there, and in a new one a model that knows
    the language.

    >>> named_in(Settings.load(embedder="", language="cjk")), named_in(Settings.load(embedder=""), "all-MiniLM-L6-v2")
    ('multilingual', 'minilm')
    """
    if settings.embedder:
        return settings.embedder
    if not recorded:
        knows = (settings.language or DEFAULT_LANGUAGE) in MODELS["bge-small"].languages
        return "bge-small" if knows else "multilingual"
    names = [name for name, known in MODELS.items() if known.name == recorded]
    if not names:
        raise SettingsError(
            f"The database holds vectors of {recorded}, and no embedder is named: connect with that one "
            "(MEMGRAPH_ENGINE_EMBEDDER, or Memory.connect(embedder=…))."
        )
    return names[0]
