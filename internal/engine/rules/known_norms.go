package rules

// maxKnownNorms is how far raw scores may be apart for each to be normalised once, not on each row.
const maxKnownNorms = 4096

// knownNorms returns the normalised scores of all raw ones from least to most; nil where these are
// too many.
func knownNorms(least, most int64, one func(int64) int64) []int64 {
	if most < least || uint64(most-least) >= maxKnownNorms {
		return nil
	}
	known := make([]int64, most-least+1)
	for i := range known {
		known[i] = one(least + int64(i))
	}
	return known
}

func normOf(known []int64, least, raw int64, one func(int64) int64) int64 {
	if known != nil {
		return known[raw-least]
	}
	return one(raw)
}
