"""Claude's memory tool keeps files in a memory as the SDK's own tool keeps them in a folder."""

import random

import pytest

from memgraph_engine import InvalidInput

pytestmark = [pytest.mark.claude, pytest.mark.filterwarnings("ignore")]

NAMES = ["a.md", "b.md", "deep/a.md", "deep/er/c.md", "deep", "x y.txt"]
WORDS = ["tea", "I like tea.", "one\ntwo\nthree\n", "", "two", "ü\r\n"]


@pytest.fixture
def ours(memory):
    from memgraph_engine.integrations.claude import MemgraphMemoryTool

    return MemgraphMemoryTool(memory, "ana")


@pytest.fixture
def theirs(tmp_path):
    from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

    return BetaLocalFilesystemMemoryTool(str(tmp_path))


def done(tool, command):
    """Tell whether a tool did a command."""
    from anthropic.lib.tools import ToolError

    try:
        tool.call(command)
    except (ToolError, OSError):
        return False
    return True


def files_of(folder):
    return {f"/{path.relative_to(folder)}": path.read_bytes().decode() for path in folder.rglob("*") if path.is_file()}


def stored(tool):
    return {path: tool._text(path) for path in tool._below("/memories")}


def command(chance):
    path, other = (f"/memories/{chance.choice(NAMES)}" for _ in range(2))
    kind = chance.choice(["view", "create", "create", "str_replace", "insert", "delete", "rename"])
    given = {
        "view": {"path": path},
        "create": {"path": path, "file_text": chance.choice(WORDS)},
        "str_replace": {"path": path, "old_str": chance.choice(["tea", "two", "e"]), "new_str": chance.choice(WORDS)},
        "insert": {"path": path, "insert_line": chance.randrange(4), "insert_text": chance.choice(WORDS)},
        "delete": {"path": path},
        "rename": {"old_path": path, "new_path": other},
    }
    return {"command": kind, **given[kind]}


@pytest.mark.parametrize("seed", range(12))
def test_the_same_commands_leave_the_same_files(ours, theirs, tmp_path, seed):
    chance = random.Random(seed)
    for _ in range(25):
        one = command(chance)
        # a folder that has lost its files is there on a disk, and not here
        for empty in sorted(tmp_path.rglob("*"), reverse=True):
            if empty.is_dir() and empty != tmp_path / "memories" and not any(empty.iterdir()):
                empty.rmdir()
        assert done(ours, one) == done(theirs, one), one
        assert stored(ours) == files_of(tmp_path), one


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/passwd", "/memories/../etc", "memories/a", "/memoriesx/a", "", "/", "/memories/a/../../b"),
        *("/memories/a\nb", "/memories/a\0b", "/memories/\ud800", f"/memories/{'a' * 9_000}"),
    ],
)
def test_no_path_leads_out(ours, path):
    for one in ({"command": "view", "path": path}, {"command": "create", "path": path, "file_text": "x"}):
        assert not done(ours, one)
    assert stored(ours) == {}


def test_a_file_is_found_by_a_search_undone_and_of_one_user(ours, memory):
    from memgraph_engine.integrations.claude import MemgraphMemoryTool

    path = "/memories/tastes.md"
    ours.call({"command": "create", "path": path, "file_text": "Ana likes oolong tea."})
    ours.call({"command": "str_replace", "path": path, "old_str": "oolong", "new_str": "mint"})
    assert "mint" in memory.search("Which tea does Ana like?", user_id="ana")[0].note.text
    memory.undo(memory.decisions(user_id="ana")[0].id, user_id="ana")
    assert "oolong" in ours.call({"command": "view", "path": path})
    other = MemgraphMemoryTool(memory, "ben")
    assert not done(other, {"command": "view", "path": path})
    assert other.call({"command": "view", "path": "/memories"}) == "/memories/"
    assert memory.verify(user_id="ana") == []


def test_a_folder_that_can_not_be_renamed_stays_as_it_is(ours):
    for name in ("a", "q" * 300):
        ours.call({"command": "create", "path": f"/memories/d/{name}", "file_text": "x"})
    before = stored(ours)
    assert not done(ours, {"command": "rename", "old_path": "/memories/d", "new_path": f"/memories/{'z' * 300}"})
    assert stored(ours) == before


def test_nobodys_files_are_refused(memory):
    from memgraph_engine.integrations.claude import MemgraphMemoryTool

    with pytest.raises(InvalidInput, match="user_id is required"):
        MemgraphMemoryTool(memory, None)


@pytest.mark.parametrize("lines", [["a", "b"], [1], [1, 2, 3]])
def test_lines_that_can_not_be_are_refused(ours, lines):
    ours.call({"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo"})
    assert not done(ours, {"command": "view", "path": "/memories/a.md", "view_range": lines})


def test_a_folder_shows_two_levels_and_a_file_its_lines(ours):
    for name in ("a.md", "deep/b.md", "deep/er/c.md"):
        ours.call({"command": "create", "path": f"/memories/{name}", "file_text": "one\ntwo\nthree"})
    shown = ours.call({"command": "view", "path": "/memories"})
    assert shown.split("\n") == [
        "/memories/",
        *(f"/memories/{one}" for one in ("a.md", "deep/", "deep/b.md", "deep/er/")),
    ]
    assert ours.call({"command": "view", "path": "/memories/a.md", "view_range": [2, 3]}).endswith(
        "     2\ttwo\n     3\tthree"
    )


def test_the_sdks_request_names_it(ours):
    assert ours.to_dict() == {"type": "memory_20250818", "name": "memory"}
