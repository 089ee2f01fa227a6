#!/usr/bin/env bash
# Hold berth's queueing hints to those of the plugins of a release:
#   hints.sh RELEASE CLUSTERS SEED
# The plugins answer as a server, since one program links those of one release alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
release=$1 at=127.0.0.1:${PORT:-18037}
echo "building the oracle of $release (some minutes the first time)"
(mkdir -p bin && cd test/conformance &&
  go build -modfile="releases/$release.mod" -tags "${release/./_}" -o "../../bin/hints-$release" ./cmd/conformance)
"./bin/hints-$release" -serve "$at" &
trap 'kill $! 2>/dev/null || true' EXIT
cd test/upstream
HINTS=$2 HINTS_SEED=$3 HINTS_OF=http://$at HINTS_RELEASE=$release \
  go test -tags v1_37 -count=1 -timeout 60m -run 'TestHints$' -v .
