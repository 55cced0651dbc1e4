// Package access makes the clients of the lab's cluster: client settings for this process and
// kubeconfig files for others.
//
// The cluster's certificate authority names the user of each; the API server alone decides what a user
// may do.
package access

import (
	"fmt"
	"strconv"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/daemok/daemok/lab/directory"
	"github.com/daemok/daemok/lab/pki"
)

// Cluster is where an API server is reached and whose certificates it shows.
type Cluster struct {
	Name      string
	Port      int // on the loopback address
	Authority *pki.Authority
}

// URL is the address of the API server.
func (c Cluster) URL() string { return "https://127.0.0.1:" + strconv.Itoa(c.Port) }

// As returns client settings that authenticate as the user in the groups with
// a certificate of its own. Requests are not limited in rate.
func (c Cluster) As(user string, groups ...string) (*rest.Config, error) {
	pair, err := c.Authority.Client(user, groups...)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:  c.URL(),
		QPS:   -1,
		Burst: -1,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: c.Authority.CertificatePEM(), CertData: pair.Certificate, KeyData: pair.Key,
		},
	}, nil
}

// Admin returns client settings that may do everything.
func (c Cluster) Admin() (*rest.Config, error) {
	return c.As("lab-admin", "system:masters")
}

// Node returns client settings of the kubelet of the named node: it may do what
// the node authorizer and the NodeRestriction plugin let a node do.
func (c Cluster) Node(name string) (*rest.Config, error) {
	return c.As("system:node:"+name, "system:nodes")
}

// WriteKubeconfig writes a file with which other programs act as config does.
// The context, the cluster and the user carry the cluster's name.
func (c Cluster) WriteKubeconfig(path string, config *rest.Config) error {
	content, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			c.Name: {Server: config.Host, CertificateAuthorityData: config.CAData},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			c.Name: {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken, TokenFile: config.BearerTokenFile},
		},
		Contexts:       map[string]*clientcmdapi.Context{c.Name: {Cluster: c.Name, AuthInfo: c.Name}},
		CurrentContext: c.Name,
	})
	if err != nil {
		return fmt.Errorf("encode kubeconfig: %w", err)
	}
	return directory.WriteFile(path, content)
}
