"""What can be asked, told to machines and to people: /openapi.json and /docs, from one table. Nothing is fetched."""

from __future__ import annotations

import html
import inspect
from typing import Any

import msgspec

from novikoff import __version__
from novikoff.server.wire import STATUS, Label, Labelled, Learn, Model, Predict, Predicted

MODEL = "/v1/models/{name}"
ROUTES: tuple[tuple[str, str, str, type | None, type | None], ...] = (
    ("PUT", MODEL, "Make a model. 201 if it is new, 200 if it is there as asked.", Model, None),
    ("GET", MODEL, "The model and its counts.", None, None),
    ("DELETE", MODEL, "Remove the model for ever, with all its rounds; only with ?confirm={name}.", None, None),
    ("GET", "/v1/models", "All models.", None, None),
    ("POST", f"{MODEL}/predict", "What does it say of x? The same again gets the same answer.", Predict, Predicted),
    ("POST", f"{MODEL}/label", "The label of a predicted round. The same again changes nothing.", Label, Labelled),
    ("POST", f"{MODEL}/learn", "Predict and label at once.", Learn, Labelled),
    ("POST", f"{MODEL}/bulk", 'Lines of {"op": "predict" | "label" | "learn", …}: a line for each, in their order. A '
     'bad one is {"line": n, "error": {…}}, and stops nothing.', None, None),
    ("GET", f"{MODEL}/rounds/{{id}}", "What is known of a round.", None, None),
    ("GET", f"{MODEL}/certificate", "What the theorems promise on this very stream, beside what happened.", None, None),
    ("GET", f"{MODEL}/model.nk", "The game as a file that novikoff and nk.load read, without training rows; "
     "?rows=true: with them.", None, None),
    ("PUT", f"{MODEL}/model.nk", "Make a model from such a file; ?most_pending=, expire_seconds=, "
     "keep_examples=. Features must be hashed, as in JSON lines, or arrays.", None, None),
    ("GET", "/metrics", "Numbers for Prometheus.", None, None),
    ("GET", "/healthz", "Is the service alive? Needs no token.", None, None),
    ("GET", "/readyz", "Are all models open? 503 until then. Needs no token.", None, None),
    ("GET", "/openapi.json", "This, for machines.", None, None),
)  # fmt: skip
EXAMPLES = """curl -H "Authorization: Bearer $TOKEN" -X PUT  $URL/v1/models/mail -d '{"learner": "perceptron:bias=1",
     "negative": "ham", "positive": "spam"}'
curl -H "Authorization: Bearer $TOKEN" -X POST $URL/v1/models/mail/predict -d '{"id": "a1", "x": {"free": 1}}'
curl -H "Authorization: Bearer $TOKEN" -X POST $URL/v1/models/mail/label   -d '{"id": "a1", "label": "spam"}'
curl -H "Authorization: Bearer $TOKEN"         $URL/v1/models/mail/certificate"""


def document() -> dict[str, Any]:
    """The OpenAPI document."""
    kinds = [kind for *_, asked, told in ROUTES for kind in (asked, told) if kind is not None]
    schemas, components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    known = dict(zip(kinds, schemas, strict=True))
    paths: dict[str, Any] = {}
    for method, path, does, asked, told in ROUTES:
        found: dict[str, Any] = {"summary": does, "responses": {"200": {"description": "as told"}}}
        found["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in ("name", "id") if f"{{{name}}}" in path
        ]  # fmt: skip
        if asked is not None:
            found["requestBody"] = {"required": True, "content": {"application/json": {"schema": known[asked]}}}
        if told is not None:
            found["responses"]["200"]["content"] = {"application/json": {"schema": known[told]}}
        if path not in ("/healthz", "/readyz"):
            found["security"] = [{"token": []}]
        found["responses"]["default"] = {"description": 'refused: {"error": {"code", "message", "id"}}'}
        paths.setdefault(path, {})[method.lower()] = found
    return {
        "openapi": "3.1.0",
        "info": {"title": "novikoff", "version": __version__, "description": "Online learning that keeps its word."},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def page() -> str:
    """The same for people."""
    rows = "".join(
        f"<tr><td><code>{method}</code></td><td><code>{html.escape(path)}</code></td><td>{html.escape(does)}</td></tr>"
        for method, path, does, *_ in ROUTES
    )
    kinds = dict.fromkeys(kind for *_, asked, told in ROUTES for kind in (asked, told) if kind is not None)
    bodies = "".join(f"<h3>{kind.__name__}</h3><p>{_fields(kind)}</p><pre>{_doc(kind)}</pre>" for kind in kinds)
    codes = "".join(f"<tr><td><code>{code}</code></td><td>{status}</td></tr>" for code, status in STATUS.items())
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>novikoff: the service</title></head>
<body><main><h1>novikoff: the service</h1><p>Every request but /healthz and /readyz has the token:
<code>Authorization: Bearer TOKEN</code>.</p><h2>Try it</h2><pre>{html.escape(EXAMPLES)}</pre><h2>What can be asked</h2>
<table>{rows}</table><h2>Bodies</h2>{bodies}<h2>Errors</h2>
<p><code>{{"error": {{"code": …, "message": …, "id": …}}}}</code></p><table>{codes}</table></main></body></html>"""


def _fields(kind: Any) -> str:
    return ", ".join(f"<code>{name}</code>" for name in kind.__struct_fields__)


def _doc(kind: type) -> str:
    return html.escape(inspect.getdoc(kind) or "")
