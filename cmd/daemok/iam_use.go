package main

import (
	"cmp"
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/rights"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/kube/api/validate"
)

// inCluster is what a cluster says of the rights that its controller needs.
type inCluster struct {
	use      rights.Use
	classes  int
	settings map[string]string // of the controller's Deployment: its environment; nil: there is none
	role     string            // ARN of the role that the controller's service account names; empty: none
}

func (c inCluster) setting(name string) string { return c.settings[name] }

// readIAMUse reads the classes of a cluster, and the settings of its controller.
func readIAMUse(ctx context.Context, store client.Client) (inCluster, error) {
	specs, err := classSpecs(ctx, store)
	if err != nil {
		return inCluster{}, err
	}
	c := inCluster{use: rights.UseOf(specs), classes: len(specs)}
	return c, c.readSettings(ctx, store)
}

// classSpecs are the specs of all classes, those of the older generation included.
func classSpecs(ctx context.Context, store client.Client) ([]nodeclass.Spec, error) {
	_, older, err := served(store)
	if err != nil {
		return nil, err
	}
	kinds := []class.Kind{class.NodeClasses("", validate.ClassOptions{Expressions: true})}
	if older {
		account := &class.Account{}
		kinds = append(kinds, class.NodeTemplates(account), class.Provisioners(account))
	}
	var all []nodeclass.Spec
	for i := range kinds {
		list := kinds[i].NewList()
		if err := store.List(ctx, list); err != nil {
			return nil, fmt.Errorf("list the classes of kind %s: %w", kinds[i].Name, err)
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			o, is := item.(client.Object)
			if !is || kinds[i].Is != nil && !kinds[i].Is(o) {
				return nil
			}
			c, err := kinds[i].ByName(ctx, store, o.GetName())
			if err == nil {
				all = append(all, c.Spec)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read the classes of kind %s: %w", kinds[i].Name, err)
		}
	}
	return all, nil
}

// readSettings finds the controller's Deployment: the first by name in its namespace that names the cluster.
func (c *inCluster) readSettings(ctx context.Context, store client.Client) error {
	var list appsv1.DeploymentList
	if err := store.List(ctx, &list, client.InNamespace(systemNamespace())); err != nil {
		return fmt.Errorf("list Deployments in namespace %s to find the controller's: %w", systemNamespace(), err)
	}
	for i := range list.Items {
		pod := &list.Items[i].Spec.Template.Spec
		for _, container := range pod.Containers {
			settings := map[string]string{}
			for _, v := range container.Env {
				settings[v.Name] = v.Value
			}
			if settings["CLUSTER_NAME"] != "" {
				c.settings = settings
				return c.readRole(ctx, store, pod.ServiceAccountName)
			}
		}
	}
	return nil
}

// roleAnnotation is how a service account names its role with IRSA.
const roleAnnotation = "eks.amazonaws.com/role-arn"

// readRole finds the role that the controller's service account names. With EKS Pod Identity none does.
func (c *inCluster) readRole(ctx context.Context, store client.Client, account string) error {
	key := client.ObjectKey{Namespace: systemNamespace(), Name: cmp.Or(account, "default")}
	var of corev1.ServiceAccount
	if err := store.Get(ctx, key, &of); client.IgnoreNotFound(err) != nil && !apierrors.IsForbidden(err) {
		return fmt.Errorf("read service account %s of the controller: %w", key, err)
	}
	c.role = of.Annotations[roleAnnotation]
	return nil
}
