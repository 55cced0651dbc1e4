package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fleet"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/controller/drift"
	"github.com/daemok/daemok/controller/launch"
	"github.com/daemok/daemok/controller/nodepool"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// NodeClasses reads classes from the cluster for every loop that needs one.
type NodeClasses struct {
	Store   client.Reader
	Catalog cloud.Catalog
	Served  []class.Kind // Kinds of classes
	Build   string       // of the controller

	// Render is LaunchForm. Launches wait for what is Compared, and claims say in which form instances were launched; nil:
	// neither.
	Render   func(nodeclass.Spec) (*nodeclass.LaunchForm, error)
	Compared *class.Comparisons
}

var _ Classes = NodeClasses{}

// Objects is one object of each Kind of classes.
func (s NodeClasses) Objects() (kinds []client.Object) {
	for _, kind := range s.Served {
		kinds = append(kinds, kind.New())
	}
	return kinds
}

// LaunchForm renders the launch template of a class for made-up instances, as fleet.FormOf does, with what every node
// registers with.
func LaunchForm(spec nodeclass.Spec) (*nodeclass.LaunchForm, error) {
	return fleet.FormOf(spec, launch.PlainSetup())
}

// ClassLoop is the loop over the classes of the reconciler's Kind.
func ClassLoop(r *class.Reconciler) Loop {
	name := classesName
	if r.Kind.Name != class.KindEC2NodeClass {
		name += "." + strings.ToLower(r.Kind.Name)
	}
	return Loop{Name: name, Kind: r.Kind.New(), Workers: 10, Step: r.Reconcile}
}

// ProfilesRound removes instance profiles that nothing uses any more.
func ProfilesRound(p *class.Profiles) Round {
	return Round{What: "collect instance profiles", Do: p.Round}
}

// Class returns a class that instances can be launched from; otherwise the error is a
// *translate.NotReadyError. After a start it waits until the class has been compared with its nodes,
// for class.AwaitFor at most.
func (s NodeClasses) Class(ctx context.Context, ref karpv1.NodeClassReference) (translate.LaunchClass, error) {
	c, err := s.ready(ctx, ref)
	if err != nil {
		return translate.LaunchClass{}, err
	}
	if s.Compared != nil {
		s.Compared.Await(ctx, c)
	}
	return s.known(c)
}

func (s NodeClasses) ready(ctx context.Context, ref karpv1.NodeClassReference) (*class.Subject, error) {
	id := translate.ClassID(ref)
	c, err := s.read(ctx, ref)
	if apierrors.IsNotFound(err) {
		return nil, &translate.NotReadyError{ClassID: id, Why: class.Absent}
	}
	if err != nil {
		return nil, fmt.Errorf("read class %s: %w", id, err)
	}
	if why := class.WhyNot(c); why != "" {
		return nil, &translate.NotReadyError{ClassID: id, Why: why, Passes: class.IsUndecided(c)}
	}
	return c, nil
}

// Known returns a class whether or not it is ready.
func (s NodeClasses) Known(ctx context.Context, ref karpv1.NodeClassReference) (translate.LaunchClass, error) {
	id := translate.ClassID(ref)
	c, err := s.read(ctx, ref)
	if err != nil {
		return translate.LaunchClass{}, fmt.Errorf("read class %s: %w", id, err)
	}
	return s.known(c)
}

func (s NodeClasses) known(c *class.Subject) (translate.LaunchClass, error) {
	of, err := asCloud(c)
	if err != nil {
		return translate.LaunchClass{}, err
	}
	annotations := map[string]string{api.AnnotationInstanceProfileName: c.Status.InstanceProfile}
	if c.Kind.Hash != nil {
		annotations[api.AnnotationNodeClassHash] = c.GetAnnotations()[api.AnnotationNodeClassHash]
		annotations[api.AnnotationNodeClassHashVersion] = c.GetAnnotations()[api.AnnotationNodeClassHashVersion]
	}
	if digest := s.launchForm(c); digest != "" {
		annotations[api.AnnotationLaunchForm] = digest
	}
	if c.Kind.Made != nil {
		annotations[api.AnnotationNodeTemplateHash] = c.Kind.Made(c.Object)
	}
	return translate.LaunchClass{
		Cloud:       of,
		Annotations: annotations,
		InWords:     c.InWords,
	}, nil
}

// launchForm is the digest of the form that this build makes of a class: as the class has it, or rendered where it has
// none yet, or where the cache does not show it. It is empty where there is none.
func (s NodeClasses) launchForm(c *class.Subject) string {
	if digest := class.FormsOf(c).Digest(s.Build); digest != "" || s.Compared == nil || c.Kind.Learned != nil && !c.Kind.Learned() {
		return digest
	}
	spec, err := c.Kind.Spec(c.Object) // without what a Provisioner says of kubelets, as its template has it
	if err != nil {
		return ""
	}
	return s.Compared.Digest(c, spec, s.Render)
}

func asCloud(c *class.Subject) (cloud.Class, error) {
	settings, err := class.Settings(c)
	if err != nil {
		return cloud.Class{}, &translate.NotReadyError{ClassID: c.ID(), Why: err.Error()}
	}
	return cloud.Class{ID: c.ID(), Settings: settings}, nil
}

func (s NodeClasses) read(ctx context.Context, ref karpv1.NodeClassReference) (*class.Subject, error) {
	at := slices.IndexFunc(s.Served, func(k class.Kind) bool { return k.Group == ref.Group && k.Name == ref.Kind })
	if at < 0 {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: ref.Group, Resource: ref.Kind}, ref.Name)
	}
	return s.Served[at].ByName(ctx, s.Store, ref.Name)
}

// Kinds is what a class offers, for snapshots: nothing, with the reason, while
// the class is not ready.
func (s NodeClasses) Kinds(ref karpv1.NodeClassReference) (*cluster.Catalogue, string) {
	ctx := context.Background() // answered from memory
	c, err := s.ready(ctx, ref)
	if err != nil {
		return nil, err.Error()
	}
	of, err := asCloud(c)
	if err != nil {
		return nil, err.Error()
	}
	catalogue, err := s.Catalog.Kinds(ctx, of)
	if err != nil {
		return nil, err.Error()
	}
	return catalogue, ""
}

// Offered is what a class offers; nil while it is not known.
func (s NodeClasses) Offered(ref karpv1.NodeClassReference) nodepool.Offered {
	catalogue, _ := s.Kinds(ref)
	return nodepool.OfferedBy(catalogue)
}

// Form is what instances of a class are made from; what its selectors find counts only
// while the class is ready. It is empty for a class that does not exist.
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

func formOf(c *class.Subject) drift.Class {
	form := drift.Class{Hash: c.GetAnnotations()[api.AnnotationNodeClassHash], HashVersion: c.GetAnnotations()[api.AnnotationNodeClassHashVersion]}
	settings, err := class.Settings(c)
	if err != nil || class.WhyNot(c) != "" {
		return form
	}
	form.Selected = Selected(settings.Resolved)
	return form
}

// Selected is what the selectors of a class found, as drift compares it.
func Selected(found nodeclass.Resolved) *drift.Selected {
	out := &drift.Selected{}
	for _, image := range found.Images {
		out.Images = append(out.Images, drift.Image{ID: image.ID, Requirements: image.Requirements})
	}
	for _, subnet := range found.Subnets {
		out.Subnets = append(out.Subnets, subnet.ID)
	}
	for _, r := range found.Reservations {
		out.Reservations = append(out.Reservations, r.ID)
	}
	if g := found.Placement; g != nil {
		out.Placement = []string{g.ID, g.Name}
	}
	for _, group := range found.Groups {
		out.Groups = append(out.Groups, group.ID)
	}
	return out
}

// State is what a pool must know of its class.
func (s NodeClasses) State(ctx context.Context, ref karpv1.NodeClassReference) (nodepool.ClassState, error) {
	c, err := s.read(ctx, ref)
	if apierrors.IsNotFound(err) {
		return nodepool.ClassState{}, nil
	}
	if err != nil {
		return nodepool.ClassState{}, fmt.Errorf("read class %s: %w", translate.ClassID(ref), err)
	}
	state := nodepool.ClassState{Found: true, CreatedAt: c.GetCreationTimestamp().Time, Terminating: c.GetDeletionTimestamp() != nil, Generation: c.GetGeneration(), Family: string(c.Spec.EffectiveFamily()), Status: metav1.ConditionUnknown}
	if c.Kind.Made != nil {
		state.Made = c.Kind.Made(c.Object)
	}
	if ready := condition.Get(c, awsv1.ClassReady); ready != nil {
		state.Status, state.Since = ready.Status, ready.LastTransitionTime.Time
		state.Reason, state.Message = class.Cause(c, ready)
	}
	return state, nil
}
