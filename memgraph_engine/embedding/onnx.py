"""Sentence embeddings in process, by ONNX: no torch, no network once the model file is there."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, RootModel

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.errors import SettingsError
from memgraph_engine.inference.onnx import OnnxModel, Output, told
from memgraph_engine.settings import Pooling, Settings

_KINDS = {"Transformer", "Pooling", "Normalize"}  # of a sentence-transformer's modules, that are run
_NAMES: dict[str, Pooling] = {"cls_token": "cls", "mean_tokens": "mean", "lasttoken": "last"}


class _Module(BaseModel):
    type: str = ""


class _Modules(RootModel[list[_Module]]):
    root: list[_Module] = []


class _Prompts(BaseModel):
    prompts: dict[str, str | None] | None = None


class _Pools(BaseModel):
    model_config = ConfigDict(extra="allow")
    pooling_mode: str | list[str] | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """How a model's token vectors become one, how many tokens it reads, and what it wants before texts.

    An empty pooling is for models that give one vector; 0 tokens: as many as the model's files say.
    """

    pooling: Pooling
    longest: int = 0
    query: str = ""
    passage: str = ""


class OnnxEmbedder:
    """An embedder of vectors of length 1, float32, from a model's folder."""

    def __init__(
        self, name: str, folder: Path, reading: Reading, settings: Settings, languages: Sequence[str] = ()
    ) -> None:
        self.name, self.languages, self._reading = name, languages, reading
        self._model = OnnxModel(
            folder,
            f"The embedder {name}",
            batch=settings.embedding_batch,
            tokens=settings.embedding_tokens,
            longest=reading.longest,
        )

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (texts, dimensions)."""
        return self._model.run([self._reading.passage + text for text in texts], self._pooled)

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return an array of shape (dimensions,)."""
        vector: NDArray[np.float32] = self._model.run([self._reading.query + text], self._pooled)[0]
        return vector

    def _pooled(self, states: Output, mask: "NDArray[np.int64]") -> Output:
        pooling = self._reading.pooling
        if states.ndim == 2:
            pooled = states
        elif pooling == "cls":
            pooled = states[:, 0]
        elif pooling == "last":
            pooled = states[np.arange(len(states)), mask.sum(axis=1) - 1]
        elif pooling == "mean":
            weights = mask[:, :, None].astype(np.float32)
            pooled = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
        else:
            raise SettingsError(
                f"{self.name} gives a vector for each token, and neither its 1_Pooling/config.json nor the setting "
                "embedding_pooling says how they become one: cls, mean or last."
            )
        norms = np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        normalised: Output = (pooled / norms).astype(np.float32)
        return normalised


def reading_of(folder: Path, settings: Settings) -> Reading:
    """Return how the model of a folder is read: as the settings say, else as sentence-transformers' files do.

    Raises SettingsError for what can't be run.
    """
    modules = [one.type.rpartition(".")[2] for one in told(folder, "modules.json", _Modules).root]
    if strange := [kind for kind in modules if kind not in _KINDS]:
        raise SettingsError(
            f"The model in {folder} has a module {strange[0]} (modules.json), which is not run from a folder: "
            f"use sentence-transformers/{folder}."
        )
    prompts = told(folder, "config_sentence_transformers.json", _Prompts).prompts or {}
    return Reading(
        settings.embedding_pooling or _pooling(folder),
        settings.embedding_longest,
        settings.embedding_query or prompts.get("query") or "",
        settings.embedding_passage or prompts.get("document") or prompts.get("passage") or "",
    )


def _pooling(folder: Path) -> Pooling:
    given = told(folder, "1_Pooling/config.json", _Pools)
    others = given.model_extra or {}
    named = given.pooling_mode or [key for key, on in others.items() if key.startswith("pooling_mode_") and on]
    names = [one.removeprefix("pooling_mode_") for one in ([named] if isinstance(named, str) else named)]
    known = {**_NAMES, "cls": "cls", "mean": "mean"}
    if not names:
        return ""
    if len(names) > 1 or names[0] not in known:
        raise SettingsError(
            f"The model in {folder} pools by {' and '.join(names)}; only cls, mean or lasttoken is run."
        )
    return known[names[0]]
