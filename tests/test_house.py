"""What the project weighs, in a small one of its kind, and what is said where that is more or less than is allowed."""

from argparse import Namespace

import pytest

from bench import house

LIMITS = {
    "package": house.Limit("lines of the package", 6, 6),
    "gate": house.Limit("lines of gate/", 2, 2),
    "reading": house.Limit("lines that read language", 2, 2, files=["gate/words.py"]),
    "language": house.Limit("lines of lists", 3, 3),
    "statement": house.Limit("lines of the largest statement", 2, 2),
    "words": house.Limit("words of docs", 7, 7),
}
FILES = {
    "memgraph_engine/client.py": '"""A memory."""\n\nADD = 1  # what it does\n# and no more\n',
    "memgraph_engine/gate/words.py": "A = (\n    1)\n",
    "config/language/english/words.toml": "a\nb\nc\n",
    "cypher/notes/one.cypher": "MATCH\nRETURN\n",
    "cypher/notes/two.cypher": "RETURN\n",
    "README.md": "# Boats\n\nThey float.\n",
    "docs/ports.md": "Where they lie.\n",
    "docs/cli.md": "Written by `make docs`; a test compares it.\n",
    "pyproject.toml": '[[tool.importlinter.contracts]]\nlayers = ["cli", "client"]\n',
}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setattr(house, "circles", lambda: 0)
    for name, text in {**FILES, "bench/house.toml": ""}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    house.write(tmp_path, {name: house.Limit(**vars(limit)) for name, limit in LIMITS.items()})
    return tmp_path


def run(tree, *, lower=False, check=False):
    return house.run(Namespace(root=tree, lower=lower, check=check))


def refused(tree):
    with pytest.raises(SystemExit) as told:
        run(tree)
    return str(told.value)


def test_what_fits_is_told(tree):
    figures, text = run(tree)
    limited = {"package": 6, "gate": 2, "reading": 2, "language": 3, "statement": 2, "words": 7}
    assert figures == {**limited, "files": 2, "code_lines": 3, "floors": 2, "circles": 0}
    assert run(tree, check=True)[0] == limited
    assert "| lines of the package | 6 | 6 |" in text
    assert "client.py, 4 lines" in text


@pytest.mark.parametrize("name", sorted(FILES.keys() - {"cypher/notes/two.cypher", "docs/cli.md", "pyproject.toml"}))
def test_a_line_too_many_is_told_with_what_to_do(tree, name):
    with (tree / name).open("a") as file:
        file.write("x\n")
    assert "1 more than bench/house.toml allows" in refused(tree)
    assert "raise `most` there and add a `reason`" in refused(tree)


@pytest.mark.parametrize("name", ["cypher/notes/two.cypher", "docs/cli.md"])
def test_a_smaller_statement_and_a_page_that_is_made_may_grow(tree, name):
    with (tree / name).open("a") as file:
        file.write("x\n")
    run(tree)


def test_what_has_shrunk_lowers_its_limit_and_may_not_grow_again(tree):
    (tree / "config/language/english/words.toml").write_text("a\n")
    assert "2 less than bench/house.toml allows. Run python -m bench house --lower" in refused(tree)
    run(tree, lower=True)
    assert house.read(tree)["language"] == house.Limit("lines of lists", 1, 1)
    (tree / "config/language/english/words.toml").write_text("a\nb\n")
    assert "lines of lists: 2, which is 1 more" in refused(tree)
    with pytest.raises(SystemExit, match="1 more"):
        run(tree, lower=True)


def test_a_limit_is_raised_with_a_reason_that_goes_when_it_is_lowered(tree):
    limits = house.read(tree)
    limits["gate"].most = 4
    house.write(tree, limits)
    (tree / "memgraph_engine/gate/more.py").write_text("B = 1\n" * 2)
    (tree / "memgraph_engine/client.py").write_text("ADD = 1\n" * 2)
    assert "allows 4, and 2 were reached once; add a `reason`" in refused(tree)
    limits["gate"].reason = 'Boats are "said" in two ways.'
    house.write(tree, limits)
    run(tree)
    assert house.read(tree)["gate"] == limits["gate"]
    (tree / "memgraph_engine/gate/more.py").unlink()
    (tree / "memgraph_engine/client.py").write_text(FILES["memgraph_engine/client.py"])
    run(tree, lower=True)
    assert house.read(tree) == LIMITS


def test_a_file_that_is_named_and_gone_is_told(tree):
    (tree / "memgraph_engine/gate/words.py").rename(tree / "memgraph_engine/gate/phrases.py")
    assert "gate/words.py of [reading] is gone" in refused(tree)
