"""How kernels are compiled: one decorator, a cache in the user's own folder, a visible first time.

Numba compiles a kernel the first time it is called and keeps the machine code on disk. The folder
is the user's cache folder (FREEFLOAT_CACHE_DIR overrides it), so that a read-only installation
works and every later start is quick; where that cannot be written to, a temporary one.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
PACKAGE = Path(__file__).parents[1]  # folders of it have their kernels in a folder `kernels`


@lru_cache(maxsize=1)
def cache_folder() -> Path:
    """Where compiled kernels are kept: the user's cache folder, or a temporary one.

    Left with a folder it cannot use, Numba would write into the installed package.
    """
    meant, reason = _user_folder()
    return _temporary_folder() if reason else meant


def cache_trouble() -> str:
    """Why kernels are not kept in the user's cache folder, and where they are; nothing if fine."""
    meant, reason = _user_folder()
    if not reason:
        return ""
    return f"the cache folder {meant} cannot be used ({reason}): kernels are in {cache_folder()}"


def _user_folder() -> tuple[Path, str]:
    """The folder that is meant for caches, and why it cannot be used, if so."""
    chosen = os.environ.get("FREEFLOAT_CACHE_DIR")
    try:
        folder = Path(chosen) if chosen else _system_folder() / "freefloat"
    except RuntimeError:  # a user without a home
        return Path("~"), "there is no home folder"
    try:
        _require_usable(folder / _fingerprint())
        return folder, ""
    except OSError as error:
        return folder, error.strerror or type(error).__name__


def _system_folder() -> Path:
    """Where this system keeps caches of its user."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")  # empty: not set


def _temporary_folder() -> Path:
    """A folder that the next run of this user finds again; else one that ends with this run."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir(), f"freefloat-{user}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        # Machine code is kept there and run: nobody else may have put it there.
        if not stat.S_ISDIR(status.st_mode) or (status.st_uid, status.st_mode & 0o077) != (user, 0):
            raise PermissionError
        _require_usable(folder / _fingerprint())
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="freefloat-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _require_usable(folder: Path) -> None:
    """Raise OSError unless files can be made in a folder, which is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


# Fused multiply-add is allowed ("contract"); reordering of sums is not, so that results do not
# depend on the compiler's mood. Division follows NumPy, without branches. Kernels allocate nothing,
# so nobody counts references to arrays while they run ("_nrt"): this saves a third of the time to
# compile and half the time the tangent runs, and Numba refuses a kernel that does allocate.
OPTIONS = {"error_model": "numpy", "fastmath": {"contract"}, "nogil": True, "_nrt": False}


def inline(function: Function) -> Function:
    """A building block of kernels: compiled into each of its callers, never called by itself.

    It is not cached: Numba cannot look inside cached code, so a cached block would be called
    through a pointer with every array taken apart, which costs more than the block.
    """
    import numba

    # Nobody calls a block from Python or C, so it gets no wrappers: a third less to compile.
    wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiler = {"forceinline": True, "pipeline_class": _block_compiler()}
    block = numba.njit(**compiler, **wrappers, **OPTIONS)(function)
    # One version for all constants: Numba would make one for every literal it is called with.
    as_usual = block.get_call_template
    block.get_call_template = lambda args, kws: as_usual(
        tuple(numba.types.unliteral(a) for a in args), kws
    )
    return block  # type: ignore[return-value]


@lru_cache(maxsize=1)
def _block_compiler() -> type:
    """Numba's compiler, stopping where a building block can be linked into its callers.

    Left alone, Numba optimises every block by itself and turns it into machine code, again at
    every level of nesting, although nothing but the kernel around it is ever run. These are
    Numba's inner parts: where they are called otherwise, blocks just take longer to compile.
    """
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler

    parts = ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals")
    if not all(hasattr(JITCodeLibrary, part) for part in parts):
        return Compiler

    class BlockLibrary(JITCodeLibrary):
        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0  # there is no machine code

        @property
        def codegen(self) -> BlockLibrary:
            return self

        def set_env(self, env_name: str, env: object) -> None:
            pass

    class BlockCompiler(Compiler):
        def __init__(self, typingctx, targetctx, library, *rest) -> None:
            library = library or BlockLibrary(targetctx.codegen(), "block")
            super().__init__(typingctx, targetctx, library, *rest)

    return BlockCompiler


def kernel(function: Function) -> Function:
    """An entry point: a hot loop compiled by Numba, without allocation, cached on disk."""
    import numba

    # Numba looks at its global cache setting when a function is decorated; ours must not leak
    # into the functions of whoever imports us.
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    numba.config.CACHE_DIR = str(cache_folder() / _fingerprint())  # type: ignore[attr-defined]
    try:
        return numba.njit(cache=True, **OPTIONS)(function)  # type: ignore[return-value]
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]


def is_compiled(*kernels: str) -> bool:
    """Whether the cache holds machine code of all these kernels, such as "integrate.rk4".

    Numba's index files are looked at, without importing Numba: one that is older than the source
    is not used. After a change of processor or of Numba a kernel may yet be compiled again.

    >>> is_compiled("integrate.no_such_kernel")
    False
    """
    return all(_has_index(*kernel.split(".")) for kernel in kernels)


def _has_index(module: str, name: str) -> bool:
    folder = cache_folder() / _fingerprint()
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    sources = PACKAGE.glob(f"**/kernels/{module}.py")
    written = max((source.stat().st_mtime for source in sources), default=0.0)
    indices = folder.glob(f"*/{module}.{name}-*.{python}*.nbi")
    return any(index.stat().st_mtime >= written for index in indices)


@lru_cache(maxsize=1)
def _fingerprint() -> str:
    """Changes with any kernel source: Numba itself only looks at the entry point's own file."""
    # And with the installation: Numba keeps the code of each apart.
    digest = hashlib.sha256(str(PACKAGE).encode())
    for source in sorted(PACKAGE.glob("**/kernels/*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
