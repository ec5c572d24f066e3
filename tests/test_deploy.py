"""What it runs in: images, Compose, a Helm chart, units of systemd, each checked by its own tool where that is."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from contextlib import contextmanager
from uuid import uuid4

import pytest
import yaml

from memgraph_engine import Memory, Settings, __version__
from tests import containers
from tests.keys import issue

BASE = os.environ.get("MEMGRAPH_ENGINE_TEST_BASE", "")
PINNED = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)


def run(*command, **options):
    """Run a command that must succeed; return what it prints."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# ---- what is written ----------------------------------------------------------------------------


def test_the_images_have_the_versions_that_are_tested(root):
    image, tested = ((root / name).read_text() for name in ("deploy/requirements.lock", "requirements.lock"))
    assert set(PINNED.findall(image)) <= set(PINNED.findall(tested))
    assert image.count("--hash=sha256:") > len(PINNED.findall(image)) > 50
    assert "://" not in image


def test_versions_agree(root):
    chart = yaml.safe_load((root / "deploy/helm/Chart.yaml").read_text())
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert {chart["version"], chart["appVersion"], project["version"]} == {__version__}
    assert f"## {__version__}" in (root / "CHANGELOG.md").read_text()


def test_compose_has_a_profile_for_each_part_and_gives_nobody_more_than_he_needs(root):
    services = yaml.safe_load((root / "compose.yaml").read_text())["services"]
    assert {name: one["profiles"] for name, one in services.items()} == {
        "neo4j": ["database"],
        "server": ["server"],
        "worker": ["worker"],
    }
    for one in services.values():
        assert all(port.startswith("127.0.0.1:") for port in one.get("ports", ()))
    for name in ("server", "worker"):
        assert services[name]["build"]["target"] == name
        assert (services[name]["read_only"], services[name]["cap_drop"]) == (True, ["ALL"])
    stop = Settings.load()
    assert float(services["worker"]["stop_grace_period"].rstrip("s")) > max(stop.worker.stop, stop.serve.stop) + 5


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
def test_units_of_systemd_are_well(root, tmp_path):
    units = sorted((root / "deploy/systemd").glob("*.service"))
    assert len(units) == 2
    for one in units:
        here = tmp_path / one.name
        program = f"{sys.executable} -m memgraph_engine"
        here.write_text(one.read_text().replace("/opt/memgraph-engine/bin/memgraph-engine", program))
        assert program in here.read_text()
        run("systemd-analyze", "verify", here)


# ---- the chart ----------------------------------------------------------------------------------

GIVEN = ("--set", "neo4j.uri=neo4j://db:7687,neo4j.existingSecret=mine")
helm = pytest.mark.skipif(not shutil.which("helm"), reason="no helm")


@pytest.fixture
def chart(root):
    """Render the chart; returns the objects by kind and name, all of which Kubernetes' schemas allow."""
    validate = shutil.which("kubernetes-validate", path=f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")

    def render(*options):
        text = run("helm", "template", "r", root / "deploy/helm", *GIVEN, *options)
        if validate:
            run(validate, "--strict", "--quiet", "-", input=text)
        objects = [one for one in yaml.safe_load_all(text) if one]
        return {(one["kind"], one["metadata"]["name"]): one for one in objects}

    return render


def container(chart, name):
    """The one container of a deployment."""
    (one,) = chart["Deployment", name]["spec"]["template"]["spec"]["containers"]
    return one


@helm
def test_the_chart_is_rendered_for_a_database_and_a_secret_of_ones_own(root, chart):
    run("helm", "lint", "--strict", root / "deploy/helm", *GIVEN)
    made = chart()
    assert {kind for kind, _ in made} == {"Deployment", "Service", "PodDisruptionBudget"}
    for part, args in (("server", ["serve"]), ("worker", ["worker", "--all-tenants", "--metrics", "9464"])):
        one = container(made, f"r-{part}")
        assert one["args"] == args
        assert one["image"] == f"memgraph-engine-{part}:{__version__}"
        assert one["livenessProbe"]["httpGet"]["path"] == "/health/live"
        assert one["readinessProbe"]["httpGet"]["path"] == "/health/ready"
        assert one["securityContext"]["readOnlyRootFilesystem"]
        (password,) = [given for given in one["env"] if given["name"] == "MEMGRAPH_ENGINE_PASSWORD"]
        assert password["valueFrom"]["secretKeyRef"] == {"name": "mine", "key": "password"}
        pod = made["Deployment", f"r-{part}"]["spec"]["template"]
        assert pod["spec"]["securityContext"]["runAsNonRoot"]
        assert pod["spec"]["terminationGracePeriodSeconds"] == 45
        budget = made["PodDisruptionBudget", f"r-{part}"]["spec"]["selector"]["matchLabels"]
        assert budget.items() <= pod["metadata"]["labels"].items()
        ports = {port["name"]: port["containerPort"] for port in one["ports"]}
        assert pod["metadata"]["annotations"]["prometheus.io/port"] == str(ports["http"])


@helm
def test_the_charts_settings_are_settings(chart, monkeypatch):
    groups, more = '["eu-","us-"]', "MEMGRAPH_ENGINE_WORKER__TOPICS_AFTER"
    made = chart("--set", f"tenantGroups={{eu-,us-}},settings.{more}=7,stop=12,server.ui=true")
    assert container(made, "r-server")["args"] == ["serve", "--ui"]
    given = {one["name"]: one["value"] for one in container(made, "r-worker")["env"] if "value" in one}
    assert given["MEMGRAPH_ENGINE_WORKER__TENANT_GROUPS"] == groups
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    settings = Settings.load()
    assert (settings.worker.stop, settings.serve.stop, settings.worker.topics_after) == (12, 12, 7)
    assert settings.worker.tenant_groups == ("eu-", "us-")
    assert settings.uri == "neo4j://db:7687"


@helm
def test_workers_are_scaled_by_what_waits(chart):
    made = chart("--set", "worker.autoscaling.enabled=true")
    assert "replicas" not in made["Deployment", "r-worker"]["spec"]
    (metric,) = made["HorizontalPodAutoscaler", "r-worker"]["spec"]["metrics"]
    assert metric["external"]["metric"]["name"] == "memgraph_engine_due_jobs"


@helm
def test_a_chart_without_a_database_or_a_secret_is_refused(root):
    for given, told in ((GIVEN[1].split(",")[1], "neo4j.uri must"), (GIVEN[1].split(",")[0], "neo4j.password, must")):
        done = subprocess.run(
            ["helm", "template", "r", root / "deploy/helm", "--set", given], capture_output=True, text=True
        )
        assert done.returncode != 0
        assert told in done.stderr


# ---- the images ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def images(pytestconfig):
    """Build both images on the base that MEMGRAPH_ENGINE_TEST_BASE names; returns their names by their target."""
    made = {target: f"memgraph-engine-{target}:test" for target in ("server", "worker")}
    for target, name in made.items():
        options = ("--network", "host", "--build-arg", f"BASE={BASE}", "--build-arg", "EMBEDDER=minilm")
        run(
            "docker",
            "build",
            *options,
            "-f",
            "deploy/Dockerfile",
            "--target",
            target,
            "-t",
            name,
            ".",
            cwd=pytestconfig.rootpath,
        )
    return made


@contextmanager
def running(image, server, *words, **environment):
    """Run a container on this machine's own network, as Compose does; yield its id."""
    where = {"URI": server.uri, "USER": server.user, "PASSWORD": server.password, **environment}
    given = [part for name, value in where.items() for part in ("--env", f"MEMGRAPH_ENGINE_{name}={value}")]
    shut = ("--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
    name = f"engine-{uuid4().hex[:8]}"
    command = ("docker", "run", "--detach", "--network", "host", "--name", name, *shut, *given, image, *words)
    run(*command)
    try:
        yield name
    finally:
        subprocess.run(["docker", "rm", "--force", name], capture_output=True)


def healthy(name):
    """Wait until Docker says that a container is healthy."""
    until = time.monotonic() + 120
    while (state := json.loads(run("docker", "inspect", name))[0]["State"])["Health"]["Status"] != "healthy":
        assert state["Running"], run("docker", "logs", name)
        assert time.monotonic() < until, state
        time.sleep(1)


def stopped(name):
    """Stop a container as Docker does; returns its exit code."""
    run("docker", "stop", "--time", "40", name)
    return json.loads(run("docker", "inspect", name))[0]["State"]["ExitCode"]


@pytest.mark.docker
@pytest.mark.skipif(not BASE, reason="MEMGRAPH_ENGINE_TEST_BASE names no image to build on")
@pytest.mark.timeout(900)
def test_the_images_run_as_nobody_and_hold_no_tools(images):
    for name in images.values():
        assert json.loads(run("docker", "inspect", name))[0]["Config"]["User"] == "10001:10001"
        look = "id -u; command -v cc gcc make git || true; ls -A /root/.cache 2>/dev/null || true"
        assert run("docker", "run", "--rm", "--network", "none", "--entrypoint", "sh", name, "-c", look) == "10001\n"
        told = run("docker", "run", "--rm", "--network", "none", name, "--version")
        assert told == f"memgraph-engine {__version__}\n"


@pytest.mark.docker
@pytest.mark.skipif(not BASE, reason="MEMGRAPH_ENGINE_TEST_BASE names no image to build on")
@pytest.mark.timeout(900)
def test_a_worker_constructs_what_a_server_was_told_and_both_end_well(images, server, tenant, embedder):
    with Memory.connect(tenant=tenant, embedder=embedder) as memory:
        key = issue(memory).secret
        memory.add("The ferry to Almada leaves at eight.", user_id="ana", wait=False)
        assert memory.health().undone
        port = {"SERVE__PORT": "18080", "TENANT": tenant}
        with (
            running(images["server"], server, **port) as served,
            running(images["worker"], server, "worker", "--metrics", "9464", TENANT=tenant) as working,
        ):
            healthy(working)
            until = time.monotonic() + 60
            while memory.health().undone:
                assert time.monotonic() < until, run("docker", "logs", working)
                time.sleep(0.5)
            found = run("curl", "-sS", "-H", f"Authorization: Bearer {key}", "127.0.0.1:18080/v1/notes?user_id=ana")
            assert "Almada" in found
            assert (stopped(served), stopped(working)) == (0, 0)


def test_the_database_of_compose_is_the_one_that_is_tested(root):
    services = yaml.safe_load((root / "compose.yaml").read_text())["services"]
    assert services["neo4j"]["image"] == containers.IMAGE
