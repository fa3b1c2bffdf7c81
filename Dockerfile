# An image with dossier and the exact versions of requirements.lock:
#   docker build -t dossier .
#   docker run --rm -v "$PWD/release:/work/release:ro" -v "$PWD/out:/work/out" dossier build release -o out/dossier
FROM python:3.11-slim-bookworm

# Pango and HarfBuzz set the pages; everything else comes with the Python packages.
RUN apt-get update \
 && apt-get install -y --no-install-recommends libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 \
 && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/dossier

# The packages first: they change more seldom than the code.
COPY requirements.lock ./
RUN python -m pip install --no-cache-dir --only-binary :all: --no-deps --require-hashes -r requirements.lock

COPY pyproject.toml README.md LICENSE ./
COPY bin bin
COPY dossier dossier
COPY templates templates
COPY styles styles
COPY fixtures fixtures
RUN python -m pip install --no-cache-dir --no-deps --no-build-isolation . \
 && sed -i '1s/$/ -I/' /usr/local/bin/dossier

RUN useradd --create-home dossier
USER dossier
WORKDIR /work
ENTRYPOINT ["dossier"]
