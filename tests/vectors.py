"""The tests' embedder: MiniLM, which works out each text once, whichever process or run asks."""

import os
import sqlite3
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from threading import Lock

import numpy as np

from memgraph_engine import Settings, embedding
from memgraph_engine.embedding.choose import MODELS, embedder_named
from memgraph_engine.resources import resource

FILE = "MEMGRAPH_ENGINE_TEST_VECTORS"


class Remembering:
    """An embedder that keeps vectors in the file that the environment names; the model is loaded for a new text.

    For a text the vector of a question is that of a document.
    """

    def __init__(self):
        self.name = MODELS["minilm"].name
        self._known, self._lock, self._model = {}, Lock(), None
        self._file = sqlite3.connect(os.environ[FILE], timeout=60, isolation_level=None, check_same_thread=False)
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def embed_documents(self, texts):
        with self._lock:
            if new := [text for text in dict.fromkeys(texts) if text not in self._known]:
                self._learn(new)
            return np.stack([self._known[text] for text in texts])

    def embed_query(self, text):
        return self.embed_documents([text])[0]

    def close(self):
        self._file.close()

    def _learn(self, texts):
        for text in texts:
            # as bytes: a text may hold half a character, which SQLite's own strings can't
            for (vector,) in self._file.execute("SELECT vector FROM vectors WHERE text = ?", (_bytes(text),)):
                self._known[text] = np.frombuffer(vector, np.float32)
        if missing := [text for text in texts if text not in self._known]:
            self._model = self._model or embedder_named(Settings.load(embedder="minilm"))
            made = self._model.embed_documents(missing)
            self._known.update(zip(missing, made, strict=True))
            rows = [(_bytes(text), vector.tobytes()) for text, vector in zip(missing, made, strict=True)]
            self._file.execute("BEGIN IMMEDIATE")
            self._file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
            self._file.execute("COMMIT")


def _bytes(text):
    return text.encode("utf-8", "surrogatepass")


def make(folder: Path):
    """Name a file in the folder to this process and its children, and return the embedder."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ[FILE] = str(folder / f"{_maker()}.sqlite")
    return Remembering()


def _maker():
    """Name all that a vector depends on beside its text: the model, the code that runs it, and what that stands on."""
    package = Path(embedding.__file__).parent.parent
    files = [
        resource("config", "artifacts", "minilm.lock"),
        *package.glob("embedding/*.py"),
        *package.glob("inference/*.py"),
    ]
    read = [file.read_bytes() for file in sorted(files)] + [
        version(one).encode() for one in ("onnxruntime", "tokenizers")
    ]
    return blake2b(b"".join(read), digest_size=8).hexdigest()
