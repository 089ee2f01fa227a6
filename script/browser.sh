#!/usr/bin/env bash
# Makes sure that the tests of the pages find Chromium. Does nothing where it is there, or where
# BERTH_TEST_BROWSER names a browser.
set -euo pipefail

found() {
	[ -n "${BERTH_TEST_BROWSER:-}" ] && return 0
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null
}

found && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "The tests of the pages need a browser: installing Debian's package chromium with apt-get." >&2
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends chromium
	found && exit 0
fi
echo "No Chromium is installed: the tests of the pages will not run." >&2
echo "Install it: sudo apt-get install -y --no-install-recommends chromium, or set BERTH_TEST_BROWSER." >&2
# The tests themselves fail where CI=true and are skipped, loudly, elsewhere.
