#!/usr/bin/env bash
# Makes sure that test/patroni finds PostgreSQL, Patroni, etcd and Patroni's client of it, installed
# from Debian where they are missing. No service is started: the suite starts its own.
set -euo pipefail

packages=(postgresql patroni etcd-server python3-etcd)

missing() {
	for p in "${packages[@]}"; do
		dpkg-query -W -f '${Status}\n' "$p" 2>/dev/null | grep -q 'ok installed' || return 0
	done
	return 1
}

missing || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "test/patroni needs Debian's packages: sudo apt-get install -y --no-install-recommends ${packages[*]}" >&2
	exit 1
fi
echo "Installing Debian's packages ${packages[*]} with apt-get; none of their services is started." >&2
export DEBIAN_FRONTEND=noninteractive
deny=/usr/sbin/policy-rc.d
if [ ! -e "$deny" ]; then
	trap 'rm -f "$deny"' EXIT
	printf '#!/bin/sh\nexit 101\n' >"$deny"
	chmod +x "$deny"
fi
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${packages[@]}"
