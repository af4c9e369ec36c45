# SPDX-License-Identifier: Apache-2.0
"""Tables for pandas and for readers of Apache Arrow. The stream of Arrow is read here by its specification, too, since
pyarrow is in no release of Debian."""
import ctypes
import gc
import math
import os
import subprocess
import sys

import fabricast as fc
import pytest

ROOT = os.environ["FAB_SOURCE_DIR"]
TABLES = ("iteration", "iteration_class", "collective", "span", "link", "link_load", "link_queue", "link_sample", "exposure",
          "critical_path", "memory", "rank_class", "finding", "band", "pace", "memo", "goodput", "job", "queue_length")


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


def release_of(kind):
    return ctypes.CFUNCTYPE(None, ctypes.POINTER(kind))


Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
                   ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
                   ("dictionary", ctypes.c_void_p), ("release", release_of(Schema)), ("private", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                  ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                  ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.c_void_p), ("release", release_of(Array)),
                  ("private", ctypes.c_void_p)]
Stream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
                   ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
                   ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))), ("release", release_of(Stream)),
                   ("private", ctypes.c_void_p)]


def cells(form, array):
    n = array.length
    assert array.offset == 0 and array.n_buffers == (3 if form == b"U" else 2)
    bits = array.buffers[0]
    known = [bits is None or bool(ctypes.c_uint8.from_address(bits + i // 8).value >> i % 8 & 1) for i in range(n)]
    assert array.null_count == known.count(False)
    if form == b"U":
        at = (ctypes.c_int64 * (n + 1)).from_address(array.buffers[1])
        values = [ctypes.string_at(array.buffers[2] + at[i], at[i + 1] - at[i]).decode() for i in range(n)]
    else:
        kind = {b"l": ctypes.c_int64, b"g": ctypes.c_double}[form]
        values = list((kind * n).from_address(array.buffers[1]))
    return [value if is_known else None for value, is_known in zip(values, known)]


def read(capsule):
    """Every row of a stream in a capsule, as a consumer takes it: moves the stream out, and releases what it got."""
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    place = Stream.from_address(pointer(capsule, b"arrow_array_stream"))
    stream, schema, batch = Stream(), Schema(), Array()
    ctypes.memmove(ctypes.byref(stream), ctypes.byref(place), ctypes.sizeof(Stream))
    ctypes.memset(ctypes.byref(place, Stream.release.offset), 0, ctypes.sizeof(ctypes.c_void_p))
    assert stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)) == 0 and schema.format == b"+s"
    assert stream.get_next(ctypes.byref(stream), ctypes.byref(batch)) == 0
    assert batch.n_children == schema.n_children
    columns = {schema.children[i].contents.name.decode(): cells(schema.children[i].contents.format, batch.children[i].contents)
               for i in range(schema.n_children)}
    n = batch.length
    batch.release(ctypes.byref(batch))
    schema.release(ctypes.byref(schema))
    assert not batch.release and not schema.release
    assert stream.get_next(ctypes.byref(stream), ctypes.byref(batch)) == 0 and not batch.release  # the end
    stream.release(ctypes.byref(stream))
    assert not stream.release
    return [{name: column[i] for name, column in columns.items()} for i in range(n)]


@pytest.fixture(scope="module", name="tables")
def all_tables():
    result = fc.load(os.path.join(ROOT, "scenarios/hello.yaml")).copy().set("cluster.nodes=2").run(band=True)
    return {name: result.table(name) for name in TABLES}


def test_arrow_has_every_row(tables):
    assert sum(len(table) > 0 for table in tables.values()) >= 12
    for name, table in tables.items():
        rows = table.rows()
        assert read(table.__arrow_c_stream__()) == rows, name
        assert read(table.__arrow_c_stream__()) == rows, name  # as often as it is asked for
    unknown = [cell for table in tables.values() for row in table.rows() for cell in row.values() if cell is None]
    assert unknown, "no table has a cell that is not known"


def test_arrow_outlives_its_table():
    table = fc.load(os.path.join(ROOT, "scenarios/hello.yaml")).run().table("collective")
    rows, capsule = table.rows(), table.__arrow_c_stream__()
    del table
    gc.collect()
    assert read(capsule) == rows
    for _ in range(3):  # nobody takes these
        fc.describe().__arrow_c_stream__()


def test_studies_are_tables_too():
    scenario = fc.load(os.path.join(ROOT, "scenarios/hello.yaml"))
    points = scenario.sweep(vary="cluster.nodes=1,2")
    assert [row["cluster.nodes"] for row in read(points.__arrow_c_stream__())] == ["1", "2"]
    assert read(scenario.collective("all_reduce", [1 << 20]).__arrow_c_stream__())[0]["size_bytes"] == 1 << 20


def test_pandas_has_every_row(tables):
    pandas = pytest.importorskip("pandas")
    for name, table in tables.items():
        frame = table.to_pandas()
        assert list(frame.columns) == table.columns, name
        assert [{key: None if pandas.isna(cell) else cell for key, cell in row.items()}
                for row in frame.to_dict("records")] == table.rows(), name
        for column in table.columns:
            kind = frame[column].dtype
            assert kind in ("int64", "Int64", "float64", "object"), (name, column, kind)
    assert tables["iteration"].to_pandas()["step_ps"].dtype == "int64"


def test_pyarrow_reads_it(tables):
    pytest.importorskip("pyarrow")
    for name, table in tables.items():
        assert table.to_arrow().to_pylist() == table.rows(), name


def test_a_missing_package_is_named():
    """In a process of its own, for which neither package is there."""
    program = ("import sys\n"
               "sys.modules['pandas'] = sys.modules['pyarrow'] = None\n"
               "import fabricast as fc\n"
               "table = fc.describe()\n"
               "for ask in (table.to_pandas, table.to_arrow):\n"
               "    try:\n"
               "        ask()\n"
               "    except ImportError as problem:\n"
               "        print(problem)\n")
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.splitlines()
    assert told == ["a data frame needs the package pandas, which is not installed: pip install pandas. rows() gives the same without it",
                    "an Arrow table needs the package pyarrow, which is not installed: pip install pyarrow. rows() gives the same without it"]


def test_numbers_keep_their_bits(tables):
    """A NaN is not known; every other number comes through as it is."""
    for row, back in zip(tables["link_load"].rows(), read(tables["link_load"].__arrow_c_stream__())):
        assert math.copysign(1, row["busy_fraction"]) == math.copysign(1, back["busy_fraction"])
        assert row["busy_fraction"].hex() == back["busy_fraction"].hex()
