package controller

import (
	"context"
	"errors"
	"sync"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/userdata"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/core/cluster"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/translate"
)

// finder asks AWS what a class selects.
type finder interface {
	Subnets(ctx context.Context, class nodeclass.Class) ([]nodeclass.Subnet, error)
	Groups(ctx context.Context, class nodeclass.Class) ([]nodeclass.Group, error)
	Images(ctx context.Context, class nodeclass.Class) ([]nodeclass.Image, error)
	Reservations(ctx context.Context, class nodeclass.Class) ([]nodeclass.Reservation, error)
	Placement(ctx context.Context, class nodeclass.Class) (*nodeclass.PlacementGroup, error)
}

// GivenClasses are the classes of the cluster, and those that exist in files alone, which go before them.
type GivenClasses struct {
	NodeClasses
	Kind  class.Kind // of those in files
	Cloud finder

	mu    sync.Mutex
	given map[karpv1.NodeClassReference]cloud.Class
}

// Add looks up what a class selects. The error says what is wrong in it, or why AWS did not answer.
func (g *GivenClasses) Add(ctx context.Context, o *awsv1.EC2NodeClass) error {
	if wrong := validate.Refusal(g.Kind.Validate(o)); wrong != "" {
		return errors.New(wrong)
	}
	g.Kind.SetStatus(o, awsv1.EC2NodeClassStatus{})
	of, err := class.Settings(g.Kind.Of(o))
	if err != nil {
		return err
	}
	if err := userdata.Check(of.Spec.Family, of.Spec.UserData); err != nil {
		return err
	}
	if of.Resolved.Subnets, err = g.Cloud.Subnets(ctx, of); err != nil {
		return err
	}
	if of.Resolved.Groups, err = g.Cloud.Groups(ctx, of); err != nil {
		return err
	}
	if of.Resolved.Images, err = g.Cloud.Images(ctx, of); err != nil {
		return err
	}
	if of.Resolved.Placement, err = g.Cloud.Placement(ctx, of); err != nil {
		return err
	}
	if of.Resolved.Reservations, err = g.Cloud.Reservations(ctx, of); err != nil {
		return err
	}
	ref := karpv1.NodeClassReference{Group: g.Kind.Group, Kind: g.Kind.Name, Name: o.Name}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.given == nil {
		g.given = map[karpv1.NodeClassReference]cloud.Class{}
	}
	g.given[ref] = cloud.Class{ID: translate.ClassID(ref), Settings: of}
	return nil
}

// Kinds is what a class offers; nothing, with the reason, while it is not ready.
func (g *GivenClasses) Kinds(ref karpv1.NodeClassReference) (*cluster.Catalogue, string) {
	g.mu.Lock()
	of, is := g.given[ref]
	g.mu.Unlock()
	if !is {
		return g.NodeClasses.Kinds(ref)
	}
	catalogue, err := g.Catalog.Kinds(context.Background(), of) // answered from memory
	if err != nil {
		return nil, err.Error()
	}
	return catalogue, ""
}
