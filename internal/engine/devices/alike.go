package devices

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// easy is how many steps a search takes at least before it counts as a hard one.
// Nearly all end with fewer.
const easy = 1000

// hardAfter is how many steps a search takes before settle looks at every device
// for every request, so that this costs no more than was spent already.
func (s *search) hardAfter() int {
	n := 0
	for _, lines := range s.lines {
		for k := range lines {
			n += len(lines[k].of)
		}
	}
	return max(easy, n*s.size)
}

// settle is what a hard search does once: it finds out all that can be said of
// every device for every request, and which devices are alike, so that of these
// one need be tried where upstream tries each. That is for searches in which
// leaving out what leads nowhere cannot be told from trying it:
//   - no selector fails, and no request for all devices is under a constraint,
//     since both are errors for whoever comes across them;
//   - no values have to differ within a request, since constraints forget
//     something there whenever a device is tried in vain;
//   - no device gives counters, since then the order of devices would matter;
//   - it is settled whose counters pools of one name go by, since that is up to
//     the first device tried, be it in vain.
//
// It is decided by steps alone and so the same in every replay.
func (s *search) settle() error {
	s.settled = true
	for c := range s.claims {
		for k := range s.lines[c] {
			for a := range s.lines[c][k].of {
				r := &s.lines[c][k].of[a]
				if s.forgets(c, r) {
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
		for k := range s.lines[c] {
			for a := range s.lines[c][k].of {
				s.lines[c][k].of[a].link(kinds)
			}
		}
	}
	s.pruning = true
	return nil
}

// forgets says that several devices of the request have to differ in some value.
func (s *search) forgets(claim int, r *request) bool {
	for k := range s.constraints[claim] {
		if r.bound[k] && r.need > 1 && s.constraints[claim][k].distinct() {
			return true
		}
	}
	return false
}

// complete asks about all devices for a request; ok is false where that fails.
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

// kinds numbers devices by all that matters to this search, alike ones by one
// number. Shared ones are each of its own kind. ok is false where the
// order of devices may matter. It takes no steps but looks at the context as often
// as if it did.
func (s *search) kinds() (kinds []int32, ok bool, err error) {
	kinds = make([]int32, len(s.offers))
	number := map[string]int32{}
	var b strings.Builder
	for i := range s.offers {
		if i%stride == stride-1 {
			if err := s.ctx.Err(); err != nil {
				return nil, false, stopped(err)
			}
		}
		b.Reset()
		o := &s.offers[i]
		if o.multi() {
			fmt.Fprintf(&b, "shared %d", i)
		}
		for c := range s.claims {
			for k := range s.lines[c] {
				for a := range s.lines[c][k].of {
					b.WriteByte(s.lines[c][k].of[a].says(i))
				}
			}
			for k := range s.constraints[c] {
				if !writeValue(&b, s.constraints[c][k].valueOf(i, o.device)) {
					return nil, false, nil
				}
			}
		}
		if len(o.ConsumesCounters) > 0 {
			book := s.pools[o.pool].booked(&s.inv.held)
			if book.gives || s.contested(s.pools[o.pool]) {
				return nil, false, nil
			}
			draws := book.draws(o.device)
			slices.SortFunc(draws, func(a, b draw) int { return int(a.counter - b.counter) })
			fmt.Fprintf(&b, " pool %d", o.pool)
			for _, w := range draws {
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

// says is what a request has to do with a device, in one letter.
func (r *request) says(i int) byte {
	if r.mode == resourcev1.DeviceAllocationModeAll {
		if _, one := slices.BinarySearch(r.all, int32(i)); one {
			return 'a'
		}
		return '-'
	}
	return '0' + r.verdicts[i]
}

// writeValue writes a value of an attribute, so that equal ones and no others read
// the same; false where it has several, of which equality may see only one.
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

// link chains devices that are alike through the request's list. What is given
// for administration is given beside what others have, so that devices differ by
// who has them; there nothing is left out.
func (r *request) link(kinds []int32) {
	r.alike = make([]int32, len(r.list))
	last := map[int32]int32{}
	for k, i := range r.list {
		r.alike[k] = -1
		if r.admin {
			continue
		}
		if before, ok := last[kinds[i]]; ok {
			r.alike[k] = before
		}
		last[kinds[i]] = int32(k)
	}
}

// triedAlike says that a device like the kth of the list was free and tried in
// vain already for the place that is to be filled now, which is so of the first
// free one from on. With the two exchanged, every answer with the later device is
// one with the earlier.
func (s *search) triedAlike(r *request, from, k int) bool {
	for before := int(r.alike[k]); before >= from; before = int(r.alike[before]) {
		if s.offers[r.list[before]].users == 0 {
			return true
		}
	}
	return false
}
