#!/usr/bin/env bash
# Play the scenarios of upstream's own plugin tests through a freshly built berth:
#   tables.sh [-plugin NAME,NAME] [-v]
# Exits 1 where they differ; each such case is written to tmp/tables.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p bin tmp
go build -o bin/server ./cmd/server
echo "building the player (some minutes the first time)"
(cd test/conformance && go build -o ../../bin/ ./cmd/tables)
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
cd test/conformance
../../bin/tables -server "http://$(cat "$dir/ready")" -out ../../tmp/tables "$@"
