"""The search of the site, asked by names of NumPy, PyTorch, JAX and xarray: the theme's own script ranks the pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from searches import SEARCHES

WORKER = """async ([script, index]) => {
  const worker = new Worker(script);
  const answers = [];
  worker.onmessage = ({ data }) => answers.shift()?.(data);
  const ask = message => new Promise(answer => { answers.push(answer); worker.postMessage(message); });
  await ask({ type: 0, data: { config: index.config, docs: index.docs, options: { suggest: false } } });
  window.found = async words => {
    const { data } = await ask({ type: 2, data: words });
    return data.items.map(page => page.map(({ location }) => location));
  };
}"""
"""Starts the worker that the pages of the site start, and asks it for the sections of the pages that it finds."""


NAMES = {
    "allclose": "all_close",
    "np.allclose": "all_close",
    "arctan2": "atan2",
    "argwhere": "argwhere",
    "average": "weighted_mean",
    "bincount": "bincount",
    "bmm": "matmul",
    "np.cumsum": "cumulative_sum",
    "cumsum": "cumulative_sum",
    "cumprod": "cumulative_prod",
    "np.diag": "make_diagonal",
    "np.einsum": "einsum",
    "expand_dims": "expand_dims",
    "np.linalg.norm": "norm",
    "lstsq": "lstsq",
    "meshgrid": "meshgrid",
    "nan_to_num": "where",
    "np.pad": "pad",
    "percentile": "percentile",
    "searchsorted": "searchsorted",
    "swapaxes": "permute_dims",
    "tensordot": "tensordot",
    "np.tile": "tile",
    "vstack": "concatenate",
    "vectorize": "vmap",
    "torch.cat": "concatenate",
    "clamp": "clip",
    "torch.gather": "take_along_axis",
    "gather": "gather",
    "index_add": "indexed_add",
    "index_select": "take",
    "masked_fill": "where",
    "scatter_add": "add_along_axis",
    "topk": "top_k",
    "unsqueeze": "expand_dims",
    "permute": "permute_dims",
    "conv2d": "conv",
    "max_pool2d": "window_argmax",
    "LayerNorm": "layer_norm",
    "dropout": "dropout",
    "cross_entropy": "cross_entropy",
    "scaled_dot_product_attention": "attention",
    "one_hot": "one_hot",
    "interpolate": "resize",
    "Adam": "adam",
    "clip_grad_norm_": "clip_by_global_norm",
    "multinomial": "categorical",
    "manual_seed": "key",
    "torch.compile": "jit",
    "jax.grad": "grad",
    "value_and_grad": "value_and_grad",
    "make_jaxpr": "trace",
    "fori_loop": "fori_loop",
    "stop_gradient": "stop_gradient",
    "segment_sum": "segment_sum",
    "dynamic_slice": "slice_",
    "pure_callback": "host_call",
    "pack_padded_sequence": "with_lengths",
    "apply_ufunc": "vmap",
    "isel": "isel",
    "rolling": "window_mean",
    "coarsen": "window_mean",
    "groupby": "segment_sum",
    "xr.dot": "dot",
}
"""Names of other libraries' functions, and the function here whose entry, or whose row in a page "coming from", must be
among the first three pages."""

WORDS = {
    "install": "installation.html",
    "pip install": "installation.html",
    "gpu": "installation.html",
    "named axes": "named-axes.html",
    "cumsum": "coming-from-numpy.html",
    "glossary": "glossary.html",
    "payload": "glossary.html",
    "nan": "debugging.html",
    "aliasing": "sharp-bits.html",
    "float32 by default": "sharp-bits.html",
    "peak memory": "dry-run.html",
    "deployment": "deployment.html",
}
"""Other words, and a page that must be among the first three."""


@pytest.fixture(scope="module")
def found(chromium: Any, server: str, site: Path) -> Iterator[Any]:
    """A function from words to the pages that the search finds, each as the addresses of its sections."""
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    (script,) = (site / "assets" / "javascripts" / "workers").glob("search.*.js")
    page: Any = None

    def ask(words: str) -> Any:
        nonlocal page
        if page is None or page.is_closed():  # as the time of another test was up
            page = chromium.new_context().new_page()
            page.goto(f"{server}/index.html")
            page.evaluate(WORKER, [f"{server}/{script.relative_to(site).as_posix()}", index])
        return page.evaluate("words => window.found(words)", words)

    yield ask
    if page is not None:
        page.context.close()


def lists(site: Path, page: str, name: str, ours: str) -> bool:
    """Return whether a page has a row with the other library's name and ours."""
    rows = re.findall(r"<tr>.*?</tr>", (site / page).read_text(encoding="utf-8"), re.DOTALL)
    texts = [re.sub(r"<[^>]+>", "", row) for row in rows]
    return any(name.rpartition(".")[2] in text and re.search(rf"\btb\.(\w+\.)?{ours}\b", text) for text in texts)


@pytest.mark.parametrize(("name", "ours"), NAMES.items())
def test_a_name_of_another_library_finds_ours(found: Any, site: Path, name: str, ours: str) -> None:
    pages = found(name)[:3]
    entries = [
        address
        for page in pages
        for address in page
        if re.search(rf"(#tensorbackend\.([\w.]+\.)?|/){ours}(\.html)?$", address)
    ]
    tables = {page[0].partition("#")[0] for page in pages}
    tables = {page for page in tables if page.startswith("coming-from") and lists(site, page, name, ours)}
    assert entries or tables, f"{name} finds {[page[0] for page in pages]}"


@pytest.mark.parametrize(("words", "leads"), WORDS.items())
def test_words_find_their_page(found: Any, words: str, leads: str) -> None:
    pages = [page[0].partition("#")[0] for page in found(words)[:3]]
    assert leads in pages


@pytest.mark.parametrize(("words", "leads"), SEARCHES.items())
def test_what_people_type_leads_to_a_page(found: Any, words: str, leads: str) -> None:
    pages = [page[0].partition("#")[0].removesuffix(".html") for page in found(words)[:3]]
    # A page of the reference, or that of one of its functions.
    assert any(page == lead or page.startswith(f"{lead}/") for page in pages for lead in leads.split()), pages


def test_what_nobody_wrote_is_not_found(found: Any) -> None:
    assert found("zzyzx") == []
