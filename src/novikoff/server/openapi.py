"""Documentation of the interface from one table: /openapi.json for machines, /docs for people. Nothing is fetched."""

from __future__ import annotations

import html
import inspect
from typing import Any

import msgspec

from novikoff import __version__
from novikoff.server.wire import (
    STATUS,
    Freeze,
    Label,
    Labelled,
    Learn,
    Model,
    Predict,
    Predicted,
    Rollback,
    Shadow,
    Team,
)

MODEL = "/v1/models/{name}"
"""Path of a model."""
ROUTES: tuple[tuple[str, str, str, type | None, type | None], ...] = (
    ("PUT", MODEL, "Create a model. 201 if it is new, 200 if the same model exists.", Model, None),
    ("GET", MODEL, "Get the model and its counts.", None, None),
    ("DELETE", MODEL, "Delete the model and all its rounds for good; needs ?confirm={name}.", None, None),
    ("GET", "/v1/models", "List all models.", None, None),
    ("GET", "/v1/fleet", "Get one row per model: state, what to do, counts, error and baseline, drift, latency, disk.",
     None, None),
    ("GET", f"{MODEL}/mistakes", "Get the latest mistakes among the last 2,000 labels; of numbers the largest errors.",
     None, None),
    ("POST", f"{MODEL}/predict", "Predict x. Repeating the request repeats the answer.", Predict, Predicted),
    ("POST", f"{MODEL}/label", "Label a predicted round. Repeating the request changes nothing.", Label, Labelled),
    ("POST", f"{MODEL}/learn", "Predict and label in one request.", Learn, Labelled),
    ("POST", f"{MODEL}/bulk", 'Send lines of {"op": "predict" | "label" | "learn", …}; get one line each, in order. A '
     'bad line gets {"line": n, "error": {…}} and does not stop the others.', None, None),
    ("GET", f"{MODEL}/rounds/{{id}}", "Get the state of a round.", None, None),
    ("GET", f"{MODEL}/certificate", "Get results and guarantees on the stream so far.", None, None),
    ("GET", f"{MODEL}/proof", "Get the proof file of the guarantees, for novikoff verify; as it names no data, "
     "its arithmetic can be checked.", None, None),
    ("GET", f"{MODEL}/importance", "Get the importance of the features, with their names if they were sent since the "
     "service started.", None, None),
    ("GET", f"{MODEL}/model.nk", "Download the game as a file for novikoff and nk.load, without training rows; "
     "?rows=true includes them.", None, None),
    ("PUT", f"{MODEL}/model.nk", "Create a model from such a file; ?most_pending=, expire_seconds=, "
     "keep_examples=. Its features must be hashed, as in JSON lines, or arrays.", None, None),
    ("POST", f"{MODEL}/freeze", "Freeze the model, or let it learn again.", Freeze, None),
    ("POST", f"{MODEL}/rollback", "Set the game back to what it was after that many labels. Rounds stay stored.",
     Rollback, None),
    ("DELETE", f"{MODEL}/drift-test", "Begin the drift test again, after an alarm.", None, None),
    ("PUT", f"{MODEL}/team", "Create a model that follows one of several deployed models.", Team, None),
    ("GET", f"{MODEL}/shadows", "Compare the model with its shadows.", None, None),
    ("PUT", f"{MODEL}/shadows/{{shadow}}", "Begin a shadow. 201 if it is new, 200 if the same shadow exists.", Shadow,
     None),
    ("DELETE", f"{MODEL}/shadows/{{shadow}}", "End a shadow.", None, None),
    ("GET", f"{MODEL}/shadows/{{shadow}}/model.nk", "Download the game of a shadow, to deploy it.", None,
     None),
    ("POST", "/v1/backups/{name}", "Write a backup of all models to the folder backups of the directory.", None, None),
    ("GET", "/metrics", "Get metrics for Prometheus.", None, None),
    ("GET", "/healthz", "Check that the service is alive. Needs no token.", None, None),
    ("GET", "/readyz", "Check that all models are ready; 503 until then, and if a model cannot be played, unless "
     "?failed=allow. Needs no token.", None, None),
    ("GET", "/openapi.json", "Get this description for machines.", None, None),
)  # fmt: skip
"""Method, path, summary, type of the body and type of the answer of each route."""
EXAMPLES = """curl -H "Authorization: Bearer $TOKEN" -X PUT  $URL/v1/models/mail -d '{"learner": "perceptron:bias=1",
     "negative": "ham", "positive": "spam"}'
curl -H "Authorization: Bearer $TOKEN" -X POST $URL/v1/models/mail/predict -d '{"id": "a1", "x": {"free": 1}}'
curl -H "Authorization: Bearer $TOKEN" -X POST $URL/v1/models/mail/label   -d '{"id": "a1", "label": "spam"}'
curl -H "Authorization: Bearer $TOKEN"         $URL/v1/models/mail/certificate"""


def document() -> dict[str, object]:
    """Return the OpenAPI document."""
    kinds = [kind for *_, body, reply in ROUTES for kind in (body, reply) if kind is not None]
    schemas, components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    known = dict(zip(kinds, schemas, strict=True))
    paths: dict[str, Any] = {}
    for method, path, does, body, reply in ROUTES:
        found: dict[str, Any] = {"summary": does, "responses": {"200": {"description": "success"}}}
        found["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in ("name", "id", "shadow") if f"{{{name}}}" in path
        ]  # fmt: skip
        if body is not None:
            found["requestBody"] = {"required": True, "content": {"application/json": {"schema": known[body]}}}
        if reply is not None:
            found["responses"]["200"]["content"] = {"application/json": {"schema": known[reply]}}
        if path not in ("/healthz", "/readyz"):
            found["security"] = [{"token": []}]
        found["responses"]["default"] = {"description": 'refused: {"error": {"code", "message", "id"}}'}
        paths.setdefault(path, {})[method.lower()] = found
    return {
        "openapi": "3.1.0",
        "info": {"title": "novikoff", "version": __version__, "description": "Online learning with certificates."},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def page() -> str:
    """Return the page /docs."""
    rows = "".join(
        f"<tr><td><code>{method}</code></td><td><code>{html.escape(path)}</code></td><td>{html.escape(does)}</td></tr>"
        for method, path, does, *_ in ROUTES
    )
    kinds = dict.fromkeys(kind for *_, body, reply in ROUTES for kind in (body, reply) if kind is not None)
    bodies = "".join(f"<h3>{kind.__name__}</h3><p>{_fields(kind)}</p><pre>{_doc(kind)}</pre>" for kind in kinds)
    codes = "".join(f"<tr><td><code>{code}</code></td><td>{status}</td></tr>" for code, status in STATUS.items())
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>novikoff: the service</title></head>
<body><main><h1>novikoff: the service</h1><p>Every request except /healthz and /readyz needs the token:
<code>Authorization: Bearer TOKEN</code>.</p><h2>Try it</h2><pre>{html.escape(EXAMPLES)}</pre><h2>Requests</h2>
<table>{rows}</table><h2>Bodies</h2>{bodies}<h2>Errors</h2>
<p><code>{{"error": {{"code": …, "message": …, "id": …}}}}</code></p><table>{codes}</table></main></body></html>"""


def _fields(kind: Any) -> str:
    return ", ".join(f"<code>{name}</code>" for name in kind.__struct_fields__)


def _doc(kind: type) -> str:
    return html.escape(inspect.getdoc(kind) or "")
