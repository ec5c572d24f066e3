"""Repositories in a memory: what is cut, found, followed and skipped."""

import os
import random
import shutil
import subprocess
import sys
from functools import partial

import pytest

from memgraph_engine.errors import InvalidInput, MissingExtra
from memgraph_engine.ingest import code, folders

STORE = '''"""Keeps boats."""

import os.path
from harbour import Berth

HOME = os.environ["BOATS_HOME"]


def load_boats(path):
    """Read all boats from a file."""
    return open(path).read()


class Fleet:
    """All boats."""

    def __init__(self):
        self.boats = []

    @app.get("/boats")
    def listAll(self):
        return self.boats
'''


@pytest.fixture
def repo(tmp_path):
    """Make a git repository of files, each path with its text or bytes."""

    def make(files, git=True):
        root = tmp_path / "boats"
        root.mkdir(exist_ok=True)
        for path, text in files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
        if git and not (root / ".git").exists():
            subprocess.run(["git", "init", "-q", str(root)], check=True)
        return root

    return make


def ingest(memory, root, **options):
    done = memory.ingest(root, user_id="ana", **{"repository": True, **options})
    assert memory.verify(user_id="ana") == []
    return done


def counts(done):
    names = ("files", "added", "repeats", "updated", "deleted", "merged", "reinforced")
    counted = {name: getattr(done, name) for name in names} | {"faults": len(done.faults)}
    return {name: number for name, number in counted.items() if number}


def pieces(memory):
    every = memory.get_all(user_id="ana", kind="code")
    return {source.id.removeprefix("boats/"): source for note in every for source in note.sources}


def found(memory, question, **filters):
    hits = memory.search(question, user_id="ana", **filters)
    return [source.id.removeprefix("boats/") for hit in hits for source in hit.note.sources]


def names(text, file="a.py", limit=1200):
    return [piece.name for piece in code.cut(file, text, limit).pieces]


# ---- pieces ---------------------------------------------------------------------------------


def test_a_file_is_cut_at_its_definitions_and_a_long_class_at_its_methods():
    assert names(STORE) == ["<module>", "load_boats", "Fleet"]
    assert names(STORE, limit=100) == ["<module>", "load_boats", "Fleet", "Fleet.__init__", "Fleet.listAll"]


@pytest.mark.parametrize(
    ("file", "text", "wanted"),
    [
        ("a.js", "import x from 'y';\nexport function run() {}\nconst f = () => 1;\n", ["<module>", "run", "f"]),
        ("a.ts", "export class A {\n  b(): void {}\n}\ninterface C { d: string }\n", ["A", "C"]),
        ("a.tsx", "export const View = () => <b>hi</b>;\n", ["View"]),
        ("a.go", "package a\n\nfunc (s *Store) Get() {}\nfunc Free() {}\n", ["<module>", "Store.Get", "Free"]),
        ("A.java", "package a;\nclass A { void b() {} }\nenum C { D }\n", ["<module>", "A", "C"]),
        ("a.rs", "use b::C;\n/// Doc.\nfn d() {}\nimpl E { fn f() {} }\n", ["<module>", "d", "E"]),
        ("a.c", "#include <a.h>\nint main(void) { return 0; }\nstruct b { int c; };\n", ["<module>", "main", "b"]),
        ("a.cpp", "namespace n {\nint f() { return 1; }\n}\n", ["n"]),
        ("a.rb", "require 'json'\nclass A\n  def b; end\nend\n", ["<module>", "A"]),
    ],
)
def test_each_language_is_cut_by_its_own_syntax(file, text, wanted):
    cut = code.cut(file, text, 1200)
    assert ([piece.name for piece in cut.pieces], cut.remark) == (wanted, "")


def test_comments_and_decorators_belong_to_the_definition_below_and_no_line_is_lost():
    text = "x = 1\n\n# Sails.\n@app.command()\ndef sail():\n    pass\n\nprint(x)\n"
    cut = code.cut("a.py", text, 1200)
    assert [piece.text.strip().split("\n")[0] for piece in cut.pieces] == ["x = 1", "# Sails.", "print(x)"]
    assert "".join("".join(piece.text.split()) for piece in cut.pieces) == "".join(text.split())


def test_what_a_piece_names_is_told_by_kind():
    first, load, fleet = code.cut("store.py", STORE, 1200).pieces
    assert set(first.keywords) == {
        ("library", "os.path"),
        ("library", "os"),
        ("library", "harbour"),
        ("configuration", "BOATS_HOME"),
        ("file", "store.py"),
    }
    assert load.keywords == (("symbol", "load_boats"), ("file", "store.py"))
    assert ("endpoint", "/boats") in fleet.keywords
    options = '@cli.command()\ndef run():\n    p.add_argument("--fast")\n'
    assert ("command", "--fast") in code.cut("a.py", options, 1200).pieces[0].keywords


def test_a_syntax_error_loses_nothing_and_is_told_with_its_line():
    cut = code.cut("a.py", "def ok():\n    pass\n\ndef broken(:\n    1\n\ndef fine():\n    pass\n", 1200)
    assert "ok" in {piece.name for piece in cut.pieces}
    assert "fine" in "".join(piece.text for piece in cut.pieces)
    assert cut.remark == "a syntax error in line 4: cut as far as it can be read"


@pytest.mark.parametrize("file", ["a.js", "a.py", "a.rs", "a.java"])
def test_what_no_query_can_look_over_is_cut_at_blank_lines_and_told(file):
    cut = code.cut(file, "boats\n" + "[" * 20_000, 1200)
    assert [piece.name for piece in cut.pieces] == ["<module>"]
    assert cut.remark == "more than 1,000 marks in a row and no word between them: cut at blank lines"


def test_what_a_query_drops_is_told_and_its_text_is_kept():
    cut = code.cut("a.py", "@a\n" * 2000 + "def sail(): pass\n", 1200)
    assert ("def sail" in cut.pieces[-1].text, cut.remark) == (
        True,
        "too much is nested or in a row: cut as far as it can be read",
    )


@pytest.mark.parametrize(
    ("file", "opens", "closes"),
    [
        ("a.cpp", "namespace a {\n", "}\n"),
        ("a.rs", "mod a {\n", "}\n"),
        ("A.java", "class A {\n", "}\n"),
        ("a.rb", "module A\n", "end\n"),
        ("a.ts", "namespace a {\n", "}\n"),
    ],
)
def test_however_deep_containers_are_nested_no_line_is_lost(file, opens, closes):
    text = opens * 3000 + closes * 3000
    cut = code.cut(file, text, 1200)
    assert "".join(piece.text for piece in cut.pieces).count(opens.strip()) == 3000
    assert 1 < len(cut.pieces) < 50  # from some depth on they are part of what they stand in


def test_a_language_without_a_grammar_is_one_piece_and_told():
    cut = code.cut("a.lua", "local a = 1\n\nfunction b() end\n", 1200)
    assert [(piece.name, piece.text) for piece in cut.pieces] == [
        ("<module>", "local a = 1\n\nfunction b() end"),
    ]
    assert cut.remark == "no grammar for its language: cut at blank lines"


def test_without_the_extra_it_is_said_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    with pytest.raises(MissingExtra, match=r"pip install 'memgraph-engine\[code\]'"):
        code.cut("a.py", "x = 1", 1200)


# ---- files ----------------------------------------------------------------------------------


def test_git_tells_the_files_and_the_rest_is_skipped_with_its_reason(repo, tmp_path):
    outside = tmp_path / "secret.py"
    outside.write_text("password = 1")
    root = repo({".gitignore": "made/\n", "a.py": "a = 1", "made/b.py": "b = 1", "c.bin": b"\0\1", "x.lock": "x"})
    (root / "large.py").write_bytes(b"# " + b"x" * 10_000_000)
    (root / "link.py").symlink_to(outside)
    (root / "inner").symlink_to(tmp_path)
    subprocess.run(["git", "-C", str(root), "add", ".gitignore"], check=True)
    (root / ".env").write_text("PASSWORD=hunter2")  # hidden, and git does not know it
    folder = folders.repository(root, "boats")
    assert [file.id for file in folder.files] == ["boats/.gitignore", "boats/a.py"]
    assert {one.file.rpartition("/")[2]: one.reason for one in folder.skipped} == {
        "c.bin": "binary",
        "x.lock": "made by a program for programs",
        "large.py": "larger than 1 MB",
        "link.py": "a link out of the folder",
        "inner": "a link out of the folder",
    }
    assert folder.remarks == []


@pytest.mark.parametrize(("path", "why"), [(None, "it is no git work tree"), ("", "git is not installed")])
def test_without_git_the_folder_is_walked_and_that_is_told(repo, monkeypatch, path, why):
    root = repo({"a.py": "a = 1", ".hidden.py": "b = 1"}, git=path is not None)
    if path is not None:
        monkeypatch.setenv("PATH", path)
    folder = folders.repository(root, "boats")
    assert [file.id for file in folder.files] == ["boats/a.py"]
    assert [one.reason.partition(":")[0] for one in folder.remarks] == [why]


def test_a_folder_that_git_ignores_is_walked_and_that_is_told(repo):
    root = repo({".gitignore": "made/", "made/a.py": "a = 1"})
    folder = folders.repository(root / "made", "made")
    assert [file.id for file in folder.files] == ["made/a.py"]
    assert folder.remarks[0].reason.startswith("git knows nothing in it")


def refused(root):
    folder = folders.repository(root, "boats")
    assert (folder.files, folder.remarks, len(folder.faults)) == ([], [], 1)
    return folder.faults[0].reason


def test_of_a_folder_that_git_refuses_to_list_nothing_is_read(memory, repo):
    root = repo({"a.py": "def sail(): pass\n", ".gitignore": "secrets.py\n", "secrets.py": "TOKEN = 'abc'\n"})
    ingest(memory, root)
    assert "must be run in a work tree" in refused(root / ".git")  # git's own files: addresses, passwords
    (root / ".git" / "HEAD").rename(root / ".git" / "TAIL")
    assert "git ls-files" in refused(root)
    assert counts(ingest(memory, root)) == {"faults": 1}
    assert set(pieces(memory)) == {"a.py::sail"}


def test_a_work_tree_of_another_user_is_not_read_as_any_folder(repo, monkeypatch, tmp_path):
    root = repo({"a.py": "a = 1"})
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(
        "#!/bin/sh\necho 'fatal: detected dubious ownership in repository' >&2\nexit 128\n"
    )
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    assert "dubious ownership" in refused(root)


def test_a_file_in_a_folder_that_may_not_be_entered_is_a_fault_and_stays(memory, repo, monkeypatch):
    root = repo({"a.py": "def sail(): pass\n", "sub/b.py": "def row(): pass\n", "sub/new.py": "def new(): pass\n"})
    subprocess.run(["git", "-C", str(root), "add", "a.py", "sub/b.py"], check=True)
    ingest(memory, root)

    def denied(path, *some, real, **options):
        if str(path).startswith(f"{root}/sub/"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *some, **options)

    for name in ("stat", "lstat"):
        monkeypatch.setattr(os, name, partial(denied, real=getattr(os, name)))
    monkeypatch.setattr(folders, "_listed", lambda path: ["a.py", "sub/b.py"])  # what git sees of it
    done = ingest(memory, root)
    assert [str(fault) for fault in done.faults] == [
        f"{root}/sub/b.py: can't be read: Permission denied",
        f"{root}/sub/new.py: can't be read: Permission denied",
    ]
    assert (done.deleted, set(pieces(memory))) == (0, {"a.py::sail", "sub/b.py::row", "sub/new.py::new"})


def test_a_repository_runs_no_program_that_its_settings_name(repo, tmp_path):
    root = repo({"a.py": "a = 1"})
    script = tmp_path / "monitor"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    script.chmod(0o755)
    subprocess.run(["git", "-C", str(root), "config", "core.fsmonitor", str(script)], check=True)
    assert folders.repository(root, "boats").files
    assert not (tmp_path / "ran").exists()


# ---- in a memory ----------------------------------------------------------------------------


def test_a_function_is_found_by_what_it_does_and_by_its_name_and_code_alone_if_asked(memory, repo):
    memory.add("Read all boats from a file, says Bo.", user_id="ana")
    root = repo({"store.py": STORE, "README.md": "# Boats\n\nThe fleet lists all boats."})
    assert counts(ingest(memory, root)) == {"files": 2, "added": 4}
    assert found(memory, "Where are boats read from a file?", kind="code")[0] == "store.py::load_boats"
    assert found(memory, "listAll", kind="code")[0] == "store.py::Fleet"
    assert found(memory, "list all", kind="code")[0] == "store.py::Fleet"
    assert found(memory, "What imports harbour?", tags=["library:harbour"]) == ["store.py::<module>"]
    assert all("::" in piece for piece in found(memory, "boats", kind="code"))
    assert found(memory, "boats", kind="document") == ["README.md#0"]
    (note,) = [one for one in memory.get_all(user_id="ana", kind="code") if "load_boats" in one.text]
    assert note.keywords == ("load_boats",)
    assert note.context.startswith("boats/store.py, load_boats (load boats): Keeps boats.")
    with pytest.raises(InvalidInput, match="kind must be one of message, document, code, api_result, item, not 'song'"):
        memory.search("boats", user_id="ana", kind="song")


def test_what_is_the_same_is_known_what_changed_is_updated_and_what_is_gone_deleted(memory, repo):
    root = repo({"store.py": STORE, "old.py": "def sink(): pass\n"})
    ingest(memory, root)
    assert counts(ingest(memory, root)) == {"files": 2, "repeats": 4}
    (root / "old.py").unlink()
    text = STORE.replace("return open(path).read()", 'return [Boat(one) for one in open(path).read().split(",")]')
    text = text.replace("class Fleet", "def moor(boat):\n    tie(boat)\n\n\nclass Fleet")
    (root / "store.py").write_text(text)
    before = {note.id for note in memory.get_all(user_id="ana") if "def load_boats" in note.text}
    assert counts(ingest(memory, root)) == {"files": 1, "added": 1, "repeats": 2, "updated": 1, "deleted": 1}
    assert set(pieces(memory)) == {f"store.py::{name}" for name in ("<module>", "load_boats", "moor", "Fleet")}
    (load,) = [note for note in memory.get_all(user_id="ana") if "def load_boats" in note.text]
    assert {load.id} == before
    assert "Boat(one)" in load.text
    assert len(memory.history(load.id, user_id="ana")) == 2
    (root / "old.py").write_text("def sink(): pass\n")
    assert counts(ingest(memory, root)) == {"files": 2, "added": 1, "repeats": 4}


def test_an_update_that_reads_no_code_says_that_it_is_left_as_it_is(memory, repo):
    root = repo({"store.py": STORE, "README.md": "# Boats\n\nBoats are kept here.\n"})
    assert ingest(memory, root).remarks == ()
    known = set(pieces(memory))
    (root / "store.py").write_text(STORE.replace("load_boats", "read_boats"))
    done = ingest(memory, root, repository=False, update=True)
    assert [str(one) for one in done.remarks] == [
        f"{root}: 1 of its files are in the memory as code, and were left as they are: --repository follows them"
    ]
    assert set(pieces(memory)) == known
    assert ingest(memory, root, repository=False).remarks == ()
    assert ingest(memory, root, update=True).remarks == ()
    assert set(pieces(memory)) != known


def test_an_update_of_a_function_changes_what_it_names_and_undo_brings_that_back(memory, repo):
    root = repo({"a.py": 'def home():\n    return os.getenv("OLD_HOME")\n'})
    ingest(memory, root)
    (root / "a.py").write_text('def home():\n    return os.getenv("NEW_HOME")\n')
    ingest(memory, root)
    (note,) = memory.get_all(user_id="ana")
    assert ("configuration:NEW_HOME" in note.tags, "new_home" in note.keywords) == (True, True)
    memory.undo(memory.history(note.id, user_id="ana")[-1].decision.id, user_id="ana")
    (note,) = memory.get_all(user_id="ana")
    assert ("configuration:OLD_HOME" in note.tags, "old_home" in note.keywords) == (True, True)
    assert note.sources[0].tags == ("configuration:OLD_HOME", "file:a.py", "symbol:home")
    assert memory.verify(user_id="ana") == []


def test_all_pieces_of_a_file_are_found_by_it_whichever_of_them_stands_first(memory, repo):
    root = repo(
        {"a.py": "import os\n\n\ndef sail():\n    return os\n", "b.py": "def row(): pass\n", "c.lua": "x = 1\n"}
    )
    ingest(memory, root)
    assert found(memory, "sail", tags=["file:a.py"]) == ["a.py::sail", "a.py::<module>"]
    (root / "a.py").write_text("def sail():\n    return os\n")
    assert counts(ingest(memory, root)) == {"files": 3, "repeats": 3, "deleted": 1}
    assert found(memory, "sail", tags=["file:a.py"]) == ["a.py::sail"]
    keywords = {note.sources[0].id: note.keywords for note in memory.get_all(user_id="ana")}
    assert keywords == {"boats/a.py::sail": ("sail",), "boats/b.py::row": ("row",), "boats/c.lua::<module>": ("c.lua",)}


def test_a_name_that_is_too_long_for_an_id_is_cut_in_its_middle(memory, repo):
    methods = "".join(f"  m{n}() {{ return 'berth {n} of the harbour' }}\n" for n in range(40))
    long = "".join(f"  ['{'x' * 600}{n}']() {{ return {n} }}\n" for n in range(2))
    root = repo({"a.js": f"function ok() {{ return 1 }}\n\nclass Big {{\n{methods}{long}}}\n"})
    ingest(memory, root)
    name = f"a.js::Big.['{'x' * 94}…"
    kept = {id: piece.text.strip()[-10:] for id, piece in pieces(memory).items() if id.startswith(name)}
    assert len(pieces(memory)) > 40
    assert {id[-4:]: text for id, text in kept.items()} == {"x0']": "return 0 }", "x1']": "return 1 }"}
    assert max(map(len, kept)) < 220
    assert not {one for piece in pieces(memory).values() for one in piece.tags if "xxx" in one}
    assert counts(ingest(memory, root)) == {"files": 1, "repeats": len(pieces(memory))}


def test_a_path_that_is_too_long_for_an_id_is_a_fault_that_can_be_read(memory, repo):
    deep = "/".join(["x" * 100] * 6)
    done = ingest(memory, repo({f"{deep}/a.py": "def sail(): pass\n", "z.py": "def row(): pass\n"}))
    assert "at most 512 are allowed" in done.faults[0].reason
    assert len(done.faults[0].reason) < 200
    assert set(pieces(memory)) == {"z.py::row"}


def test_the_same_function_in_two_files_is_two_and_joins_no_message(memory, repo):
    text = "def greet():\n    return 'I live in Porto.'\n"
    memory.add("I live in Porto.", user_id="ana")
    assert counts(ingest(memory, repo({"a.py": text, "b.py": text}))) == {"files": 2, "added": 2}
    receipt = memory.add("def greet():\n    return 'I live in Porto.'", user_id="ana")
    assert receipt.added == 1
    ties = {considered.note for one in memory.decisions(user_id="ana") for considered in one.considered}
    assert ties.isdisjoint({note.id for note in memory.get_all(user_id="ana", kind="code")})


def test_two_definitions_of_one_name_are_two_pieces_and_each_is_followed(memory, repo):
    text = "if A:\n    pass\ndef f(): return 1\ndef f(): return 2\n"
    root = repo({"a.py": text})
    ingest(memory, root)
    assert set(pieces(memory)) == {"a.py::<module>", "a.py::f", "a.py::f@2"}
    (root / "a.py").write_text(text.replace("return 2", "return 3"))
    assert counts(ingest(memory, root)) == {"files": 1, "repeats": 2, "updated": 1}
    assert pieces(memory)["a.py::f@2"].text == "def f(): return 3"


def test_a_long_function_is_one_source_in_passages_with_its_signature(memory, repo):
    lines = "\n\n".join(f"    boat_{n} = build('boat number {n}')" for n in range(60))
    ingest(memory, repo({"a.py": f"def build_all(names):\n{lines}\n"}))
    notes = list(memory.get_all(user_id="ana", kind="code"))
    assert {source.id for note in notes for source in note.sources} == {"boats/a.py::build_all"}
    assert len(notes) > 1
    assert all(len(note.text) <= 1200 for note in notes)
    assert all("def build_all(names)" in note.context for note in notes)


def test_what_a_repository_no_longer_gives_is_gone_whatever_stands_in_its_place(memory, repo, tmp_path):
    files = ("tool", "big.py", "ignored.py", "link.py", "binary.py", "inner.py", "node/a.py", "made.min.py", "stays.py")
    root = repo({name: f"def sail(): return {name!r}\n" for name in files})
    ingest(memory, root)
    for name in ("tool", "link.py", "inner.py"):
        (root / name).unlink()
    repo({"tool/main.py": "def sail(): return 1\n", "big.py": "x = 1\n" * 300_000, "binary.py": b"\0" * 100})
    repo({".gitignore": "ignored.py\n"})
    (root / "link.py").symlink_to(tmp_path)
    (root / "node").rename(root / "node_modules")
    subprocess.run(["git", "init", "-q", str(root / "inner.py")], check=True)
    assert counts(ingest(memory, root)) == {"files": 3, "added": 1, "repeats": 2, "deleted": 7}
    assert set(pieces(memory)) == {"tool/main.py::sail", "made.min.py::sail", "stays.py::sail"}


def test_what_was_read_in_another_way_or_by_itself_stays(memory, repo):
    root = repo({"a.py": "def sail(): pass\n", "notes.txt": "The blue boat leaks.", ".hidden.py": "def hide(): pass\n"})
    inner = repo({"inner/b.py": "def row(): pass\n"}) / "inner"
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    subprocess.run(["git", "-C", str(root), "add", ".hidden.py"], check=True)
    ingest(memory, root)
    ingest(memory, inner)
    every = set(pieces(memory))
    assert every == {"a.py::sail", "notes.txt::<module>", ".hidden.py::hide", "inner/b.py::row"}
    ingest(memory, root)
    assert "inner/b.py::row" in pieces(memory)  # a repository of its own
    done = ingest(memory, root, repository=False, update=True)  # what documents it holds
    assert (done.deleted, set(pieces(memory))) == (1, every - {"notes.txt::<module>"})


def test_a_part_that_was_ingested_before_its_repository_and_is_ignored_there_stays(memory, repo):
    root = repo({"a.py": "def sail(): pass\n", ".gitignore": "made/\n", "made/b.py": "def row(): pass\n"})
    ingest(memory, root / "made")
    ingest(memory, root)
    assert "made/b.py::row" in pieces(memory)
    (root / "made" / "b.py").unlink()
    ingest(memory, root)
    assert "made/b.py::row" not in pieces(memory)


LONG = "def moor(boat):\n" + "\n\n".join(f"    boat = tie(boat, 'berth {n} of the harbour')" for n in range(60)) + "\n"


def test_of_a_long_function_that_is_gone_nothing_stays_and_undo_brings_it_back(memory, repo):
    root = repo({"a.py": f"def keep():\n    return 1\n\n\n{LONG}", "b.py": LONG})
    ingest(memory, root)
    before = {note.text for note in memory.get_all(user_id="ana")}
    assert len(before) == 4
    (root / "a.py").write_text("def keep():\n    return 1\n")
    (root / "b.py").unlink()
    assert counts(ingest(memory, root)) == {"files": 1, "repeats": 1, "deleted": 2}
    assert set(pieces(memory)) == {"a.py::keep"}
    for decision in [one for one in memory.decisions(user_id="ana") if one.kind == "delete"]:
        memory.undo(decision.id, user_id="ana")
    assert {note.text for note in memory.get_all(user_id="ana")} == before
    (root / "b.py").write_text(LONG)
    (root / "a.py").write_text(LONG)
    assert counts(ingest(memory, root)) == {"files": 2, "repeats": 2, "deleted": 1}
    (root / "a.py").unlink()
    ingest(memory, root)
    (root / "a.py").write_text(LONG)
    assert counts(ingest(memory, root)) == {"files": 2, "added": 1, "repeats": 1}
    assert {note.text for note in memory.get_all(user_id="ana")} < before


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 6))])
def test_a_repository_that_was_followed_is_told_as_one_that_is_read_for_the_first_time(memory, repo, seed):
    draw = random.Random(seed)
    parts = ["import os\n", LONG, *(f"def {name}():\n    return {n}\n" for name in "fg" for n in range(3))]
    parts += ["class Fleet:\n" + "".join(f"    def m{n}(self):\n        return {n}{'0' * 90}\n" for n in range(12))]
    for _ in range(4):
        root = repo({})
        for one in [one for one in root.iterdir() if one.name != ".git"]:
            shutil.rmtree(one) if one.is_dir() else one.unlink()
        for name in ("a.py", "b.py", "b.py/c.py", "d.lua"):
            if not (root / name).parent.is_file() and draw.random() < 0.7:
                repo({name: "\n".join(draw.choices(parts, k=draw.randrange(5)))})
        ingest(memory, root)
        assert not {"added", "updated", "deleted", "faults"} & set(counts(ingest(memory, root)))

    def told(user):
        every = memory.get_all(user_id=user, kind="code")
        return sorted((one.id.partition("@")[0], note.text, one.tags) for note in every for one in note.sources)

    memory.ingest(root, user_id="bo", repository=True)
    assert told("ana") == told("bo")


def test_what_the_user_deleted_of_a_long_function_stays_deleted_until_the_function_goes(memory, repo):
    root = repo({"a.py": LONG, "b.py": "def keep(): return 1\n"})
    ingest(memory, root)
    first = next(note for note in memory.get_all(user_id="ana") if "def moor" in note.text)
    memory.delete(first.id, user_id="ana")
    assert counts(ingest(memory, root)) == {"files": 2, "repeats": 2}
    assert not any("def moor" in note.text for note in memory.get_all(user_id="ana"))
    (root / "a.py").unlink()
    assert counts(ingest(memory, root)) == {"files": 1, "repeats": 1, "deleted": 1}
    assert set(pieces(memory)) == {"b.py::keep"}


def test_what_cannot_be_read_is_told_and_the_rest_is_remembered(memory, repo):
    greek = "# Ένα καΐκι στο λιμάνι\n".encode("iso-8859-7")
    declared = "# coding: latin-1\ndef caf\xe9(): pass\n".encode("latin-1")
    texts = {"a.py": "def ok(): pass\n", "d.lua": "x = 1\n", "e.py": "def (\n"}
    root = repo({**texts, "b.py": greek * 9, "c.py": declared})
    done = ingest(memory, root)
    assert [fault.file.rpartition("/")[2] for fault in done.faults] == ["b.py"]
    assert {one.file.rpartition("/")[2] for one in done.remarks} == {"d.lua", "e.py"}
    assert {"a.py::ok", "c.py::café", "d.lua::<module>", "e.py::<module>"} <= set(pieces(memory))
    (root / "a.py").write_bytes(greek * 9)
    assert counts(ingest(memory, root))["faults"] == 2
    assert "a.py::ok" in pieces(memory)  # what can't be read is not gone


def test_a_file_that_fails_in_any_way_is_a_fault_of_its_own(memory, repo, monkeypatch):
    cut = code.cut

    def failing(file, text, limit):
        if file == "b.py":
            raise RecursionError("maximum recursion depth exceeded")
        return cut(file, text, limit)

    root = repo({f"{name}.py": f"def {name}(): pass\n" for name in "abc"})
    ingest(memory, root)
    repo({f"{name}.py": f"def {name}(): return 1\n" for name in "abcd"})
    monkeypatch.setattr(code, "cut", failing)
    done = ingest(memory, root)
    assert [str(fault) for fault in done.faults] == [
        f"{root}/b.py: it can't be read: RecursionError: maximum recursion depth exceeded"
    ]
    assert (done.updated, done.added, set(pieces(memory))) == (2, 1, {f"{name}.py::{name}" for name in "abcd"})


def test_whatever_encoding_a_file_declares_the_others_are_stored(memory, repo):
    odd = {
        "raw.py": b"# coding: raw_unicode_escape\nx = '\xe9\\ud800'\n",
        "escape.py": b"# coding: unicode_escape\ndef f(): return '\xe9\\ud800\\d'\n",
        "undefined.py": b"# coding: undefined\nx = '\xe9'\n",
        "hex.py": b"# coding: hex\nx = '\xe9'\n",
        "seven.py": b"# coding: utf-7\nx = '+2AA-'\ny = 1\n",
        "z.py": b"def row(): pass\n",
    }
    done = ingest(memory, repo(odd))
    assert {fault.file.rpartition("/")[2] for fault in done.faults} == set(odd) - {"z.py", "seven.py"}
    assert set(pieces(memory)) == {"z.py::row", "seven.py::<module>"}
    done = memory.ingest(repo(odd) / "seven.py", user_id="ana", format="code", encoding="utf-7")
    assert [(fault.line, fault.reason) for fault in done.faults] == [(2, "half a character (a lone surrogate)")]
    with pytest.raises(InvalidInput, match="No encoding 'unicode_escape'"):
        memory.ingest(repo(odd), user_id="ana", repository=True, encoding="unicode_escape")


def test_a_file_that_another_run_stores_meanwhile_is_a_fault_and_the_others_are_stored(memory, repo):
    root = repo({f"{name}.py": f"def {name}(): return 1\n" for name in "abz"})
    seen = set()

    def progress(done):
        if done.files == 2 and not seen:
            seen.add(done.files)
            (root / "a.py").write_text("def a(): return 2\n")
            memory.ingest(root / "a.py", user_id="ana", format="code", id="boats/a.py")

    done = ingest(memory, root, progress=progress)
    assert [fault.file for fault in done.faults] == [f"{root}/a.py"]
    assert "If another run was faster" in done.faults[0].reason
    assert {name: piece.text[-1] for name, piece in pieces(memory).items()} == {
        "a.py::a": "2",
        "b.py::b": "1",
        "z.py::z": "1",
    }
    assert counts(ingest(memory, root)) == {"files": 3, "repeats": 3}


def test_a_repository_is_a_folder_and_takes_no_format(memory, tmp_path):
    file = tmp_path / "a.py"
    file.write_text("def ok(): pass\n")
    with pytest.raises(InvalidInput, match="is no folder, so it is no repository"):
        memory.ingest(file, user_id="ana", repository=True)
    with pytest.raises(InvalidInput, match="takes no format"):
        memory.ingest(tmp_path, user_id="ana", repository=True, format="text")
    assert counts(memory.ingest(file, user_id="ana", format="code")) == {"files": 1, "added": 1}
