// Package installation finds the controller's own Deployment in a cluster, and how it is set up.
//
// It promises to name what could not be read. It changes nothing.
package installation

import (
	"cmp"
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RoleAnnotation is how a service account names its role at AWS with IRSA.
const RoleAnnotation = "eks.amazonaws.com/role-arn"

// UsualLease is the name of the lease where no setting names another. It is Karpenter's too,
// so that the two exclude each other.
const UsualLease = "karpenter-leader-election"

// usualAccount is the service account of a release that is called as the guides do.
const usualAccount = "karpenter"

// Installation is the controller's Deployment. Find looks for it.
type Installation struct {
	Namespace  string
	Deployment *appsv1.Deployment // nil: there is none
	Account    string             // service account; without a Deployment the one that the guides have
	settings   map[string]string
}

// Find looks for the controller's Deployment: the first by name in the namespace that names
// the cluster as the controller's does, by its environment.
func Find(ctx context.Context, from client.Reader, namespace string) (Installation, error) {
	var list appsv1.DeploymentList
	if err := from.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return Installation{}, fmt.Errorf("list Deployments in namespace %s to find the controller's: %w", namespace, err)
	}
	for i := range list.Items {
		pod := &list.Items[i].Spec.Template.Spec
		for _, container := range pod.Containers {
			settings := map[string]string{}
			for _, v := range container.Env {
				settings[v.Name] = v.Value
			}
			if settings["CLUSTER_NAME"] != "" {
				return Installation{namespace, &list.Items[i], cmp.Or(pod.ServiceAccountName, "default"), settings}, nil
			}
		}
	}
	return Installation{Namespace: namespace, Account: usualAccount}, nil
}

// Lease is what the controllers of the installation lead by.
func (i Installation) Lease() client.ObjectKey {
	return client.ObjectKey{Namespace: cmp.Or(i.Setting("LEADER_ELECTION_NAMESPACE"), i.Namespace), Name: cmp.Or(i.Setting("LEADER_ELECTION_NAME"), UsualLease)}
}

// Setting is a setting of the controller by its environment variable; empty: it is not set
// there by its value.
func (i Installation) Setting(name string) string { return i.settings[name] }

// Role is the ARN of the role that the service account names; empty: it names none, or is
// not there. With EKS Pod Identity none does.
func (i Installation) Role(ctx context.Context, from client.Reader) (string, error) {
	var account corev1.ServiceAccount
	key := client.ObjectKey{Namespace: i.Namespace, Name: i.Account}
	if err := from.Get(ctx, key, &account); client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("read service account %s of the controller: %w", key, err)
	}
	return account.Annotations[RoleAnnotation], nil
}
