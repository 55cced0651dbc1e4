package roll_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/scenario"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/roll"
)

const world = `snapshot 1 2026-11-21T04:00:00Z
pool NodePool/web boot=90s
  allow 2 note="budget nodes: 2"
node a claim=a-c pool=NodePool/web ready initialized drifted=AMIDrift
node b claim=b-c pool=NodePool/web ready initialized drifted=RollRequested
node c claim=c-c pool=NodePool/web ready initialized drifted=RollRequested
node d claim=d-c pool=NodePool/web ready initialized
`

func TestProgress(t *testing.T) {
	tests := map[string]struct{ world, want string }{
		"waves of as many as may go":  {world, "web: 3 to go, 0 going, about 6m0s left"},
		"while the budget is used up": {world + "node e claim=e-c pool=NodePool/web ready initialized deleting\nnode f claim=f-c pool=NodePool/web ready initialized deleting\n", "web: 3 to go, 2 going, about 9m0s left; no more at once: of the 6 nodes of NodePool/web 2 are going or not ready, and no more than 2 may be (budget nodes: 2)"},
		"when nothing may go":         {world + "freeze \"frozen: audit\"\n", "web: 3 to go, none may now: frozen: audit"},
		"in the end":                  {"snapshot 1 2026-11-21T04:00:00Z\npool NodePool/web\n  allow 2\nnode d claim=d-c pool=NodePool/web ready initialized\n", "web: nothing is left to replace"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Parse(tt.world)
			if err != nil {
				t.Fatal(err)
			}
			if got := roll.Asked(s, &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}).String(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
