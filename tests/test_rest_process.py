"""A server in a process of its own: how it begins, what slow and large requests come to, and how it ends."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from memgraph_engine import Memory, Settings
from memgraph_engine.graph.server.local import LocalServer
from tests import servers
from tests.keys import issue

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "memgraph_engine", "serve", "--port", "0"]
PREFIX = "MEMGRAPH_ENGINE_"
SLOW = {f"{PREFIX}SERVE__SLOW": "1"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of this file alone: whether it has keys must not depend on other tests."""
    with servers.own(tmp_path_factory.mktemp("neo4j")) as one:
        yield one


@pytest.fixture
def key(memory):
    """The secret of a key of ana."""
    return issue(memory, "ana").secret


@contextmanager
def started(tenant, *arguments, **environment):
    """Run the server; yield the process and its port."""
    variables = {**os.environ, f"{PREFIX}TENANT": tenant, **environment}
    process = subprocess.Popen([*COMMAND, *arguments], env=variables, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        found = re.search(r"http://.*:(\d+)", line)
        assert found, line + process.stderr.read()
        yield process, int(found[1])
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(30)
        process.stderr.close()


def ask(port, method, path, body=None, key=None, timeout=60, **headers):
    """Ask once; return the status, the headers and the JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    given = {**({"Authorization": f"Bearer {key}"} if key else {}), **headers}
    if body is not None:
        body, given["Content-Type"] = json.dumps(body), "application/json"
    try:
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        return answer.status, answer.headers, json.loads(answer.read())
    finally:
        connection.close()


def test_on_a_machine_of_ones_own_it_serves_without_a_key_until_there_is_one(tenant, memory, server):
    with started(tenant) as (process, port):
        status, _, _ = ask(port, "POST", "/v1/messages?user_id=ana", {"message": "I moved to Lisbon."})
        assert status == 200
        assert memory.stats(user_id="ana").sources == 1
        made = issue(memory, "ana")
        time.sleep(5.5)
        assert ask(port, "GET", "/v1/notes?user_id=ana")[0] == 401
        assert ask(port, "GET", "/v1/notes", key=made.secret)[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def test_beyond_the_machine_it_serves_only_with_a_key(tenant, server, tmp_path):
    with servers.own(tmp_path) as empty:
        where = {f"{PREFIX}{name.upper()}": getattr(empty, name) for name in ("uri", "user", "password")}
        command = [*COMMAND, "--host", "0.0.0.0"]
        ended = subprocess.run(command, env={**os.environ, **where}, capture_output=True, text=True, timeout=120)
        assert ended.returncode == 1
        assert "needs a key, and there is none" in ended.stderr
        assert "Traceback" not in ended.stderr


def test_two_servers_on_one_port_are_told(tenant, key):
    with started(tenant) as (_, port):
        for command in (COMMAND[:-1], [*COMMAND[:3], "worker", "--once", "--metrics"]):
            ended = subprocess.run([*command, str(port)], capture_output=True, text=True, timeout=120)
            assert ended.returncode == 1
            # of no option: each command has its own for it
            assert re.fullmatch(r"Error: .*another program listens there; choose another port\.\n", ended.stderr)


def test_when_it_is_stopped_what_runs_is_ended_and_nothing_new_is_taken(tenant, key, memory):
    with started(tenant) as (process, port):
        ask(port, "GET", "/v1/notes", key=key)
        messages = [{"text": f"Boat {number} is of colour {number * 7}.", "id": f"m{number}"} for number in range(200)]
        answers = []

        def add():
            answers.append(ask(port, "POST", "/v1/messages/batch", {"messages": messages}, key=key))

        adding = threading.Thread(target=add)
        adding.start()
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        with pytest.raises(OSError):
            ask(port, "GET", "/health/live")
        adding.join(60)
        assert process.wait(60) == 0
        assert answers[0][0] == 200
        assert memory.stats(user_id="ana").sources == 200


def test_what_was_acknowledged_survives_a_kill(tenant, key, memory):
    acknowledged = []
    with started(tenant) as (process, port):

        def add(first):
            for number in range(first, 10_000, 32):
                try:
                    body = {"message": {"text": f"Boat {number} is of colour {number * 7}.", "id": f"m{number}"}}
                    status, _, receipt = ask(port, "POST", "/v1/messages", body, key=key)
                except (OSError, http.client.HTTPException):
                    return
                if status == 200:
                    acknowledged.append(receipt["entries"][0]["source"])

        threads = [threading.Thread(target=add, args=(first,)) for first in range(32)]
        for one in threads:
            one.start()
        while len(acknowledged) < 100:
            time.sleep(0.05)
        process.kill()
        for one in threads:
            one.join(60)
    assert len(acknowledged) >= 100
    for source in acknowledged:
        assert memory.source(source, user_id="ana").id == source
    assert memory.verify(user_id="ana") == []


def test_a_body_of_100_megabytes_is_refused_and_the_server_goes_on(tenant, key):
    with started(tenant) as (_, port):
        for headers in ({}, {"Transfer-Encoding": "chunked"}):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.putrequest("POST", "/v1/search")
            connection.putheader("Authorization", f"Bearer {key}")
            connection.putheader("Content-Type", "application/json")
            piece = b"x" * 1_000_000
            if headers:
                connection.putheader("Transfer-Encoding", "chunked")
            else:
                connection.putheader("Content-Length", str(100 * len(piece)))
            connection.endheaders()
            for _ in range(100):
                connection.send(b"%x\r\n%s\r\n" % (len(piece), piece) if headers else piece)
            if headers:
                connection.send(b"0\r\n\r\n")
            answer = connection.getresponse()
            assert answer.status == 413
            assert json.loads(answer.read())["title"]
            connection.close()
        assert ask(port, "GET", "/v1/notes", key=key)[0] == 200


def closed(one, seconds):
    """Whether the other side closes a connection within some time."""
    one.settimeout(seconds)
    try:
        while one.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


def test_slow_clients_are_let_go(tenant, key):
    with started(tenant, **SLOW) as (_, port):
        head = f"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
        begun = (
            b"",  # says nothing
            b"GET /v1/notes HTT",  # stops in its head
            f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode(),  # stops in its body
        )
        for some in begun:
            with socket.create_connection(("127.0.0.1", port)) as one:
                one.sendall(some)
                assert closed(one, 10)
        assert ask(port, "GET", "/v1/notes", key=key)[0] == 200


def test_a_head_that_is_too_large_is_refused(tenant, key):
    with started(tenant) as (_, port):
        with socket.create_connection(("127.0.0.1", port)) as one:
            one.sendall(b"GET /v1/notes HTTP/1.1\r\nX-Long: " + b"x" * 1_000_000)
            assert closed(one, 10)
        assert ask(port, "GET", "/v1/notes", key=key)[0] == 200


def test_it_goes_on_when_the_database_comes_back(tenant, embedder, tmp_path):
    local = LocalServer(Settings.load(home=tmp_path / "home", bolt_port=free()))
    address = local.start()
    where = {f"{PREFIX}URI": address.uri, f"{PREFIX}USER": address.user, f"{PREFIX}PASSWORD": address.password}
    try:
        settings = Settings.load(uri=address.uri, user=address.user, password=address.password, tenant=tenant)
        with Memory.connect(settings=settings, embedder=embedder) as memory:
            memory.add("I moved to Lisbon.", user_id="ana")
            secret = issue(memory, "ana").secret
        with started(tenant, **where, **{f"{PREFIX}RETRY_TIME": "1"}) as (_, port):
            assert ask(port, "GET", "/v1/notes", key=secret)[0] == 200
            assert ask(port, "GET", "/health/ready")[0] == 200
            local.stop()
            status, headers, problem = ask(port, "GET", "/v1/notes", key=secret)
            assert (status, problem["error"]) == (503, "Unreachable")
            assert headers["retry-after"]
            assert address.uri not in str(problem)
            waited(lambda: ask(port, "GET", "/health/ready")[0] == 503)  # it may be told as of a second ago
            assert ask(port, "GET", "/health/live")[0] == 200
            local.start()
            waited(lambda: ask(port, "GET", "/health/ready")[0] == 200)
            status, _, page = ask(port, "GET", "/v1/notes", key=secret)
            assert (status, len(page["notes"])) == (200, 1)
    finally:
        local.stop()


def waited(told, limit=60.0):
    """Wait until something is so; fail after so many seconds."""
    until = time.monotonic() + limit
    while not told():
        assert time.monotonic() < until, f"It was not so within {limit:g} seconds."
        time.sleep(0.2)


def free():
    """Return a port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
