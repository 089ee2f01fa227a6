#!/usr/bin/env bash
# Makes sure that the tests find PostgreSQL's binaries and pgbouncer. Does nothing where they
# are there. Where BERTH_TEST_DATABASE_URL names a database, no server is looked for. The tests
# start servers of their own; those that a package may start are not touched.
set -euo pipefail

pooler() { PATH=$PATH:/usr/sbin command -v pgbouncer >/dev/null; }

found() {
	[ -n "${BERTH_TEST_DATABASE_URL:-}" ] && return 0
	command -v postgres >/dev/null && command -v initdb >/dev/null && return 0
	for dir in /usr/lib/postgresql/*/bin "$(pg_config --bindir 2>/dev/null || true)"; do
		[ -x "$dir/postgres" ] && [ -x "$dir/initdb" ] && return 0
	done
	return 1
}

found && pooler && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "The tests need PostgreSQL's server binaries and pgbouncer: installing Debian's packages postgresql and pgbouncer with apt-get." >&2
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	found || apt-get install -y -qq --no-install-recommends postgresql
	pooler || apt-get install -y -qq --no-install-recommends pgbouncer
	found && pooler && exit 0
fi
if found; then
	echo "pgbouncer is missing: the test of poolers will not run. Install it: sudo apt-get install pgbouncer." >&2
	exit 0
fi
echo "PostgreSQL's server binaries (postgres, initdb) are missing: the tests that need them will not run." >&2
echo "Install them: sudo apt-get install -y --no-install-recommends postgresql, or brew install postgresql," >&2
echo "or set BERTH_TEST_DATABASE_URL to a database that tests may use." >&2
# The tests themselves fail where CI=true and are skipped, loudly, elsewhere.
