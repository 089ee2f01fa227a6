package devices

// take allocates a device to a claim if that is possible; broken reports that a constraint of the
// claim prevents it (structured/internal/incubating allocateDevice).
func (s *search) take(claim int, r *request, i int) (ok, broken bool) {
	o := &s.listed[i]
	multi := o.multi
	if !multi && r.admin && s.given(claim, r, i) || !r.admin && (o.held || s.inUse(i)) {
		return false, false
	}
	consumes := len(o.ConsumesCounters) > 0
	if consumes && !s.inv.as.partitions {
		return false, false
	}
	counted := consumes && !(multi && s.shared(i))
	if counted && !s.count(i) {
		return false, false
	}
	kept := s.inv.as.losesCounters
	if !tolerated(o.device, r.tolerations) {
		s.giveUp(claim, r, i, 0, counted && !kept)
		return false, false
	}
	list := s.constraints[claim]
	for k := range list {
		if r.bound[k] && !list[k].add(r, i, o.device) {
			s.giveUp(claim, r, i, k, counted && !kept)
			return false, true
		}
	}
	if !s.capacityFor(r, i) {
		if kept { // upstream undoes nothing then
			if !multi {
				o.users++
			}
			return false, false
		}
		s.giveUp(claim, r, i, len(list), counted)
		return false, false
	}
	if multi {
		s.share(r, i, true)
	} else {
		o.users++
	}
	s.taken[claim] = append(s.taken[claim], take{int32(i), r, counted && !(kept && multi)})
	return true, false
}

// giveUp undoes a take of which the first constraints were added.
func (s *search) giveUp(claim int, r *request, i, joined int, counted bool) {
	for k := joined - 1; k >= 0; k-- {
		if r.bound[k] {
			s.constraints[claim][k].remove(r)
		}
	}
	if counted {
		s.uncount(i)
	}
}

// untake undoes the claim's last allocation.
func (s *search) untake(claim int) {
	last := len(s.taken[claim]) - 1
	t := s.taken[claim][last]
	s.taken[claim] = s.taken[claim][:last]
	i := int(t.index)
	if s.listed[i].multi {
		s.share(t.request, i, false)
	} else {
		s.listed[i].users--
	}
	s.giveUp(claim, t.request, i, len(s.constraints[claim]), t.counted)
}
