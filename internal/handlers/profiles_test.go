package handlers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"berth/internal/handlers/rest"
)

// TestConfigurationOfADecision: the digest of a decision leads to the configuration that it was
// made under, the server's own or another; what is no digest is refused.
func TestConfigurationOfADecision(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	const other = `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"schedulerName":"packed"}]}`
	for name, body := range map[string]string{"default-scheduler": webRef + `}`, "packed": webRef + `,"config":` + other + `}`} {
		var d struct{ ID, ProfileDigest string }
		h.want(http.StatusCreated, &d, http.MethodPost, "/v1/decisions", body)
		var got rest.ProfileConfiguration
		h.want(http.StatusOK, &got, http.MethodGet, "/v1/profiles/"+d.ProfileDigest, "")
		sum := sha256.Sum256(got.Configuration)
		if got.Digest != d.ProfileDigest || got.Profile != name || "sha256:"+hex.EncodeToString(sum[:]) != got.Digest {
			t.Errorf("%s: %+v", name, got)
		}
		var has struct{ SchedulerName string }
		if err := json.Unmarshal(got.Configuration, &has); err != nil || has.SchedulerName != name {
			t.Errorf("%s: %s, %v", name, got.Configuration, err)
		}
	}
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"default-scheduler":                   {http.StatusBadRequest, "digest: want profileDigest of a decision"},
		"sha256:" + strings.Repeat("A", 64):   {http.StatusBadRequest, "digest: want"},
		"sha256:" + strings.Repeat("a", 64):   {http.StatusNotFound, "no decision on record"},
		"sha256:0" + strings.Repeat("a", 64):  {http.StatusBadRequest, "digest: want"},
		strings.Repeat("a", 64) + "?limit=30": {http.StatusBadRequest, "limit"},
	} {
		if got := h.want(want.status, nil, http.MethodGet, "/v1/profiles/"+path, ""); !strings.Contains(string(got.body), want.text) {
			t.Errorf("%s: %s, want %q", path, got.body, want.text)
		}
	}
}
