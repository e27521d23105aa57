"""Access of clients: tokens with roles, which may be changed while the service runs.

A token file has one token, which may do everything, or is a table in TOML:

    [tokens.shop]
    token = "…"                      # or sha256 = "…", its digest in hexadecimal
    roles = ["predict", "label"]
    models = ["mail", "orders"]      # default: all models
    per_second = 200                 # default: no limit

The file is read again when it changes. To rotate a token, add the new one under another name, let clients change over,
and remove the old one. A changed file that is not valid is logged, and the last valid one stays in force.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
import stat
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from novikoff.core.errors import InputError
from novikoff.server.wire import RefusedError

ROLES = {
    "read": "models, rounds, certificates, dashboard, metrics",
    "predict": "predict",
    "label": "label; with predict also learn",
    "admin": "everything, including creation, deletion, files and backups",
}
"""Roles of tokens and what they allow."""
OF_VERBS = {"predict": ("predict",), "label": ("label",), "learn": ("predict", "label")}
"""Roles that each operation needs."""
LEAST = 16
"""Smallest number of characters of a token."""
BETWEEN = 1.0
"""Seconds between two looks at the token file."""
LOGGED = 10
"""Largest number of refusals that are logged per second; others are counted."""


class Entry(msgspec.Struct, forbid_unknown_fields=True):
    """One token in the file."""

    roles: list[str]
    token: str | None = None
    sha256: str | None = None
    models: list[str] | None = None
    per_second: float | None = None


@dataclass(slots=True)
class Grant:
    """What one token allows.

    Attributes:
        name: Name of the token in logs.
        roles: Roles; "admin" includes all.
        models: Models that it is limited to; None for all.
        per_second: Requests per second, lines of bulk included; None for no limit.
    """

    name: str
    roles: frozenset[str] = frozenset(["admin"])
    models: frozenset[str] | None = None
    per_second: float | None = None
    _room: float = field(default=1.0, compare=False)
    _last: float = field(default=0.0, compare=False)

    def allows(self, role: str, model: str | None) -> bool:
        """Return whether requests of a role are allowed, on a model or, if it is None, on the whole service."""
        return (role in self.roles or "admin" in self.roles) and (
            self.models is None or (model in self.models if model is not None else role == "read")
        )

    def sees(self, model: str) -> bool:
        """Return whether the model is shown in lists."""
        return self.models is None or model in self.models

    def check(self, verb: str, model: str) -> None:
        """Refuse an operation on rounds that is not allowed."""
        for role in OF_VERBS[verb]:
            if not self.allows(role, model):
                raise RefusedError("forbidden", f"this token must have the role {role} for {model}.")

    def spend(self, requests: int = 1) -> float:
        """Count requests; return the seconds to wait before they are allowed, 0 if they are allowed now.

        A bucket holds the requests of one second. It may go below zero, so that a large bulk request is possible, and
        the next one waits for longer.
        """
        if self.per_second is None:
            return 0.0
        now, most = time.monotonic(), max(self.per_second, 1.0)
        room = min(most, self._room + (now - self._last) * self.per_second)
        self._last, self._room = now, room
        if room < 1.0:
            return (1.0 - room) / self.per_second
        self._room = room - requests
        return 0.0


def needed(method: str, parts: list[str]) -> tuple[str, str | None]:
    """Return the role that a request needs and the model it is about; `parts` is its path, split at slashes."""
    if parts[1:3] != ["v1", "models"] or len(parts) < 4:
        return ("read" if method in ("GET", "HEAD") else "admin"), None
    file = parts[4:] == ["model.nk"] or (parts[4:5] == ["shadows"] and parts[6:] == ["model.nk"])
    reads = method in ("GET", "HEAD") and not file
    return ("read" if reads else "admin"), parts[3]


class Access:
    """Tokens of a file, read again when it changes.

    Args:
        path: Token file.
        log: Function that writes a log line.
    """

    def __init__(self, path: Path, log: Callable[..., None]) -> None:
        self._path, self._log = path, log
        self._known, self._looked = self._mark(), time.monotonic()
        self._grants = read(path)
        self._second, self._refused = 0.0, 0

    def _mark(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _again(self) -> None:
        """Read the file again if it has changed."""
        self._looked = time.monotonic()
        mark = self._mark()
        if mark == self._known:
            return
        self._known = mark
        try:
            found = read(self._path)
        except InputError as error:
            self._log("tokens_unreadable", level="error", reason=str(error))
            return
        for known, grant in self._grants.items():  # a limit is not reset by a change of another token
            if known in found and found[known] == grant:
                found[known] = grant
        self._grants = found
        self._log("tokens_read", tokens=sorted(grant.name for grant in found.values()))

    def grant(self, header: bytes) -> Grant:
        """Return what a request with this Authorization header may do; refuse an unknown token."""
        if time.monotonic() - self._looked > BETWEEN:
            self._again()
        scheme, _, given = header.strip().partition(b" ")
        token = given.strip()
        if scheme.lower() == b"basic":  # from browsers
            try:
                user, _, token = base64.b64decode(token, validate=True).partition(b":")
            except binascii.Error:
                user = b""
            token = token if user == b"novikoff" else b""
        elif scheme.lower() != b"bearer":
            token = b""
        # Digests are compared: where two digests differ first tells nothing about the token.
        found = self._grants.get(hashlib.sha256(token).digest())
        if found is None:
            raise RefusedError("unauthorized", "a request must have the token: Authorization: Bearer TOKEN.")
        return found

    def refused(self, refusal: RefusedError, path: str, client: str, name: str | None) -> None:
        """Log a refused access, a limited number per second."""
        now = time.monotonic()
        if now - self._second >= 1.0:
            if self._refused > LOGGED:
                self._log("refused_more", level="warning", count=self._refused - LOGGED)
            self._second, self._refused = now, 0
        self._refused += 1
        if self._refused <= LOGGED:
            self._log("refused", level="warning", code=refusal.code, path=path[:200], client=client, token=name)


def read(path: Path) -> dict[bytes, Grant]:
    """Return the grant of each token in a file, by the SHA-256 of the token."""
    text = _text(path)
    if not any(line.lstrip().startswith("[") for line in text.splitlines()):
        return {_digest(_checked(text.strip(), path)): Grant("admin")}
    try:
        tables = tomllib.loads(text)
        entries = msgspec.convert(tables, dict[str, dict[str, Entry]]).get("tokens", {})
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InputError(f"the token file {path} is not valid: {error}. See docs/service.md.") from None
    found: dict[bytes, Grant] = {}
    for name, one in entries.items():
        grant = _grant(name, one, path)
        digest = _digest(_checked(one.token, path)) if one.token is not None else _hexadecimal(name, one.sha256, path)
        if digest in found:
            raise InputError(f"tokens must differ: {found[digest].name} and {name} in {path} are the same.")
        found[digest] = grant
    if set(tables) != {"tokens"} or not found:
        raise InputError(f"the token file {path} must have tables [tokens.NAME], and no others.")
    return found


def _grant(name: str, one: Entry, path: Path) -> Grant:
    if not one.roles or not ROLES.keys() >= set(one.roles):
        raise InputError(f"roles of token {name} in {path} must be some of {', '.join(ROLES)}: got {one.roles}.")
    if (one.token is None) == (one.sha256 is None):
        raise InputError(f"token {name} in {path} must have either token or sha256.")
    if one.per_second is not None and not 0.0 < one.per_second < 1e9:
        raise InputError(f"per_second of token {name} in {path} must be above 0: got {one.per_second}.")
    models = None if one.models is None else frozenset(one.models)
    return Grant(name, frozenset(one.roles), models, one.per_second, _room=max(one.per_second or 1.0, 1.0))


def _text(path: Path) -> str:
    """Return the text of a token file, which only its owner and group may read."""
    try:
        mode = os.stat(path).st_mode
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InputError(f"the token file {path} cannot be read: {why}.") from None
    if os.name == "posix" and mode & (stat.S_IROTH | stat.S_IWOTH):
        raise InputError(f"the token file {path} can be read by every user of this machine: chmod 600 {path}.")
    return text


def _checked(token: str, path: Path) -> str:
    if len(token) < LEAST or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(
            f"a token must have {LEAST} or more characters of ASCII, and no spaces: that in {path} is not valid."
        )
    return token


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _hexadecimal(name: str, digest: str | None, path: Path) -> bytes:
    try:
        found = bytes.fromhex(digest or "")
    except ValueError:
        found = b""
    if len(found) != hashlib.sha256().digest_size:
        raise InputError(f"sha256 of token {name} in {path} must have 64 hexadecimal digits.")
    return found


def token_file(folder: Path, path: Path | None) -> Path:
    """Return the token file; without one, create a token in the directory at the first start.

    The token is printed to a terminal only, not to a journal.
    """
    there = path or folder / "token"
    if path is not None or there.exists():
        return there
    token = secrets.token_urlsafe(32)
    try:
        with open(os.open(there, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(token + "\n")
    except OSError as error:
        raise InputError(f"the token file {there} cannot be written: {error.strerror}.") from None
    shown: dict[str, Any] = {"file": sys.stderr, "flush": True}
    if sys.stderr.isatty():
        print(f"access token (printed once, stored in {there}):\n\n    {token}\n", **shown)
    else:
        print(f"An access token was created: it is in {there}.", **shown)
    return there
