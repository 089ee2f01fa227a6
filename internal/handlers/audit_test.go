package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"berth/internal/audit"
)

func TestAudit(t *testing.T) {
	h := start(t, nil)
	h.want(http.StatusCreated, nil, http.MethodPost, "/v1/snapshots?cluster=prod", listOf(node("n1", "4")))
	for range 3 {
		h.want(http.StatusCreated, nil, http.MethodPost, "/v1/decisions", `{"snapshot":"prod@latest","pod":{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}}}`)
	}
	var heads audit.Anchor
	h.want(http.StatusOK, &heads, http.MethodGet, "/v1/audit/heads", "")
	if len(heads.Heads) != 1 || heads.Heads[0].Seal != 4 || heads.Heads[0].Seq != 3 {
		t.Fatalf("heads %+v", heads)
	}
	var r audit.Report
	h.want(http.StatusOK, &r, http.MethodGet, "/v1/clusters/prod/audit?limit=2", "")
	if !r.More || r.ToSeal != 2 || !r.Good() {
		t.Errorf("the first part: %+v", r)
	}
	at := fmt.Sprintf("/v1/clusters/prod/audit?after=2&seal=4&hash=%s", heads.Heads[0].Hash)
	r = audit.Report{}
	if h.want(http.StatusOK, &r, http.MethodGet, at, ""); r.More || r.ToSeal != 4 || !r.Good() {
		t.Errorf("the rest: %+v", r)
	}
	wrong := strings.Repeat("0", 64)
	r = audit.Report{}
	h.want(http.StatusOK, &r, http.MethodGet, "/v1/clusters/prod/audit?seal=4&hash="+wrong, "")
	if len(r.Findings) != 1 || r.Findings[0].What != audit.Anchored {
		t.Errorf("another hash: %+v", r)
	}
	for query, field := range map[string]string{
		"after=x": "after", "after=-1": "after", "after=9": "after", "limit=0": "limit", "limit=99999": "limit",
		"seal=4": "hash", "hash=" + wrong: "hash", "seal=x&hash=" + wrong: "seal", "seal=4&hash=abc": "hash", "nope=1": "nope",
	} {
		if a := h.do(http.MethodGet, "/v1/clusters/prod/audit?"+query, ""); a.StatusCode != http.StatusBadRequest || !strings.Contains(string(a.body), `"`+field+`"`) {
			t.Errorf("%s: %d %s", query, a.StatusCode, a.body)
		}
	}
	h.want(http.StatusNotFound, nil, http.MethodGet, "/v1/clusters/none/audit", "")
	h.want(http.StatusBadRequest, nil, http.MethodGet, "/v1/audit/heads?cluster=A%20B", "")
}
