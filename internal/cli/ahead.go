package cli

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/kubeobj"
	"berth/internal/scenario"
)

// scenarioQuestion is a question about what comes next: what a server is sent, and how it is
// answered in the process.
type scenarioQuestion struct {
	verb string // the last part of the path below the cluster
	body map[string]any
	run  func(ctx context.Context, s *stage) (any, error)
	wait *progress
}

// stage is what a question is answered on in the process.
type stage struct {
	view    *cluster.View
	edited  *scenario.Edited
	editor  *scenario.Editor
	options scenario.Options
}

func (s *server) scenario(ctx context.Context, q scenarioQuestion) (json.RawMessage, error) {
	body := maps.Clone(q.body)
	if s.config != nil {
		body["config"] = s.config
	}
	if s.profile != "" {
		body["profile"] = s.profile
	}
	query := url.Values{"fieldValidation": {"Ignore"}} // told when the file was read
	if s.older() {
		query.Set("snapshot", s.snapshot)
	}
	body["wait"] = jobWait
	raw, err := s.follow(ctx, q.wait, query, body, "v1", "clusters", s.cluster, q.verb)
	return raw, s.hint(ctx, err, target{})
}

func (s *offline) scenario(ctx context.Context, q scenarioQuestion) (json.RawMessage, error) {
	st := &stage{
		editor:  &scenario.Editor{Read: readObject, ReadPod: readPod},
		options: scenario.Options{Profiles: s.profiles, Now: s.view.CreatedAt, Watch: q.wait.watch()},
	}
	if s.profile != "" {
		p, err := decision.ChooseProfile(s.profiles, s.profile, "")
		if err != nil {
			return nil, err
		}
		st.options.Profiles = []*engine.Profile{p}
	}
	edits, _ := q.body["edits"].(*scenario.Edits)
	var err error
	if st.edited, err = st.editor.Apply(ctx, s.view, "edits", edits); err != nil {
		return nil, err
	}
	st.view = st.edited.View
	out, err := q.run(ctx, st)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// readObject decodes an object at a place of a question.
func readObject(at string, raw json.RawMessage) (kubeobj.Object, error) {
	o, err := kubeobj.Decode(raw, kubeobj.Limits{})
	return o, placed(at, err)
}

// readPod decodes a pod, or the pod of a workload.
func readPod(at string, raw json.RawMessage) (*corev1.Pod, error) {
	w, err := kubeobj.PodOf(raw, kubeobj.Limits{})
	if err != nil {
		return nil, placed(at, err)
	}
	if w != nil {
		at, raw = at+"."+w.Template, w.Pod
	}
	pod, err := kubeobj.DecodePod(raw, kubeobj.Limits{})
	return pod, placed(at, err)
}

// placed puts the place of an object before the fields at fault.
func placed(at string, err error) error {
	var invalid *kubeobj.InvalidError
	if errors.As(err, &invalid) {
		invalid.Path = at
	}
	return err
}
