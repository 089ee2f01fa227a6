package cli

import (
	"errors"
	"fmt"
	"io"

	"berth/internal/podlife"
)

// usageCommand prints the usage that a signal ranks by.
func usageCommand(s podlife.Signal, node string) string {
	if s == podlife.SignalMemory {
		return "kubectl get --raw /apis/metrics.k8s.io/v1beta1/pods"
	}
	return "kubectl get --raw /api/v1/nodes/" + node + "/proxy/stats/summary"
}

// readUsage reads the file of --usage, which has to be of the node and to measure the signal, if
// one is given; nil without a file.
func (a *app) readUsage(file, node string, s podlife.Signal) (*podlife.NodeUsage, error) {
	if file == "" {
		return nil, nil
	}
	r, done, err := a.open(file)
	if err != nil {
		return nil, err
	}
	defer done()
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, noUsage(file, node, err)
	}
	u, err := podlife.ReadNodeUsage(raw)
	switch {
	case err != nil:
	case u.Node != "" && u.Node != node:
		err = fmt.Errorf("it is the summary of node %s", u.Node)
	case s == "":
	case !u.Measures(s) && !u.Summary:
		err = fmt.Errorf("metrics.k8s.io measures memory, not %s", s)
	case !u.Measures(s):
		err = errors.New("no pod in it was measured by " + string(s.UsageKey()))
	}
	if err != nil {
		return nil, noUsage(file, node, err)
	}
	return u, nil
}

// noUsage returns what is wrong with a file of usage, and what is read.
func noUsage(file, node string, why error) error {
	return &problem{what: "--usage " + nameOfFile(file), why: why, next: "Read are the kubelet's statistics: " + usageCommand(podlife.SignalDisk, node) +
		"\nand, for memory alone, those of pods: " + usageCommand(podlife.SignalMemory, node)}
}
