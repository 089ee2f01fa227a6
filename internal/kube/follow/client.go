package follow

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// InCluster stands for the service account of the pod that berth runs in, where
// the path of a kubeconfig could stand.
const InCluster = "in-cluster"

// Config reads the credentials at a path, or the pod's own for InCluster. It refuses a kubeconfig
// that runs programs or skips the verification of certificates.
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
	return tuned(c), nil
}

// tuned sets what every call has in common.
func tuned(c *rest.Config) *rest.Config {
	c.UserAgent = "berth"
	// Calls are few, and the apiserver has its own priority and fairness.
	c.QPS, c.Burst = -1, -1
	c.AcceptContentTypes, c.ContentType = "application/vnd.kubernetes.protobuf,application/json", "application/vnd.kubernetes.protobuf"
	return c
}

// UserConfig reads the kubeconfig files that kubectl would read. It also returns the namespace of
// the current context. Unlike Config it refuses nothing that kubectl allows, exec plugins included:
// the person at the command line runs the same ones with every kubectl call. context overrides
// current-context unless it is empty. Files that do not exist are skipped; found is false where
// none does.
func UserConfig(files []string, context string) (c *rest.Config, namespace string, found bool, err error) {
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: files}
	merged, err := rules.Load()
	if err != nil {
		return nil, "", false, fmt.Errorf("read kubeconfig %s: %w", strings.Join(files, ", "), err)
	}
	if clientcmdapi.IsConfigEmpty(merged) {
		return nil, "", false, nil
	}
	file := clientcmd.NewDefaultClientConfig(*merged, &clientcmd.ConfigOverrides{CurrentContext: context})
	if c, err = file.ClientConfig(); err != nil {
		return nil, "", true, fmt.Errorf("kubeconfig %s: %w", strings.Join(files, ", "), err)
	}
	if err := plain(c.Host); err != nil {
		return nil, "", true, fmt.Errorf("kubeconfig %s: %w", strings.Join(files, ", "), err)
	}
	if namespace, _, err = file.Namespace(); err != nil {
		return nil, "", true, fmt.Errorf("kubeconfig %s: %w", strings.Join(files, ", "), err)
	}
	return tuned(c), namespace, true, nil
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
	if err := plain(c.Host); err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	return c, nil
}

// plain refuses an address with more in it: errors and log lines of client-go repeat all of it.
func plain(server string) error {
	if strings.ContainsAny(server, "@?#") || strings.Contains(server, "%23") { // clientcmd escapes a #
		return errors.New("the server of its cluster has a user, a password or a query: a user of the kubeconfig has its credentials")
	}
	return nil
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
			errs = append(errs, errors.New("with insecure-skip-tls-verify any server could pass for the cluster: set certificate-authority-data instead"))
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

// client returns the REST client of one group.
func client(c *rest.Config, group schema.GroupVersion) (*rest.RESTClient, error) {
	r, err := rest.RESTClientFor(ofGroup(c, group))
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", group, err)
	}
	return r, nil
}

// clientOver is client over connections that the caller closes.
func clientOver(c *rest.Config, group schema.GroupVersion, h *http.Client) (*rest.RESTClient, error) {
	r, err := rest.RESTClientForConfigAndClient(ofGroup(c, group), h)
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", group, err)
	}
	return r, nil
}

func ofGroup(c *rest.Config, group schema.GroupVersion) *rest.Config {
	own := rest.CopyConfig(c)
	own.GroupVersion = &group
	own.APIPath = "/apis"
	if group.Group == "" {
		own.APIPath = "/api"
	}
	if asJSON[group] {
		own.AcceptContentTypes, own.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	}
	own.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	return own
}
