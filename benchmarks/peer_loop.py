"""The other end of `peers.Peer`: answers questions with the functions of a peer script."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable


def serve(functions: dict[str, Callable[..., dict]]) -> None:
    """Answer one line of JSON with another until there are no more; `seconds` is processor time."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a tool prints must not come between the answers
    for line in sys.stdin:
        words = json.loads(line)
        begin, wall = time.process_time(), time.perf_counter()
        try:
            answer = functions[words.pop("do")](**words)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"}
        answer.setdefault("seconds", time.process_time() - begin)
        answer.setdefault("wall", time.perf_counter() - wall)
        print(json.dumps(answer), file=answers, flush=True)
