package object

import "testing"

func TestQuantityHint(t *testing.T) {
	for text, want := range map[string]string{
		"4GB": "4G or 4Gi", "4gb": "4G or 4Gi", "512mb": "512M or 512Mi", "1.5GiB": "1.5Gi", "4 Gi": "4Gi", "64K": "64k or 64Ki", "1kb": "1k or 1Ki",
		"2 cores": "2", "100millicores": "100m", "1,5": "1.5", "2TB": "2T or 2Ti", "8 bytes": "8",
		"": "", "lots": "", "4XB": "", "-": "", "1.2.3GB": "",
	} {
		if want != "" {
			want = "did you mean " + want + "?"
		}
		if got := quantityHint(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
