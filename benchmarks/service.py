"""The service under load, relative to a plain service of FastAPI and River that keeps everything in memory.

    python -m benchmarks service    all parts; --only NAME for one, --events N for recovery, --pending N for memory

Single requests are durable: each is on disk before it is answered. CPU time is that of the server only.
"""

import argparse
import asyncio
import atexit
import contextlib
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import httpx

from benchmarks.timing import line

CONNECTIONS = 64
FEATURES = 30
LAG = 8
"""Number of rounds after which a connection sends the label of a round."""

PEER = """
import sys, uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from river import linear_model
class Predict(BaseModel):
    id: str
    x: dict[str, float]
class Label(BaseModel):
    id: str
    label: str
app, model, waiting = FastAPI(), linear_model.Perceptron(), {}
@app.get("/readyz")
async def ready(): return {"ready": True}
@app.post("/v1/models/m/predict")
async def predict(one: Predict):
    said = model.predict_one(one.x)
    waiting[one.id] = one.x
    return {"id": one.id, "prediction": "spam" if said else "ham"}
@app.post("/v1/models/m/label")
async def label(one: Label):
    x = waiting.pop(one.id)
    said = model.predict_one(x)
    model.learn_one(x, one.label == "spam")
    return {"id": one.id, "mistake": said != (one.label == "spam")}
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    """A server in its own process: ours on a folder, or the peer."""

    def __init__(self, folder=None, sync="full"):
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        ours = ["-m", "novikoff", "serve", "--dir", str(folder), "--port", str(self.port), "--sync", sync]
        arguments = ["-c", PEER, str(self.port)] if folder is None else ours
        self.begin = time.perf_counter()
        silent = subprocess.DEVNULL
        self.process = subprocess.Popen([sys.executable, *arguments], stdout=silent, stderr=silent)
        atexit.register(self.process.kill)
        while True:
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"{self.address}/readyz").status_code == 200:
                    break
            if self.process.poll() is not None:
                sys.exit(f"the server ended with {self.process.returncode}")
            time.sleep(0.02)
        self.seconds = time.perf_counter() - self.begin
        self.token = "" if folder is None else (pathlib.Path(folder) / "token").read_text().strip()
        self.client = httpx.Client(
            base_url=self.address, headers={"authorization": f"Bearer {self.token}"}, timeout=600.0
        )

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            told = dict(row.split(":", 1) for row in status)
        return int(told["VmRSS"].split()[0]) / 1024

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.client.close()
        self.process.terminate()
        self.process.wait()


def at_most(got, wanted):
    return f" (at most {wanted}){'' if got <= wanted else '   ABOVE'}"


def example(coins):
    return {f"feature{k}": round(coins.gauss(0, 1), 3) for k in range(FEATURES)}


def bodies(name, rounds, coins):
    """Yield the requests of one connection: predictions, and their labels LAG rounds later."""
    waiting = []
    for k in range(rounds):
        x = example(coins)
        yield "predict", {"id": f"{name}-{k}", "x": x}
        waiting.append({"id": f"{name}-{k}", "label": "spam" if x["feature0"] > 0 else "ham"})
        if len(waiting) > LAG:
            yield "label", waiting.pop(0)


async def _connection(server, requests):
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    for request in requests:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            sys.exit(head.decode())
        lower = head.lower()
        size = int(lower[lower.index(b"content-length:") + 15 :].split(b"\r\n", 1)[0])
        await reader.readexactly(size)
    writer.close()


def load(server, rounds, seed):
    """Send single requests on CONNECTIONS connections; return CPU seconds of the server, seconds, and their number."""
    prepared = []
    for number in range(CONNECTIONS):
        head = f"host: 127.0.0.1\r\nauthorization: Bearer {server.token}\r\ncontent-type: application/json\r\n"
        requests = []
        for verb, body in bodies(f"{seed}-{number}", rounds, random.Random(f"{seed}-{number}")):
            text = json.dumps(body)
            where = f"POST /v1/models/m/{verb} HTTP/1.1\r\n{head}"
            requests.append(f"{where}content-length: {len(text)}\r\n\r\n{text}".encode())
        prepared.append(requests)

    async def all_of_them():
        await asyncio.gather(*(_connection(server, requests) for requests in prepared))

    cpu, begin = server.cpu(), time.perf_counter()
    asyncio.run(all_of_them())
    return server.cpu() - cpu, time.perf_counter() - begin, sum(map(len, prepared))


def make(server, bits=18, **more):
    asked = {"learner": "perceptron:bias=1", "negative": "ham", "positive": "spam", "bits": bits, **more}
    server.client.put("/v1/models/m", json=asked).raise_for_status()


def lines(count, kind="learn", first=0, rows=2000):
    """Yield `count` lines of a bulk request; examples repeat after `rows` lines."""
    coins = random.Random(1)
    xs = [example(coins) for _ in range(rows)]
    written = [json.dumps(x) for x in xs]
    for k in range(first, first + count):
        label = "spam" if xs[k % rows]["feature0"] > 0 else "ham"
        more = f', "label": "{label}"' if kind == "learn" else ""
        yield f'{{"op": "{kind}", "id": "b{k}", "x": {written[k % rows]}{more}}}\n'.encode()


def bulk(server, count, kind="learn", first=0):
    """Return seconds and CPU seconds of a bulk request of `count` lines."""
    text = b"".join(lines(count, kind, first))
    cpu, begin = server.cpu(), time.perf_counter()
    reply = server.client.post("/v1/models/m/bulk", content=text)
    seconds = time.perf_counter() - begin
    if reply.text.count("\n") != count or '"error"' in reply.text:
        sys.exit(f"not all of the {count} lines were accepted: {reply.text[:300]}")
    return seconds, server.cpu() - cpu


def singles(folder, rounds):
    peer = Server()
    for sync in ("full", "normal"):
        server = Server(folder / sync, sync)
        make(server)
        load(server, 20, 0)
        load(peer, 20, f"{sync}0")
        ratios, costs = [], []
        for turn in range(1, 4):
            cpu, seconds, count = load(server, rounds, turn)
            theirs, _, _ = load(peer, rounds, f"{sync}{turn}")
            ratios.append(theirs / cpu)
            costs.append(1e6 * cpu / count)
        cost = sorted(costs)[1]
        print(f"requests, sync {sync}, {CONNECTIONS} connections: {cost:.0f} µs of CPU each{at_most(cost, 250)}, "
              f"{count / seconds:,.0f} per second, each on disk before its answer")  # fmt: skip
        line("FastAPI + River, in memory, nothing stored", f"CPU per request, sync {sync}", sorted(ratios)[1], 1.0)
        server.stop()
    peer.stop()


def in_bulk(folder, count):
    server = Server(folder / "bulk")
    make(server)
    bulk(server, 2000)
    seconds, cpu = bulk(server, count, first=2000)
    rate = count / seconds
    print(f"bulk: {rate:,.0f} lines per second over HTTP (at least 20,000){'' if rate >= 20_000 else '   BELOW'}, "
          f"{1e6 * cpu / count:.0f} µs of CPU per line")  # fmt: skip
    server.stop()


def recovery(folder, events):
    """Print the time of recovery from the database alone, and with a snapshot."""
    server = Server(folder / "recovery", "normal")
    make(server)
    for first in range(0, events, 100_000):
        bulk(server, min(100_000, events - first), first=first)
    server.kill()
    with_snapshot = Server(folder / "recovery")
    with_snapshot.kill()
    for path in (folder / "recovery/models/m").glob("snapshot-*"):
        path.unlink()
    without = Server(folder / "recovery")
    took = (without.seconds - with_snapshot.seconds) / events * 1e6
    size = sum(path.stat().st_size for path in (folder / "recovery/models/m").iterdir()) / events
    told = f"{took:.1f} s per million{at_most(took, 10)}"
    print(f"recovery of {events:,} events: {told}, "
          f"plus {with_snapshot.seconds:.2f} s to start with a snapshot; {size:.0f} MB per million")  # fmt: skip
    without.stop()


def stall(folder):
    """Print how long the game is paused while it is copied for a snapshot."""
    import numpy as np

    from novikoff.game.persistence import snapshot
    from novikoff.server.examples import Rows
    from novikoff.server.model_game import Play, begin
    from novikoff.server.wire import Model

    for learner, count in (("perceptron:bias=1", 60_000), ("auto", 10_000)):
        play = Play(begin(Model(learner, bits=18), "m"), 18)
        coins, rows = random.Random(0), Rows(play.learner.domain, 18)
        examples = [rows.read({f"f{coins.randrange(10**6)}": 1.0 for _ in range(FEATURES)})[1] for _ in range(count)]
        for start in range(0, len(examples), 500):
            some = examples[start : start + 500]
            play.learn("pairs", some, [float(x) for x in np.sign(np.random.default_rng(start).normal(size=500))])
        times = []
        for _ in range(9):
            begun = time.perf_counter()
            what = snapshot(play.ledger, checked=True)
            times.append(1e3 * (time.perf_counter() - begun))
        took = sorted(times)[4]
        size = sum(array.nbytes for array in what.arrays.values()) / 1e6
        print(f"snapshot of {learner} at bits=18, {size:.0f} MB: paused for {took:.1f} ms{at_most(took, 50)}")


def memory(folder, pending):
    server = Server(folder / "memory", "normal")
    make(server, most_pending=2 * pending)
    bulk(server, 1000)
    before = server.megabytes()
    for first in range(0, pending, 100_000):
        bulk(server, min(100_000, pending - first), "predict", 10_000 + first)
    most = server.megabytes()
    print(f"{pending:,} pending rounds: {most:.0f} MB{at_most(most, 250)}, {before:.0f} MB without them")  # fmt: skip
    server.stop()


def main():
    parser = argparse.ArgumentParser("python -m benchmarks service", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100, help="rounds per connection")
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--pending", type=int, default=1_000_000)
    parser.add_argument("--only", choices=("singles", "bulk", "recovery", "stall", "memory"))
    asked = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        for name, act in (
            ("singles", lambda: singles(folder, asked.rounds)),
            ("bulk", lambda: in_bulk(folder, asked.lines)),
            ("recovery", lambda: recovery(folder, asked.events)),
            ("stall", lambda: stall(folder)),
            ("memory", lambda: memory(folder, asked.pending)),
        ):
            if asked.only in (None, name):
                act()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
