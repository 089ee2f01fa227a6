package handlers

import (
	"mime"
	"net/http"
	"strings"

	"berth/internal/kube/object"
	"berth/internal/memory"
)

// isYAML reports whether a media type is one of YAML's.
func isYAML(media string) bool {
	return strings.HasSuffix(media, "/yaml") || strings.HasSuffix(media, "/x-yaml") || strings.HasSuffix(media, "+yaml")
}

// jsonBody is rawBody for calls of the REST API, whose bodies may be YAML: Content-Type says so.
// YAML is converted within the same limits. kube-scheduler's calls are always JSON.
func (a *admission) jsonBody(w http.ResponseWriter, r *http.Request, limit Bytes, setting string) ([]byte, error) {
	body, err := rawBody(w, r, limit, setting)
	if err != nil {
		return nil, err
	}
	media := r.Header.Get("Content-Type")
	if media != jsonType[0] {
		media, _, _ = mime.ParseMediaType(media)
	}
	if isYAML(media) {
		if err := memory.Take(r.Context(), decoderBytes); err != nil {
			return nil, err
		}
		if body, err = object.YAMLToJSON(body, a.limits.objects(), 0); err != nil {
			return nil, err
		}
		if string(body) == "null" { // nothing but comments
			body = nil
		}
	}
	return body, memory.Take(r.Context(), object.Weight(body))
}
