"""Live runs of the studio: streams, states that are kept and gone on from, events in the scene."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

import freefloat as ff
from freefloat.studio import messages


@pytest.fixture(scope="module")
def flight() -> ff.Telemetry:
    model = ff.load_model("planar-capture")
    made = ff.simulate(model, ff.default_plan(model, duration=12.0), seed=1)
    return made.with_truth(None)


@pytest.fixture(scope="module")
def lines(flight) -> list[bytes]:
    """The flight as newline JSON."""
    model = ff.load_model("planar-capture")
    tracker = ff.OnlineEstimator(model, ff.Parameters(model).free("target.mass"), like=flight)
    samples = tracker.samples_of(flight)
    return [json.dumps({"time": s.time, **s.values}).encode() + b"\n" for s in samples]


@pytest.fixture
def send_tcp(lines) -> Iterator[str]:
    """A program that sends the flight to whoever connects; its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            line, _ = server.accept()
            with line:
                line.sendall(b"".join(lines))
                time.sleep(30.0)

        threading.Thread(target=answer, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def send_udp(lines) -> Iterator[str]:
    """A program that sends the flight to a port, again and again."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    is_over = threading.Event()

    def shout() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            while not is_over.is_set():
                for line in lines:
                    sender.sendto(line, ("127.0.0.1", port))
                    time.sleep(1e-4)

    threading.Thread(target=shout, daemon=True).start()
    yield f"udp://127.0.0.1:{port}"
    is_over.set()


@pytest.fixture
def send_ws(lines) -> Iterator[str]:
    """A WebSocket server that sends the flight."""

    def answer(line) -> None:
        try:
            for one in lines:
                line.send(one.decode())
            line.recv()
        except ConnectionClosed:
            pass

    with serve(answer, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        server.shutdown()


def is_over(state) -> bool:
    return state.live is not None and not state.live.is_running


def end(opened) -> None:
    opened.studio.ask(messages.StopLive())
    begun = time.monotonic()
    opened.wait(is_over)
    assert time.monotonic() - begun < 1.5  # [s] Stop takes at most one, and it is seen after that
    assert opened.state.live.ended == "stopped" and not opened.state.live.error


@pytest.mark.promise("W3")
@pytest.mark.parametrize("kind", ["tcp", "udp", "ws"])
def test_a_stream_is_followed_until_it_is_stopped(opened, request, lines, kind):
    address = request.getfixturevalue(f"send_{kind}")
    opened.studio.ask(messages.FollowLive(address))

    def has_enough(state) -> bool:
        last = None if state.live is None else state.live.last
        return last is not None and dict(last.counts).get("taken", 0) > 20

    opened.wait(has_enough)
    assert opened.state.live.moment.posture["arm_1"] != 0.0  # the robot moves with the samples
    end(opened)


def test_another_machine_is_listened_to_only_if_allowed(opened):
    opened.studio.ask(messages.FollowLive("tcp://192.0.2.1:5000"))
    opened.wait(is_over)
    assert "this machine" in opened.state.live.error


def test_a_run_goes_on_from_the_state_that_it_kept(opened, tmp_path, flight):
    flight.save(tmp_path / "flight.parquet")
    opened.do(messages.OpenRecording(str(tmp_path / "flight.parquet")))
    kept = tmp_path / "state.npz"
    follow = messages.FollowLive(flight="flight.parquet", speed=0.0, keep=str(kept))
    opened.studio.ask(follow)
    opened.wait(is_over)
    first = opened.state.live.last
    assert kept.exists() and opened.state.notice.title == "Saved state.npz"
    # at a thousandth of its speed: what the state has already is not waited for
    opened.studio.ask(replace(follow, speed=1e-3, state=str(kept)))
    opened.wait(lambda state: state.live.is_running)
    opened.wait(is_over)
    again = opened.state.live.last
    assert again.values == first.values
    assert dict(again.counts)["already in the state"] > 100


def test_a_stuck_joint_is_marked_in_the_scene(opened, tmp_path, flight):
    position, velocity = flight["arm_2.position"], flight["arm_2.velocity"]
    noise = 1e-6 * np.random.default_rng(1).standard_normal(position.n_samples)
    is_late = position.time > 4.0
    still = np.where(is_late, position.values[is_late][0] + noise, position.values)
    rest = np.where(velocity.time > 4.0, noise, velocity.values)
    damaged = flight.with_channels(
        replace(position, values=still), replace(velocity, values=rest)
    )  # fmt: skip
    damaged.save(tmp_path / "stuck.parquet")
    opened.studio.ask(messages.FollowLive(str(tmp_path / "stuck.parquet"), speed=0.0))
    opened.wait(is_over)
    about = {name for event in opened.state.live.last.events for name in event.about}
    assert "arm_2" in about
    opened.wait(lambda state: len(opened.studio.events.labels) > 0)
    assert any("arm_2: stuck" in text for text in opened.studio.events.labels)
    opened.studio.ask(messages.ShowMotion("posture"))
    opened.wait(lambda state: not opened.studio.events.labels)
