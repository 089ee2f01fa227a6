package migrations

// Expanding is the first version with a note of the programs that work with it. From it on a
// migration only adds, so that programs of the release before go on with its schema.
const Expanding = 17

// contractions are the migrations after Expanding that take away, rename or tighten something, each
// with the first version whose programs no longer use it. That has to be the last release's schema
// or an older one: what a release stops to use is taken away by the next.
var contractions = map[int]int{}

// Serves returns the oldest version whose programs work with a schema of the given one; 0 where the
// schema does not say so, and serves the programs of its own version alone.
func Serves(version int) int {
	if version < Expanding {
		return 0
	}
	oldest := Expanding
	for at, unused := range contractions {
		if at <= version {
			oldest = max(oldest, unused)
		}
	}
	return oldest
}
