"""Who may open the studio; what may be written, and where."""

from __future__ import annotations

import base64
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from freefloat.errors import FreefloatError
from freefloat.studio.access import COOKIE, Access, access_of
from freefloat.studio.folder import WorkingFolder, safe_name
from freefloat.studio.viser_ import GuardedServer, require_free_port


def refusal(access: Access, path: str = "/", *, is_socket: bool = False, **headers: str) -> str:
    return access.refusal(path, {"Host": "127.0.0.1:80", **headers}.get, is_socket=is_socket)


def test_this_machine_is_let_in():
    assert not refusal(Access())
    assert not refusal(Access(), is_socket=True, Origin="http://127.0.0.1:80")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "", "10.0.0.1:80"])
def test_another_name_for_this_machine_is_refused(host):
    assert "unknown host" in refusal(Access(), Host=host)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:81", "null", "https://127.0.0.1.evil:80"]
)
def test_a_foreign_page_is_refused(origin):
    assert "foreign origin" in refusal(Access(), is_socket=True, Origin=origin)
    assert "no origin" in refusal(Access(), is_socket=True)


def test_elsewhere_a_token_is_asked_for():
    access = access_of("0.0.0.0", None)
    assert len(access.token) >= 32 and access.token in access.address(80)
    assert "token" in refusal(access)
    assert "token" in refusal(access, "/?token=" + access.token[:-1])
    assert not refusal(access, f"/?token={access.token}")
    assert not refusal(access, Cookie=f"a=b; {COOKIE}={access.token}")
    assert "token" in refusal(access, Cookie=f"{COOKIE}=")
    assert "token" in refusal(access, "/?token=%C3%A4")


def test_two_tokens_differ():
    assert access_of("0.0.0.0", None).token != access_of("0.0.0.0", None).token


@pytest.mark.parametrize("host", ["somewhere", "300.0.0.1", "0.0.0.0; rm -rf"])
def test_a_host_that_is_no_address_is_refused(host):
    with pytest.raises(FreefloatError) as caught:
        access_of(host, None)
    assert caught.value.codes == ("option.form",)


@pytest.fixture
def server():
    made = GuardedServer(Access(token="secret"), port=0, label="test")
    yield made
    made.stop()


def status_of(server: GuardedServer, path: str, **headers: str) -> int:
    request = urllib.request.Request(f"http://127.0.0.1:{server.get_port()}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10.0) as answer:
            assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
            assert COOKIE in answer.headers["Set-Cookie"]
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.promise("W2")
def test_the_server_asks_at_its_door(server):
    assert status_of(server, "/?token=secret") == 200
    assert status_of(server, "/") == 403
    assert status_of(server, "/?token=wrong") == 403
    assert status_of(server, "/?token=secret", Host="evil.example", Origin="http://other") == 403
    assert status_of(server, "/../../etc/passwd?token=secret") == 404
    assert server.n_refused == 3


@pytest.mark.promise("W2")
@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ("Origin: http://127.0.0.1:{port}\r\nCookie: freefloat_studio=secret\r\n", b"101"),
        ("Origin: http://127.0.0.1:{port}\r\n", b"403"),
        ("Origin: http://evil.example\r\nCookie: freefloat_studio=secret\r\n", b"403"),
        ("Cookie: freefloat_studio=secret\r\n", b"403"),
    ],
)
def test_its_socket_asks_as_well(server, headers, code):
    port = server.get_port()
    key = base64.b64encode(bytes(16)).decode()
    lines = (
        f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
        f"Sec-WebSocket-Protocol: viser-v1.1.1\r\n{headers.format(port=port)}\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=10.0) as line:
        line.sendall(lines.encode())
        assert line.recv(64).split()[1] == code


@pytest.mark.promise("W2")
def test_it_listens_on_this_machine_alone():
    made = GuardedServer(Access(), port=0, label="test")
    try:
        server = made._websock_server
        assert server._host == "127.0.0.1"
        with pytest.raises(OSError), socket.create_connection(("127.0.0.2", made.get_port()), 2.0):
            pass
        assert made.request_share_url() is None
    finally:
        made.stop()


def test_a_port_that_is_taken_is_an_error():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(FreefloatError) as caught:
            require_free_port("127.0.0.1", taken.getsockname()[1])
    assert caught.value.codes == ("port.taken",)


@pytest.mark.parametrize(
    "name",
    ["../up.toml", "/etc/passwd", "a/b.csv", "..", ".hidden", "", "x\0y", "con.csv", "a\\b", "ä"],
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, name):
    with pytest.raises(FreefloatError) as caught:
        WorkingFolder(tmp_path).place(name)
    assert caught.value.codes == ("file.outside",)


@pytest.mark.parametrize("name", ["../../up.csv", "/etc/up.csv", "..\\..\\up.csv", "a b<c>.csv"])
def test_an_upload_stays_in_the_folder(tmp_path, name):
    folder = tmp_path / "work"
    path = WorkingFolder(folder).keep(name, b"1", ".csv")
    assert path.parent == folder and path.read_bytes() == b"1"
    assert [*tmp_path.iterdir()] == [folder]


def test_the_same_upload_is_the_same_file(tmp_path):
    folder = WorkingFolder(tmp_path)
    first = folder.keep("a.csv", b"1", ".csv")
    assert folder.keep("a.csv", b"1", ".csv") == first
    assert folder.keep("a.csv", b"2", ".csv").name == "a-2.csv"
    assert first.read_bytes() == b"1"


def test_an_upload_follows_no_link(tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"0")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.csv").symlink_to(outside)
    kept = WorkingFolder(tmp_path / "work").keep("a.csv", b"1", ".csv")
    assert kept.name == "a-2.csv" and outside.read_bytes() == b"0"


def test_an_upload_of_another_kind_is_refused(tmp_path):
    with pytest.raises(FreefloatError) as caught:
        WorkingFolder(tmp_path).keep("a.exe", b"1", ".csv,.parquet")
    assert caught.value.codes == ("file.suffix",) and not [*tmp_path.iterdir()]


def test_long_names_are_cut():
    assert len(safe_name("a" * 5000)) <= 120
    assert Path(safe_name("x" * 200)).name == safe_name("x" * 200)
