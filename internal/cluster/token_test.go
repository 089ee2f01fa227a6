package cluster

import "testing"

func TestTokensAreInOrder(t *testing.T) {
	before := ""
	for _, revision := range []int64{1, 9, 10, 16, 99, 1 << 20} {
		token := newToken(revision)
		if token <= before || token == newToken(revision) || len(token) != 26 {
			t.Errorf("%q follows %q", token, before)
		}
		before = token
	}
}
