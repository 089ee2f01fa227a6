#!/usr/bin/env bash
# Write the requirements of a release: releases/write.sh v1.37.2 writes v1.37.mod and v1.37.sum, by
# which the same source is built over the plugins of Kubernetes v1.37.2, and builds it. library.mod
# is go.mod with sigs.k8s.io/scheduler-library among what it requires.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?the patch release, such as v1.37.2}
minor=${version%.*}
mod=releases/$minor.mod
upstream=$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p')
printf 'module berth/test/conformance\n\n%s\n' "$(grep '^go ' go.mod)" >"$mod"
rm -f "releases/$minor.sum"
edits=("-require=k8s.io/kubernetes@$version")
for staged in $(sed -n 's|^.*\(k8s.io/[a-z-]*\) => ./staging/.*|\1|p' "$upstream" | sort -u); do
  edits+=("-replace=$staged=$staged@v0.${version#v1.}")
done
go mod edit "${edits[@]}" "$mod"
go build -mod=mod -modfile="$mod" -tags "${minor/./_}" -o "$(mktemp -d)" ./cmd/conformance ./cmd/lifecycle ./cmd/termination
