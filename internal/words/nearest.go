package words

import "strings"

// Nearest returns the candidate that a misspelt name most likely stands for; false
// where none is near. Case does not count. Of equally near ones the first wins.
func Nearest(name string, candidates []string) (string, bool) {
	name = strings.ToLower(name)
	best, at := 1+tolerance(len(name)), -1
	for i, c := range candidates {
		if d := len(c) - len(name); d >= best || -d >= best {
			continue
		}
		if d := distance(name, strings.ToLower(c)); d < best {
			best, at = d, i
		}
	}
	if at < 0 {
		return "", false
	}
	return candidates[at], true
}

// tolerance is how many letters of a word of n bytes may be wrong.
func tolerance(n int) int {
	switch {
	case n > maxNameBytes:
		return -1
	case n < 4:
		return 1
	case n < 10:
		return 2
	}
	return 3
}

// maxNameBytes bounds the names that are compared: no field's is near that long.
const maxNameBytes = 64

// distance counts the letters to insert, delete, replace or swap with their
// neighbour to make b of a (optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			d := last[j-1]
			if a[i-1] != b[j-1] {
				d = 1 + min(d, last[j], row[j-1])
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					d = min(d, 1+before[j-2])
				}
			}
			row[j] = d
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
