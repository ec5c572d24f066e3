"""The tests' embedder: MiniLM, which works out each text once in a run, whichever process asks."""

import os
import sqlite3
from pathlib import Path
from threading import Lock

import numpy as np

from memgraph_engine import Settings
from memgraph_engine.embedding.choose import MODELS, embedder_named

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
    """Name a new file to this process and its children, and return the embedder."""
    os.environ[FILE] = str(folder / "vectors.sqlite")
    return Remembering()
