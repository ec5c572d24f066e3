"""LoCoMo's observations as messages, and notes of both kinds built through the engine's own ingest."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_cache_path

from bench.conversations import conversations
from memgraph_engine import Settings
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.embedding.choose import embedder_named
from memgraph_engine.evaluation.kept import KeptEmbedder
from memgraph_engine.evaluation.locomo import Conversation, evidence
from memgraph_engine.ingest.construct import Constructor, place
from memgraph_engine.ingest.messages import parse_message
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.ports import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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


def observed(path: Path, embedder: Embedder, *, dated: bool = True) -> list[Observed]:
    """Build the notes of all conversations."""
    constructor = Constructor(CheckedEmbedder(embedder), 8)
    return [
        Observed(
            conversation,
            made(conversation.turns, constructor),
            made([one.message for one in cited], constructor),
            cited,
        )
        for conversation, cited in observations(path, dated=dated)
    ]


def made(messages: Sequence[Mapping[str, Any]], constructor: Constructor) -> list[Candidate]:
    """Build the notes of messages."""
    sources = [parse_message(one, one["id"], timezone="UTC", max_text=65536) for one in messages]
    return constructor.construct(place(sources, {}), {}, LANGUAGE)


class FiledEmbedder(KeptEmbedder):
    """An embedder whose vectors are kept in a file between runs."""

    def __init__(self, model: str) -> None:
        import numpy as np

        super().__init__(embedder_named(Settings.load(embedder=model)))
        self._file = user_cache_path("memgraph-engine") / "bench" / f"vectors-{model.replace('/', '-')}.npz"
        if self._file.is_file():
            with np.load(self._file) as kept:
                self._documents = dict(zip(json.loads(str(kept["texts"])), kept["vectors"], strict=True))
        self._filed = len(self._documents)

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return an array of shape (dimensions,); the models that are measured embed questions as they do texts."""
        vector: NDArray[np.float32] = self.embed_documents([text])[0]
        return vector

    def keep(self) -> None:
        """Write the file, if anything is new."""
        import numpy as np

        if len(self._documents) > self._filed:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._file, texts=json.dumps([*self._documents]), vectors=np.stack([*self._documents.values()]))
