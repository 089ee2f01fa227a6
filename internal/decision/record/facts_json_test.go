package record

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestTextsAreWhatEncodingJSONWrites: requests and labels are the bytes of before.
func TestTextsAreWhatEncodingJSONWrites(t *testing.T) {
	for _, labels := range []map[string]string{nil, {"b": "2", "a/x": "1", "empty": ""}, {"q": `"\` + "\n"}} {
		want, err := json.Marshal(labels)
		if labels == nil {
			want = []byte("{}")
		}
		if got := appendTexts(nil, labels, label); err != nil || string(got) != string(want) {
			t.Errorf("labels %s, not %s (%v)", got, want, err)
		}
	}
	held := corev1.ResourceList{"memory": resource.MustParse("1536Mi"), "cpu": resource.MustParse("0.5"), "example.com/gpu": resource.MustParse("2")}
	want, err := json.Marshal(held)
	if got := appendTexts(nil, held, amount); err != nil || string(got) != string(want) {
		t.Errorf("requests %s, not %s (%v)", got, want, err)
	}
}
