package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/controller/claim"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/controller/drift"
	"github.com/daemok/daemok/controller/pool"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/fingerprint"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/translate"
)

// NodeClasses reads EC2NodeClasses from the cluster for every loop that needs one.
type NodeClasses struct {
	Store   client.Reader
	Catalog cloud.Catalog
}

var _ Classes = NodeClasses{}

// NodeClassLoop is the loop over EC2NodeClasses. Machines of theirs trust this CA, as
// PEM or base64; o is what may be written in their specs.
func NodeClassLoop(r *class.Reconciler, caBundle string, o validate.ClassOptions) Loop {
	r.Validate = func(c *awsv1.EC2NodeClass) []validate.Finding { return validate.EC2NodeClass(c, o) }
	r.Hash = func(c *awsv1.EC2NodeClass) (hash, version string) {
		return fingerprint.EC2NodeClass(c, fingerprint.Cluster{CABundle: caBundle}), fingerprint.Version
	}
	return Loop{Name: classesName, Kind: &awsv1.EC2NodeClass{}, Workers: 10, Step: r.Reconcile}
}

// ProfilesRound removes instance profiles that nothing uses any more.
func ProfilesRound(p *class.Profiles) Round {
	return Round{What: "collect instance profiles", Do: p.Round}
}

// Class returns a class that machines can be launched from; otherwise the
// error is a *claim.NotReadyError.
func (s NodeClasses) Class(ctx context.Context, ref karpv1.NodeClassReference) (claim.Class, error) {
	id := translate.ClassID(ref)
	c, err := s.read(ctx, ref)
	if apierrors.IsNotFound(err) {
		return claim.Class{}, &claim.NotReadyError{ClassID: id, Why: class.Absent}
	}
	if err != nil {
		return claim.Class{}, fmt.Errorf("read class %s: %w", id, err)
	}
	if why := class.WhyNot(c); why != "" {
		return claim.Class{}, &claim.NotReadyError{ClassID: id, Why: why}
	}
	return known(id, c)
}

// Known returns a class whether or not it is ready.
func (s NodeClasses) Known(ctx context.Context, ref karpv1.NodeClassReference) (claim.Class, error) {
	id := translate.ClassID(ref)
	c, err := s.read(ctx, ref)
	if err != nil {
		return claim.Class{}, fmt.Errorf("read class %s: %w", id, err)
	}
	return known(id, c)
}

func known(id string, c *awsv1.EC2NodeClass) (claim.Class, error) {
	settings, err := class.Settings(c)
	if err != nil {
		return claim.Class{}, &claim.NotReadyError{ClassID: id, Why: err.Error()}
	}
	return claim.Class{
		Cloud: cloud.Class{ID: id, Settings: settings},
		Annotations: map[string]string{
			api.AnnotationNodeClassHash:        c.Annotations[api.AnnotationNodeClassHash],
			api.AnnotationNodeClassHashVersion: c.Annotations[api.AnnotationNodeClassHashVersion],
			api.AnnotationInstanceProfileName:  c.Status.InstanceProfile,
		},
	}, nil
}

func (s NodeClasses) read(ctx context.Context, ref karpv1.NodeClassReference) (*awsv1.EC2NodeClass, error) {
	c := &awsv1.EC2NodeClass{}
	if ref.Group != api.GroupAWS || ref.Kind != "EC2NodeClass" {
		return nil, apierrors.NewNotFound(awsv1.GroupVersion.WithResource("ec2nodeclasses").GroupResource(), ref.Name)
	}
	return c, s.Store.Get(ctx, client.ObjectKey{Name: ref.Name}, c)
}

// Kinds is what a class offers, for snapshots: nothing, with the reason, while
// the class is not ready.
func (s NodeClasses) Kinds(ref karpv1.NodeClassReference) (*cluster.Catalogue, string) {
	ctx := context.Background() // answered from memory
	c, err := s.Class(ctx, ref)
	if err != nil {
		return nil, err.Error()
	}
	catalogue, err := s.Catalog.Kinds(ctx, c.Cloud)
	if err != nil {
		return nil, err.Error()
	}
	return catalogue, ""
}

// Offered is what a class offers; nil while it is not known.
func (s NodeClasses) Offered(ref karpv1.NodeClassReference) pool.Offered {
	catalogue, _ := s.Kinds(ref)
	return pool.OfferedBy(catalogue)
}

// Form is what machines of a class are made from; what its selectors find counts
// only while the class is ready. It is empty for a class that does not exist.
func (s NodeClasses) Form(ctx context.Context, ref karpv1.NodeClassReference) (drift.Class, error) {
	c, err := s.read(ctx, ref)
	if apierrors.IsNotFound(err) {
		return drift.Class{}, nil
	}
	if err != nil {
		return drift.Class{}, fmt.Errorf("read class %s: %w", translate.ClassID(ref), err)
	}
	return formOf(c), nil
}

func formOf(c *awsv1.EC2NodeClass) drift.Class {
	form := drift.Class{Hash: c.Annotations[api.AnnotationNodeClassHash], HashVersion: c.Annotations[api.AnnotationNodeClassHashVersion]}
	settings, err := class.Settings(c)
	if err != nil || class.WhyNot(c) != "" {
		return form
	}
	form.Selected = &drift.Selected{}
	for _, image := range settings.Resolved.Images {
		form.Selected.Images = append(form.Selected.Images, drift.Image{ID: image.ID, Requirements: image.Requirements})
	}
	for _, subnet := range settings.Resolved.Subnets {
		form.Selected.Subnets = append(form.Selected.Subnets, subnet.ID)
	}
	for _, r := range settings.Resolved.Reservations {
		form.Selected.Reservations = append(form.Selected.Reservations, r.ID)
	}
	if g := settings.Resolved.Placement; g != nil {
		form.Selected.Placement = []string{g.ID, g.Name}
	}
	for _, group := range settings.Resolved.Groups {
		form.Selected.Groups = append(form.Selected.Groups, group.ID)
	}
	return form
}

// State is what a pool must know of its class.
func (s NodeClasses) State(ctx context.Context, ref karpv1.NodeClassReference) (pool.ClassState, error) {
	c, err := s.read(ctx, ref)
	if apierrors.IsNotFound(err) {
		return pool.ClassState{}, nil
	}
	if err != nil {
		return pool.ClassState{}, fmt.Errorf("read class %s: %w", translate.ClassID(ref), err)
	}
	state := pool.ClassState{Found: true, CreatedAt: c.CreationTimestamp.Time, Terminating: c.DeletionTimestamp != nil, Generation: c.Generation, Status: metav1.ConditionUnknown}
	if ready := condition.Get(c, awsv1.ClassReady); ready != nil {
		state.Status = ready.Status
		state.Reason, state.Message = class.Cause(c, ready)
	}
	return state, nil
}
