package admit

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"berth/internal/handlers/exchange"
	"berth/internal/words"
)

// only refuses a call whose query has other parameters than these, or one more than once. A
// misspelt one must not be passed over: an upload with ?clutser=test would replace the state of
// another cluster.
func only(r *http.Request, names []string) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return exchange.BadRequest("the query is not escaped as one of a URL")
	}
	given := make([]string, 0, len(query))
	for name := range query {
		given = append(given, name)
	}
	slices.Sort(given) // the same refusal for the same query
	for _, name := range given {
		switch {
		case !slices.Contains(names, name):
			message := "unknown parameter"
			if near, ok := words.Nearest(name, names); ok {
				message += ": did you mean " + near + "?"
			}
			return exchange.BadField(http.StatusBadRequest, fmt.Sprintf("%.60s", name), message)
		case len(query[name]) > 1:
			return exchange.BadField(http.StatusBadRequest, name, "it is there more than once")
		case strings.ContainsRune(query[name][0], 0):
			return exchange.BadField(http.StatusBadRequest, name, "it must not hold a NUL")
		}
	}
	return nil
}
