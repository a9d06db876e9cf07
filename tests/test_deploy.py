"""What starts everything at once: commands that the command line has, and a proxy that caches.

There is no builder of containers here, so that the images themselves are not tried.
"""

from __future__ import annotations

import getpass
import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
import typer
import yaml

from belman.cli import app as command_line
from belman.studies import open_study
from tests.service.running import Running, running
from tests.waiting import HANG, wait_until

DEPLOY = Path(__file__).parents[1] / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
CLUSTER = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


def parsed(words):
    """Hold words to the command line: what it does not have raises."""
    command, rest = typer.main.get_command(command_line), list(words)
    context = command.make_context("belman", [], resilient_parsing=True)
    while hasattr(command, "commands"):
        name, command, rest = command.resolve_command(context, rest)
        assert command is not None, name
    return command.make_context(command.name, rest)


def test_every_command_is_one_of_the_command_line():
    services = COMPOSE["services"]
    for name in ("first", "second"):
        result = parsed(services[name]["command"]).params
        assert (result["host"], result["port"]) == ("0.0.0.0", 8000)
        (subnet,) = COMPOSE["networks"]["inside"]["ipam"]["config"]
        assert list(result["proxy"]) == [subnet["subnet"]]  # Typer's parser gave tuples once
    (script,) = services["key"]["command"]
    for words in re.findall(r"belman ([a-z0-9 -]+)", script):
        assert parsed(words.split())
    assert script.endswith("> /data/first.key"), "no log shows a key"
    with pytest.raises(Exception, match="no-such"):
        parsed(["serve", "--no-such"])


def test_services_wait_for_one_another_and_files_are_there():
    services = COMPOSE["services"]
    waits = {name: set(one.get("depends_on", ())) for name, one in services.items()}
    assert waits == {
        "database": set(),
        "key": {"database"},
        "first": {"key"},
        "second": {"key"},
        "proxy": {"first", "second"},
    }
    built = services["first"]["build"]
    assert (DEPLOY / built["context"] / built["dockerfile"]).is_file()
    source = services["proxy"]["volumes"][0].partition(":")[0]
    assert (DEPLOY / source).is_file()
    text = (DEPLOY / source).read_text()
    assert set(re.findall(r"server (\w+):8000;", text)) == {"first", "second"}


def test_a_cluster_runs_what_the_image_has():
    deployment, service, budget = CLUSTER
    pod = deployment["spec"]["template"]
    (waiting,), (server,) = pod["spec"]["initContainers"], pod["spec"]["containers"]
    assert parsed(server["args"]).params["host"] == "0.0.0.0"
    (words,) = re.findall(r"belman ([a-z ]+[a-z])", waiting["command"][-1])
    assert parsed(words.split())
    options = {option.envvar for option in parsed(["serve"]).command.params}
    named = {one["name"] for one in server["env"]}
    assert named - {"BELMAN_SIGNING_KEY"} <= options
    (port,) = server["ports"]
    assert port["containerPort"] == parsed(server["args"]).params["port"]
    labels = pod["metadata"]["labels"]
    for selector in (deployment["spec"]["selector"], budget["spec"]["selector"]):
        assert selector["matchLabels"] == labels
    assert service["spec"]["selector"] == labels
    assert service["spec"]["ports"][0]["targetPort"] == port["name"]
    secrets = [one["valueFrom"]["secretKeyRef"] for one in server["env"] if "valueFrom" in one]
    made = (DEPLOY / "kubernetes.yaml").read_text()
    assert {f"--from-literal={one['key']}=" in made for one in secrets} == {True}
    paths = {server[probe]["httpGet"]["path"] for probe in server if probe.endswith("Probe")}
    assert paths == {"/readyz", "/healthz"}
    user = re.search(r"^USER (\d+)$", (DEPLOY.parent / "Containerfile").read_text(), re.MULTILINE)
    assert user, "runAsNonRoot needs a user by number"


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1.28.0", "1.37.0"])
def test_a_cluster_takes_the_manifests(version):
    checker = pytest.importorskip("kubernetes_validate")
    for one in CLUSTER:
        checker.validate(one, version, strict=True)
    with pytest.raises(checker.ValidationError):
        checker.validate({**CLUSTER[0], "spec": {"replicas": "two"}}, version, strict=True)


@pytest.fixture
def proxied(tmp_path):
    """The proxy in front of one service, which plays both, on ports of this machine."""
    with running(tmp_path) as service, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        text = (DEPLOY / "nginx.conf").read_text()
        text = re.sub(r"(first|second):8000", f"127.0.0.1:{service.port}", text)
        text = text.replace("listen 8080", f"listen 127.0.0.1:{port}")
        text = text.replace("/tmp/", f"{tmp_path}/").replace("auto;", "1;")
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        own = "".join(f"{kind}_temp_path {tmp_path}/{kind};\n" for kind in kinds)
        text = text.replace("http {", f"http {{\n{own}")
        user = f"user {getpass.getuser()};\n" if os.geteuid() == 0 else ""
        (tmp_path / "nginx.conf").write_text(user + text)
        options = ("-p", tmp_path, "-e", tmp_path / "error.log", "-c", tmp_path / "nginx.conf")
        result = subprocess.run(
            [NGINX, "-t", *options], capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr
        server = subprocess.Popen([NGINX, *options, "-g", "daemon off;"])
        try:
            yield service, Running(None, None, port)
        finally:
            server.terminate()
            server.wait(HANG)


def listens(port):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_the_proxy_caches_weights_and_nothing_else(proxied):
    service, proxy = proxied
    wait_until(lambda: listens(proxy.port))
    study = open_study("button", ["a", "b"], storage=service.storage, seed=1)
    study.publish(100, every=60)
    path = "/api/studies/button/weights"
    result = [proxy.send("GET", path) for _ in range(3)]
    assert [one.status for one in result] == [200] * 3, result[0]
    assert [one.headers["x-cache-status"] for one in result] == ["MISS", "HIT", "HIT"]
    assert {one.body for one in result} == {service.send("GET", path).body}
    assert proxy.send("GET", path, key="another").headers["x-cache-status"] != "HIT"
    assert proxy.send("GET", f"{path}?signed=true").headers["x-cache-status"] == "MISS"
    tag = {"If-None-Match": result[0].headers["etag"]}
    assert proxy.send("GET", path, headers=tag).status == 304
    asked = [proxy.send("POST", "/api/studies/button/ask", {}).json["tickets"] for _ in range(2)]
    assert asked[0] != asked[1]
    before = proxy.send("GET", "/api/studies/button").json["events"]
    study.ask()
    assert proxy.send("GET", "/api/studies/button").json["events"] == before + 1
