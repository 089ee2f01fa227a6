#!/usr/bin/env bash
# Hold scenarios with a clock to the controllers of Kubernetes:
#   controllers.sh CASES SEED [PARTS]
# Exits 1 where a case differs that controllers/explained.go does not explain; the
# first ones of each part are minimised into tmp/conformance/controllers.
set -euo pipefail
cd "$(dirname "$0")/../.."
echo "building the oracle (some minutes the first time)"
(mkdir -p bin && cd test/conformance && go build -o ../../bin/ ./cmd/controllers)
. test/conformance/server.sh
./bin/controllers -server "$berth" -n "$1" -seed "$2" -part "${3-}" -out tmp/conformance/controllers
