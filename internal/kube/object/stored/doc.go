// Package stored sets the defaults of objects as they are stored, and refuses what no API server
// would have stored. Verdicts that are recorded run through it, so that it does not move with a
// release of Kubernetes.
package stored
