"""A page that means harm: what it sends over its socket must not get anywhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

import msgspec
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from freefloat.studio import viser_
from freefloat.studio.viser_ import LARGEST_UPLOAD, MOST_TRANSFERS

MODEL = b'format = 1\nname = "<img src=x onerror=alert(1)>"\n'


@pytest.fixture
def line(desk) -> Iterator[ClientConnection]:
    port = desk.studio.server.get_port()
    with connect(
        f"ws://127.0.0.1:{port}", origin=f"http://127.0.0.1:{port}",  # type: ignore[arg-type]
        subprotocols=["viser-v1.1.1"], max_size=None,  # type: ignore[list-item]
    ) as opened:  # fmt: skip
        send(  # what a page says first: without it nobody is known
            opened, "ViewerCameraMessage", wxyz=(1.0, 0.0, 0.0, 0.0), position=(1.0, 0.0, 0.0),
            fov=1.0, near=0.1, far=10.0, image_height=10, image_width=10, look_at=(0.0, 0.0, 0.0),
            up_direction=(0.0, 0.0, 1.0),
        )  # fmt: skip
        yield opened


def send(line: ClientConnection, kind: str, **fields: object) -> None:
    line.send(msgspec.msgpack.encode({"type": kind, **fields}))


def upload_field(desk) -> str:
    """The identity of the button that takes models."""
    known = desk.studio.server.gui._gui_input_handle_from_uuid
    return next(u for u, one in known.items() if getattr(one, "label", "") == "Upload a model")


def begin_upload(line: ClientConnection, desk, name: str, *, size: int, key: str = "k") -> None:
    send(
        line, "FileTransferStartUpload", source_component_uuid=upload_field(desk),
        transfer_uuid=key, filename=name, mime_type="", part_count=1, size_bytes=size,
    )  # fmt: skip


def send_part(line: ClientConnection, desk, content: bytes, *, key: str = "k") -> None:
    send(
        line, "FileTransferPart", source_component_uuid=upload_field(desk), transfer_uuid=key,
        part_index=0, content=content,
    )  # fmt: skip


def transfers(desk) -> dict:
    return desk.studio.server.gui._current_file_upload_states


def settle(desk) -> None:
    """Wait until the server has looked at what was sent, and the studio at what came of it."""
    time.sleep(0.3)
    desk.wait(lambda state: state.job is None)


@pytest.mark.promise("W2")
def test_an_upload_with_a_path_for_a_name_stays_in_the_folder(desk, line):
    folder = desk.state.folder
    before = {*folder.parent.rglob("*")}
    begin_upload(line, desk, "../../up/evil.toml", size=len(MODEL))
    send_part(line, desk, MODEL)
    desk.wait(lambda state: state.notice.kind == "error", 30.0)  # it is no model
    assert {*folder.parent.rglob("*")} - before == {folder / "evil.toml"}
    begin_upload(line, desk, "evil.sh", size=1, key="other")
    send_part(line, desk, b"1", key="other")
    desk.wait(lambda state: "another kind" in state.notice.text, 30.0)
    assert not (folder / "evil.sh").exists()


@pytest.mark.promise("W2")
def test_uploads_are_limited_before_they_fill_the_memory(desk, line, monkeypatch):
    begin_upload(line, desk, "large.toml", size=LARGEST_UPLOAD + 1)
    begin_upload(line, desk, "negative.toml", size=-1, key="negative")
    settle(desk)
    assert not transfers(desk)
    begin_upload(line, desk, "liar.toml", size=10, key="liar")
    settle(desk)
    assert [*transfers(desk)] == ["liar"]
    send_part(line, desk, bytes(1000), key="liar")
    settle(desk)
    assert not transfers(desk)  # more than it had announced
    for k in range(3 * MOST_TRANSFERS):
        begin_upload(line, desk, "many.toml", size=10, key=f"many{k}")
    settle(desk)
    assert len(transfers(desk)) == MOST_TRANSFERS
    monkeypatch.setattr(viser_, "ABANDONED", 0.0)  # the page was closed
    begin_upload(line, desk, "next.toml", size=10, key="next")
    settle(desk)
    assert [*transfers(desk)] == ["next"]
    transfers(desk).clear()


@pytest.mark.promise("W2")
@pytest.mark.parametrize(
    "content",
    [b"", b"\x00", b"nonsense", msgspec.msgpack.encode({"type": "NoSuchMessage"}),
     msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": 5, "updates": "none"}),
     bytes(8 * 2**20)],
    ids=["empty", "zero", "nonsense", "unknown", "types", "huge"],
)  # fmt: skip
def test_nonsense_ends_at_most_its_own_connection(desk, line, content):
    with suppress(ConnectionClosed):
        line.send(content)
        line.recv(timeout=1.0)
    port = desk.studio.server.get_port()
    with connect(
        f"ws://127.0.0.1:{port}", origin=f"http://127.0.0.1:{port}",  # type: ignore[arg-type]
        subprotocols=["viser-v1.1.1"], max_size=None,  # type: ignore[list-item]
    ) as other:  # fmt: skip
        assert other.recv(timeout=10.0)  # what there is to show
    assert desk.thread.is_alive() and not desk.studio.n_broken


@pytest.mark.promise("W2")
@pytest.mark.parametrize("value", ["words", None, [1, 2], 1e308, -5, {"a": 1}, "x" * 10**6])
def test_a_field_may_be_sent_anything(desk, line, value):
    known = dict(desk.studio.server.gui._gui_input_handle_from_uuid)
    for uuid, handle in known.items():
        if getattr(handle, "label", "") in (
            "Duration [s]",
            "Seed",
            "Estimate",
            "Prior std",
            "Speed",
            "Built-in",
        ):
            send(line, "GuiUpdateMessage", uuid=uuid, updates={"value": value})
    settle(desk)
    assert desk.thread.is_alive() and not desk.studio.n_broken
