"""An OpenAI-compatible chat server on loopback that answers as it is told, rightly or wrongly."""

import asyncio
import gc
import json
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Say:
    """One answer: its text (None: no content) or a status; in time or late, whole or cut off, or none at all."""

    text: str | None = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    finish_reason: str = "stop"
    tokens: tuple[int, int] | None = (100, 20)
    seconds: float = 0.0
    hang_up: bool = False
    body: str | None = None  # in place of a well-formed answer
    message: Mapping[str, Any] = field(default_factory=dict)
    cut: str = ""  # how a stream breaks off after its text: "connection", "end" (as if that were all) or "error"


class ChatServer:
    """Answers are given in order, those of `by_model` to that model only; an unexpected request gets a 418."""

    def __init__(self, http: ThreadingHTTPServer) -> None:
        self.base = f"http://127.0.0.1:{http.server_port}/v1"
        self.asked: list[dict[str, Any]] = []
        self.most_at_once = 0
        self._running = 0
        self._lock = threading.Lock()
        self._queue: deque[Say] = deque()
        self._by_model: dict[str, deque[Say]] = {}
        self.always: Say | None = None
        self.reply: Callable[[dict[str, Any]], Say] | None = None  # what answers where nothing else is told to

    def say(self, *answers: Say | str, model: str | None = None) -> None:
        queue = self._queue if model is None else self._by_model.setdefault(model, deque())
        queue.extend(Say(answer) if isinstance(answer, str) else answer for answer in answers)

    def prompt(self, number: int = -1) -> str:
        """The messages of a request, as one text."""
        return "\n".join(message["content"] for message in self.asked[number]["messages"])

    @contextmanager
    def serving(self, request: dict[str, Any]) -> Iterator[Say]:
        with self._lock:
            self.asked.append(request)
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
            queue = self._by_model.get(request.get("model", "")) or self._queue
            answer = queue.popleft() if queue else self.always or (self.reply or _teapot)(request)
        try:
            yield answer
        finally:
            with self._lock:
                self._running -= 1


class _Handler(BaseHTTPRequestHandler):
    chat: ChatServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.chat.serving(request) as answer:
            self.server.closing.wait(answer.seconds)  # type: ignore[attr-defined]
        if answer.hang_up:
            self.close_connection = True
            return
        if request.get("stream") and answer.status == 200 and answer.body is None:
            self._stream(request, answer)
            return
        body = (answer.body if answer.body is not None else json.dumps(_body(request, answer))).encode()
        try:
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True  # the client did not wait

    def _stream(self, request: Mapping[str, Any], answer: Say) -> None:
        try:
            self.send_response(200)
            for name, value in {"Content-Type": "text/event-stream", **answer.headers}.items():
                self.send_header(name, value)
            if answer.cut == "connection":
                self.send_header("Content-Length", "1000000")
            self.end_headers()
            for event in _events(request, answer):
                self.wfile.write(f"data: {event}\n\n".encode())
                self.wfile.flush()
        except ConnectionError:
            pass
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


def _body(request: Mapping[str, Any], answer: Say) -> dict[str, Any]:
    if answer.status != 200:
        return {"error": {"message": f"told to answer {answer.status}", "type": "scripted"}}
    message = {"role": "assistant", "content": answer.text, **answer.message}
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason}],
    }
    if answer.tokens:
        read, written = answer.tokens
        body["usage"] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return body


def _events(request: Mapping[str, Any], answer: Say) -> Iterator[str]:
    """A stream's events: a few characters each, the reason for which it ended, what it cost."""
    head = {"id": "1", "object": "chat.completion.chunk", "created": int(time.time()), "model": request["model"]}

    def chunk(delta: Mapping[str, Any], reason: str | None = None) -> str:
        return json.dumps({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    text = answer.text or ""
    for at in range(0, len(text), 5):
        yield chunk({"role": "assistant", "content": text[at : at + 5]})
    if answer.cut == "error":
        yield json.dumps({"error": {"message": "told to break off", "code": 500}})
    if answer.cut:
        return
    yield chunk(dict(answer.message), answer.finish_reason)
    if answer.tokens:
        read, written = answer.tokens
        usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        yield json.dumps({**head, "choices": [], "usage": usage})
    yield "[DONE]"


def _teapot(request: Mapping[str, Any]) -> Say:
    return Say(status=418)


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """A server until the end of the block."""
    handler = type("Handler", (_Handler,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        http.daemon_threads = True
        http.closing = threading.Event()  # type: ignore[attr-defined]
        handler.chat = ChatServer(http)
        threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield handler.chat
        finally:
            http.closing.set()  # type: ignore[attr-defined]
            http.shutdown()


def forget_clients() -> None:
    """LiteLLM keeps clients and a loop open until they are collected: not in another module's test, please."""
    litellm = sys.modules.get("litellm")
    if not (litellm and litellm.in_memory_llm_clients_cache.cache_dict):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        litellm.in_memory_llm_clients_cache.flush_cache()
        with suppress(RuntimeError):  # there is none
            asyncio.get_event_loop_policy().get_event_loop().close()
            asyncio.set_event_loop(None)
        gc.collect()
