#!/usr/bin/env bash
# Play the scenarios of upstream's own plugin tests through a freshly built berth:
#   tables.sh [-plugin NAME,NAME] [-v]
# Exits 1 where they differ; each such case is written to tmp/tables.
set -euo pipefail
cd "$(dirname "$0")/../.."
echo "building the player (some minutes the first time)"
(mkdir -p bin && cd test/conformance && go build -o ../../bin/ ./cmd/tables)
. test/conformance/server.sh
cd test/conformance
../../bin/tables -server "$berth" -out ../../tmp/tables "$@"
