// Package installation finds the controller's own Deployment, and reads its settings.
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

// Installation is the controller's Deployment. Find searches for it.
type Installation struct {
	Namespace  string
	Deployment *appsv1.Deployment // nil: there is none
	Account    string             // service account; without a Deployment the one that the guides have
	Live       settings.Live      // what ConfigMap karpenter-global-settings says of AWSNodeTemplates and Provisioners
	reported   environment
	behind     map[string]string // variables that the ConfigMap stands for
}

// Find searches for the controller's Deployment: the first by name in the namespace that runs Daemok, else the first
// that runs Karpenter, known by its image or by its settings, else one in shadow mode. It reads the ConfigMaps that the
// controller's settings come from too, karpenter-global-settings among them, where there are any and they may be read.
func Find(ctx context.Context, from client.Reader, namespace string) (Installation, error) {
	out := Installation{Namespace: namespace, Account: usualAccount}
	var list appsv1.DeploymentList
	if err := from.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return Installation{}, fmt.Errorf("list Deployments in namespace %s to find the controller's: %w", namespace, err)
	}
	for at := range list.Items {
		found, is, err := Read(ctx, from, &list.Items[at])
		if err != nil {
			return Installation{}, err
		}
		if is && (out.Deployment == nil || found.before(out)) {
			out = found
		}
	}
	global, err := out.reported.configMap(ctx, from, client.ObjectKey{Namespace: namespace, Name: api.ConfigMapSettings}, "")
	if err != nil {
		return Installation{}, err
	}
	says := settings.Read(global)
	out.Live, out.behind = says.Live, says.Variables
	return out, nil
}

// Read is the installation that a Deployment of any namespace is. is: it runs Daemok or Karpenter. Without a reader no
// ConfigMap is read.
func Read(ctx context.Context, from client.Reader, d *appsv1.Deployment) (i Installation, is bool, err error) {
	c := controllerOf(&d.Spec.Template.Spec)
	if c == nil {
		return Installation{}, false, nil
	}
	i = Installation{Namespace: d.Namespace, Deployment: d, Account: cmp.Or(d.Spec.Template.Spec.ServiceAccountName, "default")}
	i.reported, err = environmentOf(ctx, from, d.Namespace, c)
	return i, err == nil, err
}

// isKarpenter reports whether it is Karpenter's own controller.
func (i Installation) isKarpenter() bool {
	return IsKarpenter(controllerOf(&i.Deployment.Spec.Template.Spec).Image)
}

// before reports whether it is meant rather than another of its namespace.
func (i Installation) before(other Installation) bool {
	if i.Shadow() != other.Shadow() {
		return other.Shadow()
	}
	return other.isKarpenter() && !i.isKarpenter()
}

// IsKarpenter reports whether the installation is Karpenter's own.
func (i Installation) IsKarpenter() bool { return i.Deployment != nil && i.isKarpenter() }

// Lease is what the controllers of the installation lead by.
func (i Installation) Lease() Lease { return LeaseOf(i.Namespace, i.Setting) }

// Setting is a setting of the controller by its environment variable: what the Deployment
// gives it, else what the ConfigMap says; empty: it is set by neither, or Unread says where it may be.
func (i Installation) Setting(name string) string {
	return cmp.Or(i.reported.values[name], i.behind[name])
}

// Unread is what may hold a setting that has no value here, such as Secret kube-system/karpenter: Secrets are not read, nor are
// ConfigMaps without the right to. Empty: the setting is known.
func (i Installation) Unread(name string) string {
	if i.Setting(name) != "" {
		return ""
	}
	return i.reported.source(name)
}

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
