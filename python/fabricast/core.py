# SPDX-License-Identifier: Apache-2.0
"""Contexts, scenarios, results and tables."""
import ctypes
import html
import math
import os
import re
import threading
import weakref
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Union

from . import _api, frames, progress as bars
from ._api import byref, call, handle, lib, make

Number = Union[int, float]
Setting = Union[None, bool, int, float, str, Tuple[Number, str]]
Progress = Union[None, bool, Callable[[int, int], Any]]  # True: a bar; else a function of what is done and of all


def _texts(texts: Optional[Union[str, Iterable[str]]]):
    if texts is None:
        return None
    return _api.array(ctypes.c_char_p, [*map(_api.text, [texts] if isinstance(texts, str) else texts), None])


def _shown(cell) -> str:
    """A cell of an HTML table; numbers that are not whole have six digits."""
    return html.escape("" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else str(cell))


class _Work:
    """Runs a call of the library on another thread, so that Ctrl-C cancels it and exceptions of `progress` come out."""

    def __init__(self, progress: Progress, unit: str = "step"):
        self.cancel = ctypes.c_int(0)
        self.problem: Optional[BaseException] = None
        self._bar = bars.Bar(unit) if progress is True else None
        self._told = self._bar.tell if self._bar else progress
        self.progress = _api.Progress(self._tell if self._told else 0)

    def _tell(self, _user, done, everything):
        try:
            self._told(done, everything)
        except BaseException as problem:  # noqa: it goes on in run ()
            self.problem = problem
            return 1
        return 0

    def run(self, function: Callable[[], Any]) -> Any:
        """What the function returns; raises what it, or `progress`, raised."""
        results: List[Any] = []
        # Thread.join () is not enough: CPython takes an interrupted join for the end of the thread (bpo-45274).
        ended = threading.Event()

        def work():
            try:
                results.append(function())
            except BaseException as problem:  # noqa: it is raised on the thread that waits
                self.problem = self.problem or problem
            finally:
                ended.set()

        threading.Thread(target=work, daemon=True).start()
        try:
            while not ended.wait(0.1):
                if self._bar:
                    self._bar.show()
        except BaseException:
            self.cancel.value = 1
            ended.wait()
            raise
        finally:
            if self._bar:
                self._bar.close()
        if self.problem is not None:
            raise self.problem
        return results[0]


class Table:
    """Named columns of one length."""

    def __init__(self, made):
        self._handle = _api.owned(made, "Result.table, a study or describe (...)")
        weakref.finalize(self, lib.fabricast_table_free, made)
        self._columns: Dict[str, Any] = {}
        column = make(_api.Column)
        n = len(self)
        while lib.fabricast_table_column(made, len(self._columns), byref(column)):
            self._columns[column.name.decode()] = self._read(column, n)

    def _read(self, column, n):
        if column.kind == _api.TEXT:
            return [column.text[i].decode("utf-8", "replace") if column.text[i] is not None else None for i in range(n)]
        if n == 0:
            return memoryview(b"").cast("q" if column.kind == _api.WHOLE else "d")
        kind, pointer = (ctypes.c_int64, column.whole) if column.kind == _api.WHOLE else (ctypes.c_double, column.real)
        array = (kind * n).from_address(ctypes.addressof(pointer.contents))
        array.owner = self  # the memory lives as long as the table
        return memoryview(array).cast("B").cast("q" if column.kind == _api.WHOLE else "d").toreadonly()

    def __len__(self) -> int:
        return lib.fabricast_table_rows(self._handle)

    @property
    def columns(self) -> List[str]:
        """The names of the columns."""
        return list(self._columns)

    def __getitem__(self, name: str):
        """A column: a list of texts, or a memoryview of numbers that numpy.asarray () takes without a copy."""
        if name not in self._columns:
            raise KeyError(f"there is no column {name!r}; there are {', '.join(self._columns)}")
        return self._columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def rows(self) -> List[Dict[str, Any]]:
        """The rows as dicts; what is not known is None."""
        def plain(cell):
            return None if cell == _api.UNKNOWN or (isinstance(cell, float) and math.isnan(cell)) else cell

        return [{name: plain(self._columns[name][i]) for name in self._columns} for i in range(len(self))]

    def to_pandas(self):
        """A pandas.DataFrame. Whole numbers of which some are not known have the type Int64, and are NA there."""
        pandas = frames.module("pandas", "a data frame")
        return frames.data_frame(pandas, {name: self[name] for name in self.columns})

    def to_arrow(self):
        """A pyarrow.Table. Other readers of Arrow, such as Polars and DuckDB, take the table itself."""
        pyarrow = frames.module("pyarrow", "an Arrow table")
        return pyarrow.RecordBatchReader.from_stream(self).read_all()

    def __arrow_c_stream__(self, requested_schema=None):
        """The table for any reader of Arrow (the Arrow PyCapsule interface)."""
        return frames.arrow_capsule(self._handle)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        rows = ["".join(f"<td>{_shown(cell)}</td>" for cell in row.values())
                for row in self.rows()[:50]]
        return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"

    def __repr__(self) -> str:
        return f"<fabricast.Table of {len(self)} rows: {', '.join(self.columns)}>"


class Context:
    """A catalogue. `catalogue` is a directory; None: the one inside the library."""

    def __init__(self, catalogue: Optional[str] = None, threads: int = 0):
        options = make(_api.ContextOptions, catalogue=os.fsencode(catalogue) if catalogue else None, n_threads=threads)
        self._handle = handle("context_new", byref(options))
        weakref.finalize(self, lib.fabricast_context_free, self._handle)

    def load(self, path: Union[str, os.PathLike]) -> "Scenario":
        """The scenario of a YAML file."""
        return Scenario(handle("scenario_load", self._handle, os.fsencode(path)))

    def parse(self, text: str, name: str = "scenario") -> "Scenario":
        """The scenario of YAML text, which messages call `name`."""
        encoded = _api.text(text)
        return Scenario(handle("scenario_parse", self._handle, _api.text(name), ctypes.c_char_p(encoded), len(encoded)))

    def new(self, **keys: Setting) -> "Scenario":
        """A scenario without keys but these; a double underscore stands for a dot: new(cluster__node="dgx-h100")."""
        made = Scenario(handle("scenario_new", self._handle))
        for key, value in keys.items():
            made[key.replace("__", ".")] = value
        return made

    def describe(self, section: Optional[str] = None, name: Optional[str] = None) -> Table:
        """What scenarios can be made of."""
        return Table(handle("describe", self._handle, _api.text(section) if section else None, _api.text(name) if name else None))

    @property
    def schema(self) -> str:
        """The JSON Schema of scenarios."""
        return lib.fabricast_schema(self._handle).decode()


class Result:
    """A scenario that was simulated: result["step_s"] is a figure, result.table("collective") a table."""

    def __init__(self, made):
        self._handle = _api.owned(made, "Scenario.run ()")
        weakref.finalize(self, lib.fabricast_result_free, made)

    def __getitem__(self, figure: str):
        value = make(_api.Value)
        call("result_figure", self._handle, _api.text(figure), byref(value))
        return _api.value_of(value)

    def table(self, name: str) -> Table:
        """A table: "iteration", "collective", "exposure", "critical_path", "link", "memory", "finding", ..."""
        return Table(handle("result_table", self._handle, _api.text(name)))

    def explain(self, figure: str) -> Table:
        """Why a figure, or a collective by its name, is what it is."""
        return Table(handle("result_explain", self._handle, _api.text(figure)))

    @property
    def warnings(self) -> List[Dict[str, Any]]:
        """What must be known before a figure is quoted."""
        return self.table("finding").rows()

    def to_dict(self) -> Dict[str, Any]:
        """The main figures."""
        of_table = [re.sub("_ps$", "_s", name) for table in ("iteration", "pace") for name in self.table(table).columns
                    if name not in ("iteration", "start_ps", "binding_link")]
        names = ("name", "fidelity", "n_ranks", "n_nodes", "n_iterations", *of_table, "step_low_s", "step_high_s", "binding_link",
                 "binding_link_spec", "limited_by", "verdict")
        return {name: self[name] for name in names}

    def plot(self, axes=None):
        """A bar of what the step consists of, by Matplotlib; returns its axes."""
        import matplotlib.pyplot  # only here

        axes = axes if axes is not None else matplotlib.pyplot.subplots(figsize=(8, 1.6))[1]
        left = 0.0
        for name in ("compute", "exposed", "idle"):
            length = self[name + "_s"]
            axes.barh([0], [length], left=left, label=name)
            left += length
        axes.set_yticks([])
        axes.set_xlabel("seconds of a step")
        axes.legend(ncol=3)
        return axes

    def _repr_html_(self) -> str:
        step = self["step_s"] or 1.0
        colours = {"compute": "#3b6ea5", "exposed": "#c8553d", "idle": "#b5b5b5"}
        bar = "".join(f'<span title="{part}" style="display:inline-block;height:1em;background:{colour};'
                      f'width:{100 * self[part + "_s"] / step:.2f}%"></span>' for part, colour in colours.items())
        rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{_shown(value)}</td></tr>"
                       for name, value in self.to_dict().items() if value is not None)
        notes = "".join(f"<li>{html.escape(finding['text'])}</li>" for finding in self.warnings)
        return f"<div>{bar}</div><table>{rows}</table><ul>{notes}</ul>"

    def __repr__(self) -> str:
        return f"<fabricast.Result {self['name']}: step {self['step_s']:.6g} s, exposed {self['exposed_s']:.6g} s>"


class Scenario:
    """What is to be simulated. scenario["cluster.nodes"] gets and sets keys."""

    def __init__(self, made):
        self._handle = _api.owned(made, "load (PATH), parse (TEXT) or new (...)")
        weakref.finalize(self, lib.fabricast_scenario_free, made)

    def __getitem__(self, key: str):
        value = make(_api.Value)
        call("scenario_get", self._handle, _api.text(key), byref(value))
        return _api.value_of(value)

    def __setitem__(self, key: str, setting: Setting) -> None:
        unit = None
        if isinstance(setting, tuple):
            if len(setting) != 2:
                raise TypeError(f"a number and its unit belong here, not {setting!r}")
            setting, unit = setting[0], _api.text(setting[1])
        if isinstance(setting, bytes):
            raise TypeError(f"a text belongs here, not {setting!r}")
        members = {}
        if isinstance(setting, bool):
            members = {"kind": _api.BOOL, "whole": int(setting)}
        elif isinstance(setting, int):
            members = {"kind": _api.WHOLE, "whole": setting}
        elif isinstance(setting, float):
            members = {"kind": _api.REAL, "real": setting}
        elif setting is not None:
            members = {"kind": _api.TEXT, "text": str(setting).encode()}
        call("scenario_set", self._handle, _api.text(key), byref(make(_api.Value, unit=unit, **members)))

    def __delitem__(self, key: str) -> None:
        self[key] = None

    def set(self, *assignments: str) -> "Scenario":
        """Sets keys as --set does, "job.bucket=25MiB", and returns the scenario."""
        for assignment in assignments:
            call("scenario_assign", self._handle, _api.text(assignment))
        return self

    def copy(self) -> "Scenario":
        """A copy that can be changed alone."""
        return Scenario(handle("scenario_copy", self._handle))

    def check(self) -> None:
        """Raises InputError with every mistake."""
        call("scenario_check", self._handle)

    @property
    def yaml(self) -> str:
        """The scenario with every default filled in."""
        self.check()
        return lib.fabricast_scenario_text(self._handle).decode()

    def run(self, band: bool = False, jobs: bool = False, save_to: Optional[str] = None,
            progress: Progress = None) -> Result:
        """Simulates it. Ctrl-C and an exception of `progress (done, all)` stop it; progress=True shows a bar."""
        work = _Work(progress)
        options = make(_api.RunOptions, progress=work.progress, cancel=ctypes.pointer(work.cancel),
                       save_to=os.fsencode(save_to) if save_to else None, has_band=int(band), has_jobs=int(jobs))
        return Result(work.run(lambda: handle("run", self._handle, byref(options))))

    def collective(self, op: str, sizes: Iterable[int], form: Optional[str] = None, band: bool = False) -> Table:
        """What one collective takes on this machine, size by size (in bytes)."""
        all_sizes = _api.array(ctypes.c_uint64, sizes)
        options = make(_api.PredictOptions, op=_api.text(op), sizes_bytes=all_sizes, n_sizes=len(all_sizes),
                       form=_api.text(form) if form else None, has_band=int(band))
        return Table(_Work(None).run(lambda: handle("predict", self._handle, byref(options))))

    def _study(self, name, vary, zipped, targets, progress, allow_oversized, hold) -> Table:
        work = _Work(progress, "point")
        options = make(_api.StudyOptions, vary=_texts(vary), zip=_texts(zipped), targets=_texts(targets), progress=work.progress,
                       cancel=ctypes.pointer(work.cancel), allows_oversized=int(allow_oversized), hold=_api.text(hold) if hold else None)
        return Table(work.run(lambda: handle(name, self._handle, byref(options))))

    def sweep(self, vary: Union[str, Iterable[str], None] = None, zip: Union[str, Iterable[str], None] = None,  # noqa: A002
              progress: Progress = None, hold: Optional[str] = None) -> Table:
        """Simulates every combination of values: sweep(vary=["cluster.nodes=2..16:x2"]). progress=True shows a bar.

        Where the number of ranks changes, hold="batch" keeps the global batch and hold="micro_batch" that of each GPU.
        """
        return self._study("sweep", vary, zip, None, progress, False, hold)

    def size(self, vary: str, target: Union[str, Iterable[str]], progress: Progress = None,
             allow_oversized: bool = False, hold: Optional[str] = None) -> Table:
        """Finds the first value that meets the targets: size("cluster.nic_rate=100..800Gb/s:100", "exposed<=5%").

        `hold` is as in sweep(); targets of the whole training ("days<=30") hold the global batch by themselves.
        """
        return self._study("size", vary, None, target, progress, allow_oversized, hold)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.yaml)}</pre>"


_default: List[Context] = []
_lock = threading.Lock()


def _context() -> Context:
    with _lock:
        if not _default:
            _default.append(Context())
    return _default[0]


def load(path: Union[str, os.PathLike]) -> Scenario:
    """The scenario of a YAML file, over the catalogue inside the library."""
    return _context().load(path)


def parse(text: str, name: str = "scenario") -> Scenario:
    """The scenario of YAML text."""
    return _context().parse(text, name)


def new(**keys: Setting) -> Scenario:
    """A scenario of these keys; a double underscore stands for a dot."""
    return _context().new(**keys)


def describe(section: Optional[str] = None, name: Optional[str] = None) -> Table:
    """What scenarios can be made of."""
    return _context().describe(section, name)
