package play

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"berth/test/conformance/tables/record"
	"berth/test/conformance/trial"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// Two nodes, one with a name that no node may have; a pod with neither name nor
// container.
var (
	nodeA = raw(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"nodeA"}}`)
	nodeB = raw(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"b"}}`)
	pod   = raw(`{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{"nodeName":"","containers":null}}`)
)

func call(method, node, code string, reasons ...string) *record.Call {
	return &record.Call{Plugin: "TaintToleration", Method: method, Made: "New", Pod: pod, Objects: []json.RawMessage{nodeA, nodeB}, Node: node, Code: code, Reasons: reasons}
}

// berth answers every decision with one body, and keeps what it was asked.
func berth(t *testing.T, body string, asked *[]string) *trial.Client {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		*asked = append(*asked, string(in))
		if strings.HasPrefix(r.URL.Path, "/v1/snapshots") {
			fmt.Fprint(w, `{"id":"tables@1"}`)
			return
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return trial.NewClient(s.URL, "tables")
}

func TestPlay(t *testing.T) {
	const agrees = `{"outcome":"Scheduled","nodes":[{"name":"b","feasible":true},{"name":"nodea","code":"UnschedulableAndUnresolvable","reasons":["taint"]}]}`
	scenario := func(calls ...*record.Call) *record.Scenario { return &record.Scenario{Name: "x", Calls: calls} }
	refused := call("Filter", "nodeA", "UnschedulableAndUnresolvable", "taint")
	for name, c := range map[string]struct {
		s    *record.Scenario
		body string
		want Outcome
	}{
		"agreed":                     {scenario(refused, call("Filter", "b", "Success")), agrees, Agreed},
		"another reason":             {scenario(refused), strings.Replace(agrees, "taint", "spot", 1), Differs},
		"another code":               {scenario(refused), strings.Replace(agrees, "AndUnresolvable", "", 1), Differs},
		"feasible here, not there":   {scenario(call("Filter", "b", "Unschedulable", "taint")), agrees, Differs},
		"feasible there, not here":   {scenario(call("Filter", "nodeA", "Success")), agrees, Differs},
		"berth abstains":             {scenario(call("Filter", "nodeA", "Success")), agrees[:len(agrees)-1] + `,"notEvaluated":[{"plugin":"TaintToleration"}]}`, Abstains},
		"no verdict":                 {scenario(call("Filter", "nodeA", "Error", "no state")), agrees, LeftOut},
		"no call":                    {scenario(), agrees, LeftOut},
		"upstream's test fails":      {&record.Scenario{Failed: true, Calls: []*record.Call{refused}}, agrees, LeftOut},
		"a filter after a skip":      {scenario(call("PreFilter", "", "Skip"), refused), `{"outcome":"Scheduled","nodes":[{"name":"b","feasible":true}]}`, Agreed},
		"scored otherwise":           {scenario(call("Score", "b", "Success")), `{"nodes":[{"name":"b","feasible":true,"scores":[{"plugin":"TaintToleration","raw":1}]},{"name":"nodea","feasible":true}]}`, Differs},
		"a single node isn't scored": {scenario(call("Score", "b", "Success")), `{"nodes":[{"name":"b","feasible":true}]}`, LeftOut},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			r, err := Play(t.Context(), berth(t, c.body, &asked), c.s)
			if err != nil {
				t.Fatal(err)
			}
			if r.Outcome != c.want {
				t.Errorf("%s %s %q, want %s", r.Outcome, r.Why, r.Diffs, c.want)
			}
		})
	}
	var asked []string
	if _, err := Play(t.Context(), berth(t, agrees, &asked), scenario(refused)); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(asked, "\n")
	for _, want := range []string{`"name":"nodea"`, `"name":"incoming"`, `"multiPoint":{"disabled":[{"name":"*"}]}`, `"filter":{"enabled":[{"name":"TaintToleration"}]}`} {
		if !strings.Contains(all, want) {
			t.Errorf("%s was not asked:\n%s", want, all)
		}
	}
}

// TestError: an error of the plugin's ends the cycle; berth agrees if it refuses to
// answer and names the same error, and in no other way.
func TestError(t *testing.T) {
	for body, want := range map[string]Outcome{
		`{"status":422,"detail":"pod: TaintToleration: no such key: healthy"}`: Agreed,
		`{"status":422,"detail":"pod: something else"}`:                        Differs,
		`no such key: healthy`: Differs,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/v1/snapshots") {
				fmt.Fprint(w, `{"id":"tables@1"}`)
				return
			}
			http.Error(w, body, http.StatusUnprocessableEntity)
		}))
		failed := call("Filter", "b", "Error", "no such key: healthy")
		failed.Pod = raw(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default"},"spec":{"containers":[{"name":"c","image":"none"}]}}`)
		r, err := Play(t.Context(), trial.NewClient(s.URL, "tables"), &record.Scenario{Name: "x", Calls: []*record.Call{failed}})
		s.Close()
		if err != nil || r.Outcome != want {
			t.Errorf("%s: %+v, %v, want %s", body, r, err, want)
		}
	}
}

// TestQuestions: what belongs to one cluster is sent at once, and an object that changed makes
// another question.
func TestQuestions(t *testing.T) {
	other := call("Filter", "b", "Success")
	other.Objects = []json.RawMessage{nodeA, raw(`{"kind":"Node","metadata":{"name":"b","labels":{"a":"b"}}}`)}
	s := &record.Scenario{Calls: []*record.Call{call("PreFilter", "", "Success"), call("Filter", "nodeA", "Success"), call("Filter", "b", "Success"), call("Score", "b", "Success"), other}}
	var got []int
	for _, q := range questions(s) {
		got = append(got, len(q.calls))
	}
	if fmt.Sprint(got) != "[3 1 1]" {
		t.Errorf("calls by question: %v", got)
	}
}
