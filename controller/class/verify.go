package class

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
)

// verdict is what the cloud said of launching from a class in one form.
type verdict struct {
	form    string
	at      time.Time
	refused *cloud.RefusedError // nil: machines could be launched
}

// verify asks the cloud whether machines could be launched, unless it
// answered lately for the same class: a good answer holds for Verified, a bad
// one until the next look is due, since its owner may be at work on it.
// Without an answer, as when the cloud throttles, what was known stays.
func (r *Reconciler) verify(ctx context.Context, c *awsv1.EC2NodeClass) time.Duration {
	if !r.DryRun {
		condition.Set(c, awsv1.ClassValidationSucceeded, metav1.ConditionTrue, awsv1.ReasonDryRunDisabled, "dry runs are switched off", r.Now())
		return refreshEvery
	}
	form := c.Annotations[api.AnnotationNodeClassHash] + "/" + c.Status.InstanceProfile
	last, known := r.verdict(c.Name)
	known = known && last.form == form
	if known {
		if left := last.at.Add(r.holds(c, last)).Sub(r.Now()); left > 0 {
			last.conclude(c, r.Now())
			return min(left, refreshEvery)
		}
	}
	now, err := r.ask(ctx, c, form)
	switch {
	case err == nil:
	case known:
		last.conclude(c, r.Now())
		return verifyAgain
	case condition.IsTrue(c, awsv1.ClassValidationSucceeded):
		return verifyAgain
	default:
		condition.SetUnknown(c, awsv1.ClassValidationSucceeded, "", err.Error(), r.Now())
		return verifyAgain
	}
	r.noteVerdict(c.Name, now)
	now.conclude(c, r.Now())
	return min(r.holds(c, now), refreshEvery)
}

// ask gets a new verdict; an error says that there is none.
func (r *Reconciler) ask(ctx context.Context, c *awsv1.EC2NodeClass, form string) (verdict, error) {
	settings, err := Settings(c)
	if err != nil {
		return verdict{}, err
	}
	out := verdict{form: form, at: r.Now()}
	if err := r.Finder.Verify(ctx, settings); err != nil && !errors.As(err, &out.refused) {
		return verdict{}, err
	}
	return out, nil
}

// holds is how long a verdict is not asked for again. One that is bad is soon
// at first, then as seldom as everything else is looked up.
func (r *Reconciler) holds(c *awsv1.EC2NodeClass, v verdict) time.Duration {
	if v.refused == nil {
		return r.Verified
	}
	if found := condition.Get(c, awsv1.ClassValidationSucceeded); found != nil && r.Now().Sub(found.LastTransitionTime.Time) < retryOften {
		return retryAfter
	}
	return refreshEvery
}

func (v verdict) conclude(c *awsv1.EC2NodeClass, now time.Time) {
	if v.refused == nil {
		condition.SetTrue(c, awsv1.ClassValidationSucceeded, now)
		return
	}
	condition.SetFalse(c, awsv1.ClassValidationSucceeded, v.refused.Reason, v.refused.Cause, now)
}

func (r *Reconciler) verdict(class string) (v verdict, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, known = r.verdicts[class]
	return v, known
}

func (r *Reconciler) noteVerdict(class string, v verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.verdicts == nil {
		r.verdicts = map[string]verdict{}
	}
	r.verdicts[class] = v
}

func (r *Reconciler) forgetVerdict(class string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.verdicts, class)
}
