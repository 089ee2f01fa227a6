package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const token = "suite" // of an administrator; the apiserver listens on loopback

// control is etcd and kube-apiserver, one of each for all scenarios.
type control struct {
	dir, bin  string
	etcd, api *process
	address   string
	ca        []byte
	client    kubernetes.Interface
	config    *rest.Config
}

func startControl(ctx context.Context, bin, dir string) (_ *control, err error) {
	c := &control{dir: dir, bin: bin}
	defer func() {
		if err != nil {
			c.stop()
		}
	}()
	var at [3]string
	for i := range at {
		if at[i], err = freeAddress(); err != nil {
			return nil, err
		}
	}
	c.address = at[2]
	if c.etcd, err = spawn(dir, "etcd", filepath.Join(bin, "etcd"), "--data-dir", filepath.Join(dir, "etcd"), "--client", at[0], "--peer", at[1]); err != nil {
		return nil, err
	}
	if err := c.etcd.await(20*time.Second, func() error { return reachable(at[0]) }); err != nil {
		return nil, err
	}
	key, tokens := filepath.Join(dir, "sa.key"), filepath.Join(dir, "tokens")
	if err := writeKey(key); err != nil {
		return nil, err
	}
	if err := os.WriteFile(tokens, []byte(token+",suite,suite,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(c.address)
	if err != nil {
		return nil, err
	}
	certs := filepath.Join(dir, "apiserver")
	if c.api, err = spawn(dir, "kube-apiserver", filepath.Join(bin, "kube-apiserver"),
		"--etcd-servers=http://"+at[0], "--secure-port="+port, "--cert-dir="+certs, "--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://suite.invalid", "--service-account-signing-key-file="+key, "--service-account-key-file="+key,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--token-auth-file="+tokens, "--authorization-mode=RBAC",
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		"--enable-priority-and-fairness=false", "--max-requests-inflight=0", "--max-mutating-requests-inflight=0",
		"--delete-collection-workers=8"); err != nil {
		return nil, err
	}
	return c, c.api.await(60*time.Second, func() error { return c.connect(ctx, filepath.Join(certs, "apiserver.crt")) })
}

func (c *control) connect(ctx context.Context, cert string) error {
	ca, err := os.ReadFile(cert)
	if err != nil {
		return err
	}
	c.ca = ca
	c.config = &rest.Config{Host: "https://" + c.address, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: ca}, QPS: -1}
	c.config.AcceptContentTypes, c.config.ContentType = "application/vnd.kubernetes.protobuf,application/json", "application/vnd.kubernetes.protobuf"
	if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := c.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(limited).Error(); err != nil {
		return err
	}
	_, err = c.client.CoreV1().Namespaces().Get(limited, "default", getNow)
	return err
}

// kubeconfig writes one for the apiserver, or for a way to it.
func (c *control) kubeconfig(path, address string) error {
	f := clientcmdapi.NewConfig()
	f.Clusters["suite"] = &clientcmdapi.Cluster{Server: "https://" + address, CertificateAuthorityData: c.ca}
	f.AuthInfos["suite"] = &clientcmdapi.AuthInfo{Token: token}
	f.Contexts["suite"] = &clientcmdapi.Context{Cluster: "suite", AuthInfo: "suite"}
	f.CurrentContext = "suite"
	return clientcmd.WriteToFile(*f, path)
}

func (c *control) stop() {
	for _, p := range []*process{c.api, c.etcd} {
		if p != nil {
			p.kill()
		}
	}
}

func writeKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}

func reachable(address string) error {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return fmt.Errorf("no server listens: %w", err)
	}
	return c.Close()
}
