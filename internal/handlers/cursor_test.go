package handlers

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestCursorsAreSealed: a cursor that was changed, made up or taken from another list is refused by
// name.
func TestCursorsAreSealed(t *testing.T) {
	h := start(t, nil)
	for _, c := range []string{"prod", "test"} {
		h.upload(c, listOf(node("n1", "8"), node("n2", "8"), node("n3", "8")))
		for range 2 {
			h.upload(c, listOf(node("n1", "8"), node("n2", "9"), node("n3", c2(c))))
			h.upload(c, listOf(node("n1", "8"), node("n2", "8"), node("n3", "8")))
		}
		for i := range 3 {
			h.want(201, nil, "POST", "/v1/decisions", fmt.Sprintf(`{"snapshot":"%s@latest","pod":%s}`, c, pod(fmt.Sprint("p", i), "1", "")))
		}
	}
	lists := map[string]string{
		"/v1/clusters":                   "",
		"/v1/snapshots":                  "cluster=prod",
		"/v1/snapshots/prod@1/objects":   "",
		"/v1/decisions":                  "cluster=prod",
		"/v1/clusters/prod/queue":        "",
		"/v1/replays":                    "",
		"/v1/simulations":                "",
		"/v1/snapshots/test@1/objects":   "",
		"/v1/snapshots/prod@2/objects?x": "kind=Node",
	}
	cursors := map[string]string{}
	for path, query := range lists {
		path, _, _ = strings.Cut(path, "?")
		var page struct{ Cursor string }
		h.want(200, &page, "GET", path+"?limit=1&"+query, "")
		if page.Cursor != "" {
			cursors[path+"?"+query] = page.Cursor
		}
	}
	if len(cursors) < 6 {
		t.Fatalf("only %d lists have a second page: %v", len(cursors), cursors)
	}
	refused := func(at, cursor, why string) {
		t.Helper()
		a := h.do("GET", at+"&limit=1&cursor="+url.QueryEscape(cursor), "")
		if a.StatusCode != http.StatusBadRequest || !strings.Contains(string(a.body), `"field":"cursor"`) {
			t.Errorf("%s, %s: %d %s", at, why, a.StatusCode, a.body)
		}
	}
	for at, cursor := range cursors {
		h.want(200, nil, "GET", at+"&limit=2&cursor="+url.QueryEscape(cursor), "") // limit may change
		raw, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil {
			t.Fatal(err)
		}
		for i := range raw {
			raw[i] ^= 1
			refused(at, base64.RawURLEncoding.EncodeToString(raw), "a changed byte")
			raw[i] ^= 1
		}
		refused(at, base64.RawURLEncoding.EncodeToString(raw[16:]), "without its seal")
		refused(at, cursor+"=", "padded")
		refused(at, cursor[:len(cursor)-1], "cut")
		for other, c := range cursors {
			if other != at {
				refused(at, c, "of "+other)
			}
		}
	}
	refused("/v1/decisions?cluster=prod&namespace=shop", cursors["/v1/decisions?cluster=prod"], "of the list without a filter")
}

func c2(cluster string) string { return map[string]string{"prod": "7", "test": "6"}[cluster] }
