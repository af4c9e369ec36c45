# SPDX-License-Identifier: Apache-2.0
"""The notebook of the tutorials is executed, and shows what its text says."""
import os
import re

import pytest

nbformat = pytest.importorskip("nbformat")
nbconvert = pytest.importorskip("nbconvert.preprocessors")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

FOLDER = os.path.join(os.environ["FAB_SOURCE_DIR"], "docs/tutorials")


def test_notebook(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(os.path.join(FOLDER, "exposure.ipynb"), as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in notebook.cells), "commit it without outputs"
    nbconvert.ExecutePreprocessor(timeout=120, startup_timeout=300, kernel_name="python3").preprocess(notebook, {"metadata": {"path": FOLDER}})
    cells = {cell["id"]: cell for cell in notebook.cells}
    for picture in ("plot", "map", "interval"):
        assert any("image/png" in output.get("data", {}) for output in cells[picture].outputs), picture
    assert "binding_link" in cells["load"].outputs[0]["data"]["text/html"]
    answers = re.findall(r"\d+Gb/s\s+(\d)\s+(\d)", cells["size"].outputs[0]["data"]["text/plain"])
    assert [is_met for is_met, is_answer in answers if is_answer == "1"] == ["1"]
    told = "".join(output.get("text", "") for output in cells["grid"].outputs)
    assert "200 points; the best bucket" in told and "200" in told.split("points;")[0]
    said = "".join(output.get("text", "") for output in cells["interval"].outputs)
    mean, low, high = map(float, re.search(r"mean ([\d.]+) ms, .* ([\d.]+) to ([\d.]+) ms", said).groups())
    assert low < mean < high
