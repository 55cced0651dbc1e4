package whole_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/api/mark"
)

// ofNetwork selects what the account has for instances, with a list in a value.
func ofNetwork() awsv1alpha1.Selector {
	return awsv1alpha1.Selector{"karpenter.sh/discovery": {Value: "other, test"}}
}

// nodeTemplate makes an AWSNodeTemplate.
func (w *world) nodeTemplate(name string, change ...func(*awsv1alpha1.AWSNodeTemplateSpec)) {
	w.t.Helper()
	t := &awsv1alpha1.AWSNodeTemplate{ObjectMeta: metav1.ObjectMeta{Name: name}}
	t.Spec.SubnetSelector, t.Spec.SecurityGroupSelector = ofNetwork(), ofNetwork()
	for _, f := range change {
		f(&t.Spec)
	}
	w.create(t)
}

// provisioner makes a Provisioner.
func (w *world) provisioner(name string, change ...func(*v1alpha5.ProvisionerSpec)) {
	w.t.Helper()
	p := &v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, f := range change {
		f(&p.Spec)
	}
	w.create(p)
}

func (w *world) provisionerNow(name string) *v1alpha5.Provisioner {
	w.t.Helper()
	p := &v1alpha5.Provisioner{}
	if err := w.hand.Get(context.Background(), client.ObjectKey{Name: name}, p); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// annotate says something on an object, by hand.
func (w *world) annotate(o client.Object, key, value string) {
	w.t.Helper()
	before := o.DeepCopyObject().(client.Object)
	all := o.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	all[key] = value
	o.SetAnnotations(all)
	if err := w.hand.Patch(context.Background(), o, client.MergeFrom(before)); err != nil {
		w.t.Fatal(err)
	}
}

// still are those of the claims that there are.
func (w *world) still(names []string) []string {
	now := w.claimNames()
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(now, name) })
}

// Pods that nothing has room for get instances of a Provisioner, which names no template and
// so means the one called default; empty, its instances go after the time that it says, and
// not before.
func TestAProvisionerLaunchesAndLetsEmptyNodesGo(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		w.nodeTemplate(v1alpha5.DefaultTemplate)
		w.provisioner("default", func(s *v1alpha5.ProvisionerSpec) {
			s.TTLSecondsAfterEmpty = new(int64(60))
		})
		w.start(setup{})
		w.scale("inflate", 5)
		w.until(5*time.Minute, "all pods run", func() bool { return w.run(5) })
		for _, c := range w.claims() {
			if c.Labels[api.LabelProvisioner] != "default" || c.Labels[api.LabelNodePool] != "" || len(c.OwnerReferences) != 1 || c.OwnerReferences[0].Kind != "Provisioner" ||
				c.Spec.NodeClassRef.Kind != awsv1alpha1.Kind || c.Spec.NodeClassRef.Name != v1alpha5.DefaultTemplate {
				t.Errorf("claim %s: labels %v, owners %v, class %v",
					c.Name, c.Labels, c.OwnerReferences, c.Spec.NodeClassRef)
			}
			if c.Labels[api.LabelInstancePods] == "" || c.Labels[api.LabelAMIID] != c.Status.ImageID {
				t.Errorf("claim %s of image %s has the labels %v", c.Name, c.Status.ImageID, c.Labels)
			}
		}
		for _, n := range w.nodes() {
			if kind := n.Labels[corev1.LabelInstanceTypeStable]; !strings.ContainsAny(kind[:1], "cmr") {
				t.Errorf("node %s is a %s, which the older generation does not buy where nobody asks for it",
					n.Name, kind)
			}
		}
		p := w.provisionerNow("default")
		if !condition.IsTrue(p, condition.Ready) || p.Status.Nodes == 0 || len(p.Status.Requirements) != 5 || p.Status.ScaleDown != "empty nodes go after 1m0s" || p.Status.LastScaleTime == nil {
			t.Errorf("the status is %+v", p.Status)
		}
		if len(p.Spec.Requirements) != 0 {
			t.Errorf("what holds where nothing is said was written into the spec: %v", p.Spec.Requirements)
		}
	})
}

// Each instance is terminated 60 s after its node became empty, within 2 s, where the
// Provisioner says so: also where another controller takes over meanwhile, since the node
// itself says since when it is empty.
func TestEmptyNodesOfAProvisionerGoToTheSecond(t *testing.T) {
	for name, takesOver := range map[string]bool{"one controller": false, "another takes over": true} {
		t.Run(name, func(t *testing.T) {
			reportAWS(t, 1, func(t *testing.T, w *world) {
				w.nodeTemplate(v1alpha5.DefaultTemplate)
				w.provisioner("default", func(s *v1alpha5.ProvisionerSpec) {
					s.TTLSecondsAfterEmpty = new(int64(60))
					s.Requirements = []v1alpha5.Requirement{
						{Key: "karpenter.k8s.aws/instance-category", Operator: "In", Values: []string{"t", "m"}},
						{Key: "karpenter.k8s.aws/instance-generation", Operator: "In", Values: []string{"3", "5"}},
					}
				})
				c := w.start(setup{})
				w.scale("inflate", 5)
				w.until(5*time.Minute, "all pods run", func() bool { return w.run(5) })
				time.Sleep(10 * time.Minute)
				for _, n := range w.nodes() {
					if says, noted := n.Annotations[api.AnnotationEmptinessTimestamp]; noted {
						t.Errorf("node %s has pods, and says that it is empty since %s", n.Name, says)
					}
				}
				w.scale("inflate", 0)
				w.until(time.Minute, "no pod is left", func() bool { return len(w.allPods()) == 0 })
				emptied, instances := time.Now(), len(w.liveInstances())
				w.until(5*time.Second, "nodes say that they are empty", func() bool {
					return !slices.ContainsFunc(w.nodes(), func(n corev1.Node) bool {
						since, err := time.Parse(time.RFC3339, n.Annotations[api.AnnotationEmptinessTimestamp])
						return err != nil || since.Sub(emptied).Abs() > time.Second
					})
				})
				if takesOver {
					time.Sleep(20 * time.Second)
					c.stop()
					time.Sleep(20 * time.Second)
					w.start(setup{})
				}
				w.until(time.Until(emptied)+59*time.Second+500*time.Millisecond, "all that the time to live allows", func() bool { return time.Since(emptied) > 59*time.Second })
				if left := len(w.liveInstances()); left != instances {
					t.Errorf("%d of %d machines are left before their time is over", left, instances)
				}
				w.until(time.Until(emptied)+62*time.Second, "the machines are given back", func() bool { return len(w.liveInstances()) == 0 })
				w.until(5*time.Minute, "nothing is left", w.empty)
			})
		})
	}
}

// Pods that come to a node that says it is empty are told of at once, and its time begins
// again when they have gone.
func TestANodeOfAProvisionerIsEmptyOnlyWhilePodsAreGone(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		w.nodeTemplate(v1alpha5.DefaultTemplate)
		w.provisioner("default", func(s *v1alpha5.ProvisionerSpec) { s.TTLSecondsAfterEmpty = new(int64(60)) })
		w.start(setup{})
		w.scale("inflate", 1)
		w.until(5*time.Minute, "the pod runs", func() bool { return w.run(1) })
		noted := func() bool { return w.nodes()[0].Annotations[api.AnnotationEmptinessTimestamp] != "" }
		for range 3 {
			w.scale("inflate", 0)
			w.until(5*time.Second, "the node says that it is empty", noted)
			time.Sleep(40 * time.Second)
			w.scale("inflate", 1)
			w.until(5*time.Second, "it does so no longer", func() bool { return w.run(1) && !noted() })
		}
		if n := w.launched(); n != 1 {
			t.Errorf("%d machines were bought, want one", n)
		}
	})
}

// Where a Provisioner has neither a time to live nor consolidation nothing scales down.
func TestAProvisionerWithoutATimeToLiveKeepsEmptyNodes(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		w.provisioner("default", func(s *v1alpha5.ProvisionerSpec) {
			s.Provider = &awsv1alpha1.Provider{AWS: awsv1alpha1.AWS{SubnetSelector: ofNetwork(), SecurityGroupSelector: ofNetwork()}}
			s.Requirements = []v1alpha5.Requirement{{Key: api.LabelInstancePods, Operator: "Gt", Values: []string{"20"}}}
			s.KubeletConfiguration = &v1alpha5.KubeletConfiguration{ContainerRuntime: new("dockerd")}
		})
		w.start(setup{})
		w.scale("inflate", 5)
		w.until(5*time.Minute, "all pods run", func() bool { return w.run(5) })
		w.scale("inflate", 0)
		time.Sleep(2 * time.Hour)
		if len(w.claims()) == 0 {
			t.Error("empty nodes went")
		}
		for _, c := range w.claims() {
			if pods, err := strconv.Atoi(c.Labels[api.LabelInstancePods]); err != nil || pods <= 20 {
				t.Errorf("claim %s is of a machine for %d pods, %v", c.Name, pods, err)
			}
			if c.Spec.NodeClassRef.Kind != "Provisioner" || c.Spec.NodeClassRef.Group != api.GroupKarpenter {
				t.Errorf("claim %s names the class %v", c.Name, c.Spec.NodeClassRef)
			}
		}
		if c := condition.Get(w.provisionerNow("default"), karpv1.NodePoolValidationSucceeded); !strings.Contains(c.Message, "dockerd is no runtime of Kubernetes any more") {
			t.Errorf("of what cannot be honoured it says %s", condition.Describe(c))
		}
		if says := w.provisionerNow("default").Status.ScaleDown; !strings.HasPrefix(says, "off: no TTL, no consolidation") {
			t.Errorf("it says %q", says)
		}
	})
}

// Nodes are replaced at the age that the Provisioner says, one at a time, each once a
// instance in its place has come; one with a pod that must not be evicted stays until that
// is so no longer.
func TestAProvisionerReplacesOldNodesInGoodOrder(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		w.nodeTemplate(v1alpha5.DefaultTemplate)
		w.provisioner("default", func(s *v1alpha5.ProvisionerSpec) {
			s.TTLSecondsUntilExpired = new(int64(3600))
			s.Requirements = []v1alpha5.Requirement{{Key: corev1.LabelInstanceTypeStable, Operator: "In", Values: []string{"m5.large"}}}
		})
		w.start(setup{})
		w.scale("inflate", 5)
		w.until(5*time.Minute, "all pods run", func() bool { return w.run(5) })
		first := w.claimNames()
		kept := w.allPods()[0]
		w.annotate(&kept, api.AnnotationDoNotEvict, "true")
		time.Sleep(50 * time.Minute)
		if now := w.claimNames(); !slices.Equal(now, first) {
			t.Fatalf("before their age the claims are %v, were %v", now, first)
		}
		w.until(2*time.Hour, "all nodes but one are replaced", func() bool { return len(w.still(first)) == 1 && w.run(5) })
		time.Sleep(time.Hour)
		if left := w.still(first); len(left) != 1 {
			t.Fatalf("of the first claims %v are left, want the one whose pod must not be evicted", left)
		}
		w.annotate(&kept, api.AnnotationDoNotEvict, "")
		w.until(30*time.Minute, "the last is replaced", func() bool { return len(w.still(first)) == 0 && w.run(5) })
	})
}

// An edit of a Provisioner replaces no node; its status tells how many were made from
// an older spec, and a roll replaces these. The same holds for its template.
func TestAnEditedProvisionerReplacesNodesWhenItIsRolled(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		w.nodeTemplate(v1alpha5.DefaultTemplate)
		w.provisioner("default")
		w.start(setup{})
		w.scale("inflate", 5)
		w.until(5*time.Minute, "all pods run", func() bool { return w.run(5) })
		first := w.claimNames()
		p := w.provisionerNow("default")
		before := p.DeepCopy()
		p.Spec.Labels = map[string]string{"team": "web"}
		if err := w.hand.Patch(context.Background(), p, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if p = w.provisionerNow("default"); len(w.still(first)) != len(first) || p.Status.NodesOfOlderSpec != int64(len(first)) {
			t.Fatalf("an hour after the edit %v are left of %v, and the status says that %d are of an older spec",
				w.still(first), first, p.Status.NodesOfOlderSpec)
		}
		w.annotate(p, api.AnnotationRoll, mark.Roll{Since: time.Now()}.String())
		w.until(time.Hour, "the nodes are replaced", func() bool { return len(w.still(first)) == 0 && w.run(5) })
		w.until(time.Minute, "none is of an older spec", func() bool { return w.provisionerNow("default").Status.NodesOfOlderSpec == 0 })
		for _, n := range w.nodes() {
			if n.Labels["team"] != "web" {
				t.Errorf("node %s has the labels %v", n.Name, n.Labels)
			}
		}
		second, template := w.claimNames(), &awsv1alpha1.AWSNodeTemplate{}
		if err := w.hand.Get(context.Background(), client.ObjectKey{Name: v1alpha5.DefaultTemplate}, template); err != nil {
			t.Fatal(err)
		}
		original := template.DeepCopy()
		template.Spec.Tags = awsv1alpha1.Texts{"team": {Value: "web"}}
		if err := w.hand.Patch(context.Background(), template, client.MergeFrom(original)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if p = w.provisionerNow("default"); len(w.still(second)) != len(second) || p.Status.NodesOfOlderSpec != int64(len(second)) {
			t.Fatalf("an hour after the edit of the template %v are left of %v, and the status says that %d are of an older spec", w.still(second), second, p.Status.NodesOfOlderSpec)
		}
		w.annotate(p, api.AnnotationRoll, mark.Roll{Since: time.Now()}.String())
		w.until(time.Hour, "the nodes are replaced again", func() bool { return len(w.still(second)) == 0 && w.run(5) })
		w.until(time.Minute, "none is of an older template", func() bool { return w.provisionerNow("default").Status.NodesOfOlderSpec == 0 })
	})
}
