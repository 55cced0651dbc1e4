package class

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
)

// story is one class, the cloud that judges it and the time.
type story struct {
	*account
	t   *testing.T
	r   *Reconciler
	now time.Time

	events []observe.Event
}

func (s *story) Publish(e observe.Event) { s.events = append(s.events, e) }

// edit changes the class as its owner does.
func (s *story) edit(change func(*awsv1.EC2NodeClass)) {
	s.t.Helper()
	c := &awsv1.EC2NodeClass{}
	if err := s.r.Store.Get(s.t.Context(), client.ObjectKey{Name: "main"}, c); err != nil {
		s.t.Fatal(err)
	}
	change(c)
	if err := s.r.Store.Update(s.t.Context(), c); err != nil {
		s.t.Fatal(err)
	}
}

func begin(t *testing.T) *story {
	s := &story{account: &account{}, t: t, now: start}
	s.r = reconciler(s.account, class())
	s.r.Events = s
	s.r.Verified = 30 * time.Minute
	s.r.Now = func() time.Time { return s.now }
	return s
}

// after lets time pass, reconciles, and checks what the condition says and how often the
// cloud has been asked in all.
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
	s.r.Kind = hashed("changed")
	s.after(time.Second, metav1.ConditionTrue, verified, 3)
}

// Selectors and the number of prefixes are no part of the hash, and a launch depends on
// them all the same: on rights on the subnet, say.
func TestAClassIsVerifiedAgainWhenItsOwnerChangesIt(t *testing.T) {
	s := begin(t)
	s.after(0, metav1.ConditionTrue, verified, 1)
	s.verify = &cloud.RefusedError{Reason: awsv1.ReasonRunInstancesAuthCheckFailed, Cause: "may not"}
	s.edit(func(c *awsv1.EC2NodeClass) {
		c.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{ID: "subnet-9"}}
		c.Generation++
	})
	s.after(time.Second, metav1.ConditionFalse, awsv1.ReasonRunInstancesAuthCheckFailed, 2)
}

// Launches into each reservation need rights of their own.
func TestAClassIsVerifiedAgainWhenItFindsReservations(t *testing.T) {
	s := begin(t)
	s.r.ReservedCapacity = true
	s.after(0, metav1.ConditionTrue, verified, 1)
	s.reserved = []nodeclass.Reservation{{ID: "cr-1", Kind: "m5.large", Zone: "us-east-1a"}}
	s.after(time.Minute, metav1.ConditionTrue, verified, 2)
	s.reserved = append(s.reserved, nodeclass.Reservation{ID: "cr-2", Kind: "m5.large", Zone: "us-east-1a"})
	s.after(time.Minute, metav1.ConditionTrue, verified, 3)
	s.after(time.Minute, metav1.ConditionTrue, verified, 3)
}

func TestThrottlingTakesNothingBack(t *testing.T) {
	s := begin(t)
	s.verify = &cloud.ThrottledError{Call: "ec2:RunInstances (dry run)"}
	s.after(0, metav1.ConditionUnknown, condition.ReasonAwaiting, 1)
	s.verify = nil
	s.after(retryFirst, metav1.ConditionTrue, verified, 2)
	s.verify = &cloud.ThrottledError{Call: "ec2:RunInstances (dry run)"}
	s.after(31*time.Minute, metav1.ConditionTrue, verified, 3)
	s.verify = &cloud.RefusedError{Reason: awsv1.ReasonCreateFleetAuthCheckFailed, Cause: "may not"}
	s.after(retryFirst, metav1.ConditionFalse, awsv1.ReasonCreateFleetAuthCheckFailed, 4)
	s.verify = &cloud.ThrottledError{Call: "ec2:RunInstances (dry run)"}
	s.after(2*retryFirst, metav1.ConditionFalse, awsv1.ReasonCreateFleetAuthCheckFailed, 5)
}

// Events of the class, its own status among them, ask nothing of the cloud,
// and what stays wrong is asked for ever less often.
func TestARefusalIsAskedForEverLessOften(t *testing.T) {
	const reason = awsv1.ReasonCreateLaunchTemplateAuthCheckFailed
	s := begin(t)
	s.verify = &cloud.RefusedError{Reason: reason, Cause: "may not"}
	asked := 1
	s.after(0, metav1.ConditionFalse, reason, asked)
	for _, wait := range []time.Duration{2, 4, 8, 16, 32, 60, 60} {
		s.after(wait*time.Second-time.Millisecond, metav1.ConditionFalse, reason, asked)
		asked++
		s.after(time.Millisecond, metav1.ConditionFalse, reason, asked)
	}
	s.edit(func(c *awsv1.EC2NodeClass) { c.Generation++ })
	s.after(time.Second, metav1.ConditionFalse, reason, asked+1)
	s.verify = nil
	s.after(retryFirst, metav1.ConditionTrue, verified, asked+2)
	s.verify = &cloud.RefusedError{Reason: reason, Cause: "may not"}
	s.after(time.Hour, metav1.ConditionFalse, reason, asked+3)
	s.after(retryFirst, metav1.ConditionFalse, reason, asked+4)
}

func TestAMissingPartIsLookedForEverLessOften(t *testing.T) {
	s := begin(t)
	s.subnets = &nodeclass.MissingError{Reason: nodeclass.SubnetsNotFound, Text: "nothing matches"}
	for _, want := range []time.Duration{2, 4, 8, 16, 32, 60, 60} {
		_, again := look(t, s.r)
		if again != want*time.Second {
			t.Errorf("at %v: looks again after %v, want %v", s.now.Sub(start), again, want*time.Second)
		}
		s.now = s.now.Add(again)
	}
}

func TestAProfileThatStaysUnknownIsSaidToBeNone(t *testing.T) {
	s := begin(t)
	s.verify = &nodeclass.NotYetError{Reason: awsv1.ReasonInstanceProfileNotFound, Text: "there is no such profile"}
	s.after(0, metav1.ConditionUnknown, condition.ReasonAwaiting, 1)
	s.after(30*time.Second, metav1.ConditionUnknown, condition.ReasonAwaiting, 2)
	s.after(30*time.Second, metav1.ConditionFalse, awsv1.ReasonInstanceProfileNotFound, 3)
	s.after(time.Minute, metav1.ConditionFalse, awsv1.ReasonInstanceProfileNotFound, 4)
	s.verify = nil
	s.after(time.Minute, metav1.ConditionTrue, verified, 5)
}

func TestDryRunsCanBeSwitchedOff(t *testing.T) {
	s := begin(t)
	s.r.DryRun = false
	s.verify = &cloud.RefusedError{Reason: awsv1.ReasonCreateFleetAuthCheckFailed, Cause: "may not"}
	s.after(0, metav1.ConditionTrue, awsv1.ReasonDryRunDisabled, 0)
}

// What only becomes too long when it is merged is found without a call, so also where dry
// runs are switched off; how long it is can be measured as long as the class is there.
func TestUserDataThatIsTooLongWhenMergedIsReportedWithoutDryRuns(t *testing.T) {
	s, registry := begin(t), prometheus.NewRegistry()
	s.r.DryRun, s.r.Metrics = false, observe.NewMetrics(registry, "", "", "", "")
	measures := func(want ...string) {
		t.Helper()
		got, err := scraped.Lines(registry, "karpenter_ec2nodeclasses_userdata_bytes")
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("measured %q, %v; want %q", got, err, want)
		}
	}
	s.userData, s.unmerged = 17000, &cloud.RefusedError{Reason: awsv1.ReasonUserDataSizeLimitExceeded, Cause: "user data is 17000 bytes"}
	s.after(0, metav1.ConditionFalse, awsv1.ReasonUserDataSizeLimitExceeded, 0)
	measures("karpenter_ec2nodeclasses_userdata_bytes nodeclass=main 17000")
	s.userData, s.unmerged = 900, nil
	s.after(retryFirst, metav1.ConditionTrue, awsv1.ReasonDryRunDisabled, 0)
	measures("karpenter_ec2nodeclasses_userdata_bytes nodeclass=main 900")
	s.r.forget("main")
	measures()
}
