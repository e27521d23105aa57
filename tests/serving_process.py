"""The service in processes that are forked from one that has played already, so that a start takes a moment."""

import multiprocessing
import os
import pathlib
import socket
import time

import httpx

import novikoff
from novikoff.server.server import serve


def run(folder, port, sync):
    """In a process of its own, until it is killed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    serve(pathlib.Path(folder), "127.0.0.1", port, None, sync, 200)


def context():
    """Processes fork from one that has this module."""
    here = (pathlib.Path(__file__).parent, pathlib.Path(novikoff.__file__).parent.parent)
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, here))
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(["serving_process", "serving_warm", "novikoff.server.app", "uvloop"])
    return found


class Server:
    """A service that is ready."""

    def __init__(self, context, folder, sync):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        self.process = context.Process(target=run, args=(str(folder), port, sync), daemon=True)
        self.process.start()
        self._address, end = f"http://127.0.0.1:{port}", time.monotonic() + 120
        with httpx.Client(verify=False) as client:
            while True:
                try:
                    if client.get(f"{self._address}/readyz").status_code == 200:
                        break
                except httpx.HTTPError:
                    pass
                assert time.monotonic() < end
                assert self.process.is_alive()
                time.sleep(0.01)
        self._headers = {"authorization": f"Bearer {(folder / 'token').read_text().strip()}"}

    def client(self):
        return httpx.Client(base_url=f"{self._address}/v1/models", headers=self._headers, timeout=60, verify=False)

    def kill(self):
        self.process.kill()
        self.process.join()
