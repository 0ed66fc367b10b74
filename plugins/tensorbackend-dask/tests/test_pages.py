"""Runs the Python code of the README and of docs/dask.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
PAGES = {"README.md": HERE / "README.md", "dask.md": HERE.parents[1] / "docs" / "dask.md"}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.filterwarnings("ignore")  # distributed leaves sockets to the garbage collector
def test_code_of_a_page_runs(name: str) -> None:
    blocks = re.findall(r"^```(?:python|py)\n(.*?)^```", PAGES[name].read_text(), re.M | re.S)
    assert blocks
    # Here the workers are threads; tests/test_cluster.py covers worker processes.
    code = "\n".join(blocks).replace("threads_per_worker=1,", "threads_per_worker=1, processes=False,")
    exec(compile(code.replace("LocalCluster(n_workers=2", "LocalCluster(n_workers=1"), name, "exec"),
         {"__name__": "__main__"})  # fmt: skip
