package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strconv"

	"github.com/go-chi/chi/v5"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file that pages load.
type asset struct {
	mediaType, etag string
	body            []byte
}

var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".yaml": "application/yaml",
}

func readAssets() (map[string]asset, error) {
	files, err := assetFiles.ReadDir("assets")
	if err != nil {
		return nil, fmt.Errorf("read the pages' files: %w", err)
	}
	out := map[string]asset{}
	for _, f := range files {
		body, err := assetFiles.ReadFile("assets/" + f.Name())
		if err != nil {
			return nil, fmt.Errorf("read the pages' files: %w", err)
		}
		sum := sha256.Sum256(body)
		out[f.Name()] = asset{mediaTypes[path.Ext(f.Name())], `"` + hex.EncodeToString(sum[:8]) + `"`, body}
	}
	return out, nil
}

func (s *Site) asset(w http.ResponseWriter, r *http.Request) {
	f, ok := s.assets[chi.URLParam(r, "file")]
	if !ok {
		s.fail(w, s.visit(r), &problem{Status: http.StatusNotFound, Title: "Not found", Detail: "the pages have no such file"})
		return
	}
	h := w.Header()
	h.Set("ETag", f.etag)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Header.Get("If-None-Match") == f.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.mediaType)
	h.Set("Content-Length", strconv.Itoa(len(f.body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(f.body)
}
