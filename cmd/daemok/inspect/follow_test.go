package inspect

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	daemokv1alpha1 "github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/test/store"
	"github.com/daemok/daemok/ui/view"
)

// apiServer serves a cluster over HTTP, and refuses its caller to list or watch some resources.
type apiServer struct {
	*store.Server
	web    *httptest.Server
	denied []string // resources, or "watch nodes"
	down   atomic.Bool
	held   sync.RWMutex // lists of pods are answered once nobody else has it
}

// served is a cluster that KUBECONFIG leads to.
func served(t testing.TB, denied ...string) *apiServer {
	t.Helper()
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	s := &apiServer{Server: store.New(scheme, time.Now), denied: denied}
	in := s.Resources(true, &corev1.Pod{}, &corev1.ConfigMap{}, &corev1.Service{}, &corev1.LimitRange{},
		&corev1.PersistentVolumeClaim{},
		&corev1.ReplicationController{}, &appsv1.ReplicaSet{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{}, &appsv1.Deployment{}, &batchv1.Job{},
		&policyv1.PodDisruptionBudget{}, &coordinationv1.Lease{})
	whole := s.Resources(false, &corev1.Node{}, &corev1.Namespace{}, &corev1.PersistentVolume{},
		&nodev1.RuntimeClass{}, &storagev1.StorageClass{},
		&storagev1.CSINode{}, &storagev1.VolumeAttachment{}, &karpv1.NodePool{}, &karpv1.NodeClaim{},
		&v1alpha1.NodeOverlay{}, &v1beta1.CapacityQuota{}, &daemokv1alpha1.DisruptionPolicy{}, &authorizationv1.SelfSubjectAccessReview{})
	s.web = httptest.NewServer(s.authorize(s.Handler("36", append(in, whole...)...)))
	t.Cleanup(s.web.Close)
	config := filepath.Join(t.TempDir(), "config")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n" +
		"clusters: [{name: c, cluster: {server: " + s.web.URL + "}}]\nusers: [{name: u, user: {}}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", config)
	return s
}

// authorize answers what the caller may do, and refuses the rest.
func (s *apiServer) authorize(next http.Handler) http.Handler {
	codecs := serializer.NewCodecFactory(clientgoscheme.Scheme)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.down.Load() {
			http.Error(w, "it is down", http.StatusBadGateway)
			return
		}
		parts := strings.Split(r.URL.Path, "/")
		name := parts[len(parts)-1]
		if strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") {
			review := authorizationv1.SelfSubjectAccessReview{}
			body, err := io.ReadAll(r.Body)
			if err == nil {
				_, _, err = codecs.UniversalDeserializer().Decode(body, nil, &review)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			what := review.Spec.ResourceAttributes
			review.Status.Allowed = !s.denies(what.Verb, what.Resource)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			review.SetGroupVersionKind(authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"))
			_ = json.NewEncoder(w).Encode(review)
			return
		}
		verb := "list"
		if r.URL.Query().Get("watch") != "" {
			verb = "watch"
		}
		if s.denies(verb, name) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(metav1.Status{
				TypeMeta: metav1.TypeMeta{Kind: "Status",
					APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden,
				Code: http.StatusForbidden, Message: name + " is forbidden",
			})
			return
		}
		if name == "pods" {
			s.held.RLock()
			s.held.RUnlock() //nolint:staticcheck // it waits until a test lets it go on
		}
		next.ServeHTTP(w, r)
	})
}

func (s *apiServer) denies(verb, resource string) bool {
	return slices.Contains(s.denied, resource) || slices.Contains(s.denied, verb+" "+resource)
}

func (s *apiServer) put(t testing.TB, objects ...client.Object) {
	t.Helper()
	if err := s.Put(objects...); err != nil {
		t.Fatal(err)
	}
}

func aNode(name string) *corev1.Node {
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"),
		corev1.ResourcePods: resource.MustParse("10")}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelInstanceTypeStable: "m5.large", corev1.LabelTopologyZone: "us-east-1a", "eks.amazonaws.com/nodegroup": "core",
		}},
		Status: corev1.NodeStatus{Allocatable: amounts, Capacity: amounts,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

func aPod(name, node string) *corev1.Pod {
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, CreationTimestamp: metav1.Now()},
		Spec: corev1.PodSpec{
			NodeName: node, Containers: []corev1.Container{{Name: "c",
				Resources: corev1.ResourceRequirements{Requests: requests}}},
		}}
	if node == "" {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
			Reason: corev1.PodReasonUnschedulable}}
	}
	return p
}

// One look shows nodes of others too, with list prices where AWS is not asked.
func TestOneLookNeedsNoAWS(t *testing.T) {
	s := served(t)
	s.put(t, aNode("n1"), aPod("web-1", "n1"), aPod("web-2", ""))
	c, err := Look(t.Context(), NewTarget(), false)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Nodes) != 1 || c.Nodes[0].Owner != (view.Owner{Kind: "managed node group",
		Name: "core"}) || len(c.Nodes[0].Pods) != 1 {
		t.Errorf("nodes: %+v", c.Nodes)
	}
	if cost := c.Totals.Cost; cost.PerHour < 0.09 || !cost.Listed || !cost.Known {
		t.Errorf("cost: %+v, want the list price of an m5.large", cost)
	}
	if len(c.Waiting) != 1 || c.Waiting[0].Pods[0] != "web-2" {
		t.Errorf("waiting: %+v", c.Waiting)
	}
	want := []string{
		"The cluster has no ec2nodeclasses",
		"No decision is on record in namespace kube-system",
	}
	if got := strings.Join(c.Troubles, "\n"); strings.Contains(got, want[0]) || !strings.Contains(got, want[1]) {
		t.Errorf("troubles: %s", got)
	}
}

// Who may not list something sees the rest, and which right is missing.
func TestWhatMayNotBeReadIsMissingAndNamed(t *testing.T) {
	s := served(t, "nodeclaims", "persistentvolumes")
	s.put(t, aNode("n1"), aPod("web-1", "n1"))
	for name, look := range map[string]func() (view.Cluster, error){
		"one look": func() (view.Cluster, error) { return Look(t.Context(), NewTarget(), false) },
		"watched": func() (view.Cluster, error) {
			source, err := Follow(t.Context(), NewTarget(), false)
			if err != nil {
				return view.Cluster{}, err
			}
			until(t, source, isWhole)
			return *source.View(), nil
		},
	} {
		c, err := look()
		if err != nil || len(c.Nodes) != 1 || len(c.Nodes[0].Pods) != 1 {
			t.Errorf("%s: %v, nodes %+v", name, err, c.Nodes)
		}
		for _, want := range []string{"You may not list nodeclaims.karpenter.sh", "You may not list persistentvolumes"} {
			if got := strings.Join(c.Troubles, "\n"); !strings.Contains(got, want) {
				t.Errorf("%s: troubles are\n%s\nwant %q", name, got, want)
			}
		}
	}
}

// All else is shown to those who may not list types that clusters may lack, or not watch them, and they learn once
// which right they lack.
func TestWithoutTheRightToALateTypeAllElseIsShown(t *testing.T) {
	for denied, want := range map[string]string{
		"nodeoverlays":       "You may not list nodeoverlays.karpenter.sh",
		"watch nodeoverlays": "You may not watch nodeoverlays.karpenter.sh",
		"capacityquotas":     "You may not list capacityquotas.autoscaling.x-k8s.io",
	} {
		resource := denied[strings.LastIndex(denied, " ")+1:]
		t.Run(denied, func(t *testing.T) {
			s := served(t, denied)
			s.put(t, aNode("n1"), aPod("web-1", "n1"))
			source, err := Follow(t.Context(), NewTarget(), false)
			if err != nil {
				t.Fatal(err)
			}
			until(t, source, isWhole)
			c := source.View()
			if one, err := Look(t.Context(), NewTarget(), false); err != nil || denied == resource &&
				!strings.Contains(strings.Join(one.Troubles, "\n"), want) {
				t.Errorf("one look says %q, %v, want %q", one.Troubles, err, want)
			}
			said := strings.Join(c.Troubles, "\n")
			if len(c.Nodes) != 1 || strings.Count(said, resource) != 1 || !strings.Contains(said, want) {
				t.Errorf("nodes are %+v and troubles\n%s\nwant a node, and once %q", c.Nodes, said, want)
			}
		})
	}
}

// until waits until the source shows what is wanted.
func until(t *testing.T, source view.Source, shown func(*view.Cluster) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !shown(source.View()) {
		select {
		case <-source.Changed():
		case <-ctx.Done():
			t.Fatalf("it is not shown; the view is %+v", source.View())
		}
	}
}

// isWhole reports whether all has been read.
func isWhole(c *view.Cluster) bool { return !slices.Contains(c.Troubles, stillReading) }

// Nodes are shown before the many pods of a large cluster have been listed, and the view says that these are missing.
func TestNodesAreShownBeforePods(t *testing.T) {
	s := served(t)
	s.put(t, aNode("n1"), aPod("web-1", "n1"))
	s.held.Lock()
	source, err := Follow(t.Context(), NewTarget(), false)
	if err != nil {
		t.Fatal(err)
	}
	if c := source.View(); len(c.Nodes) != 1 || len(c.Nodes[0].Pods) != 0 || isWhole(c) {
		t.Errorf("nodes are %+v and troubles %q, want a node without pods, and why", c.Nodes, c.Troubles)
	}
	s.held.Unlock()
	until(t, source, isWhole)
	if c := source.View(); len(c.Nodes[0].Pods) != 1 {
		t.Errorf("nodes are %+v, want the pod", c.Nodes)
	}
}

// What is watched is shown as it changes; where the API server falls silent, the view says since when, and goes on later.
func TestAWatchedClusterIsShownAsItChanges(t *testing.T) {
	s := served(t)
	s.put(t, aNode("n1"))
	source, err := Follow(t.Context(), NewTarget(), false)
	if err != nil {
		t.Fatal(err)
	}
	until(t, source, isWhole)
	s.put(t, aPod("web-1", ""))
	until(t, source, func(c *view.Cluster) bool { return c.Totals.Waiting == 1 })
	quota := &v1beta1.CapacityQuota{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	quota.Spec.Limits.Resources = corev1.ResourceList{"nodes": resource.MustParse("2")}
	s.put(t, quota, aNode("n2"))
	until(t, source, func(c *view.Cluster) bool {
		return len(c.Nodes) == 2 && slices.ContainsFunc(c.Problems, func(p view.Problem) bool {
			return p.About == "CapacityQuota/all" && p.Text == "limit nodes is reached: 2 of 2"
		})
	})

	s.down.Store(true)
	s.web.CloseClientConnections()
	until(t, source, func(c *view.Cluster) bool {
		return slices.ContainsFunc(c.Troubles,
			func(text string) bool { return strings.HasPrefix(text, "The API server has not answered since") })
	})
	if c := source.View(); len(c.Nodes) != 2 {
		t.Errorf("nodes are %+v, want what was there before", c.Nodes)
	}
	s.down.Store(false)
	s.put(t, aNode("n3"))
	until(t, source, func(c *view.Cluster) bool { return len(c.Nodes) == 3 })
}

// A plan goes without what its user may not list and it can do without, and says so; it is refused without pods.
func TestAPlanNamesTheRightsThatItLacks(t *testing.T) {
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	s := served(t, "persistentvolumes")
	store, err := client.New(&rest.Config{Host: s.web.URL}, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	unread := &troubles{}
	read := lenient{store, unread}
	if err := read.List(t.Context(), &corev1.PersistentVolumeList{}); err != nil || len(unread.list()) != 1 ||
		!strings.Contains(unread.list()[0],
			"You may not list persistentvolumes, so the plan is made as if there were none") {
		t.Errorf("without volumes: %v, %q", err, unread.list())
	}
	s.denied = []string{"pods"}
	if err := read.List(t.Context(), &corev1.PodList{}); err == nil || !strings.Contains(err.Error(),
		"a plan needs to know all pods: get the verb list on them") {
		t.Errorf("without pods: %v", err)
	}
}

// leaseOf is the lease of controllers, which a pod renewed so long ago.
func leaseOf(pod string, ago time.Duration) *coordinationv1.Lease {
	renewed := metav1.NewMicroTime(time.Now().Add(-ago))
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "karpenter-leader-election"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &pod, RenewTime: &renewed},
	}
}

// That no controller acts is said where it is known to be so, and not where nobody may read the lease, where none is
// installed, or while the API server does not answer.
func TestWhoActsIsSaidAsFarAsItIsKnown(t *testing.T) {
	for name, tt := range map[string]struct {
		lease  *coordinationv1.Lease
		denied []string // resources, or "watch nodes"
		want   view.Standing
	}{
		"a lease that is renewed":       {lease: leaseOf("daemok-1", time.Second), want: view.Acting},
		"a lease that is not":           {lease: leaseOf("daemok-1", time.Hour), want: view.Idle},
		"a lease that may not be read":  {lease: leaseOf("daemok-1", time.Hour), denied: []string{"karpenter-leader-election"}},
		"a cluster without controllers": {},
	} {
		t.Run(name, func(t *testing.T) {
			s := served(t, tt.denied...)
			if tt.lease != nil {
				s.put(t, tt.lease)
			}
			c, err := Look(t.Context(), NewTarget(), false)
			if err != nil || c.Controller.Standing != tt.want {
				t.Errorf("standing is %q, %v, want %q; troubles are %q", c.Controller.Standing, err, tt.want, c.Troubles)
			}
			wrong := slices.ContainsFunc(c.Problems, func(p view.Problem) bool { return strings.HasPrefix(p.Text, "no controller acts") })
			if wrong != (tt.want == view.Idle) {
				t.Errorf("problems are %+v", c.Problems)
			}
		})
	}
}

// A trouble that has passed is not shown any more, and one that comes again is not shown twice.
func TestTroublesPass(t *testing.T) {
	all := &troubles{}
	all.add("You may not list pods.")
	all.set("lease", "the lease cannot be read: port 4711")
	all.set("lease", "the lease cannot be read: port 4712")
	if got := all.list(); len(got) != 2 || got[1] != "the lease cannot be read: port 4712" {
		t.Errorf("troubles are %q, want the right that is missing, and the lease once", got)
	}
	all.set("lease", "")
	if got := all.list(); len(got) != 1 {
		t.Errorf("troubles are %q, want the right alone", got)
	}
}
