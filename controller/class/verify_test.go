package class

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
)

// story is one class, the cloud that judges it and the time.
type story struct {
	*account
	t   *testing.T
	r   *Reconciler
	now time.Time
}

func begin(t *testing.T) *story {
	s := &story{account: &account{}, t: t, now: start}
	s.r = reconciler(s.account, class())
	s.r.Verified = 30 * time.Minute
	s.r.Now = func() time.Time { return s.now }
	return s
}

// after lets time pass, looks, and checks what the condition says and how
// often the cloud has been asked in all.
func (s *story) after(d time.Duration, status metav1.ConditionStatus, reason string, asked int) {
	s.t.Helper()
	s.now = s.now.Add(d)
	got, _ := look(s.t, s.r)
	c := condition.Get(got, awsv1.ClassValidationSucceeded)
	if c == nil || c.Status != status || c.Reason != reason || s.verifies != asked {
		s.t.Errorf("at %v: condition %+v, asked %d times; want %s %s, asked %d times", s.now.Sub(start), c, s.verifies, status, reason, asked)
	}
}

const verified = awsv1.ClassValidationSucceeded // the reason of a true condition is its type

func TestAGoodAnswerHoldsForHalfAnHour(t *testing.T) {
	s := begin(t)
	s.after(0, metav1.ConditionTrue, verified, 1)
	s.after(time.Minute, metav1.ConditionTrue, verified, 1)
	s.after(28*time.Minute, metav1.ConditionTrue, verified, 1)
	s.after(time.Minute, metav1.ConditionTrue, verified, 2)
	s.r.Hash = func(*awsv1.EC2NodeClass) (string, string) { return "changed", "v" }
	s.after(time.Second, metav1.ConditionTrue, verified, 3)
}

func TestThrottlingTakesNothingBack(t *testing.T) {
	s := begin(t)
	s.verify = &cloud.ThrottledError{Call: "ec2:RunInstances (dry run)"}
	s.after(0, metav1.ConditionUnknown, condition.ReasonAwaiting, 1)
	s.verify = nil
	s.after(verifyAgain, metav1.ConditionTrue, verified, 2)
	s.verify = &cloud.ThrottledError{Call: "ec2:RunInstances (dry run)"}
	s.after(31*time.Minute, metav1.ConditionTrue, verified, 3)
	s.verify = &cloud.RefusedError{Reason: awsv1.ReasonCreateFleetAuthCheckFailed, Cause: "may not"}
	s.after(verifyAgain, metav1.ConditionFalse, awsv1.ReasonCreateFleetAuthCheckFailed, 4)
	s.verify = &cloud.ThrottledError{Call: "ec2:RunInstances (dry run)"}
	s.after(retryAfter, metav1.ConditionFalse, awsv1.ReasonCreateFleetAuthCheckFailed, 5)
}

// Events of the class, its own status among them, ask nothing of the cloud.
func TestARefusalIsAskedForAgainButNotAtEveryLook(t *testing.T) {
	s := begin(t)
	s.verify = &cloud.RefusedError{Reason: awsv1.ReasonCreateLaunchTemplateAuthCheckFailed, Cause: "may not"}
	s.after(0, metav1.ConditionFalse, awsv1.ReasonCreateLaunchTemplateAuthCheckFailed, 1)
	s.after(0, metav1.ConditionFalse, awsv1.ReasonCreateLaunchTemplateAuthCheckFailed, 1)
	s.after(retryAfter, metav1.ConditionFalse, awsv1.ReasonCreateLaunchTemplateAuthCheckFailed, 2)
	s.after(time.Hour, metav1.ConditionFalse, awsv1.ReasonCreateLaunchTemplateAuthCheckFailed, 3)
	s.after(retryAfter, metav1.ConditionFalse, awsv1.ReasonCreateLaunchTemplateAuthCheckFailed, 3) // seldom after so long
	s.verify = nil
	s.after(refreshEvery, metav1.ConditionTrue, verified, 4)
}

func TestDryRunsCanBeSwitchedOff(t *testing.T) {
	s := begin(t)
	s.r.DryRun = false
	s.verify = &cloud.RefusedError{Reason: awsv1.ReasonCreateFleetAuthCheckFailed, Cause: "may not"}
	s.after(0, metav1.ConditionTrue, awsv1.ReasonDryRunDisabled, 0)
}
