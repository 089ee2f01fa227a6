package oracle

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	componentconfig "k8s.io/component-base/config"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Acceptance is what kube-scheduler makes of a configuration.
type Acceptance struct {
	// Refused is why it does not start with it; nil: it does.
	Refused error
	// Overlooked is what upstream's validation rejects of NodeResourcesFit's arguments but is not
	// called for, since they are listed under another name, and what the plugin panics at. The
	// plugin finds it when it is made, and nothing finds it where the plugin is disabled.
	Overlooked error
	// Ignoring reports whether an extender keeps resources from NodeResourcesFit.
	Ignoring bool
}

// Accept asks what kube-scheduler makes of a configuration file: it is decoded,
// defaulted and validated, and the scheduler and its leader elector are built,
// as by its command (cmd/kube-scheduler/app/options/configfile.go loadConfig,
// app/server.go Setup and Run).
func Accept(ctx context.Context, raw []byte) (a Acceptance) {
	quiet()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	obj, gvk, err := scheme.Codecs.UniversalDecoder().Decode(raw, nil, nil)
	if err != nil {
		a.Refused = fmt.Errorf("decode: %w", err)
		return a
	}
	cfg, ok := obj.(*config.KubeSchedulerConfiguration)
	if !ok {
		a.Refused = fmt.Errorf("it is a %s", gvk)
		return a
	}
	cfg.APIVersion = gvk.GroupVersion().String()
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		a.Refused = fmt.Errorf("validate: %w", err)
		return a
	}
	var overlooked []error
	for _, p := range cfg.Profiles {
		for _, c := range p.PluginConfig {
			if args, ok := c.Args.(*config.NodeResourcesFitArgs); ok {
				overlooked = append(overlooked, validation.ValidateNodeResourcesFitArgs(field.NewPath("args"), args), missingShape(args))
			}
		}
	}
	a.Overlooked = errors.Join(overlooked...)
	for _, e := range cfg.Extenders {
		for _, r := range e.ManagedResources {
			a.Ignoring = a.Ignoring || r.IgnoredByScheduler
		}
	}
	if err := builds(ctx, cfg); err != nil {
		a.Refused = fmt.Errorf("build: %w", err)
		return a
	}
	if err := elects(&cfg.LeaderElection); err != nil {
		a.Refused = fmt.Errorf("elect: %w", err)
	}
	return a
}

// missingShape is what NodeResourcesFit panics at until v1.35, whose validation lets it pass: the
// type RequestedToCapacityRatio without its parameters (noderesources/fit.go
// nodeResourceStrategyTypeMap).
func missingShape(args *config.NodeResourcesFitArgs) error {
	if s := args.ScoringStrategy; s != nil && s.Type == config.RequestedToCapacityRatio && s.RequestedToCapacityRatio == nil {
		return errors.New("args.scoringStrategy.requestedToCapacityRatio is missing")
	}
	return nil
}

// builds makes the scheduler. A plugin that panics when it is made ends kube-scheduler, which then
// does not start.
func builds(ctx context.Context, cfg *config.KubeSchedulerConfiguration) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panics: %v", r)
		}
	}()
	client := sharedClient()
	_, err = scheduler.New(ctx, client, newInformers(client), nil, noEvents,
		scheduler.WithComponentConfigVersion(cfg.APIVersion), scheduler.WithProfiles(cfg.Profiles...), scheduler.WithExtenders(cfg.Extenders...),
		scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore), scheduler.WithParallelism(cfg.Parallelism),
		scheduler.WithPodInitialBackoffSeconds(cfg.PodInitialBackoffSeconds), scheduler.WithPodMaxBackoffSeconds(cfg.PodMaxBackoffSeconds))
	return err
}

// elects makes the leader elector that the command runs last of all, without
// running it (app/options/options.go makeLeaderElectionConfig, app/server.go Run).
func elects(c *componentconfig.LeaderElectionConfiguration) error {
	if !c.LeaderElect {
		return nil
	}
	lock, err := resourcelock.NewFromKubeconfig(c.ResourceLock, c.ResourceNamespace, c.ResourceName,
		resourcelock.ResourceLockConfig{Identity: "oracle"}, &rest.Config{}, c.RenewDeadline.Duration)
	if err != nil {
		return err
	}
	_, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: c.LeaseDuration.Duration, RenewDeadline: c.RenewDeadline.Duration, RetryPeriod: c.RetryPeriod.Duration,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
	return err
}
