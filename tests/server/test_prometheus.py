"""The configuration of docs/service.md, with a real Prometheus where there is one."""

import json
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from novikoff.server.prometheus import Histogram

GUIDE = Path(__file__).parents[2] / "docs" / "service.md"


def test_bucket_counts_values_up_to_and_including_its_limit():
    histogram = Histogram((1, 2, 5))
    for value in (0.5, 1, 1.5, 2, 5, 5.5):
        histogram.observe(value)
    assert list(histogram.lines("ops", 'model="m"')) == [
        'ops_bucket{model="m",le="1"} 2',
        'ops_bucket{model="m",le="2"} 4',
        'ops_bucket{model="m",le="5"} 5',
        'ops_bucket{model="m",le="+Inf"} 6',
        'ops_sum{model="m"} 15.5',
        'ops_count{model="m"} 6',
    ]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("prometheus") is None, reason="no prometheus")
def test_prometheus_scrapes_the_service_as_documented(client, tmp_path):
    client.make()
    for t in range(20):
        client.learn(str(t), {"a": float(t % 5)}, "spam" if t % 5 > 2 else "ham")
    token, address = tmp_path / "secret", str(client.http.base_url).split("//")[1].rstrip("/")
    token.write_text(client.http.headers["authorization"].split()[1])
    written = re.findall(r"```yaml\n(scrape_configs.*?)```", GUIDE.read_text(), re.DOTALL)[0]
    config = tmp_path / "prometheus.yml"
    for old, new in (("/run/secrets/token", str(token)), ("novikoff:1963", address), ("15s", "1s")):
        assert old in written
        written = written.replace(old, new)
    config.write_text(written)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{probe.getsockname()[1]}"
    running = subprocess.Popen(
        ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={tmp_path}/data",
         f"--web.listen-address={place}"],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert asked(place, "novikoff_labels_total") == ["20"]
        assert asked(place, 'novikoff_bound{theorem="delayed_mistakes"}')
        assert asked(place, "up") == ["1"]
    finally:
        running.terminate()
        running.wait(30)


def asked(place, query):
    """What Prometheus knows, once it knows something."""
    url = f"http://{place}/api/v1/query?" + urllib.parse.urlencode({"query": query})
    for _ in range(120):
        try:
            with urllib.request.urlopen(url) as answer:
                found = json.load(answer)["data"]["result"]
            if found:
                return [one["value"][1] for one in found]
        except urllib.error.URLError:
            pass
        time.sleep(0.5)
    return []
