// Package machine boots the instances of an emulated cloud into nodes of a real cluster, as the
// kubelet's node side, the EBS driver's registration and the cloud's node controller would together.
//
// It promises that a node is made of what its instance's user data says and of what the instance knows
// about itself, written under the node's own credentials; that labels which a node may not set fail as
// they do in a real cluster; that an instance whose data, role or commands forbid it never registers
// and reports why on its console; and that nothing is written for an instance after it began to shut
// down.
//
// It does not handle pods (package kubelet does), does not delete Node objects (the controllers of the
// cluster do) and knows no cloud: it gets instances through Fleet.Handle.
package machine

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/kubernetes"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	storagev1 "k8s.io/client-go/kubernetes/typed/storage/v1"
	"k8s.io/client-go/rest"

	"github.com/daemok/daemok/lab/kubelet"
)

// Running is the only state in which an instance works.
const Running = "running"

// Instance is what the cloud knows about one instance at one moment.
type Instance struct {
	ID         string
	Type       string
	Region     string
	Zone       string
	ZoneID     string
	State      string // as EC2 names it: pending, running, shutting-down, ...
	ImageName  string
	UserData   []byte // decoded
	PrivateDNS string // becomes the node's name
	PrivateIP  string
	Role       string // of its instance profile
	Tags       map[string]string
	DiskGiB    int64 // of the volume that holds the kubelet's files; 0 means 20
	Volumes    int   // it was launched with, the root volume included; 0 means 1
	Interfaces int   // it was launched with; 0 means 1
	Adapters   int   // of these, Elastic Fabric Adapters
	Enclaves   bool  // it may run Nitro Enclaves

	NodeDelay      time.Duration // from running to registered, already scaled
	NeverRegisters bool          // drawn by the cloud's model
}

// Client is the part of the Kubernetes API that a kubelet writes to about its
// own node. A kubernetes.Interface is one.
type Client interface {
	CoreV1() corev1.CoreV1Interface
	CoordinationV1() coordinationv1.CoordinationV1Interface
	StorageV1() storagev1.StorageV1Interface
}

var _ Client = kubernetes.Interface(nil)

// pods is what handles the pods of nodes that are up.
type pods interface {
	Join(kubelet.Node)
	Leave(name string)    // its kubelet hangs
	PowerOff(name string) // its instance has no power
}

// Issuer returns a configuration that authenticates as system:node:NAME in
// the group system:nodes.
type Issuer func(nodeName string) (*rest.Config, error)

// Connect returns a function that makes a node's client out of its own
// credentials. The client has one connection and no rate limit.
func Connect(issue Issuer) func(nodeName string) (Client, error) {
	return func(nodeName string) (Client, error) {
		config, err := issue(nodeName)
		if err != nil {
			return nil, fmt.Errorf("issue credentials of node %s: %w", nodeName, err)
		}
		config = rest.CopyConfig(config)
		config.QPS = -1
		config.Proxy = direct // also keeps this transport out of the shared cache, which never forgets
		config.UserAgent = "kubelet"
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
		http, err := rest.HTTPClientFor(config)
		if err != nil {
			return nil, fmt.Errorf("connect as node %s: %w", nodeName, err)
		}
		return newNodeClient(config, http, nodeName)
	}
}

func direct(*http.Request) (*url.URL, error) { return nil, nil }

// nodeClient holds the three API groups alone: a whole clientset for each of
// a thousand nodes would weigh more than the nodes.
type nodeClient struct {
	http         *http.Client
	core         *corev1.CoreV1Client
	coordination *coordinationv1.CoordinationV1Client
	storage      *storagev1.StorageV1Client
}

func newNodeClient(config *rest.Config, http *http.Client, nodeName string) (c nodeClient, err error) {
	c.http = http
	if c.core, err = corev1.NewForConfigAndClient(config, http); err != nil {
		return c, fmt.Errorf("connect as node %s: %w", nodeName, err)
	}
	if c.coordination, err = coordinationv1.NewForConfigAndClient(config, http); err != nil {
		return c, fmt.Errorf("connect as node %s: %w", nodeName, err)
	}
	if c.storage, err = storagev1.NewForConfigAndClient(config, http); err != nil {
		return c, fmt.Errorf("connect as node %s: %w", nodeName, err)
	}
	return c, nil
}

// Close gives the node's connection back.
func (c nodeClient) Close() { c.http.CloseIdleConnections() }

func (c nodeClient) CoreV1() corev1.CoreV1Interface                         { return c.core }
func (c nodeClient) CoordinationV1() coordinationv1.CoordinationV1Interface { return c.coordination }
func (c nodeClient) StorageV1() storagev1.StorageV1Interface                { return c.storage }
