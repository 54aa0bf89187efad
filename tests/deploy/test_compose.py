"""The compose file agrees with the program, with itself and with the files beside it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.arguments import DEPLOY, listens, parsed
from tests.deploy.compose import FILE, Service, services, written

OURS = ["node-1", "node-2", "edge"]


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def has_compose() -> bool:
    docker = shutil.which("docker")
    return (
        docker is not None
        and subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.skipif(not has_compose(), reason="docker has no compose here")
def test_compose_itself_reads_it() -> None:
    read = subprocess.run(
        ["docker", "compose", "-f", FILE, "config", "--quiet"], capture_output=True, text=True, check=False
    )
    assert read.returncode == 0, read.stderr


@pytest.mark.parametrize("name", OURS)
def test_the_ports_are_those_of_the_arguments(name: str) -> None:
    service = services()[name]
    inside = {int(port) for port in service["expose"]}
    inside |= {int(each.rpartition(":")[2]) for each in service.get("ports", ())}
    assert inside == set(listens(parsed(service["command"])).values())
    asked = re.findall(r"127\.0\.0\.1:(\d+)", " ".join(service["healthcheck"]["test"]))
    assert len(asked) == 1
    assert int(asked[0]) in inside


@pytest.mark.parametrize("name", OURS)
def test_a_stop_has_the_time_that_it_takes(name: str) -> None:
    service = services()[name]
    command = parsed(service["command"])
    stopping = command.lame_duck + command.grace if name != "edge" else command.drain_seconds
    assert seconds(service["stop_grace_period"]) >= stopping + 10
    assert service["ulimits"]["nofile"]["hard"] >= command.connections + 100


def test_nodes_have_the_same_flags() -> None:
    assert services()["node-1"] == services()["node-2"]


@pytest.mark.parametrize("name", sorted(services()))
def test_every_service_is_confined(name: str) -> None:
    service = services()[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["deploy"]["resources"]["limits"].keys() == {"cpus", "memory", "pids"}
    assert service["healthcheck"]["test"][0] == "CMD"
    assert re.search(r":v?\d+\.\d+(\.\d+)?(-\w+)?$", service["image"]), "a version is pinned"
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_what_is_depended_on_is_there_and_has_a_health() -> None:
    for service in services().values():
        for name, how in service.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"}
            assert services()[name]["healthcheck"]
        assert set(service["networks"]) <= written()["networks"].keys()
    for server in parsed(services()["edge"]["command"]).server:
        assert server.partition(":")[0] in services()


def strings(service: Service) -> list[str]:
    return [*service.get("command", ()), *map(str, service.get("environment", {}).values())]


def test_secrets_are_files_that_the_script_makes(tmp_path: Path) -> None:
    subprocess.run(["sh", DEPLOY / "secrets.sh", tmp_path / "secrets"], check=True)
    made = {path.name for path in (tmp_path / "secrets").iterdir()}
    declared = written()["secrets"]
    assert {name: f"./secrets/{name}" for name in declared} == {name: each["file"] for name, each in declared.items()}
    assert declared.keys() == made - {"platform-key.txt"}
    for service in services().values():
        used = {found for text in strings(service) for found in re.findall(r"/run/secrets/([\w.-]+)", text)}
        assert used == set(service.get("secrets", ()))
        for name in service.get("environment", {}):
            assert "PASSWORD" not in name or name.endswith("_FILE")
    assert (tmp_path / "secrets/store").read_text().partition("@")[2] == "postgres/erqiwang\n"


def test_the_files_beside_it_are_mounted() -> None:
    for name, service in services().items():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            if source.startswith("./"):
                assert source in {"./prometheus", "./grafana/provisioning", "./grafana/erqiwang.json"}, name
            else:
                assert source in written()["volumes"]
