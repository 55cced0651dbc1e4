package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// authMap is what the ConfigMap aws-auth says of roles.
type authMap []mapping

// mapping is what a role is in the cluster.
type mapping struct {
	Role   string   `json:"rolearn"`
	User   string   `json:"username"`
	Groups []string `json:"groups"`
}

// Whom nodes have to be.
const (
	nodesUser  = "system:node:"
	nodesGroup = "system:nodes"
	wayToMap   = "in mapRoles give it the username system:node:{{EC2PrivateDNSName}} and the groups system:bootstrappers and system:nodes"
)

// readAuthMap reads the ConfigMap where it counts; none where it does not, or is not there.
func readAuthMap(ctx context.Context, p *Patient, counts bool) (roles authMap, err error) {
	if !counts {
		return nil, nil
	}
	m := &corev1.ConfigMap{}
	if err := p.Store.Get(ctx, client.ObjectKey{Namespace: "kube-system", Name: "aws-auth"}, m); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read ConfigMap kube-system/aws-auth: %w", err)
	}
	if err := yaml.Unmarshal([]byte(m.Data["mapRoles"]), &roles); err != nil {
		return nil, fmt.Errorf("read mapRoles of ConfigMap kube-system/aws-auth: %w", err)
	}
	return roles, nil
}

// of is what is found of a node role, which a class has; false: it is not there. EKS matches roles without their
// path.
func (m authMap) of(arn, class string) (Finding, bool) {
	name := nameOf(arn)
	head, _, _ := strings.Cut(arn, ":role/")
	at := slices.IndexFunc(m, func(one mapping) bool { return one.Role == head+":role/"+name })
	if at < 0 {
		return Finding{}, false
	}
	if !strings.HasPrefix(m[at].User, nodesUser) || !slices.Contains(m[at].Groups, nodesGroup) {
		return trouble(Error, class, fmt.Sprintf("the ConfigMap kube-system/aws-auth makes its role %s the user %q in the groups %q, which is no node: nodes are launched and never join", name, m[at].User, m[at].Groups), wayToMap), true
	}
	return fine("role %s is in the ConfigMap aws-auth", name), true
}
