// Command synth writes a made-up cluster as `kubectl get nodes,pods,… -A -o json`
// would print it, as large as asked for, to try sizes with before a real cluster
// is at hand. The same flags give the same bytes.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
)

type options struct {
	Nodes int `default:"5000" help:"Number of nodes, over three zones."`
	Pods  int `default:"150000" help:"Number of running pods."`
	Apps  int `default:"500" help:"Number of apps that the pods belong to."`
}

func main() {
	var o options
	k := kong.Parse(&o, kong.Name("synth"), kong.Description("Write a made-up cluster as kubectl would print it."))
	if o.Nodes < 1 || o.Apps < 1 || o.Pods < 0 {
		k.Fatalf("--nodes and --apps must be at least 1, --pods not negative")
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	if err := write(out, o); err != nil {
		fmt.Fprintln(os.Stderr, "synth:", err)
		os.Exit(1)
	}
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "synth:", err)
		os.Exit(1)
	}
}

type object map[string]any

// write prints item after item, so that memory does not grow with the cluster.
func write(w io.Writer, o options) error {
	first := true
	item := func(v object) error {
		raw, err := json.MarshalIndent(v, "        ", "    ")
		if err != nil {
			return fmt.Errorf("encode item: %w", err)
		}
		sep := ",\n        "
		if first {
			sep, first = "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        ", false
		}
		if _, err := io.WriteString(w, sep); err != nil {
			return fmt.Errorf("write: %w", err)
		}
		if _, err := w.Write(raw); err != nil {
			return fmt.Errorf("write: %w", err)
		}
		return nil
	}
	for i := range o.Nodes {
		if err := item(node(i)); err != nil {
			return err
		}
	}
	for i := range min(o.Apps, 20) {
		if err := item(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": namespace(i)}}); err != nil {
			return err
		}
	}
	for i := range o.Apps {
		if err := item(service(i)); err != nil {
			return err
		}
	}
	for i := range o.Pods {
		if err := item(pod(i, o)); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(w, "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\"resourceVersion\": \"\"}\n}\n"); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

func nodeName(i int) string    { return fmt.Sprintf("node-%05d", i) }
func appName(app int) string   { return fmt.Sprintf("app-%03d", app) }
func namespace(app int) string { return fmt.Sprintf("team-%02d", app%20) }

func node(i int) object {
	n := object{
		"apiVersion": "v1", "kind": "Node",
		"metadata": object{
			"name": nodeName(i),
			"labels": object{
				"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "kubernetes.io/hostname": nodeName(i),
				"topology.kubernetes.io/zone": fmt.Sprintf("zone-%d", i%3), "node.kubernetes.io/instance-type": fmt.Sprintf("type-%d", i%5),
			},
		},
		"spec": object{"providerID": "synth://" + nodeName(i)},
		"status": object{
			"allocatable": object{"cpu": "32", "memory": "128Gi", "ephemeral-storage": "200Gi", "pods": "110"},
			"capacity":    object{"cpu": "32", "memory": "128Gi", "ephemeral-storage": "200Gi", "pods": "110"},
			"conditions":  []object{{"type": "Ready", "status": "True", "reason": "KubeletReady"}},
			"images":      []object{{"names": []string{"registry.example/" + appName(i%500) + ":1"}, "sizeBytes": 200000000 + i}},
		},
	}
	if i%25 == 0 {
		n["spec"].(object)["taints"] = []object{{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}}
	}
	return n
}

func service(app int) object {
	return object{
		"apiVersion": "v1", "kind": "Service",
		"metadata": object{"name": appName(app), "namespace": namespace(app)},
		"spec":     object{"selector": object{"app": appName(app)}},
	}
}

// pod is a running pod with what kubectl prints of one, most of which no
// decision reads.
func pod(i int, o options) object {
	app := i % o.Apps
	name := fmt.Sprintf("%s-%06d", appName(app), i)
	spec := object{
		"nodeName": nodeName((i*7919 + i/o.Apps) % o.Nodes), "priority": 0, "schedulerName": "default-scheduler",
		"restartPolicy": "Always", "serviceAccountName": "default", "terminationGracePeriodSeconds": 30,
		"containers": []object{{
			"name": "main", "image": "registry.example/" + appName(app) + ":1",
			"env":          []object{{"name": "MODE", "value": "production"}, {"name": "PEERS", "value": "a,b,c"}},
			"resources":    object{"requests": object{"cpu": fmt.Sprintf("%dm", 100+app%5*50), "memory": fmt.Sprintf("%dMi", 128+app%7*64)}},
			"volumeMounts": []object{{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "token", "readOnly": true}},
		}},
		"tolerations": []object{{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}},
	}
	if app%10 == 0 {
		spec["affinity"] = object{"podAntiAffinity": object{"preferredDuringSchedulingIgnoredDuringExecution": []object{
			{"weight": 10, "podAffinityTerm": object{"topologyKey": "kubernetes.io/hostname", "labelSelector": object{"matchLabels": object{"app": appName(app)}}}},
		}}}
	}
	return object{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": object{
			"name": name, "namespace": namespace(app), "creationTimestamp": "2026-01-01T00:00:00Z",
			"labels":      object{"app": appName(app), "version": "v1"},
			"annotations": object{"example.com/build": fmt.Sprintf("build-%d", app)},
		},
		"spec": spec,
		"status": object{
			"phase": "Running", "startTime": "2026-01-01T00:00:00Z", "qosClass": "Burstable",
			"conditions":        []object{{"type": "Ready", "status": "True"}, {"type": "PodScheduled", "status": "True"}},
			"containerStatuses": []object{{"name": "main", "ready": true, "restartCount": 0, "state": object{"running": object{"startedAt": "2026-01-01T00:00:01Z"}}}},
		},
	}
}
