package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
)

// plane is a control plane of its own, with all that decides what becomes of pods but kubelets.
type plane struct {
	*control
	dynamic            dynamic.Interface
	mapper             meta.RESTMapper
	scheduler, manager *process
}

// controllers are those of kube-controller-manager that the future depends on.
var controllers = []string{
	"deployment", "replicaset", "statefulset", "daemonset", "job", "disruption", "node-lifecycle", "pod-garbage-collector",
	"garbage-collector", "resourcequota", "taint-eviction", "persistentvolume-binder", "persistentvolume-attach-detach",
}

// dumped are the resources of a dump, as docs/api.md names them.
var dumped = []string{
	"v1/nodes", "v1/pods", "v1/namespaces", "v1/services", "v1/replicationcontrollers", "v1/persistentvolumes", "v1/persistentvolumeclaims",
	"v1/limitranges", "v1/resourcequotas", "apps/v1/replicasets", "apps/v1/statefulsets", "apps/v1/deployments", "apps/v1/daemonsets",
	"policy/v1/poddisruptionbudgets", "scheduling.k8s.io/v1/priorityclasses", "storage.k8s.io/v1/storageclasses", "storage.k8s.io/v1/csinodes",
	"storage.k8s.io/v1/csidrivers", "storage.k8s.io/v1/csistoragecapacities", "storage.k8s.io/v1/volumeattachments",
	"batch/v1/jobs", "batch/v1/cronjobs", "node.k8s.io/v1/runtimeclasses",
}

// startPlane starts a control plane; flags are for kube-controller-manager.
func startPlane(ctx context.Context, bin, dir string, flags ...string) (_ *plane, err error) {
	p := &plane{}
	if p.control, err = startControl(ctx, bin, dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.stop()
		}
	}()
	p.config.QPS = -1
	if p.dynamic, err = dynamic.NewForConfig(p.config); err != nil {
		return nil, err
	}
	groups, err := restmapper.GetAPIGroupResources(p.client.Discovery())
	if err != nil {
		return nil, err
	}
	p.mapper = restmapper.NewDiscoveryRESTMapper(groups)
	if p.scheduler, err = p.startScheduler(dir, full, extender{}); err != nil {
		return nil, err
	}
	p.manager, err = p.startManager(dir, flags...)
	return p, err
}

// startManager starts a kube-controller-manager and waits until its controllers run.
func (p *plane) startManager(dir string, flags ...string) (*process, error) {
	kubeconfig := filepath.Join(dir, "manager.kubeconfig")
	if err := p.kubeconfig(kubeconfig, p.address); err != nil {
		return nil, err
	}
	address, port, err := freePort()
	if err != nil {
		return nil, err
	}
	m, err := spawn(dir, "kube-controller-manager", filepath.Join(p.bin, "kube-controller-manager"), append([]string{
		"--kubeconfig=" + kubeconfig, "--leader-elect=false", "--secure-port=" + port, "--bind-address=127.0.0.1",
		"--cert-dir=" + filepath.Join(dir, "manager"), "--authentication-skip-lookup", "--authorization-always-allow-paths=/healthz",
		"--controllers=" + strings.Join(controllers, "-controller,") + "-controller", "--node-monitor-period=1s",
	}, flags...)...)
	if err != nil {
		return nil, err
	}
	// Its certificate is one that it made for itself a moment ago.
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	if err := m.await(30*time.Second, func() error { return ok(context.Background(), client, "https://"+address+"/healthz") }); err != nil {
		m.kill()
		return nil, err
	}
	return m, nil
}

func (p *plane) stop() {
	for _, x := range []*process{p.manager, p.scheduler} {
		if x != nil {
			x.kill()
		}
	}
	p.control.stop()
}

// resource returns where objects of a kind are.
func (p *plane) resource(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := o.GroupVersionKind()
	m, err := p.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		if o.GetNamespace() == "" {
			o.SetNamespace("default")
		}
		return p.dynamic.Resource(m.Resource).Namespace(o.GetNamespace()), nil
	}
	return p.dynamic.Resource(m.Resource), nil
}

// apply does what kubectl apply --server-side does.
func (p *plane) apply(ctx context.Context, o *unstructured.Unstructured) error {
	r, err := p.resource(o)
	if err != nil {
		return err
	}
	js, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err = r.Patch(ctx, o.GetName(), types.ApplyPatchType, js, metav1.PatchOptions{FieldManager: "suite", Force: new(true)}); err != nil {
		return fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// dump returns what kubectl get -A -o json prints of all kinds that berth reads.
func (p *plane) dump(ctx context.Context) ([]byte, error) {
	all := []any{}
	for _, d := range dumped {
		at := strings.Split(d, "/")
		gvr := schema.GroupVersionResource{Version: at[len(at)-2], Resource: at[len(at)-1]}
		if len(at) == 3 {
			gvr.Group = at[0]
		}
		list, err := p.dynamic.Resource(gvr).List(ctx, listAll)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", d, err)
		}
		for _, o := range list.Items {
			o.SetManagedFields(nil) // kubectl leaves them out
			all = append(all, o.Object)
		}
		if len(list.Items) == 0 { // the dump does have the kind
			all = append(all, map[string]any{"apiVersion": list.GetAPIVersion(), "kind": list.GetKind(), "items": []any{}})
		}
	}
	return json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": all})
}
