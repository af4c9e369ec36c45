# SPDX-License-Identifier: Apache-2.0
"""The network alone: the machine and the fabric of a scenario, without its job, driven by a program.

The functions behind it may change with any version.
"""
import ctypes
import weakref
from typing import Any, Callable, Dict, Iterable, Optional

from . import _api
from ._api import byref, call, handle, lib
from .core import Scenario, Table

Done = Callable[[int], Any]
END = 2**63 - 1  # no time is later


class _Calls:
    """Functions of Python that wait for a time of the network."""

    def __init__(self):
        self.waiting: Dict[int, Done] = {}
        self.n_made = 0
        self.problem: Optional[BaseException] = None
        self.entry = _api.Done(self._happen)

    def _happen(self, number, time_ps):
        done = self.waiting.pop(number)
        if self.problem is not None:  # advance () is about to raise it
            return
        try:
            done(time_ps)
        except BaseException as problem:  # noqa: advance () raises it
            self.problem = problem

    def begin(self, name: str, done: Optional[Done], *arguments) -> None:
        """Calls a function of the library whose last arguments are a function and what it is given."""
        if done is None:
            call(name, *arguments, _api.Done(0), None)
            return
        self.n_made += 1
        self.waiting[self.n_made] = done
        try:
            call(name, *arguments, self.entry, self.n_made)
        except _api.FabricastError:
            self.waiting.pop(self.n_made, None)
            raise


class Network:
    """The network of a scenario and a clock in picoseconds, which stands until advance () moves it.

    Functions given as `done` are called with the time, during advance (). They may send and call at (); what they raise, advance ()
    raises.
    """

    def __init__(self, scenario: Scenario):
        self._handle = handle("network_new", scenario._handle)
        self._calls = _Calls()
        weakref.finalize(self, lib.fabricast_network_free, self._handle)

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return lib.fabricast_network_ranks(self._handle)

    @property
    def now_ps(self) -> int:
        """The time of the clock."""
        return lib.fabricast_network_now(self._handle)

    @property
    def next_ps(self) -> Optional[int]:
        """The time of the next event; None when nothing is due."""
        time_ps = lib.fabricast_network_next(self._handle)
        return None if time_ps == END else time_ps

    def send(self, source: int, target: int, size: int, done: Optional[Done] = None) -> None:
        """Sends so many bytes from one rank to another, now."""
        self._calls.begin("network_send", done, self._handle, source, target, size)

    def collective(self, op: str, size: int, ranks: Optional[Iterable[int]] = None, done: Optional[Done] = None) -> None:
        """Begins a collective, now: "all_reduce", "all_gather", ...; of all ranks where none are named."""
        chosen = _api.array(ctypes.c_uint32, ranks) if ranks is not None else None
        n = len(chosen) if chosen is not None else 0
        self._calls.begin("network_collective", done, self._handle, _api.text(op), chosen, n, size)

    def at(self, time_ps: int, function: Done) -> None:
        """Calls a function at a time that is not in the past."""
        self._calls.begin("network_at", function, self._handle, time_ps)

    def advance(self, until_ps: Optional[int] = None) -> int:
        """Moves the clock, to the last event where no time is given. The time it shows then."""
        calls = self._calls
        try:
            call("network_advance", self._handle, END if until_ps is None else until_ps)
        finally:
            problem, calls.problem = calls.problem, None
        if problem is not None:
            raise problem
        return self.now_ps

    def links(self) -> Table:
        """Every link with its ends, rate and latency."""
        return Table(handle("network_table", self._handle, b"link"))

    def __repr__(self) -> str:
        return f"<fabricast.Network of {self.ranks} ranks at {self.now_ps} ps>"
