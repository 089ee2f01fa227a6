#!/usr/bin/env bash
# Makes sure that the tests can run the examples of docs/api.md, which call curl and jq, and the
# clients in Python and TypeScript.
set -euo pipefail

found() {
	for program in curl jq python3 node tsc; do
		command -v "$program" >/dev/null || return 1
	done
}

found && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "Examples call curl, jq, python3, node and tsc: installing Debian's packages with apt-get." >&2
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends curl jq python3 nodejs node-typescript
	found && exit 0
fi
echo "curl, jq, python3, node or tsc is missing: some examples will not run. Install them:" >&2
echo "sudo apt-get install -y curl jq python3 nodejs node-typescript, or" >&2
echo "brew install curl jq python3 node typescript." >&2
# The tests themselves fail where CI=true and are skipped elsewhere.
