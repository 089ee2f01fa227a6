package admit

import (
	"mime"
	"net/http"
	"strings"

	"berth/internal/handlers/exchange"
	"berth/internal/handlers/limits"
	"berth/internal/kube/object"
	"berth/internal/memory"
)

// IsYAML reports whether a media type is one of YAML's.
func IsYAML(media string) bool {
	return strings.HasSuffix(media, "/yaml") || strings.HasSuffix(media, "/x-yaml") || strings.HasSuffix(media, "+yaml")
}

// JSONBody is RawBody for calls of the REST API, whose bodies may be YAML: Content-Type says so.
// YAML is converted within the same limits. kube-scheduler's calls are always JSON.
func (a *Admission) JSONBody(w http.ResponseWriter, r *http.Request, limit limits.Bytes, setting string) ([]byte, error) {
	body, err := exchange.RawBody(w, r, limit, setting)
	if err != nil {
		return nil, err
	}
	media := r.Header.Get("Content-Type")
	if media != exchange.JSONType[0] {
		media, _, _ = mime.ParseMediaType(media)
	}
	if IsYAML(media) {
		if err := memory.Take(r.Context(), exchange.DecoderBytes); err != nil {
			return nil, err
		}
		if body, err = object.YAMLToJSON(body, a.Limits.Objects(), 0); err != nil {
			return nil, err
		}
		if string(body) == "null" { // nothing but comments
			body = nil
		}
	}
	return body, memory.Take(r.Context(), object.Weight(body))
}
