package store

import "testing"

func TestTokensAreInOrder(t *testing.T) {
	before := ""
	for _, revision := range []int64{1, 9, 10, 16, 99, 1 << 20, 1<<32 - 1, 1 << 32, 1 << 40} {
		token := NewToken(revision)
		if token <= before || token == NewToken(revision) {
			t.Errorf("%q follows %q", token, before)
		}
		before = token
	}
}
