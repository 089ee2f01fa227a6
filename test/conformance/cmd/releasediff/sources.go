package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// followed are the modules whose packages are read where a decision imports them, and all packages
// of which are beside the scheduler's: k8s.io/kubernetes, and what it has in staging. What is left
// out are clients, logs, metrics and the reading of types.
var followed = []string{
	"k8s.io/kubernetes", "k8s.io/component-helpers", "k8s.io/csi-translation-lib",
	"k8s.io/dynamic-resource-allocation", "k8s.io/kube-scheduler",
}

// decides is where a decision begins; what it imports of the followed modules is read with it.
const decides = "pkg/scheduler"

// others are packages that berth answers as besides: admission, defaults, pod life, columns.
// What they import is not followed. After a colon stand the only files that count.
var others = []string{
	"pkg/api/pod", "pkg/apis/core/v1", "pkg/apis/resource/v1", "pkg/apis/resource/validation",
	"pkg/apis/scheduling/v1", "pkg/apis/scheduling/validation", "pkg/apis/storage/v1",
	"pkg/apis/storage/validation", "pkg/registry/core/pod", "pkg/registry/core/pod/storage",
	"pkg/registry/resource/resourceclaim", "pkg/registry/resource/resourceslice",
	"plugin/pkg/admission/defaulttolerationseconds", "plugin/pkg/admission/limitranger",
	"plugin/pkg/admission/podtopologylabels", "plugin/pkg/admission/priority",
	"plugin/pkg/admission/runtimeclass", "plugin/pkg/admission/serviceaccount",
	"pkg/kubelet:kubelet_pods.go", "pkg/kubelet/container", "pkg/kubelet/eviction",
	"pkg/kubelet/kuberuntime:kuberuntime_manager.go kuberuntime_container.go",
	"pkg/kubelet/kuberuntime/util", "pkg/kubelet/nodeshutdown",
	"pkg/kubelet/preemption", "pkg/kubelet/prober", "pkg/kubelet/server/stats:summary.go",
	"pkg/kubelet/status", "pkg/kubelet/types",
	"pkg/controller:controller_utils.go", "pkg/controller/deployment", "pkg/controller/deployment/util", "pkg/controller/nodelifecycle",
	"pkg/controller/podgc", "pkg/controller/replicaset", "pkg/controller/tainteviction",
	"pkg/controller/util/node", "pkg/printers/internalversion",
}

// passed are packages, by a piece of their path, that are there for tests or for people.
var passed = []string{"/testing", "/fake", "/debugger", "/metrics"}

// source is one package of a release: the directory that has it, and the only files of it to read.
type source struct {
	name, dir string
	only      []string
}

// tree is the code of one release in the module cache.
type tree struct {
	cache, release string
	seen           map[string]bool
	declared       map[string]*declared
	gates          map[string]bool // that are read somewhere
}

// read returns what a release declares, by package and name.
func read(cache, release string) (map[string]*declared, error) {
	t := &tree{cache, release, map[string]bool{}, map[string]*declared{}, map[string]bool{}}
	root, err := t.dir("k8s.io/kubernetes")
	if err != nil {
		return nil, err
	}
	var first []string
	err = filepath.WalkDir(filepath.Join(root, decides), func(p string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			rel, _ := filepath.Rel(root, p)
			first = append(first, "k8s.io/kubernetes/"+filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for len(first) > 0 {
		next, err := t.visit(first[0])
		if err != nil {
			return nil, err
		}
		first = append(first[1:], next...)
	}
	for _, name := range others {
		name, only, _ := strings.Cut(name, ":")
		if !t.seen["k8s.io/kubernetes/"+name] {
			if _, err := t.parse(source{name, filepath.Join(root, name), strings.Fields(only)}); err != nil {
				return nil, err
			}
		}
	}
	for name := range t.declared {
		if gate, ok := strings.CutPrefix(name, gatePrefix); ok && !t.gates[strings.TrimSuffix(gate, "]")] {
			delete(t.declared, name)
		}
	}
	return t.declared, nil
}

// dir is where the cache has a module of the release.
func (t *tree) dir(module string) (string, error) {
	version := t.release
	if module != "k8s.io/kubernetes" {
		version = "v0." + strings.TrimPrefix(version, "v1.")
	}
	dir := filepath.Join(t.cache, module+"@"+version)
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("the module cache has no %s; get it by: go mod download %s@%s", module, module, version)
	}
	return dir, nil
}

// visit reads a package that a decision runs through, and returns what it imports.
func (t *tree) visit(name string) ([]string, error) {
	i := moduleOf(name)
	if i < 0 || t.seen[name] || slices.ContainsFunc(passed, func(p string) bool { return strings.Contains(name+"/", p+"/") }) {
		return nil, nil
	}
	t.seen[name] = true
	dir, err := t.dir(followed[i])
	if err != nil {
		return nil, err
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(name, followed[i]), "/")
	short := path.Join(strings.TrimPrefix(followed[i], "k8s.io/"), rest)
	return t.parse(source{strings.TrimPrefix(short, "kubernetes/"), filepath.Join(dir, rest), nil})
}

// moduleOf is the place of a package's module in followed; -1 for others.
func moduleOf(name string) int {
	return slices.IndexFunc(followed, func(m string) bool { return name == m || strings.HasPrefix(name, m+"/") })
}

func isFollowed(name string) bool { return moduleOf(name) >= 0 }

// parse reads the files of a package, without tests and what is generated of types.
func (t *tree) parse(s source) (imports []string, err error) {
	list, err := os.ReadDir(s.dir)
	if os.IsNotExist(err) {
		return nil, nil // a package of the other release alone
	}
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".go") || skipped(e.Name()) || len(s.only) > 0 && !slices.Contains(s.only, e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.dir, e.Name()))
		if err != nil {
			return nil, err
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, e.Name(), text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, i := range f.Imports {
			if p, err := strconv.Unquote(i.Path.Value); err == nil {
				imports = append(imports, p)
			}
		}
		t.askedGates(f)
		if err := t.declare(s.name, set, f, text); err != nil {
			return nil, err
		}
	}
	return imports, nil
}

func skipped(file string) bool {
	for _, end := range []string{"_test.go", "_windows.go", "_darwin.go", "_others.go", "_unsupported.go"} {
		if strings.HasSuffix(file, end) {
			return true
		}
	}
	return strings.HasPrefix(file, "zz_generated.deepcopy") || strings.HasPrefix(file, "zz_generated.conversion") ||
		strings.HasPrefix(file, "zz_generated.model_name")
}

// askedGates notes the feature gates that a file names.
func (t *tree) askedGates(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && strings.HasSuffix(x.Name, "features") {
				t.gates[s.Sel.Name] = true
			}
		}
		return true
	})
}
