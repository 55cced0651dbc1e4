package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/controller/claim"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/access"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/translate"
)

// reader reads the situation of a live cluster; an empty kubeconfig means the
// one that kubectl would use.
type reader func(ctx context.Context, kubeconfig string) (*cluster.Snapshot, error)

// readLive reads the cluster that the kubeconfig names, and asks AWS what its
// classes offer: with the same environment as the controller, CLUSTER_NAME
// included.
func readLive(ctx context.Context, kubeconfig string) (*cluster.Snapshot, error) {
	store, err := connect(kubeconfig)
	if err != nil {
		return nil, err
	}
	provider, err := market(ctx)
	if err != nil {
		return nil, err
	}
	kinds := func(ref karpv1.NodeClassReference) (*cluster.Catalogue, string) {
		catalogue, err := offered(ctx, store, provider, ref)
		if err != nil {
			return nil, err.Error()
		}
		return catalogue, ""
	}
	spreads, err := translate.DefaultSpreads(os.Getenv("SCHEDULER_CONFIG"))
	if err != nil {
		return nil, fmt.Errorf("SCHEDULER_CONFIG: %w", err)
	}
	cost, err := machineCost(os.Getenv("MACHINE_COST"))
	if err != nil {
		return nil, fmt.Errorf("MACHINE_COST: %w", err)
	}
	keeper := snapshot.NewKeeper(kinds, time.Now)
	keeper.SpreadByDefault(spreads)
	keeper.CostByDefault(cost)
	return keeper.Read(ctx, store)
}

// machineCost reads the controller's setting; nothing said is nothing.
func machineCost(text string) (quantity.MicroUSDPerHour, error) {
	if text == "" {
		return 0, nil
	}
	return mark.Cost(text)
}

// connect returns a client of the cluster.
func connect(kubeconfig string) (client.Client, error) {
	config, err := access.Config(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme, awsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register kinds: %w", err)
		}
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// market connects to AWS and learns what is for sale.
func market(ctx context.Context) (*aws.Provider, error) {
	name := os.Getenv("CLUSTER_NAME")
	if name == "" {
		return nil, errors.New("set CLUSTER_NAME to the cluster's name in EKS, so that its offers can be asked for; in the lab: source the file lab.env")
	}
	provider, err := aws.New(ctx, aws.Options{Cluster: name, Agent: "daemok-cli", MemoryOverhead: 0.075,
		NoSurplusCredits: os.Getenv("SURPLUS_CREDITS") == "false"})
	if err != nil {
		return nil, err
	}
	if err := provider.Check(ctx); err != nil {
		return nil, err
	}
	if err := provider.Refresh(ctx); err != nil {
		return nil, fmt.Errorf("learn what EC2 offers in %s: %w", provider.Region(), err)
	}
	return provider, nil
}

// offered is what a class offers, or in the controller's words why nothing.
func offered(ctx context.Context, store client.Reader, catalog cloud.Catalog, ref karpv1.NodeClassReference) (*cluster.Catalogue, error) {
	id, c := translate.ClassID(ref), &awsv1.EC2NodeClass{}
	err := store.Get(ctx, client.ObjectKey{Name: ref.Name}, c)
	if apierrors.IsNotFound(err) || ref.Group != api.GroupAWS {
		return nil, &claim.NotReadyError{ClassID: id, Why: class.Absent}
	}
	if err != nil {
		return nil, fmt.Errorf("read class %s: %w", id, err)
	}
	if why := class.WhyNot(c); why != "" {
		return nil, &claim.NotReadyError{ClassID: id, Why: why}
	}
	settings, err := class.Settings(c)
	if err != nil {
		return nil, err
	}
	return catalog.Kinds(ctx, cloud.Class{ID: id, Settings: settings})
}
