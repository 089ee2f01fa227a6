package object

import "testing"

// TestUIDsStay: records and revisions have them, so that no release may give others.
func TestUIDsStay(t *testing.T) {
	for _, test := range []struct {
		key            Key
		derived, given string
	}{
		{Key{Kind: "Pod", Namespace: "default", Name: "web"}, "3cdb41f1-bfa7-5b96-a5cd-2178dcf4bc02", "057db17d-0d17-870c-ba05-d311a739210d"},
		{Key{Kind: "Node", Name: "node-a"}, "12bdd1aa-b692-5853-a261-47b5b1f5b61d", "a97c3917-926f-8478-8940-369ee53c828b"},
	} {
		if got := string(DerivedUID(test.key)); got != test.derived {
			t.Errorf("%v: derived %s, want %s", test.key, got, test.derived)
		}
		got := GivenUID(test.key, 42)
		if string(got) != test.given || !IsGivenUID(got) {
			t.Errorf("%v: given %s, want %s", test.key, got, test.given)
		}
	}
	if IsGivenUID(DerivedUID(Key{Kind: "Pod", Name: "a"})) || IsGivenUID("a") {
		t.Error("taken for the UID that a ledger gave")
	}
}
