package devices

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	resourcev1 "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// verdicts caches the results of expressions on devices. Each is evaluated once for each entry of a
// slice instead of once for each pod and node.
type verdicts struct {
	mu    sync.RWMutex
	of    map[asked]*verdict
	bytes int
}

// Bounds of the cached expressions: their number, and the bytes of their texts and results.
const (
	maxVerdicts     = 512
	maxVerdictBytes = 32 << 20
)

// asked is an expression and what compiled it: releases differ.
type asked struct {
	lists      bool
	expression string
}

type verdict struct {
	by       *Expressions
	compiled dracel.CompilationResult
	on       []atomic.Uint32 // by index of the device
	mu       sync.Mutex
	errs     map[int32]error
}

const (
	unevaluated = iota
	no
	matches
	fails
)

func (inv *Inventory) verdictOf(e *Expressions, expression string) *verdict {
	inv.verdict.mu.RLock()
	key := asked{e.lists, expression}
	v := inv.verdict.of[key]
	inv.verdict.mu.RUnlock()
	if v != nil {
		return v
	}
	v = &verdict{by: e, compiled: e.compile(expression), on: make([]atomic.Uint32, inv.count)}
	inv.verdict.mu.Lock()
	defer inv.verdict.mu.Unlock()
	if have := inv.verdict.of[key]; have != nil {
		return have
	}
	size := len(expression) + 4*len(v.on)
	if inv.verdict.of == nil || len(inv.verdict.of) >= maxVerdicts || inv.verdict.bytes+size > maxVerdictBytes {
		inv.verdict.of, inv.verdict.bytes = map[asked]*verdict{}, 0
	}
	inv.verdict.bytes += size
	inv.verdict.of[key] = v
	return v
}

// ask evaluates an expression on a device. Evaluation costs at most what the API allows a selector
// (CELSelectorExpressionMaxCost); one that costs more, or fails, is an error. Once ctx has ended it
// may be the cause of errors, which are then not cached.
func (v *verdict) ask(ctx context.Context, inv *Inventory, d *device) (bool, error) {
	switch v.on[d.place].Load() {
	case no:
		return false, nil
	case matches:
		return true, nil
	case fails:
		v.mu.Lock()
		defer v.mu.Unlock()
		return false, v.errs[d.place]
	}
	if err := ctx.Err(); err != nil {
		return false, stopped(err)
	}
	said := dracel.Device{Driver: d.slice.Spec.Driver, Attributes: v.by.attributes(d.Attributes), Capacity: d.Capacity}
	if !inv.as.plain {
		said.AllowMultipleAllocations = d.AllowMultipleAllocations
	}
	ok, _, err := v.compiled.DeviceMatches(ctx, said)
	if ended := ctx.Err(); err != nil && ended != nil {
		return false, stopped(ended)
	}
	switch {
	case err != nil:
		v.mu.Lock()
		if v.errs == nil {
			v.errs = map[int32]error{}
		}
		v.errs[d.place] = err
		v.mu.Unlock()
		v.on[d.place].Store(fails)
	case ok:
		v.on[d.place].Store(matches)
	default:
		v.on[d.place].Store(no)
	}
	return ok, err
}

// selector is a list of selectors with their results on devices.
type selector struct {
	whose string
	of    []*verdict
}

func (inv *Inventory) selector(e *Expressions, list []resourcev1.DeviceSelector, whose string) (selector, error) {
	s := selector{whose: whose}
	for i := range list {
		if list[i].CEL == nil {
			return s, fmt.Errorf("%s, selector #%d: CEL expression empty (unsupported selector type?)", whose, i)
		}
		s.of = append(s.of, inv.verdictOf(e, list[i].CEL.Expression))
	}
	return s, nil
}

// hintNoKey is upstream's advice (k8s.io/dynamic-resource-allocation/cel EnhanceRuntimeError).
const hintNoKey = ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"

// selects reports whether all selectors match a device. One that fails to compile or to run is an
// error, which ends the whole decision (structured/internal/incubating selectorsMatch).
func (s *selector) selects(ctx context.Context, inv *Inventory, d *device) (bool, error) {
	for i, v := range s.of {
		if v.compiled.Error != nil {
			return false, fmt.Errorf("%s: selector #%d: CEL compile error: %w", s.whose, i, v.compiled.Error)
		}
		ok, err := v.ask(ctx, inv, d)
		switch {
		case errors.Is(err, ErrStopped):
			return false, err
		case err != nil && inv.as.deviceErrorsSayMore:
			hint := ""
			if strings.Contains(err.Error(), "no such key:") {
				hint = hintNoKey
			}
			return false, fmt.Errorf("%s: selector #%d on device %s: CEL runtime error: %w%s", s.whose, i, inv.names[d.id], err, hint)
		case err != nil:
			return false, fmt.Errorf("%s: selector #%d: CEL runtime error: %w", s.whose, i, err)
		}
		if !ok {
			return false, nil
		}
	}
	return true, nil
}
