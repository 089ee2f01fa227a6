# Sourced by run.sh and tables.sh, which stand in the root: builds berth, starts
# it on a port of its own over an empty directory, waits until it listens and
# stops it at the end. $berth is its URL.
mkdir -p bin tmp
go build -o bin/server ./cmd/server
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
berth="http://$(cat "$dir/ready")"
