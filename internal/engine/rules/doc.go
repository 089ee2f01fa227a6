// Package rules holds the plugins of kube-scheduler's default profile, one
// file each, named after the plugin, and the registry, which is the only list of
// them. A rule judges all nodes of a state at once, on the state's columns.
package rules
