package translate

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
)

func rolling(text string) PoolObject {
	o := PoolObject{ID: cluster.PoolID{Kind: KindNodePool, Name: "web"}}
	if text != "" {
		o.Annotations = map[string]string{api.AnnotationRoll: text}
	}
	return o
}

func TestWhatARollIsAbout(t *testing.T) {
	all, outdated := mark.Roll{Since: noon, All: true}.String(), mark.Roll{Since: noon}.String()
	old, fresh := noon.Add(-time.Hour), noon.Add(time.Second)
	tests := map[string]struct {
		roll    string
		made    time.Time // the claim
		drifted string    // before
		want    string
	}{
		"without a roll nothing drifts":          {"", old, "", ""},
		"of all, a node that was there":          {all, old, "", RollRequested},
		"of all, none that came since":           {all, fresh, "", ""},
		"of all, one of the second it began in":  {mark.Roll{Since: noon.Add(999 * time.Millisecond), All: true}.String(), noon, "", RollRequested},
		"of those that drifted, no other":        {outdated, old, "", ""},
		"what it has drifted from is not hidden": {all, old, "AMIDrift", "AMIDrift"},
		"one that is not understood is none":     {"now", old, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			n := cluster.Node{Drifted: tt.drifted}
			MarkRolled(rolling(tt.roll), claimOf(tt.made, ""), &n)
			if n.Drifted != tt.want {
				t.Errorf("drifted: %q, want %q", n.Drifted, tt.want)
			}
		})
	}
}

// claimOf is a claim that was made then, from a spec with this fingerprint.
func claimOf(made time.Time, spec string) *karpv1.NodeClaim {
	return &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(made), Annotations: map[string]string{api.AnnotationProvisionerHash: spec}}}
}

// A roll of a Provisioner is about nodes that were made from an older spec, which do not
// go otherwise.
func TestARollOfAProvisionerIsAboutNodesOfAnOlderSpec(t *testing.T) {
	old := noon.Add(-time.Hour)
	tests := map[string]struct {
		spec, roll string
		made       time.Time
		want       string
	}{
		"made from an older spec":               {"v1/a", mark.Roll{Since: noon}.String(), old, RollRequested},
		"without a roll it stays":               {"v1/a", "", old, ""},
		"made from the spec of now":             {"v1/b", mark.Roll{Since: noon}.String(), old, ""},
		"and all are to be rolled":              {"v1/b", mark.Roll{Since: noon, All: true}.String(), old, RollRequested},
		"it came since":                         {"v1/a", mark.Roll{Since: noon}.String(), noon.Add(time.Second), ""},
		"its fingerprint is of another version": {"v0/a", mark.Roll{Since: noon}.String(), old, ""},
		"it has none":                           {"", mark.Roll{Since: noon}.String(), old, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o, n := rolling(tt.roll), cluster.Node{}
			o.Made = "v1/b"
			MarkRolled(o, claimOf(tt.made, tt.spec), &n)
			if n.Drifted != tt.want || tt.want != "" && RollKeeps(o, n.Drifted) != "" {
				t.Errorf("drifted: %q, want %q; kept by %q", n.Drifted, tt.want, RollKeeps(o, n.Drifted))
			}
		})
	}
}

func TestWhatKeepsNodesOfARoll(t *testing.T) {
	tests := map[string]struct{ roll, drifted, want string }{
		"none, for a node that drifted":          {"", "AMIDrift", ""},
		"one that goes on":                       {mark.Roll{Since: noon, All: true}.String(), RollRequested, ""},
		"one that is paused":                     {mark.Roll{Since: noon, All: true, Paused: true}.String(), RollRequested, "the roll of NodePool/web is paused"},
		"one that is paused, for whatever drift": {mark.Roll{Since: noon, Paused: true}.String(), "AMIDrift", "the roll of NodePool/web is paused"},
		"one that was called off":                {"", RollRequested + "; it goes first", "the roll of NodePool/web was called off"},
		"one that is not understood":             {`{"since":"today"}`, "AMIDrift", "NodePool/web: metadata.annotations[daemok.sh/roll]: "},
		"one without a beginning":                {`{"all":true}`, "", "NodePool/web: metadata.annotations[daemok.sh/roll]: want since"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := RollKeeps(rolling(tt.roll), tt.drifted); !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("RollKeeps = %q, want %q", got, tt.want)
			}
		})
	}
}

// Another form of the template counts as another spec does.
func TestANodeOfAnOlderTemplateIsOfAnOlderSpec(t *testing.T) {
	tests := map[string]struct {
		now, then string
		want      bool
	}{
		"made from an older form":      {"v1/b", "v1/a", true},
		"made from the form of now":    {"v1/b", "v1/b", false},
		"of another version":           {"v1/b", "v0/a", false},
		"as another controller had it": {"v1/b", "8937281", false},
		"nobody wrote it down":         {"v1/b", "", false},
		"settings inline now":          {"", "v1/a", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{api.AnnotationProvisionerHash: "v1/p", api.AnnotationNodeTemplateHash: tt.then}}}
			if got := OfOlderSpec(PoolObject{Made: "v1/p", ClassMade: tt.now}, claim); got != tt.want {
				t.Errorf("OfOlderSpec = %v, want %v", got, tt.want)
			}
		})
	}
}
