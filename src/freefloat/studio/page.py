"""What the tabs have in common: buttons that never fail, uploads, saving, charts of one kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from freefloat.errors import FreefloatError
from freefloat.studio import messages
from freefloat.studio.folder import WorkingFolder

if TYPE_CHECKING:
    from freefloat.studio.studio_state import StudioState

Ask = Callable[[object], None]


class Page:
    """The panel of the viewer, and what its parts need: a way to ask, and a place for files."""

    def __init__(self, server: Any, ask: Ask, folder: WorkingFolder) -> None:
        self.server, self.gui, self.ask, self.folder = server, server.gui, ask, folder

    def button(self, label: str, action: Callable[[], None], **options: Any) -> Any:
        """A button; what goes wrong in its action is said on the page."""
        button = self.gui.add_button(label, **options)
        button.on_click(lambda _: self.attempt(action))
        return button

    def listen(self, field: Any, action: Callable[[Any], None]) -> Any:
        """Do something with the value of a field whenever a person changes it."""

        def respond(event: Any) -> None:
            if event.client_id is not None:  # else it was us
                self.attempt(lambda: action(field.value))

        field.on_update(respond)
        return field

    def attempt(self, action: Callable[[], None]) -> None:
        """Do something for a page; what goes wrong is said there."""
        try:
            action()
        except FreefloatError as error:
            self.ask(messages.Tell("error", "That is not possible", str(error)))
        except Exception as error:  # a fault of ours must not pass without a word
            text = f"{type(error).__name__}: {error}"
            self.ask(messages.Tell("error", "A fault of the studio", text))

    def upload(self, label: str, suffixes: str, take: Callable[[str], None]) -> Any:
        """A button, and a field to drop files on; `take` gets the path where the file is kept."""
        button = self.gui.add_upload_button(label, mime_type=suffixes)
        what = label.removeprefix("Upload ")

        def keep(_: Any) -> None:
            given = button.value
            self.attempt(lambda: take(str(self.folder.keep(given.name, given.content, suffixes))))

        button.on_upload(keep)
        drop = (
            f'<div class="ff"><div style="border:1px dashed currentColor;border-radius:4px;'
            'padding:.35rem;text-align:center;opacity:.7" ondragover="event.preventDefault()" '
            'ondrop="event.preventDefault();const i=document.getElementById('
            f"'file_upload_{button._impl.uuid}');"
            "i.files=event.dataTransfer.files;i.dispatchEvent(new Event('change',{bubbles:true}))"
            f'">or drop {what} here</div></div>'
        )
        self.gui.add_html(drop)
        return button

    def save_row(self, noun: str, name: str, label: str = "") -> Any:
        """A name and a button that saves something there, in the working folder."""
        field = self.gui.add_text("Name", name, hint=f"in {self.folder.path}")

        def save() -> None:
            self.ask(messages.Save(noun, self.folder.place(field.value)))

        self.button(label or f"Save the {noun}", save)
        return field


class Tab:
    """One tab: what it shows, and how it follows the state."""

    title = ""

    def __init__(self, page: Page) -> None:
        self.page, self.ask = page, page.ask
        self.build(page)

    def build(self, page: Page) -> None:
        """Put everything there that the tab ever shows."""
        raise NotImplementedError

    def show(self, state: StudioState, before: StudioState) -> None:
        """Follow the state; what has not changed is left alone."""
        raise NotImplementedError
