"""For the tests of programs that use the engine.

A memory that is removed at the end, an embedder without a model, a chat model that gives prepared answers.
"""

import hashlib
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from math import sqrt
from typing import Any
from uuid import uuid4

from memgraph_engine.client import Memory
from memgraph_engine.cost import Cost
from memgraph_engine.engine import wiring
from memgraph_engine.errors import InvalidInput
from memgraph_engine.forks import lock
from memgraph_engine.language.terms import tokenize
from memgraph_engine.model.ports import ChatModel, Embedder, Message, Reply
from memgraph_engine.settings import Settings

__all__ = ["Call", "HashingEmbedder", "ScriptedChat", "purge", "temporary_memory"]


def purge(tenant: str, *, uri: str | None = None, settings: Settings | None = None) -> None:
    """Remove everything of a tenant, of all its users, for good.

    Finds the server as `Memory.connect` does, without an embedder. A tenant that does not exist is ignored.
    Raises InvalidInput, SettingsError, or a StoreError that says what is wrong with the server.
    """
    wiring.purge(tenant, _settings(uri, settings))


@contextmanager
def temporary_memory(
    uri: str | None = None,
    *,
    embedder: Embedder | str | None = None,
    language: str | None = None,
    settings: Settings | None = None,
    llm: ChatModel | None = None,
) -> Iterator[Memory]:
    """Connect as `Memory.connect` does, for a random tenant that is purged at the end.

    A database holds the vectors of one embedder, so a HashingEmbedder needs one of its own: another `uri`, or
    another `home` of the managed server.

    >>> with temporary_memory() as memory:
    ...     _ = memory.add("The tide turns at noon.", user_id="ana")
    ...     memory.search("When does the tide turn?", user_id="ana")[0].note.context
    'The tide turns at noon.'
    """
    tenant = f"test-{uuid4().hex}"
    chosen = _settings(uri, settings)
    try:
        with Memory.connect(tenant=tenant, embedder=embedder, language=language, settings=chosen, llm=llm) as memory:
            yield memory
    finally:
        purge(tenant, settings=chosen)


class HashingEmbedder:
    """An embedder for tests: deterministic, without a model, of any number of dimensions.

    Feature hashing (Weinberger et al., 2009) of words and their trigrams: texts that share words, or parts of
    words, are near each other. It knows nothing of meaning.

    >>> embedder = HashingEmbedder(dimensions=64)
    >>> boats, boat, tax = embedder.embed_documents(["two old boats", "an old boat", "income tax"])
    >>> sum(a * b for a, b in zip(boats, boat)) > sum(a * b for a, b in zip(boats, tax))
    True
    """

    def __init__(self, dimensions: int = 256, name: str | None = None) -> None:
        if dimensions < 1:
            raise InvalidInput(f"dimensions must be at least 1, not {dimensions}.")
        self.dimensions = dimensions
        self.name = name or f"hashing-{dimensions}"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a unit vector for each text."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of a text, which is the same for a document and a question."""
        counts = [0] * self.dimensions
        # counts are only added, without signs that could cancel out: a vector is never zero
        for feature in _features(text):
            digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            counts[int.from_bytes(digest) % self.dimensions] += 1
        length = sqrt(sum(count * count for count in counts))
        return [count / length for count in counts]


@dataclass(frozen=True, slots=True)
class Call:
    """What a ScriptedChat was asked."""

    messages: tuple[Message, ...]
    temperature: float
    max_tokens: int
    timeout: float
    json_schema: Mapping[str, Any] | None

    @property
    def text(self) -> str:
        """All messages in one string, to look something up in."""
        return "\n".join(message["content"] for message in self.messages)


class ScriptedChat:
    """A chat model for tests: gives the answers of a queue, and fails on an unexpected call.

    An answer is a text, something that becomes one as JSON, a whole Reply, or an exception to raise. `calls` are
    what it was asked, `left` is the number of answers still to give. Its answers are free unless a Reply has a cost.
    Asked for a stream, it gives an answer word by word.

    >>> chat = ScriptedChat(["Hello."])
    >>> chat.chat([{"role": "user", "content": "Hi!"}], temperature=0, max_tokens=9, timeout=1).text
    'Hello.'
    >>> chat.calls[0].text, chat.left
    ('Hi!', 0)
    """

    def __init__(self, answers: Iterable[object] = (), name: str = "scripted") -> None:
        self.name = name
        self.calls: list[Call] = []
        self._answers = deque(answers)
        self._lock = lock()

    @property
    def left(self) -> int:
        """How many answers are still to give."""
        return len(self._answers)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        temperature: float,
        max_tokens: int,
        timeout: float,
        json_schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Return the next answer, or raise it; raises AssertionError if there is none."""
        call = Call(tuple(messages), temperature, max_tokens, timeout, json_schema)
        with self._lock:
            self.calls.append(call)
            if not self._answers:
                raise AssertionError(f"{self.name} was called once more than expected, with: {call.text[-500:]}")
            answer = self._answers.popleft()
        if isinstance(answer, BaseException):
            raise copy(answer)  # an error collects costs: the same one can be in the queue several times
        if isinstance(answer, Reply):
            return answer
        return Reply(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False), Cost(calls=1))

    def chat_stream(
        self, messages: Sequence[Message], *, temperature: float, max_tokens: int, timeout: float
    ) -> Iterator[str | Reply]:
        """Yield the words of the next answer, then all of it."""
        reply = self.chat(messages, temperature=temperature, max_tokens=max_tokens, timeout=timeout)
        yield from re.findall(r"\S*\s*", reply.text)
        yield reply


def _features(text: str) -> list[str]:
    words = tokenize(text, "standard") or [text]
    padded = [f"<{word}>" for word in words]
    return padded + [word[i : i + 3] for word in padded for i in range(len(word) - 2)]


def _settings(uri: str | None, settings: Settings | None) -> Settings:
    given = settings.model_dump() if settings else {}
    return Settings.load(**{**given, **({"uri": uri} if uri is not None else {})})
