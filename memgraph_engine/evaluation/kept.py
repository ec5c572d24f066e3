"""What need not be paid for, or worked out, twice: a chat model's replies in a file, vectors in memory."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from threading import Lock, get_ident
from typing import Any

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.errors import BudgetSpent, ModelUnavailable
from memgraph_engine.evaluation.journal import Journal
from memgraph_engine.llm.tokens import chat_tokens
from memgraph_engine.model.ports import ChatModel, Embedder, Message, Pricing, Reply


class Replies:
    """The replies of chat models in a file, and what they cost; `limit` are US dollars, None for no limit."""

    def __init__(self, journal: Journal) -> None:
        self.spent = sum((Cost(**entry["cost"]) for _, entry in journal.items()), NOTHING)
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
