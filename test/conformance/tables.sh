#!/usr/bin/env bash
# Play the scenarios of upstream's own plugin tests through a freshly built berth:
#   tables.sh [-plugin NAME,NAME] [-v] [-release v1.37 [-semantics v1.37]]
# berth answers as the release whose tests are played, if -semantics names no other. What is known to
# differ stands in releases/*.tables. Exits 1 where more does; each such case is written to tmp/tables.
set -euo pipefail
cd "$(dirname "$0")/../.."
echo "building the player (some minutes the first time)"
release=
for ((i = 1; i < $#; i++)); do [ "${!i}" != -release ] || { next=$((i + 1)) && release=${!next}; }; done
flags=()
[ -z "$release" ] || [[ " $* " == *" -semantics "* ]] || set -- "$@" -semantics "$release"
[ -z "$release" ] || flags=(-modfile="releases/$release.mod" -tags "${release/./_}")
(mkdir -p bin && cd test/conformance && go build "${flags[@]}" -o ../../bin/ ./cmd/tables)
. test/conformance/server.sh
cd test/conformance
../../bin/tables -server "$berth" -out ../../tmp/tables "$@"
