// Package termination puts on trial how berth reports that pods end: deletes
// against the API server's own strategy, grace periods and stop timeouts against
// the kubelet's own killing of containers, garbage against PodGC on a fake
// client, the order of eviction against the kubelet's ranking, whole evictions
// against its eviction manager, and taints against the taint manager.
package termination
