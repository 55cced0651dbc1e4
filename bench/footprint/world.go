package footprint

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/daemok/daemok/bench/measured"
	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	autoscalingv1beta1 "github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	daemokv1alpha1 "github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/test/emulator"
	emulated "github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
	"github.com/daemok/daemok/test/store"
)

const (
	clusterName = "footprint"
	region      = "us-east-1"
	kubernetes  = "36" // minor version
)

// world is what the controller talks to.
type world struct {
	options Options
	store   *store.Server
	hand    *store.Connection
	aws     *emulator.Server
	joined  chan *karpv1.NodeClaim // was launched
	opened  chan *corev1.Node      // may have pods
	ready   chan string            // claims whose node is complete, by name

	folder  string // of configuration and logs
	starts  int
	web     [2]*http.Server
	urls    [2]string
	serving sync.WaitGroup
	stop    context.CancelFunc
}

func kinds() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, karpv1.AddToScheme, v1alpha1.AddToScheme, awsv1.AddToScheme,
		autoscalingv1beta1.AddToScheme, autoscalingv1.AddToScheme, daemokv1alpha1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return nil, fmt.Errorf("register kinds: %w", err)
		}
	}
	return s, nil
}

// open serves an empty cluster and an account.
func open(o Options) (*world, error) {
	s, err := kinds()
	if err != nil {
		return nil, err
	}
	most := 2*o.Nodes + 100 // they are filled while the store is locked
	w := &world{options: o, store: store.New(s, time.Now),
		joined: make(chan *karpv1.NodeClaim, most), opened: make(chan *corev1.Node, most), ready: make(chan string,
			most)}
	w.hand = w.store.Connect(nil)
	if w.folder, err = os.MkdirTemp("", "daemok-footprint-"); err != nil {
		return nil, err
	}
	w.aws = emulator.New(emulated.Options{Account: emulated.Account{ClusterName: clusterName, Region: region,
		EKSVersion: "1." + kubernetes},
		Seed: 1, Lags: &emulated.Lags{}, Figures: market.Figures{RememberFor: time.Hour, PriceStep: 5 * time.Minute}})
	resources := append(
		w.store.Resources(true, &corev1.Pod{}, &corev1.Service{}, &corev1.ConfigMap{}, &corev1.LimitRange{},
			&corev1.PersistentVolumeClaim{}, &corev1.ReplicationController{},
			&corev1.Event{}, &eventsv1.Event{}, &appsv1.Deployment{}, &appsv1.ReplicaSet{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{}, &batchv1.Job{},
			&policyv1.PodDisruptionBudget{}, &coordinationv1.Lease{}, &autoscalingv1beta1.CapacityBuffer{}),
		w.store.Resources(false, &corev1.Node{}, &corev1.Namespace{}, &corev1.PersistentVolume{},
			&storagev1.StorageClass{}, &storagev1.CSINode{},
			&storagev1.VolumeAttachment{}, &nodev1.RuntimeClass{}, &karpv1.NodePool{}, &karpv1.NodeClaim{}, &v1alpha1.NodeOverlay{}, &awsv1.EC2NodeClass{},
			&daemokv1alpha1.DisruptionPolicy{})...)
	certificate, err := w.certify()
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	for i, h := range []http.Handler{w.store.Handler(kubernetes, resources...), w.aws} {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, errors.Join(fmt.Errorf("serve the cluster: %w", err), w.close())
		}
		w.urls[i] = "https://" + listener.Addr().String()
		w.web[i] = &http.Server{Handler: h,
			TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate},
				MinVersion: tls.VersionTLS12}, ReadHeaderTimeout: time.Minute}
		w.serving.Go(func() { _ = w.web[i].ServeTLS(listener, "", "") })
	}
	w.serving.Go(func() { w.aws.Run(ctx) })
	return w, nil
}

func (w *world) authority() string { return filepath.Join(w.folder, "ca.pem") }

// certify makes the certificate that both servers show, and trusts it.
func (w *world) certify() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	is := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: clusterName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 0, 1),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0,
			1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, is, is, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(w.authority(), text, 0o600); err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// kubeconfig writes the file that says where the API server is.
func (w *world) kubeconfig() (file string, err error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: w.urls[0], CertificateAuthority: w.authority()}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c"}
	config.CurrentContext = "c"
	file = filepath.Join(w.folder, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		return "", fmt.Errorf("write the kubeconfig: %w", err)
	}
	return file, nil
}

// variables are those of every program that talks to the cluster and the account.
func (w *world) variables(kubeconfig string) map[string]string {
	return map[string]string{
		"KUBECONFIG": kubeconfig, "CLUSTER_NAME": clusterName, "CLUSTER_ENDPOINT": w.urls[0], "SYSTEM_NAMESPACE": "kube-system",
		"AWS_ENDPOINT_URL": w.urls[1], "AWS_CA_BUNDLE": w.authority(), "AWS_REGION": region,
		"AWS_ACCESS_KEY_ID": "footprint", "AWS_SECRET_ACCESS_KEY": "footprint",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	}
}

// start runs the controller, set up as by its chart, and by other variables beside.
func (w *world) start(ctx context.Context, besides map[string]string) (*controller, error) {
	file, err := w.kubeconfig()
	if err != nil {
		return nil, err
	}
	ports, err := measured.FreePorts(2)
	if err != nil {
		return nil, err
	}
	w.starts++
	variables := w.variables(file)
	maps.Copy(variables, map[string]string{
		"POD_NAME": "daemok-0", "METRICS_PORT": strconv.Itoa(ports[0]), "HEALTH_PROBE_PORT": strconv.Itoa(ports[1]),
		"INTERRUPTION_QUEUE": clusterName, "LOG_ENCODING": "json",
	})
	maps.Copy(variables, besides)
	return run(ctx, w.options.Controller, filepath.Join(w.folder, fmt.Sprintf("controller-%d.log", w.starts)),
		ports[0], variables)
}

// mode is the variables of the mode that is measured.
func (w *world) mode() map[string]string {
	if !w.options.Shadow {
		return nil
	}
	return map[string]string{"SHADOW": "true", "SHADOW_FILE": filepath.Join(w.folder, "history.json.gz")}
}

func (w *world) close() error {
	if w.stop != nil {
		w.stop()
	}
	w.aws.Close()
	for _, web := range w.web {
		if web != nil {
			_ = web.Close() // watches are open
		}
	}
	w.serving.Wait()
	return os.RemoveAll(w.folder)
}
