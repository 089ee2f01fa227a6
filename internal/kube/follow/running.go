package follow

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"berth/internal/kube/object"
)

// Scheduler is a kube-scheduler that runs as a pod of its cluster, by its image and flags.
type Scheduler struct {
	Pod, Version string
	// Emulates, Gates and Config are --emulated-version, --feature-gates and --config.
	Emulates, Gates, Config string
}

// Schedulers lists the kube-schedulers of a cluster. A managed control plane has no pods.
func Schedulers(ctx context.Context, c *rest.Config) (list []Scheduler, err error) {
	r, err := client(c, corev1.SchemeGroupVersion)
	if err != nil {
		return nil, err
	}
	var pods corev1.PodList
	err = r.Get().Namespace(object.SystemNamespace).Resource("pods").Param("labelSelector", "component="+object.Scheduler).Do(ctx).Into(&pods)
	if err != nil {
		return nil, fmt.Errorf("list pods of %s: %w", object.SystemNamespace, err)
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if c, version := object.Runs(p, object.Scheduler); c != nil && p.Namespace == object.SystemNamespace {
			s := Scheduler{Pod: p.Name, Version: version}
			s.read(append(append([]string{}, c.Command...), c.Args...))
			list = append(list, s)
		}
	}
	return list, nil
}

// read takes the flags from a command line. Gates may be set by several flags.
func (s *Scheduler) read(args []string) {
	for i, arg := range args {
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		if !given && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "emulated-version":
			s.Emulates = value
		case "feature-gates":
			s.Gates = strings.Trim(s.Gates+","+value, ",")
		case "config":
			s.Config = value
		}
	}
}

// Kubelets counts the nodes of a cluster by the version of their kubelets.
func Kubelets(ctx context.Context, c *rest.Config) (map[string]int, error) {
	r, err := client(c, corev1.SchemeGroupVersion)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for next := ""; ; {
		var nodes corev1.NodeList
		err := r.Get().Resource("nodes").Param("limit", strconv.Itoa(page)).Param("continue", next).Do(ctx).Into(&nodes)
		if err != nil {
			return nil, fmt.Errorf("list nodes: %w", err)
		}
		for i := range nodes.Items {
			out[nodes.Items[i].Status.NodeInfo.KubeletVersion]++
		}
		if next = nodes.Continue; next == "" {
			return out, nil
		}
	}
}
