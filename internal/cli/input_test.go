package cli

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
)

// Pods come in every form that kubectl prints, and as the REST API takes them.
func TestInputForms(t *testing.T) {
	const spec = `"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]},"status":{"phase":"Succeeded"}`
	for _, c := range []struct {
		name, in string
		pods     []string
	}{
		{"one object", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},` + spec + `}`, []string{"default/a"}},
		{"no kind", `{"metadata":{"name":"a","namespace":"x"},` + spec + `}`, []string{"x/a"}},
		{"list", `{"apiVersion":"v1","kind":"List","items":[{"kind":"Pod","metadata":{"name":"a"},` + spec + `},{"kind":"Service","metadata":{"name":"s"}}]}`, []string{"default/a"}},
		{"list of one kind", `{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"},` + spec + `},{"metadata":{"name":"b"},` + spec + `}]}`, []string{"default/a", "default/b"}},
		{"lists in a list", `{"kind":"List","items":[{"kind":"PodList","items":[{"metadata":{"name":"a"},` + spec + `}]}]}`, []string{"default/a"}},
		{"one after the other", `{"kind":"Pod","metadata":{"name":"a"},` + spec + "}\n" + `{"kind":"Pod","metadata":{"name":"b"},` + spec + `}`, []string{"default/a", "default/b"}},
		{"byte order mark", "\xef\xbb\xbf" + `{"kind":"Pod","metadata":{"name":"a"},` + spec + `}`, []string{"default/a"}},
		{"UTF-16", wide(`{"kind":"Pod","metadata":{"name":"a"},` + spec + `}`), []string{"default/a"}},
		{"a warning first", "Warning: v1 x is deprecated\n" + `{"kind":"Pod","metadata":{"name":"a"},` + spec + `}`, []string{"default/a"}},
		{"aliases", "kind: Pod\nmetadata: {name: &n a, labels: {app: *n}}\nspec: {containers: [{name: c}]}\nstatus: {phase: Succeeded}\n", []string{"default/a"}},
		{"documents", "---\nkind: Pod\nmetadata: {name: a}\nspec: {nodeName: node-1, containers: [{name: c}]}\nstatus: {phase: Succeeded}\n---\n# nothing\n---\nkind: Pod\nmetadata: {name: b}\nspec: {containers: [{name: c}]}\nstatus: {phase: Succeeded}\n", []string{"default/a", "default/b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &app{Streams: Streams{In: strings.NewReader(c.in)}}
			in, err := a.readInput(stdinName)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range in.pods {
				got = append(got, p.String())
			}
			if strings.Join(got, " ") != strings.Join(c.pods, " ") {
				t.Errorf("%v", got)
			}
			if r := (call{in: c.in}).run(t, "lifecycle", "-"); r.code != exitYes {
				t.Errorf("%+v", r)
			}
		})
	}
}

// wide writes a text as UTF-16, as PowerShell's > does.
func wide(text string) string {
	out := []byte("\xff\xfe")
	for _, c := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, c)
	}
	return string(out)
}

// TestFilesAsTheyCome: a dump is read as kubectl, PowerShell, jq and people leave it. What is wrong
// in one is told by document and line, and by no setting of a server.
func TestFilesAsTheyCome(t *testing.T) {
	const pod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}}`
	const nodes = `{"apiVersion":"v1","items":[{"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"1","memory":"1Gi","pods":"9"}}}],"kind":"NodeList"}`
	for name, dump := range map[string]string{
		"a list in order of keys": nodes + pod,
		"a byte order mark":       "\xef\xbb\xbf" + nodes + "\n" + pod,
		"UTF-16":                  wide(nodes + "\r\n" + pod),
		"a warning":               "Warning: v1 ComponentStatus is deprecated in v1.19+\n" + nodes + pod,
		"aliases elsewhere":       "kind: Chart\napiVersion: x.example/v1\na: &a [1]\nb: *a\n---\n" + nodes + "\n---\n" + pod,
	} {
		if r := (call{in: dump}).run(t, "explain", "a", "--snapshot", "-"); r.code != exitYes || !strings.Contains(r.out, "WOULD FIT") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for _, c := range []struct {
		args     []string
		in, want string
	}{
		{[]string{"explain", "a", "--snapshot", "-"}, nodes + "\n" + pod + "\n{}", "document 3: the object has no kind (at line 3)"},
		{[]string{"lifecycle", "-"}, pod + "\n" + pod + "\n[]", "document 3, line 3: it is not an object"},
		{[]string{"lifecycle", "-"}, "kind: Pod\n---\na: [\n", "document 2: yaml: line 3"},
		{[]string{"explain", "a", "--snapshot", "-"}, "kind: Node\na: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [" + strings.Repeat("*a,", 900) + "]\nc: [" + strings.Repeat("*b,", 90) + "]\n", "with each alias written out in the dump is over 100000, the most that is read"},
	} {
		r := (call{in: c.in}).run(t, c.args...)
		if r.code != exitBroken || !strings.Contains(r.err, c.want) || strings.Contains(r.err, "max-") {
			t.Errorf("%q: %+v, want %q", c.in, r, c.want)
		}
	}
}

// What a cluster says cannot turn a terminal's lines or colours over.
func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a\nb\tc": "a b c", "\x1b[31mred": "?[31mred", "\u202eright": "?right", "e\u0301": "e\u0301", "\u0085": " ", "zwj\u200d": "zwj?",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A command that is broken over lines is, to a shell, the command.
func TestCommandsStayCommands(t *testing.T) {
	long := strings.Repeat("node-", 60)
	words := []string{"berth", "explain", "shop/" + long, "--node", quote("it's"), "--snapshot", "cluster.json"}
	lines := wrapCommand(words, 40)
	for _, l := range lines {
		if columns(l) > 40 {
			t.Errorf("%q", l)
		}
	}
	joined := strings.Join(strings.Fields(strings.ReplaceAll(strings.Join(lines, "\n"), "\\\n", "")), " ")
	if joined != strings.Join(words, " ") {
		t.Errorf("%s", joined)
	}
	if got := quote("it's"); got != `'it'\''s'` {
		t.Error(got)
	}
}

func TestWords(t *testing.T) {
	for n, want := range map[int64]string{0: "0s", 59: "59s", 119: "119s", 120: "2m", 200: "3m20s", 1320: "22m", 3700: "1h1m", 172800: "2d", 190800: "2d5h", 864000: "10d", -5: "-5s"} {
		if got := span(n); got != want {
			t.Errorf("span(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %s, want %s", n, got, want)
		}
	}
	for _, c := range []struct {
		name string
		n    int64
		want string
	}{{"cpu", 1500, "1500m"}, {"cpu", 2000, "2"}, {"memory", 1 << 30, "1Gi"}, {"memory", 1610612736, "1.5Gi"}, {"example.com/gpu", 3, "3"}} {
		if got := amounts(c.name, []int64{c.n})[0]; got != c.want {
			t.Errorf("amounts(%s, %d) = %s, want %s", c.name, c.n, got, c.want)
		}
	}
}

// What is no pod, or no file, is told in words, with what to do.
func TestInputThatIsNone(t *testing.T) {
	for in, want := range map[string]string{
		"garbage":                           "it is not an object",
		`[{"kind":"Pod"}]`:                  "it is not an object",
		`{"kind":"PodList","items":"none"}`: "items is string, which no Kubernetes object has there",
		`{"kind":["Pod"]}`:                  "kind is array, which no Kubernetes object has there",
	} {
		r := call{in: in}.run(t, "lifecycle", "-")
		if r.code != exitBroken || !strings.Contains(r.err, want) || !strings.Contains(r.err, "kubectl get pod") || strings.Contains(r.err, "Go value") || r.out != "" {
			t.Errorf("%s: %+v", in, r)
		}
	}
	for _, args := range [][]string{{"lifecycle", "-f", "nowhere.json"}, {"explain", "p", "--snapshot", "nowhere.json"}} {
		if r := (call{}).run(t, args...); r.code != exitBroken || !strings.HasPrefix(r.err, "berth: there is no file nowhere.json") || !strings.Contains(r.err, "kubectl get") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// A deadline that is ahead is told, and one that is over makes the answer no.
func TestDeadlineIsTold(t *testing.T) {
	pod := func(began string) call {
		return call{in: `{"kind":"Pod","metadata":{"name":"a"},"spec":{"nodeName":"n","activeDeadlineSeconds":600,"containers":[{"name":"c"}]},"status":{"phase":"Running","startTime":"` + began +
			`","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"c","ready":true,"started":true,"state":{"running":{"startedAt":"` + began + `"}}}]}}`}
	}
	if r := pod("2026-11-21T09:25:00Z").run(t, "lifecycle", "-"); r.code != exitYes || !strings.Contains(r.out, "UNTIL   09:35:00: then its activeDeadlineSeconds fail it, in 5m\n") {
		t.Errorf("%+v", r)
	}
	if r := pod("2026-11-21T09:20:00Z").run(t, "lifecycle", "-"); r.code != exitNo || strings.Contains(r.out, "UNTIL") || !strings.Contains(r.out, "phase Failed") {
		t.Errorf("%+v", r)
	}
}
