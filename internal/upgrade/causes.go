package upgrade

import (
	"slices"

	"berth/internal/semantics"
)

// Decide answers one question under a release.
type Decide func(*semantics.Release) (Reply, error)

// Explain lists the differences between two releases' answers to a question, each with the
// behaviours that make it: a smallest set without which no difference of its kind is left, and no
// weightier one comes instead. An error of ask ends it.
func Explain(before, after Reply, from, to *semantics.Release, ask Decide) ([]Change, error) {
	changes := Compare(before, after)
	asked := map[string]Reply{}
	for i := range changes {
		c := &changes[i]
		causes, err := semantics.Causes(from, to, func(r *semantics.Release) (bool, error) {
			reply, ok := asked[r.Stamp()]
			if !ok {
				var err error
				if reply, err = ask(r); err != nil {
					return false, err
				}
				asked[r.Stamp()] = reply
			}
			return !slices.ContainsFunc(Compare(before, reply), func(left Change) bool {
				return left.Kind == c.Kind || weight(left.Kind) < weight(c.Kind) && !slices.ContainsFunc(changes, left.Kind.of)
			}), nil
		})
		if err != nil {
			return nil, err
		}
		for _, b := range causes {
			c.Causes = append(c.Causes, b.Name)
		}
	}
	return changes, nil
}
