#!/usr/bin/env bash
# Run govulncheck: vuln.sh VERSION [DATABASE]. Where its data cannot be reached it names that, and
# prints the modules with their dates instead; it ends with 1 only for vulnerabilities.
set -uo pipefail
cd "$(dirname "$0")/.."
out=$(go run "golang.org/x/vuln/cmd/govulncheck@$1" ${2:+-db "$2"} ./cmd/... 2>&1)
code=$?
echo "$out"
case $code in
0) exit 0 ;;
3) exit 3 ;; # vulnerabilities
esac
if grep -qE 'fetching vulnerabilities|dial tcp|no such host|proxyconnect|403|i/o timeout' <<<"$out"; then
  echo
  echo "NOT CHECKED: the data on vulnerabilities cannot be reached from here. What is linked in:"
  exec make --no-print-directory modules
fi
exit "$code"
