package rest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"berth/internal/engine"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/kube/object"
	"berth/internal/kube/object/apiserver"
	"berth/internal/podlife"
	"berth/internal/podlife/admission"
	"berth/internal/report"
	"berth/internal/revision"
	"berth/internal/store"
)

// AdmissionRequest asks what an API server would make of a pod.
type AdmissionRequest struct {
	// Cluster says whose priority classes count, and whose nodes give their zone and region to pods
	// that name one; default if absent.
	Cluster string `json:"cluster,omitempty" example:"prod"`
	// Operation is CREATE or UPDATE.
	Operation string `json:"operation" enums:"CREATE,UPDATE"`
	// Pod is the v1.Pod as it is sent.
	Pod json.RawMessage `json:"pod" swaggertype:"object"`
	// OldPod is the v1.Pod that is there; needed for UPDATE.
	OldPod json.RawMessage `json:"oldPod,omitempty" swaggertype:"object"`
	// Now is the time that is written into the pod; the server's if absent.
	Now *time.Time `json:"now,omitempty"`
	// Semantics is the API server's release of Kubernetes, as for decisions; if absent, that of the
	// cluster. Pods are judged as by the newest one that is known.
	Semantics string `json:"semantics,omitempty" example:"v1.36"`
} // @name AdmissionRequest

// Admission is what an API server would make of a pod.
type Admission struct {
	Allowed bool `json:"allowed"`
	// Pod is the object as it would be stored; absent if it is refused.
	Pod *corev1.Pod `json:"pod,omitempty" swaggertype:"object"`
	// Errors say field by field why not, in an API server's words.
	Errors []exchange.FieldError `json:"errors"`
	// Forbidden is what an API server says, with 403, where RuntimeClass, LimitRanger or
	// ResourceQuota forbid the pod; Errors has it too.
	Forbidden string `json:"forbidden,omitempty"`
	// Quota is the quota that does not let the pod in, and who uses it up.
	Quota *admission.QuotaUse `json:"quota,omitempty"`
	// Warnings are those that an API server would give, in its words. They name what of the pod was
	// passed over (fieldValidation=Warn), and what one pod of a workload does not show.
	Warnings []string `json:"warnings,omitempty"`
	// NotEvaluated names what of the pod the release in question may judge otherwise than the
	// newest, as which it was judged.
	NotEvaluated []engine.NotEvaluated `json:"notEvaluated,omitempty"`
} // @name Admission

// admitPod judges a pod as an API server would.
//
//	@Summary		Judge a pod as an API server would
//	@Description	Applies defaults, the admission plugins LimitRanger, Priority, DefaultTolerationSeconds, RuntimeClass, PodTopologyLabels and ResourceQuota, scheduling gates and validation. A refused pod is an answer, not an error. Nothing is stored.
//	@Tags			pods
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			body	body		AdmissionRequest	true	"the pod, and for an update the one before"
//	@Param			fieldValidation	query		string	false	"how to treat unknown fields of the objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200		{object}	Admission
//	@Failure		400,401,403,413,415,429,500,503	{object}	exchange.Problem
//	@Router			/v1/pods/admission [post]
func (a *API) admitPod(w http.ResponseWriter, r *http.Request) error {
	body, err := a.JSONBody(w, r, a.Limits.DecisionMaxBytes, "decision-max-bytes")
	if err != nil {
		return err
	}
	var req AdmissionRequest
	if err := exchange.DecodePart(r, body, &req, exchange.DecisionBounds(&a.Limits)); err != nil {
		return err
	}
	if req.Cluster == "" {
		req.Cluster = exchange.DefaultCluster
	}
	if err := revision.CheckName(req.Cluster); err != nil {
		return exchange.BadField(http.StatusBadRequest, "cluster", exchange.Reason(err))
	}
	if err := admit.MayIn(r.Context(), req.Cluster); err != nil {
		return err
	}
	p, err := a.posted(r)
	if err != nil {
		return err
	}
	v, err := a.judgePod(r, p, &req)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, Admission{
		Allowed: len(v.Errors) == 0, Pod: v.Pod, Errors: exchange.FieldErrors(v.Errors), Forbidden: v.Forbidden, Quota: v.Quota,
		Warnings: p.warn(w), NotEvaluated: v.NotEvaluated,
	})
}

// judged is a verdict, and what another release may say otherwise.
type judged struct {
	admission.Verdict
	NotEvaluated []engine.NotEvaluated
}

func (a *API) judgePod(r *http.Request, p *posted, req *AdmissionRequest) (v judged, err error) {
	under, err := releaseOf("semantics", req.Semantics)
	if err != nil {
		return v, err
	}
	under = cmp.Or(under, a.configured.Release(req.Cluster))
	pod, at, err := p.wholePod("pod", req.Pod)
	if err != nil {
		return v, err
	}
	switch req.Operation {
	case "CREATE":
		if !exchange.IsNull(req.OldPod) {
			return v, exchange.BadField(http.StatusBadRequest, "oldPod", "there is none before a CREATE")
		}
		view, err := a.clusters.View(r.Context(), req.Cluster, 0)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return v, err
		}
		if err != nil && req.Cluster != exchange.DefaultCluster {
			p.warnings = append(p.warnings, fmt.Sprintf("cluster %q has no snapshot: only stored and built-in priority classes count, and no node gives a zone or region", req.Cluster))
		}
		verdict := report.Admit(view, pod, a.storedClasses(req.Cluster), orNow(req.Now))
		if q := verdict.Quota; q != nil && !admit.Sees(r.Context(), req.Cluster, cmp.Or(pod.Namespace, corev1.NamespaceDefault)) {
			q.Pods, q.More = nil, 0
		}
		if verdict.Pod != nil {
			p.warnings = append(p.warnings, podWarnings(verdict.Pod, "pod", at)...)
		}
		return judged{verdict, report.Unadmitted(under, verdict.Errors, pod)}, nil
	case "UPDATE":
		if exchange.IsNull(req.OldPod) {
			return v, exchange.BadField(http.StatusBadRequest, "oldPod", "an UPDATE needs the pod that is there")
		}
		old, _, err := p.wholePod("oldPod", req.OldPod)
		if err != nil {
			return v, err
		}
		verdict := admission.Update(pod, old)
		return judged{verdict, report.Unadmitted(under, verdict.Errors, pod, old)}, nil
	}
	return v, exchange.BadField(http.StatusBadRequest, "operation", "want CREATE or UPDATE")
}

// podWarnings returns what an API server warns of in a pod that it takes. The pod stands at a place
// of the request, which is in a workload where one stands at name.
func podWarnings(pod *corev1.Pod, name, at string) []string {
	if template, is := strings.CutPrefix(at, name+"."); is {
		return apiserver.TemplateWarnings(pod, template)
	}
	return apiserver.PodWarnings(pod)
}

// wholePod decodes a pod with everything in it, as an API server does. It returns the place of the
// pod too, which is in a workload where that was given.
func (p *posted) wholePod(name string, raw json.RawMessage) (_ *corev1.Pod, at string, err error) {
	if exchange.IsNull(raw) {
		return nil, name, exchange.BadField(http.StatusBadRequest, name, "a pod is needed")
	}
	if at, raw, err = p.pod(name, raw); err != nil {
		return nil, at, err
	}
	pod := &corev1.Pod{}
	if err := wholeObject(at, raw, pod, "Pod", &pod.TypeMeta); err != nil {
		return nil, at, err
	}
	if strings.ContainsRune(string(pod.UID), 0) {
		return nil, at, exchange.BadField(http.StatusBadRequest, at+".metadata.uid", "must not hold a NUL")
	}
	return pod, at, nil
}

// runningPod is wholePod for a pod that an API server has taken, so that it has containers.
func (p *posted) runningPod(name string, raw json.RawMessage) (*corev1.Pod, error) {
	pod, at, err := p.wholePod(name, raw)
	if err != nil {
		return nil, err
	}
	if bad := podlife.NotTaken(pod, field.NewPath(at)); bad != nil {
		return nil, exchange.BadField(http.StatusBadRequest, bad.Field, bad.Detail)
	}
	return pod, nil
}

// wholeObject decodes a v1 object of a kind; meta is the object's own.
func wholeObject(name string, raw json.RawMessage, object any, kind string, meta *metav1.TypeMeta) error {
	return wholeObjectOf("v1", name, raw, object, kind, meta)
}

// wholeObjectOf decodes an object of a kind of another group.
func wholeObjectOf(apiVersion, name string, raw json.RawMessage, obj any, kind string, meta *metav1.TypeMeta) error {
	if raw[0] != '{' {
		return exchange.BadField(http.StatusBadRequest, name, "want an object")
	}
	if errs := object.BoundQuantities(raw, obj); len(errs) > 0 {
		return exchange.BadField(http.StatusBadRequest, name+"."+errs[0].Field, errs[0].Detail)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, obj); err != nil {
		if hint := object.QuantityHints(raw, obj); len(hint) > 0 {
			return exchange.BadField(http.StatusBadRequest, name+"."+hint[0].Field, hint[0].Detail)
		}
		return exchange.MisfitError(field.NewPath(name), raw, obj, err)
	}
	err := exchange.WantKind(*meta, kind, apiVersion)
	var e *exchange.Error
	if errors.As(err, &e) {
		e.Fields[0].Field, e.Detail = name+"."+e.Fields[0].Field, name+"."+e.Detail
	}
	return err
}
