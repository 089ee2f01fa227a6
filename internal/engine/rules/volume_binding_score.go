package rules

import (
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object/stored"
	"berth/internal/semantics"
)

// scoringVolumeBinding is VolumeBinding with StorageCapacityScoring: it also scores nodes by how
// much of their storage the waiting claims would take.
type scoringVolumeBinding struct {
	VolumeBinding
	by resourceScorer
}

var _ engine.Scorer[*bindings] = scoringVolumeBinding{}

// buildVolumeBinding makes the rule, with a score where the release has one.
func buildVolumeBinding(args *Args, r *semantics.Release) (*engine.Plugin, error) {
	if !r.StorageCapacityScoring {
		return engine.Adapt[*bindings](VolumeBinding{}), nil
	}
	shape := emptyStorageFirst
	if args.VolumeBinding != nil {
		shape = args.VolumeBinding.Shape
	}
	by, err := newResourceScorer(RequestedToCapacityRatio, nil, shape)
	return engine.Adapt[*bindings](scoringVolumeBinding{by: by}), err
}

// scoringNeeds is Descriptor.in of VolumeBinding: its score reads what PreFilter leaves, also for
// pods without claims (plugins/volumebinding getStateData).
func scoringNeeds(d *Descriptor, r *semantics.Release) {
	if r.StorageCapacityScoring {
		d.Needs = map[string]string{
			phaseFilter: phasePreFilter, phasePreScore: phasePreFilter, phaseScore: phasePreFilter,
		}
	}
}

// classUse is what the claims of one storage class request of a node, and what the node has for
// them.
type classUse struct {
	class               string
	requested, capacity int64
}

// Score scores each node by the existing volumes that the claims would get there, or, without any,
// by the pools that new ones would come from: a score for each storage class, then their mean
// (plugins/volumebinding Score, scorer.go buildScorerFunction). The scores are not normalised. A
// pod without waiting claims scores 0.
func (v scoringVolumeBinding) Score(q *engine.Query, b *bindings, feasible state.Bits, out *engine.Scores) error {
	if b == nil || !b.filtered || len(b.late) == 0 {
		out.Uniform(0, 0)
		return nil
	}
	out.Same()
	matched, pools := measure(b.matched), b.pools(q, feasible)
	var uses []classUse
	for row := range feasible.All() {
		uses = uses[:0]
		if existing(&uses, matched, row); len(uses) == 0 {
			if err := provided(&uses, pools, row); err != nil {
				return err
			}
		}
		out.Raw[row] = v.mean(uses)
	}
	return nil
}

// mean returns the rounded mean of the classes' scores; 0 without any.
func (v scoringVolumeBinding) mean(uses []classUse) int64 {
	if len(uses) == 0 {
		return 0
	}
	var sum int64
	for _, u := range uses {
		if u.capacity == 0 {
			sum += v.by.at(100)
		} else {
			sum += v.by.ratio(u.requested, u.capacity)
		}
	}
	return int64(math.Round(float64(sum) / float64(len(uses))))
}

// useOf returns the use of a class, which it adds where there is none.
func useOf(uses *[]classUse, class string) *classUse {
	for i := range *uses {
		if u := &(*uses)[i]; u.class == class {
			return u
		}
	}
	*uses = append(*uses, classUse{class: class})
	return &(*uses)[len(*uses)-1]
}

// bytesOf returns the bytes of storage in a list.
func bytesOf(list corev1.ResourceList) int64 {
	q := list[corev1.ResourceStorage]
	return q.Value()
}

// measured is a match with what its claim requests, and what each of its volumes has.
type measured struct {
	*match
	requested int64
	capacity  []int64
}

func measure(matched []*match) []measured {
	out := make([]measured, len(matched))
	for i, m := range matched {
		out[i] = measured{m, bytesOf(m.claim.Spec.Resources.Requests), make([]int64, len(m.taken))}
		for k, pv := range m.taken {
			out[i].capacity[k] = bytesOf(pv.Spec.Capacity)
		}
	}
	return out
}

// existing adds up the volumes that the claims would get on a row.
func existing(uses *[]classUse, list []measured, row int) {
	for _, m := range list {
		if at := m.index[row]; at > 0 {
			u := useOf(uses, m.taken[at-1].Spec.StorageClassName)
			u.requested += m.requested
			u.capacity += m.capacity[at-1]
		}
	}
}

// pooled is a claim that needs a new volume, and the pool that this would come from on each row.
type pooled struct {
	claim     *corev1.PersistentVolumeClaim
	requested int64
	pools     []*storagev1.CSIStorageCapacity
	index     []int32 // by row: one more than the index into pools; 0 without
}

// pools finds for each claim without an existing volume the first pool with enough capacity that a
// row reaches (plugins/volumebinding/binder.go hasEnoughCapacity).
func (b *bindings) pools(q *engine.Query, rows state.Bits) (list []pooled) {
	for _, p := range b.provision {
		left := rows.Clone()
		left.And(p.rows)
		if left.Empty() {
			continue
		}
		class := q.State.StorageClass(stored.ClaimClass(p.claim))
		size, ok := counted(q, p.claim, class)
		if !ok {
			continue
		}
		of := pooled{p.claim, size, q.State.ClassCapacities(class.Name), q.Counts(q.Nodes.Len())}
		for i, pool := range of.pools {
			if !hasRoom(pool, size) {
				continue
			}
			give := func(row int) {
				of.index[row] = int32(i) + 1
				left.Clear(row)
			}
			reach := q.Nodes.PoolReach(pool.NodeTopology)
			for _, row := range reach.Few {
				if left.Has(int(row)) {
					give(int(row))
				}
			}
			if reach.Many != nil {
				for row := range reach.Many.AllAnd(left) {
					give(row)
				}
			}
		}
		list = append(list, of)
	}
	return list
}

// provided adds up what claims would take of the pools on a row. What a pool has counts once,
// however many claims it serves.
func provided(uses *[]classUse, list []pooled, row int) error {
	for i := range list {
		p := &list[i]
		if p.index[row] == 0 {
			continue
		}
		pool := p.pools[p.index[row]-1]
		switch {
		case p.claim.Spec.StorageClassName == nil:
			return fmt.Errorf(textClassInAnnotation, p.claim.Namespace, p.claim.Name)
		case pool.Capacity == nil:
			return fmt.Errorf(textPoolWithoutCapacity, pool.Namespace, pool.Name)
		}
		u := useOf(uses, *p.claim.Spec.StorageClassName)
		u.requested += p.requested
		u.capacity = pool.Capacity.Value()
	}
	return nil
}

// The errors where upstream's score reads a nil pointer, which ends kube-scheduler
// (plugins/volumebinding Score).
const (
	textClassInAnnotation   = "scoring by storage: claim %s/%s has its class in an annotation alone, and kube-scheduler ends at that"
	textPoolWithoutCapacity = "scoring by storage: CSIStorageCapacity %s/%s has no capacity, and kube-scheduler ends at that"
)
