package whole_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	product "github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/test/store"
)

// build is of which build a controller is.
type build struct {
	name string
	hops string // its launch templates have this hop limit, whatever a class says; empty: as classes say
}

// form is how the build renders classes; nil: it compares none.
func (b build) form() func(nodeclass.Spec) (*nodeclass.LaunchForm, error) {
	if b.name == "" {
		return nil
	}
	return func(spec nodeclass.Spec) (*nodeclass.LaunchForm, error) {
		form, err := product.LaunchForm(spec)
		if b.hops != "" && err == nil {
			form.Base["MetadataOptions.HttpPutResponseHopLimit"] = b.hops
		}
		return form, err
	}
}

func (b build) classes(store client.Client, p *aws.Provider, kinds []class.Kind) product.NodeClasses {
	known := product.NodeClasses{Store: store, Catalog: p, Served: kinds, Build: b.name, Render: b.form()}
	if b.name != "" {
		known.Compared = &class.Comparisons{}
	}
	return known
}

// witness notes what the class says at each launch.
type witness struct {
	cloud.Instances
	class func() *class.Subject

	mu       sync.Mutex
	said     []string // what the condition said, "" where there was none
	launches []time.Time
}

func (o *witness) Launch(ctx context.Context, r cloud.LaunchRequest) ([]cloud.Instance, error) {
	text := ""
	if is := condition.Get(o.class(), awsv1.ClassLaunchTemplateChanged); is != nil {
		text = fmt.Sprintf("%s %s: %s", is.Status, is.Reason, is.Message)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said, o.launches = append(o.said, text), append(o.launches, time.Now())
	return o.Instances.Launch(ctx, r)
}

// classNamed is a class of the kind as the server has it.
func (w *world) classNamed(kind, name string) *class.Subject {
	w.t.Helper()
	at := slices.IndexFunc(w.kinds, func(k class.Kind) bool { return k.Name == kind })
	c, err := w.kinds[at].ByName(context.Background(), w.hand, name)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// upgrade has a controller of another build begin where two nodes of the class run and a pod is pending. For the first so
// long the API server refuses to write the class.
func (w *world) upgrade(kind, name string, refuses func(time.Duration) error) (saw *witness, began time.Time) {
	w.t.Helper()
	first := w.start(setup{build: build{name: "v1"}})
	w.scale("web", 2)
	w.until(5*time.Minute, "two pods running", func() bool { return w.run(2) })
	first.stop()
	w.scale("web", 3)
	began = time.Now()
	saw = &witness{class: func() *class.Subject { return w.classNamed(kind, name) }}
	w.start(setup{
		build:   build{name: "v2", hops: "7"},
		through: func(m cloud.Instances) cloud.Instances { saw.Instances = m; return saw },
		fault: func(c store.Call) (before, after error) {
			if c.Kind == kind && c.Writes() && !c.Status {
				return refuses(time.Since(began)), nil
			}
			return nil, nil
		},
	})
	w.until(5*time.Minute, "three pods running", func() bool { return w.run(3) })
	if len(saw.said) != 1 || w.launched() != 3 {
		w.t.Fatalf("%d launches, %d instances; %s", len(saw.said), w.launched(), w.state())
	}
	return saw, began
}

// byForm counts the NodeClaims of a class by the form that their instances were launched in, the fewest first.
func (w *world) byForm(kind, name string) (counts []int) {
	w.t.Helper()
	launched := class.LaunchedAs(w.classNamed(kind, name), w.claims())
	for digest := range launched {
		counts = append(counts, launched.Nodes(digest))
	}
	slices.Sort(counts)
	return counts
}

// onLarge has a Provisioner launch instances that have room for one pod.
func onLarge(s *v1alpha5.ProvisionerSpec) {
	s.Requirements = []v1alpha5.Requirement{{Key: api.LabelInstanceType, Operator: "In", Values: []string{"m5.large"}}}
}

// busy has the API server refuse for so long.
func busy(until time.Duration) func(time.Duration) error {
	return func(since time.Duration) error {
		if since < until {
			return errors.New("the API server is busy")
		}
		return nil
	}
}

// After an upgrade, a class of either API says what is another in the launch templates of the new build before the first
// instance is launched from one, also where writing it takes a while. The nodes stay.
func TestAClassIsComparedBeforeAnUpgradedControllerLaunchesFromIt(t *testing.T) {
	tests := map[string]struct {
		kind, name string
		busyFor    time.Duration
		pools      func(w *world)
	}{
		"EC2NodeClass":                      {class.KindEC2NodeClass, "default", 0, func(w *world) { w.pool("default", nil) }},
		"EC2NodeClass, after three seconds": {class.KindEC2NodeClass, "default", 3 * time.Second, func(w *world) { w.pool("default", nil) }},
		"AWSNodeTemplate": {class.KindAWSNodeTemplate, v1alpha5.DefaultTemplate, 0, func(w *world) {
			w.nodeTemplate(v1alpha5.DefaultTemplate)
			w.provisioner("old", onLarge)
		}},
		"AWSNodeTemplate, with kubelets of the Provisioner": {class.KindAWSNodeTemplate, v1alpha5.DefaultTemplate, 3 * time.Second, func(w *world) {
			w.nodeTemplate(v1alpha5.DefaultTemplate)
			w.provisioner("old", onLarge, func(s *v1alpha5.ProvisionerSpec) {
				s.KubeletConfiguration = &v1alpha5.KubeletConfiguration{MaxPods: new(int32(20))}
			})
		}},
		"Provisioner with provider": {class.KindProvisioner, "old", 0, func(w *world) {
			w.provisioner("old", onLarge, func(s *v1alpha5.ProvisionerSpec) {
				s.ProviderRef, s.Provider = nil, &awsv1alpha1.Provider{AWS: awsv1alpha1.AWS{SubnetSelector: ofNetwork(), SecurityGroupSelector: ofNetwork()}}
			})
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			reportAWS(t, 11, func(t *testing.T, w *world) {
				tt.pools(w)
				saw, _ := w.upgrade(tt.kind, tt.name, busy(tt.busyFor))
				if said := saw.said[0]; !strings.HasPrefix(said, "True "+awsv1.ReasonRenderedOtherwise) || !strings.Contains(said, "MetadataOptions.HttpPutResponseHopLimit") {
					t.Errorf("an instance was launched while the class said %q of its launch template", said)
				}
				counts := w.byForm(tt.kind, tt.name)
				if !slices.Equal(counts, []int{1, 2}) {
					t.Errorf("nodes by form: %v, want two of the earlier build and one of this", counts)
				}
				w.sound()
			})
		})
	}
}

// Nodes are counted by what their own launch templates may have otherwise, as they run: of m5.large, which have few pods, and
// of spot and arm64.
func TestNodesAreCountedByTheVariantOfTheirLaunchTemplate(t *testing.T) {
	reportAWS(t, 14, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.pool("spot", func(p *karpv1.NodePool) {
			onSpot(p)
			p.Spec.Template.Spec.Requirements[0].Values = []string{"m6g.xlarge"}
		})
		w.start(setup{build: build{name: "v1"}})
		w.deploy("web", 1, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{api.LabelNodePool: "default"} })
		w.deploy("batch", 1, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{api.LabelNodePool: "spot"} })
		w.until(5*time.Minute, "two pods running", func() bool { return w.run(2) })
		for _, launched := range class.LaunchedAs(w.classNamed(class.KindEC2NodeClass, "default"), w.claims()) {
			if !maps.Equal(launched, map[string]int{"few pods": 1, "arm64,spot": 1}) {
				t.Errorf("nodes by variants: %v", launched)
			}
		}
	})
}

// A class that cannot be compared keeps pods waiting for a few seconds, and is compared once it can be: the node that was
// launched before that is none of the earlier build's.
func TestPodsDoNotWaitLongForAComparison(t *testing.T) {
	const batch = 2 * time.Second // of pods, and what passes until they are seen
	reportAWS(t, 12, func(t *testing.T, w *world) {
		w.pool("default", nil)
		saw, began := w.upgrade(class.KindEC2NodeClass, "default", busy(2*time.Minute))
		if waited := saw.launches[0].Sub(began); waited < class.AwaitFor || waited > class.AwaitFor+batch {
			t.Errorf("the launch waited %v, want %v and what a plan takes", waited, class.AwaitFor)
		}
		w.until(5*time.Minute, "a comparison", func() bool {
			return condition.IsTrue(w.nodeClass(), awsv1.ClassLaunchTemplateChanged)
		})
		counts := w.byForm(class.KindEC2NodeClass, "default")
		if !slices.Equal(counts, []int{1, 2}) {
			t.Errorf("nodes by form: %v, want two of the earlier build and one of this", counts)
		}
		w.sound()
	})
}

// Where the controller lacks the right to write AWSNodeTemplates, as with the chart of an earlier release, the class says
// that it is not compared, and why; it stays ready, and instances are launched without a wait.
func TestAClassThatMayNotBeWrittenIsNotCompared(t *testing.T) {
	reportAWS(t, 13, func(t *testing.T, w *world) {
		w.nodeTemplate(v1alpha5.DefaultTemplate)
		w.provisioner("old", onLarge)
		saw, began := w.upgrade(class.KindAWSNodeTemplate, v1alpha5.DefaultTemplate, func(time.Duration) error {
			return apierrors.NewForbidden(schema.GroupResource{Group: api.GroupAWS, Resource: "awsnodetemplates"}, v1alpha5.DefaultTemplate, errors.New("no right"))
		})
		if said := saw.said[0]; !strings.HasPrefix(said, "Unknown "+awsv1.ReasonNotCompared) || !strings.Contains(said, "no right") {
			t.Errorf("the class said %q of its launch template", said)
		}
		if waited := saw.launches[0].Sub(began); waited >= class.AwaitFor {
			t.Errorf("the launch waited %v", waited)
		}
		w.sound()
	})
}
