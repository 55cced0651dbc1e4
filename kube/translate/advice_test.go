package translate

import (
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

func TestWhatARecommendationIsWorth(t *testing.T) {
	tests := map[string]struct{ pool, advised, drifted, want, keeps string }{
		"a pool that heeds it":              {"replace", "2026-01-31T12:00:00Z", "", RebalanceRecommended, ""},
		"a pool that does not, or any more": {"ignore", "2026-01-31T12:00:00Z", "", "", "NodePool/web does not say daemok.sh/rebalance: replace any more"},
		"a pool that says something else":   {"yes", "2026-01-31T12:00:00Z", "", "", "NodePool/web does not say daemok.sh/rebalance: replace any more"},
		"a machine without one":             {"replace", "", "", "", ""},
		"what it has drifted from is shown": {"replace", "2026-01-31T12:00:00Z", "AMIDrift", "AMIDrift", ""},
		"a moment that cannot be made out":  {"replace", "now", "", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := PoolObject{ID: cluster.PoolID{Kind: KindNodePool, Name: "web"}, Annotations: map[string]string{api.AnnotationRebalance: tt.pool}}
			claim := &karpv1.NodeClaim{}
			claim.Annotations = map[string]string{api.AnnotationAdvised: tt.advised}
			n := cluster.Node{Drifted: tt.drifted}
			MarkAdvised(o, claim, &n)
			if n.Drifted != tt.want || tt.want == RebalanceRecommended && n.DriftedAt.Format(time.RFC3339) != tt.advised {
				t.Errorf("drifted: %q since %v, want %q since %s", n.Drifted, n.DriftedAt, tt.want, tt.advised)
			}
			if got := AdviceKeeps(o, RebalanceRecommended+"; and so on"); got != tt.keeps || AdviceKeeps(o, "AMIDrift") != "" {
				t.Errorf("AdviceKeeps = %q, want %q", got, tt.keeps)
			}
		})
	}
}
