"""Cross-encoders: models that read two texts together, of whichever library runs them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.errors import SettingsError, needed
from memgraph_engine.forks import lock
from memgraph_engine.inference.onnx import OnnxModel, onnx_folder, told
from memgraph_engine.settings import Settings

Pairs = Sequence[tuple[str, str]]


class _Config(BaseModel):
    id2label: dict[int, str] | None = None


@dataclass(frozen=True, slots=True)
class CrossEncoder:
    """`read` returns the model's numbers for pairs of texts, (pairs, numbers), and `labels` names these, in lower case.

    Safe to share between threads.
    """

    name: str
    labels: tuple[str, ...]
    read: "Callable[[Pairs], NDArray[np.float32]]"


def cross_encoder(named: str, role: str, settings: Settings) -> CrossEncoder | None:
    """Load `sentence-transformers/MODEL`, `fastembed/MODEL` or `onnx:/FOLDER`; None for another name.

    Raises MissingExtra, or SettingsError that says what can't be loaded, where and for which role.
    """
    family, _, model = named.partition("/")
    purpose = f"The {role} {named}"
    if folder := onnx_folder(named):
        return _of_folder(folder, purpose, settings)
    load = {"sentence-transformers": _of_torch, "fastembed": _of_fastembed}.get(family)
    return load(model, purpose, settings) if load and model else None


def _of_folder(folder: Path, purpose: str, settings: Settings) -> CrossEncoder:
    one = OnnxModel(folder, purpose, batch=settings.embedding_batch, tokens=settings.embedding_tokens)
    labels = told(folder, "config.json", _Config).id2label or {}
    ordered = tuple(label.casefold() for _, label in sorted(labels.items()))
    return CrossEncoder(f"onnx/{folder.name}", ordered, lambda pairs: one.run(pairs, lambda numbers, _: numbers))


def _of_fastembed(model: str, purpose: str, settings: Settings) -> CrossEncoder:
    with needed(purpose, "fastembed"):
        from fastembed.rerank.cross_encoder import TextCrossEncoder
    try:
        one = TextCrossEncoder(model, cache_dir=str(settings.cache / "fastembed"))
    except Exception as error:  # of the library, and of the hub that it fetches from
        raise SettingsError(f"{purpose} can't be loaded: {error}") from error

    def read(pairs: Pairs) -> "NDArray[np.float32]":
        scores = [*one.rerank_pairs(pairs, batch_size=settings.embedding_batch)]
        return np.array(scores, dtype=np.float32)[:, None]

    return CrossEncoder(f"fastembed/{model}", (), read)


def _of_torch(model: str, purpose: str, settings: Settings) -> CrossEncoder:
    with needed(purpose, "sentence-transformers"):
        import sentence_transformers
        import torch
    try:
        one = sentence_transformers.CrossEncoder(model)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{purpose} can't be loaded: {error}") from error
    alone, labels = lock(), one.model.config.id2label or {}  # its tokenizer must not be shared between threads

    def read(pairs: Pairs) -> "NDArray[np.float32]":
        with alone:
            numbers: NDArray[np.float32] = one.predict(
                [list(pair) for pair in pairs],
                batch_size=settings.embedding_batch,
                activation_fn=torch.nn.Identity(),
                show_progress_bar=False,
            )
        return numbers.reshape(len(pairs), -1)

    ordered = tuple(str(labels[place]).casefold() for place in sorted(labels))
    return CrossEncoder(f"sentence-transformers/{model.rstrip('/').rpartition('/')[2]}", ordered, read)
