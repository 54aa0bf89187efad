"""The manifests: valid, closed, and in agreement with the program and with one another."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]  # it ships no types
import pytest
import yaml

from tests.deploy.arguments import DEPLOY, listens, parsed

FOLDER = DEPLOY / "kubernetes"
TREES = ["nodes", "embedded"]
VERSIONS = ["1.30", "1.37"]
"""The oldest Kubernetes that the manifests are for, and the newest whose schemas the validator has."""
Manifest = dict[str, Any]  # YAML: anything may stand anywhere, and the validator says what may not


def manifests(folder: Path) -> list[Manifest]:
    """What the folder's kustomization names, and what that names in its turn."""
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    found: list[Manifest] = []
    for name in kustomization["resources"]:
        path = (folder / name).resolve()
        found += manifests(path) if path.is_dir() else list(yaml.safe_load_all(path.read_text()))
    return found


def of_kind(tree: str, *kinds: str) -> list[Manifest]:
    return [each for each in manifests(FOLDER / tree) if each["kind"] in kinds]


def workloads(tree: str) -> list[Manifest]:
    return of_kind(tree, "Deployment", "StatefulSet")


def container(workload: Manifest) -> Manifest:
    (only,) = workload["spec"]["template"]["spec"]["containers"]
    assert isinstance(only, dict)
    return only


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("tree", TREES)
def test_every_manifest_is_valid(tree: str, version: str) -> None:
    for manifest in manifests(FOLDER / tree):
        kubernetes_validate.validate(manifest, version, strict=True)


def test_the_validator_finds_a_fault() -> None:
    wrong = workloads("nodes")[0]
    container(wrong)["livenessProb"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


@pytest.mark.parametrize("tree", TREES)
def test_kustomize_builds_what_is_tested_here(tree: str) -> None:
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    made = subprocess.run(["kubectl", "kustomize", FOLDER / tree], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    built = list(yaml.safe_load_all(made.stdout))
    assert {(each["kind"], each["metadata"]["name"]) for each in built} == {
        (each["kind"], each["metadata"]["name"]) for each in manifests(FOLDER / tree)
    }
    for workload in built:
        if workload["kind"] in {"Deployment", "StatefulSet"}:
            assert container(workload)["image"] == "erqiwang:0.1.0"
            assert workload["metadata"]["namespace"] == "erqiwang"


@pytest.mark.parametrize("tree", TREES)
def test_the_ports_are_those_of_the_arguments(tree: str) -> None:
    for workload in workloads(tree):
        only = container(workload)
        ports = {each["name"]: each["containerPort"] for each in only["ports"]}
        assert ports == listens(parsed(only["args"]))
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            asked = only[probe]
            assert asked["grpc"]["port"] == ports["grpc"] if "grpc" in asked else asked["httpGet"]["port"] in ports, (
                probe
            )


@pytest.mark.parametrize("tree", TREES)
def test_services_and_policies_name_ports_and_pods_that_exist(tree: str) -> None:
    pods = [
        (each["spec"]["template"]["metadata"]["labels"], {port["name"] for port in container(each)["ports"]})
        for each in workloads(tree)
    ]
    for service in of_kind(tree, "Service"):
        named = [ports for labels, ports in pods if service["spec"]["selector"].items() <= labels.items()]
        assert len(named) == 1
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= named[0]
    for policy in of_kind(tree, "NetworkPolicy", "PodDisruptionBudget"):
        selector = (policy["spec"].get("podSelector") or policy["spec"]["selector"])["matchLabels"]
        named = [ports for labels, ports in pods if selector.items() <= labels.items()]
        assert len(named) == 1
        for rule in policy["spec"].get("ingress", ()):
            assert {port["port"] for port in rule["ports"]} <= named[0]
    services = {each["metadata"]["name"] for each in of_kind(tree, "Service")}
    for workload in workloads(tree):
        arguments = parsed(container(workload)["args"])
        for server in getattr(arguments, "server", ()):
            assert server in {f"{name}:50051" for name in services}
        assert workload["spec"].get("serviceName", next(iter(services))) in services


@pytest.mark.parametrize("tree", TREES)
def test_the_times_of_a_stop_add_up(tree: str) -> None:
    for workload in workloads(tree):
        arguments = parsed(container(workload)["args"])
        before = int(container(workload)["lifecycle"]["preStop"]["exec"]["command"][1])
        stopping = arguments.lame_duck + arguments.grace if hasattr(arguments, "grace") else arguments.drain_seconds
        assert workload["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] >= before + stopping + 10


@pytest.mark.parametrize("tree", TREES)
def test_pods_are_restricted_and_their_secrets_are_files(tree: str) -> None:
    for workload in workloads(tree):
        pod, only = workload["spec"]["template"]["spec"], container(workload)
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert only["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert "env" not in only
        assert only["resources"]["limits"].keys() == {"cpu", "memory"}
        mounts = {each["name"] for each in only["volumeMounts"]}
        claims = {each["metadata"]["name"] for each in workload["spec"].get("volumeClaimTemplates", ())}
        assert mounts == {each["name"] for each in pod["volumes"]} | claims


def test_the_secrets_that_pods_name_are_those_that_are_made(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    subprocess.run(["sh", DEPLOY / "secrets.sh", folder, "db.example"], check=True)
    made = {path.name for path in folder.iterdir()}
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    for tree in TREES:
        for workload in workloads(tree):
            used = {
                path.name
                for path in vars(parsed(container(workload)["args"])).values()
                if str(path).startswith("/secrets/") and isinstance(path, Path)
            }
            assert used
            assert used <= made
    again = subprocess.run(["sh", DEPLOY / "secrets.sh", folder], check=False, capture_output=True)
    assert again.returncode != 0, "keys in use are never replaced"
    assert {path.name for path in folder.iterdir()} == made


def test_the_autoscaler_asks_for_what_the_adapter_gives() -> None:
    (scaler,) = of_kind("nodes", "HorizontalPodAutoscaler")
    assert scaler["spec"]["scaleTargetRef"]["name"] in {each["metadata"]["name"] for each in workloads("nodes")}
    asked = {each["pods"]["metric"]["name"] for each in scaler["spec"]["metrics"]}
    rules = yaml.safe_load((FOLDER / "nodes/adapter-rules.yaml").read_text())["rules"]["custom"]
    assert asked == {rule["name"]["as"] for rule in rules}
    page = (DEPLOY.parent / "docs/metrics.md").read_text()
    assert all(rule["name"]["matches"] in page for rule in rules)
    assert "replicas" not in workloads("nodes")[0]["spec"]
