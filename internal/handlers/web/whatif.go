package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"berth/internal/handlers/admit"
	"berth/internal/scenario"
	"berth/internal/words"
	"berth/internal/world"
)

// whatIf is a question about what comes next: a form, and the answer once it is filled in. Its
// fields stand in the URL, so that a link is the question.
type whatIf struct {
	Verb string
	// Asked reports whether the form was sent, and not by a page of another site: a link there must
	// not start a job.
	Asked bool
	// Summary is the answer in one sentence, Command the same question on the command line.
	Summary, Command string
	// Scenario is the file that the command of a simulation reads.
	Scenario string
	// The answer of the verb that was asked.
	Fit        *scenario.Fit
	Drain      *scenario.Drain
	Loss       *scenario.Loss
	Pools      *scenario.Pools
	Simulation *scenario.Simulation
	Curves     []curve
	// Shown are the pods of a drain or a loss that are listed, and Moments what happens in a
	// simulation with a clock. Hidden is how many more there are.
	Shown   []*world.Left
	Moments []world.Moment
	Hidden  int
}

// shownPods is how many pods a page about a drain or a loss lists unless the URL wants all.
const shownPods = 100

// questions writes the body of a question from the fields of its form, by verb.
var questions = map[string]func(v *visit) (path string, body map[string]any, err error){
	"fit": askFit, "drain": askDrain, "lose": askLose, "pools": askPools, "simulate": askSimulation,
}

func loadWhatIf(verb string) func(v *visit) (string, any, error) {
	return func(v *visit) (string, any, error) {
		view := &whatIf{Verb: verb, Asked: v.query.Has("ask") && v.cluster != "" && !admit.FromAnotherSite(v.r)}
		title := strings.ToUpper(verb[:1]) + verb[1:]
		if !view.Asked {
			return title, view, nil
		}
		path, body, err := questions[verb](v)
		if err != nil {
			return title, &whatIf{Verb: verb}, err
		}
		body["wait"] = v.site.wait.String()
		if err := v.post(path, body, view.target()); err != nil {
			return title, &whatIf{Verb: verb}, err
		}
		delete(body, "wait")
		view.read(v)
		view.Command = v.commandLine(verb)
		if verb == "simulate" {
			text, err := yaml.Marshal(body)
			if err != nil {
				return "", nil, fmt.Errorf("write the scenario: %w", err)
			}
			view.Scenario = string(text)
		}
		return title, view, nil
	}
}

// target returns what an answer to the question is read into.
func (w *whatIf) target() any {
	switch w.Verb {
	case "fit":
		w.Fit = &scenario.Fit{}
		return w.Fit
	case "drain":
		w.Drain = &scenario.Drain{}
		return w.Drain
	case "lose":
		w.Loss = &scenario.Loss{}
		return w.Loss
	case "pools":
		w.Pools = &scenario.Pools{}
		return w.Pools
	default:
		w.Simulation = &scenario.Simulation{}
		return w.Simulation
	}
}

// whatIfOf is about an answer; nil where it is none to such a question.
func whatIfOf(answer any) *whatIf {
	switch a := answer.(type) {
	case *scenario.Fit:
		return &whatIf{Fit: a}
	case *scenario.Drain:
		return &whatIf{Drain: a}
	case *scenario.Loss:
		return &whatIf{Loss: a}
	case *scenario.Pools:
		return &whatIf{Pools: a}
	case *scenario.Simulation:
		return &whatIf{Simulation: a}
	}
	return nil
}

// read puts the answer, which is in its target, into a sentence.
func (w *whatIf) read(v *visit) {
	switch {
	case w.Fit != nil:
		w.Summary = fmt.Sprintf("%s more fit on %s.", words.Count(w.Fit.Count), words.Plural(w.Fit.Nodes, "node"))
		if w.Fit.More {
			w.Summary = fmt.Sprintf("At least %s more fit: the count was ended there.", words.Count(w.Fit.Count))
		}
	case w.Drain != nil:
		w.Summary = drainSentence(w.Drain)
		w.Shown = w.Drain.Pods
	case w.Loss != nil:
		t := w.Loss.Totals
		w.Summary = fmt.Sprintf("%s lost: %s placed again, %s pending, %s not replaced.",
			words.Plural(len(w.Loss.Nodes), "node"), words.Plural(t.Placed, "pod"), words.Count(t.Pending), words.Count(t.NotReplaced))
		w.Shown = w.Loss.Pods
	case w.Pools != nil:
		w.Summary = poolsSentence(w.Pools)
	default:
		var parts []string
		for i := range w.Simulation.Profiles {
			p := &w.Simulation.Profiles[i]
			parts = append(parts, fmt.Sprintf("%s: %s placed, %s pending", p.Name, words.Count(p.Placed), words.Count(p.Pending)))
		}
		w.Summary = strings.Join(parts, "; ") + "."
		if k := w.Simulation.Clock; k != nil {
			w.Moments = k.Timeline
			if n := len(w.Moments); n > shownPods && v.query.Get("pods") != "all" {
				w.Moments, w.Hidden = w.Moments[:shownPods], n-shownPods
			}
			return
		}
		w.Curves = curvesOf(w.Simulation)
	}
	if n := len(w.Shown); n > shownPods && v.query.Get("pods") != "all" {
		w.Shown, w.Hidden = w.Shown[:shownPods], n-shownPods
	}
}

func poolsSentence(p *scenario.Pools) string {
	if p.Already == p.Pods {
		return fmt.Sprintf("All %s fit already.", words.Plural(p.Pods, "pod"))
	}
	var parts []string
	for _, c := range p.Choice.Pools {
		if c.Nodes > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s", words.Plural(c.Nodes, "node"), c.Name))
		}
	}
	if len(parts) == 0 {
		return "No node of these pools would help."
	}
	text := strings.Join(parts, " and ")
	if p.Choice.Fits {
		return fmt.Sprintf("With %s all %s fit.", text, words.Plural(p.Pods, "pod"))
	}
	return fmt.Sprintf("With %s %s of %s fit.", text, words.Count(p.Choice.Placed), words.Plural(p.Pods, "pod"))
}

// below is the address of a verb of the page's cluster.
func below(v *visit, verb string) string {
	address := "/v1/clusters/" + url.PathEscape(v.cluster) + "/" + verb
	if snapshot := v.query.Get("snapshot"); snapshot != "" {
		address += "?snapshot=" + url.QueryEscape(snapshot)
	}
	return address
}

func askFit(v *visit) (string, map[string]any, error) {
	pod, err := v.object("pod")
	if err != nil {
		return "", nil, err
	}
	body := map[string]any{"pod": pod}
	if by := v.query.Get("by"); by != "" {
		body["by"] = by
	}
	pools, err := v.newNodes()
	if err != nil {
		return "", nil, err
	}
	for i := range pools {
		if err := v.number(pools[i], "count"); err != nil {
			return "", nil, err
		}
	}
	if len(pools) > 0 {
		body["edits"] = map[string]any{"addNodes": pools}
	}
	return below(v, "fit"), body, v.number(body, "max")
}

// shape are the fields of a form that say what new nodes have otherwise than the node that they are
// like, as the command line writes them.
func (v *visit) shape() (parts []string) {
	for _, name := range []string{"zone", "labels", "taints", "size"} {
		prefix := map[string]string{"zone": "zone=", "labels": "label=", "taints": "taint="}[name]
		for _, word := range strings.Fields(strings.ReplaceAll(v.query.Get(name), ",", " ")) {
			parts = append(parts, prefix+word)
		}
	}
	return parts
}

// likes are the nodes that new ones are like.
func (v *visit) likes() []string {
	return strings.Fields(strings.ReplaceAll(v.query.Get("like"), ",", " "))
}

// newNodes reads the nodes that a form adds: like those that it names, or of what it says alone.
func (v *visit) newNodes() (pools []map[string]any, err error) {
	var shape scenario.NodeShape
	parts := v.shape()
	for _, part := range parts {
		key, value, _ := strings.Cut(part, "=")
		want, err := shape.Set(key, value)
		if want != "" {
			err = fmt.Errorf("%s: want %s", part, want)
		}
		if err != nil {
			return nil, wrong(cmp.Or(map[string]string{"zone": "zone", "label": "labels", "taint": "taints"}[key], "size"), err.Error())
		}
	}
	add := func(pool map[string]any) {
		if shape.Zone != "" {
			pool["zone"] = shape.Zone
		}
		if len(shape.Labels) > 0 {
			pool["labels"] = shape.Labels
		}
		if len(shape.Taints) > 0 {
			pool["taints"] = shape.Taints
		}
		if len(shape.Resources) > 0 {
			pool["resources"] = shape.Resources
		}
		pools = append(pools, pool)
	}
	for _, name := range v.likes() {
		add(map[string]any{"like": name})
	}
	if len(pools) == 0 && len(parts) > 0 {
		add(map[string]any{})
	}
	return pools, nil
}

// which writes the nodes that a drain or a loss is about.
func which(v *visit) map[string]any {
	body := map[string]any{}
	if names := strings.FieldsFunc(v.query.Get("nodes"), func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\r' }); len(names) > 0 {
		body["nodes"] = names
	}
	for _, name := range []string{"selector", "zone"} {
		if value := v.query.Get(name); value != "" {
			body[name] = value
		}
	}
	return body
}

func askDrain(v *visit) (string, map[string]any, error) {
	body := which(v)
	for _, name := range []string{"deleteEmptyDirData", "force"} {
		if v.query.Has(name) {
			body[name] = true
		}
	}
	return below(v, "drains"), body, v.number(body, "find")
}

func askLose(v *visit) (string, map[string]any, error) { return below(v, "losses"), which(v), nil }

func askPools(v *visit) (string, map[string]any, error) {
	pools, err := v.newNodes()
	return below(v, "pools"), map[string]any{"pools": pools}, err
}

func askSimulation(v *visit) (string, map[string]any, error) {
	base := v.cluster + "@latest"
	if snapshot := v.query.Get("snapshot"); snapshot != "" {
		base = snapshot
	}
	arrivals := map[string]any{"pending": true}
	if v.query.Get("pod") != "" {
		pod, err := v.object("pod")
		if err != nil {
			return "", nil, err
		}
		load := map[string]any{"pod": pod}
		if err := v.number(load, "count"); err != nil {
			return "", nil, err
		}
		arrivals = map[string]any{"workloads": []any{load}}
	}
	profiles := []any{map[string]any{"name": "today"}}
	if config := v.query.Get("config"); strings.TrimSpace(config) != "" {
		profiles = append(profiles, map[string]any{"name": "other", "config": config})
	}
	return "/v1/simulations", map[string]any{"base": base, "arrivals": arrivals, "profiles": profiles}, nil
}

// commandLine writes the form's question as a command.
func (v *visit) commandLine(verb string) string {
	line := []string{"berth", verb}
	line = append(line, strings.Fields(strings.ReplaceAll(v.query.Get("nodes"), ",", " "))...)
	if v.query.Get("pod") != "" {
		line = append(line, "-f", "pod.yaml")
	}
	if verb == "simulate" {
		line = []string{"berth", "simulate", "-f", "scenario.yaml"}
	}
	names := []string{"by", "max", "selector", "zone", "find"}
	if verb == "fit" || verb == "pools" {
		names = []string{"by", "max"}
		shape, likes := strings.Join(v.shape(), ","), v.likes()
		for _, like := range likes {
			line = append(line, "--like", words.Quote(strings.TrimSuffix(like+","+shape, ",")))
		}
		if len(likes) == 0 && shape != "" {
			line = append(line, "--template", words.Quote(shape))
		}
		if value := v.query.Get("count"); value != "" && len(likes)+len(shape) > 0 {
			line = append(line, "--add", words.Quote(value))
		}
	}
	for _, name := range names {
		if value := v.query.Get(name); value != "" {
			line = append(line, "--"+name, words.Quote(value))
		}
	}
	for name, flag := range map[string]string{"deleteEmptyDirData": "--delete-emptydir-data", "force": "--force"} {
		if v.query.Has(name) {
			line = append(line, flag)
		}
	}
	return strings.Join(append(line, "--cluster", words.Quote(v.cluster), "--server", v.Base()), " ")
}

// object reads a Kubernetes object from a field, as YAML or JSON.
func (v *visit) object(name string) (json.RawMessage, error) {
	js, err := yaml.YAMLToJSON([]byte(v.query.Get(name)))
	if err != nil {
		return nil, wrong(name, "this is no YAML: "+strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return js, nil
}

// number adds a field of the form to a body, if it is there.
func (v *visit) number(body map[string]any, name string) error {
	text := v.query.Get(name)
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return wrong(name, fmt.Sprintf("“%s” is no number", text))
	}
	body[name] = n
	return nil
}
