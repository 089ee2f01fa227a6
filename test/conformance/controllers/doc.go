// Package controllers puts berth's scenarios with a clock on trial against the controllers of
// Kubernetes: part by part, cases drawn from a seed are answered by upstream's own functions and by
// berth over HTTP.
package controllers
