package web

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"berth/internal/jobs/simulations"
)

// jobView is a question whose answer takes longer than its form waits: how far it is, and then its
// answer. The parameters of the page are the fields of the form.
type jobView struct {
	simulations.Job
	// Verb is the form that asked, empty where no page has one; Form is its address.
	Verb, Form string
	// Head is the state in one sentence.
	Head  string
	Parts []jobPart
	// Answer is there once the job is done.
	Answer *whatIf
}

// jobPart is how far a part is.
type jobPart struct {
	simulations.Progress
	Bar template.HTML
}

// jobVerbs are the forms by the kinds of their jobs.
var jobVerbs = map[string]string{"fit": "fit", "drains": "drain", "losses": "lose", "pools": "pools", "simulations": "simulate"}

func jobData(v *visit) string { return "/v1/simulations/" + url.PathEscape(v.param("id")) }

func loadJob(v *visit) (string, any, error) {
	view := &jobView{}
	if err := v.get(jobData(v), &view.Job); err != nil {
		return "", nil, err
	}
	v.cluster, view.Verb = view.Cluster, jobVerbs[view.Kind]
	if view.Verb != "" {
		form := v.query
		form.Del("ask")
		view.Form = "/" + view.Verb + "?" + form.Encode()
	}
	for _, p := range view.Progress {
		view.Parts = append(view.Parts, jobPart{p, bar(p.Done, p.Total, "good")})
	}
	view.Head = view.sentence()
	if view.State != "done" || view.Verb == "" {
		return view.Head, view, nil
	}
	view.Answer = &whatIf{Verb: view.Verb}
	if err := json.Unmarshal(view.Result, view.Answer.target()); err != nil {
		return "", nil, fmt.Errorf("read the answer of job %s: %w", view.ID, err)
	}
	view.Answer.read(v)
	view.Head = view.Answer.Summary
	return view.Head, view, nil
}

// sentence describes the job's state.
func (j *jobView) sentence() string {
	switch j.State {
	case "queued":
		return "The question waits for its turn"
	case "running":
		var parts []string
		for _, p := range j.Parts {
			if p.Total > 0 {
				parts = append(parts, fmt.Sprintf("%s %d %%", p.Part, percent(int64(p.Done), int64(p.Total))))
			}
		}
		if len(parts) == 0 {
			return "Under way"
		}
		return "Under way: " + strings.Join(parts, ", ")
	case "done":
		return "The answer is ready"
	case "cancelled":
		return "The question was cancelled"
	}
	return "There is no answer"
}

// CancelJob is the address that ends a job from its page.
func (f *frame) CancelJob(id string) string { return "/jobs/" + id + "/cancel?" + f.query.Encode() }

// Follows reports whether the page is about a job that has not ended.
func (f *frame) Follows() bool {
	view, ok := f.View.(*jobView)
	return ok && !view.Ended()
}

// cancelJob ends a question, and leads back to its page.
func (s *Site) cancelJob(w http.ResponseWriter, r *http.Request) {
	v := s.visit(r)
	if err := v.post(jobData(v)+"/cancel", nil, &simulations.Job{}); err != nil {
		s.fail(w, v, err)
		return
	}
	http.Redirect(w, r, "/jobs/"+url.PathEscape(v.param("id"))+"?"+v.query.Encode(), http.StatusSeeOther)
}
