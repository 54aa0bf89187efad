"""The table of metrics, the dashboard, the alerts and the runbook are about the same metrics: those that are told."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.deploy.promtool import promtool
from tests.deploy.scraping import Scrapes, families, samples
from tests.documents import REPOSITORY

DASHBOARD: Final = REPOSITORY / "deploy" / "grafana" / "erqiwang.json"
PROMETHEUS: Final = REPOSITORY / "deploy" / "prometheus"
DOCS: Final = REPOSITORY / "docs"
_METRIC: Final = re.compile(r"\b(?:(?:erqiwang|process|python)_[a-z_]+|up)\b(?!=)")
_ROW: Final = re.compile(r"^\| (`.*?) \|", re.MULTILINE)
_NAME: Final = re.compile(r"`([a-z_]+)(?:\{([a-z,]+)\})?`")
_BY_PROMETHEUS: Final = {"up"}
SEVERITIES: Final = {"critical", "warning"}


def alerts() -> list[dict[str, object]]:
    told = yaml.safe_load((PROMETHEUS / "alerts.yml").read_text())
    return [rule for group in told["groups"] for rule in group["rules"]]


def named(expression: str) -> set[str]:
    """The metrics of an expression. What is in quotes or behind `by` is none."""
    bare = re.sub(r'"[^"]*"', '""', expression)
    bare = re.sub(r"\b(?:by|on|without|ignoring)\s*\([^)]*\)", "", bare)
    return set(_METRIC.findall(bare)) - _BY_PROMETHEUS


def panels() -> list[dict[str, object]]:
    found = json.loads(DASHBOARD.read_text())["panels"]
    assert isinstance(found, list)
    return found


def expressions() -> Iterator[str]:
    """Every expression of the dashboard."""
    told = json.loads(DASHBOARD.read_text())
    for panel in told["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"]
    for note in told["annotations"]["list"]:
        yield note["expr"]


def documented() -> dict[str, set[str]]:
    """The metrics of the table with their labels."""
    text = (DOCS / "metrics.md").read_text()
    found: dict[str, set[str]] = {}
    for row in _ROW.findall(text):
        for name, labels in _NAME.findall(row):
            found.setdefault(name, set()).update(filter(None, labels.split(",")))
    return found


def test_every_metric_that_is_told_is_in_the_table_and_no_other(scrapes: Scrapes) -> None:
    told = {name for text in scrapes.texts for name in families(text)}
    paths = {"metrics", "healthz", "readyz"}
    assert documented().keys() - paths == told


def test_the_table_names_all_labels(scrapes: Scrapes) -> None:
    table = documented()
    for text in scrapes.texts:
        for name, kind in families(text).items():
            stem = rf"{name}(?:_bucket|_sum|_count)?" if kind == "histogram" else name
            if name.startswith("python_") or name == "erqiwang_build_info":
                continue  # told in words
            for labels in re.findall(rf"^{stem}\{{(.*)\}} ", text, re.MULTILINE):
                assert set(re.findall(r'(\w+)="', labels)) - {"le"} <= table[name], name


def test_every_family_says_what_it_is(scrapes: Scrapes) -> None:
    for text in scrapes.texts:
        helped = dict(re.findall(r"^# HELP (\S+) (.+)$", text, re.MULTILINE))
        assert helped.keys() == families(text).keys()
        # Prometheus' own linter, of names, units and types.
        assert promtool("check", "metrics", given=text) == ""


def test_the_dashboard_shows_only_metrics_that_are_told(scrapes: Scrapes) -> None:
    told = set().union(*map(samples, scrapes.texts))
    shown = set().union(*map(named, expressions()))
    assert shown <= told
    ours = {_family(name) for name in told if name.startswith("erqiwang_")}
    assert ours == {_family(name) for name in shown if name.startswith("erqiwang_")}, "and all of ours"


def _family(name: str) -> str:
    return re.sub(r"_(bucket|sum|count)$", "", name)


def test_alerts_are_raised_only_by_metrics_that_are_told(scrapes: Scrapes) -> None:
    told = set().union(*map(samples, scrapes.texts))
    used = set().union(*(named(str(alert["expr"])) for alert in alerts()))
    assert used
    assert used <= told


def test_labels_that_alerts_choose_by_have_these_values(scrapes: Scrapes) -> None:
    chosen = [
        (name, label, value)
        for alert in alerts()
        for name, inner in re.findall(r"(\w+)\{([^}]*)\}", str(alert["expr"]))
        for label, values in re.findall(r'(\w+)=~?"([^"]*)"', inner)
        if label not in ("job", "code")
        for value in values.split("|")
    ]
    assert chosen
    for name, label, value in chosen:
        assert any(re.search(rf'^{name}\{{.*{label}="{value}"', text, re.MULTILINE) for text in scrapes.texts), value


def test_every_alert_has_a_severity_a_summary_and_a_section_of_the_runbook() -> None:
    text = (DOCS / "runbook.md").read_text()
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL))
    names = [str(alert["alert"]) for alert in alerts()]
    assert len(names) == len(set(names))
    assert list(sections) == names, "in the same order, and no section is left over"
    for alert in alerts():
        name, labels, notes = alert["alert"], alert["labels"], alert["annotations"]
        assert isinstance(labels, dict)
        assert isinstance(notes, dict)
        assert labels["severity"] in SEVERITIES
        assert notes["summary"]
        assert notes["runbook"] == f"docs/runbook.md#{str(name).lower()}"
        assert all(f"**{part}:**" in sections[str(name)] for part in ("Means", "Look", "Do"))


def test_every_alert_is_tested_both_ways() -> None:
    tests = yaml.safe_load((PROMETHEUS / "alerts_test.yml").read_text())["tests"]
    rules = [rule for test in tests for rule in test["alert_rule_test"]]
    names = {str(alert["alert"]) for alert in alerts()}
    assert {rule["alertname"] for rule in rules if rule["exp_alerts"]} == names
    assert {rule["alertname"] for rule in rules if not rule["exp_alerts"]} == names


def test_prometheus_takes_the_files_and_raises_the_alerts_when_it_should() -> None:
    promtool("check", "config", "prometheus.yml", folder=PROMETHEUS)
    promtool("check", "rules", "alerts.yml", folder=PROMETHEUS)
    promtool("test", "rules", "alerts_test.yml", folder=PROMETHEUS)


def test_prometheus_takes_the_expressions_of_the_dashboard(tmp_path: Path) -> None:
    rules = [
        {"record": f"x:{number}", "expr": expression.replace("$__rate_interval", "5m").replace("$instance", ".*")}
        for number, expression in enumerate(expressions())
    ]
    assert not any("$" in rule["expr"] for rule in rules)
    (tmp_path / "rules.yml").write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", "rules.yml", folder=tmp_path)


@pytest.mark.parametrize(
    "row",
    [
        "Traffic",
        "Errors and refusals",
        "Latency",
        "Streams and seats",
        "Event loop",
        "Process",
        "Store",
        "Edge",
    ],
)
def test_the_dashboard_has_a_row_for_each(row: str) -> None:
    titles = [panel["title"] for panel in panels() if panel["type"] == "row"]
    assert row in titles


def test_panels_have_a_description_and_a_place_of_their_own_and_the_data_source_is_chosen() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        place = panel["gridPos"]
        assert isinstance(place, dict)
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
        if panel["type"] != "row":
            assert panel["description"]
            assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    assert len({panel["id"] for panel in panels()}) == len(panels())
    variables = [each["name"] for each in json.loads(DASHBOARD.read_text())["templating"]["list"]]
    assert variables == ["datasource", "instance"]
