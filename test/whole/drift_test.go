package whole_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// drifted lists the reasons for which claims have drifted, once each.
func (w *world) drifted() []string {
	var out []string
	for _, c := range w.claims() {
		if is := condition.Get(&c, karpv1.ClaimDrifted); is != nil {
			out = append(out, is.Reason)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// widely makes a pool ask for much that instances are labelled with only when
// they are launched, or by none.
func widely(p *karpv1.NodePool) {
	p.Spec.Template.Metadata.Labels = map[string]string{"team": "shop"}
	p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements,
		karpv1.Requirement{Key: api.LabelZone, Operator: "In", Values: []string{"us-east-1a", "us-east-1b", "us-east-1c"}},
		karpv1.Requirement{Key: api.LabelOS, Operator: "In", Values: []string{"linux"}},
		karpv1.Requirement{Key: api.LabelCPU, Operator: "Gt", Values: []string{"1"}},
		karpv1.Requirement{Key: api.LabelGPUCount, Operator: "DoesNotExist"},
		karpv1.Requirement{Key: "example.com/rack", Operator: "In", Values: []string{"r1", "r2"}},
		karpv1.Requirement{Key: "example.com/row", Operator: "Exists"})
}

// The class of instances that have just been launched finds a newer image: they have
// drifted within the second, after one question to the cloud about all of them.
func TestANewerImageShowsAtOnce(t *testing.T) {
	report(t, fakecloud.Options{Seed: 61}, func(t *testing.T, w *world) {
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-one", Groups: []string{"sg-one"}}})
		c := w.upWith(setup{}, 3, widely, plain)
		time.Sleep(3 * time.Second)
		lists := func() (n int) {
			for _, call := range c.ordeal.made() {
				if call == "List" {
					n++
				}
			}
			return n
		}
		before := lists()
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-two", Groups: []string{"sg-one"}}})
		class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		class.Spec.AMIFamily, class.Spec.Role = new(awsv1.AMIFamily("AL2023")), "nodes"
		class.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{ID: "ami-12345678"}}
		class.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{ID: "subnet-12345678"}}
		class.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{ID: "sg-12345678"}}
		if err := w.hand.Create(t.Context(), class); err != nil { // as its loop writes what it found
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got, want := w.drifted(), []string{karpv1.ReasonAMIDrift}; !slices.Equal(got, want) {
			t.Errorf("a second after the class found it: drifted by %v, want %v", got, want)
		}
		if asked := lists() - before; asked != 1 {
			t.Errorf("the cloud was asked %d times in that second, want once", asked)
		}
	})
}

// Instances that are just as asked for do not drift, whoever looks. When what
// their pool or class asks for changes they do, and are replaced before they go.
func TestDriftedNodesAreReplaced(t *testing.T) {
	first := form{"one", fakecloud.Settings{Image: "ami-one", Groups: []string{"sg-one"}}}
	tests := map[string]struct {
		change func(w *world)
		reason string
	}{
		"another image": {func(w *world) {
			w.classes.change(form{"one", fakecloud.Settings{Image: "ami-two", Groups: []string{"sg-one"}}})
		}, karpv1.ReasonAMIDrift},
		"another group": {func(w *world) {
			w.classes.change(form{"one", fakecloud.Settings{Image: "ami-one", Groups: []string{"sg-two"}}})
		}, karpv1.ReasonSecurityGroupDrift},
		"another class": {func(w *world) { w.classes.change(form{"two", first.settings}) }, karpv1.ReasonNodeClassDrift},
		"another label": {func(w *world) {
			edit(w, w.defaultPool(), func(p *karpv1.NodePool) { p.Spec.Template.Metadata.Labels["team"] = "bakery" })
		}, karpv1.ReasonNodePoolDrifted},
		"another zone": {func(w *world) {
			edit(w, w.defaultPool(), func(p *karpv1.NodePool) {
				p.Spec.Template.Spec.Requirements[2].Values = []string{"us-east-1d", "us-east-1e"}
			})
		}, karpv1.ReasonRequirementsDrifted},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 60}, func(t *testing.T, w *world) {
				w.classes.change(first)
				c := w.upWith(setup{}, 3, widely, plain)
				old := w.claimNames()
				time.Sleep(20 * time.Minute)
				c.stop()
				w.start(setup{})
				time.Sleep(20 * time.Minute)
				if reasons := w.drifted(); len(reasons) > 0 || w.launched() != 3 {
					t.Fatalf("drifted by %v while nothing changed, and bought %d machines", reasons, w.launched())
				}
				done := make(chan struct{})
				go w.watchman(done)
				defer close(done)
				tt.change(w)
				w.until(time.Minute, "drift by "+tt.reason, func() bool { return slices.Equal(w.drifted(), []string{tt.reason}) })
				w.until(30*time.Minute, "three other nodes", func() bool { return w.renewed(old) && w.run(3) && len(w.liveInstances()) == 3 })
				if reasons := w.drifted(); len(reasons) > 0 || w.launched() != 6 {
					t.Errorf("drifted by %v afterwards, and bought %d machines for three pods and three nodes",
						reasons, w.launched())
				}
				if !w.story.reports("event Drifted: " + tt.reason) {
					t.Errorf("nobody was told of %s", tt.reason)
				}
				w.sound()
			})
		})
	}
}

// While a class is not ready nothing drifts by what it selects, and nothing is
// taken back.
func TestDriftWaitsForTheClass(t *testing.T) {
	report(t, fakecloud.Options{Seed: 61}, func(t *testing.T, w *world) {
		one := form{"one", fakecloud.Settings{Image: "ami-one", Groups: []string{"sg-one"}}}
		w.classes.change(one)
		w.upWith(setup{}, 2, nil, plain) // whose nodes go for being empty alone
		w.classes.set("no subnet is found")
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-two", Groups: []string{"sg-one"}}})
		time.Sleep(10 * time.Minute)
		if reasons := w.drifted(); len(reasons) > 0 {
			t.Errorf("drifted by %v from a class that is not ready", reasons)
		}
		w.classes.set("")
		w.until(time.Minute, "drift", func() bool { return strings.Join(w.drifted(), " ") == karpv1.ReasonAMIDrift })
		w.classes.set("no subnet is found")
		w.classes.change(one)
		time.Sleep(10 * time.Minute)
		if strings.Join(w.drifted(), " ") != karpv1.ReasonAMIDrift {
			t.Error("drift was taken back on the word of a class that is not ready")
		}
		w.classes.set("")
		w.until(time.Minute, "no drift", func() bool { return len(w.drifted()) == 0 })
	})
}

// defaultPool is the pool as the server has it.
func (w *world) defaultPool() *karpv1.NodePool {
	w.t.Helper()
	p := &karpv1.NodePool{}
	if err := w.hand.Get(w.t.Context(), client.ObjectKey{Name: "default"}, p); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// At the limit of its pool drift waits, unless the pool says that nodes go first:
// then one at a time, and never is there more than the limit allows.
func TestDriftAtTheLimit(t *testing.T) {
	report(t, fakecloud.Options{Seed: 62}, func(t *testing.T, w *world) {
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-one", Groups: []string{"sg-one"}}})
		w.upWith(setup{}, 3, func(p *karpv1.NodePool) {
			p.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("6")}
		}, plain)
		old := w.claimNames()
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-two", Groups: []string{"sg-one"}}})
		time.Sleep(10 * time.Minute)
		if !w.run(3) || w.launched() != 3 || len(w.drifted()) != 1 {
			t.Fatalf("at the limit: drifted by %v, %d machines bought; %s", w.drifted(), w.launched(), w.state())
		}
		if says := condition.Get(w.defaultPool(), karpv1.NodePoolDisruptionBlocked); says == nil || says.Reason != karpv1.ReasonAtLimit {
			t.Errorf("the pool says %+v of nodes that wait at its limit", says)
		}
		edit(w, w.defaultPool(), func(p *karpv1.NodePool) {
			p.Annotations = map[string]string{api.AnnotationDriftAtLimit: api.DeleteFirst}
		})
		fewest := 3
		w.until(40*time.Minute, "three other nodes", func() bool {
			running, _ := w.podsRunning()
			fewest = min(fewest, running)
			if n := len(w.claims()); n > 3 {
				t.Errorf("%d claims where limits allow three; %s", n, w.state())
			}
			return w.renewed(old) && w.run(3)
		})
		if fewest < 2 || w.launched() != 6 {
			t.Errorf("%d of three pods ran at the least, and %d machines were bought; want two and six",
				fewest, w.launched())
		}
		w.until(time.Minute, "the pool to say no more of its limit", func() bool { return condition.Get(w.defaultPool(), karpv1.NodePoolDisruptionBlocked) == nil })
		w.sound()
	})
}

// A new DaemonSet that finds no room on a full node has it replaced by a larger
// one where its annotation asks for that, once.
func TestANewDaemonSetFindsRoom(t *testing.T) {
	report(t, fakecloud.Options{Seed: 63}, func(t *testing.T, w *world) {
		w.upWith(setup{}, 1, func(p *karpv1.NodePool) {
			p.Spec.Template.Spec.Requirements[0].Values = []string{"m5.large", "m5.xlarge"}
		}, plain)
		old := w.claimNames()
		time.Sleep(time.Minute)
		agent := corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}}}}}
		set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "agent", Annotations: map[string]string{api.AnnotationMakeRoom: "true"}}}
		set.Spec.Template.Spec = agent
		w.create(set)
		w.patchStatus(set, func() { set.Status.NumberUnavailable = 1 })
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "agent-x",
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}}, Spec: agent}
		pod.Spec.Affinity = onNode(w.nodes()[0].Name)
		w.create(pod)
		w.until(10*time.Minute, "drift", func() bool { return slices.Equal(w.drifted(), []string{karpv1.ReasonDaemonSetUnplaced}) })
		w.until(20*time.Minute, "a larger node", func() bool { return w.renewed(old) && len(w.liveInstances()) == 1 })
		if kind := w.liveInstances()[0].Kind; kind != "m5.xlarge" {
			t.Errorf("replaced by a %s", kind)
		}
		time.Sleep(30 * time.Minute)
		if w.launched() != 2 || len(w.drifted()) > 0 {
			t.Errorf("bought %d machines, and drifted by %v afterwards", w.launched(), w.drifted())
		}
	})
}

func onNode(name string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{name}}}}},
	}}}
}

func (w *world) patchStatus(o client.Object, change func()) {
	w.t.Helper()
	before := o.DeepCopyObject().(client.Object)
	change()
	if err := w.hand.Status().Patch(w.t.Context(), o, client.MergeFrom(before)); err != nil {
		w.t.Fatal(err)
	}
}

// A pool whose instances do not come any more, so that its drifted nodes cannot be
// replaced, holds up none else, and its nodes stay.
func TestAPoolThatCannotReplaceDelaysNoOther(t *testing.T) {
	report(t, fakecloud.Options{Seed: 64}, func(t *testing.T, w *world) {
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-one", Groups: []string{"sg-one"}}})
		in := func(zone string) func(*karpv1.NodePool) {
			return func(p *karpv1.NodePool) {
				p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, karpv1.Requirement{Key: api.LabelZone, Operator: "In", Values: []string{zone}})
			}
		}
		w.pool("a", in("us-east-1a"))
		w.pool("b", in("us-east-1b"))
		w.start(setup{})
		for _, pool := range []string{"a", "b"} {
			w.deploy(pool, 2, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{api.LabelNodePool: pool} })
		}
		of := func(pool string) (names []string) {
			for _, c := range w.claims() {
				if c.Labels[api.LabelNodePool] == pool && condition.IsTrue(&c, karpv1.ClaimInitialized) {
					names = append(names, c.Name)
				}
			}
			return names
		}
		w.until(10*time.Minute, "two nodes of each pool", func() bool { return w.run(4) && len(of("a")) == 2 && len(of("b")) == 2 })
		stuck, first := of("a"), of("b")
		w.mu.Lock()
		w.joinsAfter = map[string]time.Duration{"us-east-1a": 24 * time.Hour}
		w.mu.Unlock()
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-two", Groups: []string{"sg-one"}}})
		w.until(15*time.Minute, "two other nodes of pool b", func() bool {
			now := of("b")
			return len(now) == 2 && !slices.ContainsFunc(now, func(name string) bool { return slices.Contains(first, name) })
		})
		time.Sleep(time.Hour)
		if now := of("a"); !slices.Equal(now, stuck) || !w.run(4) {
			t.Errorf("nodes of pool a are %v, were %v; %s", now, stuck, w.state())
		}
	})
}
