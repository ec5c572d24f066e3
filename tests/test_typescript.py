"""The client in TypeScript: its own tests, its pack where nothing else is, and the program of its page."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from memgraph_engine import Memory, errors
from memgraph_engine.cost import Cost
from memgraph_engine.model.ports import Reply
from tests.keys import issue
from tests.models import memory_with
from tests.pages import blocks
from tests.served import served

pytestmark = [pytest.mark.typescript, pytest.mark.timeout(600)]
CLIENT = Path(__file__).parent.parent / "clients" / "typescript"
SIGN = "日曜日は休み 🛥\n\nevent: closed"


def run(*command, at=None, **options):
    """Run a command of Node's that must succeed, for a server; return what it prints."""
    path = os.pathsep.join([str(Path(sys.prefix) / "bin"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "NO_COLOR": "1", **({"MEMORY_URL": at} if at else {})}
    environment |= options.pop("env", {})
    done = subprocess.run(command, capture_output=True, text=True, env=environment, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Answering:
    """A model that says where Ana lives, and what a sign says; or goes on for ever, until nobody listens."""

    name = "answering"

    def __init__(self):
        self.begun, self.left = 0, 0
        self._never = Event()

    def chat(self, messages, **_given):
        return Reply(SIGN if "sign" in messages[-1]["content"] else "In Lisbon [1].", Cost(calls=1))

    def chat_stream(self, messages, **given):
        if "for ever" not in messages[-1]["content"]:
            reply = self.chat(messages, **given)
            yield from re.findall(r"\S*\s*", reply.text)
            yield reply
            return
        self.begun += 1
        try:
            while not self._never.wait(0.005):
                yield "and on "
        finally:
            self.left += 1


@contextmanager
def answering(tenant, embedder):
    """A server whose memories a model answers from, one request at a time; the model, and keys by their names."""
    limits = {"concurrency": 1, "patience": 2}
    with memory_with(tenant, embedder, Answering(), only=["answering"], serve=limits) as (memory, model):
        keys = {
            "ANA": issue(memory, "ana").secret,
            "BEN": issue(memory, "ben").secret,
            "READER": issue(memory, "ana", ["read"]).secret,
            "TENANT": issue(memory).secret,
        }
        with served(memory) as at:
            yield at, model, keys


@pytest.fixture(scope="module")
def pack(kept, tmp_path_factory):
    """The file that npm packs, once the client is built from what a server says of itself."""
    folder = tmp_path_factory.mktemp("pack")
    with served(kept(lambda memory: None)) as at:
        run("npm", "pack", "--pack-destination", str(folder), at=at, cwd=CLIENT)
    (one,) = folder.iterdir()
    return one


def test_its_own_tests_pass(pack, tenant, embedder, monkeypatch):
    answers = Memory.answer_stream

    def answer_stream(self, query, **given):
        if query != "break off":
            yield from answers(self, query, **given)
            return
        yield "In Lis"
        raise errors.Unreachable("No server answers at bolt://10.1.2.3.")

    monkeypatch.setattr(Memory, "answer_stream", answer_stream)
    with answering(tenant, embedder) as (at, model, keys):
        told = run("npm", "test", at=at, env=keys, cwd=CLIENT)
    assert int(re.search(r"^\S+ pass (\d+)$", told, re.MULTILINE)[1]) > 10
    assert (model.begun, model.left) == (2, 2)


def test_the_pack_works_where_nothing_else_is(pack, root, tenant, embedder, tmp_path):
    told = blocks((root / "docs" / "typescript.md").read_text("utf-8"))
    program, (shown,) = ([one.text for one in told if one.language == language] for language in ("ts", "text"))
    (tmp_path / "package.json").write_text('{"type": "module", "private": true}')
    (tmp_path / "program.ts").write_text("\n".join(program), "utf-8")
    quiet = ("--silent", "--no-audit", "--no-fund")
    run("npm", "install", *quiet, str(pack), "typescript@7.0.2", "@types/node@24.19.4", cwd=tmp_path)
    run("npx", "tsc", "--noEmit", "--strict", "--module", "nodenext", "--types", "node", "program.ts", cwd=tmp_path)
    with answering(tenant, embedder) as (at, _, keys):
        printed = run("node", "program.ts", at=at, env={"MEMORY_KEY": keys["ANA"]}, cwd=tmp_path)
    assert printed.replace(tenant, "default") == shown


def test_the_pack_holds_what_is_used_and_no_more(pack):
    listed = run("tar", "-tf", str(pack)).split()
    built = {f"dist/{name}{end}" for name in ("index", "schema") for end in (".js", ".d.ts")}
    assert {*listed} == {f"package/{name}" for name in ("package.json", "README.md", "LICENSE", *built)}
