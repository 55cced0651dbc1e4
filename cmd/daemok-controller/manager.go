package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/daemok/daemok/controller/nodeclaim"
	"github.com/daemok/daemok/controller/termination"
	"github.com/daemok/daemok/kube/api"
	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	autoscalingv1beta1 "github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	daemokv1alpha1 "github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	vpav1 "github.com/daemok/daemok/kube/api/verticalpodautoscaler/v1"
	"github.com/daemok/daemok/kube/compact"
	"github.com/daemok/daemok/kube/fence"
	"github.com/daemok/daemok/kube/snapshot/strip"
	"github.com/daemok/daemok/observe/alias"
)

func scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, karpv1.AddToScheme, v1alpha1.AddToScheme, awsv1.AddToScheme,
		autoscalingv1beta1.AddToScheme, autoscalingv1.AddToScheme, daemokv1alpha1.AddToScheme,
		v1alpha5.AddToScheme, awsv1alpha1.AddToScheme, apiextensionsv1.AddToScheme, metricsv1beta1.AddToScheme, vpav1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return nil, fmt.Errorf("register kinds: %w", err)
		}
	}
	return s, nil
}

// newManager builds the manager: caches of stripped objects, metrics and
// health endpoints, and a lease that the fence watches. Its client's writes
// pass the fence.
func newManager(o options, at *rest.Config, f *fence.Fence, served map[string]http.Handler, scraped *alias.Gatherer) (ctrl.Manager, error) {
	s, err := scheme()
	if err != nil {
		return nil, err
	}
	mo := ctrl.Options{
		Scheme:                 s,
		Cache:                  cached(ownNamespace()),
		Metrics:                metricsserver.Options{BindAddress: address(o.metricsPort), ExtraHandlers: debugging(o, served), FilterProvider: scrapedFrom(scraped, o.enableTracing)},
		HealthProbeBindAddress: address(o.healthPort),
		LeaderElection:         o.leaderElection,
		LeaderElectionID:       o.leaderElectionName, // as metrics call the lease
		LeaseDuration:          ptr(fence.LeaseFor),
		RenewDeadline:          ptr(fence.RenewFor),
		RetryPeriod:            ptr(fence.RenewEvery),
		NewClient:              fencedClient(o, f),
		Controller:             config.Controller{CacheSyncTimeout: fillFor},
	}
	if o.leaderElection {
		lock, err := newLock(o, at)
		if err != nil {
			return nil, err
		}
		mo.LeaderElectionResourceLockInterface = f.Watching(lock)
		mo.LeaderElectionReleaseOnCancel = true
	}
	m, err := ctrl.NewManager(at, mo)
	if err != nil {
		return nil, fmt.Errorf("build manager: %w", err)
	}
	if err := m.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	synced := func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if !m.GetCache().WaitForCacheSync(ctx) {
			return fmt.Errorf("caches are not filled yet")
		}
		return nil
	}
	return m, m.AddReadyzCheck("caches", synced)
}

// cached says what the caches hold: stripped objects, Pods made compact, and of ConfigMaps the one
// that is followed.
func cached(namespace string) cache.Options {
	freeze := cache.Config{FieldSelector: fields.OneTermEqualSelector("metadata.name", api.ConfigMapFreeze)}
	return cache.Options{
		DefaultTransform: strip.Sharing(),
		NewInformer:      compact.NewInformer,
		ByObject:         map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Namespaces: map[string]cache.Config{namespace: freeze}}},
	}
}

func fencedClient(o options, f *fence.Fence) client.NewClientFunc {
	return func(config *rest.Config, co client.Options) (client.Client, error) {
		if o.leaderElection {
			co.HTTPClient = nil // that of the manager would go past the fence
		}
		return client.New(fencedConfig(o, config, f), co)
	}
}

// fencedConfig is a connection whose writes pass the fence, and end within
// what the fence counts on. Without leader election there is none.
func fencedConfig(o options, config *rest.Config, f *fence.Fence) *rest.Config {
	if !o.leaderElection {
		return config
	}
	config = rest.CopyConfig(config)
	config.Wrap(f.Transport)
	config.Timeout = fence.CallFor
	return config
}

func newLock(o options, config *rest.Config) (resourcelock.Interface, error) {
	pod := ownPod()
	if pod == "" {
		return nil, errors.New("name this process for the lease: it has no host name; set POD_NAME")
	}
	lease := ownLease(o)
	identity := fmt.Sprintf("%s_%d_%d", pod, os.Getpid(), time.Now().UnixNano())
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, lease.Namespace, lease.Name,
		resourcelock.ResourceLockConfig{Identity: identity}, config, 2*fence.RenewalTimeout) // half of it is the timeout
	if err != nil {
		return nil, fmt.Errorf("prepare lease %s: %w", lease, err)
	}
	return lock, nil
}

// ownLease is what this process leads by.
func ownLease(o options) client.ObjectKey {
	return client.ObjectKey{Namespace: cmp.Or(o.leaderElectNS, ownNamespace()), Name: o.leaderElectionName}
}

// ownNamespace is where the controller runs: SYSTEM_NAMESPACE, else that of
// its service account, else kube-system.
func ownNamespace() string {
	if name := os.Getenv("SYSTEM_NAMESPACE"); name != "" {
		return name
	}
	if name, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace"); err == nil {
		return string(name)
	}
	return "kube-system"
}

// ownPod is the pod that this process runs in: POD_NAME, else the host's name,
// which is that of the pod unless it uses the network of its node.
func ownPod() string {
	if name := os.Getenv("POD_NAME"); name != "" {
		return name
	}
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	return host
}

// addIndexes makes the look-ups possible that the loops do by field.
func addIndexes(ctx context.Context, m ctrl.Manager) error {
	for _, index := range []struct {
		kind  client.Object
		field string
		value func(client.Object) string
	}{
		{&corev1.Node{}, nodeclaim.IndexProviderID, func(o client.Object) string { return o.(*corev1.Node).Spec.ProviderID }},
		{&corev1.Pod{}, termination.IndexNodeName, func(o client.Object) string { return o.(*corev1.Pod).Spec.NodeName }},
		{&karpv1.NodeClaim{}, nodeclaim.IndexRegisteredReason, func(o client.Object) string { return nodeclaim.RegisteredReason(o.(*karpv1.NodeClaim)) }},
		{&karpv1.NodeClaim{}, termination.IndexProviderID, func(o client.Object) string { return o.(*karpv1.NodeClaim).Status.ProviderID }}, // claim.IndexInstance too
	} {
		values := func(o client.Object) []string {
			if v := index.value(o); v != "" {
				return []string{v}
			}
			return nil
		}
		if err := m.GetFieldIndexer().IndexField(ctx, index.kind, index.field, values); err != nil {
			return fmt.Errorf("index %T by %s: %w", index.kind, index.field, err)
		}
	}
	return nil
}

func address(port int) string {
	if port == 0 {
		return "0" // switched off
	}
	return fmt.Sprintf(":%d", port)
}

func ptr[T any](v T) *T { return &v }
