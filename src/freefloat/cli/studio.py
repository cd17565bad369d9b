"""`freefloat studio`: the whole job in a browser, on this machine, offline."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from freefloat.cli.options import FLAG, Shared, require
from freefloat.errors import Fault, FreefloatError

if TYPE_CHECKING:
    from freefloat.studio.studio_app import Studio

PORT = 8350  # format: the studio's default; any other will do
MOST_PORTS = 65535  # format: of TCP


def studio(
    model: str | None = None,
    /,
    *flights: Path,
    port: int = PORT,
    host: str | None = None,
    token: str | None = None,
    folder: Path = Path("."),
    browser: bool = True,
    dark: Annotated[bool, FLAG] = False,
    demo: Annotated[bool, FLAG] = False,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Open the studio: the robot in 3D, and all steps from its model to the verdict as tabs.

    Everything runs on this machine: nothing is loaded from elsewhere, and no
    other machine can open the page. Needs freefloat[viewer]. Ctrl-C ends it.

    With --host, other machines can open it with the token in the printed
    address; there is no encryption.

    For example:
      freefloat studio servicer
      freefloat studio my_robot.toml flight.parquet --no-browser --port 9000
      freefloat studio --demo

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml, .urdf, .xacro or MJCF (.xml) file.
    flights
        Recordings to open with it.
    port
        Port to listen on; 0 for any free one.
    host
        Address to listen on for other machines, such as 0.0.0.0.
    token
        Token that the address must contain; random by default.
    folder
        Where uploads and saved files go.
    browser
        Open a browser; otherwise only the address is printed.
    dark
        Use dark colours.
    demo
        Start the tour: weigh a captured target, step by step.
    """
    from freefloat.cli import screen

    require(_port_faults(port))
    made = _make_studio(port, host, token, folder, dark=dark)
    try:
        if shared.json:
            place = {"address": made.address, "folder": str(made.state.folder)}
            screen.print_json({"ok": True, **place}, is_line=True)
        else:
            screen.note(f"The studio is at {made.address}")
            screen.note(f"Files go to {made.state.folder}. Ctrl-C ends it.")
        _open_first(made, model, flights, demo=demo)
        if browser:
            _open_browser(made.address)
        _run(made)
    finally:
        made.close()
    return 0


def _port_faults(port: int) -> list[Fault]:
    if 0 <= port <= MOST_PORTS:
        return []
    expected, remedy = f"0 to {MOST_PORTS}", "give another port"
    return [Fault("--port", str(port), expected, remedy, "option.range")]


def _make_studio(
    port: int, host: str | None, token: str | None, folder: Path, *, dark: bool
) -> Studio:
    from freefloat.studio.access import access_of

    access = access_of(host, token)
    if not folder.is_dir():
        fault = Fault("--folder", str(folder), "a folder", "make it first", "file.missing")
        raise FreefloatError("there is no such folder", [fault])
    try:
        import viser  # noqa: F401
    except ImportError:
        remedy = "install freefloat[viewer]"
        fault = Fault("viser", "not installed", "viser 1.1 or later", remedy, "library.missing")
        raise FreefloatError("the studio needs its viewer", [fault]) from None
    from freefloat.studio.studio_app import Studio

    return Studio(access, port=port, folder=folder, is_dark=dark)


def _open_first(made: Studio, model: str | None, flights: tuple[Path, ...], *, demo: bool) -> None:
    from freefloat.studio import messages

    if demo:
        made.ask(messages.BeginTour())
    if model is not None:
        made.ask_in_turn(messages.OpenModelFile(model))
    for flight in flights:
        made.ask_in_turn(messages.OpenRecording(str(flight)))


def _open_browser(address: str) -> None:
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _run(made: Studio) -> None:
    """Until Ctrl-C, or the signal that ends a service."""

    def end(*_: Any) -> None:
        made.stop()

    before = {one: signal.signal(one, end) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        made.run()
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
