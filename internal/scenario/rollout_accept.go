package scenario

import (
	"encoding/json"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/decision"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/world"
)

// accept reads the Deployment of a question, as admitted to a view.
func (r *rollout) accept(s *Stage, v *revision.View, at string, raw json.RawMessage) (err error) {
	var d appsv1.Deployment
	var head struct{ APIVersion, Kind string }
	if json.Unmarshal(raw, &head) != nil || head.Kind != "Deployment" {
		return decision.Errorf(decision.Malformed, at, "want a Deployment of apps/v1")
	}
	_, one := ReplicasIn(raw)
	if r.pod, err = s.Editor.Pod(v, at, one); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return decision.Errorf(decision.Malformed, at, "%v", err)
	}
	r.sameReplicas = d.Spec.Replicas == nil
	r.Deployment = &world.Deployment{Update: world.Update{Kind: "Deployment", Namespace: r.pod.Namespace, Name: d.Name}, Spec: &d.Spec}
	defaultDeployment(r.Spec)
	if errs := validateDeployment(r.Spec, field.NewPath("spec")); len(errs) > 0 {
		return &object.InvalidError{Key: object.Key{Kind: "Deployment", Namespace: r.Namespace, Name: r.Name}, Path: at, Errors: errs}
	}
	switch {
	case int(*r.Spec.Replicas) > s.Bounds.Pods:
		return decision.Errorf(decision.Invalid, at+".spec.replicas", "want %d at most", s.Bounds.Pods)
	case r.Spec.Paused:
		return decision.Errorf(decision.Invalid, at+".spec.paused", "a Deployment that is paused does not roll out")
	}
	return nil
}

// defaultDeployment follows pkg/apis/apps/v1/defaults.go SetDefaults_Deployment.
func defaultDeployment(s *appsv1.DeploymentSpec) {
	if s.Replicas == nil {
		s.Replicas = new(int32(1))
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
		s.ProgressDeadlineSeconds = new(int32(world.LongestStart))
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

// statefulSet reads a StatefulSet that is updated, and the pod of its lowest ordinal.
func (d *Editor) statefulSet(v *revision.View, at string, raw json.RawMessage) (o object.Object, like *corev1.Pod, err error) {
	if o, err = d.ofKind(at, raw, "StatefulSet"); err != nil {
		return o, nil, err
	}
	spec := &o.Value.(*appsv1.StatefulSet).Spec
	_, one := ReplicasIn(raw)
	if like, err = d.Pod(v, at, one); err != nil {
		return o, nil, err
	}
	var errs field.ErrorList
	in := field.NewPath("spec")
	notNegative := func(n *int32, at *field.Path) {
		if n != nil && *n < 0 {
			errs = append(errs, field.Invalid(at, *n, "must be greater than or equal to 0"))
		}
	}
	notNegative(spec.Replicas, in.Child("replicas"))
	notNegative(&spec.MinReadySeconds, in.Child("minReadySeconds"))
	strategy := in.Child("updateStrategy")
	switch t := spec.UpdateStrategy.Type; t {
	case "", appsv1.RollingUpdateStatefulSetStrategyType:
		if u := spec.UpdateStrategy.RollingUpdate; u != nil {
			notNegative(u.Partition, strategy.Child("rollingUpdate", "partition"))
		}
	case appsv1.OnDeleteStatefulSetStrategyType:
		if spec.UpdateStrategy.RollingUpdate != nil {
			errs = append(errs, field.Invalid(strategy.Child("rollingUpdate"), "", "only allowed for updateStrategy 'RollingUpdate'"))
		}
	default: // Recreate is behind the gate StatefulSetRecreateStrategy, which is off
		errs = append(errs, field.NotSupported(strategy.Child("type"), t, []appsv1.StatefulSetUpdateStrategyType{appsv1.OnDeleteStatefulSetStrategyType, appsv1.RollingUpdateStatefulSetStrategyType}))
	}
	return o, like, invalid(at, o.Key, errs)
}

// daemonSet reads a DaemonSet that is updated or comes, and the pod of its template, pinned to no
// node.
func (d *Editor) daemonSet(v *revision.View, at string, raw json.RawMessage) (o object.Object, like *corev1.Pod, err error) {
	if o, err = d.ofKind(at, raw, "DaemonSet"); err != nil {
		return o, nil, err
	}
	spec := &o.Value.(*appsv1.DaemonSet).Spec
	if like, err = d.made(v, at, raw); err != nil {
		return o, nil, err
	}
	var errs field.ErrorList
	strategy := field.NewPath("spec", "updateStrategy")
	switch t := spec.UpdateStrategy.Type; t {
	case "", appsv1.RollingUpdateDaemonSetStrategyType:
		if u := spec.UpdateStrategy.RollingUpdate; u != nil {
			unavailable, surge := 1, 0 // pkg/apis/apps/v1/defaults.go SetDefaults_DaemonSet
			ok, also := true, true
			if u.MaxUnavailable != nil {
				unavailable, ok = validPods(u.MaxUnavailable, strategy.Child("rollingUpdate", "maxUnavailable"), 100, &errs)
			}
			if u.MaxSurge != nil {
				surge, also = validPods(u.MaxSurge, strategy.Child("rollingUpdate", "maxSurge"), 100, &errs)
			}
			switch { // pkg/apis/apps/validation/validation.go ValidateRollingUpdateDaemonSet
			case !ok || !also:
			case unavailable == 0 && surge == 0:
				errs = append(errs, field.Required(strategy.Child("rollingUpdate", "maxUnavailable"), "cannot be 0 when maxSurge is 0"))
			case unavailable != 0 && surge != 0:
				errs = append(errs, field.Invalid(strategy.Child("rollingUpdate", "maxSurge"), u.MaxSurge.String(), "may not be set when maxUnavailable is non-zero: want maxUnavailable 0 beside it"))
			}
		}
	case appsv1.OnDeleteDaemonSetStrategyType:
	default:
		errs = append(errs, field.NotSupported(strategy.Child("type"), t, []appsv1.DaemonSetUpdateStrategyType{appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType}))
	}
	return o, like, invalid(at, o.Key, errs)
}

// ofKind reads an object of apps/v1 of a kind, which is checked before its kind's own fields are.
func (d *Editor) ofKind(at string, raw json.RawMessage, kind string) (object.Object, error) {
	var head struct{ Kind string }
	if json.Unmarshal(raw, &head) != nil || head.Kind != kind {
		return object.Object{}, decision.Errorf(decision.Invalid, at+".kind", "want a %s of apps/v1", kind)
	}
	return d.Read(at, raw)
}

// invalid returns what is wrong with an object; nil where nothing is.
func invalid(at string, key object.Key, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return &object.InvalidError{Key: key, Path: at, Errors: errs}
}
