"""Hooks of coding agents: inputs as each tool documents them, what is answered and kept, and what trouble comes to."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from memgraph_engine.cli.hook import answered, project
from memgraph_engine.errors import InvalidInput, Unreachable
from memgraph_engine.remote import Remote
from tests.keys import issue
from tests.served import served

HOSTS = {
    "claude-code": ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"),
    "codex": ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"),
    "cursor": ("sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "stop", "sessionEnd"),
}
SAID = "We deploy with make release, and never on Fridays."
REPLY = "The pipeline has a new step now, which checks the migrations."


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of its own, in which hooks run."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEMGRAPH_ENGINE_HOME", str(tmp_path / "engine"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shop(home):
    """A project without a repository."""
    made = home / "shop"
    made.mkdir()
    return made


@pytest.fixture
def remote(memory, home, monkeypatch):
    """A server that the settings name, with a key of the tenant."""
    with served(memory) as url:
        monkeypatch.setenv("MEMGRAPH_ENGINE_REMOTE__URL", url)
        monkeypatch.setenv("MEMGRAPH_ENGINE_REMOTE__KEY", issue(memory).secret)
        yield url


def given(host, event, folder, prompt=SAID, reply=REPLY, **others):
    """The input of an event as the tool documents it."""
    known = json.loads((Path(__file__).parent / "hooks" / f"{host}.json").read_text())[event]
    told = json.dumps({**known, **others})
    return told.replace('"FOLDER"', json.dumps(str(folder))).replace("PROMPT", prompt).replace("REPLY", reply).encode()


def hook(host, event, folder, **others):
    """What is answered, read."""
    told = answered(event, host, given(host, event, folder, **others), 30.0)
    return json.loads(told) if told else None


def added(told):
    """The text that an answer adds; its form is the host's own."""
    if not told or "continue" in told:
        return ""
    if "additional_context" in told:
        assert set(told) == {"additional_context"}
        return told["additional_context"]
    assert set(told) == {"hookSpecificOutput"}
    assert set(told["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    return told["hookSpecificOutput"]["additionalContext"]


def texts(memory, user):
    return [one.sources[0].text for one in memory.get_all(user_id=user)]


def session(host, folder, **others):
    """A session of one turn; returns what its beginning and its prompt were told."""
    first, prompt, *rest = HOSTS[host]
    told = hook(host, first, folder, **others), hook(host, prompt, folder, **others)
    for event in rest:
        assert hook(host, event, folder, **others) in (None, {})
    return [*map(added, told)]


@pytest.mark.parametrize("host", HOSTS)
def test_what_a_session_said_is_kept_once_and_told_in_the_next(host, memory, remote, shop):
    user = project(str(shop))
    begun, _ = session(host, shop)
    assert f"--user '{user}'" in begun
    assert "make release" not in begun
    assert texts(memory, user) == [SAID, REPLY]
    session(host, shop)  # the same again
    assert len(texts(memory, user)) == 2
    own = {"conversation_id": "another"} if host == "cursor" else {"session_id": "another"}
    assert SAID in added(hook(host, HOSTS[host][0], shop, **own))
    other = shop.parent / "other"
    other.mkdir()
    assert SAID not in added(hook(host, HOSTS[host][0], other, **own))


def test_a_message_has_its_session_role_and_time(memory, remote, shop):
    session("claude-code", shop)
    user, assistant = (one.sources[0] for one in memory.get_all(user_id=project(str(shop))))
    assert (user.role, user.speaker, assistant.role, assistant.agent) == ("user", "User", "assistant", "claude-code")
    assert user.session == assistant.session == "claude-code 7b1c8f0e-51c7-4d7e-9c55-0f6a2f1f4a11"
    assert user.said_at == assistant.said_at is not None


def test_a_prompt_is_told_what_is_known_of_it_and_no_line_twice(memory, remote, shop):
    memory.add(SAID, user_id=project(str(shop)))
    memory.add("I live in Lisbon.", shared=True)
    ask = {"prompt": "On which day do we never deploy?"}
    told = added(hook("claude-code", "UserPromptSubmit", shop, **ask))
    assert told.startswith("<recalled-memory>\n")
    assert SAID in told
    assert added(hook("claude-code", "UserPromptSubmit", shop, **ask)) == ""
    assert "Lisbon" in added(hook("claude-code", "UserPromptSubmit", shop, session_id="2", prompt="Where do I live?"))
    assert added(hook("claude-code", "UserPromptSubmit", shop, session_id="3", prompt="Hello!")) == ""
    assert SAID not in added(hook("claude-code", "SessionStart", shop, source="resume"))
    assert SAID in added(hook("claude-code", "SessionStart", shop, source="compact"))


def test_what_was_added_is_not_kept_as_said(memory, remote, shop):
    block = "<recalled-memory>\\n- Ana has a cat.\\n</recalled-memory>"
    session("claude-code", shop, prompt=f"{block} We ship on Mondays.")
    assert texts(memory, project(str(shop))) == ["We ship on Mondays.", REPLY]


def test_a_prompt_that_was_broken_off_is_kept_with_the_next(memory, remote, shop):
    hook("codex", "UserPromptSubmit", shop, prompt="Our office is in Lisbon.")
    hook("codex", "UserPromptSubmit", shop, turn_id="t-2")
    hook("codex", "Stop", shop, turn_id="t-2")
    assert texts(memory, project(str(shop))) == ["Our office is in Lisbon.", SAID, REPLY]


def test_what_nobody_took_is_kept_with_the_next(memory, remote, shop, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_REMOTE__URL", "http://127.0.0.1:1")
    for event in ("UserPromptSubmit", "Stop"):
        with pytest.raises(Unreachable):
            hook("claude-code", event, shop)
    monkeypatch.setenv("MEMGRAPH_ENGINE_REMOTE__URL", remote)
    hook("claude-code", "SessionEnd", shop)
    assert texts(memory, project(str(shop))) == [SAID, REPLY]


def test_an_exchange_is_of_the_project_of_its_prompt(memory, remote, shop, home, monkeypatch):
    """Wherever the agent goes until it is kept, and however long nobody takes it."""
    other = home / "other"
    other.mkdir()
    hook("claude-code", "UserPromptSubmit", shop)
    hook("claude-code", "Stop", other)
    assert texts(memory, project(str(shop))) == [SAID, REPLY]
    monkeypatch.setenv("MEMGRAPH_ENGINE_REMOTE__URL", "http://127.0.0.1:1")
    ours = "Our office is in Lisbon, near the river."
    for event in ("UserPromptSubmit", "Stop"):
        with pytest.raises(Unreachable):
            hook("claude-code", event, shop, prompt=ours, prompt_id="p-2", last_assistant_message="")
    monkeypatch.setenv("MEMGRAPH_ENGINE_REMOTE__URL", remote)
    theirs = "The harbour office opens at nine on Mondays."
    for event in ("UserPromptSubmit", "Stop"):
        hook("claude-code", event, other, prompt=theirs, prompt_id="p-3", last_assistant_message="")
    assert texts(memory, project(str(shop))) == [SAID, REPLY, ours]
    assert texts(memory, project(str(other))) == [theirs]


def test_what_is_refused_of_one_project_keeps_nothing_of_another(memory, remote, shop, home, monkeypatch):
    ask, other = Remote.ask, home / "other"

    def refusing(self, method, **given):
        if method == "add_many" and given["user_id"] == project(str(shop)):
            raise InvalidInput("It is refused.")
        return ask(self, method, **given)

    other.mkdir()
    monkeypatch.setattr(Remote, "ask", refusing)
    hook("codex", "UserPromptSubmit", shop, prompt="Our office is in Lisbon.")
    hook("codex", "UserPromptSubmit", other, turn_id="t-2")
    hook("codex", "Stop", other, turn_id="t-2")
    assert texts(memory, project(str(other))) == [SAID, REPLY]


def test_at_most_as_much_is_added_as_agents_take(memory, remote, shop, monkeypatch):
    monkeypatch.setattr(sys.modules["memgraph_engine.cli.hook"], "_SIZE", 700)
    for number in range(9):
        memory.add(f"Rule {number} of the house: {'so it is ' * 10}{number}.", user_id=project(str(shop)))
    told = added(hook("claude-code", "SessionStart", shop))
    assert 500 < len(told) <= 700
    assert told.endswith("</recalled-memory>")


def test_an_agent_that_the_agent_asked_says_nothing(memory, remote, shop):
    assert session("claude-code", shop, agent_id="a1", agent_type="Explore") == ["", ""]
    assert texts(memory, project(str(shop))) == []


def test_without_a_server_the_memory_is_asked(memory, tenant, embedder, shop, monkeypatch):
    at = memory.engine.db
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: embedder)
    monkeypatch.setenv("MEMGRAPH_ENGINE_TENANT", tenant)
    assert at.uri == os.environ["MEMGRAPH_ENGINE_URI"]
    session("claude-code", shop)
    assert texts(memory, project(str(shop))) == [SAID, REPLY]
    assert memory.stats(user_id=project(str(shop))).notes["pending"] == 2  # their vectors are a worker's
    memory.process(user_id=project(str(shop)))
    assert SAID in added(hook("claude-code", "SessionStart", shop, session_id="2"))


# ---- projects ---------------------------------------------------------------------------------------


def git(folder, *arguments):
    subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(shop):
    git(shop, "init", "-q")
    git(shop, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "Begin")
    return shop


@pytest.mark.parametrize(
    "url",
    [
        "https://GitHub.com/acme/shop.git",
        "https://ana:secret@github.com/acme/shop",
        "git@github.com:acme/shop.git",
        "ssh://git@github.com:22/acme/shop.git/",
    ],
)
def test_clones_of_one_address_are_one_project_without_who_fetches(repository, url):
    git(repository, "remote", "add", "origin", url)
    assert project(str(repository)) == "project github.com/acme/shop"


def test_a_worktree_and_a_folder_below_are_the_same_project(repository):
    git(repository, "worktree", "add", "-q", str(repository.parent / "tree"))
    (repository / "docs").mkdir()
    first = subprocess.check_output(["git", "-C", repository, "rev-list", "--max-parents=0", "HEAD"], text=True).strip()
    for folder in (repository, repository.parent / "tree", repository / "docs"):
        assert project(str(folder)) == f"project {first}"


@pytest.mark.parametrize("url", ["../x.git", "x.git", "./a:b"])
def test_a_relative_address_is_none(repository, url):
    """It names another repository in each folder."""
    first = project(str(repository))
    git(repository, "remote", "add", "origin", url)
    assert project(str(repository)) == first
    git(repository, "remote", "set-url", "origin", "/srv/x.git")
    assert project(str(repository)) == "project /srv/x"


def test_however_long_git_takes_the_project_is_the_same(repository, monkeypatch):
    def slow(call, *, timeout=None, **given):
        if timeout is not None:
            raise subprocess.TimeoutExpired(call, timeout)
        return run(call, **given)

    run, first = subprocess.run, project(str(repository))
    monkeypatch.setattr(subprocess, "run", slow)
    assert first == project(str(repository)) != f"project {repository.resolve()}"


def test_without_a_repository_it_is_the_folder(shop):
    assert project(str(shop)) == f"project {shop.resolve()}"
    assert project(f"{shop}/gone") == f"project {shop.resolve()}/gone"


# ---- trouble ----------------------------------------------------------------------------------------


def ran(home, event, given, *options, host="claude-code", folder=None, **environment):
    """A hook as an agent runs it, in a folder: what it prints, and what its log has."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MEMGRAPH_ENGINE_REMOTE")}
    own |= {"MEMGRAPH_ENGINE_URI": "bolt://127.0.0.1:1", "MEMGRAPH_ENGINE_HOME": str(home / "engine"), **environment}
    command = [sys.executable, "-m", "memgraph_engine", "hook", event, *options, "--for", host]
    done = subprocess.run(command, input=given, env=own, cwd=folder or home, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    log = home / "engine" / "hooks" / "log"
    return done.stdout.decode(), log.read_text() if log.exists() else ""


SECRET = "amaranth"
BAD = {
    "no JSON": b"amaranth",
    "nothing": b"",
    "a list": b'["amaranth"]',
    "no UTF-8": b'{"session_id": "s", "prompt": "amaranth \xff"}',
    "deep": b"[" * 100_000,
    "of 10 MB": json.dumps({"session_id": "s", "prompt": SECRET * 1_250_000}).encode(),
    "of another version": b'{"session": {"id": "amaranth"}, "prompt": ["amaranth"], "cwd": {}, "workspace_roots": 7}',
    "without a session": b'{"hook_event_name": "UserPromptSubmit", "prompt": "amaranth"}',
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_input_is_nothing_and_leaks_nothing(name, home):
    told, log = ran(home, "UserPromptSubmit", BAD[name], host="codex")
    assert told == ""
    assert SECRET not in log
    assert log.count("\n") <= 1
    if name != "without a session" and name != "of another version":
        assert " codex UserPromptSubmit " in log


def test_an_event_that_is_not_known_is_nothing(home):
    told, log = ran(home, "PreCompact", b'{"session_id": "s", "trigger": "auto"}')
    assert (told, log.count("\n")) == ("", 1)


def test_a_memory_that_can_not_be_reached_is_told_in_the_log_alone(home):
    told, log = ran(home, "UserPromptSubmit", given("cursor", "beforeSubmitPrompt", home))
    assert told == ""
    assert "Unreachable: " in log or "TimeoutError: " in log
    assert SAID not in log
    told, _ = ran(home, "beforeSubmitPrompt", b"no JSON", host="cursor")
    assert json.loads(told) == {"continue": True}  # which Cursor waits for


def test_a_server_that_does_not_answer_is_left(home):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        own = {"MEMGRAPH_ENGINE_REMOTE__URL": url, "MEMGRAPH_ENGINE_HOOK__DEADLINE": "0.2"}
        told, log = ran(home, "SessionStart", given("codex", "SessionStart", home), host="codex", **own)
    assert told == ""
    assert "TimeoutError: It took longer than 0.2 seconds." in log or "Unreachable" in log


@pytest.mark.parametrize("deadline", ["nan", "inf", "-1", "0", '"soon"', "[]", "9" * 400])
def test_a_deadline_that_is_none_is_told_in_the_log_alone(deadline, home):
    (home / "memgraph-engine.toml").write_text(f"[hook]\ndeadline = {deadline}\n")
    told, log = ran(home, "beforeSubmitPrompt", given("cursor", "beforeSubmitPrompt", home), host="cursor")
    assert json.loads(told) == {"continue": True}
    assert log.count("\n") == 1
    assert "cursor beforeSubmitPrompt OverflowError" in log or "SettingsError: The setting" in log
    assert not [*(home / "engine" / "hooks").glob("*.json")]


def test_a_home_that_is_gone_is_told_in_the_log_alone(home):
    """The project's folder, whose settings anybody wrote, is no place to go on in."""
    told, log = ran(home, "Stop", given("codex", "Stop", home), HOME=str(home / "gone"))
    assert (told, log.count("\n")) == ("", 1)
    assert "FileNotFoundError" in log


def test_an_option_of_another_version_is_left(home):
    """Agents stop a prompt whose hook ends with 2."""
    _, log = ran(home, "UserPromptSubmit", b"no JSON", "--deep", "--as", "text", host="codex")
    assert log.count("\n") == 1
    assert " codex UserPromptSubmit JSONDecodeError" in log


def test_a_project_s_own_settings_are_not_read(home, shop):
    (shop / "memgraph-engine.toml").write_text("[hook]\ndeadline = nan\n")
    _, log = ran(home, "UserPromptSubmit", b"no JSON", folder=shop)
    assert log.count("\n") == 1
    assert "JSONDecodeError" in log


def test_a_project_s_own_settings_name_no_server(home, memory, shop):
    """A repository that somebody else made is no reason to send him what is said."""
    with socket.socket() as trap:
        trap.bind(("127.0.0.1", 0))
        trap.listen()
        trap.settimeout(0.1)
        url = f"http://127.0.0.1:{trap.getsockname()[1]}"
        (shop / "memgraph-engine.toml").write_text(f'[remote]\nurl = "{url}"\n')
        os.chdir(shop)
        own = {"MEMGRAPH_ENGINE_REMOTE__KEY": "mge_secret"}
        ran(home, "UserPromptSubmit", given("claude-code", "UserPromptSubmit", shop), **own)
        with pytest.raises(TimeoutError):
            trap.accept()


def test_a_server_is_asked_without_the_engine(remote, home, shop):
    """Nothing heavy is loaded: an agent waits for each of its prompts."""
    heavy = ("neo4j", "numpy", "pydantic", "onnxruntime", "memgraph_engine.client")
    program = (
        "import sys; from memgraph_engine.cli.hook import answered; "
        f"print(answered('UserPromptSubmit', 'codex', sys.stdin.buffer.read(), 30.0) or 'nothing'); "
        f"print([one for one in {heavy!r} if one in sys.modules])"
    )
    told = given("codex", "UserPromptSubmit", shop)
    done = subprocess.run([sys.executable, "-c", program], input=told, env=dict(os.environ), capture_output=True)
    assert done.stderr == b""
    assert done.stdout.decode().splitlines() == ["nothing", "[]"]
