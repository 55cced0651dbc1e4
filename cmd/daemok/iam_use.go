package main

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/rights"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/kube/installation"
)

// inCluster is what a cluster says of the rights that its controller needs.
type inCluster struct {
	use     rights.Use
	classes int
	install installation.Installation
	at      *inspect.Target // that learnt of it; nil: no cluster was read
	role    string          // ARN of the role that the controller's service account names; empty: none
}

// setting is a setting of the controller; empty without a cluster.
func (c inCluster) setting(name string) string {
	if c.at == nil {
		return ""
	}
	return c.at.Installed(name)
}

// readIAMUse reads the classes of a cluster, and the settings of its controller in a namespace; empty: the usual one.
func readIAMUse(ctx context.Context, store client.Client, namespace string) (inCluster, error) {
	at := inspect.NewTarget()
	at.System = namespace
	if err := at.Learn(ctx, store); err != nil {
		return inCluster{}, err
	}
	specs, err := classSpecs(ctx, store, at.UsualClasses())
	if err != nil {
		return inCluster{}, err
	}
	c := inCluster{use: rights.UseOf(specs), classes: len(specs), install: at.Controller, at: at}
	if c.install.Deployment == nil {
		return c, nil
	}
	if c.role, err = c.install.Role(ctx, store); apierrors.IsForbidden(err) {
		err = nil
	}
	return c, err
}

// classSpecs are the specs of all classes, those of the v1alpha5 API included, for which
// usual holds.
func classSpecs(ctx context.Context, store client.Client, usual class.Usual) ([]nodeclass.Spec, error) {
	_, older, err := inspect.Served(store)
	if err != nil {
		return nil, err
	}
	var all []nodeclass.Spec
	err = inspect.EachClass(ctx, store, inspect.KindsOfClasses(older, true, usual), func(_ *class.Kind, c *class.Subject) error {
		all = append(all, c.Spec)
		return nil
	})
	return all, err
}
