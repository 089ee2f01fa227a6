#!/usr/bin/env bash
# Try a freshly built berth against kube-scheduler's own plugins:
#   run.sh CASES SEED [CONFIG [PARTS]]
# Exits 1 where they differ; each difference is minimised into tmp/conformance,
# and that of an odd case (README.md, -odd) into tmp/conformance/odd. PARTS are
# the commands that try what else berth answers: all of them, or "" for none.
# The first run builds Kubernetes' scheduler, which takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
n=${1:-2000} seed=${2:-1} config=${3:-default}
read -ra parts <<<"${4-admission lifecycle termination settings fit}"
echo "building the oracle (some minutes the first time)"
(mkdir -p bin && cd test/conformance && go build -o ../../bin/ ./cmd/conformance "${parts[@]/#/./cmd/}")
# berth admits as the newest release, and reads configurations as the one that it is asked for.
case " ${parts[*]} " in *" admission "*)
  (cd test/conformance && go build -modfile=releases/v1.37.mod -tags v1_37 -o ../../bin/ ./cmd/admission) ;;
esac
. test/conformance/server.sh
for part in "${parts[@]}"; do
  "./bin/$part" -server "$berth" -n "$n" -seed "$seed"
done
code=0
./bin/conformance -all -server "$berth" -n "$n" -seed "$seed" -config "$config" -out tmp/conformance || code=$?
./bin/conformance -all -odd all -max-nodes 15 -max-pods 30 -server "$berth" -n "$n" -seed "$seed" -config "$config" -out tmp/conformance/odd || code=$?
exit "$code"
