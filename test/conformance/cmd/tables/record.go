package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"berth/test/conformance/tables/overlay"
	"berth/test/conformance/tables/record"
)

// packages are upstream's plugin packages, by the names of their plugins.
var packages = []struct{ dir, plugins string }{
	{"schedulinggates", "SchedulingGates"},
	{"nodeunschedulable", "NodeUnschedulable"},
	{"nodename", "NodeName"},
	{"tainttoleration", "TaintToleration"},
	{"nodeaffinity", "NodeAffinity"},
	{"nodeports", "NodePorts"},
	{"noderesources", "NodeResourcesFit NodeResourcesBalancedAllocation"},
	{"podtopologyspread", "PodTopologySpread"},
	{"interpodaffinity", "InterPodAffinity"},
	{"imagelocality", "ImageLocality"},
	{"nodedeclaredfeatures", "NodeDeclaredFeatures"},
	{"defaultpreemption", "DefaultPreemption"},
	{"volumerestrictions", "VolumeRestrictions"},
	{"nodevolumelimits", "NodeVolumeLimits"},
	{"volumebinding", "VolumeBinding"},
	{"volumezone", "VolumeZone"},
	{"dynamicresources", "DynamicResources"},
}

// requirements returns the file of a release's requirements, and its build tag. root is the
// directory of this module; without a release they are those of go.mod.
func requirements(root, release string) (mod, tag string) {
	if release == "" {
		return filepath.Join(root, "go.mod"), ""
	}
	return filepath.Join(root, "releases", release+".mod"), strings.ReplaceAll(release, ".", "_")
}

// source returns the directory of a release's plugins.
func source(ctx context.Context, root, release string) (string, error) {
	mod, tag := requirements(root, release)
	return output(ctx, root, "go", "list", "-modfile", mod, "-tags", tag, "-f", "{{.Dir}}", "k8s.io/kubernetes/pkg/scheduler/framework/plugins")
}

// present returns those of the packages that a release has, and the others: an older release is
// without some.
func present(plugins string, dirs []string) (has, without []string, err error) {
	for _, dir := range dirs {
		switch _, err := os.Stat(filepath.Join(plugins, dir)); {
		case err == nil:
			has = append(has, dir)
		case errors.Is(err, fs.ErrNotExist):
			without = append(without, dir)
		default:
			return nil, nil, err
		}
	}
	if len(has) == 0 {
		return nil, nil, fmt.Errorf("%s has none of %s", plugins, strings.Join(dirs, ", "))
	}
	return has, without, nil
}

// recordAll runs upstream's tests with the recorder in their plugins, which stand in the directory
// plugins, and returns the scenarios by package. root is the directory of this module; the tests
// are those of a release of releases/, or of go.mod.
func recordAll(ctx context.Context, root, plugins, tmp, release string, dirs []string) (map[string][]*record.Scenario, error) {
	mod, tag := requirements(root, release)
	over, err := overlay.Make(root, plugins, tmp, dirs)
	if err != nil {
		return nil, err
	}
	// Upstream's tests import more than this module does; go may write that into a
	// copy of go.mod.
	for _, name := range []string{"go.mod", "go.sum"} {
		raw, err := os.ReadFile(strings.TrimSuffix(mod, ".mod") + filepath.Ext(name))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(tmp, name), raw, 0o644); err != nil {
			return nil, err
		}
	}
	out := map[string][]*record.Scenario{}
	for _, dir := range dirs {
		to := filepath.Join(tmp, "recorded", dir)
		if have, err := read(to); err == nil && len(have) > 0 {
			out[dir] = have
			continue
		}
		if err := os.MkdirAll(to, 0o755); err != nil {
			return nil, err
		}
		// The directory is not there, so go can build its tests but not run them.
		bin := filepath.Join(to, "tests")
		build := exec.CommandContext(ctx, "go", "test", "-c", "-o", bin, "-p", "1", "-vet", "off", "-mod=mod", "-modfile", filepath.Join(tmp, "go.mod"), "-tags", tag, "-overlay", over, "./"+overlay.Home+"/"+dir)
		build.Dir = root
		if said, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build upstream's tests of %s: %w\n%s", dir, err, said)
		}
		// A test that upstream's own code fails is told by its scenario.
		cmd := exec.CommandContext(ctx, bin, "-test.parallel", "1", "-test.count", "1", "-test.timeout", "10m")
		cmd.Dir, cmd.Env = to, append(os.Environ(), record.Dir+"="+to)
		fmt.Printf("recording %s\n", dir)
		said, failed := cmd.CombinedOutput()
		if out[dir], err = read(to); err != nil {
			return nil, err
		}
		if failed != nil {
			fmt.Printf("%s: upstream's own tests: %v\n%s\n", dir, failed, last(said, 2000))
		}
		if len(out[dir]) == 0 {
			return nil, fmt.Errorf("upstream's tests of %s recorded nothing: %w", dir, failed)
		}
	}
	return out, nil
}

func last(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// read returns the scenarios that were written to a directory.
func read(dir string) ([]*record.Scenario, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var out []*record.Scenario
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 256<<20)
		for lines.Scan() {
			var s record.Scenario
			if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
				_ = f.Close()
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out = append(out, &s)
		}
		_ = f.Close()
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}
