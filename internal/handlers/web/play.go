package web

import (
	"embed"
	"fmt"
	"net/http"
	"path"
	"strings"

	"berth/internal/decision"
	"berth/internal/engine"
)

//go:embed play/*.yaml
var playFiles embed.FS

// playExample is a question that is ready to try: a title, a cluster and a pod.
type playExample struct{ Name, Title, Objects, Pod string }

// playView is a question about a cluster that comes with it, and the answer.
type playView struct {
	Examples []playExample
	// Objects, Pod and Config are what the form holds.
	Objects, Pod, Config string
	Chosen               string
	Verdict              *verdictView
	// Problem is why there is no answer; the form stays as it was sent.
	Problem *problem
}

// The marks between the parts of an example's file.
const (
	playCluster = "# --- cluster\n"
	playPod     = "# --- pod\n"
)

// readPlay reads the examples, in the order of their files.
func readPlay() ([]playExample, error) {
	files, err := playFiles.ReadDir("play")
	if err != nil {
		return nil, fmt.Errorf("read the examples: %w", err)
	}
	var out []playExample
	for _, f := range files {
		text, err := playFiles.ReadFile("play/" + f.Name())
		if err != nil {
			return nil, fmt.Errorf("read the examples: %w", err)
		}
		title, rest, first := strings.Cut(string(text), playCluster)
		objects, pod, second := strings.Cut(rest, playPod)
		if !first || !second {
			return nil, fmt.Errorf("example %s lacks a part", f.Name())
		}
		name := strings.TrimSuffix(f.Name(), path.Ext(f.Name()))
		out = append(out, playExample{name[2:], strings.Trim(title, "# \n"), objects, pod})
	}
	return out, nil
}

// loadPlay shows the form with the example that the URL names, else the first.
func loadPlay(v *visit) (string, any, error) {
	view := &playView{Examples: v.site.examples}
	for _, e := range view.Examples {
		if view.Chosen == "" || e.Name == v.query.Get("example") {
			view.Chosen, view.Objects, view.Pod = e.Name, e.Objects, e.Pod
		}
	}
	return "Play", view, nil
}

// maxPlay bounds the form of a question, in bytes.
const maxPlay = 4 << 20

// play answers the form. It is a POST since a cluster is too long for an address; nothing is kept.
func (s *Site) play(w http.ResponseWriter, r *http.Request) {
	v := s.visit(r)
	r.Body = http.MaxBytesReader(w, r.Body, maxPlay)
	if err := r.ParseForm(); err != nil {
		s.fail(w, v, &problem{Status: http.StatusBadRequest, Title: "The form cannot be read", Detail: err.Error()})
		return
	}
	view := &playView{Examples: s.examples, Objects: r.PostForm.Get("objects"), Pod: r.PostForm.Get("pod"), Config: r.PostForm.Get("config")}
	ask := map[string]any{"objects": view.Objects, "pod": view.Pod, "explain": engine.ExplainGroups, "suggest": true}
	if strings.TrimSpace(view.Config) != "" {
		ask["config"] = view.Config
	}
	answer := &decision.Answer{}
	err := v.post("/v1/previews", ask, answer)
	if err == nil && answer.Outcome == engine.Scheduled {
		ask["explain"], ask["suggest"] = engine.ExplainFailures, false
		err = v.post("/v1/previews", ask, answer)
	}
	status := http.StatusOK
	switch p, refused := err.(*problem); { //nolint:errorlint // post returns it unwrapped
	case refused:
		view.Problem, status = p, p.Status
	case err != nil:
		s.fail(w, v, err)
		return
	default:
		view.Verdict = verdictOf(answer)
	}
	s.write(w, status, "play", &frame{Title: "Play", Nav: "Playground", View: view, visit: v})
}
