"""What need not be paid for, or worked out, twice: a chat model's replies in a file, vectors in memory."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Lock, get_ident
from typing import Any

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.errors import BudgetSpent, InvalidInput, ModelUnavailable
from memgraph_engine.llm.tokens import chat_tokens
from memgraph_engine.model.ports import ChatModel, Embedder, Message, Pricing, Reply

Key = tuple[str | int, ...]


class Journal:
    r"""Entries by their keys, in memory and in a file; the last entry of a key counts. Safe to share between threads.

    A line that was cut off when it was written is taken away. Raises InvalidInput for a file of another kind.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "answers.jsonl"
    ...     Journal(file).add(("ana", 1), {"answer": "Lisbon"})
    ...     _ = file.write_text(file.read_text() + '{"key": ["bo", 1], "ans')
    ...     dict(Journal(file).items()), file.read_text().count("\n")
    ({('ana', 1): {'answer': 'Lisbon'}}, 1)
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = Lock()
        self._entries: dict[Key, Mapping[str, Any]] = {}
        if not file.exists():
            return
        whole = file.read_bytes()
        kept = whole[: whole.rfind(b"\n") + 1]
        for number, line in enumerate(kept.splitlines(), 1):  # of bytes: a reply may hold other ends of lines
            try:
                entry = json.loads(line.decode(errors="replace"))
                self._entries[tuple(entry.pop("key"))] = entry
            except (ValueError, KeyError, TypeError, AttributeError):
                raise InvalidInput(f"{file} can't be gone on with: line {number} is no entry of a run.") from None
        if kept != whole:
            file.write_bytes(kept)

    def __str__(self) -> str:
        return str(self._file)

    def __contains__(self, key: Key) -> bool:
        return key in self._entries

    def get(self, key: Key) -> Mapping[str, Any] | None:
        """Return an entry, None if there is none."""
        return self._entries.get(key)

    def items(self) -> Iterator[tuple[Key, Mapping[str, Any]]]:
        """Yield all keys with their entries, in the order of writing."""
        yield from self._entries.items()

    def add(self, key: Key, entry: Mapping[str, Any]) -> None:
        """Write an entry down at once."""
        line = json.dumps({"key": key, **entry}, ensure_ascii=False)
        with self._lock:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
            self._entries[key] = entry


class Replies:
    """The replies of chat models in a file, and what they cost; `limit` are US dollars, None for no limit."""

    def __init__(self, journal: Journal) -> None:
        """Read what is kept; raises InvalidInput where an entry is no reply."""
        try:
            self.spent = sum((Cost(**entry["cost"]) for _, entry in journal.items()), NOTHING)
        except (KeyError, TypeError):
            raise InvalidInput(
                f"{journal} can't be gone on with: it has an entry that is no reply of a model."
            ) from None
        self.limit: float | None = None
        self._journal = journal
        self._lock = Lock()

    def get(self, key: str) -> Reply | None:
        """Return a reply that was paid for, None if there is none."""
        kept = self._journal.get((key,))
        return Reply(kept["text"], Cost(**kept["cost"]), kept["finish_reason"]) if kept else None

    def keep(self, key: str, reply: Reply) -> None:
        """Write a reply down at once."""
        entry = {"text": reply.text, "finish_reason": reply.finish_reason, "cost": asdict(reply.cost)}
        self._journal.add((key,), entry)
        with self._lock:
            self.spent += reply.cost

    def check(self) -> None:
        """Raise BudgetSpent when the limit is reached."""
        money = self.spent.money
        if self.limit is not None and money is not None and money >= self.limit:
            raise BudgetSpent(f"${money:,.4f} are spent, and ${self.limit:,.4f} were allowed: nothing more is asked.")


class KeptChat:
    """A chat model that is asked the same thing once, whatever ends the program in between."""

    def __init__(self, inner: ChatModel, replies: Replies) -> None:
        self.name = inner.name
        self._failures = Counter[int]()
        self._inner = inner
        self._replies = replies

    @property
    def failures(self) -> int:
        """Requests that failed where the next one may not."""
        return self._failures.total()

    @property
    def failures_here(self) -> int:
        """Those of the thread that asks."""
        return self._failures[get_ident()]

    def chat(
        self,
        messages: Sequence[Message],
        *,
        temperature: float,
        max_tokens: int,
        timeout: float,
        json_schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Return the reply that is kept, else ask; raises BudgetSpent, or what the model raises."""
        asked = json.dumps([self.name, [dict(one) for one in messages], temperature, max_tokens, json_schema])
        key = hashlib.blake2b(asked.encode(), digest_size=16).hexdigest()
        if kept := self._replies.get(key):
            return kept
        self.check()
        try:
            reply = self._inner.chat(
                messages, temperature=temperature, max_tokens=max_tokens, timeout=timeout, json_schema=json_schema
            )
        except ModelUnavailable:
            self._failures[get_ident()] += 1  # no other thread counts there
            raise
        self._replies.keep(key, reply)
        return reply

    def check(self) -> None:
        """Raise BudgetSpent when the limit is reached."""
        self._replies.check()

    def estimate(self, messages: Sequence[Message], max_tokens: int) -> Cost:
        """Return what a call costs, as the model tells; a price that it does not tell is unknown."""
        if isinstance(self._inner, Pricing):
            return self._inner.estimate(messages, max_tokens)
        return Cost(1, chat_tokens(messages), max_tokens, money=None)


class KeptEmbedder:
    """An embedder that works out the same text once, until it is told to forget."""

    def __init__(self, inner: Embedder) -> None:
        self.name = inner.name
        self._inner = inner
        self._documents: dict[str, NDArray[np.float32]] = {}
        self._queries: dict[str, NDArray[np.float32]] = {}

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (texts, dimensions)."""
        if new := [text for text in dict.fromkeys(texts) if text not in self._documents]:
            made = np.asarray(self._inner.embed_documents(new), np.float32)
            self._documents.update(zip(new, made, strict=True))
        return np.stack([self._documents[text] for text in texts])

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return an array of shape (dimensions,)."""
        if text not in self._queries:
            self._queries[text] = np.asarray(self._inner.embed_query(text), np.float32)
        return self._queries[text]

    def forget(self) -> None:
        """Give back the memory."""
        self._documents.clear()
        self._queries.clear()
