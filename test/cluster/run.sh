#!/usr/bin/env bash
# Run berth between a real apiserver and a real kube-scheduler: run.sh [SCENARIO] [flags]
# etcd, kube-apiserver, kube-scheduler and kube-controller-manager are built from their Go
# modules, at the version that go.mod names: some seven minutes the first time. CLUSTER_BIN is a
# directory that has them already, or is to have them; OLDER the commit that upgrade begins with. Exits 1 where a scenario fails.
set -euo pipefail
cd "$(dirname "$0")/../.."
scenario=${1:-}
shift || true
own=$PWD/test/cluster/bin
bin=${CLUSTER_BIN:-$own}
mkdir -p bin "$own" "$bin"
bin=$(cd "$bin" && pwd)
version=$(cd test/cluster && go list -m -f '{{.Version}}' k8s.io/kubernetes)
current() {
  for program in kube-apiserver kube-scheduler kube-controller-manager; do
    [ -x "$bin/$program" ] || return 1
  done
  [ -n "${CLUSTER_BIN:-}" ] || [ "$(cat "$bin/version" 2>/dev/null)" = "$version" ]
}
if ! current; then
  echo "building kube-apiserver, kube-scheduler and kube-controller-manager $version (some minutes the first time)"
  (cd test/cluster && CGO_ENABLED=0 GOBIN=$bin go install -p 2 -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$version" tool)
  echo "$version" >"$bin/version"
fi
(cd test/cluster && go build -o "$bin/etcd" ./cmd/etcd && go build -o "$own/cluster" .)
go build -o "$own/database" ./test/database
case ",${scenario:-upgrade}," in
*,upgrade,*)
  # The newest tag before this commit, or the commit of v0.3.0.
  older=${OLDER:-$(git describe --tags --abbrev=0 --match 'v*' HEAD^ 2>/dev/null || echo ad6defcaf374902debbcf7d5088e62f910e26618)}
  echo "building the server of $older"
  work=$(mktemp -d)
  git archive "$older" | tar -xC "$work"
  (cd "$work" && go build -o "$own/older" ./cmd/server)
  rm -rf "$work"
  ;;
esac
exec "$own/cluster" -bin "$bin" -server bin/server -older "$own/older" -database "$own/database" ${scenario:+-scenario "$scenario"} "$@"
