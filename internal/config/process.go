package config

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// jitter is client-go's leaderelection.JitterFactor.
const jitter = 1.2

// checkProcess holds what concerns kube-scheduler's process to upstream's limits,
// with upstream's defaults where the file has nothing (apis/config/v1/defaults.go
// SetDefaults_KubeSchedulerConfiguration; component-base/config/v1alpha1/defaults.go
// RecommendedDefaultLeaderElectionConfiguration, config/validation/validation.go).
func (r *reader) checkProcess(c *configv1.KubeSchedulerConfiguration) {
	if b := c.ClientConnection.Burst; b < 0 {
		r.refuse(field.Invalid(field.NewPath("clientConnection", "burst"), b, "must not be negative"))
	}
	l, at := c.LeaderElection, field.NewPath("leaderElection")
	if l.LeaderElect != nil && !*l.LeaderElect {
		return
	}
	lease, renew, retry := cmp.Or(l.LeaseDuration.Duration, 15*time.Second), cmp.Or(l.RenewDeadline.Duration, 10*time.Second), cmp.Or(l.RetryPeriod.Duration, 2*time.Second)
	for _, d := range []struct {
		name string
		is   time.Duration
	}{{"leaseDuration", lease}, {"renewDeadline", renew}, {"retryPeriod", retry}} {
		if d.is <= 0 {
			r.refuse(field.Invalid(at.Child(d.name), d.is.String(), "must be greater than zero"))
		}
	}
	if lease <= renew {
		r.refuse(field.Invalid(at.Child("leaseDuration"), lease.String(), "must be greater than renewDeadline, "+renew.String()))
	}
	// client-go/tools/leaderelection NewLeaderElector, after validation: only the process
	// that has it as its configuration finds out.
	if least := time.Duration(jitter * float64(retry)); renew > 0 && retry > 0 && renew <= least {
		r.refuse(field.Invalid(at.Child("renewDeadline"), renew.String(), "must be greater than retryPeriod by a factor of 1.2, "+least.String()))
	}
	if lock := l.ResourceLock; lock != "" && lock != "leases" {
		r.refuse(field.NotSupported(at.Child("resourceLock"), lock, []string{"leases"}))
	}
}

// checkTLS refuses what no client can be made of. Files are left alone: they are on
// kube-scheduler's machine, and are not read where there is data
// (client-go/transport/transport.go TLSConfigFor, loadTLSFiles).
func (r *reader) checkTLS(path *field.Path, c *configv1.ExtenderTLSConfig) {
	if c == nil {
		return
	}
	if c.Insecure && (c.CAFile != "" || len(c.CAData) > 0) {
		r.refuse(field.Forbidden(path.Child("insecure"), "a certificate authority is given, and would not be asked"))
	}
	if len(c.CAData) > 0 && !x509.NewCertPool().AppendCertsFromPEM(c.CAData) {
		r.refuse(field.Invalid(path.Child("caData"), "", "holds no certificate in PEM"))
	}
	if len(c.CertData) > 0 && len(c.KeyData) > 0 {
		if _, err := tls.X509KeyPair(c.CertData, c.KeyData); err != nil {
			r.refuse(field.Invalid(path.Child("certData"), "", err.Error()))
		}
	}
}
