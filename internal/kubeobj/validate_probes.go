package kubeobj

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// lifecycle validates the hooks and probes of a container that may have them (upstream
// validateLifecycle, validateLivenessProbe, validateReadinessProbe and validateStartupProbe).
func (k *containerCheck) lifecycle(c *corev1.Container, at *field.Path) (errs field.ErrorList) {
	if k.options.stored {
		return storedProbes(c, at)
	}
	if l := c.Lifecycle; l != nil {
		if l.PostStart != nil {
			errs = append(errs, k.handler(hookOf(l.PostStart), at.Child("lifecycle", "postStart"))...)
		}
		if l.PreStop != nil {
			errs = append(errs, k.handler(hookOf(l.PreStop), at.Child("lifecycle", "preStop"))...)
		}
		if l.StopSignal != nil {
			errs = append(errs, checkStopSignal(l.StopSignal, k.spec.OS, at.Child("lifecycle", "stopSignal"))...)
		}
	}
	once := func(p *corev1.Probe, path *field.Path) {
		if p == nil {
			return
		}
		errs = append(errs, k.probe(p, path)...)
		if p.SuccessThreshold != 1 {
			errs = append(errs, field.Invalid(path.Child("successThreshold"), p.SuccessThreshold, "must be 1"))
		}
	}
	once(c.LivenessProbe, at.Child("livenessProbe"))
	if p := c.ReadinessProbe; p != nil {
		errs = append(errs, k.probe(p, at.Child("readinessProbe"))...)
		if p.TerminationGracePeriodSeconds != nil {
			errs = append(errs, field.Invalid(at.Child("readinessProbe", "terminationGracePeriodSeconds"), p.TerminationGracePeriodSeconds, "must not be set for readinessProbes"))
		}
	}
	once(c.StartupProbe, at.Child("startupProbe"))
	return errs
}

// probe is validateProbe.
func (k *containerCheck) probe(p *corev1.Probe, path *field.Path) field.ErrorList {
	errs := k.handler(handler{exec: p.Exec, http: p.HTTPGet, tcp: p.TCPSocket, grpc: p.GRPC}, path)
	return append(errs, probeNumbers(p, path)...)
}

// storedProbes validates the numbers of a stored pod's probes. Their handlers are not present.
func storedProbes(c *corev1.Container, at *field.Path) (errs field.ErrorList) {
	for _, f := range []struct {
		name  string
		probe *corev1.Probe
	}{{"livenessProbe", c.LivenessProbe}, {"readinessProbe", c.ReadinessProbe}, {"startupProbe", c.StartupProbe}} {
		if f.probe != nil {
			errs = append(errs, probeNumbers(f.probe, at.Child(f.name))...)
		}
	}
	return errs
}

func probeNumbers(p *corev1.Probe, path *field.Path) (errs field.ErrorList) {
	for _, f := range []struct {
		name  string
		value int32
	}{
		{"initialDelaySeconds", p.InitialDelaySeconds},
		{"timeoutSeconds", p.TimeoutSeconds},
		{"periodSeconds", p.PeriodSeconds},
		{"successThreshold", p.SuccessThreshold},
		{"failureThreshold", p.FailureThreshold},
	} {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(f.value), path.Child(f.name))...)
	}
	if g := p.TerminationGracePeriodSeconds; g != nil && *g <= 0 {
		errs = append(errs, field.Invalid(path.Child("terminationGracePeriodSeconds"), *g, "must be greater than 0"))
	}
	return errs
}

// handler holds the fields that hooks and probes share.
type handler struct {
	exec  *corev1.ExecAction
	http  *corev1.HTTPGetAction
	tcp   *corev1.TCPSocketAction
	grpc  *corev1.GRPCAction
	sleep *corev1.SleepAction
}

func hookOf(h *corev1.LifecycleHandler) handler {
	return handler{exec: h.Exec, http: h.HTTPGet, tcp: h.TCPSocket, sleep: h.Sleep}
}

// handler is validateHandler: exactly one type, in this order.
func (k *containerCheck) handler(h handler, path *field.Path) (errs field.ErrorList) {
	found := false
	one := func(name string, set bool, check func(at *field.Path) field.ErrorList) {
		switch {
		case !set:
		case found:
			errs = append(errs, field.Forbidden(path.Child(name), "may not specify more than 1 handler type"))
		default:
			found = true
			errs = append(errs, check(path.Child(name))...)
		}
	}
	one("exec", h.exec != nil, func(at *field.Path) field.ErrorList {
		if len(h.exec.Command) > 0 {
			return nil
		}
		return field.ErrorList{field.Required(at.Child("command"), "")}
	})
	one("httpGet", h.http != nil, func(at *field.Path) field.ErrorList { return checkHTTP(h.http, at) })
	one("tcpSocket", h.tcp != nil, func(at *field.Path) field.ErrorList { return checkPort(h.tcp.Port, at.Child("port")) })
	one("grpc", h.grpc != nil, func(at *field.Path) field.ErrorList {
		return checkPort(intstr.FromInt32(h.grpc.Port), at.Child("port"))
	})
	one("sleep", h.sleep != nil, func(at *field.Path) field.ErrorList {
		if g := k.spec.TerminationGracePeriodSeconds; g != nil && (h.sleep.Seconds < 0 || h.sleep.Seconds > *g) {
			return field.ErrorList{field.Invalid(at, h.sleep.Seconds, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *g))}
		}
		return nil
	})
	if !found {
		errs = append(errs, field.Required(path, "must specify a handler type"))
	}
	return errs
}

// checkHTTP is validateHTTPGetAction.
func checkHTTP(h *corev1.HTTPGetAction, at *field.Path) (errs field.ErrorList) {
	if h.Path == "" {
		errs = append(errs, field.Required(at.Child("path"), ""))
	}
	errs = append(errs, checkPort(h.Port, at.Child("port"))...)
	errs = append(errs, checkEnum(h.Scheme, at.Child("scheme"), corev1.URISchemeHTTP, corev1.URISchemeHTTPS)...)
	for _, header := range h.HTTPHeaders {
		for _, msg := range validation.IsHTTPHeaderName(header.Name) {
			errs = append(errs, field.Invalid(at.Child("httpHeaders"), header.Name, msg))
		}
	}
	return errs
}

// checkPort is ValidatePortNumOrName.
func checkPort(p intstr.IntOrString, path *field.Path) (errs field.ErrorList) {
	if p.Type == intstr.String {
		for _, msg := range validation.IsValidPortName(p.StrVal) {
			errs = append(errs, field.Invalid(path, p.StrVal, msg))
		}
		return errs
	}
	for _, msg := range validation.IsValidPortNum(p.IntValue()) {
		errs = append(errs, field.Invalid(path, p.IntValue(), msg))
	}
	return errs
}

// checkStopSignal is validateStopSignal.
func checkStopSignal(s *corev1.Signal, os *corev1.PodOS, path *field.Path) field.ErrorList {
	switch {
	case os == nil:
		return field.ErrorList{field.Forbidden(path, "may not be set for containers with empty `spec.os.name`")}
	case os.Name == corev1.Windows:
		return checkEnum(*s, path, "SIGKILL", "SIGTERM")
	case os.Name == corev1.Linux:
		return checkEnum(*s, path, linuxSignals...)
	}
	return nil
}

// linuxSignals are in order.
var linuxSignals = func() []corev1.Signal {
	list := []corev1.Signal{
		"SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGIO", "SIGIOT",
		"SIGKILL", "SIGPIPE", "SIGPOLL", "SIGPROF", "SIGPWR", "SIGQUIT", "SIGRTMAX", "SIGRTMIN", "SIGSEGV", "SIGSTKFLT", "SIGSTOP",
		"SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH",
		"SIGXCPU", "SIGXFSZ",
	}
	for i := 1; i <= 15; i++ {
		list = append(list, corev1.Signal(fmt.Sprintf("SIGRTMIN+%d", i)))
		if i <= 14 {
			list = append(list, corev1.Signal(fmt.Sprintf("SIGRTMAX-%d", i)))
		}
	}
	slices.Sort(list)
	return list
}()
