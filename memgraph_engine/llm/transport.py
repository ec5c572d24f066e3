"""The way to a chat model: so many requests at the same time, within the budgets, tried again when it may help."""

import random
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from threading import BoundedSemaphore
from typing import Any

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.errors import ModelError, ModelUnavailable, Unusable, named
from memgraph_engine.forks import begun
from memgraph_engine.llm.spent import Gauge, reserved
from memgraph_engine.llm.tokens import chat_tokens, tokens
from memgraph_engine.model.ports import ChatModel, Message, Pricing, Reply, StreamingChat
from memgraph_engine.settings import LlmSettings
from memgraph_engine.telemetry import Span, chat

_FIRST_WAIT = 0.5  # seconds, doubled with every further try
_LONGEST_WAIT = 60.0  # a server that asks for more is given up: another model may answer sooner
_LOST = Cost(calls=1, money=None)  # an abandoned answer may be on the bill
_Answer = Generator[str | Reply, None, None]


class Transport:
    """Sends requests; `sleep` is what waits between two tries."""

    def __init__(self, concurrency: int, sleep: Callable[[float], None] = time.sleep) -> None:
        self._sleep = sleep
        self._concurrency = concurrency
        begun(self, Transport._begin)

    def _begin(self) -> None:
        self._slots = BoundedSemaphore(self._concurrency)

    def send(
        self,
        model: ChatModel,
        messages: Sequence[Message],
        settings: LlmSettings,
        json_schema: Mapping[str, Any] | None,
        meters: Sequence[Gauge] = (),
    ) -> Reply:
        """Return the model's reply, whose cost includes the tries that failed; a ModelError's cost does too."""
        estimate = _estimate(model, messages, settings.max_tokens)

        def once() -> _Answer:
            with self._slots, reserved(meters, estimate) as bill, _request(model, messages, settings) as span:
                reply = span.run(_chat, model, messages, settings, json_schema, bill)
                span.replied(reply)
            yield reply

        (reply,) = self._tried(once, settings)
        assert isinstance(reply, Reply)
        return reply

    def tell(
        self,
        model: ChatModel,
        messages: Sequence[Message],
        settings: LlmSettings,
        meters: Sequence[Gauge] = (),
        *,
        stream: bool,
    ) -> Iterator[str | Reply]:
        """Yield the model's answer in free text, in pieces or in one, then its reply; costs are counted as by `send`.

        It is tried again only before the first piece.
        """
        if stream and isinstance(model, StreamingChat):
            yield from self._tried(lambda: self._streamed(model, messages, settings, meters), settings)
        else:
            reply = self.send(model, messages, settings, None, meters)
            yield from filter(None, (reply.text, reply))

    def _tried(self, attempt: Callable[[], _Answer], settings: LlmSettings) -> Iterator[str | Reply]:
        """Yield what an attempt does, another one's where it failed before its first piece."""
        spent, tries, begun = NOTHING, 0, False
        while True:
            try:
                with closing(attempt()) as pieces:
                    for piece in pieces:
                        begun = begun or isinstance(piece, str)
                        yield piece if isinstance(piece, str) else replace(piece, cost=spent + piece.cost)
                return
            except ModelError as error:
                spent = error.cost = spent + error.cost
                if begun:
                    raise
                self._wait(error, tries, settings)
                tries += 1

    def _streamed(
        self, model: ChatModel, messages: Sequence[Message], settings: LlmSettings, meters: Sequence[Gauge]
    ) -> _Answer:
        """Yield the pieces of one answer, then the whole; between two pieces the slot is free for others.

        Whoever listens may go away in the middle: until the answer has ended, what it costs is unknown. A model that
        drips is given up when its whole time is over. A ModelError's cost is that of this call.
        """
        assert isinstance(model, StreamingChat)
        estimate = _estimate(model, messages, settings.max_tokens)
        pieces: Iterator[str | Reply] = iter(())
        said, seconds, cost, reply = list[str](), 0.0, _LOST, None
        with reserved(meters, estimate) as bill, _request(model, messages, settings) as span:
            try:
                with _translated(model):
                    given = model.chat_stream(
                        messages,
                        temperature=settings.temperature,
                        max_tokens=settings.max_tokens,
                        timeout=settings.timeout,
                    )
                    pieces = iter(given)
                while reply is None:
                    started = time.perf_counter()
                    try:
                        with self._slots, _translated(model):
                            piece = span.run(next, pieces, None)
                            if not (piece is None or isinstance(piece, str)):
                                reply = _checked(model, piece)
                    finally:
                        seconds += time.perf_counter() - started
                    if seconds > settings.timeout and reply is None:
                        late = f"{model.name} did not end its answer within {settings.timeout:g} seconds."
                        raise ModelUnavailable(late, _LOST)
                    if isinstance(piece, str) and piece:
                        said.append(piece)
                        yield piece
                    elif piece is None:  # a model that does not say what it cost
                        text = "".join(said)
                        reply = Reply(text, Cost(1, chat_tokens(messages), tokens(text), money=None))
                cost = reply.cost
                span.replied(reply)
            except ModelError as error:
                cost = error.cost
                error.cost = replace(cost, seconds=seconds)
                raise
            finally:
                bill.append(replace(cost, seconds=seconds))
                close = getattr(pieces, "close", None)  # a generator has one, any other iterator need not
                if close:
                    close()
        yield replace(reply, cost=replace(cost, seconds=seconds))

    def _wait(self, error: ModelError, attempt: int, settings: LlmSettings) -> None:
        """Wait before the next try; raises the error where there is no other.

        Half of the wait is random, so that clients that failed together do not come back together.
        """
        after = error.retry_after if isinstance(error, ModelUnavailable) else None
        if after is None or after > _LONGEST_WAIT or attempt == settings.retries:
            raise error
        backoff = min(_FIRST_WAIT * 2.0**attempt, _LONGEST_WAIT) * random.uniform(0.5, 1)  # noqa: S311  no secret
        self._sleep(max(after, backoff))


def _request(model: ChatModel, messages: Sequence[Message], settings: LlmSettings) -> Span:
    return chat(model.name, messages, settings.temperature, settings.max_tokens)


def _chat(
    model: ChatModel,
    messages: Sequence[Message],
    settings: LlmSettings,
    json_schema: Mapping[str, Any] | None,
    bill: list[Cost],
) -> Reply:
    """Ask once, and put what that cost onto the bill."""
    started = time.perf_counter()
    try:
        with _translated(model):
            given = model.chat(
                messages,
                temperature=settings.temperature,
                max_tokens=settings.max_tokens,
                timeout=settings.timeout,
                json_schema=json_schema,
            )
        reply = _checked(model, given)
    except ModelError as error:
        error.cost = replace(error.cost, seconds=time.perf_counter() - started)
        bill.append(error.cost)
        raise
    reply = replace(reply, cost=replace(reply.cost, seconds=time.perf_counter() - started))
    bill.append(reply.cost)
    return reply


def _checked(model: ChatModel, reply: object) -> Reply:
    """Return a reply that is one; raises Unusable, which says what a stranger's model returned in its place."""
    what = named(reply)
    if isinstance(reply, Reply):
        parts: dict[str, tuple[object, type]] = {"text": (reply.text, str), "cost": (reply.cost, Cost)}
        wrong = [
            f"whose {name} is {named(given)}" for name, (given, kind) in parts.items() if not isinstance(given, kind)
        ]
        if not wrong:
            return reply
        what = f"a Reply {wrong[0]}"
    raise Unusable(
        f"The chat model {model.name!r} returned {what}; it has to return a Reply with a text and a Cost.", _LOST
    )


@contextmanager
def _translated(model: ChatModel) -> Iterator[None]:
    """Let a model's own errors through, and turn any other into one that says whose it was."""
    try:
        yield
    except (ModelError, AssertionError):  # a test's double that objects is heard
        raise
    except Exception as error:  # a stranger's code: whatever it raises, the caller learns whose it was
        raise ModelError(f"The chat model {model.name!r} failed: {error}", _LOST) from error


def _estimate(model: ChatModel, messages: Sequence[Message], max_tokens: int) -> Cost:
    if isinstance(model, Pricing):
        return model.estimate(messages, max_tokens)
    return Cost(1, chat_tokens(messages), max_tokens, money=None)
