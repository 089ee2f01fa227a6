package oracle

import utilfeature "k8s.io/apiserver/pkg/util/feature"

// SetGates sets feature gates of the process, before any scheduler is built.
func SetGates(text string) error { return utilfeature.DefaultMutableFeatureGate.Set(text) }
