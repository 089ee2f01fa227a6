package scenario

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/cluster"
	"berth/internal/decision"
	"berth/internal/kubeobj"
)

// RolloutAsk is a question about a rollout as it is sent.
type RolloutAsk struct {
	// Deployment is the apps/v1 Deployment with its new template.
	Deployment json.RawMessage `json:"deployment" swaggertype:"object"`
	// StartSeconds is how long a pod takes from its bind until it is ready; the median of the
	// Deployment's pods if absent, or 10.
	StartSeconds *int64 `json:"startSeconds,omitempty"`
}

// AskRollout reads a question and answers it. The Deployment may have that many pods at most; 0: no
// bound.
func (d *Editor) AskRollout(ctx context.Context, v *cluster.View, o Options, ask *RolloutAsk, maxPods int) (*Rollout, error) {
	if _, err := startGiven(ask.StartSeconds); err != nil {
		return nil, err
	}
	var head struct{ APIVersion, Kind string }
	if json.Unmarshal(ask.Deployment, &head) != nil || head.Kind != "Deployment" {
		return nil, decision.Errorf(decision.Malformed, "deployment", "want a Deployment of apps/v1")
	}
	_, one := replicasIn(ask.Deployment)
	pod, err := d.Pod(v, "deployment", one)
	if err != nil {
		return nil, err
	}
	q := RolloutQuestion{Deployment: &appsv1.Deployment{}, Pod: pod, StartSeconds: ask.StartSeconds}
	if err := json.Unmarshal(ask.Deployment, q.Deployment); err != nil {
		return nil, decision.Errorf(decision.Malformed, "deployment", "%v", err)
	}
	q.Deployment.Namespace = pod.Namespace
	q.SameReplicas = q.Deployment.Spec.Replicas == nil
	defaultDeployment(&q.Deployment.Spec)
	if errs := validateDeployment(&q.Deployment.Spec, field.NewPath("spec")); len(errs) > 0 {
		return nil, &kubeobj.InvalidError{Key: kubeobj.Key{Kind: "Deployment", Namespace: pod.Namespace, Name: q.Deployment.Name}, Path: "deployment", Errors: errs}
	}
	if n := int(*q.Deployment.Spec.Replicas); maxPods > 0 && n > maxPods {
		return nil, decision.Errorf(decision.Invalid, "deployment.spec.replicas", "want %d at most", maxPods)
	}
	if q.Deployment.Spec.Paused {
		return nil, decision.Errorf(decision.Invalid, "deployment.spec.paused", "a Deployment that is paused does not roll out")
	}
	return RollOut(ctx, v, o, q)
}

// maxStart is a week.
const maxStart = 7 * 24 * 60 * 60

// defaultDeployment follows pkg/apis/apps/v1/defaults.go SetDefaults_Deployment.
func defaultDeployment(s *appsv1.DeploymentSpec) {
	if s.Replicas == nil {
		s.Replicas = new(int32)
		*s.Replicas = 1
	}
	if s.Strategy.Type == "" {
		s.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	}
	if s.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		if s.Strategy.RollingUpdate == nil {
			s.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{}
		}
		u, quarter := s.Strategy.RollingUpdate, intstr.FromString("25%")
		if u.MaxUnavailable == nil {
			u.MaxUnavailable = &quarter
		}
		if u.MaxSurge == nil {
			u.MaxSurge = &quarter
		}
	}
	if s.ProgressDeadlineSeconds == nil {
		s.ProgressDeadlineSeconds = new(int32)
		*s.ProgressDeadlineSeconds = longestStart
	}
}

// validateDeployment follows pkg/apis/apps/validation/validation.go ValidateDeploymentSpec.
func validateDeployment(s *appsv1.DeploymentSpec, at *field.Path) (errs field.ErrorList) {
	notNegative := func(n int32, name string) {
		if n < 0 {
			errs = append(errs, field.Invalid(at.Child(name), n, "must be greater than or equal to 0"))
		}
	}
	notNegative(*s.Replicas, "replicas")
	notNegative(s.MinReadySeconds, "minReadySeconds")
	notNegative(*s.ProgressDeadlineSeconds, "progressDeadlineSeconds")
	if *s.ProgressDeadlineSeconds <= s.MinReadySeconds {
		errs = append(errs, field.Invalid(at.Child("progressDeadlineSeconds"), *s.ProgressDeadlineSeconds, "must be greater than minReadySeconds"))
	}
	switch {
	case s.Selector == nil:
		errs = append(errs, field.Required(at.Child("selector"), ""))
	case len(s.Selector.MatchLabels)+len(s.Selector.MatchExpressions) == 0:
		errs = append(errs, field.Invalid(at.Child("selector"), s.Selector, "empty selector is invalid for deployment"))
	}
	if p := s.Template.Spec.RestartPolicy; p != "" && p != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(at.Child("template", "spec", "restartPolicy"), p, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	strategy := at.Child("strategy")
	switch s.Strategy.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if s.Strategy.RollingUpdate != nil {
			errs = append(errs, field.Forbidden(strategy.Child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'"))
		}
	case appsv1.RollingUpdateDeploymentStrategyType:
		u := s.Strategy.RollingUpdate
		unavailable, ok := validPods(u.MaxUnavailable, strategy.Child("rollingUpdate", "maxUnavailable"), 100, &errs)
		surge, also := validPods(u.MaxSurge, strategy.Child("rollingUpdate", "maxSurge"), 0, &errs)
		if ok && also && unavailable == 0 && surge == 0 {
			errs = append(errs, field.Invalid(strategy.Child("rollingUpdate", "maxUnavailable"), u.MaxUnavailable.String(), "may not be 0 when `maxSurge` is 0"))
		}
	default:
		errs = append(errs, field.NotSupported(strategy.Child("type"), s.Strategy.Type, []appsv1.DeploymentStrategyType{appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType}))
	}
	return errs
}

// validPods checks a number of pods or a percentage of them, of which most is the largest; 0: none.
func validPods(n *intstr.IntOrString, at *field.Path, most int, errs *field.ErrorList) (value int, ok bool) {
	digits, percent := strings.CutSuffix(n.String(), "%")
	value, err := strconv.Atoi(digits)
	switch {
	case err != nil, value < 0, percent != (n.Type == intstr.String):
		*errs = append(*errs, field.Invalid(at, n.String(), "want a number of pods, or a percentage such as 25%"))
	case percent && most > 0 && value > most:
		*errs = append(*errs, field.Invalid(at, n.String(), "must not be greater than 100%"))
	default:
		return value, true
	}
	return 0, false
}
