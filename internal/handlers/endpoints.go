package handlers

import (
	"berth/internal/access"
)

// endpoints are on every listener.
func (a *API) endpoints() []endpoint {
	return []endpoint{
		routed("GET /livez", 0, open, nil, a.livez),
		routed("GET /readyz", 0, open, nil, a.readyz),
		routed("GET /metrics", access.View, allClusters, nil, a.scrapeMetrics),
		routed("GET /openapi.yaml", 0, open, nil, a.openAPI),
		routed("GET /docs", 0, open, nil, a.docsPage),
		routed("GET /docs/{file}", 0, open, nil, a.docsFile),
	}
}
