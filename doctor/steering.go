package doctor

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/steering"
)

// steered checks what has nodes empty without evictions: the controller's right to set deletion costs, and taints of
// its key that users set.
func steered(ctx context.Context, p *Patient) (out []Finding, err error) {
	var nodes corev1.NodeList
	if err := p.Store.List(ctx, &nodes); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if taint, users := steering.UsersTaint(n); users {
			out = append(out, trouble(Warning, "Node/"+n.Name, fmt.Sprintf("taint %s was not set by Daemok and stays, so Daemok does not empty the node", taint.ToString()),
				fmt.Sprintf("kubectl taint node %s %s:%s-", n.Name, taint.Key, taint.Effect)))
		}
	}
	right, err := mayPatchPods(ctx, p)
	return append(out, right...), err
}

// mayPatchPods is what is wrong with the right to set deletion costs, where the controller wants to.
func mayPatchPods(ctx context.Context, p *Patient) ([]Finding, error) {
	found, err := p.find(ctx)
	if err != nil || found.Deployment == nil || isKarpenter(found.Deployment) || p.May == nil {
		return nil, err
	}
	if found.Setting("STEERING") == "false" {
		return []Finding{fine("nodes are not emptied without evictions: STEERING is false")}, nil
	}
	account := fmt.Sprintf("system:serviceaccount:%s:%s", found.Namespace, found.Account)
	may, err := p.May(ctx, account, "patch", "pods")
	if err != nil {
		return nil, fmt.Errorf("ask what %s may do: %w", account, err)
	}
	if may {
		return []Finding{fine("%s may set deletion costs of pods", account)}, nil
	}
	return []Finding{trouble(Warning, "Deployment/"+found.Deployment.Name, account+" may not patch pods, so scale-downs do not begin with pods on nodes that should go next, and more pods are evicted",
		"set rbac.steering: true in the Helm chart, or apply deploy/rbac-steering.yaml; or set settings.steering: false")}, nil
}
