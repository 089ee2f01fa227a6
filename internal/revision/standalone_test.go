package revision

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth/internal/kube/object"
)

// A view without a store holds what an upload of the same objects would.
func TestStandalone(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	got, err := Standalone("prod", reader(sample(t)...), now)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := open(t, t.TempDir(), Options{}).UploadResolved(t.Context(), "prod", reader(sample(t)...), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if got.ID() != want.ID() || got.Digest != want.Digest || !got.CreatedAt.Equal(now) {
		t.Errorf("%s %s, want %s %s", got.ID(), got.Digest, want.ID(), want.Digest)
	}
	if d := cmp.Diff(want.Summary, got.Summary); d != "" {
		t.Error(d)
	}
	if _, ok := got.Object(podKey("b")); !ok {
		t.Error("a pod is missing")
	}
	if _, err := Standalone("Not A Name", reader(), now); err == nil {
		t.Error("a bad name passes")
	}
	broken := errors.New("torn")
	if _, err := Standalone("prod", func(func(object.Object) error) (map[string]int, error) { return nil, broken }, now); !errors.Is(err, broken) {
		t.Error(err)
	}
	var invalid *InvalidError
	if _, err := Standalone("prod", reader(node(t, "n1", 1), node(t, "n1", 2)), now); !errors.As(err, &invalid) {
		t.Error(err)
	}
}
