package gen

import (
	"math/rand/v2"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// lookalikes adds to a part of the cases free texts that hold control characters, are very long, or
// spell what two texts of another object would spell side by side: names of disks and their
// monitors, handles of volumes, UIDs, tolerations. It draws from numbers of its own; without
// opts.Lookalikes every seed stays what it was.
func (m *maker) lookalikes(seed uint64, incoming *v1.Pod) {
	g := &maker{Rand: rand.New(rand.NewPCG(seed, 0x6c6f6f6b)), opts: m.opts}
	if !g.chance(m.opts.Lookalikes) {
		return
	}
	g.disks(incoming)
	for _, o := range m.objs {
		switch o := o.(type) {
		case *v1.Pod:
			if o != incoming && g.chance(50) {
				g.disks(o)
			}
			if g.chance(20) {
				o.UID = types.UID(string(o.UID) + pick(g, "a", "a,b", "a/b", "a\x01", "\n", strings.Repeat("u", 150)))
			}
		case *v1.PersistentVolume:
			if o.Spec.CSI != nil && g.chance(30) {
				o.Spec.CSI.VolumeHandle = g.text() + o.Spec.CSI.VolumeHandle
			}
		}
	}
	if g.chance(30) {
		incoming.Spec.Tolerations = append(incoming.Spec.Tolerations, v1.Toleration{Key: "odd", Operator: v1.TolerationOpEqual, Value: strings.Repeat("v", 1+g.IntN(63))})
	}
}

// text draws from few texts, so that they meet.
func (m *maker) text() string {
	return pick(m, "a", "b", "a\x00b", "b\x00a", "a,b", "a/b", "a\x01", "\x00a", "a\n", strings.Repeat("long", 200))
}

// disks mounts a RADOS image, whose pool, name and monitors are free texts; pods conflict where
// pool and name are equal and a monitor is shared.
func (m *maker) disks(p *v1.Pod) {
	rbd := &v1.RBDVolumeSource{RBDPool: m.text(), RBDImage: m.text(), CephMonitors: []string{m.text()}, ReadOnly: m.chance(20)}
	if m.chance(40) {
		rbd.CephMonitors = append(rbd.CephMonitors, m.text())
	}
	p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: "lookalike", VolumeSource: v1.VolumeSource{RBD: rbd}})
}
