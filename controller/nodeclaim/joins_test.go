package nodeclaim

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

var (
	noon    = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	byZone  = plan.Join{Group: "web", Key: api.LabelZone, Opens: true}
	already = plan.Join{Group: "web", Key: api.LabelZone} // its zone had a node before
)

// inGroup is a claim made at noon whose instance is in a zone.
func inGroup(t *testing.T, name, zone string, j plan.Join, change ...func(*karpv1.NodeClaim)) karpv1.NodeClaim {
	t.Helper()
	c := karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: name, CreationTimestamp: metav1.NewTime(noon), Annotations: map[string]string{}, Labels: map[string]string{api.LabelZone: zone},
	}}
	if err := translate.SetJoins(c.Annotations, []plan.Join{j}); err != nil {
		t.Fatal(err)
	}
	condition.SetTrue(&c, karpv1.ClaimLaunched, noon)
	condition.Begin(&c, noon)
	for _, f := range change {
		f(&c)
	}
	return c
}

func waits(c *karpv1.NodeClaim) {
	condition.SetUnknown(c, karpv1.ClaimRegistered, karpv1.ReasonAwaitingSpreadDomains, "", noon)
}

func openSince(at time.Time) func(*karpv1.NodeClaim) {
	return func(c *karpv1.NodeClaim) { condition.SetTrue(c, karpv1.ClaimRegistered, at) }
}

func unlaunchedIn(zones ...string) func(*karpv1.NodeClaim) {
	return func(c *karpv1.NodeClaim) {
		delete(c.Labels, api.LabelZone)
		condition.SetUnknown(c, karpv1.ClaimLaunched, "", "", noon)
		c.Spec.Requirements = []karpv1.Requirement{{Key: api.LabelZone, Operator: "In", Values: zones}}
	}
}

func unlaunched(c *karpv1.NodeClaim) {
	condition.SetUnknown(c, karpv1.ClaimLaunched, karpv1.ReasonLaunchFailed, "no rights", noon)
}

func TestANodeWaitsFor(t *testing.T) {
	at := func(name, zone string, change ...func(*karpv1.NodeClaim)) karpv1.NodeClaim {
		return inGroup(t, name, zone, byZone, change...)
	}
	leaves := func(c *karpv1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: noon} }
	throttled := func(c *karpv1.NodeClaim) {
		condition.SetUnknown(c, karpv1.ClaimLaunched, karpv1.ReasonRequestLimitExceeded, "too many calls", noon)
	}
	twice := func(c *karpv1.NodeClaim) {
		condition.SetFalse(c, karpv1.ClaimRegistered, karpv1.ReasonMultipleNodesFound, "", noon)
	}
	other := inGroup(t, "other", "c", plan.Join{Group: "db", Key: api.LabelZone, Opens: true})
	tests := map[string]struct {
		others []karpv1.NodeClaim
		want   string // claims that claim a, in zone a, waits for
	}{
		"nobody when it is alone":     {nil, ""},
		"a machine in another zone":   {[]karpv1.NodeClaim{at("b", "b")}, "b"},
		"all machines in other zones": {[]karpv1.NodeClaim{at("c", "c"), at("b", "b")}, "b, c"},
		"three by name, others by number": {[]karpv1.NodeClaim{at("b", "b"), at("c", "c"),
			at("d", "d"), at("e", "e"), at("f", "f")}, "b, c, d and 2 more"},
		"no instance in its own zone": {[]karpv1.NodeClaim{at("a-2", "a")}, ""},
		"no instance in a zone where another waits": {[]karpv1.NodeClaim{at("b", "b", waits),
			at("b-2", "b")}, ""},
		"no instance in a zone where another is open": {[]karpv1.NodeClaim{at("b", "b",
			openSince(noon.Add(-time.Hour))), at("b-2", "b")}, ""},
		"no instance in a zone that had a node before": {[]karpv1.NodeClaim{inGroup(t, "b", "b", already)}, ""},
		"a machine whose purchase is throttled":        {[]karpv1.NodeClaim{at("b", "b", throttled)}, "b"},
		"a machine that is not bought yet":             {[]karpv1.NodeClaim{at("b", "", unlaunchedIn("b"))}, "b"},
		"one that may be in a zone without a node": {[]karpv1.NodeClaim{at("b", "",
			unlaunchedIn("a", "b"))}, "b"},
		"none that can only be in its own zone": {[]karpv1.NodeClaim{at("b", "", unlaunchedIn("a"))}, ""},
		"none that is being deleted":            {[]karpv1.NodeClaim{at("b", "b", leaves)}, ""},
		"none that cannot be bought":            {[]karpv1.NodeClaim{at("b", "b", unlaunched)}, ""},
		"none that has two nodes":               {[]karpv1.NodeClaim{at("b", "b", twice)}, ""},
		"none of another group":                 {[]karpv1.NodeClaim{other}, ""},
		"none that others were let go without": {[]karpv1.NodeClaim{at("b", "b"),
			at("c", "c", openSince(noon.Add(time.Minute)))}, ""},
		"one that is newer than the last node that was open": {[]karpv1.NodeClaim{at("b", "b"),
			at("c", "c", openSince(noon.Add(-time.Minute)))}, "b"},
		"no zone of a node that is being deleted": {[]karpv1.NodeClaim{at("b", "b"),
			at("b-2", "b", waits, leaves)}, "b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			all := append([]karpv1.NodeClaim{at("a", "a")}, tt.others...)
			text, _ := groupsOf(all, "a").waitText([]plan.Join{byZone}, noon)
			_, rest, _ := strings.Cut(text, "NodeClaim ")
			if got := strings.TrimSuffix(rest, ", waited for 1m0s at most"); got != tt.want {
				t.Errorf("waits for %q, want %q: %s", got, tt.want, text)
			}
		})
	}
}

// Instances that take pods at once, so that these find all the room, wait for
// each other whatever zone they are in.
func TestANodeWaitsForAllInstancesOfItsPlan(t *testing.T) {
	all := plan.Join{Group: "0a1b2c3d", Opens: true}
	list := []karpv1.NodeClaim{inGroup(t, "a", "a", all), inGroup(t, "b", "a", all, waits), inGroup(t, "c", "a", all),
		inGroup(t, "d", "b", byZone)}
	if text, _ := groupsOf(list, "a").waitText([]plan.Join{all}, noon); !strings.Contains(text,
		"no node yet of NodeClaim c, waited for 1m0s at most") {
		t.Errorf("a machine waits for another than the one that has not joined: %q", text)
	}
	if text, _ := groupsOf(list[:2], "a").waitText([]plan.Join{all}, noon); text != "" {
		t.Errorf("a machine waits though all have joined: %q", text)
	}
}

// An instance with large pods takes them after the others took theirs: else
// kube-scheduler fills it with small ones, which fit anywhere.
func TestANodeTakesItsTurn(t *testing.T) {
	turn := func(n int) plan.Join { return plan.Join{Group: "0a1b2c3d", Turn: n} }
	claim := func(name string, n int, change ...func(*karpv1.NodeClaim)) karpv1.NodeClaim {
		return inGroup(t, name, "a", turn(n), change...)
	}
	open := openSince(noon)
	tests := map[string]struct {
		others []karpv1.NodeClaim
		after  time.Duration // since noon
		want   string        // the reason that is reported for the second; empty: it does not
		left   time.Duration
	}{
		"after one that has no node yet": {
			[]karpv1.NodeClaim{claim("b", 1),
				claim("c", 1,
					open)}, time.Second, "no pod can come yet to the node of NodeClaim b, waited for 1m0s at most", 0,
		},
		"after one whose node waits itself": {
			[]karpv1.NodeClaim{claim("b", 1,
				waits)}, time.Second, "no pod can come yet to the node of NodeClaim b, waited for 1m0s at most", 0,
		},
		"when the others have had ten seconds for their pods": {
			[]karpv1.NodeClaim{claim("b", 1,
				open)}, 3 * time.Second, "the scheduler has until 12:00:10", 7 * time.Second,
		},
		"at once when they have had them": {[]karpv1.NodeClaim{claim("b", 1, open)}, 10 * time.Second, "", 0},
		"with others of its turn": {[]karpv1.NodeClaim{claim("b", 1, open), claim("c", 2)},
			time.Minute, "", 0},
		"before those of the next": {[]karpv1.NodeClaim{claim("b", 1, open), claim("c", 3, open)},
			10 * time.Second, "", 0},
		"at once when the others cannot be bought": {[]karpv1.NodeClaim{claim("b", 1, unlaunched)}, time.Second, "", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			all := groupsOf(append(tt.others, claim("a", 2)), "a")
			text, left := all.waitText([]plan.Join{turn(2)}, noon.Add(tt.after))
			if !strings.HasSuffix(text, tt.want) || (text == "") != (tt.want == "") || left != tt.left {
				t.Errorf("it waits %s: %q, want %s: %q", left, text, tt.left, tt.want)
			}
			if text, _ := all.waitText([]plan.Join{turn(1)}, noon); text != "" {
				t.Errorf("one whose turn is first waits: %q", text)
			}
		})
	}
}
