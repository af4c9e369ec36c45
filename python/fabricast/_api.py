# SPDX-License-Identifier: Apache-2.0
"""The library: where it is, the structs of fabricast.h, and errors as exceptions."""
import ctypes
import dataclasses
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import List, Optional

NONE, BOOL, WHOLE, REAL, TEXT = range(5)
UNKNOWN = -2**63  # a whole number that is not known
_WHOLES = (c_int, c_int64, c_uint32, c_uint64, c_size_t)

Progress = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64, c_int64)
Done = ctypes.CFUNCTYPE(None, c_void_p, c_int64)


def _struct(name, *fields):
    made = type(name, (ctypes.Structure,), {"_fields_": [("struct_size", c_size_t), *fields]})
    return made


Value = _struct("Value", ("kind", c_int), ("whole", c_int64), ("real", c_double), ("text", c_char_p), ("unit", c_char_p))
IssueStruct = _struct("IssueStruct", ("message", c_char_p), ("file", c_char_p), ("line", c_int), ("column", c_int), ("source", c_char_p))
Column = _struct("Column", ("name", c_char_p), ("kind", c_int), ("whole", POINTER(c_int64)), ("real", POINTER(c_double)),
                 ("text", POINTER(c_char_p)))
ContextOptions = _struct("ContextOptions", ("catalogue", c_char_p), ("n_threads", c_int))
RunOptions = _struct("RunOptions", ("progress", Progress), ("user", c_void_p), ("cancel", POINTER(c_int)), ("save_to", c_char_p),
                     ("has_band", c_int), ("has_jobs", c_int))
PredictOptions = _struct("PredictOptions", ("op", c_char_p), ("sizes_bytes", POINTER(c_uint64)), ("n_sizes", c_size_t), ("form", c_char_p),
                         ("has_band", c_int))
StudyOptions = _struct("StudyOptions", ("vary", POINTER(c_char_p)), ("zip", POINTER(c_char_p)), ("targets", POINTER(c_char_p)),
                       ("progress", Progress), ("user", c_void_p), ("cancel", POINTER(c_int)), ("allows_oversized", c_int), ("hold", c_char_p))


def make(struct, /, **members):
    """A struct with its size and these members set."""
    types = dict(struct._fields_)
    for name, member in members.items():
        check(types[name], member)
    return struct(struct_size=ctypes.sizeof(struct), **members)


def text(value) -> bytes:
    """A text as the library takes it."""
    if not isinstance(value, str):
        raise TypeError(f"a text belongs here, not {value!r}")
    return value.encode()


def array(kind, members):
    """An array, each member of which can be what it is there."""
    all_members = list(members)
    for member in all_members:
        check(kind, member)
    return (kind * len(all_members))(*all_members)


def check(kind, value) -> None:
    """Misuse where ctypes would cut off a number or a text without a word."""
    if isinstance(value, int) and kind in _WHOLES:
        n_bits = 8 * ctypes.sizeof(kind)
        least, most = (-2**(n_bits - 1), 2**(n_bits - 1) - 1) if kind(-1).value < 0 else (0, 2**n_bits - 1)
        if not least <= value <= most:
            raise Misuse(f"{value} is not from {least} to {most}", [])
    if isinstance(value, bytes) and kind is c_char_p and b"\0" in value:
        raise Misuse(f"the text {value.decode()!r} holds a character NUL", [])


def _open():
    beside = os.path.join(os.path.dirname(__file__), "_lib", "libfabricast.so.0")
    path = os.environ.get("FABRICAST_LIBRARY") or (beside if os.path.exists(beside) else "libfabricast.so.0")
    try:
        return ctypes.CDLL(path)
    except OSError as problem:
        raise ImportError(f"fabricast needs libfabricast.so.0: {problem}. Install libfabricast0, or set FABRICAST_LIBRARY "
                          "to the path of the library") from problem


lib = _open()
_H = c_void_p  # a handle
_ERR = POINTER(c_void_p)
_OUT = POINTER(c_void_p)

# Each function: what it returns, and what it takes.
SIGNATURES = {
    "version": (c_char_p,),
    "error_free": (None, _H),
    "error_status": (c_int, _H),
    "error_message": (c_char_p, _H),
    "error_issue": (c_int, _H, c_size_t, POINTER(IssueStruct)),
    "context_new": (c_int, POINTER(ContextOptions), _OUT, _ERR),
    "context_free": (None, _H),
    "describe": (c_int, _H, c_char_p, c_char_p, _OUT, _ERR),
    "schema": (c_char_p, _H),
    "scenario_load": (c_int, _H, c_char_p, _OUT, _ERR),
    "scenario_parse": (c_int, _H, c_char_p, c_char_p, c_size_t, _OUT, _ERR),
    "scenario_new": (c_int, _H, _OUT, _ERR),
    "scenario_copy": (c_int, _H, _OUT, _ERR),
    "scenario_free": (None, _H),
    "scenario_get": (c_int, _H, c_char_p, POINTER(Value), _ERR),
    "scenario_set": (c_int, _H, c_char_p, POINTER(Value), _ERR),
    "scenario_assign": (c_int, _H, c_char_p, _ERR),
    "scenario_check": (c_int, _H, _ERR),
    "scenario_text": (c_char_p, _H),
    "run": (c_int, _H, POINTER(RunOptions), _OUT, _ERR),
    "result_free": (None, _H),
    "result_figure": (c_int, _H, c_char_p, POINTER(Value), _ERR),
    "result_table": (c_int, _H, c_char_p, _OUT, _ERR),
    "result_explain": (c_int, _H, c_char_p, _OUT, _ERR),
    "table_free": (None, _H),
    "table_rows": (c_size_t, _H),
    "table_column": (c_int, _H, c_size_t, POINTER(Column)),
    "table_arrow": (c_int, _H, c_void_p, _ERR),
    "predict": (c_int, _H, POINTER(PredictOptions), _OUT, _ERR),
    "sweep": (c_int, _H, POINTER(StudyOptions), _OUT, _ERR),
    "size": (c_int, _H, POINTER(StudyOptions), _OUT, _ERR),
}
UNSTABLE = {  # those behind FABRICAST_UNSTABLE
    "network_new": (c_int, _H, _OUT, _ERR),
    "network_free": (None, _H),
    "network_ranks": (c_uint32, _H),
    "network_now": (c_int64, _H),
    "network_next": (c_int64, _H),
    "network_advance": (c_int, _H, c_int64, _ERR),
    "network_at": (c_int, _H, c_int64, Done, c_void_p, _ERR),
    "network_send": (c_int, _H, c_uint32, c_uint32, c_uint64, Done, c_void_p, _ERR),
    "network_stream": (c_int, _H, POINTER(c_uint32), POINTER(c_double), c_size_t, c_uint64, c_int64, Done, c_void_p, _ERR),
    "network_collective": (c_int, _H, c_char_p, POINTER(c_uint32), c_size_t, c_uint64, Done, c_void_p, _ERR),
    "network_table": (c_int, _H, c_char_p, _OUT, _ERR),
}
for _name, (_result, *_arguments) in {**SIGNATURES, **UNSTABLE}.items():
    _function = getattr(lib, "fabricast_" + _name)
    _function.restype = _result
    _function.argtypes = _arguments


def version() -> str:
    """The version of the library."""
    return lib.fabricast_version().decode()


@dataclasses.dataclass
class Issue:
    """One mistake: what is wrong, and where it was written."""

    message: str
    file: Optional[str] = None
    line: int = 0
    column: int = 0
    source: Optional[str] = None


class FabricastError(Exception):
    """A function of the library failed; `issues` are the mistakes, each with its place."""

    def __init__(self, message: str, issues: List[Issue]):
        super().__init__(message)
        self.issues = issues


class InputError(FabricastError, ValueError):
    """A scenario, a key or a name is wrong."""


class FileError(FabricastError, OSError):
    """A file could not be read or written."""


class Unsupported(FabricastError):
    """This cannot be done."""


class Hung(FabricastError):
    """The job waits for ever for something that is broken."""


class Oversized(FabricastError):
    """The job does not fit into memory."""


class Cancelled(FabricastError):
    """The work was cancelled."""


class Misuse(FabricastError):
    """The library was called wrongly."""


class Broken(FabricastError):
    """The simulation broke an invariant that it checks itself."""


_KINDS = (None, InputError, FileError, Unsupported, Hung, Oversized, Cancelled, Misuse, Broken)


def _decode(text):
    return text.decode("utf-8", "replace") if text is not None else None


def fail(status, error):
    """Raises what `error` says, and frees it."""
    issues = []
    issue = make(IssueStruct)
    while lib.fabricast_error_issue(error, len(issues), byref(issue)):
        issues.append(Issue(_decode(issue.message), _decode(issue.file), issue.line, issue.column, _decode(issue.source)))
    message = _decode(lib.fabricast_error_message(error))
    lib.fabricast_error_free(error)
    raise (_KINDS[status] if status < len(_KINDS) else FabricastError)(message, issues)


def call(name, *arguments):
    """Calls a function that takes an error last."""
    error = c_void_p()
    function = getattr(lib, "fabricast_" + name)
    for kind, argument in zip(function.argtypes, arguments):
        check(kind, argument)
    status = function(*arguments, byref(error))
    if status != 0:
        fail(status, error)


def handle(name, *arguments):
    """The same for a function that makes a handle."""
    made = c_void_p()
    call(name, *arguments, byref(made))
    return made


def owned(made, comes_from):
    """A handle that an object takes over; TypeError for anything else, which the library would read as an address."""
    if not isinstance(made, c_void_p):
        raise TypeError(f"it comes from {comes_from}, and is not made of {made!r}")
    return made


def value_of(value):
    """A Value as None, bool, int, float or str."""
    return {NONE: None, BOOL: bool(value.whole), WHOLE: value.whole, REAL: value.real, TEXT: _decode(value.text)}[value.kind]
