// Package config reads a KubeSchedulerConfiguration
// (kubescheduler.config.k8s.io/v1), the file that kube-scheduler is started
// with, and makes of each profile in it the profile that the engine decides by:
// defaulted, merged, expanded and validated as kube-scheduler v1.36 would, with
// its feature gates at their defaults.
package config
