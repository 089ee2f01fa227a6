// Package admission judges a pod as an API server does before it stores it: its defaults, the
// admission plugins LimitRanger, Priority, DefaultTolerationSeconds, RuntimeClass,
// PodTopologyLabels and ResourceQuota, and its validation. It is pure, as the life of a pod is.
package admission
