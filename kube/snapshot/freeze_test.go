package snapshot

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/snapshot/pods"
)

func freezeOf(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapFreeze}, Data: data}
}

func TestFreeze(t *testing.T) {
	named := func(namespace, name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	const by = "frozen by ConfigMap kube-system/daemok-freeze"
	tests := map[string]struct {
		seen  *corev1.ConfigMap
		why   string
		until time.Duration // from now; 0: without an end
		odd   string        // a part
	}{
		"its being there is enough":                 {freezeOf(nil), by, 0, ""},
		"with a reason":                             {freezeOf(map[string]string{"reason": " audit,\n see chat "}), by + ": audit, see chat", 0, ""},
		"with an end":                               {freezeOf(map[string]string{"reason": "audit", "until": "2026-01-01T02:00:00+01:00"}), by + ": audit, until 2026-01-01T01:00:00Z", time.Hour, ""},
		"whose end has come":                        {freezeOf(map[string]string{"until": "2026-01-01T00:00:00Z"}), "", 0, ""},
		"whose end has passed":                      {freezeOf(map[string]string{"until": "2025-12-31T23:59:59Z"}), "", 0, ""},
		"an end that cannot be read is none":        {freezeOf(map[string]string{"reason": "audit", "until": "tomorrow"}), by + ": audit", 0, `data.until: "tomorrow" is no moment such as`},
		"a day alone is no end":                     {freezeOf(map[string]string{"until": "2025-12-31"}), by, 0, "or ConfigMap kube-system/daemok-freeze is deleted"},
		"two mistakes are told of at once":          {freezeOf(map[string]string{"until": "tomorrow", "why": "audit"}), by, 0, "data.why means nothing: the keys are reason and until; ConfigMap kube-system/daemok-freeze: data.until: \"tomorrow\""},
		"a key that means nothing":                  {freezeOf(map[string]string{"end": "2025-12-31T00:00:00Z"}), by, 0, "data.end means nothing: the keys are reason and until"},
		"a ConfigMap of another name means nothing": {named("kube-system", "daemok"), "", 0, ""},
		"nor one elsewhere":                         {named("default", api.ConfigMapFreeze), "", 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := newClusterState()
			k.Configure(func(s *Settings) { s.FreezeIn = "kube-system" })
			k.Seen(tt.seen)
			s := k.Snapshot()
			if s.Freeze != tt.why || k.Frozen() != tt.why {
				t.Errorf("frozen: %q and %q, want %q", s.Freeze, k.Frozen(), tt.why)
			}
			if tt.until == 0 && !s.FreezeUntil.IsZero() || tt.until != 0 && !s.FreezeUntil.Equal(start.Add(tt.until)) {
				t.Errorf("until %v, want %v from now", s.FreezeUntil, tt.until)
			}
			odd := ""
			for _, r := range k.Warnings() {
				odd += r.Text
			}
			if !strings.Contains(odd, tt.odd) || (odd == "") != (tt.odd == "") {
				t.Errorf("not understood: %q, want %q", odd, tt.odd)
			}
			k.Gone(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: tt.seen.Namespace, Name: tt.seen.Name}})
			if s := k.Snapshot(); s.Freeze != "" || len(k.Warnings()) != 0 {
				t.Errorf("still frozen: %q", s.Freeze)
			}
		})
	}
}

func TestAFreezeEndsByItself(t *testing.T) {
	now := start
	k := New(nothingOffered, func() time.Time { return now })
	k.Configure(func(s *Settings) { s.FreezeIn = "kube-system" })
	k.Seen(freezeOf(map[string]string{"until": "2026-01-01T01:00:00Z"}))
	before := k.Snapshot()
	k.Seen(freezeOf(map[string]string{"until": "2026-01-01T01:00:00Z"}))
	if k.revision != before.Revision {
		t.Error("a ConfigMap that says the same made a new revision")
	}
	now = start.Add(time.Hour)
	if after := k.Snapshot(); before.Freeze == "" || after.Freeze != "" || !after.FreezeUntil.IsZero() {
		t.Errorf("frozen %q before and %q until %v after", before.Freeze, after.Freeze, after.FreezeUntil)
	}
}

// TestWhoFollowsNoFreezeIsNotFrozen: a cluster state without a namespace follows none.
func TestWhoFollowsNoFreezeIsNotFrozen(t *testing.T) {
	k := newClusterState()
	k.Seen(freezeOf(nil))
	if s := k.Snapshot(); s.Freeze != "" {
		t.Errorf("frozen: %q", s.Freeze)
	}
}

func TestWarnings(t *testing.T) {
	says := func(name, value, owner string) *corev1.Pod {
		return pod(name, "1", "n", func(p *corev1.Pod) {
			p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: value}
			if owner != "" {
				p.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: owner, Controller: new(true)}}
			}
		})
	}
	k := newClusterState()
	for _, p := range []*corev1.Pod{says("a", "true", ""), says("b", "1d", ""), says("db-1", "yes", "db"), says("db-0", "yes", "db"), says("db-2", "no", "db"), says("f", "30m", "")} {
		k.Listed(p)
	}
	check := func(when, want string) {
		t.Helper()
		var got []string
		for _, r := range k.Warnings() {
			if !strings.Contains(r.Text, "metadata.annotations[karpenter.sh/do-not-disrupt]: ") || r.About.UID == "" {
				t.Errorf("%+v does not name the field or the pod", r)
			}
			got = append(got, r.About.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: remarks about %v, want %s", when, got, want)
		}
	}
	check("one for each owner and value", "b db-0 db-2")
	k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db-0"}})
	k.Seen(says("b", "2h", ""))
	check("one is gone and one mended", "db-1 db-2")
	ended := says("db-2", "no", "db")
	ended.Status.Phase = corev1.PodFailed
	k.Seen(ended)
	check("one failed", "db-1")
}

func TestANodeThatIsNotToBeConsolidatedSaysSoInOneWord(t *testing.T) {
	for name, tt := range map[string]struct {
		label, value string
		warned       bool
	}{
		"the word":                            {api.LabelProvisioner, "true", false},
		"another":                             {api.LabelProvisioner, "false", true},
		"none":                                {api.LabelProvisioner, "", true},
		"a NodePool's node has no use for it": {api.LabelNodePool, "yes", false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newClusterState()
			k.Seen(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{tt.label: "default"}, Annotations: map[string]string{api.AnnotationDoNotConsolidate: tt.value}}})
			found := k.Warnings()
			if len(found) == 1 != tt.warned || tt.warned && (found[0].About.Name != "n" || found[0].Reason != ReasonInvalidConsolidate || !strings.Contains(found[0].Text, "karpenter.sh/do-not-consolidate")) {
				t.Errorf("remarks %+v, want one: %v", found, tt.warned)
			}
		})
	}
}

func TestAMisreadPreferenceOfHowToLeaveIsWarnedOf(t *testing.T) {
	k := newClusterState()
	k.Listed(pod("a", "1", "n", func(p *corev1.Pod) {
		p.Annotations = map[string]string{api.AnnotationKeepReady: "true", api.AnnotationDeregistration: "300"}
	}))
	found := k.Warnings()
	if len(found) != 1 || found[0].Reason != pods.ReasonInvalidLeave || !strings.Contains(found[0].Text, `metadata.annotations[daemok.sh/deregistration-delay]: "300" is no delay`) {
		t.Errorf("remarks %+v, want one about the delay", found)
	}
}
