"""A service that is asked in this process, and a game that was never stopped, to compare with."""

import contextlib
import io
import json
import random
import sqlite3
import threading
import time

import httpx
import msgspec
import uvicorn

from novikoff.game import persistence
from novikoff.server import inspection
from novikoff.server.access import Access
from novikoff.server.app import App
from novikoff.server.model_game import Play, begin
from novikoff.server.server import configured, listening
from novikoff.server.service import Service, log
from novikoff.server.wire import Model

TOKEN = "a token for tests, of some length".replace(" ", "-")
IN_CHILD = inspection.in_child


class Client:
    """A service that is asked in this process."""

    def __init__(self, app, http):
        self.app, self.http, self.service = app, http, app.service

    def ask(self, method, path, body=None, status=200, **more):
        reply = self.http.request(method, f"/v1/models{path}", json=body, **more)
        assert reply.status_code == status, reply.text
        return reply.json()

    def make(self, name="m", status=201, **asked):
        asked = {"learner": "perceptron:bias=1", "negative": "ham", "positive": "spam", "bits": 10, **asked}
        return self.ask("PUT", f"/{name}", asked, status)

    def predict(self, id, x, status=200):
        return self.ask("POST", "/m/predict", {"id": id, "x": x}, status)

    def label(self, id, label, status=200):
        return self.ask("POST", "/m/label", {"id": id, "label": label}, status)

    def learn(self, id, x, label, status=200):
        return self.ask("POST", "/m/learn", {"id": id, "x": x, "label": label}, status)

    def code(self, method, path, body=None, **more):
        reply = self.http.request(method, path, json=body, **more)
        return reply.status_code, reply.json()["error"]["code"]

    def saved(self, name="m"):
        """The learner and the ledger, byte by byte."""
        return parts(io.BytesIO(self.http.get(f"/v1/models/{name}/model.nk?rows=true").content))


def parts(file):
    """What a model file holds, byte by byte."""
    what = persistence.snapshot(persistence.load_game(file))
    return what.meta, {name: (array.dtype, array.shape, array.tobytes()) for name, array in what.arrays.items()}


@contextlib.contextmanager
def opened(folder, access_log=False, wait=True, child=False, **more):
    """A service on a folder; `more` as `Service` takes it. `child`: whether files are opened in a child process."""
    folder.mkdir(exist_ok=True)
    token = folder / "token"
    if not token.exists():
        token.touch(0o600)
        token.write_text(TOKEN)
    app = App(Service(folder, **more), Access(token, log), access_log)
    opens = IN_CHILD if child else inspection.done  # in this process: that saves the start of another
    inspection.in_child, before = opens, inspection.in_child
    with listening("127.0.0.1", 0) as sock:
        app.service.address = f"http://127.0.0.1:{sock.getsockname()[1]}"
        server = uvicorn.Server(configured(app))
        app.stopping = lambda: server.should_exit
        thread = threading.Thread(target=server.run, args=([sock],))
        thread.start()
        try:
            while not (server.started and (app.service.opened or not wait)):
                assert thread.is_alive()
                time.sleep(0.005)
            headers = {"authorization": f"Bearer {TOKEN}"}
            with httpx.Client(
                base_url=f"http://127.0.0.1:{sock.getsockname()[1]}", headers=headers, timeout=120
            ) as http:
                yield Client(app, http)
        finally:
            server.should_exit = True
            thread.join()
            inspection.in_child = before


def played(database, name="m", sent=None):
    """The game that was never stopped, byte by byte: played row by row from what a database holds, not by recovery.

    sent   the examples by id, where the database does not keep them
    """
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        facts = {key: json.loads(value) for key, value in db.execute("SELECT name, value FROM facts")}
        values = [json.loads(value) for (value,) in db.execute("SELECT value FROM labels ORDER BY number")]
        rounds = db.execute("SELECT seq, id, x, said, version, score FROM rounds ORDER BY seq").fetchall()
        arrivals = db.execute("SELECT n, seq, y, said FROM arrivals ORDER BY n").fetchall()
    db.close()
    asked = msgspec.convert(facts["model"], Model)
    play = Play(begin(asked, name), asked.bits)
    by_version, by_seq = {}, {}
    for seq, id, x, said, version, score in rounds:
        x = play.rows.read(sent[id])[1] if isinstance(x, str) else x
        by_version.setdefault(version, []).append((x, said))
        by_seq[seq] = (x, said, version, score)

    def predict(version):
        for x, said in by_version.get(version, []):
            assert play.predict(facts["form"], [x])[0] == [said]

    for n, seq, y, said in arrivals:
        predict(n - 1)
        x, *served = by_seq[seq]
        label = values[y] if values else play.decode(y)
        label = float(label) if type(label) is int else label  # as JSON is read
        assert play.learn(facts["form"], [x], [label], [tuple(served)]) == [(y, said)]
    predict(len(arrivals))
    what = persistence.snapshot(play.ledger)
    return what.meta, {key: (one.dtype, one.shape, one.tobytes()) for key, one in what.arrays.items()}


def rounds(client, count, seed=0, labels=("ham", "spam"), x=None):
    """Rounds whose labels come late, out of order or never; some predicted and labelled at once."""
    coins = random.Random(seed)
    waiting = []
    for k in range(count):
        example = x(coins) if x else {f"f{coins.randrange(20)}": coins.gauss(0, 1) for _ in range(5)}
        label = coins.choice(labels)
        if coins.random() < 0.3:
            client.learn(f"{seed}-{k}", example, label)
        else:
            client.predict(f"{seed}-{k}", example)
            waiting.append((f"{seed}-{k}", label))
        while waiting and coins.random() < 0.5:
            client.label(*waiting.pop(coins.randrange(len(waiting))))
