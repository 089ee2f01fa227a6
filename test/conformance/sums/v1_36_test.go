//go:build !v1_37

package stored

// byPod is how component-helpers of the release counts.
const byPod = false
