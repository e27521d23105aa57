import contextlib
import io
import threading
import time

import httpx
import pytest
import uvicorn

from novikoff import model
from novikoff.serve.app import App
from novikoff.serve.server import configured, listening
from novikoff.serve.service import Service

TOKEN = "a token for tests, of some length".replace(" ", "-")


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
        return parts(io.BytesIO(self.http.get(f"/v1/models/{name}/model.nk").content))


def parts(file):
    """What a model file holds, byte by byte."""
    what = model.snapshot(model.load_game(file))
    return what.meta, {name: (array.dtype, array.shape, array.tobytes()) for name, array in what.arrays.items()}


@contextlib.contextmanager
def opened(folder, **more):
    """A service on a folder; `more` as `Service` takes it."""
    app = App(Service(folder, **more), TOKEN)
    with listening("127.0.0.1", 0) as sock:
        server = uvicorn.Server(configured(app))
        thread = threading.Thread(target=server.run, args=([sock],))
        thread.start()
        try:
            while not (server.started and app.service.ready):
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


@pytest.fixture
def client(tmp_path):
    with opened(tmp_path) as one:
        yield one
