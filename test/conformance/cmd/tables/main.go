// Command tables plays the scenarios of upstream's own plugin tests through a
// running berth. It runs those tests, unchanged but for a recorder in the plugins,
// turns what they did into clusters, pods and configurations, and compares.
// Nothing of upstream's tests is kept in the project.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/test/conformance/oracle"
	"berth/test/conformance/tables/play"
	"berth/test/conformance/trial"
)

func main() { trial.Main("tables", run) }

// run returns the exit code: 0 all that can be expressed agree or are explained, 1
// differences, or explanations that explain nothing.
func run(ctx context.Context) (int, error) {
	server := flag.String("server", "", "URL of the berth on trial")
	only := flag.String("plugin", "", "plugins to try, by name and separated by commas; all without")
	out := flag.String("out", "tables-out", "directory for the cases that differ")
	recorded := flag.String("recorded", "", "directory that recordings stay in; those of an earlier run are played again")
	release := flag.String("release", "", "release of Kubernetes whose tests to run, of releases/*.mod; that of go.mod without")
	semantics := flag.String("semantics", "", "release that berth is to answer as, with gates behind a comma each")
	verbose := flag.Bool("v", false, "print every scenario with its outcome")
	flag.Parse()
	if *server == "" {
		return 2, errors.New("-server is needed")
	}
	dirs, err := chosen(*only)
	if err != nil {
		return 2, err
	}
	tmp := *recorded
	if tmp == "" {
		if tmp, err = os.MkdirTemp("", "tables"); err != nil {
			return 2, err
		}
		defer func() { _ = os.RemoveAll(tmp) }()
	}
	root, err := output(ctx, ".", "go", "list", "-m", "-f", "{{.Dir}}", "berth/test/conformance")
	if err != nil {
		return 2, err
	}
	if tmp, err = filepath.Abs(tmp); err != nil {
		return 2, err
	}
	plugins, err := source(ctx, root, *release)
	if err != nil {
		return 2, err
	}
	dirs, without, err := present(plugins, dirs)
	if err != nil {
		return 2, err
	}
	for _, dir := range without {
		fmt.Printf("passed over %s: the release has no such plugin\n", dir)
	}
	scenarios, err := recordAll(ctx, root, plugins, tmp, *release, dirs)
	if err != nil {
		return 2, err
	}
	// kube-scheduler as a whole, which judges what differs, has the gates that berth has.
	_, gates, _ := strings.Cut(*semantics, ",")
	if err := oracle.SetGates(gates); err != nil {
		return 2, err
	}
	client := trial.NewClient(strings.TrimSuffix(*server, "/"), "tables")
	client.Semantics = *semantics
	if *release == "" {
		version, err := output(ctx, root, "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
		if err != nil {
			return 2, err
		}
		*release = version[:strings.LastIndex(version, ".")]
	}
	explained, err := readExplained(filepath.Join(root, "releases", *release+".tables"))
	if err != nil {
		return 2, err
	}
	r := &report{release: *release, out: *out, verbose: *verbose, excuses: newExcuses(explained, pluginsOf(dirs))}
	for _, dir := range dirs {
		for _, s := range scenarios[dir] {
			result, err := play.Play(ctx, client, s)
			if err != nil {
				return 2, fmt.Errorf("%s %s: %w", dir, s.Name, err)
			}
			if err := r.add(dir, result); err != nil {
				return 2, err
			}
		}
	}
	r.print(os.Stdout, dirs)
	if r.differ > 0 || len(r.excuses.stale()) > 0 {
		return 1, nil
	}
	return 0, nil
}

// chosen returns the packages of the plugins that are named.
func chosen(names string) ([]string, error) {
	var out []string
	var left []string
	if names != "" {
		left = strings.Split(names, ",")
	}
	for _, p := range packages {
		wanted := names == ""
		for i := 0; i < len(left); {
			if strings.Contains(" "+p.plugins+" ", " "+left[i]+" ") {
				wanted = true
				left = append(left[:i], left[i+1:]...)
				continue
			}
			i++
		}
		if wanted {
			out = append(out, p.dir)
		}
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("no tables of %s", strings.Join(left, ", "))
	}
	return out, nil
}

// pluginsOf names the plugins of packages.
func pluginsOf(dirs []string) (out []string) {
	for _, p := range packages {
		if slices.Contains(dirs, p.dir) {
			out = append(out, strings.Fields(p.plugins)...)
		}
	}
	return out
}
