// Package deploy builds the manifests with kustomize's own library. It is a
// module of its own, so that the product does not depend on kustomize: what it
// builds lies in deploy/rendered, where the product's tests look at it.
package deploy

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

var update = flag.Bool("update", false, "write deploy/rendered anew")

const (
	root     = "../../deploy"
	rendered = root + "/rendered"
	head     = "# Built of the kustomization in deploy/%s by `make manifests`; not to be edited.\n"
)

// kustomizations lists the directories that can be built, by the name of what
// they are rendered to.
func kustomizations(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "kustomization.yaml" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(raw, []byte("\nkind: Kustomization\n")) {
			return err // a component is built within others
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		all[strings.ReplaceAll(strings.TrimPrefix(filepath.ToSlash(dir), "overlays/"), "/", "-")] = filepath.ToSlash(dir)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRendered holds deploy/rendered to what kustomize builds.
func TestRendered(t *testing.T) {
	all := kustomizations(t)
	if len(all) < 5 {
		t.Fatalf("only %v can be built", all)
	}
	for name, dir := range all {
		t.Run(name, func(t *testing.T) {
			built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(root, dir))
			if err != nil {
				t.Fatal(err)
			}
			got, err := built.AsYaml()
			if err != nil {
				t.Fatal(err)
			}
			got = append([]byte(strings.Replace(head, "%s", dir, 1)), got...)
			sameAsRendered(t, name, got, "kustomize builds")
		})
	}
	files, err := filepath.Glob(rendered + "/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		_, kustomized := all[name]
		if _, ok := charts[name]; !ok && !kustomized {
			t.Errorf("%s is of no kustomization and not of the chart", file)
		}
	}
}

// sameAsRendered compares a manifest with the file of its name, which -update writes anew.
func sameAsRendered(t *testing.T, name string, got []byte, who string) {
	t.Helper()
	file := filepath.Join(rendered, name+".yaml")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what %s: run make manifests and look at the difference", file, who)
	}
}
