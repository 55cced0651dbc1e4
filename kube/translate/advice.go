package translate

import (
	"fmt"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
)

// RebalanceRecommended is why a node goes that is as its pool asks for, and whose instance the
// cloud recommended to replace.
const RebalanceRecommended = "RebalanceRecommended"

// MarkAdvised shows a node as drifted whose instance the cloud recommended to replace, while
// its pool follows that.
func MarkAdvised(o PoolObject, claim *karpv1.NodeClaim, n *cluster.Node) {
	at, err := time.Parse(time.RFC3339, claim.Annotations[api.AnnotationAdvised])
	if err == nil && n.Drifted == "" && heeds(o) {
		n.Drifted, n.DriftedAt = RebalanceRecommended, at.UTC()
	}
}

// AdviceKeeps says why a node that was to go on such a recommendation stays, by what
// its pool says now; empty: it may go.
func AdviceKeeps(o PoolObject, drifted string) string {
	if strings.HasPrefix(drifted, RebalanceRecommended) && !heeds(o) {
		return fmt.Sprintf("%s does not say %s: %s any more", o.ID, api.AnnotationRebalance, api.RebalanceReplace)
	}
	return ""
}

func heeds(o PoolObject) bool {
	what, err := mark.Rebalance(o.Annotations)
	return err == nil && what == api.RebalanceReplace
}
