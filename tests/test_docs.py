"""Every block of code of the README and of docs/ runs and does what its page says (tests/pages.py tells how)."""

import re
from pathlib import Path

import pytest

import memgraph_engine
from docs import reference
from memgraph_engine import Settings
from memgraph_engine.lifecycle.file import policies
from memgraph_engine.settings import _names
from tests.loopback import forget_clients
from tests.pages import Runner, Wrong, blocks

ROOT = Path(__file__).parent.parent
PAGES = [path.relative_to(ROOT).as_posix() for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))]


@pytest.fixture
def place(tenant, embedder, monkeypatch, tmp_path):
    """An empty folder and memory, where programs that say nothing of them run."""
    monkeypatch.setenv("MEMGRAPH_ENGINE_TENANT", tenant)
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: embedder)
    monkeypatch.chdir(tmp_path)
    policies.cache_clear()  # a process reads a file of a name once
    yield tmp_path
    forget_clients()


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_do_what_it_says(page, place):
    Runner(page).run((ROOT / page).read_text("utf-8"))


def test_there_is_one_way_to_install():
    measured = "docs/benchmarks-appendix.md"  # of a smaller one, what it weighs
    told = [(ROOT / page).read_text("utf-8") for page in PAGES if page != measured]
    told += [book.read_text("utf-8") for book in (ROOT / "notebooks").glob("*.ipynb")]
    lines = [line for text in told for line in re.findall(r"pip install '\.\[local[^']*'", text)]
    assert len(lines) > 5
    assert {*lines} == {"pip install '.[local,topics,fast,serve]'"}


# ---- the pages that are made from the program -----------------------------------------------


@pytest.fixture(scope="module")
def made():
    return reference.pages()


def test_the_pages_of_reference_are_up_to_date(made):
    assert [page for page in made if (ROOT / "docs" / page).read_text("utf-8") != made[page]] == [], "run: make docs"


def test_every_page_of_reference_is_made(made):
    assert {path.name for path in (ROOT / "docs" / "api").iterdir()} == {
        Path(page).name for page in made if page.startswith("api/")
    }


def test_every_setting_is_told(made):
    leaves = {name for name in _names(Settings) if not name.startswith("llm__roles")}
    told = re.findall(r"<br>`MEMGRAPH_ENGINE_(\w+)`", made["settings.md"])
    assert "|  |" not in made["settings.md"]
    assert sorted(told) == sorted(
        name.upper() for name in leaves if not any(one.startswith(f"{name}__") for one in leaves)
    )


def test_every_public_name_and_integration_is_told(made):
    told = re.findall(r"^::: memgraph_engine\.([\w.]+)$", "".join(made.values()), re.MULTILINE)
    assert {*memgraph_engine.__all__} - {*told} == {"AsyncMemory", "Settings"}  # told in words, and by settings.md
    modules = {name.split(".")[1] for name in told if name.startswith("integrations.")}
    inside = {"mcp", "page", "bodies", "tokens"}  # what a command serves, and what the others share
    folder = Path(memgraph_engine.__path__[0], "integrations")
    assert modules | inside == {path.stem for path in folder.iterdir() if not path.name.startswith("__")}


def test_every_operation_is_told_with_its_right(made):
    page = made["endpoints.md"]
    operations = re.findall(r"^### [A-Z]+ /.*?(?=^##)", page, re.MULTILINE | re.DOTALL)
    assert operations
    assert [one.splitlines()[0] for one in operations if "Right: `" not in one and "No key is asked" not in one] == []


# ---- a page that is wrong fails -------------------------------------------------------------


def fenced(language, *lines, before=""):
    return "\n".join([*([before] if before else []), f"```{language}", *lines, "```", ""])


ADDED = 'memgraph-engine add "The ferry leaves at nine." --user ana'
NOT_RUN = "<!-- not run: it needs a key -->"
WRONG = {
    "raises": (fenced("python", "", "1 / 0"), "ZeroDivisionError"),
    "exits": (fenced("python", "raise SystemExit(3)"), "SystemExit"),
    "no Python, not run": (fenced("python", "if so", before=NOT_RUN), "SyntaxError"),
    "other output": (fenced("python", "print('blue')") + fenced("text", "red"), "shows\nred\nbut it prints\nblue"),
    "less output": (fenced("python", "print('blue')") + "\n" + fenced("text", "blue", "red"), "but it prints"),
    "more output": (fenced("python", "print('blue boat')") + fenced("text", "… blue"), "but it prints"),
    "a command fails": (fenced("sh", "memgraph-engine get nothing --user ana"), "exits with "),
    "a command does not fail": (fenced("sh", f"{ADDED}  # exits with 1"), "exits with 0"),
    "a command prints something else": (fenced("sh", ADDED) + fenced("text", "nothing"), "but it prints"),
    "unknown command": (fenced("sh", "memgraph-engine remember this", before=NOT_RUN), "'remember'"),
    "unknown option": (fenced("sh", "memgraph-engine serve --fast", before=NOT_RUN), "--fast"),
    "missing argument": (fenced("sh", "memgraph-engine search", before=NOT_RUN), "Missing argument"),
    "no JSON": (fenced("json", '{"a": }'), "JSONDecodeError"),
    "no JSONL": (fenced("jsonl", "{}", "boat"), "JSONDecodeError"),
    "no YAML": (fenced("yaml", "a: [", before=NOT_RUN), "ParserError"),
    "no TOML": (fenced("toml", "a ="), "TOMLDecodeError"),
    "unknown setting": (fenced("toml", "[recall]", "pond = 3"), "recall.pond: there is no such setting"),
    "unusable setting": (fenced("toml", "[gate]", "link_threshold = 3"), "gate.link_threshold"),
    "no Cypher": (fenced("cypher", "MATCH (n RETURN n"), "CypherSyntaxError"),
    "Cypher that writes": (fenced("cypher", "CREATE (n:Boat)"), "read access mode"),
    "misspelt language": (fenced("pyhton", "print()"), "can't be 'pyhton'"),
    "no language": (fenced("", "print()"), "can't be ''"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_block_fails_with_its_page_and_line(name, place):
    page, told = WRONG[name]
    with pytest.raises(Wrong) as wrong:
        Runner("boats.md").run(f"# Boats\n\n{page}")
    assert told in str(wrong.value)
    assert str(wrong.value).startswith(f"boats.md, line {3 + page.startswith('<!--')}: ")


def test_a_failing_line_of_python_is_told_by_its_number_on_the_page(place):
    with pytest.raises(Wrong) as wrong:
        Runner("boats.md").run("# Boats\n\n" + fenced("python", "one = 1", "one / 0"))
    assert wrong.value.__cause__.__traceback__.tb_next.tb_next.tb_next.tb_lineno == 5


# ---- and one that is right passes -----------------------------------------------------------


def test_blocks_share_names_files_and_the_memory(place, tenant):
    page = (
        fenced("markdown", "The ferry leaves at nine.", before="<!-- file: notes/ferry.md -->"),
        fenced("toml", 'timezone = "Europe/Lisbon"', before="<!-- file: memgraph-engine.toml -->"),
        fenced("sh", "pip install boats", "memgraph-engine ingest \\", "  notes --user ana  # again when they change"),
        fenced("python", "from memgraph_engine import Memory", "memory = Memory.connect()"),
        fenced("python", "print(memory.search('ferry', user_id='ana')[0].note.text)", "print('1 of 2')"),
        "",
        fenced("text", "The ferry … nine.", "1 of …"),
        fenced("python", f"assert memory.engine.settings.tenant == '{tenant}'"),
        fenced("python", "assert memory.engine.settings.timezone == 'Europe/Lisbon'"),
        fenced("sh", "memgraph-engine get nothing --user ana  # exits with 1"),
        fenced("cypher", "MATCH (n:Note {scope: $scope}) RETURN n.raw"),
    )
    runner = Runner("boats.md")
    runner.run("\n".join(page))
    with pytest.raises(Exception, match="closed"):
        runner.names["memory"].search("ferry", user_id="ana")


def test_what_is_not_run_or_lacks_a_package_does_nothing(place):
    needs = "<!-- needs: json no_such_package -->"
    page = (
        fenced("python", "1 / 0", before=NOT_RUN),
        fenced("python", "import no_such_package", before=needs),
        fenced("sh", "memgraph-engine ingest nowhere --user ana", before=NOT_RUN),
        fenced("sh", "memgraph-engine --help", before=f"{needs}\n{NOT_RUN}"),
        fenced("python", "print('blue')", before="<!-- needs: json -->") + fenced("text", "blue"),
    )
    Runner("boats.md").run("\n".join(page))


def test_blocks_of_lists_are_read_without_their_indent():
    (block,) = blocks("- Boats:\n\n  ```sh\n  memgraph-engine stats\n  ```\n")
    assert (block.language, block.text, block.line) == ("sh", "memgraph-engine stats\n", 3)
