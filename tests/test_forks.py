"""A child of a fork has connections, locks, threads and what waits of its own, and disturbs nothing of its parent's."""

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")]


def test_children_are_given_their_own_beside_their_parent_and_end_without_a_word_to_it(server, tenant):
    client = subprocess.run(
        [sys.executable, "-m", "tests.forking", tenant], capture_output=True, text=True, timeout=600, check=False
    )
    assert client.returncode == 0, client.stderr
    assert json.loads(client.stdout) == {"many": [], "halfway": [], "held": [], "counted": []}


class Echo(BaseHTTPRequestHandler):
    """A chat model that says what it is asked, on connections that are kept open."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": asked["messages"][-1]["content"]}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "x", "choices": [choice]})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


ASKING = """
import json, sys
from tests.forking import in_child, said_by
from memgraph_engine.llm.litellm import LiteLLMChat

chat = LiteLLMChat("openai/x", sys.argv[1])

def asked(who):
    questions = [f"I am {who}, {n}" for n in range(12)]
    say = lambda one: chat.chat([{"role": "user", "content": one}], temperature=0, max_tokens=9, timeout=60).text
    return [told for one in questions if (told := say(one)) != one]

first = asked("the parent")
children = [in_child(lambda who=who: asked(who)) for who in ("ana", "ben", "cleo")]
print(json.dumps([first, asked("the parent"), *map(said_by, children), asked("the parent")]))
"""


def test_children_ask_chat_models_on_connections_of_their_own(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as http:
        http.daemon_threads = True
        Thread(target=http.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{http.server_port}/v1"
        client = subprocess.run(
            [sys.executable, "-c", ASKING, base], capture_output=True, text=True, timeout=600, check=False
        )
        http.shutdown()
    assert client.returncode == 0, client.stderr
    assert json.loads(client.stdout) == [[]] * 6
