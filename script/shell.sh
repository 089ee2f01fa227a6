#!/usr/bin/env bash
# Makes sure that the tests can run the examples of docs/api.md, which call curl and jq, and the
# client in Python.
set -euo pipefail

found() { command -v curl >/dev/null && command -v jq >/dev/null && command -v python3 >/dev/null; }

found && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "Examples call curl, jq and python3: installing Debian's packages with apt-get." >&2
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends curl jq python3
	found && exit 0
fi
echo "curl, jq or python3 is missing: some examples will not run. Install them:" >&2
echo "sudo apt-get install -y curl jq python3, or brew install curl jq python3." >&2
# The tests themselves fail where CI=true and are skipped elsewhere.
