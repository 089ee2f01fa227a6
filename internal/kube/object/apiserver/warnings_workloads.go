package apiserver

import (
	"context"
	"fmt"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	jobutil "k8s.io/kubernetes/pkg/api/job"
	pvcutil "k8s.io/kubernetes/pkg/api/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/core"
)

// tokensInSecrets is the warning of pkg/registry/storage/csidriver strategy.go.
const tokensInSecrets = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI" +
	" driver, set to true to prevent possible logging of tokens in volume attributes"

// ofPods is where most workloads have their template.
const ofPods = "spec.template"

// nameWarnings are about the name of a workload.
func nameWarnings(name string) []string {
	msgs := utilvalidation.IsDNS1123Label(name)
	if len(msgs) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can"+
		" result in surprising behavior; a DNS label is recommended: %v", msgs)}
}

func controllerWarnings(c *core.ReplicationController) []string {
	return append(nameWarnings(c.Name), templateWarnings(c.Spec.Template, ofPods)...)
}

func replicaSetWarnings(s *apps.ReplicaSet) []string {
	return append(nameWarnings(s.Name), templateWarnings(&s.Spec.Template, ofPods)...)
}

func deploymentWarnings(d *apps.Deployment) []string {
	return append(nameWarnings(d.Name), templateWarnings(&d.Spec.Template, ofPods)...)
}

func statefulSetWarnings(s *apps.StatefulSet) []string {
	list := templateWarnings(&s.Spec.Template, ofPods)
	for i, claim := range s.Spec.VolumeClaimTemplates {
		at := field.NewPath("spec", "volumeClaimTemplates").Index(i)
		list = append(list, pvcutil.GetWarningsForPersistentVolumeClaimSpec(at, claim.Spec)...)
	}
	if n := s.Spec.RevisionHistoryLimit; n != nil && *n < 0 {
		list = append(list, "spec.revisionHistoryLimit: a negative value retains all historical"+
			" revisions; a value >= 0 is recommended")
	}
	return list
}

func daemonSetWarnings(s *apps.DaemonSet) []string {
	return templateWarnings(&s.Spec.Template, ofPods)
}

func jobWarnings(j *batch.Job) []string {
	return append(nameWarnings(j.Name), jobSpecWarnings(&j.Spec, field.NewPath("spec"))...)
}

func cronJobWarnings(c *batch.CronJob) []string {
	at := field.NewPath("spec", "jobTemplate", "spec")
	return append(nameWarnings(c.Name), jobSpecWarnings(&c.Spec.JobTemplate.Spec, at)...)
}

func jobSpecWarnings(s *batch.JobSpec, at *field.Path) []string {
	if !warned(&s.Template.Spec) {
		return []string{at.Child("template").String() + "." + notWarned}
	}
	return jobutil.WarningsForJobSpec(context.Background(), at, s, nil)
}
