"""The way to a chat model: so many requests at the same time, within the budgets, tried again when it may help."""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
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

_FIRST_WAIT = 0.5  # seconds, doubled with every further try
_LONGEST_WAIT = 60.0  # a server that asks for more is given up: another model may answer sooner
_LOST = Cost(calls=1, money=None)  # an abandoned answer may be on the bill


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
        spent, attempt = NOTHING, 0
        while True:
            try:
                with self._slots, reserved(meters, estimate) as bill:
                    reply = _chat(model, messages, settings, json_schema, bill)
                return replace(reply, cost=spent + reply.cost)
            except ModelError as error:
                spent = error.cost = spent + error.cost
                self._wait(error, attempt, settings)
                attempt += 1

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
        if not (stream and isinstance(model, StreamingChat)):
            reply = self.send(model, messages, settings, None, meters)
            yield from filter(None, (reply.text, reply))
            return
        estimate = _estimate(model, messages, settings.max_tokens)
        spent, attempt = NOTHING, 0
        while True:
            pieces = Pieces(model, messages, settings, self._slots)
            try:
                with reserved(meters, estimate) as bill:
                    try:
                        yield from pieces
                    finally:  # whoever listens may go away in the middle
                        bill.append(pieces.cost)
                yield replace(pieces.reply, cost=spent + pieces.cost)
                return
            except ModelError as error:
                spent = error.cost = spent + error.cost
                if pieces.begun:
                    raise
                self._wait(error, attempt, settings)
                attempt += 1

    def _wait(self, error: ModelError, attempt: int, settings: LlmSettings) -> None:
        """Wait before the next try; raises the error where there is no other.

        Half of the wait is random, so that clients that failed together do not come back together.
        """
        after = error.retry_after if isinstance(error, ModelUnavailable) else None
        if after is None or after > _LONGEST_WAIT or attempt == settings.retries:
            raise error
        backoff = min(_FIRST_WAIT * 2.0**attempt, _LONGEST_WAIT) * random.uniform(0.5, 1)  # noqa: S311  no secret
        self._sleep(max(after, backoff))


class Pieces:
    """The pieces of one answer, to be gone through once; then `reply` is the whole of it.

    `cost` can be asked at any time; until the answer has ended, its money is unknown. `begun` says that a piece was
    given. Between two pieces the slot is free for others.
    """

    def __init__(
        self,
        model: ChatModel,
        messages: Sequence[Message],
        settings: LlmSettings,
        slots: AbstractContextManager[object],
    ) -> None:
        self._model, self._messages, self._settings, self._slots = model, messages, settings, slots
        self._seconds = 0.0
        self._cost = _LOST
        self.begun = False
        self.reply = Reply("", _LOST)

    @property
    def cost(self) -> Cost:
        """What the call cost so far, with the seconds spent waiting for the model."""
        return replace(self._cost, seconds=self._seconds)

    def __iter__(self) -> Iterator[str]:
        """Yield the pieces; raises ModelError, whose cost is that of this call."""
        said: list[str] = []
        pieces: Iterator[str | Reply] = iter(())
        try:
            pieces = self._open()
            while (piece := self._next(pieces)) is not None:
                if isinstance(piece, Reply):
                    self.reply = piece
                    break
                if piece:
                    said.append(piece)
                    self.begun = True
                    yield piece
            else:  # a model that does not say what it cost
                text = "".join(said)
                self.reply = Reply(text, Cost(1, chat_tokens(self._messages), tokens(text), money=None))
            self._cost = self.reply.cost
        except ModelError as error:
            self._cost = error.cost
            error.cost = self.cost
            raise
        finally:
            close = getattr(pieces, "close", None)  # a generator has one, any other iterator need not
            if close:
                close()

    def _open(self) -> Iterator[str | Reply]:
        model, limits = self._model, self._settings
        assert isinstance(model, StreamingChat)
        with _translated(model):
            return iter(
                model.chat_stream(
                    self._messages, temperature=limits.temperature, max_tokens=limits.max_tokens, timeout=limits.timeout
                )
            )

    def _next(self, pieces: Iterator[str | Reply]) -> str | Reply | None:
        """Wait for the next piece; a model that drips is given up when its whole time is over."""
        started = time.perf_counter()
        try:
            with self._slots, _translated(self._model):
                piece = next(pieces, None)
                if not (piece is None or isinstance(piece, str)):
                    _checked(self._model, piece)
        finally:
            self._seconds += time.perf_counter() - started
        if self._seconds > self._settings.timeout and not isinstance(piece, Reply):
            raise ModelUnavailable(
                f"{self._model.name} did not end its answer within {self._settings.timeout:g} seconds.", _LOST
            )
        return piece


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
