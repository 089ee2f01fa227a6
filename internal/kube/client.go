package kube

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// InCluster stands for the service account of the pod that berth runs in, where
// the path of a kubeconfig could stand.
const InCluster = "in-cluster"

// Config reads the credentials at a path, or the pod's own for InCluster. What a
// kubeconfig could have run or trust without looking is refused: this file
// decides who is asked for the truth.
func Config(path string) (*rest.Config, error) {
	var c *rest.Config
	var err error
	if path == InCluster {
		if c, err = rest.InClusterConfig(); err != nil {
			return nil, fmt.Errorf("this is not a pod of a cluster, or its service account is not mounted: %w", err)
		}
	} else if c, err = fromFile(path); err != nil {
		return nil, err
	}
	c.UserAgent = "berth"
	// Calls are few, and the apiserver has its own priority and fairness.
	c.QPS, c.Burst = -1, -1
	c.AcceptContentTypes, c.ContentType = "application/vnd.kubernetes.protobuf,application/json", "application/vnd.kubernetes.protobuf"
	return c, nil
}

func fromFile(path string) (*rest.Config, error) {
	file, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", path, err)
	}
	if err := clientcmd.ResolveLocalPaths(file); err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", path, err)
	}
	if err := checkKubeconfig(file); err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	c, err := clientcmd.NewDefaultClientConfig(*file, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	return c, nil
}

// checkKubeconfig looks at the context that is in use.
func checkKubeconfig(file *clientcmdapi.Config) error {
	in := file.Contexts[file.CurrentContext]
	if in == nil {
		return fmt.Errorf("current-context %q is not among its contexts", file.CurrentContext)
	}
	var errs []error
	if cluster := file.Clusters[in.Cluster]; cluster != nil {
		if cluster.InsecureSkipTLSVerify {
			errs = append(errs, errors.New("insecure-skip-tls-verify would let anybody tell berth what the cluster is: give certificate-authority-data"))
		}
		if strings.HasPrefix(cluster.Server, "http://") {
			errs = append(errs, errors.New("server is not https"))
		}
	}
	if user := file.AuthInfos[in.AuthInfo]; user != nil {
		if user.Exec != nil || user.AuthProvider != nil {
			errs = append(errs, errors.New("exec and auth-provider run programs, which berth does not: use a token or a client certificate, such as of a service account"))
		}
	}
	return errors.Join(errs...)
}

// client gives the REST client of one group.
func client(c *rest.Config, group schema.GroupVersion) (*rest.RESTClient, error) {
	own := rest.CopyConfig(c)
	own.GroupVersion = &group
	own.APIPath = "/apis"
	if group.Group == "" {
		own.APIPath = "/api"
	}
	own.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	r, err := rest.RESTClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", group, err)
	}
	return r, nil
}
