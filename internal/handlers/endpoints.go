package handlers

import (
	"berth/internal/access"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
)

// endpoints are on every listener.
func (a *API) endpoints() []admit.Endpoint {
	return []admit.Endpoint{
		admit.Routed("GET /livez", 0, exchange.Open, nil, a.livez),
		admit.Routed("GET /readyz", 0, exchange.Open, nil, a.readyz),
		admit.Routed("GET /metrics", access.View, exchange.AllClusters, nil, a.scrapeMetrics),
		admit.Routed("GET /openapi.yaml", 0, exchange.Open, nil, a.openAPI),
		admit.Routed("GET /docs", 0, exchange.Open, nil, a.docsPage),
		admit.Routed("GET /docs/{file}", 0, exchange.Open, nil, a.docsFile),
	}
}
