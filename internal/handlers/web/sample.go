package web

import (
	"bytes"
	"net/http"
	"slices"

	"berth/examples"
)

// sampleCluster is the cluster that the sample becomes.
const sampleCluster = "sample"

// loadSample uploads the example cluster and leads to its pending pods.
func (s *Site) loadSample(w http.ResponseWriter, r *http.Request) {
	v := s.visit(r)
	req, err := v.request(http.MethodPost, "/v1/snapshots?cluster="+sampleCluster, bytes.NewReader(slices.Concat(examples.Cluster, []byte("---\n"), examples.Pods)))
	if err != nil {
		s.fail(w, v, err)
		return
	}
	req.Header.Set("Content-Type", "application/yaml")
	var made struct {
		ID string `json:"id"`
	}
	if err := v.do(req, &made); err != nil {
		s.fail(w, v, err)
		return
	}
	http.Redirect(w, r, "/?cluster="+sampleCluster, http.StatusSeeOther)
}
