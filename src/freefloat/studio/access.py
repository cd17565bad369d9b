"""Who may open the studio: this machine, or whoever has the token in the address.

A page that another site opened in the same browser may send requests here as well, so the host that
a request names, and the origin it comes from, are looked at too.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from freefloat.errors import Fault, FreefloatError

LOOPBACK = "127.0.0.1"
COOKIE = "freefloat_studio"
TOKEN_BYTES = 24  # theory: 192 random bits are not guessed
# What a page of ours may load: itself. Its scripts are in the page; workers and images are blobs.
POLICY = (
    "default-src 'self' data: blob:; connect-src 'self' data: blob:; img-src 'self' data: blob:;"
    " script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob:;"
    " style-src 'self' 'unsafe-inline'; worker-src 'self' blob:; font-src 'self' data:;"
    " object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

Header = Callable[[str], str | None]


@dataclass(frozen=True)
class Access:
    """The address that is listened on, and who may come in.

    token: empty where only this machine can reach it.
    """

    host: str = LOOPBACK
    token: str = ""
    headers: tuple[tuple[str, str], ...] = field(
        default=(
            ("Content-Security-Policy", POLICY),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"),
        )
    )

    def refusal(self, path: str, header: Header, *, is_socket: bool) -> str:
        """Why a request is refused, or nothing where it is let in.

        `header` gives a header of the request by its name.
        """
        host = header("Host") or ""
        if not self._is_ours(host):
            return f"unknown host {host[:80]!r}"
        origin = header("Origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return f"foreign origin {origin[:80]!r}"
        if is_socket and origin is None:
            return "no origin"
        if self.token and not self._knows_token(path, header):
            return "the token is missing or wrong: open the whole address that was printed"
        return ""

    def cookie(self) -> str:
        """What the browser keeps, so that the page's connection has the token as well."""
        return f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"

    def address(self, port: int) -> str:
        """What to open in a browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        if host in ("0.0.0.0", "[::]"):
            host = LOOPBACK
        return f"http://{host}:{port}/" + (f"?token={self.token}" if self.token else "")

    def _is_ours(self, host: str) -> bool:
        """Whether the request names this machine: else a foreign name was made to point here."""
        name = urlsplit(f"//{host}").hostname or ""
        if not self.token:
            return name in (LOOPBACK, "localhost")
        return bool(name)

    def _knows_token(self, path: str, header: Header) -> bool:
        given = parse_qs(urlsplit(path).query).get("token", [])[:1]
        try:
            kept = SimpleCookie(header("Cookie") or "").get(COOKIE)
        except CookieError:
            kept = None
        given += [kept.value] if kept is not None else []
        # compared in a time that does not tell how much of it was right
        return any(hmac.compare_digest(one.encode(), self.token.encode()) for one in given)


def access_of(host: str | None, token: str | None) -> Access:
    """Access for the address asked for: this machine alone unless one is given.

    Raises:
        FreefloatError: an address that is none, or a token that could be guessed.

    >>> access_of(None, None).host, access_of("0.0.0.0", "").token != ""
    ('127.0.0.1', True)
    """
    if host is None or host in (LOOPBACK, "localhost"):
        return Access(LOOPBACK, token or "")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        remedy = "give an address of this machine, such as 0.0.0.0 for all of them"
        fault = Fault("--host", host, "an IP address", remedy, "option.form")
        raise FreefloatError("the studio cannot listen there", [fault]) from None
    return Access(host, token or secrets.token_urlsafe(TOKEN_BYTES))
