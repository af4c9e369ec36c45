# SPDX-License-Identifier: Apache-2.0
"""Tables for other packages: pandas, and every reader of Apache Arrow. Neither has to be there."""
import ctypes
import importlib

from . import _api

# The members of the Arrow C stream interface: four functions and what is theirs.
_STREAM_BYTES = 5 * ctypes.sizeof(ctypes.c_void_p)
_RELEASE = 3
_NAME = b"arrow_array_stream"

_python = ctypes.pythonapi
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
# A prototype of its own for each call: a capsule is an object for who gets it, and an address while it is destroyed.
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)(("PyCapsule_New", _python))
_pointer_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _python))
_allocate = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(("PyMem_Malloc", _python))
_free = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("PyMem_Free", _python))


def module(name, what):
    """A package that is not needed otherwise."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        raise ModuleNotFoundError(f"{what} needs the package {name}, which is not installed: "
                                  f"pip install {name}. rows() gives the same without it", name=name) from None


@_Destructor
def _destroy(capsule):
    """Frees the stream; a consumer that took it has left it without `release`."""
    stream = _pointer_in(capsule, _NAME)
    release = (ctypes.c_void_p * 5).from_address(stream)[_RELEASE]
    if release:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(release)(stream)
    _free(stream)


def arrow_capsule(table):
    """A table of the library as a capsule with a stream of Arrow."""
    stream = _allocate(_STREAM_BYTES)
    if not stream:
        raise MemoryError
    try:
        _api.call("table_arrow", table, stream)
    except _api.FabricastError:
        _free(stream)
        raise
    return _new_capsule(stream, _NAME, _destroy)


def data_frame(pandas, columns):
    """A pandas.DataFrame of columns: lists of texts, and memoryviews of numbers."""
    def series(cells):
        if isinstance(cells, list):
            return pandas.Series(cells, dtype=object)
        numbers = pandas.Series(memoryview(cells).tolist(), dtype="float64" if cells.format == "d" else "int64")
        is_unknown = numbers == _api.UNKNOWN
        return numbers.astype("Int64").mask(is_unknown) if cells.format == "q" and is_unknown.any() else numbers

    return pandas.DataFrame({name: series(cells) for name, cells in columns.items()}, columns=list(columns))
