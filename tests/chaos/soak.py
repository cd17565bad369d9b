"""A long live run with everything wrong in it, and whether its memory stays flat.

`python tests/chaos/soak.py [--seconds 600]` feeds `freefloat track` through a pipe: sound lines in
the order of time, broken ones and fill values among them, with state, estimates and a table.
Prints as JSON the lines fed, the memory [B] after two fifths of the time and at the end, and the
exit code.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from live_flights import noisy

MODEL = "planar-capture"
BROKEN = (b"garbage\n", b'{"time": 1e999}\n', b"{}\n", b'{"time": "x", "y": [1]}\n', b"\xff\xfe\n")


def memory(process: subprocess.Popen[bytes]) -> int:
    """What a process holds now [B]."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    return 1024 * int(text.partition("VmRSS:")[2].split()[0])


def main() -> None:
    """Feed until the time is over."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    seconds = parser.parse_args().seconds
    samples = [dict(s.values) for s in noisy(MODEL, 0)]
    rng, step = random.Random(1), 0.1
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "freefloat", "track", MODEL, "-", "--free", "bus.mass"]
        command += ["--state", "s", "--out", "o", "--parquet", "p.parquet", "--checkpoint", "1"]
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=os.environ
        )
        assert process.stdin is not None
        begun, fed, settled = time.monotonic(), 0, 0
        while (passed := time.monotonic() - begun) < seconds:
            for _ in range(500):
                values = samples[fed % len(samples)]
                if rng.random() < 0.02:
                    values = values | {
                        rng.choice([*values]): rng.choice([-9999.0, 1e30, 1e16 * fed])
                    }
                line = json.dumps({"time": round(step * fed, 3), **values}).encode() + b"\n"
                process.stdin.write(line if rng.random() > 0.02 else rng.choice(BROKEN))
                fed += 1
            process.stdin.flush()
            if not settled and passed > 0.4 * seconds:
                settled = memory(process)
        ended = memory(process)
        process.stdin.close()
        code = process.wait()
    print(json.dumps({"lines": fed, "settled": settled, "ended": ended, "code": code}))


if __name__ == "__main__":
    main()
