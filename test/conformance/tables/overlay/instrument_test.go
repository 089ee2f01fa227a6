package overlay

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

const plugin = `package p

import fwk "k8s.io/kube-scheduler/framework"

type P struct{}

func New(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) { return &P{}, nil }

func (pl *P) Filter(ctx context.Context, _, _ int) *fwk.Status { return nil }

func (pl *P) other() {}
`

const tests = `package p

func TestA(t *testing.T) {
	t.Run("x", func(t *testing.T) {
		t.Parallel()
		work()
	})
}

func helper(t *testing.T) {}
`

func TestInstrument(t *testing.T) {
	for name, c := range map[string]struct {
		src  string
		want []string
		not  string
	}{
		"p.go": {plugin, []string{
			"func (pl *P) recordedFilter(", "func (pl *P) Filter(a0 context.Context, a1 int, a2 int) (*fwk.Status) {", "r0 := pl.recordedFilter(a0, a1, a2)",
			"func recordedNew(", "tablesrecord.Made(r0, a0, a1, a2)",
		}, "recordedother"},
		"p_test.go": {tests, []string{"func TestA(t *testing.T) {; tablesrecord.Enter(t);", "t.Parallel(); tablesrecord.Enter(t);"}, "helper(t *testing.T) {;"},
	} {
		out, err := Instrument(name, []byte(c.src))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range c.want {
			if !strings.Contains(string(out), w) {
				t.Errorf("%s lacks %q:\n%s", name, w, out)
			}
		}
		if strings.Contains(string(out), c.not) {
			t.Errorf("%s has %q", name, c.not)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), name, out, 0); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	if out, err := Instrument("q.go", []byte("package p\n\nfunc f() {}\n")); out != nil || err != nil {
		t.Errorf("nothing to record, but got %q, %v", out, err)
	}
}
