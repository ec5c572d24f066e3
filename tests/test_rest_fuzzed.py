"""Thousands of requests, made from the server's own document, by two users who must see nothing of each other."""

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from tests.issuer import issuing
from tests.keys import bearer
from tests.served import served
from tests.test_oauth import taking

pytestmark = [pytest.mark.rest, pytest.mark.filterwarnings("ignore")]

SECRETS = {"ana": "quebec amaranth", "ben": "zulu oleander"}
LEAST = 1_000  # requests of each
CHECK = """
import os, schemathesis

@schemathesis.check
def nothing_of_others(ctx, response, case):
    assert os.environ["FOREIGN"] not in response.text, "It tells of another user."
"""


@pytest.fixture
def ours(memory):
    for user, secret in SECRETS.items():
        memory.add_many([f"My code is {secret}.", "The ferry leaves from the harbour."], user_id=user)
    return memory


@contextmanager
def by_key(memory, user):
    """The memory, and the headers that bring the user's key."""
    yield memory, bearer(memory, user)


@contextmanager
def by_token(memory, user):
    """The same memory for a server that takes an issuer's tokens, and the headers that bring the user's."""
    with issuing() as issuer:
        yield taking(memory, issuer), issuer.bearer(user, exp=int(time.time()) + 7200)


@pytest.mark.timeout(1200)  # so many requests take minutes where other programs run beside
@pytest.mark.parametrize("by", [by_key, by_token])
@pytest.mark.parametrize(("user", "other"), [("ana", "ben"), ("ben", "ana")])
def test_no_request_fails_is_answered_without_a_key_or_tells_of_somebody_else(ours, tmp_path, user, other, by):
    (tmp_path / "hooks.py").write_text(CHECK, "utf-8")
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "FOREIGN": SECRETS[other]}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *sys.path])
    with by(ours, user) as (memory, headers), served(memory, ui=True) as at:
        checks = "not_a_server_error,ignored_auth,use_after_free,nothing_of_others"
        given = ["--phases", "fuzzing,stateful", "--checks", checks, "--max-examples", "40", "--no-color"]
        given += ["--request-timeout", "60"]  # how long an answer takes is no behaviour
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{at}/openapi.json", *given]
        (who,) = (f"{name}: {value}" for name, value in headers.items())
        run = subprocess.run([*command, "-H", who], env=environment, capture_output=True, text=True, cwd=tmp_path)
    print(run.stdout[-3000:], run.stderr[-500:])
    assert run.returncode == 0
    assert sum(int(number.replace(",", "")) for number in re.findall(r"([\d,]+) generated", run.stdout)) >= LEAST
    for one in SECRETS:
        assert ours.verify(user_id=one) == []
    assert SECRETS[other] in " ".join(note.text for note in ours.get_all(user_id=other))
