#!/usr/bin/env bash
# Run govulncheck: vuln.sh VERSION [DATABASE]. It ends with 3 for vulnerabilities, and with 1 where it
# fails. Where its data cannot be reached it prints that and the modules with their dates, and ends
# with 2: nothing was checked.
set -uo pipefail
cd "$(dirname "$0")/.."
out=$(go run "golang.org/x/vuln/cmd/govulncheck@$1" ${2:+-db "$2"} ./cmd/... 2>&1)
code=$?
echo "$out"
if grep -q '^exit status 3$' <<<"$out"; then exit 3; fi # go run ends with 1 for all failures
if [ $code != 0 ] && grep -qE 'fetching vulnerabilities|dial tcp|no such host|proxyconnect|403|i/o timeout' <<<"$out"; then
  echo
  echo "NOT CHECKED: the data on vulnerabilities cannot be reached from here. Run this where vuln.go.dev"
  echo "can be reached, or with a copy of it: make vuln GOVULNDB=file:///PATH. What is linked in:"
  make --no-print-directory modules
  exit 2
fi
exit "$code"
