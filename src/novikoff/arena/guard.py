"""What every server of ours keeps to: nothing in or out of its pages, nobody else's pages, bodies of a known size."""

from __future__ import annotations

from collections.abc import AsyncIterator, Container

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
}


def names(port: int) -> set[str]:
    """What a browser on this machine calls the server."""
    return {f"127.0.0.1:{port}", f"localhost:{port}"}


def foreign(host: str | None, origin: str | None, hosts: Container[str]) -> str:
    """Why a request is refused: it came under another name, or from a page of somebody else; "" if it did not."""
    if host is None or host not in hosts:
        return "the host must be this machine: open the address that was printed."
    if origin is not None and origin.partition("://")[2] not in hosts:
        return "the page must be ours: another origin asked."
    return ""


async def body_of(chunks: AsyncIterator[bytes], most: int) -> bytes | None:
    """The body of a request; None if it has more than so many bytes."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > most:
            return None
    return bytes(body)
