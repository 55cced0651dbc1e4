package stories_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/lab/await"
)

// manifest is a file of testdata/rules that was applied: workloads and the pools that are
// theirs alone.
type manifest struct {
	*story
	name     string
	objects  []*unstructured.Unstructured
	pools    []string
	pods     int // that must run in the end
	launched *purchases
}

// of is the same story in another test.
func (s *story) of(t *testing.T) *story {
	reported := *s
	reported.T = t
	return &reported
}

// filled is a manifest of testdata with the cluster's name in it.
func (s *story) filled(name string) string {
	s.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		s.Fatal(err)
	}
	return s.fill(string(content))
}

// fill writes the cluster's name into a manifest, as envsubst would.
func (s *story) fill(manifest string) string {
	s.Helper()
	return strings.ReplaceAll(manifest, "${CLUSTER_NAME}", environment(s.T, s.dir)["CLUSTER_NAME"])
}

// manifest applies a file in a namespace of its own, all but its workloads.
func (s *story) manifest(name string, launched *purchases) *manifest {
	s.Helper()
	own := s.of(s.T)
	own.namespace = namespaceFor("rules/" + name)
	own.createNamespace()
	m := &manifest{story: own, name: name, launched: launched, objects: own.decode(own.filled(filepath.Join("rules", name)))}
	for _, o := range m.objects {
		if isWorkload(o) {
			continue
		}
		m.applyObject(o)
		if o.GetKind() == "NodePool" {
			m.pools = append(m.pools, o.GetName())
		}
	}
	return m
}

func isWorkload(o *unstructured.Unstructured) bool {
	return o.GetKind() == "Deployment" || o.GetKind() == "StatefulSet"
}

// deploy applies the workloads once all pools are ready: what a pool offers that
// is not ready is no domain of a spread, so pods that came earlier might
// rightly stand in fewer zones.
func (m *manifest) deploy() {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), allWithin)
	defer cancel()
	err := await.Until(ctx, m.resource(pools), metav1.ListOptions{}, func(seen []*unstructured.Unstructured) (bool, error) {
		ready := 0
		for _, o := range seen {
			if slices.Contains(m.pools, o.GetName()) && hasCondition(o, "Ready") {
				ready++
			}
		}
		return ready == len(m.pools), nil
	})
	if err != nil {
		m.Fatalf("waited for pools %v to be ready: %v\nlogs are in %s", m.pools, err, filepath.Join(m.dir, "logs"))
	}
	for _, o := range m.objects {
		if isWorkload(o) {
			m.applyObject(o)
			n, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
			m.pods += int(n)
		}
	}
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
// cloud makes few launch templates a second, and every pool needs one. On a host
// that is busy with other work 80 nodes have taken more than six minutes.
const allWithin = 5 * limit

// awaitPods waits until the pods of all the manifest's namespaces are as
// wanted, and returns them.
func (m *manifest) awaitPods(what string, holds func([]*unstructured.Unstructured) bool) (pods []*unstructured.Unstructured) {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), allWithin)
	defer cancel()
	own := m.namespaces()
	where := metav1.NamespaceAll
	if len(own) == 1 {
		where = own[0] // thirty manifests that all watch all pods keep the API server busy
	}
	err := await.Until(ctx, m.resourceIn("v1/Pod", where), metav1.ListOptions{}, func(seen []*unstructured.Unstructured) (bool, error) {
		pods = slices.DeleteFunc(slices.Clone(seen), func(p *unstructured.Unstructured) bool { return !slices.Contains(own, p.GetNamespace()) })
		return holds(pods), nil
	})
	if err != nil {
		m.Fatalf("waited for %s: %v\n%s\nlogs are in %s", what, err, describe(pods), filepath.Join(m.dir, "logs"))
	}
	return pods
}

// check judges where the pods are, and that the instances are those that they use and no
// others, but for those that the story made go.
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
	n := 0
	poll(limit, nearEvery, func() bool { // the claims are heard of apart from the pods
		n = m.launched.of(m.pools)
		return n >= len(used)+gone
	})
	if n != len(used)+gone {
		m.Errorf("%d claims were made for the %d machines that pods use and %d that went", n, len(used), gone)
	}
	m.awaitOffered(len(used) + gone)
}

// awaitOffered waits until EC2, which knows what it offered only after a moment, shows so
// many instances offered to the manifest's pools in all.
func (m *manifest) awaitOffered(want int) {
	m.Helper()
	var offered []types.Instance
	poll(limit, farEvery, func() bool {
		offered = m.offered()
		return len(offered) >= want
	})
	if len(offered) != want {
		m.Errorf("EC2 sold %s, want %d machines", describeInstances(offered), want)
	}
}

// offered returns every instance of the manifest's pools that EC2 remembers.
func (m *manifest) offered() []types.Instance {
	m.Helper()
	return instances(m.T, m.dir, map[string][]string{poolTag: m.pools})
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
	if err := m.client.DeleteAllOf(m.Context(), &corev1.PersistentVolumeClaim{}, client.InNamespace(m.namespace)); err != nil {
		m.Errorf("delete claims of volumes: %v", err)
	}
	for _, o := range m.objects {
		if slices.Contains(late, o.GetKind()) && o.GetKind() != "PersistentVolumeClaim" {
			m.deleteObject(o)
		}
	}
}

// deleteObject deletes what has served its turn; pools take their nodes with them
// at once, since these are empty.
func (m *manifest) deleteObject(o *unstructured.Unstructured) {
	m.Helper()
	if o.GetKind() == "NodePool" {
		m.annotate(pools, o.GetName(), "daemok.sh/delete", "fast")
	}
	if err := m.client.Delete(m.Context(), o, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
		m.Errorf("delete %s %s: %v", o.GetKind(), o.GetName(), err)
	}
}

// nothingLeft waits until nodes, claims and volumes have gone; nothing was launched
// meanwhile, and EC2 has no instance that is not ending.
func (m *manifest) nothingLeft() {
	m.Helper()
	ofPools := func(seen []*unstructured.Unstructured) bool {
		return !slices.ContainsFunc(seen, func(o *unstructured.Unstructured) bool {
			return slices.Contains(m.pools, o.GetLabels()["karpenter.sh/nodepool"])
		})
	}
	before := m.launched.of(m.pools)
	m.await("the claims to go", claims, ofPools)
	m.await("the nodes to go", "v1/Node", ofPools)
	m.await("the volumes to go", "v1/PersistentVolume", func(seen []*unstructured.Unstructured) bool {
		return !slices.ContainsFunc(seen, func(o *unstructured.Unstructured) bool {
			return text(o, "spec", "claimRef", "namespace") == m.namespace
		})
	})
	if after := m.launched.of(m.pools); after != before {
		m.Errorf("%s: %d machines were bought for pods that were going", m.namespace, after-before)
	}
	for _, i := range m.offered() {
		if i.State.Name != types.InstanceStateNameTerminated && i.State.Name != types.InstanceStateNameShuttingDown {
			m.Errorf("%s: machine %s is left, %s", m.namespace, *i.InstanceId, i.State.Name)
		}
	}
}
