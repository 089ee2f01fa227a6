package main

import "context"

func agreement(context.Context, *env) error  { return nil }
func killed(context.Context, *env) error     { return nil }
func severed(context.Context, *env) error    { return nil }
func outage(context.Context, *env) error     { return nil }
func replicas(context.Context, *env) error   { return nil }
func throughput(context.Context, *env) error { return nil }
