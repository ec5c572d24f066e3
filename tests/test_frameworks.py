"""The programs of docs/frameworks.md, with the real packages; the model is scripted, behind OpenAI's interface."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.keys import issue
from tests.loopback import Say, chat_server
from tests.served import served

pytestmark = pytest.mark.frameworks
ENVIRONMENT = Path(sys.prefix)  # npm's packages lie there too


def from_memory(request):
    """A model that asks the memory, and answers with what it is told."""
    told = [message["content"] for message in request["messages"] if message["role"] == "tool"]
    if told:
        return Say("In Lisbon." if "Lisbon" in json.dumps(told) else "I don't know.")
    call = {"name": "context", "arguments": json.dumps({"query": "Where do I live?"})}
    asked = {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": call}]}
    return Say(None, message=asked, finish_reason="tool_calls")


def programs(root):
    page = (root / "docs" / "frameworks.md").read_text("utf-8")
    return re.findall(r"^## (.+?)\n.*?^```(python|js)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("Pydantic AI", id="pydantic-ai"),
        pytest.param("LlamaIndex", id="llamaindex"),
        pytest.param("Vercel's AI SDK", id="vercel-ai"),
    ],
)
def test_the_program_answers_from_the_memory_of_its_key(memory, root, tmp_path, name):
    memory.add("I live in Lisbon now.", user_id="ana")
    memory.add("I live in Faro now.", user_id="ben")
    ((language, program),) = ((language, program) for title, language, program in programs(root) if title == name)
    if language == "js":
        file = tmp_path / "program.mjs"
        (tmp_path / "node_modules").symlink_to(ENVIRONMENT / "node_modules")
        command = [shutil.which("node", path=str(ENVIRONMENT / "bin")), str(file)]
    else:
        file = tmp_path / "program.py"
        command = [sys.executable, str(file)]
    file.write_text(program, "utf-8")
    with served(memory) as at, chat_server() as chat:
        chat.reply = from_memory
        for user, answer in (("ana", "In Lisbon."), ("ben", "I don't know.")):
            environment = {
                **os.environ,
                "OPENAI_API_KEY": "none",
                "OPENAI_BASE_URL": chat.base,
                "OPENAI_API_BASE": chat.base,  # as LlamaIndex calls it
                "MEMORY_URL": f"{at}/mcp",
                "MEMORY_KEY": issue(memory, user, ["read"]).secret,
            }
            ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
            assert ended.stdout.strip() == answer, ended.stdout + ended.stderr
