package nodepool

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// Object is a pool of any API generation.
type Object = translate.PoolResource

// Offered lists, for some labels, the values that the instances of a class can have: their
// type, zone and region. It is nil while that is not known.
type Offered map[string]map[string]bool

// Generation is how pools of one API generation are read and written.
type Generation struct {
	translate.Generation
	Validate  func(Object) []validate.Finding
	Fits      func(o Object, family string) []validate.Finding // which settings instances of a family do not take; nil: none
	Hash      func(Object) (hash, version string)              // of what its nodes drift by, written on it; nil: they do not
	SetStatus func(o Object, s Status)
}

// Status is what is observed of a pool beside its conditions.
type Status struct {
	Resources       corev1.ResourceList
	Nodes           int64
	OfOlderSpec     int64     // of these, made from another spec than that of now, where that has none drift
	LastOrder       time.Time // when its latest claim was made; zero: it has none
	ClassGeneration int64
	ClassMade       string // fingerprint of what its class has instances made from; empty: of no matter
}

// ClassState is what a pool must know of its class. Status is that of its
// Ready condition, Unknown where it has none.
type ClassState struct {
	Found, Terminating bool
	CreatedAt          time.Time
	Generation         int64
	Made               string // fingerprint of what instances are made from; empty: of no matter
	Family             string // of its images, in effect
	Status             metav1.ConditionStatus
	Since              time.Time // the status has been so; zero where the class has no Ready condition
	Reason, Message    string
}

// Reconciler is the loop over pools of one generation.
type Reconciler struct {
	Generation Generation
	Store      client.Client
	Live       client.Reader // reads past every cache
	ClassState func(ctx context.Context, ref karpv1.NodeClassReference) (ClassState, error)
	Offered    func(ref karpv1.NodeClassReference) Offered
	Catalogue  func(ref karpv1.NodeClassReference) *cluster.Catalogue // nil while it is not known
	Health     *Health
	Events     interface{ Publish(observe.Event) }
	Metrics    *observe.Metrics
	Now        func() time.Time

	IgnoreReplicas bool // static pools get no nodes

	counts   counts
	reported reported
}
