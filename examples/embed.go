// Package examples holds the clusters and pods that the documentation uses.
package examples

import _ "embed"

// Cluster is a small cluster with pods that wait, as kubectl prints one in YAML.
//
//go:embed cluster.yaml
var Cluster []byte

// Pods are pods that wait in that cluster, and one that crashes.
//
//go:embed pods.yaml
var Pods []byte
