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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/settings"
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
	Live       settings.Live      // what ConfigMap karpenter-global-settings says of AWSNodeTemplates and Provisioners
	settings   map[string]string
	behind     map[string]string // variables that the ConfigMap stands for
}

// Find looks for the controller's Deployment: the first by name in the namespace that names
// the cluster as the controller's does, by its environment. It reads the ConfigMap
// karpenter-global-settings of the namespace too, where there is one and it may be read.
func Find(ctx context.Context, from client.Reader, namespace string) (Installation, error) {
	out := Installation{Namespace: namespace, Account: usualAccount}
	if err := out.find(ctx, from); err != nil {
		return Installation{}, err
	}
	global := &corev1.ConfigMap{}
	err := from.Get(ctx, client.ObjectKey{Namespace: namespace, Name: api.ConfigMapSettings}, global)
	if client.IgnoreNotFound(err) != nil && !apierrors.IsForbidden(err) {
		return Installation{}, fmt.Errorf("read ConfigMap %s/%s for the controller's settings: %w", namespace, api.ConfigMapSettings, err)
	}
	says := settings.Read(global.Data)
	out.Live, out.behind = says.Live, says.Variables
	return out, nil
}

// find looks for the Deployment.
func (i *Installation) find(ctx context.Context, from client.Reader) error {
	namespace := i.Namespace
	var list appsv1.DeploymentList
	if err := from.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list Deployments in namespace %s to find the controller's: %w", namespace, err)
	}
	for at := range list.Items {
		d := &list.Items[at]
		for k := range d.Spec.Template.Spec.Containers {
			if env := settingsOf(&d.Spec.Template.Spec.Containers[k]); env["CLUSTER_NAME"] != "" {
				i.run(d, env)
				return nil
			}
		}
	}
	return nil
}

// Read is the installation that a Deployment of any namespace is. found: it runs Daemok or
// Karpenter, as their charts set them up.
func Read(d *appsv1.Deployment) (i Installation, found bool) {
	_, env := controllerOf(&d.Spec.Template.Spec)
	i.run(d, env)
	return i, env != nil
}

// run notes the Deployment, and what its container's environment says.
func (i *Installation) run(d *appsv1.Deployment, env map[string]string) {
	i.Namespace, i.Deployment, i.Account, i.settings = d.Namespace, d, cmp.Or(d.Spec.Template.Spec.ServiceAccountName, "default"), env
}

// Lease is what the controllers of the installation lead by.
func (i Installation) Lease() Lease { return leaseOf(i.Namespace, i.Setting) }

// Setting is a setting of the controller by its environment variable: what the Deployment
// gives it, else what the ConfigMap says; empty: it is set by neither, or not by its value.
func (i Installation) Setting(name string) string { return cmp.Or(i.settings[name], i.behind[name]) }

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
