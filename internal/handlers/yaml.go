package handlers

import (
	"bytes"
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
func (a *API) jsonBody(w http.ResponseWriter, r *http.Request, limit Bytes, setting string) ([]byte, error) {
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

// notJSON words a body that is no JSON object; one that looks like YAML needs its media type.
func notJSON(body []byte) string {
	const message = "the body is not a JSON object"
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return message + ": it begins with a byte order mark; want UTF-8 without one"
	case bytes.HasPrefix(body, []byte("\xff\xfe")), bytes.HasPrefix(body, []byte("\xfe\xff")):
		return message + ": it is UTF-16; want UTF-8"
	}
	line, _, _ := bytes.Cut(body, []byte("\n"))
	key, _, _ := bytes.Cut(line, []byte(":"))
	switch {
	case bytes.HasPrefix(line, []byte("---")), bytes.HasPrefix(line, []byte("#")), bytes.HasPrefix(line, []byte("%YAML")):
	case len(key) < len(line) && len(key) > 0 && bytes.IndexFunc(key, notOfName) < 0:
	default:
		return message
	}
	return message + "; for YAML send Content-Type: application/yaml"
}

func notOfName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}
