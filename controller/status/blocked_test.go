package status

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

func TestWhatHoldsNodesUp(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	claim := func(node string, drifted bool) karpv1.NodeClaim {
		c := karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: node + "-c", Labels: map[string]string{api.LabelNodePool: "web"}}}
		c.Status.NodeName = node
		if drifted {
			condition.Set(&c, karpv1.ClaimDrifted, metav1.ConditionTrue, karpv1.ReasonAMIDrift, "", start)
		}
		return c
	}
	leaving := claim("a", true)
	leaving.DeletionTimestamp = &metav1.Time{Time: start}
	const limit = "limits do not allow its replacement beside it: limit cpu is 2 short"
	all := map[string]string{"a": limit, "b": limit, "c": "it carries do-not-disrupt"}
	tests := map[string]struct {
		claims       []karpv1.NodeClaim
		unread       string
		doubt        string
		reason, says string
		orphans      string
	}{
		"nothing":                            {[]karpv1.NodeClaim{claim("c", true), claim("d", true)}, "", "", "", "", ""},
		"a limit":                            {[]karpv1.NodeClaim{claim("b", true), claim("a", true), claim("c", true)}, "", "", karpv1.ReasonAtLimit, "drifted nodes that wait: 2; node a: " + limit + "; raise spec.limits, or have nodes deleted first: kubectl annotate nodepool web daemok.sh/drift-at-limit=delete-first", ""},
		"not what was said of a node before": {[]karpv1.NodeClaim{claim("a", false)}, "", "", "", "", ""},
		"nor of one that goes":               {[]karpv1.NodeClaim{leaving}, "", "", "", "", ""},
		"live state that cannot be read":     {[]karpv1.NodeClaim{claim("a", true)}, "list pods of node a: too many requests", "", karpv1.ReasonStateUnread, "nothing is disrupted while the live state cannot be read, which is tried again: list pods of node a: too many requests", ""},
		"instances that lost their claims":   {nil, "", "", karpv1.ReasonOrphansHeld, "12 of 12 instances have no NodeClaim", "12 of 12 instances have no NodeClaim"},
		"a clock in doubt":                   {[]karpv1.NodeClaim{claim("a", true)}, "list pods", "the clock is 2h0m0s behind", karpv1.ReasonClockDiffers, "nothing is disrupted: the clock is 2h0m0s behind", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			stays := func(node string) string { return all[node] }
			if reason, says := (holdup{tt.doubt, tt.unread, tt.orphans, waitingAtLimit(tt.claims, stays)[translate.NodePools().ID("web")]}).in("nodepool web"); reason != tt.reason || says != tt.says {
				t.Errorf("got  %s: %s\nwant %s: %s", reason, says, tt.reason, tt.says)
			}
		})
	}
}
