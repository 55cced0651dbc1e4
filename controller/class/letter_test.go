package class

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
)

// Alerts match the messages of these conditions to the letter. What to do is in the class's
// Ready condition, in its events and in what pools and pods hear of it.
func TestWhatIsNotFoundIsSaidToTheLetter(t *testing.T) {
	tags := map[string]string{"team": "web"}
	r := reconciler(&bare{account{version: "1.36"}}, class(func(c *awsv1.EC2NodeClass) {
		c.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: tags}}
		c.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{Tags: tags}}
		c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Tags: tags}}
	}))
	events := &heard{}
	r.Events = events
	got, _ := look(t, r)
	letters := map[string]string{
		awsv1.ClassSubnetsReady:        "SubnetSelector did not match any Subnets",
		awsv1.ClassSecurityGroupsReady: "SecurityGroupSelector did not match any SecurityGroups",
		awsv1.ClassAMIsReady:           "AMISelector did not match any AMIs",
	}
	for kind, letter := range letters {
		if is := condition.Get(got, kind); is.Status != metav1.ConditionFalse || is.Message != letter {
			t.Errorf("%s; want false with just %q", condition.Describe(is), letter)
		}
	}
	ready := condition.Get(got, awsv1.ClassReady).Message
	for _, field := range []string{"spec.subnetSelectorTerms (tag team=web)", "spec.securityGroupSelectorTerms (tag team=web)", "spec.amiSelectorTerms (tag team=web)"} {
		for _, text := range []string{ready, WhyNot(subject(got)), strings.Join(events.messages, "\n")} {
			if !strings.Contains(text, field) {
				t.Errorf("%q does not say the way out by %s", text, field)
			}
		}
	}
	if !strings.HasPrefix(ready, "SubnetsReady=False, SecurityGroupsReady=False, AMIsReady=False, ") {
		t.Errorf("Ready says %q; want the conditions first", ready)
	}
}

// A class that asks for no placement group and no capacity reservation has their conditions
// nevertheless: clients built on the types take a missing one for unknown.
func TestConditionsOfWhatIsNotAskedForAreTrue(t *testing.T) {
	got, _ := reconcile(t, &account{}, class())
	for _, kind := range []string{awsv1.ClassPlacementGroupReady, awsv1.ClassCapacityReservationsReady, awsv1.ClassReady} {
		if !condition.IsTrue(got, kind) {
			t.Errorf("%s; want it true", condition.Describe(condition.Get(got, kind)))
		}
	}
}
