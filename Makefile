# `make demo` and `make test` do all the set-up themselves, from a clone on Debian or Ubuntu with Python.
.PHONY: demo test style types quick slow test-all tables docs bench conformance contact-sheet claims versions coverage mutation fuzz lock faults stub system browser word latex r clean
.DELETE_ON_ERROR:

READY := .venv/.ready

demo: $(READY)
	.venv/bin/dossier demo -o demo

# Types are checked beside the tests, which leave a core idle here and there.
test: $(READY) style
	$(MAKE) --no-print-directory --jobs 2 types quick

style: $(READY)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

types: $(READY)
	.venv/bin/mypy

# A worker reads the bytecode that another or an earlier one has written, and starts no threads beside the other workers.
quick slow: export PYTHONDONTWRITEBYTECODE :=
quick slow: export OPENBLAS_NUM_THREADS := 1
quick: $(READY)
	.venv/bin/pytest --numprocesses auto --dist worksteal -m "not slow"

# All of it: what `make test` runs, and what prints whole books, starts processes or simulates.
test-all: test slow

slow: $(READY)
	.venv/bin/pytest --numprocesses auto --dist loadfile -m slow

# Two studies have tables that are not ours to pass on: covid (Campagner and others 2023) and the ratings of knee MRI.
# `make tables FROM=DIR` copies them from a folder that holds covid/ and raters/; from then on every lane tests with them too.
tables:
	cp $(FROM)/covid/*.csv tests/releases/covid/
	mkdir -p tests/reference/raters
	cp $(FROM)/raters/*.csv tests/reference/raters/

# docs/ as a site, with the reference made from the docstrings.
docs: $(READY)
	.venv/bin/mkdocs build --strict --quiet
	@echo "$(CURDIR)/site/index.html"

# Changes one sign, constant or comparison of a metric file at a time, some 5,000 times; some test must fail. Takes an hour
# or two: `make mutation ONLY="--sample 12"` draws so many of each file, `ONLY=severity` takes that file.
mutation: $(READY)
	nice -n 15 .venv/bin/python -m tests.bench.mutation $(ONLY) --write

# Every figure of every release and of the extremes, on PNG pages to be looked at.
contact-sheet: $(READY)
	.venv/bin/python -m tests.bench.contact_sheet contact-sheet

# Speed beside R, scikit-learn, dcurves, pted, hyppo and typst, into tests/bench/RESULTS.md; the rivals live in .bench.
bench: $(READY)
	.ci/system-libraries bench
	.ci/rivals
	.venv/bin/python -m tests.bench.bench --rivals .bench/bin/python --write
	.venv/bin/python -m tests.bench.hot_spots --write

# Simulates hospitals with known truths for an hour or two on two cores, and writes tests/bench/COVERAGE.md.
# `make coverage ONLY="--only far,worse --output far.md"` takes the cells whose names begin so, `--measures` some measures.
# Measures by a horizon: `python -m tests.bench.followed` writes COVERAGE_BY_HORIZON.md, in about an hour.
coverage: $(READY)
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 nice -n 15 .venv/bin/python -m tests.bench.coverage $(ONLY)

# How often releases of a right model are accused, and wrong ones found; half an hour. tests/bench/CLAIMS.md has what it said.
claims: $(READY)
	OPENBLAS_NUM_THREADS=1 nice -n 15 .venv/bin/python -m tests.bench.claims

# How often a release is called worse than the last one, some minutes. Writes tests/bench/VERSIONS.md.
versions: $(READY)
	OPENBLAS_NUM_THREADS=1 nice -n 15 .venv/bin/python -m tests.bench.versions

# 22,000 corrupt releases, each of which must end in a dossier or in reported faults; hours. Writes tests/bench/FUZZ.md.
fuzz: $(READY)
	nice -n 15 .venv/bin/python -m tests.bench.fuzz --write

# Both editions of every release by the rules of PDF/A and PDF/UA, the HTML lint and what FDA asks of a PDF.
conformance: $(READY)
	.ci/system-libraries conformance
	nice -n 15 .venv/bin/python -m tests.bench.conformance --write

# The file for the screen in a browser: with its script and without, with the keys alone, narrow, on paper, and by the
# rules of WCAG 2.2 as axe-core knows them.
browser: $(READY)
	.ci/system-libraries browser
	.ci/axe
	.venv/bin/pytest tests/test_browser.py

# The tables for a text processor, opened by LibreOffice from Debian.
word: $(READY)
	.ci/system-libraries word
	.venv/bin/pytest tests/test_single.py

# The tables in LaTeX, set by XeLaTeX from Debian.
latex: $(READY)
	.ci/system-libraries latex
	.venv/bin/pytest tests/test_single.py

# The package for R, with R from Debian.
r: $(READY)
	.ci/system-libraries r
	.venv/bin/pytest tests/test_r.py

# Exact versions with hashes, for every Python and Linux that we support. `make lock UPGRADE=--upgrade` takes newer ones.
stub: $(READY)
	.venv/bin/python -c "from dossier.metrics.stub import page; print(page(), end='')" > dossier/metrics/__init__.pyi

faults: $(READY)
	.venv/bin/python -c "from dossier.core.faults.catalogue import page; print(page(), end='')" > docs/faults.md

lock: $(READY)
	.venv/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv/bin/uv pip compile pyproject.toml --extra formats --extra word --extra dask --extra sign --extra test --extra docs --python-version 3.11 --universal --fork-strategy fewest \
	  --generate-hashes --quiet --custom-compile-command "make lock" $(UPGRADE) --output-file requirements.lock

$(READY): requirements.lock pyproject.toml .ci/environment | system
	.ci/environment
	touch $@

# Order-only above: the look is taken each time (a tenth of a second), the work is done once.
system:
	@.ci/system-libraries

clean:
	rm -rf .venv .axe .bench .verapdf demo contact-sheet site
