package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tree is the text of the modules' Go files by path.
type tree map[string]string

func readTree(root string) (tree, error) {
	t := tree{}
	for _, top := range []string{"client", "cmd", "internal", "migrations", "test/torture"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			t[filepath.ToSlash(name)] = string(raw)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// stale is a part of a row that no longer fits the code.
type stale struct {
	row, problem string
	// the quoted pair of strings in a table, and what it should be; empty where that is unknown
	from, to string
}

func (s stale) String() string {
	if s.to == "" {
		return s.row + ": " + s.problem + ": bring the row up to date"
	}
	return s.row + ": " + s.problem + ": should be " + s.to
}

// check returns what is stale in a row.
func (t tree) check(r row) (out []stale) {
	for _, e := range r.edits {
		n := strings.Count(t[e.File], e.Old)
		if n == 1 {
			continue
		}
		s := stale{row: r.name, problem: fmt.Sprintf("`%s` stands %d times in %s, not once", e.Old, n, e.File)}
		if files := t.once(e.Old); n == 0 && len(files) == 1 {
			s.from, s.to = pair(e.File, e.Old), pair(files[0], e.Old)
		}
		out = append(out, s)
	}
	for _, u := range r.runs {
		top, _, _ := strings.Cut(u.test, "/")
		packages := t.testPackages(top)
		if slices.Contains(packages, u.pkg) {
			continue
		}
		s := stale{row: r.name, problem: fmt.Sprintf("%s has no %s", u.pkg, top)}
		if len(packages) == 1 {
			s.from, s.to = fmt.Sprintf("%q, %q", u.pkg, u.test), fmt.Sprintf("%q, %q", packages[0], u.test)
		}
		out = append(out, s)
	}
	return out
}

// pair is how a table writes the file of an edit and its old text.
func pair(file, old string) string { return fmt.Sprintf("%q, `%s`", file, old) }

// once returns the files, tests left out, that hold a text exactly once.
func (t tree) once(text string) (files []string) {
	for name, content := range t {
		if !strings.HasSuffix(name, "_test.go") && strings.Count(content, text) == 1 {
			files = append(files, name)
		}
	}
	return files
}

// testPackages returns the packages that have a test of a name.
func (t tree) testPackages(test string) (packages []string) {
	head := "\nfunc " + test + "("
	for name, content := range t {
		if pkg := "./" + filepath.ToSlash(filepath.Dir(name)); strings.HasSuffix(name, "_test.go") && strings.Contains(content, head) && !slices.Contains(packages, pkg) {
			packages = append(packages, pkg)
		}
	}
	return packages
}

// checkAll prints what is stale in both tables; fix corrects what moved.
func checkAll(root string, fix bool) error {
	t, err := readTree(root)
	if err != nil {
		return err
	}
	var found []stale
	for _, r := range slices.Concat(faultRows(), vectorRows()) {
		found = append(found, t.check(r)...)
	}
	for _, s := range found {
		fmt.Println(s)
	}
	if fix {
		if found, err = correct(filepath.Join(root, "test", "faults"), found); err != nil {
			return err
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("%d entries do not fit the code", len(found))
	}
	return nil
}

// correct writes the tables in dir with what moved put right, and returns what is
// still stale.
func correct(dir string, found []stale) (left []stale, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "table_*.go"))
	if err != nil {
		return nil, err
	}
	corrected := map[stale]bool{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		text := string(raw)
		for _, s := range found {
			if s.to != "" && strings.Contains(string(raw), s.from) {
				text = strings.ReplaceAll(text, s.from, s.to)
				corrected[s] = true
			}
		}
		if text != string(raw) {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(found, func(s stale) bool { return corrected[s] }), nil
}
