package doctor

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// usualInterfaces is a limit of pods that most types of medium size have without prefixes, by
// AWS's table of interfaces and addresses: m5.large has 29.
const usualInterfaces = 29

// cni compares how many pods classes let nodes have with what the VPC CNI gives them addresses for.
func cni(ctx context.Context, p *Patient) ([]Finding, error) {
	agent := &appsv1.DaemonSet{}
	err := p.Store.Get(ctx, client.ObjectKey{Namespace: "kube-system", Name: "aws-node"}, agent)
	if apierrors.IsNotFound(err) {
		return []Finding{fine("the VPC CNI (DaemonSet aws-node) is not installed: another one gives pods their addresses")}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read DaemonSet aws-node: %w", err)
	}
	says := map[string]string{}
	for _, c := range agent.Spec.Template.Spec.Containers {
		for _, v := range c.Env {
			says[v.Name] = v.Value
		}
	}
	prefixes, custom := says["ENABLE_PREFIX_DELEGATION"] == "true", says["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"] == "true"
	var out []Finding
	found, err := p.find(ctx)
	if err != nil {
		return nil, err
	}
	if reserved := found.Setting("RESERVED_ENIS"); custom && found.Deployment != nil && found.Unread("RESERVED_ENIS") == "" && (reserved == "" || reserved == "0") {
		out = append(out, trouble(Warning, "DaemonSet/aws-node", "custom networking takes one interface of each node away from pods, and the controller counts on it: pods come to nodes that have no address for them", "set settings.reservedENIs to 1"))
	}
	classes, err := p.Classes(ctx)
	if err != nil {
		return out, err
	}
	for i := range classes {
		c := &classes[i]
		if most := c.Spec.Kubelet.MaxPods; most != nil && *most > usualInterfaces && !prefixes {
			out = append(out, trouble(Warning, c.Name, fmt.Sprintf("it lets nodes have %d pods, and without prefix delegation the VPC CNI has addresses for fewer on most types: pods would wait on their nodes", *most),
				"kubectl -n kube-system set env daemonset aws-node ENABLE_PREFIX_DELEGATION=true, or leave maxPods out"))
		}
	}
	if len(out) == 0 {
		out = append(out, fine("the VPC CNI agrees with the classes; prefix delegation is %s", map[bool]string{true: "on", false: "off"}[prefixes]))
	}
	return out, nil
}
