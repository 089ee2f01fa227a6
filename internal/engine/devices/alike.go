package devices

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// easy is the least number of steps after which a search counts as hard. Nearly all searches end
// with fewer.
const easy = 1000

// hardAfter is the number of steps after which analyse judges every device for every request.
// Analysing then costs no more than was spent already.
func (s *search) hardAfter() int {
	n := 0
	for _, requests := range s.requests {
		for k := range requests {
			n += len(requests[k].of)
		}
	}
	return max(easy, n*s.size)
}

// analyse prepares a hard search: it judges every device for every request, and finds which devices
// are equivalent, so that only one of these need be tried where upstream tries each. It applies
// only to searches in which the result is provably the same:
//   - no selector fails, and no request for all devices is under a constraint, since
//     both are errors of the whole decision;
//   - no values have to differ within a request, since a constraint forgets a value
//     whenever a device is tried in vain;
//   - no device adds to counters, since then the order of devices would matter;
//   - it is known whose counters the pools of one name use, since otherwise the first
//     device tried determines that;
//   - no pool is invalid whose mere sight is an error;
//   - no alternatives are mixed up, and no device that was tried in vain keeps counters.
//
// It depends on steps alone, and is therefore the same in every replay.
func (s *search) analyse() error {
	s.analysed = true
	if s.inv.as.invalidPoolsFail && slices.ContainsFunc(s.pools, func(p *pool) bool { return p.invalid != "" }) {
		return nil
	}
	for c := range s.claims {
		for k := range s.requests[c] {
			for a := range s.requests[c][k].of {
				r := &s.requests[c][k].of[a]
				if s.forgets(c, r) || s.inv.as.mixesAlternatives && s.requests[c][k].choose {
					return nil
				}
				if r.mode == resourcev1.DeviceAllocationModeAll {
					if slices.Contains(r.bound, true) {
						return nil
					}
					continue
				}
				if ok, err := s.complete(r); err != nil || !ok {
					return err
				}
			}
		}
	}
	kinds, ok, err := s.kinds()
	if err != nil || !ok {
		return err
	}
	for c := range s.claims {
		for k := range s.requests[c] {
			for a := range s.requests[c][k].of {
				s.requests[c][k].of[a].link(kinds)
			}
		}
	}
	s.pruning = true
	return nil
}

// forgets reports whether devices of the request have to differ in some value.
func (s *search) forgets(claim int, r *request) bool {
	for k := range s.constraints[claim] {
		if r.bound[k] && r.need > 1 && s.constraints[claim][k].distinct() {
			return true
		}
	}
	return false
}

// complete judges all devices for a request; ok is false where that fails.
func (s *search) complete(r *request) (ok bool, err error) {
	for i := 0; s.lists(i); i++ {
		suits, err := s.suits(r, i)
		switch {
		case errors.Is(err, ErrStopped):
			return false, err
		case err != nil:
			return false, nil
		}
		if i < r.looked {
			continue
		}
		r.looked = i + 1
		if suits {
			r.list = append(r.list, int32(i))
		}
	}
	return true, nil
}

// kinds numbers devices by everything that matters to this search; equivalent devices have one
// number. A device that may be shared has a number of its own. ok is false where the order of
// devices may matter. It takes no steps but checks the context as often as if it did.
func (s *search) kinds() (kinds []int32, ok bool, err error) {
	kinds = make([]int32, len(s.listed))
	number := map[string]int32{}
	var b strings.Builder
	for i := range s.listed {
		if i%stride == stride-1 {
			if err := s.ctx.Err(); err != nil {
				return nil, false, stopped(err)
			}
		}
		b.Reset()
		o := &s.listed[i]
		if o.multi {
			fmt.Fprintf(&b, "shared %d", i)
		}
		for c := range s.claims {
			for k := range s.requests[c] {
				for a := range s.requests[c][k].of {
					b.WriteByte(s.requests[c][k].of[a].says(i))
				}
			}
			for k := range s.constraints[c] {
				if !writeValue(&b, s.constraints[c][k].valueOf(i, o.device)) {
					return nil, false, nil
				}
			}
		}
		if len(o.ConsumesCounters) > 0 {
			balance := s.inv.balanceOf(s.pools[o.pool])
			if balance.gives || s.inv.as.losesCounters || s.contested(s.pools[o.pool]) {
				return nil, false, nil
			}
			consumptions := balance.consumptions(o.device)
			slices.SortFunc(consumptions, func(a, b consumption) int { return int(a.counter - b.counter) })
			fmt.Fprintf(&b, " pool %d", o.pool)
			for _, w := range consumptions {
				fmt.Fprintf(&b, " %d:%s", w.counter, w.amount.String())
			}
		}
		n, known := number[b.String()]
		if !known {
			n = int32(len(number))
			number[b.String()] = n
		}
		kinds[i] = n
	}
	return kinds, true, nil
}

// says returns one letter for what a request makes of a device.
func (r *request) says(i int) byte {
	if r.mode == resourcev1.DeviceAllocationModeAll {
		if _, one := slices.BinarySearch(r.all, int32(i)); one {
			return 'a'
		}
		return '-'
	}
	return '0' + r.verdicts[i]
}

// writeValue writes a value of an attribute such that different values have different texts. It
// returns false for a list of values, which an equality check may not see whole.
func writeValue(b *strings.Builder, v *resourcev1.DeviceAttribute) bool {
	n := 0
	if v == nil {
		b.WriteString(" none")
		return true
	}
	if v.StringValue != nil {
		fmt.Fprintf(b, " s%q", *v.StringValue)
		n++
	}
	if v.IntValue != nil {
		fmt.Fprintf(b, " i%d", *v.IntValue)
		n++
	}
	if v.BoolValue != nil {
		fmt.Fprintf(b, " b%t", *v.BoolValue)
		n++
	}
	if v.VersionValue != nil {
		fmt.Fprintf(b, " v%q", *v.VersionValue)
		n++
	}
	return n == 1
}

// link chains equivalent devices through the request's list. A request with admin access also gets
// devices that are allocated, so that they differ by their holders; its devices are not chained.
func (r *request) link(kinds []int32) {
	r.equivalent = make([]int32, len(r.list))
	last := map[int32]int32{}
	for k, i := range r.list {
		r.equivalent[k] = -1
		if r.admin {
			continue
		}
		if before, ok := last[kinds[i]]; ok {
			r.equivalent[k] = before
		}
		last[kinds[i]] = int32(k)
	}
}

// triedEquivalent reports whether an equivalent of the kth device of the list was free and tried in
// vain already for the position that is being filled. That holds for the first free one from on:
// with the two exchanged, every solution with the later device is one with the earlier.
func (s *search) triedEquivalent(r *request, from, k int) bool {
	for before := int(r.equivalent[k]); before >= from; before = int(r.equivalent[before]) {
		if s.listed[r.list[before]].users == 0 {
			return true
		}
	}
	return false
}
