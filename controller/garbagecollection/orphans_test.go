package garbagecollection

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
)

type heard struct{ events []observe.Event }

func (h *heard) Publish(e observe.Event) { h.events = append(h.events, e) }

// losing is a cluster with so many instances and nodes, of which some have lost their claims.
func losing(p *place, lost, of int) {
	for i := range of {
		id := fmt.Sprintf("i-%d", i)
		p.instance(id, time.Hour)
		p.node("n-"+id, id, corev1.ConditionTrue)
		if i >= lost {
			p.claim("c-"+id, id, registered)
		}
	}
}

// drained counts nodes that are drained, and instances that were terminated.
func (p *place) drained() (nodes, ended int) {
	return strings.Count(p.left(), " drains"), len(p.yard.back)
}

func (p *place) confirm(n string) {
	p.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "daemok-orphans"},
		Data: map[string]string{"terminate": n}})
}

// Claims that are lost all at once, as with an etcd restored from a backup or by a script
// that takes their finalizers away, are a mistake: no instance is terminated for it until a
// user has said how many may be. Nodes are drained even then.
func TestInstancesWhoseClaimsAreLostAtOnceAreHeld(t *testing.T) {
	tests := map[string]struct {
		lost, of  int
		confirmed string
		drained   int
		wrong     string // what the round ends with
	}{
		"all of a cluster":                     {3, 3, "", 0, ""},
		"one of a few":                         {1, 3, "", 1, ""},
		"a share":                              {3, 14, "", 0, ""},
		"less than a share":                    {3, 15, "", 3, ""},
		"few of many, and yet more than a few": {6, 100, "", 0, ""},
		"that many may go":                     {6, 6, "6", 6, ""},
		"fewer may go":                         {6, 6, "5", 0, ""},
		"it is not said how many may go": {6, 6, "yes", 0,
			`data.terminate is "yes"; write how many instances without NodeClaim may go, such as 6`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			losing(p, tt.lost, tt.of)
			if tt.confirmed != "" {
				p.confirm(tt.confirmed)
			}
			for range 3 {
				if _, err := p.c.Round(t.Context()); tt.wrong == "" && err != nil || tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
					t.Fatalf("the round ended with %v, want %q", err, tt.wrong)
				}
			}
			if nodes, ended := p.drained(); nodes != tt.drained || ended > 0 {
				t.Errorf("%d nodes are drained, and %d instances were terminated without a drain; want %d and none",
					nodes, ended, tt.drained)
			}
			held := tt.lost
			if tt.drained > 0 {
				held = 0
			}
			said := slices.ContainsFunc(p.heard.events, func(e observe.Event) bool {
				return e.Warning && e.Reason == "OrphanHeld" && strings.Contains(e.Message, "daemok adopt --yes") &&
					strings.Contains(e.Message,
						fmt.Sprintf("kubectl -n kube-system create configmap daemok-orphans --from-literal=terminate=%d", tt.lost))
			})
			if said != (held > 0) {
				t.Errorf("said %+v; held are %d", p.heard.events, held)
			}
			if got, err := scraped.Lines(p.metrics, "daemok_orphans_held"); err != nil || !slices.Equal(got,
				[]string{fmt.Sprintf("daemok_orphans_held %d", held)}) {
				t.Errorf("measured %q, %v; want %d", got, err, held)
			}
		})
	}
}

// Claims that are lost one after the other are no fewer for it: those count whose nodes
// are drained already.
func TestInstancesWhoseClaimsAreLostOneByOneAreHeld(t *testing.T) {
	p := newPlace(t)
	losing(p, 0, 100)
	for i := range 20 {
		c := p.claimCalled(fmt.Sprintf("c-i-%d", i))
		if err := p.hand.Delete(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		p.look()
	}
	if nodes, ended := p.drained(); nodes != orphansMax || ended > 0 {
		t.Errorf("%d nodes are drained, and %d instances were terminated without a drain; want %d and none", nodes,
			ended, orphansMax)
	}
}

// Claims are deleted while their instances are being launched, as where a NodePool is
// deleted in the middle of a scale-up: these go however many they are, also once their
// nodes have joined, as no pod can be on them before they have registered.
func TestInstancesWhoseNodesHaveNotRegisteredAreNotHeld(t *testing.T) {
	p := newPlace(t)
	losing(p, 8, 8)
	for i := range 8 {
		node := &corev1.Node{}
		if err := p.hand.Get(t.Context(), client.ObjectKey{Name: fmt.Sprintf("n-i-%d", i)}, node); err != nil {
			t.Fatal(err)
		}
		node.Spec.Taints = []corev1.Taint{{Key: api.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}}
		if err := p.hand.Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
	}
	p.look()
	p.look()
	if nodes, ended := p.drained(); nodes+ended != 8 || len(p.heard.events) > 0 {
		t.Errorf("%d nodes are drained and %d instances were terminated, and said was %+v; want all to go", nodes,
			ended, p.heard.events)
	}
}

// Kubernetes' garbage collector deletes the nodes of claims that were lost, and the drains
// of these are what ends the instances: they are held as well, and counted, unless so many
// may go.
func TestDrainsOfNodesWhoseClaimsAreLostAtOnceAreHeld(t *testing.T) {
	tests := map[string]struct {
		lost, of  int
		confirmed string
		held      bool
	}{
		"all of a cluster": {7, 7, "", true},
		"a few of many":    {5, 25, "", false},
		"that many may go": {7, 7, "7", false},
		"fewer may go":     {7, 7, "6", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			losing(p, tt.lost, tt.of)
			var nodes corev1.NodeList
			if err := p.hand.List(t.Context(), &nodes); err != nil {
				t.Fatal(err)
			}
			for i := range nodes.Items {
				n := &nodes.Items[i]
				n.Finalizers = []string{api.FinalizerTermination}
				if err := p.hand.Update(t.Context(), n); err != nil {
					t.Fatal(err)
				}
			}
			if tt.confirmed != "" {
				p.confirm(tt.confirmed)
			}
			node := nodes.Items[0].DeepCopy() // of a claim that is lost
			if err := p.hand.Delete(t.Context(), node); err != nil {
				t.Fatal(err)
			}
			held, err := p.c.HoldsDrain(t.Context(), node)
			said := slices.ContainsFunc(p.heard.events,
				func(e observe.Event) bool { return e.Key == "Node/"+node.Name && e.Reason == "OrphanHeld" })
			if err != nil || held != tt.held || said != tt.held || p.c.Holds() != tt.held {
				t.Errorf("its drain is held: %v (%v), as is remembered: %v, said on it: %v; want %v", held, err,
					p.c.Holds(), said, tt.held)
			}
			p.look()
			if pools := p.c.Held(); (len(pools) > 0) != tt.held {
				t.Errorf("pools that are told: %v", pools)
			}
		})
	}
}

// An orphan without the tag of the cluster's UID may be another cluster's of the same
// name: that is said, once.
func TestAnOrphanWithoutTheUIDOfTheClusterIsWarnedOf(t *testing.T) {
	var log strings.Builder
	p := newPlace(t)
	p.c.Log = slog.New(slog.NewTextHandler(&log, nil))
	p.instance("i-1", time.Minute,
		func(m *cloud.Instance) { m.Tags = map[string]string{"daemok.sh/cluster-uid": "uid-1"} })
	p.instance("i-2", time.Minute)
	p.look()
	p.look()
	if got := strings.Count(log.String(), "level=WARN"); got != 1 || !strings.Contains(log.String(),
		"instance=i-2 tag=daemok.sh/cluster-uid") {
		t.Errorf("%d warnings in\n%s", got, log.String())
	}
}

// Instances of a launch that is not waited for any more have no nodes, and go however many
// they are.
func TestInstancesOfAnAbandonedLaunchAreTerminated(t *testing.T) {
	p := newPlace(t)
	for i := range 20 {
		p.instance(fmt.Sprintf("i-%d", i), bootsFor-time.Second, func(m *cloud.Instance) { m.Batch = "batch" })
	}
	p.look()
	if len(p.yard.back) != 20 || len(p.heard.events) > 0 {
		t.Errorf("%d of 20 were terminated, and said was %+v", len(p.yard.back), p.heard.events)
	}
}
