"""The way to a chat model: so many requests at the same time, within the budgets, tried again when it may help."""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from threading import BoundedSemaphore
from typing import Any

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.errors import ModelError, ModelUnavailable
from memgraph_engine.forks import begun
from memgraph_engine.llm.meter import Gauge, reserved
from memgraph_engine.llm.stream import Pieces, checked, translated
from memgraph_engine.llm.tokens import chat_tokens
from memgraph_engine.model.ports import ChatModel, Message, Pricing, Reply
from memgraph_engine.settings import LlmSettings

_FIRST_WAIT = 0.5  # seconds, doubled with every further try
_LONGEST_WAIT = 60.0  # a server that asks for more is given up: another model may answer sooner


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
        call = partial(_chat, model, messages, settings, json_schema)
        estimate = _estimate(model, messages, settings.max_tokens)
        spent = NOTHING
        for attempt in range(settings.retries + 1):
            try:
                reply = self._once(call, estimate, meters)
            except ModelError as error:
                spent = error.cost = spent + error.cost
                wait = _wait(error, attempt)
                if wait is None or attempt == settings.retries:
                    raise
            else:
                return replace(reply, cost=spent + reply.cost)
            self._sleep(wait)
        raise AssertionError("the last try returns or raises")

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
        estimate = _estimate(model, messages, settings.max_tokens)
        spent = NOTHING
        for attempt in range(settings.retries + 1):
            pieces = Pieces(model, messages, settings, self._slots, stream=stream)
            try:
                with reserved(meters, estimate) as bill:
                    try:
                        yield from pieces
                    finally:  # whoever listens may go away in the middle
                        bill.append(pieces.cost)
            except ModelError as error:
                spent = error.cost = spent + error.cost
                wait = _wait(error, attempt)
                if pieces.begun or wait is None or attempt == settings.retries:
                    raise
            else:
                yield replace(pieces.reply, cost=spent + pieces.cost)
                return
            self._sleep(wait)

    def _once(self, call: Callable[[], Reply], estimate: Cost, meters: Sequence[Gauge]) -> Reply:
        with self._slots, reserved(meters, estimate) as bill:
            started = time.perf_counter()
            try:
                reply = call()
            except ModelError as error:
                error.cost = replace(error.cost, seconds=time.perf_counter() - started)
                bill.append(error.cost)
                raise
            reply = replace(reply, cost=replace(reply.cost, seconds=time.perf_counter() - started))
            bill.append(reply.cost)
            return reply


def _chat(
    model: ChatModel, messages: Sequence[Message], settings: LlmSettings, json_schema: Mapping[str, Any] | None
) -> Reply:
    with translated(model):
        reply = model.chat(
            messages,
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            timeout=settings.timeout,
            json_schema=json_schema,
        )
    return checked(model, reply)


def _estimate(model: ChatModel, messages: Sequence[Message], max_tokens: int) -> Cost:
    if isinstance(model, Pricing):
        return model.estimate(messages, max_tokens)
    return Cost(1, chat_tokens(messages), max_tokens, money=None)


def _wait(error: ModelError, attempt: int) -> float | None:
    """Return the seconds before the next try, None for no other try.

    Half of the wait is random, so that clients that failed together do not come back together.
    """
    if not isinstance(error, ModelUnavailable) or error.retry_after is None or error.retry_after > _LONGEST_WAIT:
        return None
    backoff: float = min(_FIRST_WAIT * 2.0**attempt, _LONGEST_WAIT) * random.uniform(0.5, 1)  # noqa: S311  no secret
    return max(error.retry_after, backoff)
