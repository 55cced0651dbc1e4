package whole_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	product "github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/class"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/storetest"
)

// build is of which build a controller is.
type build struct {
	name string
	hops string // its launch templates have this hop limit, whatever a class says; empty: as classes say
}

// form is how the build renders classes; nil: it compares none.
func (b build) form() func(nodeclass.Spec) (map[string]string, error) {
	if b.name == "" {
		return nil
	}
	return func(spec nodeclass.Spec) (map[string]string, error) {
		form, err := product.LaunchForm(spec)
		if b.hops != "" && err == nil {
			form["MetadataOptions.HttpPutResponseHopLimit"] = b.hops
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
	cloud.Machines
	w *world

	mu       sync.Mutex
	said     []string // what the condition said, "" where there was none
	launches []time.Time
}

func (o *witness) Launch(ctx context.Context, r cloud.LaunchRequest) ([]cloud.Machine, error) {
	is := condition.Get(o.w.nodeClass(), awsv1.ClassLaunchTemplateChanged)
	o.mu.Lock()
	defer o.mu.Unlock()
	text := ""
	if is != nil {
		text = string(is.Status) + " " + is.Message
	}
	o.said, o.launches = append(o.said, text), append(o.launches, time.Now())
	return o.Machines.Launch(ctx, r)
}

// upgrade has a controller of another build begin where two nodes run and a pod is pending. Until the API server takes it
// again, so long, the class cannot be written.
func (w *world) upgrade(unwritten time.Duration) (saw *witness, began time.Time) {
	w.t.Helper()
	w.upWith(setup{build: build{name: "v1"}}, 2, nil, plain).stop()
	w.scale("web", 3)
	began = time.Now()
	saw = &witness{w: w}
	w.start(setup{
		build:   build{name: "v2", hops: "7"},
		through: func(m cloud.Machines) cloud.Machines { saw.Machines = m; return saw },
		fault: func(c storetest.Call) (before, after error) {
			if c.Kind == class.KindEC2NodeClass && c.Writes() && time.Since(began) < unwritten {
				return errors.New("the API server is busy"), nil
			}
			return nil, nil
		},
	})
	w.until(5*time.Minute, "three pods running", func() bool { return w.run(3) })
	if len(saw.said) != 1 || w.bought() != 3 {
		w.t.Fatalf("%d launches, %d instances; %s", len(saw.said), w.bought(), w.state())
	}
	return saw, began
}

// After an upgrade, the class says what is another in the launch templates of the new build before the first instance is
// launched from one, also where writing it takes a while. The nodes stay.
func TestAClassIsComparedBeforeAnUpgradedControllerLaunchesFromIt(t *testing.T) {
	for name, unwritten := range map[string]time.Duration{"at once": 0, "after three seconds": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			tellOfAWS(t, 11, func(t *testing.T, w *world) {
				saw, _ := w.upgrade(unwritten)
				if said := saw.said[0]; !strings.HasPrefix(said, "True ") || !strings.Contains(said, "MetadataOptions.HttpPutResponseHopLimit") {
					t.Errorf("an instance was launched while the class said %q of its launch template", said)
				}
				w.sound()
			})
		})
	}
}

// A class that cannot be compared keeps pods waiting for a few seconds, and is compared once it can be: the node that was
// launched before that is none of the earlier build's.
func TestPodsDoNotWaitLongForAComparison(t *testing.T) {
	const batch = 2 * time.Second // of pods, and what passes until they are seen
	tellOfAWS(t, 12, func(t *testing.T, w *world) {
		saw, began := w.upgrade(2 * time.Minute)
		if waited := saw.launches[0].Sub(began); waited < class.AwaitFor || waited > class.AwaitFor+batch {
			t.Errorf("the launch waited %v, want %v and what a plan takes", waited, class.AwaitFor)
		}
		w.until(5*time.Minute, "a comparison", func() bool {
			is := condition.Get(w.nodeClass(), awsv1.ClassLaunchTemplateChanged)
			return is != nil && is.Status == "True"
		})
		launched := class.LaunchedAs(w.kinds[0].Of(w.nodeClass()), w.claims())
		var counts []int
		for _, n := range launched {
			counts = append(counts, n)
		}
		if slices.Sort(counts); !slices.Equal(counts, []int{1, 2}) {
			t.Errorf("nodes by form: %v, want two of the earlier build and one of this", launched)
		}
		w.sound()
	})
}
