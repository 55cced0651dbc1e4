package class

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/fingerprint"
	"github.com/daemok/daemok/kube/api/validate"
)

// Kind is how classes of one Kind are read and written.
type Kind struct {
	Name    string
	Group   string
	New     func() client.Object
	NewList func() client.ObjectList

	// Read reads a class for its users; nil: the object of that name is it.
	Read func(ctx context.Context, from client.Reader, name string) (*Subject, error)
	// Is reports whether an object is a class; nil: each is.
	Is func(client.Object) bool

	// Learn receives the version of the API server before anything is looked up, and
	// Learned reports whether it has; nil: the Kind does not depend on it.
	Learn   func(kubernetes string)
	Learned func() bool

	// Spec is what the user asks for. With an error, which names what of it cannot be read,
	// it is good for looking things up and nothing else.
	Spec func(client.Object) (nodeclass.Spec, error)
	// Status is what was found, in the form of an EC2NodeClass; SetStatus writes it.
	Status    func(client.Object) awsv1.EC2NodeClassStatus
	SetStatus func(client.Object, awsv1.EC2NodeClassStatus)
	Validate  func(client.Object) []validate.Finding
	// Words are the fields of an EC2NodeClass, as texts have them, each followed by what
	// it is to this object; nil: the object is one.
	Words func(client.Object) []string
	// Replaced says which family of images is used in place of another that is meant;
	// empty where it is the one; nil: it always is.
	Replaced func(client.Object) string
	// Hash is the fingerprint of what instances of the class are made from, which is
	// written on the class, as is the finalizer that has the class outlive its claims; nil:
	// neither is.
	Hash func(client.Object) (hash, version string)
	// Made is a fingerprint of the same, with its version before it, by which no instance
	// drifts and which is not written on the class; nil: there is none.
	Made func(client.Object) string
}

// KindEC2NodeClass is the Kind of classes of the v1 API.
const KindEC2NodeClass = "EC2NodeClass"

// NodeClasses is the Kind EC2NodeClass. Their instances trust this CA, as PEM or base64; o
// is what may be written in their specs.
func NodeClasses(caBundle string, o validate.ClassOptions) Kind {
	return Kind{
		Name: KindEC2NodeClass, Group: api.GroupAWS,
		New:       func() client.Object { return &awsv1.EC2NodeClass{} },
		NewList:   func() client.ObjectList { return &awsv1.EC2NodeClassList{} },
		Spec:      func(c client.Object) (nodeclass.Spec, error) { return specOf(c.(*awsv1.EC2NodeClass)) },
		Status:    func(c client.Object) awsv1.EC2NodeClassStatus { return *c.(*awsv1.EC2NodeClass).Status.DeepCopy() },
		SetStatus: func(c client.Object, s awsv1.EC2NodeClassStatus) { c.(*awsv1.EC2NodeClass).Status = s },
		Validate:  func(c client.Object) []validate.Finding { return validate.EC2NodeClass(c.(*awsv1.EC2NodeClass), o) },
		Hash: func(c client.Object) (hash, version string) {
			return fingerprint.EC2NodeClass(c.(*awsv1.EC2NodeClass), fingerprint.Cluster{CABundle: caBundle}), fingerprint.Version
		},
	}
}

// Of is the class that an object holds.
func (k *Kind) Of(o client.Object) *Subject {
	s := &Subject{Object: o, Kind: k, Status: k.Status(o)}
	s.Spec, s.Unread = k.Spec(o)
	return s
}

// label names a class of the Kind in metrics: an EC2NodeClass by its name alone.
func (k *Kind) label(name string) string {
	if k.Name == KindEC2NodeClass {
		return name
	}
	return k.Name + "/" + name
}

// Subject is a class of any Kind. Its status is a copy, which close writes into the object.
type Subject struct {
	client.Object
	Kind   *Kind
	Spec   nodeclass.Spec
	Unread error  // what of the spec cannot be read
	For    string // the Provisioner whose instances it is for; empty: for those of all that name it
	Status awsv1.EC2NodeClassStatus

	// ways out of what conditions say to the letter, by condition: those of this check
	ways map[string]string
}

var _ condition.Object = &Subject{}

// ID names the class: its Kind and name, and whose instances it is for where it is not for
// all.
func (c *Subject) ID() string {
	if c.For != "" {
		return KindProvisioner + "/" + c.For
	}
	return c.Kind.Name + "/" + c.GetName()
}

// ByName reads a class of the Kind.
func (k *Kind) ByName(ctx context.Context, from client.Reader, name string) (*Subject, error) {
	if k.Read != nil {
		return k.Read(ctx, from, name)
	}
	o := k.New()
	if err := from.Get(ctx, client.ObjectKey{Name: name}, o); err != nil {
		return nil, err
	}
	return k.Of(o), nil
}

// GetConditions returns the class's conditions; the slice is its own.
func (c *Subject) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the class's conditions.
func (c *Subject) SetConditions(conditions []metav1.Condition) { c.Status.Conditions = conditions }

// ReadyDependsOn names the conditions that must be true for Ready. The placement group
// counts if the class names one, and capacity reservations if they are reported, since
// that depends on a feature gate. A launch template of the user's own brings images,
// groups and profile with it.
func (c *Subject) ReadyDependsOn() []string {
	kinds := append(lookedUp(c), awsv1.ClassValidationSucceeded)
	if condition.Get(c, awsv1.ClassCapacityReservationsReady) != nil {
		kinds = append(kinds, awsv1.ClassCapacityReservationsReady)
	}
	return kinds
}

// InWords is a text about the class in the names of its own fields.
func (c *Subject) InWords(text string) string {
	if c.Kind.Words == nil {
		return text
	}
	return strings.NewReplacer(c.Kind.Words(c.Object)...).Replace(text)
}

// copy is the class again, over a copy of its object.
func (c *Subject) copy() *Subject {
	o := *c
	o.Object = c.DeepCopyObject().(client.Object)
	o.Status = *c.Status.DeepCopy()
	return &o
}
