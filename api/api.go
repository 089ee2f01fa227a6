// Package api holds the description of berth's HTTP API, which cmd/openapi writes from the
// handlers' annotations.
package api

import _ "embed"

// OpenAPI is the description, OpenAPI 3.0 in YAML.
//
//go:embed openapi.yaml
var OpenAPI []byte
