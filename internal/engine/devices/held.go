package devices

import resourcev1 "k8s.io/api/resource/v1"

// held is what allocated claims hold, by device
// (plugins/dynamicresources/allocateddevices.go).
type held struct {
	whole    map[int32]bool    // allocated to one claim alone
	parts    map[int32]bool    // allocated in shares
	capacity map[int32]amounts // the amounts of the shares
}

// hold counts a claim's allocation. Devices with admin access count for nothing.
func (inv *Inventory) hold(c *resourcev1.ResourceClaim) {
	if c.Status.Allocation == nil {
		return
	}
	h := &inv.held
	if h.whole == nil {
		*h = held{map[int32]bool{}, map[int32]bool{}, map[int32]amounts{}}
	}
	for i := range c.Status.Allocation.Devices.Results {
		r := &c.Status.Allocation.Devices.Results[i]
		if yes(r.AdminAccess) {
			continue
		}
		id := inv.id(ID{r.Driver, r.Pool, r.Device})
		if r.ShareID == nil || !inv.as.shares {
			h.whole[id] = true
			continue
		}
		h.parts[id] = true
		if r.ConsumedCapacity != nil {
			if h.capacity[id] == nil {
				h.capacity[id] = amounts{}
			}
			h.capacity[id].add(r.ConsumedCapacity)
		}
	}
}

// consumes reports whether a device, or a part of it, is allocated such that counters have less.
func (inv *Inventory) consumes(id int32) bool {
	return inv.held.whole[id] || inv.held.parts[id] && !inv.as.sharesRepeat
}
