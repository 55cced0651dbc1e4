package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/userdata"
	"github.com/daemok/daemok/controller/claim"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/internal/gates"
	"github.com/daemok/daemok/kube/access"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	daemokv1alpha1 "github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/manifest"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/translate"
)

// situation is what is planned about, and what manifests can be added to.
type situation struct {
	snapshot *cluster.Snapshot
	world    manifest.World // empty for a saved snapshot that was not recalled
}

// reader reads the situation of a live cluster; an empty kubeconfig means the
// one that kubectl would use.
type reader func(ctx context.Context, kubeconfig string) (situation, error)

// readLive reads the cluster that the kubeconfig names, and asks AWS what its
// classes offer: with the same environment as the controller, CLUSTER_NAME
// included.
func readLive(ctx context.Context, kubeconfig string) (situation, error) {
	store, err := connect(kubeconfig)
	if err != nil {
		return situation{}, err
	}
	provider, err := market(ctx)
	if err != nil {
		return situation{}, err
	}
	return readFrom(ctx, store, provider)
}

// readFrom reads the cluster behind a store, whose classes are of a provider.
func readFrom(ctx context.Context, store client.Reader, provider *aws.Provider) (situation, error) {
	given := manifestClasses{}
	offers := func(ref karpv1.NodeClassReference) (*cluster.Catalogue, string) {
		catalogue, err := offered(ctx, store, provider, ref, given)
		if err != nil {
			return nil, err.Error()
		}
		return catalogue, ""
	}
	now := time.Now
	keeper := snapshot.NewKeeper(offers, func() time.Time { return now() })
	if err := setUp(keeper); err != nil {
		return situation{}, err
	}
	acting, err := actingPod(ctx, store)
	if err != nil {
		return situation{}, err
	}
	keeper.ActAs(acting)
	s, err := keeper.Read(ctx, store)
	if err != nil {
		return situation{}, err
	}
	now = func() time.Time { return s.Now } // so that manifests alone make a difference
	return situation{s, manifest.World{
		Keeper: keeper, Now: s.Now,
		Class: func(c *awsv1.EC2NodeClass) error { return given.add(ctx, provider, c) },
		Priorities: func() ([]schedulingv1.PriorityClass, error) {
			var all []schedulingv1.PriorityClass
			err := snapshot.Each(ctx, store, &schedulingv1.PriorityClassList{}, func(l *schedulingv1.PriorityClassList) { all = append(all, l.Items...) })
			return all, err
		},
	}}, nil
}

// recall makes a saved snapshot something that manifests can be added to, with
// the controller's settings as for a live cluster.
func recall(s *cluster.Snapshot) (situation, error) {
	keeper := snapshot.Recall(s)
	return situation{s, manifest.World{Keeper: keeper, Now: s.Now, Saved: s}}, setUp(keeper)
}

// setUp gives a keeper the settings of the controller.
func setUp(keeper *snapshot.Keeper) error {
	spreads, err := translate.DefaultSpreads(os.Getenv("SCHEDULER_CONFIG"))
	if err != nil {
		return fmt.Errorf("SCHEDULER_CONFIG: %w", err)
	}
	cost, err := machineCost(os.Getenv("MACHINE_COST"))
	if err != nil {
		return fmt.Errorf("MACHINE_COST: %w", err)
	}
	switches, err := gates.Parse(os.Getenv("FEATURE_GATES"))
	if err != nil {
		return fmt.Errorf("FEATURE_GATES %w", err)
	}
	if switches[gates.NodeRepair] {
		keeper.RepairByDefault(mark.UsualRepair())
	}
	keeper.SpreadByDefault(spreads)
	keeper.CostByDefault(cost)
	keeper.FreezeIn(systemNamespace())
	return nil
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
	scheme, err := kinds()
	if err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// kinds are those that a cluster is asked for.
func kinds() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme, awsv1.AddToScheme, daemokv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register kinds: %w", err)
		}
	}
	return scheme, nil
}

// market connects to AWS and learns what is for sale.
func market(ctx context.Context) (*aws.Provider, error) {
	name := os.Getenv("CLUSTER_NAME")
	if name == "" {
		return nil, errors.New("set CLUSTER_NAME to the cluster's name in EKS, so that its offers can be asked for; in the lab: source the file lab.env")
	}
	settings, err := settingsOf(os.Getenv)
	if err != nil {
		return nil, err
	}
	settings.Cluster, settings.Agent = name, "daemok-cli"
	provider, err := aws.New(ctx, settings)
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

// manifestClasses are the classes of manifests by name, with what AWS has for
// them.
type manifestClasses map[string]nodeclass.Class

// add looks up what a class asks for. Nothing is made for it: an instance
// profile changes no offer.
func (m manifestClasses) add(ctx context.Context, provider *aws.Provider, c *awsv1.EC2NodeClass) error {
	switches, err := gates.Parse(os.Getenv("AWS_FEATURE_GATES"))
	if err != nil {
		return fmt.Errorf("AWS_FEATURE_GATES %w", err)
	}
	if wrong := validate.Refusal(validate.EC2NodeClass(c, validate.ClassOptions{Expressions: switches[gates.Expressions]})); wrong != "" {
		return errors.New(wrong)
	}
	c.Status = awsv1.EC2NodeClassStatus{}
	settings, err := class.Settings(c)
	if err != nil {
		return err
	}
	if err := userdata.Check(settings.Spec.Family, settings.Spec.UserData); err != nil {
		return err
	}
	if settings.Resolved.Subnets, err = provider.Subnets(ctx, settings); err != nil {
		return err
	}
	if settings.Resolved.Groups, err = provider.Groups(ctx, settings); err != nil {
		return err
	}
	if settings.Resolved.Images, err = provider.Images(ctx, settings); err != nil {
		return err
	}
	if err := learn(ctx, provider, &settings); err != nil {
		return err
	}
	m[c.Name] = settings
	return nil
}

// learn looks up what a class selects of which only so much is to be had: capacity
// reservations, and room in its placement group.
func learn(ctx context.Context, provider *aws.Provider, c *nodeclass.Class) (err error) {
	if c.Resolved.Placement, err = provider.Placement(ctx, *c); err != nil {
		return err
	}
	c.Resolved.Reservations, err = provider.Reservations(ctx, *c)
	return err
}

// offered is what a class offers, or in the controller's words why nothing.
// Classes of manifests go before those of the cluster.
func offered(ctx context.Context, store client.Reader, provider *aws.Provider, ref karpv1.NodeClassReference, given manifestClasses) (*cluster.Catalogue, error) {
	id, c := translate.ClassID(ref), &awsv1.EC2NodeClass{}
	if settings, ours := given[ref.Name]; ours && ref.Group == api.GroupAWS {
		return provider.Kinds(ctx, cloud.Class{ID: id, Settings: settings})
	}
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
	if err := learn(ctx, provider, &settings); err != nil {
		return nil, err
	}
	return provider.Kinds(ctx, cloud.Class{ID: id, Settings: settings})
}
