"""LoCoMo's observations as messages, and notes of both kinds built through the engine's own ingest."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_cache_path

from bench.conversations import conversations
from memgraph_engine import Settings
from memgraph_engine.embedding import CheckedEmbedder
from memgraph_engine.embedding.choose import embedder_named
from memgraph_engine.embedding.onnx import MODELS
from memgraph_engine.evaluation.locomo import Conversation, evidence
from memgraph_engine.ingest.construct import Vectors, construct, place
from memgraph_engine.ingest.messages import parse_message
from memgraph_engine.model.candidate import Candidate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memgraph_engine.model.ports import Embedder

LANGUAGE = "english"
_SESSION = re.compile(r"session_(\d+)_observation")


@dataclass(frozen=True, slots=True)
class Observation:
    """A fact as a message of the public API, the session that it was read from, and the turns that it cites."""

    message: dict[str, Any]
    session: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Observed:
    """One conversation, with its turns and observations as notes to be."""

    conversation: Conversation
    turns: Sequence[Candidate]
    observations: Sequence[Candidate]
    cited: Sequence[Observation]


def observations(path: Path, *, dated: bool) -> Iterator[tuple[Conversation, list[Observation]]]:
    """Yield each conversation with its observations, each said by its speaker outside any session.

    Its time is that of the session it was read from, or none unless `dated`.
    """
    samples = json.loads(path.read_text("utf-8"))
    for sample, conversation in zip(samples, conversations(path), strict=True):
        known = {turn["id"]: turn for turn in conversation.turns}
        found = []
        for key, by_speaker in sample["observation"].items():
            number = _SESSION.fullmatch(key)
            first = known.get(f"D{number[1]}:1") if number else None
            if first is None:
                continue
            time = {"time": first["time"]} if dated else {}
            for speaker, given in by_speaker.items():
                for number_, (text, cites) in enumerate(given):
                    message = {"id": f"{key}:{speaker}:{number_}", "speaker": speaker, "text": text, **time}
                    cited = evidence([cites] if isinstance(cites, str) else cites, set(known))
                    found.append(Observation(message, first["session"], cited))
        yield conversation, found


def observed(path: Path, embedder: "KeptEmbedder", *, dated: bool = True) -> list[Observed]:
    """Build the notes of all conversations."""
    vectors = Vectors(CheckedEmbedder(embedder))
    return [
        Observed(conversation, made(conversation.turns, vectors), made([one.message for one in cited], vectors), cited)
        for conversation, cited in observations(path, dated=dated)
    ]


def made(messages: Sequence[Mapping[str, Any]], vectors: Vectors) -> list[Candidate]:
    """Build the notes of messages."""
    sources = [parse_message(one, one["id"], timezone="UTC", max_text=65536) for one in messages]
    return construct(place(sources, {}), {}, language=LANGUAGE, max_keywords=8, vectors=vectors)


class KeptEmbedder:
    """An embedder whose vectors are kept in a file between runs; the model is loaded for what is new."""

    def __init__(self, model: str) -> None:
        import numpy as np

        self._settings = Settings.load(embedder=model)
        self._file = user_cache_path("memgraph-engine") / "bench" / f"gate-{model.replace('/', '-')}.npz"
        self._known: dict[str, NDArray[np.float32]] = {}
        self.name = MODELS[model].name if model in MODELS else model
        self._model: Embedder | None = None
        if self._file.is_file():
            with np.load(self._file) as kept:
                self._known = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (texts, dimensions)."""
        import numpy as np

        keys = [hashlib.blake2b(text.encode(), digest_size=16).hexdigest() for text in texts]
        new = [place for place, key in enumerate(keys) if key not in self._known]
        if new:
            if self._model is None:
                self._model = embedder_named(self._settings)
            made = np.asarray(self._model.embed_documents([texts[place] for place in new]), np.float32)
            self._known.update(zip([keys[place] for place in new], made, strict=True))
        return np.stack([self._known[key] for key in keys])

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return an array of shape (dimensions,)."""
        vector: NDArray[np.float32] = self.embed_documents([text])[0]
        return vector

    def keep(self) -> None:
        """Write the file, if anything is new."""
        import numpy as np

        if self._model:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._file, keys=list(self._known), vectors=np.stack(list(self._known.values())))
