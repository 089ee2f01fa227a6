package semantics

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, r := range releases {
		for _, name := range []string{r.Name, r.Minor()} {
			if got, err := Parse(name); got != r || err != nil {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
	}
	for _, name := range []string{"", "v1", "1.36", "v1.3", "v1.36.1", "v1.99", "v1.36.3.1", "V1.36"} {
		_, err := Parse(name)
		if err == nil || !strings.Contains(err.Error(), Known()) {
			t.Errorf("%q: %v does not say which releases are known", name, err)
		}
	}
}

// TestStamps: a record is of a release's minor one, whatever its patch; a stored profile without a
// release is of the one before there was a choice.
func TestStamps(t *testing.T) {
	for stamp, want := range map[string]*Release{"v1.36.3": v136, "v1.36.0": v136, "v1.99.0": nil, "": nil, "v1": nil} {
		if got := OfStamp(stamp); got != want {
			t.Errorf("record %q: %v, want %v", stamp, got, want)
		}
	}
	for written, want := range map[string]*Release{"": v136, "v1.36.3": v136, "v1.99.0": nil} {
		if got := OfProfile(written); got != want {
			t.Errorf("profile %q: %v, want %v", written, got, want)
		}
	}
	for _, r := range releases {
		if got := OfProfile(r.Written()); got != r {
			t.Errorf("%s is written as %q, which is read as %v", r.Name, r.Written(), got)
		}
	}
	if Default().Written() != "" {
		t.Errorf("profiles of the default release have another digest than before: %q", Default().Written())
	}
}

// TestReleasesAreComplete: a release that was copied has its own name, and a value in every field
// that is no bool.
func TestReleasesAreComplete(t *testing.T) {
	var names []string
	for _, r := range releases {
		if slices.Contains(names, r.Minor()) {
			t.Errorf("%s is there twice", r.Minor())
		}
		names = append(names, r.Minor())
		for i := range reflect.TypeFor[Release]().NumField() {
			if f := reflect.ValueOf(*r).Field(i); f.Kind() != reflect.Bool && f.IsZero() {
				t.Errorf("%s has no %s", r.Name, reflect.TypeFor[Release]().Field(i).Name)
			}
		}
	}
}
