# SPDX-License-Identifier: Apache-2.0
"""A bar that shows how far a study is: that of tqdm where it is installed, else a line on standard error."""
import importlib.util
import sys
import time
from typing import Optional


class _Line:
    """A line that is written again: "96 of 200 points, 12 s"."""

    def __init__(self, unit: str):
        self.unit = unit
        self.begin_s = time.monotonic()
        self.width = 0

    def show(self, done: int, everything: int) -> None:
        text = f"{done} of {everything} {self.unit}s, {time.monotonic() - self.begin_s:.0f} s"
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def close(self) -> None:
        if self.width > 0:
            sys.stderr.write("\n")


class _Tqdm:
    def __init__(self, unit: str):
        # The bar of a notebook needs ipywidgets.
        kind = "tqdm.auto" if importlib.util.find_spec("ipywidgets") else "tqdm"
        self.bar = importlib.import_module(kind).tqdm(unit=" " + unit)

    def show(self, done: int, everything: int) -> None:
        self.bar.total = everything
        self.bar.update(done - self.bar.n)
        self.bar.refresh()

    def close(self) -> None:
        self.bar.close()


class Bar:
    """Takes what a call of the library tells on its thread, and shows it on the thread that waits."""

    def __init__(self, unit: str):
        self.bar = _Tqdm(unit) if importlib.util.find_spec("tqdm") else _Line(unit)
        self.told: Optional[tuple] = None
        self.shown: Optional[tuple] = None

    def tell(self, done: int, everything: int) -> None:
        """On any thread."""
        self.told = (done, everything)

    def show(self) -> None:
        """On the thread that waits."""
        told = self.told
        if told != self.shown:
            self.bar.show(*told)
            self.shown = told

    def close(self) -> None:
        self.show()
        self.bar.close()
