#!/usr/bin/env bash
# Try a freshly built berth against kube-scheduler's own plugins:
#   run.sh CASES SEED [CONFIG]
# Exits 1 where they differ; each difference is minimised into tmp/conformance.
# The first run builds Kubernetes' scheduler, which takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
n=${1:-2000} seed=${2:-1} config=${3:-default}
mkdir -p bin tmp
go build -o bin/server ./cmd/server
echo "building the oracle (some minutes the first time)"
(cd test/conformance && go build -o ../../bin/ ./cmd/conformance ./cmd/admission ./cmd/lifecycle ./cmd/termination ./cmd/settings)
dir=$(mktemp -d)
./bin/server --listen 127.0.0.1:0 --data-dir "$dir/data" --ready-file "$dir/ready" >"$dir/log" 2>&1 &
pid=$!
trap 'kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; rm -rf "$dir"' EXIT
for _ in $(seq 200); do
  [ -s "$dir/ready" ] && break
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.1
done
[ -s "$dir/ready" ] || { echo "the server did not start:"; cat "$dir/log"; exit 2; }
./bin/admission -server "http://$(cat "$dir/ready")" -n "$n" -seed "$seed"
./bin/lifecycle -server "http://$(cat "$dir/ready")" -n "$n" -seed "$seed"
./bin/termination -server "http://$(cat "$dir/ready")" -n "$n" -seed "$seed"
./bin/settings -server "http://$(cat "$dir/ready")" -n "$n" -seed "$seed"
./bin/conformance -server "http://$(cat "$dir/ready")" -n "$n" -seed "$seed" -config "$config" -out tmp/conformance
