"""What a user may exchange: embedder, chat model, judge, reranker, redactor, partition engine, clock."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, runtime_checkable

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.cost import NOTHING, Cost

Clock = Callable[[], datetime]
"""Tells the time, aware of its zone."""
Counted = Callable[[int, int], object]
"""Is told how much is done, and of how much."""


def utc_now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """An undirected weighted graph, as a partition engine is given it: three arrays of one length.

    Nodes are 0 to `nodes` - 1, and each edge is between `a` and `b`, once, with a positive weight; no loops.
    """

    nodes: int
    a: "NDArray[np.int64]"
    b: "NDArray[np.int64]"
    weight: "NDArray[np.float64]"

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.a)


@runtime_checkable
class Embedder(Protocol):
    """Anything that turns texts into vectors of one length: the shape of LangChain's embeddings, with a name.

    `name` is recorded in the database, so that vectors of two models never mix. One that sends texts to a provider may
    say so by an attribute `remote = True`: then policies that keep notes from chat models are told to see to that.
    """

    name: str

    def embed_documents(self, texts: list[str]) -> "Sequence[Sequence[float]] | NDArray[np.float32]":
        """Return one vector for each text, in order."""

    def embed_query(self, text: str) -> "Sequence[float] | NDArray[np.float32]":
        """Return the vector of a question."""


@runtime_checkable
class Redactor(Protocol):
    """Anything that covers what must not be stored."""

    def redact(self, text: str) -> str:
        """Return a text without its secrets: the same text if it has none, also if it was covered before."""


Message = Mapping[str, str]
"""One message of a chat: `role` (system, user or assistant) and `content`."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A chat model's answer; `finish_reason` is the provider's word, "length" for one cut off at `max_tokens`."""

    text: str
    cost: Cost
    finish_reason: str = "stop"


@runtime_checkable
class ChatModel(Protocol):
    """Anything that answers a chat, in one request: trying again is up to its caller.

    `name` is recorded with what it decided. It is called from several threads at once.
    """

    name: str

    def chat(
        self,
        messages: Sequence[Message],
        *,
        temperature: float,
        max_tokens: int,
        timeout: float,
        json_schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Answer within `timeout` seconds and `max_tokens`, by the JSON schema where there is one.

        Raises ModelUnavailable, with `retry_after` if the same request may work later, or ModelRefused.
        """


@runtime_checkable
class StreamingChat(Protocol):
    """A chat model that can give its answer piece by piece; any other is asked by `chat`."""

    def chat_stream(
        self, messages: Sequence[Message], *, temperature: float, max_tokens: int, timeout: float
    ) -> Iterator[str | Reply]:
        """Yield the answer in pieces, then the whole of it as a Reply, which ends it.

        Raises what `chat` does, also between two pieces.
        """


@runtime_checkable
class Pricing(Protocol):
    """A chat model that can tell the cost of a call before it is made; a limit of money needs one."""

    def estimate(self, messages: Sequence[Message], max_tokens: int) -> Cost:
        """Return the most that one call can be expected to cost; `money` is None if the price is unknown."""


@runtime_checkable
class Partitioner(Protocol):
    """Anything that finds communities in a network; bounds on their sizes are enforced behind it.

    `name` is recorded with each run.
    """

    name: str

    def partition(
        self, graph: Network, *, resolution: float, seed: int, start: "NDArray[np.int64] | None" = None
    ) -> "NDArray[np.int64]":
        """Return the community of each node, from 0 on: the same for the same arguments.

        `start` is a partition to begin with, from 0 on as well. The graph has at least one edge; its nodes may have
        none.
        """


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge holds of two texts: whether they state the same fact, and how sure it is of that (0…1)."""

    relation: Literal["same", "different", "contradictory"]
    confidence: float
    evidence: str = ""
    cost: Cost = NOTHING


@runtime_checkable
class Judge(Protocol):
    """Anything that compares what two texts state: a second opinion before a note is merged or replaced.

    `name` is recorded with what it decided. It is called from several threads at once.
    """

    name: str

    def judge(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Judgement]:
        """Return a judgement for each pair of an older text and a newer one, in order.

        Raises ModelUnavailable or ModelRefused; then the local judgement stands.
        """


@runtime_checkable
class Reranker(Protocol):
    """Anything that tells how well each of some texts answers a question: it puts the best notes of a search in order.

    `name` is told with the order. It is called from several threads at once. One that sends texts to a provider says so
    by an attribute `remote = True`: then no note is shown to it that policies keep from chat models.
    """

    name: str

    def rerank(self, query: str, texts: Sequence[str]) -> "Sequence[float] | NDArray[np.floating[Any]]":
        """Return a finite score for each text, in order, of any scale: a higher one answers better.

        Raises ModelUnavailable or ModelRefused; then the notes stay in the order that they have.
        """
