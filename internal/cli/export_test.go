package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

// TestExport reads two pages of a server that is busy in between, as Parquet and as NDJSON. What a
// type shows later holds for all rows.
func TestExport(t *testing.T) {
	busy, asked := false, []string{}
	columns := []string{"pod", "n", "share", "ok", "created_at", "note"}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI())
		page := map[string]any{
			"view": "decision_log", "columns": columns, "types": []string{"text", "integer", "number", "boolean", "time", ""}, "cursor": "next",
			"rows": [][]any{{"a", 9007199254740993, 1, true, "2026-01-02T03:04:05.000006Z", nil}, {"b", nil, nil, nil, nil, nil}},
		}
		switch {
		case r.URL.Path != "/v1/views/decision_log":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"detail":"there is no view"}`)
			return
		case r.URL.Query().Get("cursor") == "":
		case !busy:
			busy = true
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"detail":"too many calls"}`)
			return
		default:
			delete(page, "cursor")
			page["types"] = []string{"text", "integer", "integer", "boolean", "time", "integer"}
			page["rows"] = [][]any{{"c", -1, 2, false, "1969-12-31T23:59:59.999999Z", 7}}
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	defer s.Close()
	from, dir := call{env: map[string]string{"BERTH_SERVER": s.URL}}, t.TempDir()
	name := filepath.Join(dir, "log.ndjson")
	args := []string{"export", "--cluster", "prod", "--since", "2026-01-02T00:00:00Z", "--until", "2026-01-03T00:00:00Z", "--file"}
	if got := from.run(t, append(args, name)...); got.code != 0 || !strings.HasSuffix(got.out, "log.ndjson: 3 rows of decision_log, prod\n") {
		t.Fatalf("%+v", got)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"pod":"a","n":9007199254740993,"share":1,"ok":true,"created_at":"2026-01-02T03:04:05.000006Z","note":null}
{"pod":"b","n":null,"share":null,"ok":null,"created_at":null,"note":null}
{"pod":"c","n":-1,"share":2,"ok":false,"created_at":"1969-12-31T23:59:59.999999Z","note":7}
`
	if string(text) != want {
		t.Errorf("%s", text)
	}
	const query = "/v1/views/decision_log?cluster=prod&since=2026-01-02T00%3A00%3A00Z&until=2026-01-03T00%3A00%3A00Z"
	if asked[0] != query || len(asked) != 3 || asked[1] != asked[2] || !strings.Contains(asked[2], "cursor=next") {
		t.Errorf("asked %q", asked)
	}

	name = filepath.Join(dir, "log.parquet")
	if got := from.run(t, append(args, name)...); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	type row struct {
		Pod   *string    `parquet:"pod,optional"`
		N     *int64     `parquet:"n,optional"`
		Share *float64   `parquet:"share,optional"`
		OK    *bool      `parquet:"ok,optional"`
		At    *time.Time `parquet:"created_at,optional,timestamp(microsecond)"`
		Note  *int64     `parquet:"note,optional"`
	}
	rows, err := parquet.ReadFile[row](name)
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	a, b, c := rows[0], rows[1], rows[2]
	if *a.Pod != "a" || *a.N != 9007199254740993 || *a.Share != 1 || !*a.OK || !a.At.Equal(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)) || a.Note != nil {
		t.Errorf("first row %+v", a)
	}
	if *b.Pod != "b" || b.N != nil || b.Share != nil || b.OK != nil || b.At != nil || b.Note != nil {
		t.Errorf("second row %+v", b)
	}
	if *c.N != -1 || *c.Share != 2 || *c.OK || !c.At.Equal(time.UnixMicro(-1)) || *c.Note != 7 {
		t.Errorf("third row %+v", c)
	}

	for _, tt := range []struct{ text, more string }{
		{`--since "": want a time`, "export --file x.parquet"},
		{`--until "never": want a time`, "export --since 2026-01-02T00:00:00Z --until never --file x.parquet"},
		{"want a name that ends with .parquet or .ndjson", "export --since 2026-01-02T00:00:00Z --file " + filepath.Join(dir, "x.csv")},
		{"there is no view", "export --since 2026-01-02T00:00:00Z --view nothing --file " + filepath.Join(dir, "x.parquet")},
	} {
		if got := from.run(t, strings.Fields(tt.more)...); got.code != 1 || !strings.Contains(got.err, tt.text) {
			t.Errorf("%s: %+v, want %q", tt.more, got, tt.text)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
	if got := (call{}).run(t, "export", "--since", "2026-01-02T00:00:00Z", "--file", "x.parquet"); got.code != 1 || !strings.Contains(got.err, "export reads a server's log") {
		t.Errorf("without a server: %+v", got)
	}
}
