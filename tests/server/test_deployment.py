"""Files for operators: each metric that they name exists, and the unit has no privileges."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from novikoff.server.prometheus import Requests
from novikoff.server.status import metrics

DEPLOY = Path(__file__).parents[2] / "deploy"


def test_alerts_and_dashboard_name_metrics_that_exist(client):
    client.make()
    requests = Requests()
    requests.observe("predict", 200, 0.1)
    families = dict(re.findall(r"# TYPE (\w+) (\w+)", metrics(client.service, requests)))
    known = {name for name, kind in families.items() if kind != "histogram"}
    known |= {f"{name}_bucket" for name, kind in families.items() if kind == "histogram"}
    board = json.loads((DEPLOY / "grafana.json").read_text())
    shown = "\n".join(target["expr"] for panel in board["panels"] for target in panel["targets"])
    for text in (shown, (DEPLOY / "alerts.yml").read_text()):
        named = set(re.findall(r"\bnovikoff_\w+", text))
        assert len(named) > 10
        assert named <= known
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd")
def test_the_unit_is_hardened():
    unit = str(DEPLOY / "novikoff.service")
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=30", unit]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "nknown" in done.stderr:
        pytest.skip("this systemd does not analyze files")
    assert done.returncode == 0, done.stdout[-200:]


def test_the_image_has_a_user_and_pinned_bases():
    text = (DEPLOY / "Dockerfile").read_text()
    assert re.findall(r"^USER (\d+)$", text, re.MULTILINE) == ["10001"]
    assert all(re.search(r":\d+\.\d+\.\d+", base) for base in re.findall(r"^FROM (\S+)", text, re.MULTILINE))
    assert "novikoff compile" in text
    assert "HEALTHCHECK" in text
