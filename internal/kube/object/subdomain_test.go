package object

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/validation"
)

// TestSubdomains: the short way agrees with upstream's.
func TestSubdomains(t *testing.T) {
	for _, name := range []string{
		"", "a", "0", "-", "a-", "-a", "a-b", "a--b", "a.b", "a..b", ".a", "a.", "a.-b", "A", "aB", "a_b", "a b", "é", "a\x00", "a/b",
		strings.Repeat("a", 253), strings.Repeat("a", 254), strings.Repeat("a.", 126) + "a", strings.Repeat("a.", 127),
	} {
		if got, want := subdomain([]byte(name)), len(validation.NameIsDNSSubdomain(name, false)) == 0; got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}
