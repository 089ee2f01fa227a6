package main

// podlifeFaults are faults of the life of pods, their end, and of what may change
// in them.
var podlifeFaults = []fault{
	{"mutable-kinds", "an update changes what may not change", "./internal/kube/object/apiserver", "TestKindUpdates", []edit{
		{"internal/kube/object/apiserver/kinds.go", `k.validateUpdate(kept, was)`, `k.validateUpdate(kept, kept)`},
	}},
	{"faults-of-what-is-kept", "an update is refused for what the stored object lacks", "./internal/kube/object/apiserver", "TestWholeManifest", []edit{
		{"internal/kube/object/apiserver/kinds.go", `errs = without(errs, k.validate(was))`, `errs = without(errs, nil)`},
	}},
	{"any-expressions", "CEL expressions of any length are compiled", "./internal/kube/object/apiserver", "TestBounds", []edit{
		{"internal/kube/object/apiserver/bounds.go", `if n <= mostExpressions {`, `if true {`},
	}},
	{"looser-term", "a gated pod's node affinity is loosened", "./internal/podlife/admission", "TestGatedUpdate", []edit{
		{"internal/kube/object/stored/gates.go", `if len(old.MatchExpressions) == 0 && len(old.MatchFields) == 0 {`, `if true {
		return true
	}
	if len(old.MatchExpressions) == 0 && len(old.MatchFields) == 0 {`},
	}},
	{"mutable-pod", "a pod's spec changes", "./internal/podlife/admission", "TestUpdate", []edit{
		{"internal/kube/object/stored/update.go", `if !apiequality.Semantic.DeepEqual(*s, old.Spec) {`, `if !apiequality.Semantic.DeepEqual(*s, old.Spec) && false {`},
	}},

	{"claims-uncounted", "a quota of storage lets every claim in", "./internal/podlife/admission", "TestQuotaOfObjects", []edit{
		{"internal/podlife/admission/objects.go", ` || kind == "PersistentVolumeClaim" && of == corev1.ResourceRequestsStorage`, ``},
	}},
	{"growth-counts-anew", "a claim that grows counts as another one", "./internal/podlife/admission", "TestQuotaOfObjects", []edit{
		{"internal/podlife/admission/objects.go", `uses = grown(uses, objectUsage(old))`, `_ = grown`},
	}},
	{"crash-loop-pending", "a crash-looping pod is called Pending", "./internal/podlife", "TestPhase", []edit{
		{"internal/podlife/reading.go", `case st.LastTerminationState.Terminated != nil:`, `case st.LastTerminationState.Terminated != nil && false:`},
	}},
	{"backoff-never-reset", "a container that ran for an hour waits five minutes", "./internal/podlife", "TestBackoff", []edit{
		{"internal/podlife/backoff.go", `end.Sub(m.since) > steadyRun`, `end.Sub(m.since) > steadyRun && false`},
	}},
	{"init-revisited", "an init container runs again beside a main one", "./internal/podlife", "TestNext", []edit{
		{"internal/podlife/restart.go", `case looked && s.kind == KindInit:`, `case looked && s.kind == KindInit && false:`},
	}},
	{"no-deadline", "a pod past its activeDeadlineSeconds is called Running", "./internal/podlife", "TestDeadline", []edit{
		{"internal/podlife/phase.go", `!r.now.Before(*at) {`, `!r.now.Before(*at) && false {`},
	}},
	{"dying-restarts", "a container of a pod that is being deleted is started again", "./internal/podlife", "TestAfterAFailedProbe", []edit{
		{"internal/podlife/termination_probe.go", `dying := w.Pod.DeletionTimestamp != nil`, `dying := w.Pod.DeletionTimestamp != nil && false`},
	}},

	{"longer-second-delete", "a second delete gives a pod more time", "./internal/podlife", "TestSecondDelete", []edit{
		{"internal/podlife/termination_api.go", `if period >= had {`, `if period >= had && false {`},
	}},
	{"probe-before-delete", "a failing probe gives a pod that is being deleted more time", "./internal/podlife", "TestProbeOfADeletedPod", []edit{
		{"internal/podlife/termination_kubelet.go", `case w.Pod.DeletionGracePeriodSeconds != nil:`, `case w.Pod.DeletionGracePeriodSeconds != nil && false:`},
	}},
	{"force-leaves-nothing", "nobody is told of the processes that a forced delete leaves", "./internal/podlife", "TestForceDelete", []edit{
		{"internal/podlife/termination_end.go", `w.out.LeftRunning = append(w.out.LeftRunning, w.out.Containers[i].Name)`, `_ = i`},
	}},

	{"evict-within-requests", "a pod within its requests is evicted before one above them", "./internal/podlife", "TestEvictionRanking", []edit{
		{"internal/podlife/eviction.go", `trueFirst(a.exceeds, b.exceeds); n != 0 {`, `trueFirst(a.exceeds, b.exceeds); n != 0 && false {`},
	}},
	{"evict-critical", "a critical pod is ranked for eviction", "./internal/podlife", "TestProtectedPods", []edit{
		{"internal/podlife/eviction.go", `if why := protection(p); why != "" {`, `if why := protection(p); why != "" && false {`},
	}},
	{"ended-is-evicted", "a pod that is over is the first to be evicted", "./internal/podlife", "TestEndedPodsAreNotRanked", []edit{
		{"internal/podlife/eviction.go", `if terminal(p.Status.Phase) && !anyRuns(p) {`, `if terminal(p.Status.Phase) && !anyRuns(p) && false {`},
	}},
	{"oldest-first", "an evicted pod outlives an older one", "./internal/podlife", "TestGarbageOrder", []edit{
		{"internal/podlife/garbage.go", `if n := trueFirst(isEvicted(a), isEvicted(b)); n != 0 {`, `if n := trueFirst(isEvicted(a), isEvicted(b)); n != 0 && false {`},
	}},
	{"patch-over", "a pod that has succeeded is written to have failed", "./internal/podlife", "TestGarbagePatches", []edit{
		{"internal/podlife/garbage.go", `if !terminal(p.Status.Phase) {`, `if !terminal(p.Status.Phase) || true {`},
	}},
	{"start-failed-now", "a container whose Secret is missing starts now", "./internal/podlife", "TestNext", []edit{
		{"internal/podlife/next.go", `case slices.Contains(createErrors, reason), (s.is`, `case (s.is`},
	}},
	{"sandbox-init-done", "a new sandbox passes over init containers that ran in the old one", "./internal/podlife", "TestNextInANewSandbox", []edit{
		{"internal/podlife/next.go", `case r.sandboxUsed() && gone:`, `case r.sandboxUsed() && gone && len(r.inits) == 0:`},
	}},
	{"sandbox-of-never", "a pod that never restarts gets a new sandbox", "./internal/podlife", "TestNextInANewSandbox", []edit{
		{"internal/podlife/next.go", `if r.pod.Spec.RestartPolicy == corev1.RestartPolicyNever {`, `if false {`},
	}},
	{"critical-evicted", "termination evicts a critical pod", "./internal/podlife", "TestNeverEvicted", []edit{
		{"internal/podlife/termination_kubelet.go", `if why == "" || cause`, `if true || cause`},
	}},
	{"hook-takes-nothing", "a hook of unknown length takes no time", "./internal/podlife", "TestHooksOfUnknownLength", []edit{
		{"internal/podlife/termination_containers.go", `s.hook, s.PreStopUnknown = math.MaxInt64, true`, `s.hook, s.PreStopUnknown = math.MaxInt64*0, true`},
	}},
	{"bound-runs", "a pod that was only bound has containers to stop", "./internal/podlife", "TestNothingHasStarted", []edit{
		{"internal/podlife/termination_containers.go", `w.Pod.Status.Phase == corev1.PodPending:`, `w.Pod.Status.Phase == corev1.PodPending && false:`},
	}},
	{"exit-code-zero", "an application that dies of SIGTERM succeeds", "./internal/podlife", "TestExitCodes", []edit{
		{"internal/podlife/termination_end.go", `return w.exitCode(c.Name), true`, `return 0, true`},
	}},
	{"kubelet-unread", "the release of the question counts before the kubelet of the pod's node", "./internal/podlife", "TestKubelets", []edit{
		{"internal/podlife/reading.go", `of != nil {`, `of != nil && other == nil {`},
	}},
	{"kubelet-too-new", "a kubelet that is too new follows the oldest release", "./internal/semantics", "TestOfKubelet", []edit{
		{"internal/semantics/life.go", `return Newest(), `, `return oldest, `},
	}},
	{"kubelet-restarts-all", "a kubelet that restarts no pod as a whole is said to", "./internal/podlife", "TestKubeletRestartsAll", []edit{
		{"internal/podlife/reading.go", `rule.Action = ""`, `_ = rule`},
	}},
	{"kubelet-next-rule", "a rule that a kubelet does not know lets the next one match", "./internal/podlife", "TestKubeletRestartsAll", []edit{
		{"internal/podlife/reading.go", `rule.Action = ""`, `rule.Action, rule.ExitCodes = "", nil`},
	}},
	{"kubelet-uninitialized", "every kubelet keeps a pod initialized that was", "./internal/podlife", "TestKubeletRestartsAll", []edit{
		{"internal/podlife/conditions.go", `case r.by.RestartsAll && old != nil`, `case old != nil`},
	}},
	{"kubelet-drops-condition", "a kubelet drops a condition that it does not know", "./internal/podlife", "TestKubeletRestartsAll", []edit{
		{"internal/podlife/conditions.go", `AllContainersRestarting && !r.by.RestartsAll {`, `AllContainersRestarting && false {`},
	}},
	{"kubelet-removed", "a kubelet takes a reason that it does not know for one that restarts", "./internal/podlife", "TestKubeletRestartsAll", []edit{
		{"internal/podlife/restart.go", `return yes || r.by.RestartsAll && s.end`, `return yes || s.end`},
	}},
	{"kubelet-sandbox-untold", "every kubelet says why there is no sandbox", "./internal/podlife", "TestKubeletTellsSandbox", []edit{
		{"internal/podlife/conditions_sandbox.go", `!is && r.by.TellsSandbox {`, `!is {`},
	}},
	{"kubelet-exited", "every kubelet takes main containers that ended for a sign of init ones", "./internal/podlife", "TestKubeletExitedInitialized", []edit{
		{"internal/podlife/restart.go", `ended := r.by.ExitedInitialized && `, `ended := `},
	}},
	{"kubelet-other-sandbox", "what ended in a sandbox before this one counts in it", "./internal/podlife", "TestKubeletExitedInitialized", []edit{
		{"internal/podlife/life_sync.go", ` && !s.fresh`, ``},
	}},
	{"kubelet-init-again", "an init container that runs is passed over for what ended before", "./internal/podlife", "TestKubeletExitedInitialized", []edit{
		{"internal/podlife/restart.go", ` && !r.initAgain()`, ``},
	}},
	{"kubelet-own-restarts", "every kubelet goes by the policies of containers", "./internal/podlife", "TestKubeletOwnRestarts", []edit{
		{"internal/podlife/reading.go", `if !by.OwnRestarts {`, `if false {`},
	}},
	{"kubelet-exec-probes", "exec probes of a pod that ends go on in every release", "./internal/podlife", "TestKubeletExecProbes", []edit{
		{"internal/podlife/termination_end.go", `w.by.ExecProbesGoOn && asksByExec(p)`, `asksByExec(p)`},
	}},
	{"unbound-starts", "a pod starts on a claim that nothing will bind", "./internal/podlife", "TestUnmounted", []edit{
		{"internal/podlife/next.go", `case r.unmounted != "":`, `case r.unmounted != "" && false:`},
	}},
}
