package main

import (
	"context"
	_ "unsafe" // for go:linkname

	"k8s.io/kubernetes/pkg/controller/deployment"
)

//go:linkname syncDeployment k8s.io/kubernetes/pkg/controller/deployment.(*DeploymentController).syncDeployment
func syncDeployment(dc *deployment.DeploymentController, ctx context.Context, key string) error
