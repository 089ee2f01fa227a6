#!/usr/bin/env bash
# Makes sure that the tests find PostgreSQL's binaries. Does nothing where they
# are there, or where BERTH_TEST_DATABASE_URL names a database. The tests start
# a server of their own; the one that a package may start is not touched.
set -euo pipefail

found() {
	[ -n "${BERTH_TEST_DATABASE_URL:-}" ] && return 0
	command -v postgres >/dev/null && command -v initdb >/dev/null && return 0
	for dir in /usr/lib/postgresql/*/bin "$(pg_config --bindir 2>/dev/null || true)"; do
		[ -x "$dir/postgres" ] && [ -x "$dir/initdb" ] && return 0
	done
	return 1
}

found && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "The tests need PostgreSQL's server binaries: installing Debian's package postgresql with apt-get." >&2
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends postgresql
	found && exit 0
fi
echo "PostgreSQL's server binaries (postgres, initdb) are missing: the tests that need them will not run." >&2
echo "Install them: sudo apt-get install -y --no-install-recommends postgresql, or brew install postgresql," >&2
echo "or set BERTH_TEST_DATABASE_URL to a database that tests may use." >&2
# The tests themselves fail where CI=true and are skipped, loudly, elsewhere.
