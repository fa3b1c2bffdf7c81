#!/bin/sh
# Check, build and verify a release in a pipeline: sh pipeline.sh RELEASE OUT
# Leaves check.json, report.xml and OUT.tar.gz here. Ends as `dossier build` did: 0 or 3 with a dossier, else without.
set -eu
release=$1
out=$2

# 2: a fault of the release or its tables; check.json says what, where and how to mend it. Takes seconds.
dossier check "$release" --json > check.json

# 0: built. 3: built, but a criterion is not met, or a flag or claim of --fail-on is there; report.xml says which.
code=0
dossier build "$release" -o "$out" --quiet --fail-on model_differs,shared_rows --junit report.xml || code=$?
if [ "$code" -ne 0 ] && [ "$code" -ne 3 ]; then
  exit "$code"
fi

# 4: something differs. With --release it is built again and compared byte by byte, which takes as long as the build.
dossier verify "$out" --release "$release"

tar -czf "$out.tar.gz" "$out"
exit "$code"
