# `make demo` and `make test` do all the set-up themselves, from a clone on Debian or Ubuntu with Python.
.PHONY: demo test coverage lock system clean
.DELETE_ON_ERROR:

READY := .venv/.ready

demo: $(READY)
	.venv/bin/dossier demo -o demo

test: $(READY)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/pytest

# Simulates hospitals with known truths for an hour on two cores, and writes tests/bench/COVERAGE.md.
coverage: $(READY)
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv/bin/python -m tests.bench.coverage

# Exact versions with hashes, for every Python and Linux that we support. `make lock UPGRADE=--upgrade` takes newer ones.
lock: $(READY)
	.venv/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv/bin/uv pip compile pyproject.toml --extra test --python-version 3.11 --universal --fork-strategy fewest \
	  --generate-hashes --quiet --custom-compile-command "make lock" $(UPGRADE) --output-file requirements.lock

$(READY): requirements.lock pyproject.toml .ci/environment | system
	.ci/environment
	touch $@

# Order-only above: the look is taken each time (a tenth of a second), the work is done once.
system:
	@.ci/system-libraries

clean:
	rm -rf .venv demo
