package semantics

import (
	"reflect"
	"slices"
)

// Behaviour is one place in which releases decide differently: a field of Release, or a gate.
type Behaviour struct {
	// Name is the field's, or the gate's.
	Name string `json:"name"`
	// Gate reports whether kube-scheduler has a feature gate of the name.
	Gate bool `json:"gate,omitempty"`
	// Undecided reports whether no decision about a pod shows it: it is about which configurations
	// are read, about when a pod is tried again, or about groups.
	Undecided bool `json:"undecided,omitempty"`
	// Row is its row in docs/releases.md.
	Row string `json:"row"`
	// What is what it decides.
	What string `json:"what"`
	// Where is upstream's file and function.
	Where string `json:"where"`
	// Remedy is what keeps the answer of before, or is to be looked at; empty where nothing is.
	Remedy string `json:"remedy,omitempty"`
	// life reports whether it is of kubelets, and no decision reads it.
	life bool
} // @name Behaviour

// Differences lists the behaviours in which decisions of two releases differ, code first, then
// gates.
func Differences(a, b *Release) []*Behaviour { return differences(a, b, false) }

// LifeDifferences lists the behaviours in which kubelets of two releases differ.
func LifeDifferences(a, b *Release) []*Behaviour { return differences(a, b, true) }

func differences(a, b *Release, life bool) (list []*Behaviour) {
	va, vb := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for _, d := range behaviours {
		if d.life == life && !reflect.DeepEqual(va.FieldByName(d.Name).Interface(), vb.FieldByName(d.Name).Interface()) {
			list = append(list, d)
		}
	}
	return list
}

// With returns the release with some behaviours as another one has them. It is for comparing
// answers: its stamp is no release's.
func (r *Release) With(behaviours []*Behaviour, of *Release) *Release {
	mixed := *r
	mixed.stamp = r.Stamp() + ", of " + of.Stamp()
	to, from := reflect.ValueOf(&mixed).Elem(), reflect.ValueOf(of).Elem()
	for _, b := range behaviours {
		to.FieldByName(b.Name).Set(from.FieldByName(b.Name))
		mixed.stamp += " " + b.Name
	}
	return &mixed
}

// Causes returns a smallest set of behaviours that makes a difference between the answers of two
// releases: with these alone as from has them, the answer of to no longer differs, as same reports.
// A single one is looked for first; a larger set is one of which none can be left out. None of all
// behaviours makes it where the result is empty.
func Causes(from, to *Release, same func(*Release) (bool, error)) ([]*Behaviour, error) {
	all := slices.DeleteFunc(Differences(from, to), func(b *Behaviour) bool { return b.Undecided })
	for i := range all {
		ok, err := same(to.With(all[i:i+1], from))
		if err != nil {
			return nil, err
		}
		if ok {
			return all[i : i+1], nil
		}
	}
	if ok, err := same(to.With(all, from)); err != nil || !ok {
		return nil, err
	}
	for i := 0; i < len(all); {
		fewer := slices.Concat(all[:i], all[i+1:])
		ok, err := same(to.With(fewer, from))
		if err != nil {
			return nil, err
		}
		if ok {
			all = fewer
		} else {
			i++
		}
	}
	return all, nil
}
