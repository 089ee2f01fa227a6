package engine

// Fingerprint works the digest out, whether or not that was done before.
func (r *Result) Fingerprint() string { return r.fingerprint() }
