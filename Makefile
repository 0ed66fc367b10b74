# Every target sets up what it needs in .venv on a machine with only Python >= 3.11 and make.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# The same environment with the package alone, where the tools are not installed yet.
PACKAGE_READY := .venv/.package

# The oldest versions that pyproject.toml allows, in a virtual environment of their own.
OLDEST_BIN := .venv-oldest/bin
OLDEST_READY := .venv-oldest/.ready

# Each distribution in plugins/ has a short name: of its targets, and of its virtual environment.
FOLDER_plugin := plugins/tensorbackend-torch
FOLDER_dask := plugins/tensorbackend-dask
FOLDER_mlx := plugins/tensorbackend-mlx
FOLDER_onnx := plugins/tensorbackend-onnx
FOLDER_native := plugins/tensorbackend-native
FOLDER_adapter := plugins/tensorbackend-phiml
FOLDER_frontend := plugins/tensorbackend-returnn
CHECKED := plugin dask mlx onnx native
DISTRIBUTIONS := $(CHECKED) adapter frontend
# PyTorch's build for the CPU is enough: where the package index has that for GPUs first, set PIP_EXTRA_INDEX_URL to
# PyTorch's own index.
TORCH ?= torch==2.13.0
# Published models come in the wheels of two packages that are not run, so what Python they are for does not matter.
PUBLISHED := silero-vad==6.2.3 rapidocr-onnxruntime==1.4.4
PHIML ?=
PHIFLOW ?=
RETURNN ?=

# Other people's libraries on tensors, in a virtual environment of their own.
CLIENTS_BIN := .venv-clients/bin
CLIENTS_READY := .venv-clients/.ready

# Other people's libraries that compute by ours, by the adapters in clients/adapters/, likewise.
LIBRARIES_BIN := .venv-libraries/bin
LIBRARIES_READY := .venv-libraries/.ready

# Other people's libraries that import the namespace in place of NumPy, likewise.
NUMPY_LIBRARIES_BIN := .venv-numpy-libraries/bin
NUMPY_LIBRARIES_READY := .venv-numpy-libraries/.ready

# The site, likewise: what builds it is not needed for anything else.
DOCS_BIN := .venv-docs/bin
DOCS_READY := .venv-docs/.ready
BROWSER_READY := .venv-docs/.browser

# What the programs of the gallery are compared with, likewise.
GALLERY_BIN := .venv-gallery/bin
GALLERY_READY := .venv-gallery/.ready

# What others take for the same programs, likewise; their latest releases.
BENCH_BIN := .venv-bench/bin
BENCH_READY := .venv-bench/.ready

# What builds the distributions of a release.
RELEASE_BIN := .venv-release/bin
RELEASE_READY := .venv-release/.ready

# What proves the backends of a GPU. Without one, CuPy and NVIDIA's compiler are enough.
GPU_BIN := .venv-gpu/bin
GPU_READY := .venv-gpu/.ready
CUDA ?= 12
COMPILER_12 := nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12
COMPILER_13 := nvidia-cuda-nvrtc nvidia-cuda-runtime

# What makes mutants: they run in copies of the tree, by the Python of .venv.
MUTANTS_BIN := .venv-mutants/bin
MUTANTS_READY := .venv-mutants/.ready
MUTANTS ?= 60
SEED ?= 0

.PHONY: $(DISTRIBUTIONS) $(DISTRIBUTIONS:%=%-installed) $(DISTRIBUTIONS:%=%-types)
.PHONY: help setup demo test oracles mutants oldest pythons stress bench bench-history peers gpu gpu-full docs snapshot gallery browser release check fmt lint types wheel phiml phiflow returnn clients libraries numpy-libraries autograd npbench clean

help: ## Lists the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(READY) ## Makes .venv and installs the package with its tools

# The script of pip is written last, so a virtual environment that could not be completed is made again.
$(READY) $(PACKAGE_READY): | .venv/bin/pip
.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv

$(PACKAGE_READY): pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

$(READY): pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	$(BIN)/python -m compileall -q tensorbackend
	@touch $@
	@$(BIN)/python -c 'import jax' 2> /dev/null || echo 'Without JAX: no release for this Python computes right sums; what needs it is left out'
	@echo 'The package and the command tensorbackend are in .venv: source .venv/bin/activate puts them on your path'

demo: $(if $(wildcard $(READY)),$(READY),$(PACKAGE_READY)) ## Trains a digit classifier on the package alone, and checks it on the reference backend
	$(BIN)/python examples/digits.py

# What is compared to the last bit runs as XLA compiles by itself. What is compared with a tolerance is compiled without
# LLVM's optimizations and, in versions of XLA that have them, by its older emitters, in less than half the time. Where
# TENSORBACKEND_EXAMPLES asks for many draws, XLA's defaults hold: without optimizations a program may compute |z| in two
# ways, and where no |z| then equals the maximum, XLA's gradient of the maximum is 0.
EXACT := tests/ops/elementwise tests/backends/jax_backend/test_elementwise.py \
	tests/backends/jax_backend/test_composites.py tests/backends/jax_backend/test_backend_memory.py
OLDER := --xla_cpu_use_fusion_emitters=false
QUICK = $(if $(TENSORBACKEND_EXAMPLES),,--xla_backend_optimization_level=0 $(shell \
	XLA_FLAGS=$(OLDER) $(BIN)/python -c 'import jax; jax.devices()' > /dev/null 2>&1 && echo $(OLDER)))
# What judges by somebody else's measure, and what draws for long, is in this folder: `make oracles`.
LAWS := property_tests/laws
# XLA takes a tenth of a second to compile an op. So each op meets NumPy in `make test`, and JAX in `make oracles`.
AGREES := property_tests/test_ops.py::test_agrees_with_the_reference
# A mesh of eight devices has a process of its own, which takes half a minute.
MESH := tests/backends/jax_backend/test_mesh.py
# Each process gets one half of the tests, in their order, so that few programs are compiled in both. What XLA compiles is
# kept for a week, so that the next run compiles only what has changed.
COMPILED := $(CURDIR)/.venv/compiled
KEPT := JAX_COMPILATION_CACHE_DIR='$(COMPILED)' JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 \
	JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=-1
PYTEST := TENSORBACKEND_CHECK=1 $(KEPT) $(BIN)/python -m pytest -n 2 --dist worksteal

test: $(READY) ## Runs the tests, every payload checked against its template
	@find $(COMPILED) -type f -mtime +7 -delete 2> /dev/null || true
	$(PYTEST) $(EXACT)
	XLA_FLAGS='$(QUICK)' $(PYTEST) $(EXACT:%=--ignore=%) --ignore=$(LAWS) --ignore=$(MESH) \
		--deselect='$(AGREES)[jax'

oracles: $(READY) ## Judges every public function by NumPy, SciPy, JAX, mpmath or brute force, and runs the laws, and the kit and a mesh on JAX
	XLA_FLAGS='$(QUICK)' $(PYTEST) $(LAWS) $(MESH) property_tests/test_ops.py --deselect='$(AGREES)[numpy'

$(MUTANTS_READY): Makefile
	$(PYTHON) -m venv .venv-mutants
	$(MUTANTS_BIN)/python -m pip install -q --disable-pip-version-check 'cosmic-ray>=8.4,<9'
	@touch $@

mutants: $(READY) $(MUTANTS_READY) ## Plants faults, one at a time, and asks the nearest tests: make mutants MUTANTS=60 SEED=0; not part of check
	XLA_FLAGS='$(QUICK)' nice -n 10 $(MUTANTS_BIN)/python -m benchmarks.mutants --count $(MUTANTS) --seed $(SEED) --python $(BIN)/python

$(OLDEST_READY): pyproject.toml .ci/oldest.py
	$(PYTHON) -m venv .venv-oldest
	$(OLDEST_BIN)/python .ci/oldest.py > .venv-oldest/constraints.txt
	$(OLDEST_BIN)/python -m pip install -q --disable-pip-version-check -c .venv-oldest/constraints.txt \
		-e '.[cli,jax,oracles,scipy,test]'
	@touch $@

oldest: $(OLDEST_READY) ## Runs the tests with the oldest versions of pyproject.toml; not part of check
	$(MAKE) -o $(READY) test oracles BIN=$(OLDEST_BIN)

pythons: ## Runs lint, types, tests and oracles on other Pythons: make pythons PYTHONS="python3.14 python3.15"; CI runs a part
	@test -n '$(PYTHONS)' || { echo 'make pythons: expected PYTHONS="python3.14 ...", commands on your path'; exit 2; }
	$(PYTHON) .ci/pythons.py $(if $(QUICKLY),--quick --seconds 240) $(PYTHONS)

stress: $(READY) ## Repeats programs in threads, forked and spawned processes and under interrupts, for ten minutes
	TENSORBACKEND_CHECK=1 $(BIN)/python benchmarks/stress.py --seconds 600

bench: $(READY) ## Measures the budget, and other libraries beside ours
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/binary.py
	$(BIN)/python benchmarks/transfer.py
	$(BIN)/python benchmarks/jax_backend.py
	$(BIN)/python benchmarks/mesh.py
	$(BIN)/python benchmarks/jit.py
	$(BIN)/python benchmarks/step.py
	$(BIN)/python benchmarks/new_shapes.py
	$(BIN)/python benchmarks/eager_gradients.py
	$(BIN)/python benchmarks/dryrun.py
	$(BIN)/python benchmarks/ctc.py
	$(BIN)/python benchmarks/ragged.py
	$(BIN)/python benchmarks/grids.py
	$(BIN)/python benchmarks/sparse.py
	$(BIN)/python benchmarks/solvers.py
	$(BIN)/python benchmarks/profile.py
	$(BIN)/python benchmarks/assignment.py
	$(BIN)/python benchmarks/numpy_calls.py
	test ! -e .venv-plugin/.ready || .venv-plugin/bin/python $(FOLDER_plugin)/benchmarks/overhead.py
	@$(MAKE) --no-print-directory peers

bench-history: $(READY) ## Compares short programs with the last line of docs/history.jsonl, in a minute: make bench-history [WRITE=1]
	$(BIN)/python benchmarks/history.py $(if $(WRITE),--write)

$(BENCH_READY): pyproject.toml $(FOLDER_plugin)/pyproject.toml benchmarks/peers/requirements.txt
	$(PYTHON) -m venv .venv-bench
	$(BENCH_BIN)/python -m pip install -q --disable-pip-version-check -e '.[jax]' -r benchmarks/peers/requirements.txt '$(TORCH)'
	$(BENCH_BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e './$(FOLDER_plugin)'
	@touch $@

peers: $(READY) $(BENCH_READY) ## Compares other libraries with ours and writes docs/performance.md
	$(BENCH_BIN)/python benchmarks/batched_products.py
	$(BENCH_BIN)/python -m benchmarks.peers docs/performance.jsonl
	$(BIN)/python docs/tables.py

$(GPU_READY): pyproject.toml
	$(PYTHON) -m venv .venv-gpu
	$(GPU_BIN)/python -m pip install -q --disable-pip-version-check -e '.[cli,test]' 'cupy-cuda$(CUDA)x>=14' $(COMPILER_$(CUDA))
	@touch $@

gpu: $(GPU_READY) ## Proves CuPy, JAX and PyTorch on this machine's GPU in ten minutes and writes gpu-report.md: make gpu CUDA=12
	$(GPU_BIN)/python .ci/gpu.py --cuda $(CUDA)

gpu-full: $(GPU_READY) ## Likewise with more examples and without a limit of time
	$(GPU_BIN)/python .ci/gpu.py --cuda $(CUDA) --full

$(DOCS_READY): pyproject.toml
	$(PYTHON) -m venv .venv-docs
	$(DOCS_BIN)/python -m pip install -q --disable-pip-version-check -e '.[docs]'
	@touch $@

docs: $(READY) $(DOCS_READY) ## Writes the generated tables, runs the code of the pages and builds the site in site/
	$(BIN)/python docs/tables.py
	XLA_FLAGS='$(QUICK)' $(BIN)/python -m pytest -n 2 --dist worksteal tests/project/test_docs.py tests/project/test_reference.py \
		--deselect=tests/project/test_docs.py::test_generated_pages_are_current
	$(DOCS_BIN)/python -m doctest docs/reference.py docs/runtime.py docs/snapshot.py docs/gallery.py docs/shown.py
	$(DOCS_BIN)/python docs/gallery.py
	NO_MKDOCS_2_WARNING=1 $(DOCS_BIN)/mkdocs build --strict
	PYTHONPATH=. $(DOCS_BIN)/python docs/shown.py site

snapshot: $(READY) ## Writes the public interface to docs/interface.txt, if CHANGELOG.md names what changed
	$(BIN)/python docs/snapshot.py

$(BROWSER_READY): $(DOCS_READY)
	$(DOCS_BIN)/python -m pip install -q --disable-pip-version-check -e '.[browser]'
	@touch $@

browser: $(BROWSER_READY) ## Looks at the site, reports and charts in Chromium, which the machine has; not part of check
	NO_MKDOCS_2_WARNING=1 $(DOCS_BIN)/mkdocs build --strict
	PYTHONPATH=browser $(DOCS_BIN)/python -m pytest -n 2 --dist worksteal browser

$(GALLERY_READY): pyproject.toml
	$(PYTHON) -m venv .venv-gallery
	$(GALLERY_BIN)/python -m pip install -q --disable-pip-version-check -e '.[chart,jax,scipy,test,xarray]' '$(TORCH)'
	@touch $@

gallery: $(GALLERY_READY) ## Runs the programs of the gallery on NumPy and JAX, beside other libraries, and says how long each takes; not part of check
	XLA_FLAGS='$(QUICK)' $(GALLERY_BIN)/python -m pytest -n 2 --dist worksteal --durations=0 --durations-min=0.1 examples/test_gallery

$(RELEASE_READY): pyproject.toml
	$(PYTHON) -m venv .venv-release
	$(RELEASE_BIN)/python -m pip install -q --disable-pip-version-check 'build>=1.2,<2' 'setuptools>=80,<90' 'twine>=6,<8'
	@touch $@

release: $(RELEASE_READY) ## Builds the core and each plugin from the last commit into dist/, twice and equal to the byte, and tries them
	$(RELEASE_BIN)/python .ci/release.py '$(TORCH)'

fmt: $(READY) ## Formats the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(READY) ## Checks format and lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY) ## Checks the types
	$(BIN)/mypy

# The environment of a plugin has what the plugin needs. The tools, and pip, come from .venv: they are not installed twice.
define environment
$(PYTHON) -m venv --without-pip $(@D)
@for base in $(1); do $$base/bin/python -c 'import site; print(*site.getsitepackages(), sep="\n")'; done \
	> "$$($(@D)/bin/python -c 'import site; print(site.getsitepackages()[0])')/tools.pth"
endef
PIP = $(@D)/bin/python -m pip install -q --disable-pip-version-check

.venv-plugin/.ready: $(FOLDER_plugin)/pyproject.toml $(READY)
	$(call environment,.venv)
	$(PIP) '$(TORCH)'
	@touch $@

.venv-dask/.ready: $(FOLDER_dask)/pyproject.toml $(READY)
	$(call environment,.venv)
	$(PIP) 'dask[array,distributed]>=2026.8'
	@touch $@

# MLX makes the kernels of compiled graphs by g++.
.venv-mlx/.ready: $(FOLDER_mlx)/pyproject.toml $(READY)
	$(call environment,.venv)
	$(PIP) 'mlx$(if $(filter Linux,$(shell uname)),[cpu])>=0.32'
	@touch $@

# ONNX models run on the PyTorch backend, too.
.venv-onnx/.ready: $(FOLDER_onnx)/pyproject.toml .venv-plugin/.ready
	$(call environment,.venv-plugin .venv)
	$(PIP) 'onnx>=1.23' 'onnxruntime>=1.20' 'onnxscript>=0.7'
	$(PIP) --no-deps --ignore-requires-python $(PUBLISHED)
	@touch $@

# A C compiler is needed.
.venv-native/.ready: $(FOLDER_native)/pyproject.toml $(READY)
	$(call environment,.venv)
	@touch $@

.venv-adapter/.ready: $(FOLDER_adapter)/pyproject.toml $(READY)
	$(call environment,.venv)
	$(PIP) phiml
	@touch $@

.venv-frontend/.ready: $(FOLDER_frontend)/pyproject.toml $(READY)
	$(call environment,.venv)
	$(PIP) returnn dm-tree h5py '$(TORCH)'
	@touch $@

wheel: $(READY)
	rm -rf build .venv/wheel
	$(BIN)/python -m pip wheel -q --disable-pip-version-check --no-deps -w .venv/wheel .

# Installs the core and a plugin as a user would: the wheel of the one, the sources of the other.
$(DISTRIBUTIONS:%=%-installed): %-installed: .venv-%/.ready wheel
	rm -rf $(FOLDER_$*)/build
	.venv-$*/bin/python -m pip install -q --disable-pip-version-check --no-deps --force-reinstall .venv/wheel/*.whl './$(FOLDER_$*)'

onnx-installed: plugin-installed

$(DISTRIBUTIONS:%=%-types): %-types: %-installed
	cd $(FOLDER_$*) && $(CURDIR)/.venv-$*/bin/python -P -m mypy

# -P: what is installed is tested, not the folder.
$(DISTRIBUTIONS): %: %-types
	cd $(FOLDER_$*) && XLA_FLAGS='$(QUICK)' $(CURDIR)/.venv-$*/bin/python -P -m pytest -n 2

plugin: ## Installs the PyTorch plugin as a user would, and checks its types and its tests
dask: ## Likewise for Dask
mlx: ## Likewise for MLX
onnx: ## Likewise for ONNX models on our backends, beside onnxruntime
native: ## Likewise for the C loops for NumPy
adapter: ## Likewise for PhiML on our backends; not part of check
frontend: ## Likewise for RETURNN's frontend on our backends, beside PyTorch; not part of check

phiml: adapter-installed ## Runs PhiML's own tests on ours and without: make phiml PHIML=<checkout>; not part of check
	@test -n "$(PHIML)" || { echo 'say where a checkout of PhiML is: make phiml PHIML=<checkout>'; exit 1; }
	.venv-adapter/bin/python -m pip install -q --disable-pip-version-check '$(TORCH)'
	.venv-adapter/bin/python -m pip install -q --disable-pip-version-check --no-deps './$(FOLDER_plugin)'
	.venv-adapter/bin/python $(FOLDER_adapter)/conformance/run.py $(abspath $(PHIML))

phiflow: adapter-installed ## Runs PhiFlow's notebooks on PhiML's backends and ours: make phiflow PHIFLOW=<checkout> [PHIML=<checkout>]; not part of check
	@test -d '$(PHIFLOW)/examples' || { echo 'make phiflow: expected PHIFLOW=<a checkout of PhiFlow>'; exit 2; }
	.venv-adapter/bin/python -m pip install -q --disable-pip-version-check matplotlib meshio packaging '$(TORCH)'
	PYTHONPATH='$(if $(PHIML),$(abspath $(PHIML)))' .venv-adapter/bin/python $(FOLDER_adapter)/phiflow/run.py '$(PHIFLOW)' \
		--page $(FOLDER_adapter)/README.md

returnn: frontend-installed ## Runs RETURNN's own tests on ours and without: make returnn RETURNN=<checkout>; not part of check
	@test -n "$(RETURNN)" || { echo 'say where a checkout of RETURNN is: make returnn RETURNN=<checkout>'; exit 1; }
	.venv-frontend/bin/python $(FOLDER_frontend)/conformance/run.py $(abspath $(RETURNN))

$(CLIENTS_READY): pyproject.toml clients/requirements.txt
	$(PYTHON) -m venv .venv-clients
	$(CLIENTS_BIN)/python -m pip install -q --disable-pip-version-check -e '.[jax,test,xarray]' -r clients/requirements.txt '$(TORCH)'
	@touch $@

clients: $(CLIENTS_READY) ## Runs other libraries on tensors and writes the table of them; not part of check
	PYTHONPATH=clients $(CLIENTS_BIN)/python -m pytest -p uses clients --ignore clients/hips_autograd --ignore clients/adapters -W default \
		--table docs/interoperability.md
	XLA_FLAGS='$(QUICK)' $(CLIENTS_BIN)/python -m pytest tests/test_xarray.py tensorbackend/xarray.py 'tests/project/test_docs.py::test_the_blocks_of_a_page_run_in_order[xarray.md]'

$(LIBRARIES_READY): pyproject.toml Makefile
	$(PYTHON) -m venv .venv-libraries
	$(LIBRARIES_BIN)/python -m pip install -q --disable-pip-version-check -e '.[jax]' tensorly POT autoray pytest
	@touch $@

ON ?= numpy
POT ?=
AUTORAY ?=
PYHF ?=
# Its other tests need files that they download, or run its command line and notebooks. Each file has a process of its
# own, as some import pyhf anew, without the adapter.
PYHF_TESTS = $(filter-out %/test_cli.py %/test_examples.py %/test_notebooks.py %/test_paramviewer.py %/test_regression.py \
	%/test_scripts.py,$(wildcard $(PYHF)/tests/test_*.py))
THEIRS = XLA_FLAGS='$(QUICK)' PYTHONPATH=clients/adapters POT_BACKEND_DISABLE_JAX=1 POT_BACKEND_DISABLE_PYTORCH=1 $(LIBRARIES_BIN)/python \
	-m pytest -q -p no:cacheprovider -W ignore -p on_tensorbackend --on $(ON)
libraries: $(LIBRARIES_READY) ## Runs the tests of TensorLy, POT, autoray and pyhf on ours: make libraries POT=<checkout> AUTORAY=<checkout> PYHF=<checkout>
	printf '[pytest]\n' > .venv-libraries/pytest.ini
	$(THEIRS) --library tensorly -c .venv-libraries/pytest.ini --pyargs tensorly
	test -z '$(POT)' || $(THEIRS) --library pot -k tensorbackend '$(POT)/test'
	test -z '$(AUTORAY)' || $(THEIRS) --library autoray -k tensorbackend '$(AUTORAY)/tests'
	test -z '$(PYHF)' || $(LIBRARIES_BIN)/python -m pip install -q --disable-pip-version-check '$(PYHF)' iminuit matplotlib \
		pytest-mock pytest-socket requests requests-mock uncertainties
	for file in $(PYHF_TESTS); do $(THEIRS) --library pyhf --rootdir '$(PYHF)' --disable-backend jax $$file || exit 1; done

$(NUMPY_LIBRARIES_READY): pyproject.toml benchmarks/numpy_libraries.toml
	$(PYTHON) -m venv .venv-numpy-libraries
	$(NUMPY_LIBRARIES_BIN)/python -m pip install -q --disable-pip-version-check -e . pytest \
		$$($(NUMPY_LIBRARIES_BIN)/python benchmarks/numpy_libraries.py --needs)
	@touch $@

LIBRARIES ?=
numpy-libraries: $(NUMPY_LIBRARIES_READY) ## Runs the tests of NumPy's users with NumPy and with tensorbackend.numpy: make numpy-libraries LIBRARIES="ahrs trimesh"
	$(NUMPY_LIBRARIES_BIN)/python benchmarks/numpy_libraries.py $(LIBRARIES)

autograd: $(READY) ## Runs HIPS autograd's own tests on our gradients: make autograd AUTOGRAD=<a checkout of it>
	@test -d '$(AUTOGRAD)/tests' || { echo 'make autograd: expected AUTOGRAD=<a checkout of HIPS autograd>'; exit 2; }
	printf '[pytest]\n' > .venv/autograd.ini
	PYTHONPATH=clients/hips_autograd $(BIN)/python -m pytest -c .venv/autograd.ini --rootdir '$(AUTOGRAD)' -W ignore -n 2 \
		-q -p no:cacheprovider -p autograd_exceptions '$(AUTOGRAD)/tests'

npbench: plugin-installed ## Measures NPBench's programs and writes docs/npbench.jsonl: make npbench NPBENCH=<a checkout of it>
	@test -d '$(NPBENCH)/bench_info' || { echo 'make npbench: expected NPBENCH=<a checkout of npbench>'; exit 2; }
	.venv-plugin/bin/python -W ignore benchmarks/npbench.py '$(NPBENCH)' --rows docs/npbench.jsonl

# While the tests run on two cores, one more process checks types and installs plugins, as mypy and pip take one core.
check: lint ## Everything that CI runs
	$(MAKE) -j 2 test types $(CHECKED:%=%-types)
	$(MAKE) $(CHECKED:%=-o %-types) oracles $(CHECKED)

clean: ## Removes the virtual environments and caches
	rm -rf .gallery .venv .venv-python* .venv-gallery .venv-mutants .venv-oldest .venv-plugin .venv-dask .venv-mlx .venv-onnx .venv-native .venv-adapter .venv-frontend .venv-clients .venv-libraries .venv-numpy-libraries .venv-bench .venv-docs .venv-gpu .venv-release .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist site *.egg-info
