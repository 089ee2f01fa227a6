package extender

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/preempt"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/extender/wire"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
)

// preempt judges the nodes on which kube-scheduler means to evict pods.
//
//	@Summary		Judge preemption (kube-scheduler's extender protocol)
//	@Description	Removes nodes on which the pod still would not fit, adds missing victims, and counts violations of disruption budgets anew. Takes both forms of the request; the answer always has UIDs. A node or pod that the snapshot lacks is returned unchanged. The protocol has no field for an error here, so that any failure is a status other than 200.
//	@Tags			extender
//	@Accept			json
//	@Produce		json
//	@Param			cluster	path		string					true	"the cluster"
//	@Param			body	body		ExtenderPreemptionArgs	true	"the pod, and per node who would be evicted"
//	@Success		200		{object}	ExtenderPreemptionResult
//	@Failure		400,401,403,404,409,413,415,422,500	{object}	exchange.Problem
//	@Failure		503		"overloaded, or the answer could not be recorded in time"
//	@Router			/preempt [post]
//	@Router			/clusters/{cluster}/preempt [post]
func (a *API) preempt(w http.ResponseWriter, r *http.Request) error {
	class, limit, setting := a.classOf(r)
	r, end, err := a.Admit(w, r, class, exchange.ByCluster(r))
	if err != nil {
		return err
	}
	defer end()
	if err := a.known(r); err != nil {
		return err
	}
	body, err := exchange.RawBody(w, r, limit, setting)
	if err != nil {
		return err
	}
	args, err := a.preemptionArgs(r.Context(), body)
	if err != nil {
		return err
	}
	id, reply, err := a.judgeVictims(r, "", args)
	if err != nil {
		return err
	}
	w.Header().Set(exchange.DecisionIDHeader, id)
	return exchange.WriteBytes(w, http.StatusOK, reply)
}

func (a *API) preemptionArgs(ctx context.Context, body []byte) (*wire.PreemptionArgs, error) {
	if err := memory.Take(ctx, object.Weight(body)); err != nil {
		return nil, err
	}
	args, err := wire.ParsePreemptionArgs(body, a.Limits.Preempt())
	if err != nil {
		return nil, extenderLimit(err)
	}
	return &args, nil
}

// judgeVictims puts the question and returns the answer, which is on record then.
func (a *API) judgeVictims(r *http.Request, mode string, args *wire.PreemptionArgs) (id string, reply []byte, err error) {
	name := exchange.ByCluster(r)
	if err := revision.CheckName(name); err != nil {
		return "", nil, err
	}
	q, err := a.preemption(name, args)
	if err != nil {
		return "", nil, err
	}
	q.Mode = mode
	if mode == decision.ModeShadow {
		id, reply, err = a.askVictims(r, q, true)
	} else {
		err = a.held(r, decision.VerbPreempt, func() *corev1.Pod { return q.Pod }, func(final bool) (err error) {
			id, reply, err = a.askVictims(r, q, final)
			return err
		})
	}
	if err != nil {
		return "", nil, admit.NoSnapshot(name, err)
	}
	return id, reply, nil
}

// askVictims puts the question. An answer that leaves out a node on which kube-scheduler would
// preempt is none unless it is final: errRejects.
func (a *API) askVictims(r *http.Request, q decision.Question, final bool) (id string, reply []byte, err error) {
	start := time.Now()
	e, err := a.decisions.Evaluate(r.Context(), q)
	if err != nil {
		return "", nil, err
	}
	named := preempt.Named(e.Result)
	if !final && len(named) < len(q.Victims) {
		e.Release()
		return "", nil, errRejects
	}
	reply = wire.AppendPreemptionResult(nil, metaVictims(named))
	a.judged(r.Context(), e, engine.Counts{Nodes: e.Result.Considered()}, nil, start)
	_, err = a.decisions.Write(r.Context(), e)
	return e.Record.ID, reply, err
}

// preemption makes the question that the log answers, its nodes in order of name.
func (a *API) preemption(name string, args *wire.PreemptionArgs) (q decision.Question, err error) {
	switch {
	case args.Pod == nil:
		return q, fieldMissing("Pod")
	case !args.HasVictims && !args.HasMetaVictims:
		return q, fieldMissing("NodeNameToMetaVictims or NodeNameToVictims")
	}
	pod, err := object.DecodeScheduledPod(args.Pod, a.Limits.Objects())
	if err != nil {
		return q, unprotocol(exchange.InField("Pod", err))
	}
	pod.Status.NominatedNodeName = ""
	q = decision.Question{Verb: decision.VerbPreempt, Cluster: name, Pod: pod, Explain: engine.ExplainFailures, Victims: []engine.NodeVictims{}}
	if args.HasMetaVictims {
		for _, n := range args.MetaVictims {
			v := engine.NodeVictims{Node: n.Node, Victims: []engine.NamedVictim{}, NumPDBViolations: n.NumPDBViolations}
			for _, uid := range n.UIDs {
				if uid != "" { // a null among the pods
					v.Victims = append(v.Victims, engine.NamedVictim{UID: uid})
				}
			}
			q.Victims = append(q.Victims, v)
		}
	} else {
		for _, n := range args.Victims {
			v := engine.NodeVictims{Node: n.Node, Victims: []engine.NamedVictim{}, NumPDBViolations: n.NumPDBViolations}
			for i, raw := range n.Pods {
				if raw == nil {
					continue
				}
				one, err := namedVictim(raw)
				if err != nil {
					return q, exchange.BadRequest(fmt.Sprintf("NodeNameToVictims[%.253q].Pods[%d] is no pod: %v", n.Node, i, err))
				}
				if one.UID != "" {
					v.Victims = append(v.Victims, one)
				}
			}
			q.Victims = append(q.Victims, v)
		}
	}
	slices.SortFunc(q.Victims, func(x, y engine.NodeVictims) int { return strings.Compare(x.Node, y.Node) })
	return q, checkVictims(q.Victims)
}

// checkVictims refuses what no record can hold.
func checkVictims(list []engine.NodeVictims) error {
	for _, n := range list {
		bad := strings.ContainsRune(n.Node, 0)
		for _, v := range n.Victims {
			bad = bad || strings.ContainsRune(v.Namespace, 0) || strings.ContainsRune(v.Name, 0) || strings.ContainsRune(v.UID, 0)
		}
		if bad {
			return exchange.BadRequest(fmt.Sprintf("node %.253q: its name, and the names, namespaces and UIDs of its victims, must not hold a NUL", n.Node))
		}
	}
	return nil
}

// namedVictim reads of a victim what matters if the snapshot does not have it.
func namedVictim(raw []byte) (engine.NamedVictim, error) {
	var p struct {
		Metadata struct {
			UID       string            `json:"uid"`
			Namespace string            `json:"namespace"`
			Name      string            `json:"name"`
			Labels    map[string]string `json:"labels"`
		} `json:"metadata"`
		Spec struct {
			Priority *int32 `json:"priority"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return engine.NamedVictim{}, err
	}
	if p.Spec.Priority == nil {
		p.Spec.Priority = new(int32)
	}
	m := &p.Metadata
	return engine.NamedVictim{UID: m.UID, Namespace: m.Namespace, Name: m.Name, Priority: p.Spec.Priority, Labels: m.Labels}, nil
}

func metaVictims(list []engine.PreemptionCandidate) []wire.MetaVictims {
	out := make([]wire.MetaVictims, 0, len(list))
	for _, c := range list {
		v := wire.MetaVictims{Node: c.Node, NumPDBViolations: int64(c.NumPDBViolations)}
		for _, p := range c.Victims {
			v.UIDs = append(v.UIDs, p.UID)
		}
		out = append(out, v)
	}
	return out
}
