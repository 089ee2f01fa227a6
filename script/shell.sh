#!/usr/bin/env bash
# Makes sure that the tests can run the examples of docs/api.md, which call curl and jq.
set -euo pipefail

found() { command -v curl >/dev/null && command -v jq >/dev/null; }

found && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "The examples of docs/api.md need curl and jq: installing Debian's packages with apt-get." >&2
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends curl jq
	found && exit 0
fi
echo "curl or jq is missing: the examples of docs/api.md will not run. Install them:" >&2
echo "sudo apt-get install -y curl jq, or brew install curl jq." >&2
# The test itself fails where CI=true and is skipped elsewhere.
