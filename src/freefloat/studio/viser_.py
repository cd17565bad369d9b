"""viser's server behind a door: the address it listens on, who may come in, how much may be sent.

viser has no place for any of this, so what it hands to `websockets` is wrapped while it starts. If
a release of viser no longer passes there, the server is stopped: an open door is no fallback.
"""

from __future__ import annotations

import contextlib
import io
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

import viser
import websockets.asyncio.server
from viser import _messages
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from freefloat.errors import Fault, FreefloatError
from freefloat.studio.access import Access

# format: a day of telemetry at 100 Hz in Parquet; the page keeps a file in memory as it comes
LARGEST_UPLOAD = 256 * 2**20
# format: files come in parts of half a megabyte; pictures of the scene are not asked for
LARGEST_MESSAGE = 4 * 2**20
LONGEST = 4096  # format: characters of a field
LARGEST = 1e15  # format: of a number in a field that has no limits of its own
ABANDONED = 30.0  # format: [s] without a part after which an upload is given up
MOST_TRANSFERS = 4  # format: files on their way at once, from all pages together
_STARTING = threading.Lock()


class GuardedServer(viser.ViserServer):
    """A viser server that listens where it was told to and lets nobody else in.

    n_refused: requests that were not let in.
    """

    def __init__(self, access: Access, *, port: int, label: str) -> None:
        self.access, self.n_refused = access, 0
        require_free_port(access.host, port)
        with _STARTING, self._guard() as guarded, silence():
            super().__init__(host=access.host, port=port, label=label, verbose=False)
        if not guarded:
            self.stop()
            raise RuntimeError("this release of viser starts its server in another way")
        _limit_uploads(self)
        _limit_fields(self)

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Nothing: the studio opens no tunnel to anybody."""
        return None

    def stop(self) -> None:
        """Stop listening, without a word."""
        with silence():
            super().stop()

    @contextlib.contextmanager
    def _guard(self) -> Iterator[list[bool]]:
        """Whatever `websockets` serves meanwhile asks us first; says whether it came by."""
        module: Any = websockets.asyncio.server
        serve, passed = module.serve, []

        def guarded_serve(*arguments: Any, process_request: Any, **options: Any) -> Any:
            passed.append(True)
            options["max_size"] = LARGEST_MESSAGE
            return serve(*arguments, process_request=self._door(process_request), **options)

        module.serve = guarded_serve
        try:
            yield passed
        finally:
            module.serve = serve

    def _door(self, inner: Callable[..., Response | None]) -> Callable[..., Response | None]:
        def answer(connection: Any, request: Request) -> Response | None:
            is_socket = (request.headers.get("Upgrade") or "").lower() == "websocket"
            refusal = self.access.refusal(request.path, request.headers.get, is_socket=is_socket)
            if refusal:
                self.n_refused += 1
                return _plain(HTTPStatus.FORBIDDEN, f"Refused: {refusal}.\n")
            found = inner(connection, request)
            if found is not None:
                for name, value in self.access.headers:
                    found.headers[name] = value
                if self.access.token:
                    found.headers["Set-Cookie"] = self.access.cookie()
            return found

        return answer


def _plain(status: HTTPStatus, text: str) -> Response:
    body = text.encode("ascii", "backslashreplace")
    headers = Headers()
    headers["Content-Type"] = "text/plain; charset=utf-8"
    headers["Content-Length"] = str(len(body))
    headers["Connection"] = "close"
    return Response(status, status.phrase, headers, body)


def require_free_port(host: str, port: int) -> None:
    """Raise FreefloatError for a port that is taken; viser would silently take another."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            remedy = "give another --port, or --port 0 for any that is free"
            place = f"{host}, port {port}"
            fault = Fault(place, str(error), "a free port of this machine", remedy, "port.taken")
            raise FreefloatError("the studio cannot listen there", [fault]) from None


def _limit_uploads(server: viser.ViserServer) -> None:
    """Files that are announced as too large, or that grow beyond what was announced, are dropped.

    viser keeps what arrives in memory until it is whole.
    """
    handlers = server._websock_server._incoming_handlers
    states = server.gui._current_file_upload_states
    start, part = _messages.FileTransferStartUpload, _messages.FileTransferPart
    begin, take = server.gui._handle_file_transfer_start, server.gui._handle_file_transfer_part

    heard: dict[str, float] = {}  # by transfer: when something of it came last [s]

    def begin_if_small(client: Any, message: _messages.FileTransferStartUpload) -> None:
        now = time.monotonic()
        for key in [key for key in states if now - heard.get(key, now) > ABANDONED]:
            states.pop(key)  # of a page that was closed meanwhile
        for key in heard.keys() - states.keys():
            del heard[key]
        heard[message.transfer_uuid] = now
        is_small = 0 <= message.size_bytes <= LARGEST_UPLOAD
        if is_small and len(states) < MOST_TRANSFERS and 0 <= message.part_count <= 10**5:
            begin(client, message)

    def take_if_announced(client: Any, message: _messages.FileTransferPart) -> None:
        state = states.get(message.transfer_uuid)
        if state is None:
            return
        if state["transferred_bytes"] + len(message.content) > state["total_bytes"]:
            states.pop(message.transfer_uuid, None)
            return
        heard[message.transfer_uuid] = time.monotonic()
        take(client, message)

    handlers[start] = [begin_if_small]  # type: ignore[index]
    handlers[part] = [take_if_announced]  # type: ignore[index]


def _limit_fields(server: viser.ViserServer) -> None:
    """Of what a page says of a field only its value is taken, and only one that it can have.

    viser takes anything, and sends it to every page that is opened from then on.
    """
    handlers, known = server._websock_server._incoming_handlers, server.gui
    take = known._handle_gui_updates

    async def take_if_possible(client: Any, message: _messages.GuiUpdateMessage) -> None:
        handle = known._gui_input_handle_from_uuid.get(message.uuid)
        value = message.updates.get("value")
        if handle is not None and [*message.updates] == ["value"] and can_hold(handle, value):
            await take(client, message)

    handlers[_messages.GuiUpdateMessage] = [take_if_possible]  # type: ignore[list-item]


def can_hold(handle: Any, value: Any) -> bool:
    """Whether a field of the panel can have a value: its kind, its range, one of its options."""
    now = handle._impl.value
    options = getattr(handle, "options", None)
    if isinstance(options, list | tuple):
        return value in options
    if isinstance(now, bool) or not isinstance(now, int | float):
        return type(value) is type(now) and (not isinstance(value, str) or len(value) <= LONGEST)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    lower, upper = (getattr(handle, name, None) for name in ("min", "max"))
    lower, upper = (-LARGEST if lower is None else lower, LARGEST if upper is None else upper)
    return bool(lower <= value <= upper)  # and neither infinite nor NaN


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """viser prints where it listens and that it stopped; the command says that itself."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield
