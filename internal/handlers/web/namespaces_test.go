package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"berth/internal/revision"
	"berth/test/accesstest"
)

// TestPagesNameNoOtherNamespace visits every page as callers of namespace shop.
func TestPagesNameNoOtherNamespace(t *testing.T) {
	base := serve(t)
	for _, evicted := range []bool{false, true} {
		post(t, base+"/v1/snapshots?cluster=prod", accesstest.TwoTeams(evicted))
		post(t, base+"/v1/decisions", `{"snapshot":"prod@latest","podRef":{"namespace":"vault","name":"vault-waits"}}`)
	}
	id := post(t, base+"/v1/decisions", `{"snapshot":"prod@1","podRef":{"namespace":"shop","name":"big"}}`).Get("Berth-Decision-Id")
	paths := []string{
		"/pods/shop/big", "/pods/shop/big?snapshot=prod@1", "/pods/shop/small?snapshot=prod@1", "/?snapshot=prod@1", "/?suggest=true&namespace=shop", "/compare?a=prod@1&b=prod@2",
		"/fit?ask=1&pod=" + url.QueryEscape(examplePod), "/drain?ask=1&nodes=n1&force=on", "/lose?ask=1&zone=a", "/pools?ask=1&like=n1", "/simulate?ask=1", "/sql?query=revisions", "/find?q=va",
	}
	for i := range pages {
		paths = append(paths, strings.NewReplacer("/snapshots/{id}", "/snapshots/prod@1", "{id}", id, "{namespace}", "shop", "{name}", "big", "{node}", "n1").Replace(pages[i].path))
	}
	shown := map[string]bool{"/": true, "/pods/shop/big": true, "/queue": true, "/decisions": true, "/decisions/" + id: true}
	for _, path := range paths {
		address := base + path + "?cluster=prod"
		if strings.Contains(path, "?") {
			address = base + path + "&cluster=prod"
		}
		for _, caller := range []string{"viewer/shop", "decider/shop", "admin/shop"} {
			for _, accept := range []string{"text/html", "application/json"} {
				body, resp := get(t, address, "Test-Caller", caller, "Accept", accept)
				if strings.Contains(body, accesstest.Hidden) || shown[path] && (resp.StatusCode != http.StatusOK || !strings.Contains(body, "big")) {
					t.Errorf("%s of %s as %s: %d %s", path, accept, caller, resp.StatusCode, body)
				}
			}
		}
		body, _ := get(t, address)
		if shown[path] && !strings.Contains(body, accesstest.Hidden) && !strings.HasPrefix(path, "/decisions/") {
			t.Errorf("%s names nothing of vault to a caller of the whole cluster", path)
		}
	}
}

// TestPagesSayWhatIsMissing: pages say of which kinds the snapshot has nothing, and the first page
// has the command of a whole dump.
func TestPagesSayWhatIsMissing(t *testing.T) {
	base := serve(t)
	if body, _ := get(t, base+"/"); !strings.Contains(body, revision.Collect) {
		t.Errorf("the first page has not %q: %s", revision.Collect, body)
	}
	post(t, base+"/v1/snapshots?cluster=prod", accesstest.TwoTeams(false))
	for _, path := range []string{"/", "/pods/shop/big", "/map", "/fit"} {
		if body, _ := get(t, base+path+"?cluster=prod"); !strings.Contains(body, "StorageClasses") || !strings.Contains(body, "answers about these are guesses") {
			t.Errorf("%s does not say that there are no StorageClasses: %s", path, body)
		}
	}
}

// TestPagesSayWhatTheyCannotKnow: a pod that every node rejects for a kind that the snapshot lacks
// is not called unschedulable, as on the command line, and what is kept and not applied is said.
func TestPagesSayWhatTheyCannotKnow(t *testing.T) {
	base := serve(t)
	const items = `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}},
		{"kind":"LimitRange","apiVersion":"v1","metadata":{"namespace":"d","name":"l"},"spec":{}},
		{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"d","name":"pg"},"spec":{"runtimeClassName":"kata","containers":[{"name":"c"}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"pg"}}]}}`
	post(t, base+"/v1/snapshots?cluster=prod", `{"kind":"List","apiVersion":"v1","items":[`+items+`]}`)
	body, _ := get(t, base+"/pods/d/pg?cluster=prod")
	for _, want := range []string{">unknown</span>", "Could not know: prod@1 has no PersistentVolumeClaims.", "prod@1 has LimitRanges: admission and changes apply them, other answers do not", "there is no RuntimeClass kata"} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	const claim = `,{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"namespace":"d","name":"other"}}`
	post(t, base+"/v1/snapshots?cluster=prod", `{"kind":"List","apiVersion":"v1","items":[`+items+claim+`]}`)
	if body, _ = get(t, base+"/pods/d/pg?cluster=prod"); strings.Contains(body, "Could not know") || !strings.Contains(body, ">pending</span>") {
		t.Errorf("with claims: %s", body)
	}
}

// TestSettingsAreForAdmins shows who may read the settings.
func TestSettingsAreForAdmins(t *testing.T) {
	base := sampled(t)
	for caller, want := range map[string]bool{"viewer/*": false, "admin/shop": false, "admin/*": true, "": true} {
		body, resp := get(t, base+"/settings?cluster=sample", "Test-Caller", caller)
		if shown := strings.Contains(body, "--listen"); resp.StatusCode != http.StatusOK || shown != want {
			t.Errorf("%q: %d, the settings are shown: %t", caller, resp.StatusCode, shown)
		}
	}
}

// TestWordsOfTheSample: its pods do not say when they were made, and wait in the active queue.
func TestWordsOfTheSample(t *testing.T) {
	base := sampled(t)
	if body, _ := get(t, base+"/?cluster=sample"); strings.Contains(body, `"num">?<`) || !strings.Contains(body, `"num">unknown<`) {
		t.Errorf("the age of a pod that has none: %s", body)
	}
	if body, _ := get(t, base+"/pods/shop/web-4?cluster=sample"); !strings.Contains(body, "of 3 active<") {
		t.Errorf("a place in the queue: %s", body)
	}
}
