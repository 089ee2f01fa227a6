package access

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"sigs.k8s.io/yaml"
)

// maxFile bounds the access file, in bytes.
const maxFile = 1 << 20

// Subject is a user or a group of an access file.
type Subject struct {
	Kind string `json:"kind"` // User, Group
	Name string `json:"name"`
}

// Binding grants a role to subjects.
type Binding struct {
	Subjects []Subject `json:"subjects"`
	Grant    `json:",inline"`
}

// Rules are an access file: what users and groups may. What is not granted is refused.
type Rules struct {
	Bindings []Binding `json:"bindings"`
}

// ParseRules reads an access file; errors name the field.
func ParseRules(raw []byte) (*Rules, error) {
	if len(raw) > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	var rules Rules
	if err := yaml.UnmarshalStrict(raw, &rules); err != nil {
		return nil, fmt.Errorf("want {bindings: [{subjects, role, clusters, namespaces}]}: %w", err)
	}
	if len(rules.Bindings) == 0 {
		return nil, &FieldError{"bindings", "is empty: nobody but the bearers of API tokens could do anything"}
	}
	for i := range rules.Bindings {
		b, field := &rules.Bindings[i], fmt.Sprintf("bindings[%d]", i)
		if len(b.Subjects) == 0 {
			return nil, &FieldError{field + ".subjects", "is empty: want {kind: User or Group, name: …}"}
		}
		for j, s := range b.Subjects {
			at := fmt.Sprintf("%s.subjects[%d]", field, j)
			if s.Kind != "User" && s.Kind != "Group" {
				return nil, &FieldError{at + ".kind", fmt.Sprintf("%.60q is no kind: want User or Group", s.Kind)}
			}
			if err := checkName(s.Name); err != nil {
				return nil, &FieldError{at + ".name", err.Error()}
			}
		}
		if err := b.validate(field); err != nil {
			return nil, err
		}
	}
	return &rules, nil
}

// Grants returns what a user with some groups may.
func (r *Rules) Grants(user string, groups []string) (out Grants) {
	for i := range r.Bindings {
		b := &r.Bindings[i]
		if slices.ContainsFunc(b.Subjects, func(s Subject) bool {
			return s.Kind == "User" && user != "" && s.Name == user || s.Kind == "Group" && slices.Contains(groups, s.Name)
		}) {
			out = append(out, b.Grant)
		}
	}
	return out
}

// File is an access file that is read again when it changes. It is safe for concurrent use.
type File struct {
	path  string
	raw   []byte // of the goroutine that reads
	rules atomic.Pointer[Rules]
}

// OpenFile reads an access file.
func OpenFile(path string) (*File, error) {
	f := &File{path: path}
	_, err := f.read()
	return f, err
}

// Grants returns what a user with some groups may; nothing without a file.
func (f *File) Grants(user string, groups []string) Grants {
	if f == nil {
		return nil
	}
	return f.rules.Load().Grants(user, groups)
}

// Digest names the content of the file.
func (f *File) Digest() string {
	sum := sha256.Sum256(f.raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (f *File) read() (changed bool, err error) {
	raw, err := os.ReadFile(f.path)
	if err != nil {
		return false, err
	}
	if f.rules.Load() != nil && bytes.Equal(raw, f.raw) {
		return false, nil
	}
	rules, err := ParseRules(raw)
	if err != nil {
		return false, fmt.Errorf("%s: %w", f.path, err)
	}
	f.raw = raw
	f.rules.Store(rules)
	return true, nil
}

// Watch reads the file again and again until ctx ends. One that cannot be used leaves the rules
// before in force. changed is called with the digest of each new one.
func (f *File) Watch(ctx context.Context, every time.Duration, log *slog.Logger, changed func(digest string)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	problem := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		fresh, err := f.read()
		switch {
		case err != nil && err.Error() != problem:
			problem = err.Error()
			log.Error("the access file cannot be used; the rules before stay in force", slog.Any("error", err))
		case err == nil:
			problem = ""
		}
		if fresh {
			log.Info("the access file was replaced", slog.String("digest", f.Digest()))
			changed(f.Digest())
		}
	}
}
