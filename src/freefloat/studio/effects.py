"""What a message makes of the state, and what is to be done for it: the words handlers share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from freefloat.studio.live_task import LiveWords
from freefloat.studio.studio_state import Job, StudioState, tell
from freefloat.studio.worker import Task


@dataclass(frozen=True)
class StartTask:
    """An effect: this task is to be given to the worker."""

    task: Task


@dataclass(frozen=True)
class StopTask:
    """An effect: the task of the worker is to be stopped."""


@dataclass(frozen=True)
class StartLive:
    """An effect: this task is to be given to the worker that follows sources."""

    task: Task


@dataclass(frozen=True)
class AskLive:
    """An effect: words for the live run; without any it is to be stopped."""

    words: LiveWords | None = None


Effect = StartTask | StopTask | StartLive | AskLive
Change = tuple[StudioState, tuple[Effect, ...]]
HANDLERS: dict[type, Callable[[StudioState, Any], Change]] = {}  # by the type of a message


def on(kind: type) -> Callable[[Callable], Callable]:
    """Make a function what handles messages of a kind."""

    def keep(handler: Callable) -> Callable:
        HANDLERS[kind] = handler
        return handler

    return keep


def start(state: StudioState, task: Task) -> Change:
    """Give the worker a task, unless it has one."""
    if state.job is not None:
        text = f"{state.job.title} is under way: wait for it, or stop it."
        return tell(state, "warning", "One thing at a time", text), ()
    job = Job(0, getattr(task, "title", "working"))
    return replace(state, job=job), (StartTask(task),)


def need(state: StudioState, what: str) -> Change:
    """Say what is missing."""
    return tell(state, "warning", what), ()
