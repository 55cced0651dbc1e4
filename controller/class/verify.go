package class

import (
	"context"
	"errors"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
)

// notYetFor is how long something that was just made may be unknown to the
// cloud before the class is said to be wrong.
const notYetFor = time.Minute

// verdict is what the cloud said of launching from a class in one form. The
// zero value says that it was not asked.
type verdict struct {
	form    string
	at      time.Time
	refused *cloud.RefusedError // nil: instances could be launched
}

// verify asks the cloud whether instances could be launched, unless a good answer for the
// same class is younger than Verified. Without an answer, as when the cloud throttles, what
// was known stays. It reports whether all is well.
func (r *Reconciler) verify(ctx context.Context, c *Subject, settings nodeclass.Class) bool {
	if !r.DryRun {
		condition.Set(c, awsv1.ClassValidationSucceeded, metav1.ConditionTrue, awsv1.ReasonDryRunDisabled, "dry runs are switched off", r.Now())
		return true
	}
	known := r.records.of(c.GetName())
	form := c.GetAnnotations()[api.AnnotationNodeClassHash] + "/" + c.Status.InstanceProfile
	form += "/" + strconv.FormatInt(c.GetGeneration(), 10) // what the hash leaves out matters too, as selectors do
	for _, r := range settings.Resolved.Reservations {
		form += "/" + r.ID // launches into each need rights of their own
	}
	last := known.verdict
	if last.form == form && last.refused == nil && r.Now().Before(last.at.Add(r.Verified)) {
		last.conclude(c, r.Now())
		return true
	}
	now, err := r.ask(ctx, settings, form)
	if err != nil {
		r.unanswered(c, last, form, err)
		return false
	}
	known.verdict = now
	now.conclude(c, r.Now())
	return now.refused == nil
}

// ask gets a new verdict; an error says that there is none.
func (r *Reconciler) ask(ctx context.Context, settings nodeclass.Class, form string) (verdict, error) {
	out := verdict{form: form, at: r.Now()}
	if err := r.Finder.Verify(ctx, settings); err != nil && !errors.As(err, &out.refused) {
		return verdict{}, err
	}
	return out, nil
}

// unanswered keeps what was known of the class in this form. What is still
// not usable after notYetFor never will be.
func (r *Reconciler) unanswered(c *Subject, last verdict, form string, err error) {
	is := condition.Get(c, awsv1.ClassValidationSucceeded)
	notYet, waits := errors.AsType[*nodeclass.NotYetError](err)
	switch {
	case waits && is != nil && is.Status == metav1.ConditionFalse && is.Reason == notYet.Reason,
		waits && is != nil && is.Status == metav1.ConditionUnknown && r.Now().Sub(is.LastTransitionTime.Time) >= notYetFor:
		condition.SetFalse(c, awsv1.ClassValidationSucceeded, notYet.Reason, c.InWords(notYet.Text), r.Now())
	case last.form == form:
		last.conclude(c, r.Now())
	case holds(c, awsv1.ClassValidationSucceeded):
	default:
		condition.SetUnknown(c, awsv1.ClassValidationSucceeded, "", c.InWords(err.Error()), r.Now())
	}
}

func (v verdict) conclude(c *Subject, now time.Time) {
	if v.refused == nil {
		condition.SetTrue(c, awsv1.ClassValidationSucceeded, now)
		return
	}
	condition.SetFalse(c, awsv1.ClassValidationSucceeded, v.refused.Reason, c.InWords(v.refused.Cause), now)
}
