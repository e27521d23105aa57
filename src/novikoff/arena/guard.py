"""Security rules of every web server here: content policy, accepted hosts and origins, size limits on bodies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Container

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy: only files of the server itself."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
}
"""Headers of every answer."""


def names(port: int) -> set[str]:
    """Return the host names under which a browser on this machine reaches the server."""
    return {f"127.0.0.1:{port}", f"localhost:{port}"}


def foreign(host: str | None, origin: str | None, hosts: Container[str]) -> str:
    """Return why a request is refused (foreign host or foreign origin), or "" if it is accepted."""
    if host is None or host not in hosts:
        return "the host must be this machine: open the address that was printed."
    if origin is not None and origin.partition("://")[2] not in hosts:
        return "the request comes from another origin: open the page at the address that was printed."
    return ""


async def body_of(chunks: AsyncIterator[bytes], most: int) -> bytes | None:
    """Return the body of a request, or None if it is longer than `most` bytes."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > most:
            return None
    return bytes(body)
