"""How many samples a second `freefloat track` takes, from line to estimate, by pipe and by TCP.

    python benchmarks/live_lines.py [--against OTHER/src] [--passes N]

Each run is a process of its own; the time of a short stream is taken off that of a long one, so
that start and compilation do not count. Time is that of the processor: others on the machine do not
count either. With --against the same is done with another source tree,
by turns, and the ratio printed.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import freefloat as ff

SHORT, LONG = 2_000, 60_000  # lines


def flight_lines() -> list[bytes]:
    """A minute of a six-joint arm with a target and twelve thrusters, at 1 kHz."""
    model = ff.load_model("spatial-capture")
    sensors = tuple(replace(sensor, rate=1000.0) for sensor in model.sensors)
    plan = ff.default_plan(model, duration=60.0)
    flight = ff.simulate(model, plan, sensors=sensors, seed=1, step=1e-3)
    return [json.dumps({"time": s.time, **s.values}).encode() + b"\n" for s in flight]


def processor_time() -> float:
    """Of every process this one has waited for [s]."""
    used = os.times()
    return used.children_user + used.children_system


def seconds(data: bytes, scheme: str, source: Path, folder: Path) -> float:
    """How long the command works on all that, start included."""
    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    begun = ["freefloat", "track", "spatial-capture"]
    options = ["--out", str(folder / "estimates.ndjson"), "--idle", "30"]
    command = [sys.executable, "-m", *begun]
    if scheme == "stdin":
        started = processor_time()
        subprocess.run([*command, "-", *options], input=data, env=environment, check=False,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        return processor_time() - started
    with socket.create_server(("127.0.0.1", 0)) as server:

        def send() -> None:
            with server.accept()[0] as caller:
                caller.sendall(data)

        threading.Thread(target=send, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        started = processor_time()
        subprocess.run([*command, address, *options, "--retry", "0"], env=environment, check=False,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        return processor_time() - started


def rate(lines: list[bytes], scheme: str, source: Path, folder: Path) -> float:
    """Samples a second."""
    both = [seconds(b"".join(lines[:n]), scheme, source, folder) for n in (SHORT, LONG)]
    return (LONG - SHORT) / (both[1] - both[0])


def main() -> None:
    """Print samples a second, and the ratio to another source tree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", type=Path, help="the src folder of another version")
    parser.add_argument("--passes", type=int, default=3)
    args = parser.parse_args()
    own = Path(ff.__file__).parents[1]
    lines = flight_lines()
    with tempfile.TemporaryDirectory() as folder:
        for scheme in ("stdin", "tcp"):
            found: dict[Path, list[float]] = {own: []}
            if args.against:
                found[args.against] = []
            for one in found:
                seconds(b"".join(lines[:10]), scheme, one, Path(folder))  # compiles what it needs
            for _ in range(args.passes):
                for one, rates in found.items():
                    rates.append(rate(lines, scheme, one, Path(folder)))
            middle = {one: statistics.median(rates) for one, rates in found.items()}
            text = f"{scheme}: {middle[own]:.0f} samples/s"
            if args.against:
                other = middle[args.against]
                text += f", {other:.0f} before, ratio {middle[own] / other:.2f}"
            print(text, flush=True)


if __name__ == "__main__":
    main()
