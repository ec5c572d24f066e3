"""One answer of a chat model as it comes: its pieces, how long they took, what they cost."""

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from memgraph_engine.cost import Cost
from memgraph_engine.errors import ModelError, ModelUnavailable, Unusable, named
from memgraph_engine.llm.tokens import chat_tokens, tokens
from memgraph_engine.model.ports import ChatModel, Message, Reply, StreamingChat
from memgraph_engine.settings import LlmSettings

_LOST = Cost(calls=1, money=None)  # an abandoned answer may be on the bill


class Pieces:
    """The pieces of one answer, to be gone through once; then `reply` is the whole of it.

    A model that can't stream gives one piece, and so does any model without `stream`. `cost` can be asked at any time;
    until the answer has ended, its money is unknown. `begun` says that a piece was given. Between two pieces the slot
    is free for others.
    """

    def __init__(
        self,
        model: ChatModel,
        messages: Sequence[Message],
        settings: LlmSettings,
        slots: AbstractContextManager[object],
        *,
        stream: bool = True,
    ) -> None:
        self._model, self._messages, self._settings = model, messages, settings
        self._slots, self._stream = slots, stream
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
        if not (self._stream and isinstance(model, StreamingChat)):
            return _whole(model, self._messages, limits)
        with translated(model):
            return iter(
                model.chat_stream(
                    self._messages, temperature=limits.temperature, max_tokens=limits.max_tokens, timeout=limits.timeout
                )
            )

    def _next(self, pieces: Iterator[str | Reply]) -> str | Reply | None:
        """Wait for the next piece; a model that drips is given up when its whole time is over."""
        started = time.perf_counter()
        try:
            with self._slots, translated(self._model):
                piece = next(pieces, None)
                if not (piece is None or isinstance(piece, str)):
                    checked(self._model, piece)
        finally:
            self._seconds += time.perf_counter() - started
        if self._seconds > self._settings.timeout and not isinstance(piece, Reply):
            raise ModelUnavailable(
                f"{self._model.name} did not end its answer within {self._settings.timeout:g} seconds.", _LOST
            )
        return piece


def _whole(model: ChatModel, messages: Sequence[Message], limits: LlmSettings) -> Iterator[str | Reply]:
    """Ask a model that does not stream: its answer is one piece."""
    reply = model.chat(
        messages, temperature=limits.temperature, max_tokens=limits.max_tokens, timeout=limits.timeout, json_schema=None
    )
    checked(model, reply)
    yield reply.text
    yield reply


def checked(model: ChatModel, reply: object) -> Reply:
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
        f"The chat model {model.name!r} returned {what}; it has to return a Reply with a text and a Cost.",
        Cost(calls=1, money=None),
    )


@contextmanager
def translated(model: ChatModel) -> Iterator[None]:
    """Let a model's own errors through, and turn any other into one that says whose it was."""
    try:
        yield
    except (ModelError, AssertionError):  # a test's double that objects is heard
        raise
    except Exception as error:  # a stranger's code: whatever it raises, the caller learns whose it was
        raise ModelError(f"The chat model {model.name!r} failed: {error}", Cost(calls=1, money=None)) from error
