package doctor

import (
	"crypto/x509"
	"log/slog"
	"os"
	"slices"
	"time"

	"berth/internal/ops/certs"
)

// expiresSoon is how long before its end a certificate is named.
const expiresSoon = 14 * 24 * time.Hour

// Certificate checks the files of a listener. names are those under which clients reach it; roots,
// if not nil, are the authorities that they trust.
func Certificate(listener string, f certs.Files, names []string, roots *x509.CertPool, now time.Time) []Finding {
	r := &Report{Check: "certificate"}
	if _, err := certs.Open(f, slog.New(slog.DiscardHandler)); err != nil {
		r.Fail("Write a certificate chain and its own key, both whole PEM; the server would not start.", "%s: %v", listener, err)
		return r.Findings
	}
	raw, err := os.ReadFile(f.Cert)
	if err != nil {
		r.Fail("Let this user read the file.", "%s: %v", listener, err)
		return r.Findings
	}
	chain, _, err := certs.Whole(raw)
	if err != nil {
		r.Fail("Write whole PEM.", "%s: %v", listener, err)
		return r.Findings
	}
	leaf := chain[0]
	r.valid(listener+": "+f.Cert, leaf, now)
	if len(leaf.DNSNames)+len(leaf.IPAddresses) == 0 {
		r.Fail("Issue it with the names of the listener as subjectAltName.", "%s: %s has no subjectAltName, and clients verify no other name", listener, f.Cert)
	} else {
		for _, name := range names {
			if err := leaf.VerifyHostname(name); err != nil {
				r.Fail("Issue it with that name as subjectAltName, or let clients use one that it has.", "%s: %s: %v", listener, f.Cert, err)
			}
		}
	}
	r.usage(listener+": "+f.Cert, leaf, x509.ExtKeyUsageServerAuth, "serverAuth")
	intermediates := x509.NewCertPool()
	for i, c := range chain[1:] {
		intermediates.AddCert(c)
		if err := chain[i].CheckSignatureFrom(c); err != nil {
			r.Fail("Write the certificate first and each issuer after what it signed.", "%s: %s: certificate %d did not sign the one before: %v", listener, f.Cert, i+2, err)
		}
	}
	if roots != nil {
		_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
		if err != nil {
			r.Fail("Give clients the authority that signed it, and append intermediates to the file.", "%s: clients do not trust %s: %v", listener, f.Cert, err)
		}
	}
	if f.ClientCA != "" {
		r.authorities(listener, f.ClientCA, now)
	}
	if len(r.Findings) == 0 {
		r.Good("%s: %s is valid until %s", listener, f.Cert, leaf.NotAfter.UTC().Format(time.DateOnly))
	}
	return r.Findings
}

// valid checks the dates of a certificate.
func (r *Report) valid(name string, c *x509.Certificate, now time.Time) {
	switch until := c.NotAfter.UTC().Format(time.RFC3339); {
	case now.After(c.NotAfter):
		r.Fail("Renew it; a running server takes the new file up by itself.", "%s expired at %s", name, until)
	case now.Before(c.NotBefore):
		r.Fail("Wait, or look at this machine's clock.", "%s is not valid before %s", name, c.NotBefore.UTC().Format(time.RFC3339))
	case c.NotAfter.Sub(now) < expiresSoon:
		r.Warn("Renew it; a running server takes the new file up by itself.", "%s expires at %s", name, until)
	}
}

// usage checks that a certificate may be used for a purpose; one that names none serves all.
func (r *Report) usage(name string, c *x509.Certificate, want x509.ExtKeyUsage, word string) {
	named := len(c.ExtKeyUsage)+len(c.UnknownExtKeyUsage) > 0
	if named && !slices.Contains(c.ExtKeyUsage, want) && !slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageAny) {
		r.Fail("Issue it with the extended key usage "+word+".", "%s is not for %s", name, word)
	}
}

// authorities checks those of clients.
func (r *Report) authorities(listener, path string, now time.Time) {
	raw, err := os.ReadFile(path)
	if err != nil {
		r.Fail("Let this user read the file.", "%s: %v", listener, err)
		return
	}
	list, _, err := certs.Whole(raw)
	if err != nil {
		r.Fail("Write whole PEM.", "%s: %s: %v", listener, path, err)
		return
	}
	for _, c := range list {
		name := listener + ": authority " + c.Subject.String()
		r.valid(name, c, now)
		if !c.IsCA {
			r.Fail("Give the certificate of the authority that signs clients' certificates.", "%s is not an authority: it signs no client's certificate", name)
		}
	}
}
