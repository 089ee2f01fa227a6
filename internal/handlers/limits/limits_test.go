package limits

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"berth/internal/handlers/extender/wire"
)

func TestLimitsAreSettings(t *testing.T) {
	names := map[string]bool{}
	l := Default()
	Each(&l, func(tag reflect.StructTag, _ any) { names[tag.Get("name")] = true })
	for _, name := range WireNames {
		if !names[name] {
			t.Errorf("%s is no setting", name)
		}
	}
	for _, lim := range []wire.Limits{l.Filter(), l.Bind()} {
		if lim.Bytes == 0 || lim.Depth == 0 || lim.Tokens == 0 {
			t.Errorf("%+v has no bound", lim)
		}
	}
	if err := l.Validate(); err != nil {
		t.Error(err)
	}
	if err := l.CheckMemory(2 << 30 * 9 / 10); err != nil {
		t.Errorf("the defaults do not fit into 2 GiB: %v", err)
	}
	if err := l.CheckMemory(512 << 20); err == nil {
		t.Error("the defaults fit into nothing")
	}
	for _, gib := range []int64{512 << 20, 1 << 30, 4 << 30} {
		l, total := Default(), gib*9/10
		set := l.Fit(total, func(string) bool { return false })
		if err := errors.Join(l.Validate(), l.CheckMemory(total)); err != nil || int64(l.MemoryBudget) > total/16*9 || len(set) == 0 {
			t.Errorf("%s: %v sets %q", Bytes(gib), err, set)
		}
		if gib == 4<<30 && (l.NodesMaxBytes != 128<<20 || l.NodesCacheBytes != 256<<20) {
			t.Errorf("limits are lowered at 4 GiB: %q", set)
		}
	}
	l = Default()
	if l.Fit(1<<29, func(string) bool { return true }); l != Default() {
		t.Error("what was given is changed")
	}
	if err := l.CheckMemory(1 << 29); err == nil || !strings.Contains(err.Error(), "--memory-budget") {
		t.Errorf("given limits that do not fit: %v", err)
	}
	for name, change := range map[string]func(*Limits){
		"--filter-in-flight":                    func(l *Limits) { l.FilterInFlight = 0 },
		"--snapshot-deadline":                   func(l *Limits) { l.SnapshotDeadline = -1 },
		"--max-nodes must not be above 500000":  func(l *Limits) { l.MaxNodes = l.MaxObjects + 1 },
		"--max-pods must not be above 500000":   func(l *Limits) { l.MaxPods = l.MaxObjects + 1 },
		"--extender-deadline must not be below": func(l *Limits) { l.ExtenderQueueWait = l.ExtenderDeadline + 1 },
	} {
		l := Default()
		change(&l)
		if err := l.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
