// Package class finds what classes select: subnets, security groups, images and an instance profile.
// Conditions report what is missing.
//
// It promises that a class is Ready only while instances can be launched from it, and that nothing
// created for a class outlives it. It launches nothing.
package class

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/userdata"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// RefreshEvery is how often what a class selects is looked up, unless images and
// subnets are to be looked up less often.
const RefreshEvery = time.Minute

const (
	learnFor     = 3 * time.Second  // that the version of the API server is waited for, and with it launches
	waitForUsers = 10 * time.Second // between checks the claims of a class that is being deleted
)

type requirement = corev1.NodeSelectorRequirement

type publisher interface{ Publish(observe.Event) }

// finder looks things up at the cloud. What does not exist is a
// *nodeclass.MissingError.
type finder interface {
	Subnets(ctx context.Context, class nodeclass.Class) ([]nodeclass.Subnet, error)
	Groups(ctx context.Context, class nodeclass.Class) ([]nodeclass.Group, error)
	Images(ctx context.Context, class nodeclass.Class) ([]nodeclass.Image, error)
	KubernetesVersion(ctx context.Context) (string, error)
	Profile(ctx context.Context, class nodeclass.Class) (string, error)
	Reservations(ctx context.Context, class nodeclass.Class) ([]nodeclass.Reservation, error)
	// Placement is nil for a class that names no placement group.
	Placement(ctx context.Context, class nodeclass.Class) (*nodeclass.PlacementGroup, error)
	// Unsized says for which types the kubelet's expressions have no amount.
	Unsized(ctx context.Context, class nodeclass.Class) (nodeclass.Unsized, error)
	// Crowded says which types may run more pods than they have addresses for.
	Crowded(ctx context.Context, class nodeclass.Class) (nodeclass.Crowded, error)
	// UserDataBytes says how long the user data of such a class's instances is, or why
	// there can be none.
	UserDataBytes(ctx context.Context, class nodeclass.Class) (int, error)
	// Verify asks whether instances could be launched from a class whose parts are all
	// found.
	Verify(ctx context.Context, class nodeclass.Class) error
	// Forget removes everything that was made for the class.
	Forget(ctx context.Context, class nodeclass.Class) error
	// Drop frees what is held in memory for the class of that ID.
	Drop(classID string)
}

// Reconciler is the loop over classes.
type Reconciler struct {
	Kind    Kind
	Store   client.Client
	Live    client.Reader // that misses no claim
	Finder  finder
	Events  publisher
	Metrics *observe.Metrics
	Log     *slog.Logger
	DryRun  bool // verify by dry runs

	ReservedENIs     int  // network interfaces of each instance that pods get no addresses of
	ReservedCapacity bool // the feature gate: capacity reservations are looked up

	ImagesEvery, SubnetsEvery time.Duration // how often they are looked up where all is well; 0: RefreshEvery

	// Form renders a spec, so that nodes of another build whose launch template differs can be reported; nil: nothing
	// is compared. Build names this build. Launches wait for what is Compared; nil: none does.
	Form     func(nodeclass.Spec) (*nodeclass.LaunchForm, error)
	Build    string
	Compared *Comparisons

	Verified time.Duration // for how long a good answer holds
	Now      func() time.Time

	records records
}

// Reconcile observes one class, takes the next step and returns how long to wait before the
// next check.
func (r *Reconciler) Reconcile(ctx context.Context, name string) (time.Duration, error) {
	o := r.Kind.New()
	if err := r.Store.Get(ctx, client.ObjectKey{Name: name}, o); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.forget(name)
		}
		return 0, client.IgnoreNotFound(err)
	}
	if r.Kind.Is != nil && !r.Kind.Is(o) {
		r.forget(name)
		return 0, nil
	}
	unlearned := r.learn(ctx)
	c := r.Kind.Of(o.DeepCopyObject().(client.Object))
	if c.GetDeletionTimestamp() != nil {
		return r.finalize(ctx, c)
	}
	launched, err := r.launched(ctx, c)
	if err != nil {
		return 0, err
	}
	launched.unknown = unlearned
	if err := r.prepare(ctx, c, &launched); err != nil {
		return 0, err
	}
	if err := r.compareFirst(ctx, c, launched); err != nil {
		return 0, err
	}
	if left := r.records.of(name).left(c, r.Now()); left > 0 {
		return left, nil
	}
	unplaced, err := r.findPlacement(ctx, c)
	if err != nil {
		return 0, err
	}
	reserved, err := r.findReservations(ctx, c)
	if err != nil {
		return 0, err
	}
	before := c.copy()
	again := r.resolve(ctx, c, unplaced, reserved)
	r.replaced(c)
	if err := r.compareForms(c, launched); err != nil {
		return 0, err
	}
	condition.Begin(c, r.Now())
	r.explain(c)
	if err := r.writeStatus(ctx, c, before); err != nil {
		return 0, err
	}
	r.report(c, before)
	return again, nil
}

// writeStatus writes the status where it is another than before, unless the object was changed meanwhile.
func (r *Reconciler) writeStatus(ctx context.Context, c, before *Subject) error {
	if equality.Semantic.DeepEqual(before.Status, c.Status) {
		return nil
	}
	r.Kind.SetStatus(c.Object, c.Status)
	if err := r.Store.Status().Patch(ctx, c.Object, client.MergeFromWithOptions(before.Object, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write status of %s: %w", c.ID(), err)
	}
	return nil
}

// learn has the Kind know the version of the API server. The error says why it does not.
func (r *Reconciler) learn(ctx context.Context) error {
	if r.Kind.Learn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, learnFor)
	defer cancel()
	version, err := r.Finder.KubernetesVersion(ctx)
	if err == nil {
		r.Kind.Learn(version)
	}
	switch {
	case r.Kind.Learned():
		return nil
	case err != nil:
		return fmt.Errorf("ask for the version of Kubernetes, by which images are chosen: %w", err)
	}
	return fmt.Errorf("the version of Kubernetes, by which images are chosen, is not understood: %q", version)
}

// prepare writes finalizer, hash and form. launched is in which forms instances of the class were launched.
func (r *Reconciler) prepare(ctx context.Context, c *Subject, launched *launched) error {
	before := c.copy()
	annotations := maps.Clone(c.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	if r.Kind.Hash != nil {
		annotations[api.AnnotationNodeClassHash], annotations[api.AnnotationNodeClassHashVersion] = r.Kind.Hash(c.Object)
		controllerutil.AddFinalizer(c, api.FinalizerClassTermination)
	}
	c.SetAnnotations(annotations)
	if err := r.recordForm(c, *launched, annotations); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(before.Object, c.Object) {
		return nil
	}
	err := r.Store.Patch(ctx, c.Object, client.MergeFromWithOptions(before.Object, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsForbidden(err) && r.Kind.Hash == nil {
		c.Object, launched.unknown = before.Object, fmt.Errorf("record on %s the form in which its instances are launched: %w", c.ID(), err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("write finalizer, hash and form of %s: %w", c.ID(), err)
	}
	return nil
}

// resolve looks everything up and sets a condition for each, whatever the others say. A look-up
// that failed without an answer leaves what was known of this spec. unplaced is why no placement
// group was found, reserved what reservations were.
func (r *Reconciler) resolve(ctx context.Context, c *Subject, unplaced error, reserved reservations) time.Duration {
	settings, unread := Settings(c)
	well := true
	looks := []func() error{
		func() error {
			return r.every(c, awsv1.ClassSubnetsReady, r.SubnetsEvery, func() error { return r.subnets(ctx, c, settings) })
		},
		func() error { return r.groups(ctx, c, settings) },
		func() error { return r.reservations(c, reserved) },
		func() error { return r.placement(c, unplaced) },
		func() error {
			return r.every(c, awsv1.ClassAMIsReady, r.ImagesEvery, func() error { return r.images(ctx, c, settings) })
		},
		func() error { return r.profile(ctx, c, settings) },
	}
	if c.Spec.LaunchTemplate != "" {
		looks = looks[:1]
		r.brought(c)
	}
	for _, look := range looks {
		well = look() == nil && well
	}
	well = r.judge(ctx, c, unread) && well
	known := r.records.of(c.GetName())
	if !well {
		return known.postpone(c, r.Now())
	}
	known.stabilize()
	return RefreshEvery
}

// brought drops what is known of what the user's own launch template brings.
func (r *Reconciler) brought(c *Subject) {
	c.Status.SecurityGroups, c.Status.AMIs, c.Status.InstanceProfile = nil, nil, ""
	for _, kind := range []string{awsv1.ClassSecurityGroupsReady, awsv1.ClassAMIsReady, awsv1.ClassInstanceProfileReady, awsv1.ClassGroupsOwnedTwice, awsv1.ClassKubeletSkew} {
		condition.Clear(c, kind)
		delete(r.records.of(c.GetName()).reported, kind)
	}
}

// every looks something up unless a check of the same spec that found it is younger than
// the interval: what the status has of it then stays.
func (r *Reconciler) every(c *Subject, kind string, interval time.Duration, look func() error) error {
	known := r.records.of(c.GetName())
	is := condition.Get(c, kind)
	if last := known.found[kind]; is != nil && is.Status == metav1.ConditionTrue && last.generation == c.GetGeneration() && r.Now().Before(last.at.Add(interval)) {
		condition.SetTrue(c, kind, r.Now()) // of this generation
		return nil
	}
	err := look()
	delete(known.found, kind)
	if err == nil {
		known.found[kind] = finding{c.GetGeneration(), r.Now()}
	}
	return err
}

// judge sets the condition that sums up whether instances can be launched, and reports
// whether all is well. unread is what of the spec cannot be read.
func (r *Reconciler) judge(ctx context.Context, c *Subject, unread error) bool {
	if reason, text := r.wrong(c, unread); reason != "" {
		condition.SetFalse(c, awsv1.ClassValidationSucceeded, reason, text, r.Now())
		return false
	}
	for _, kind := range lookedUp(c) {
		if !condition.IsTrue(c, kind) {
			condition.SetFalse(c, awsv1.ClassValidationSucceeded, awsv1.ReasonDependenciesNotReady, "waits for condition "+kind, r.Now())
			return false
		}
	}
	settings, err := Settings(c) // with what was found
	if err != nil {
		condition.SetUnknown(c, awsv1.ClassValidationSucceeded, "", err.Error(), r.Now())
		return false
	}
	if text := r.unsized(ctx, c, settings); text != "" {
		condition.SetFalse(c, awsv1.ClassValidationSucceeded, awsv1.ReasonKubeletExpressionEvaluationFailed, c.InWords(text), r.Now())
		return false
	}
	r.density(ctx, c, settings)
	return r.merges(ctx, c, settings) && r.verify(ctx, c, settings)
}

// merges reports whether instances can be sent the user data that the class's and ours make
// together. While types are not known, nothing is said.
func (r *Reconciler) merges(ctx context.Context, c *Subject, settings nodeclass.Class) bool {
	bytes, err := r.Finder.UserDataBytes(ctx, settings)
	if bytes > 0 && c.Kind.Name == KindEC2NodeClass {
		r.Metrics.UserDataBytes.WithLabelValues(c.GetName()).Set(float64(bytes))
	}
	if refused, ok := errors.AsType[*cloud.RefusedError](err); ok {
		condition.SetFalse(c, awsv1.ClassValidationSucceeded, refused.Reason, c.InWords(refused.Cause), r.Now())
		return false
	}
	return true
}

// unsized says why the kubelet's expressions leave no type at all. Where they leave some
// out, that is reported; while types are not known, nothing is said.
func (r *Reconciler) unsized(ctx context.Context, c *Subject, settings nodeclass.Class) string {
	left, err := r.Finder.Unsized(ctx, settings)
	if err != nil || left.Types == 0 {
		return ""
	}
	text := fmt.Sprintf("spec.%s; so it is for %d of the %d instance types that the class's images boot, which are not launched",
		left.Why, left.Types, left.Of)
	if left.Types == left.Of {
		return text
	}
	r.warn(c, "spec.kubelet", text)
	return ""
}

// lookedUp are the conditions that the cloud's answers decide.
func lookedUp(c *Subject) []string {
	if c.Spec.LaunchTemplate != "" {
		return []string{awsv1.ClassSubnetsReady}
	}
	kinds := []string{awsv1.ClassSubnetsReady, awsv1.ClassSecurityGroupsReady, awsv1.ClassAMIsReady, awsv1.ClassInstanceProfileReady}
	if c.Spec.Placement != nil {
		kinds = append(kinds, awsv1.ClassPlacementGroupReady)
	}
	return kinds
}

// holds reports whether a condition is true of the spec as it is now: what was found
// for an earlier one says nothing of it.
func holds(c *Subject, kind string) bool {
	is := condition.Get(c, kind)
	return is != nil && is.Status == metav1.ConditionTrue && is.ObservedGeneration == c.GetGeneration()
}

// conclude sets one condition from the answer of one look-up. Without an answer what was
// known of the same spec stays.
func (r *Reconciler) conclude(c *Subject, kind string, err error) error {
	var missing *nodeclass.MissingError
	var refused *cloud.RefusedError
	switch {
	case err == nil:
		condition.SetTrue(c, kind, r.Now())
		return nil
	case errors.As(err, &missing):
		r.missing(c, kind, missing)
		return err
	case errors.As(err, &refused):
		condition.SetUnknown(c, kind, refused.Reason, c.InWords(refused.Cause), r.Now())
	case !holds(c, kind):
		condition.SetUnknown(c, kind, "", c.InWords(err.Error()), r.Now())
	}
	return err
}

func (r *Reconciler) subnets(ctx context.Context, c *Subject, settings nodeclass.Class) error {
	found, err := r.Finder.Subnets(ctx, settings)
	if answered(err) {
		c.Status.Subnets = nil
		for _, s := range found {
			c.Status.Subnets = append(c.Status.Subnets, awsv1.Subnet{ID: s.ID, Zone: s.Zone, ZoneID: s.ZoneID})
		}
		r.doubt(c, awsv1.ClassSubnetsFull, awsv1.ReasonNoFreeAddresses, full(found))
	}
	return r.conclude(c, awsv1.ClassSubnetsReady, err)
}

func (r *Reconciler) groups(ctx context.Context, c *Subject, settings nodeclass.Class) error {
	found, err := r.Finder.Groups(ctx, settings)
	if answered(err) {
		c.Status.SecurityGroups = nil
		for _, g := range found {
			c.Status.SecurityGroups = append(c.Status.SecurityGroups, awsv1.SecurityGroup{ID: g.ID, Name: g.Name})
		}
		r.doubt(c, awsv1.ClassGroupsOwnedTwice, awsv1.ReasonSeveralOwnedGroups, ownedTwice(found))
	}
	return r.conclude(c, awsv1.ClassSecurityGroupsReady, err)
}

func (r *Reconciler) images(ctx context.Context, c *Subject, settings nodeclass.Class) error {
	found, err := r.Finder.Images(ctx, settings)
	if answered(err) {
		c.Status.AMIs = nil
		for _, i := range found {
			c.Status.AMIs = append(c.Status.AMIs, awsv1.AMI{ID: i.ID, Name: i.Name, Deprecated: i.Deprecated, Requirements: requirementsOf(i.Requirements)})
		}
		r.skew(ctx, c, found)
	}
	if err == nil {
		err = r.mismatch(ctx, c, found)
	}
	return r.conclude(c, awsv1.ClassAMIsReady, err)
}

func (r *Reconciler) profile(ctx context.Context, c *Subject, settings nodeclass.Class) error {
	if c.Spec.Role == "" && c.Spec.InstanceProfile == "" {
		c.Status.InstanceProfile = ""
		return r.conclude(c, awsv1.ClassInstanceProfileReady, &nodeclass.MissingError{Reason: awsv1.ReasonInstanceProfileNotFound,
			Text: "no instance profile is named, without which no node can join: name one in spec.instanceProfile, or a role in spec.role"})
	}
	name, err := r.Finder.Profile(ctx, settings)
	if err == nil {
		c.Status.InstanceProfile = name
	}
	return r.conclude(c, awsv1.ClassInstanceProfileReady, err)
}

// answered reports whether the cloud gave an answer, be it that there is
// nothing.
func answered(err error) bool {
	var missing *nodeclass.MissingError
	return err == nil || errors.As(err, &missing)
}

// wrong returns what is wrong with the spec itself, with the reason of the first mistake;
// no reason is for nothing. What is only doubtful is reported.
func (r *Reconciler) wrong(c *Subject, unread error) (reason, text string) {
	found := r.Kind.Validate(c.Object)
	if errs := validate.Errors(found); len(errs) > 0 {
		return reasonOf(errs[0]), validate.Refusal(errs)
	}
	for _, f := range found {
		r.warn(c, f.Field, f.String())
	}
	if unread != nil {
		return awsv1.ReasonInvalidKubeletConfiguration, unread.Error()
	}
	if err := userdata.Check(c.Spec.Family, c.Spec.UserData); err != nil {
		return awsv1.ReasonInvalidUserData, c.InWords(err.Error())
	}
	if text := userdata.Overrides(c.Spec.Family, c.Spec.UserData); text != "" {
		r.warn(c, "spec.userData", "spec.userData: "+text)
	}
	return "", ""
}

// reasonOf is the condition's reason for a finding; those without one are
// about tags.
func reasonOf(f validate.Finding) string {
	if f.Reason != "" {
		return f.Reason
	}
	return awsv1.ReasonTagValidationFailed
}

// finalize waits until no claim uses the class and removes what was made for
// it.
func (r *Reconciler) finalize(ctx context.Context, c *Subject) (time.Duration, error) {
	if !controllerutil.ContainsFinalizer(c, api.FinalizerClassTermination) {
		return 0, nil
	}
	users, err := r.users(ctx, c)
	if err != nil {
		return 0, err
	}
	if users > 0 {
		r.Events.Publish(observe.Event{About: c.Object, Key: c.ID(), Reason: "WaitingOnNodeClaimTermination",
			Message: fmt.Sprintf("%d NodeClaims still use this class; it goes when they have gone", users), DedupeFor: 10 * time.Minute})
		return waitForUsers, nil
	}
	settings, err := Settings(c)
	if err != nil {
		settings = nodeclass.Class{Kind: c.Kind.Name, Name: c.GetName(), UID: string(c.GetUID())} // what was made for it is found by name
	}
	if err := r.Finder.Forget(ctx, settings); err != nil {
		return 0, fmt.Errorf("remove what was made for %s: %w", c.ID(), err)
	}
	before := c.copy()
	controllerutil.RemoveFinalizer(c, api.FinalizerClassTermination)
	if err := r.Store.Patch(ctx, c.Object, client.MergeFromWithOptions(before.Object, client.MergeFromWithOptimisticLock{})); client.IgnoreNotFound(err) != nil {
		return 0, fmt.Errorf("remove finalizer of %s: %w", c.ID(), err)
	}
	r.forget(c.GetName())
	return 0, nil
}

// forget drops what is known of a class that is not there any more.
func (r *Reconciler) forget(name string) {
	r.records.forget(name)
	r.Finder.Drop(translate.ClassID(karpv1.NodeClassReference{Group: r.Kind.Group, Kind: r.Kind.Name, Name: name}))
	r.Metrics.UserDataBytes.DeleteLabelValues(name)
	r.Metrics.OtherForms.DeleteLabelValues(r.Kind.label(name))
}

// users counts the claims of a class. That there are none is believed of the API server
// alone: a claim that the cache does not show yet may be being launched for.
func (r *Reconciler) users(ctx context.Context, c *Subject) (n int, err error) {
	count := func(claims *karpv1.NodeClaimList) {
		for i := range claims.Items {
			if ref := claims.Items[i].Spec.NodeClassRef; ref.Group == c.Kind.Group && ref.Kind == c.Kind.Name && ref.Name == c.GetName() {
				n++
			}
		}
	}
	var cached karpv1.NodeClaimList
	if err := r.Store.List(ctx, &cached, client.UnsafeDisableDeepCopy); err != nil { // only read
		return 0, fmt.Errorf("list claims of %s: %w", c.ID(), err)
	}
	if count(&cached); n > 0 {
		return n, nil
	}
	if err := pages.Each(ctx, r.Live, &karpv1.NodeClaimList{}, count); err != nil {
		return 0, fmt.Errorf("list claims of %s: %w", c.ID(), err)
	}
	return n, nil
}
