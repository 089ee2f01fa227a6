package kubeobj

import (
	"strings"
	"testing"

	"github.com/google/uuid"
)

// TestUIDsAreThoseOfTheLibrary compares them for keys short and long.
func TestUIDsAreThoseOfTheLibrary(t *testing.T) {
	for _, n := range []int{0, 1, 20, 253, 1000} {
		k := Key{Kind: "Pod", Namespace: strings.Repeat("n", n/2), Name: strings.Repeat("p", n)}
		text := k.Kind + "/" + k.Namespace + "/" + k.Name
		if got, want := string(DerivedUID(k)), uuid.NewSHA1(uidSpace, []byte(text)).String(); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
		want := uuid.NewSHA1(uidSpace, []byte(text+"@42"))
		want[6] = want[6]&0x0f | 0x80
		if got := string(GivenUID(k, 42)); got != want.String() || !IsGivenUID(GivenUID(k, 42)) {
			t.Errorf("%d, given: %s, want %s", n, got, want)
		}
	}
}
