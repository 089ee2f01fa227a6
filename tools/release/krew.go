package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// krew writes the manifest of the kubectl plugin, for krew's index or
// `kubectl krew install --manifest`.
func (r *release) krew() error {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: berth
spec:
  version: %s
  shortDescription: Explain scheduling decisions
  description: |
    Why is a pod pending, what would be evicted for it, what comes next:
    answers with Kubernetes v1.36 semantics, from the cluster that kubectl
    points at, a berth server, or the output of kubectl.
  platforms:
`, r.version)
	for _, p := range r.platforms {
		file := r.name() + "_" + p.String() + ".tar.gz"
		raw, err := os.ReadFile(filepath.Join(r.out, file))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, `  - selector:
      matchLabels: {os: %s, arch: %s}
    uri: %s/%s/%s
    sha256: %x
    files:
    - {from: berth, to: .}
    - {from: LICENSE, to: .}
    - {from: THIRD-PARTY-NOTICES.txt, to: .}
    bin: berth
`, p.system, p.arch, r.url, r.version, file, sha256.Sum256(raw))
	}
	return os.WriteFile(filepath.Join(r.out, "krew-berth.yaml"), []byte(b.String()), 0o644)
}
