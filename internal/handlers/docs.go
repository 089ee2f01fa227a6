package handlers

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/go-chi/chi/v5"

	"berth/api"
	"berth/internal/handlers/exchange"
)

// swaggerUI is Swagger UI as npm has it, with its licences (script/swagger-ui.sh).
//
//go:embed swaggerui
var swaggerUI embed.FS

// docsPageHTML loads Swagger UI from this server alone, so that it works where there is no way out
// to the internet.
const docsPageHTML = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>berth: API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<noscript>This page needs scripts. The description itself is at <a href="/openapi.yaml">/openapi.yaml</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

const docsStart = `window.ui = SwaggerUIBundle({url: "/openapi.yaml", dom_id: "#swagger-ui", deepLinking: true, validatorUrl: null});
`

// docsPolicy lets the page load what is here and nothing else. Swagger UI sets style attributes and
// shows images that it holds as data.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
	"connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// docs are the files of /docs and /openapi.yaml.
type docs struct{ files map[string]docFile }

type docFile struct {
	mediaType, etag string
	body            []byte
}

// allDocs are read where one is first asked for.
var allDocs = sync.OnceValue(func() *docs {
	d := &docs{files: map[string]docFile{}}
	d.add("", "text/html; charset=utf-8", []byte(docsPageHTML))
	d.add("start.js", "text/javascript; charset=utf-8", []byte(docsStart))
	d.add("openapi.yaml", "application/yaml", api.OpenAPI)
	for name, mediaType := range map[string]string{
		"swagger-ui.css": "text/css; charset=utf-8", "swagger-ui-bundle.js": "text/javascript; charset=utf-8", "favicon-32x32.png": "image/png",
		"swagger-ui-bundle.js.LICENSE.txt": "text/plain; charset=utf-8",
	} {
		body, err := swaggerUI.ReadFile("swaggerui/" + name)
		if err != nil {
			panic(fmt.Sprintf("read embedded docs: %v", err)) // a bug: it has no input
		}
		d.add(name, mediaType, body)
	}
	return d
})

func (d *docs) add(name, mediaType string, body []byte) {
	sum := sha256.Sum256(body)
	d.files[name] = docFile{mediaType, `"` + hex.EncodeToString(sum[:8]) + `"`, body}
}

func (d *docs) serve(w http.ResponseWriter, r *http.Request, name string) error {
	f, ok := d.files[name]
	if !ok || name == "openapi.yaml" && r.URL.Path != "/openapi.yaml" {
		return exchange.NotFound("the documentation has no such file")
	}
	h := w.Header()
	h.Set("Content-Security-Policy", docsPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("ETag", f.etag)
	h.Set("Cache-Control", "no-cache")
	if r.Header.Get("If-None-Match") == f.etag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", f.mediaType)
	h.Set("Content-Length", strconv.Itoa(len(f.body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(f.body)
	return nil
}

// openAPI returns the description of this API.
//
//	@Summary	This description
//	@Tags		around
//	@Produce	application/yaml
//	@Success	200	{string}	string	"OpenAPI 3.0"
//	@Success	304	"not changed since the ETag"
//	@Failure	431	"headers of more than max-header-bytes"
//	@Router		/openapi.yaml [get]
func (a *API) openAPI(w http.ResponseWriter, r *http.Request) error {
	return allDocs().serve(w, r, "openapi.yaml")
}

// docsPage returns a page to browse the description with.
//
//	@Summary	This description, to browse
//	@Tags		around
//	@Produce	html
//	@Success	200	{string}	string	"a page"
//	@Success	304	"not changed since the ETag"
//	@Failure	431	"headers of more than max-header-bytes"
//	@Router		/docs [get]
func (a *API) docsPage(w http.ResponseWriter, r *http.Request) error {
	return allDocs().serve(w, r, "")
}

// docsFile returns a file of the page.
//
//	@Summary	A file of the page
//	@Tags		around
//	@Produce	text/css,text/javascript,text/plain,image/png
//	@Param		file	path		string	true	"the file's name"
//	@Success	200		{string}	string	"the file"
//	@Success	304		"not changed since the ETag"
//	@Failure	404		{object}	exchange.Problem
//	@Router		/docs/{file} [get]
func (a *API) docsFile(w http.ResponseWriter, r *http.Request) error {
	return allDocs().serve(w, r, chi.URLParam(r, "file"))
}
