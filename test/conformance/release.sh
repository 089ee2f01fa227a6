#!/usr/bin/env bash
# Try a freshly built berth against the plugins of another release than go.mod's:
#   release.sh RELEASE CASES SEED [CONFIG [AS [EACH]]]
# berth answers as the release AS, or as RELEASE where it is empty; AS=default names none, and berth
# answers by its default. Differences are counted by kind and by the rows of releases/*.txt; EACH
# cases of every group are minimised into tmp/conformance/RELEASE. With AS=upstream, go.mod's own
# plugins answer instead of berth, and with AS=upstream-v1.35 those of another release; GATES are
# feature gates that those have set.
# ODD=all changes cases to what people rarely write. With VECTORS=FILE, and AS=upstream, the cases in
# which the two differ are written to the file, EACH of each kind. With CONFIG=settings,
# configurations are tried (cmd/settings) and not decisions; with lifecycle or termination what a
# kubelet of the release does (cmd/lifecycle, cmd/termination).
# Exits 1 where a difference is no row. The first run builds the scheduler, which takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
release=$1 n=${2:-1000} seed=${3:-1} config=${4:-default} as=${5:-$1} each=${6:-0}
[ -f "test/conformance/releases/$release.mod" ] || { echo "no releases/$release.mod in test/conformance: releases/write.sh writes it"; exit 2; }
mkdir -p bin tmp
command=conformance
case $config in settings | lifecycle | termination) command=$config ;; esac
build() {
  echo "building the oracle of $1 (some minutes the first time)"
  local mod=releases/$1.mod module=k8s.io/dynamic-resource-allocation from of
  if [ -f "test/conformance/releases/$1.sed" ] && [[ $2 != lifecycle && $2 != termination ]]; then # see the file
    # A module that was never downloaded has no directory yet.
    from=$(cd test/conformance && go mod download -modfile="$mod" $module && go list -m -modfile="$mod" -f '{{.Dir}}' $module)
    rm -rf tmp/ordered && cp -r "$from" tmp/ordered && chmod -R u+w tmp/ordered
    of=$(sed -n '1s/^# Of \([^:]*\):.*/\1/p' "test/conformance/releases/$1.sed")
    sed -i -f "test/conformance/releases/$1.sed" "tmp/ordered/$of"
    cp "test/conformance/$mod" tmp/ordered.mod
    cp "test/conformance/releases/$1.sum" tmp/ordered.sum
    mod=$PWD/tmp/ordered.mod
    go mod edit -replace "$module=$PWD/tmp/ordered" "$mod"
  fi
  (cd test/conformance && go build -modfile="$mod" -tags "${1/./_}" -o "../../bin/$2-$1" "./cmd/$2")
}
build "$release" "$command"
own=$(sed -n 's/.*k8s.io\/kubernetes \(v1\.[0-9]*\)\..*/\1/p' test/conformance/go.mod)
more=()
[ "$as" != default ] || as=
if [[ $as = upstream* ]]; then
  other=${as#upstream} as= more=(-named)
  other=${other#-}
  if [ -n "$other" ]; then
    build "$other" conformance
    own=$other
  else
    (cd test/conformance && go build -o ../../bin/ ./cmd/conformance)
  fi
  berth=127.0.0.1:${PORT:-18036}
  "./bin/conformance${other:+-$other}" -serve "$berth" -gates "${GATES:-}" &
  trap 'kill $! 2>/dev/null || true' EXIT
  berth=http://$berth
  sleep 1
else
  . test/conformance/server.sh
fi
if [ "$command" != conformance ]; then
  "./bin/$command-$release" -server "$berth" -n "$n" -seed "$seed" -semantics "$as"
  exit
fi
[ -z "${VECTORS:-}" ] || more=(-differing "$VECTORS" -max-nodes 8 -max-pods 14 -releases 100)
known=test/conformance/releases/$(printf '%s\n' "${as:-$own}" "$release" | sort -uV | paste -sd-).txt
if [ ! -f "$known" ]; then
  [ "${as:-$own}" = "$release" ] || echo "there is no $known: each difference counts"
  known=
fi
"./bin/conformance-$release" -server "$berth" -n "$n" -seed "$seed" -config "$config" -releases 60 \
  ${ODD:+-odd "$ODD" -max-nodes 15 -max-pods 30} -semantics "$as" -explained "$known" -each "$each" -out "tmp/conformance/$release" "${more[@]}"
