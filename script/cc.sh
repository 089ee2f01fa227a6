#!/usr/bin/env bash
# Makes sure that there is a C compiler: Go's race detector needs one.
set -euo pipefail

command -v "${CC:-gcc}" >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "The race detector needs a C compiler: installing Debian's packages gcc and libc6-dev with apt-get." >&2
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends gcc libc6-dev
	exit 0
fi
echo "The race detector needs a C compiler: sudo apt-get install -y gcc libc6-dev, or xcode-select --install." >&2
exit 1
