package stories_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/lab/await"
)

// discard is where helpers of Kubernetes may log.
var discard = logr.Discard()

// manifest is a file of testdata/rules that somebody applied: workloads and
// the pools that are theirs alone.
type manifest struct {
	*story
	objects []*unstructured.Unstructured
	pools   []string
	pods    int // that must run in the end
	bought  *purchases
}

// expectation is what a manifest's first lines say, as far as the rules that
// its pods carry do not say it themselves.
type expectation struct {
	machines int                                                      // bought in all; 0: as many as the plan finds best
	before   func(*manifest)                                          // what happens before all pods can run
	then     func(*manifest, []*unstructured.Unstructured) (more int) // what happens to the pods that run, and how many machines it costs
}

// Manifests as users write them, each with rules of another kind: in the end
// every pod runs where its rules allow, no machine was bought that the pods do
// not use, and nothing is left when they are deleted. All are applied at once.
func TestManifestsRun(t *testing.T) {
	files := map[string]expectation{
		"zone-spread":                          {},
		"zone-spread-min-domains":              {machines: 3},
		"spread-of-each-version":               {},
		"zone-and-host-spread":                 {machines: 6},
		"capacity-type-spread":                 {},
		"soft-spread":                          {},
		"one-pod-per-host":                     {machines: 5},
		"one-pod-per-zone":                     {machines: 3},
		"beside-a-cache-in-its-zone":           {},
		"beside-a-database-on-its-host":        {machines: 2},
		"together-in-one-zone":                 {machines: 4},
		"preferred-neighbours":                 {},
		"chain-of-three":                       {},
		"apart-from-another-team":              {},
		"stateful-set-with-disks":              {machines: 3, then: (*manifest).loseMachine},
		"scratch-disks":                        {},
		"more-disks-than-one-machine-attaches": {machines: 2},
		"shared-disk":                          {machines: 1},
		"disk-for-one-pod-alone":               {machines: 1, before: (*manifest).handOver},
		"host-ports":                           {machines: 4},
		"gpu":                                  {},
		"arm64-and-amd64":                      {},
		"priorities-under-a-limit":             {machines: 8, before: (*manifest).urgentFirst},
		"weights-are-an-order":                 {machines: 5, then: (*manifest).inOrder},
		"dedicated-pools":                      {},
		"pool-better-avoided":                  {},
		"either-of-two-kinds":                  {},
		"sizes-between-two-bounds":             {machines: 1},
		"overhead-of-a-runtime":                {machines: 2},
		"init-containers-and-sidecars":         {machines: 2},
		"extended-resources":                   {},
		"pods-per-machine":                     {machines: 3},
	}
	toldOf(t, files, false)
	s := begin(t, shared)
	s.own("ec2nodeclass", s.filled("class"), "")
	bought := s.followPurchases()
	applied := map[string]*manifest{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		applied[name] = s.manifest(name, bought)
	}
	t.Run("side by side", func(t *testing.T) {
		for name, want := range files {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				m := *applied[name]
				m.story = m.of(t)
				m.unfold(want)
			})
		}
	})
	for _, m := range applied {
		m.nothingLeft()
	}
}

// Pods that name no pool share the cluster with the system's tainted nodes,
// which count as domains of their spreads: what is bought for them fits all
// the same.
func TestManifestsRunAnywhere(t *testing.T) {
	t.Parallel()
	files := map[string]expectation{
		"open-zone-spread":   {},
		"open-host-spread":   {machines: 4},
		"open-zone-affinity": {},
	}
	toldOf(t, files, true)
	s := begin(t, ownLab(t))
	s.own("ec2nodeclass", s.filled("class"), "")
	bought := s.followPurchases()
	for name, want := range files {
		t.Run(name, func(t *testing.T) {
			m := s.of(t).manifest(name, bought)
			m.unfold(want)
			m.nothingLeft()
		})
	}
}

// toldOf checks that there is an expectation for each manifest, be it of pods
// that name no pool (open) or of others.
func toldOf(t *testing.T, files map[string]expectation, open bool) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("testdata", "rules", "*.yaml"))
	if err != nil || len(all) == 0 {
		t.Fatalf("found manifests %v, %v", all, err)
	}
	for _, path := range all {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if _, told := files[name]; !told && strings.HasPrefix(name, "open-") == open {
			t.Errorf("nothing is said of what must become of %s", path)
		}
	}
}

// of is the same story told by another test.
func (s *story) of(t *testing.T) *story {
	told := *s
	told.T = t
	return &told
}

// filled is a manifest of testdata with the cluster's name in it.
func (s *story) filled(name string) string {
	s.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		s.Fatal(err)
	}
	return strings.ReplaceAll(string(content), "${CLUSTER_NAME}", environment(s.T, s.dir)["CLUSTER_NAME"])
}

// manifest applies a file in a namespace of its own.
func (s *story) manifest(name string, bought *purchases) *manifest {
	s.Helper()
	own := s.of(s.T)
	own.namespace = namespaceFor("rules/" + name)
	own.createNamespace()
	m := &manifest{story: own, bought: bought, objects: own.decode(own.filled(filepath.Join("rules", name)))}
	for _, o := range m.objects {
		m.applyObject(o)
		switch o.GetKind() {
		case "NodePool":
			m.pools = append(m.pools, o.GetName())
		case "Deployment", "StatefulSet":
			n, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
			m.pods += int(n)
		}
	}
	return m
}

// unfold sees a manifest to its end.
func (m *manifest) unfold(want expectation) {
	m.Helper()
	if want.before != nil {
		want.before(m)
	}
	m.check(m.awaitPods("all pods to run", running(m.pods)), want.machines, 0)
	if want.then != nil {
		more := want.then(m, m.awaitPods("all pods to run", running(m.pods)))
		m.check(m.awaitPods("all pods to run", running(m.pods)), want.machines, more)
	}
	m.remove()
}

// namespaces are the manifest's own and those that it makes.
func (m *manifest) namespaces() []string {
	all := []string{m.namespace}
	for _, o := range m.objects {
		if o.GetKind() == "Namespace" {
			all = append(all, o.GetName())
		}
	}
	return all
}

// allWithin bounds how long it takes until the pods of all manifests run: the
// cloud makes few launch templates a second, and every pool needs one.
const allWithin = 150 * time.Second

// awaitPods waits until the pods of all the manifest's namespaces are as
// wanted, and returns them.
func (m *manifest) awaitPods(what string, holds func([]*unstructured.Unstructured) bool) (pods []*unstructured.Unstructured) {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), allWithin)
	defer cancel()
	own := m.namespaces()
	err := await.Until(ctx, m.resourceIn("v1/Pod", metav1.NamespaceAll), metav1.ListOptions{}, func(seen []*unstructured.Unstructured) (bool, error) {
		pods = slices.DeleteFunc(slices.Clone(seen), func(p *unstructured.Unstructured) bool { return !slices.Contains(own, p.GetNamespace()) })
		return holds(pods), nil
	})
	if err != nil {
		m.Fatalf("waited for %s: %v\n%s\nlogs are in %s", what, err, describe(pods), filepath.Join(m.dir, "logs"))
	}
	return pods
}

// check judges where the pods are, and that the machines are those that they
// use and no others, but for those that the story made go.
func (m *manifest) check(pods []*unstructured.Unstructured, machines, gone int) {
	m.Helper()
	w := m.look()
	for _, namespace := range m.namespaces() {
		for _, fault := range w.judge(namespace) {
			m.Error(fault)
		}
	}
	used := nodesOf(pods)
	for name, n := range w.nodes {
		if slices.Contains(m.pools, n.Labels["karpenter.sh/nodepool"]) && used[name] == 0 && n.DeletionTimestamp == nil {
			m.Errorf("node %s (%s in %s) has none of the pods", name, n.Labels["node.kubernetes.io/instance-type"], n.Labels[zoneLabel])
		}
	}
	if machines > 0 && len(used) != machines {
		m.Errorf("pods run on %d machines, want %d: %v", len(used), machines, used)
	}
	if n := m.bought.of(m.pools); n != len(used)+gone {
		m.Errorf("%d claims were made for the %d machines that pods use and %d that went", n, len(used), gone)
	}
	m.awaitSold(len(used) + gone)
}

// awaitSold waits until EC2, which knows what it sold only after a moment,
// shows so many machines sold to the manifest's pools in all.
func (m *manifest) awaitSold(want int) {
	m.Helper()
	var sold []types.Instance
	for deadline := time.Now().Add(limit / 4); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if sold = m.sold(); len(sold) >= want {
			break
		}
	}
	if len(sold) != want {
		m.Errorf("EC2 sold %s, want %d machines", describeInstances(sold), want)
	}
}

// sold returns every instance of the manifest's pools that EC2 remembers.
func (m *manifest) sold() (all []types.Instance) {
	m.Helper()
	c, _ := awsOf(m.T, m.dir)
	filters := []types.Filter{{Name: aws.String("tag:karpenter.sh/nodepool"), Values: m.pools}}
	pages := ec2.NewDescribeInstancesPaginator(ec2.NewFromConfig(c), &ec2.DescribeInstancesInput{Filters: filters})
	for pages.HasMorePages() {
		page, err := pages.NextPage(m.Context())
		if err != nil {
			m.Fatal(err)
		}
		for _, r := range page.Reservations {
			all = append(all, r.Instances...)
		}
	}
	return all
}

// remove deletes what the manifest made: workloads first, pools when the pods
// have gone.
func (m *manifest) remove() {
	m.Helper()
	late := []string{"NodePool", "EC2NodeClass", "Namespace", "PersistentVolumeClaim"}
	for _, o := range m.objects {
		if !slices.Contains(late, o.GetKind()) {
			m.deleteObject(o)
		}
	}
	m.awaitPods("the pods to go", running(0))
	mustKubectl(m.T, m.dir, "-n", m.namespace, "delete", "pvc", "--all", "--wait=false")
	for _, o := range m.objects {
		if slices.Contains(late, o.GetKind()) && o.GetKind() != "PersistentVolumeClaim" {
			m.deleteObject(o)
		}
	}
}

func (m *manifest) deleteObject(o *unstructured.Unstructured) {
	m.Helper()
	if err := m.client.Delete(m.Context(), o, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
		m.Errorf("delete %s %s: %v", o.GetKind(), o.GetName(), err)
	}
}

// nothingLeft waits until nodes, claims and volumes have gone; nothing was
// bought meanwhile, and EC2 has no machine that is not ending.
func (m *manifest) nothingLeft() {
	m.Helper()
	ofPools := func(seen []*unstructured.Unstructured) bool {
		return !slices.ContainsFunc(seen, func(o *unstructured.Unstructured) bool {
			return slices.Contains(m.pools, o.GetLabels()["karpenter.sh/nodepool"])
		})
	}
	before := m.bought.of(m.pools)
	m.await("the claims to go", claims, ofPools)
	m.await("the nodes to go", "v1/Node", ofPools)
	m.await("the volumes to go", "v1/PersistentVolume", func(seen []*unstructured.Unstructured) bool {
		return !slices.ContainsFunc(seen, func(o *unstructured.Unstructured) bool {
			return text(o, "spec", "claimRef", "namespace") == m.namespace
		})
	})
	if after := m.bought.of(m.pools); after != before {
		m.Errorf("%s: %d machines were bought for pods that were going", m.namespace, after-before)
	}
	for _, i := range m.sold() {
		if i.State.Name != types.InstanceStateNameTerminated && i.State.Name != types.InstanceStateNameShuttingDown {
			m.Errorf("%s: machine %s is left, %s", m.namespace, *i.InstanceId, i.State.Name)
		}
	}
}

// purchases are the claims that were ever seen, by pool.
type purchases struct {
	mu  sync.Mutex                 // guards all
	all map[string]map[string]bool // pool, UID
}

// followPurchases remembers every claim from now on until the story ends.
func (s *story) followPurchases() *purchases {
	s.Helper()
	p := &purchases{all: map[string]map[string]bool{}}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	all := s.resource(claims)
	go func() { done <- await.Until(ctx, all, metav1.ListOptions{}, p.note) }()
	s.Cleanup(func() {
		stop()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			s.Errorf("follow the claims: %v", err)
		}
	})
	return p
}

func (p *purchases) note(seen []*unstructured.Unstructured) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range seen {
		pool := c.GetLabels()["karpenter.sh/nodepool"]
		if p.all[pool] == nil {
			p.all[pool] = map[string]bool{}
		}
		p.all[pool][string(c.GetUID())] = true
	}
	return false, nil
}

// of counts the claims ever made for pools.
func (p *purchases) of(pools []string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pool := range pools {
		n += len(p.all[pool])
	}
	return n
}

// loseMachine deletes the node of one of the pods and waits until the pod runs
// elsewhere. The rules of its disk say where that may be.
func (m *manifest) loseMachine(pods []*unstructured.Unstructured) int {
	m.Helper()
	name, node := pods[1].GetName(), text(pods[1], "spec", "nodeName")
	mustKubectl(m.T, m.dir, "delete", "node", node, "--wait=false")
	m.awaitPods("the pod to run on another machine", func(now []*unstructured.Unstructured) bool {
		found := named(now, name)
		return len(found) == 1 && text(found[0], "spec", "nodeName") != node && running(m.pods)(now)
	})
	return 1
}

// handOver waits until one of two pods has the disk, and ends its deployment.
func (m *manifest) handOver() {
	m.Helper()
	app := ""
	m.awaitPods("one pod to run and one to wait", func(pods []*unstructured.Unstructured) bool {
		waits := 0
		for _, p := range pods {
			switch {
			case text(p, "status", "phase") == "Running":
				app = p.GetLabels()["app"]
			case text(p, "spec", "nodeName") == "" && hasReason(p, "Unschedulable"):
				waits++
			}
		}
		return app != "" && waits == 1
	})
	mustKubectl(m.T, m.dir, "-n", m.namespace, "scale", "deployment", app, "--replicas=0")
	m.pods = 1
}

func hasReason(o *unstructured.Unstructured, reason string) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool { return c.(map[string]any)["reason"] == reason })
}

// urgentFirst waits until the limit is used up, by the urgent pods alone, and
// raises it.
func (m *manifest) urgentFirst() {
	m.Helper()
	pods := m.awaitPods("four pods to run", func(pods []*unstructured.Unstructured) bool { return len(pods) == 8 && countRunning(pods) == 4 })
	for _, p := range pods {
		if app, phase := p.GetLabels()["app"], text(p, "status", "phase"); (phase == "Running") != (app == "urgent") {
			m.Errorf("%s pod %s is %s while the limit is used up", app, p.GetName(), phase)
		}
	}
	mustKubectl(m.T, m.dir, "patch", "nodepool", m.pools[0], "--type=merge", `--patch={"spec":{"limits":{"cpu":"64"}}}`)
}

// inOrder checks how many machines each of the pools has, in their order.
func (m *manifest) inOrder([]*unstructured.Unstructured) int {
	m.Helper()
	var got []int
	for _, pool := range m.pools {
		got = append(got, m.bought.of([]string{pool}))
	}
	if want := []int{2, 1, 2}; !slices.Equal(got, want) {
		m.Errorf("pools %v bought %s machines, want %v", m.pools, fmt.Sprint(got), want)
	}
	return 0
}
