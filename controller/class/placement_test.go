package class

import (
	"errors"
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
)

var parted = nodeclass.PlacementGroup{ID: "pg-1", Name: "web", Strategy: nodeclass.Partition, Partitions: 7}

func inGroup(s awsv1.PlacementGroupSelector) func(*awsv1.EC2NodeClass) {
	return func(c *awsv1.EC2NodeClass) { c.Spec.PlacementGroupSelector = &s }
}

func TestAPlacementGroupIsOnTheClassAndReadBack(t *testing.T) {
	r := reconciler(&account{group: &parted}, class(inGroup(awsv1.PlacementGroupSelector{Name: "web"})))
	got, again := look(t, r)
	if !condition.IsTrue(got, awsv1.ClassPlacementGroupReady) || !condition.IsTrue(got, awsv1.ClassReady) || again != RefreshEvery {
		t.Errorf("SC-485: conditions = %+v after one look, again in %v; want ready", got.Status.Conditions, again)
	}
	settings, err := Settings(subject(got))
	if err != nil || !reflect.DeepEqual(settings.Resolved.Placement, &parted) {
		t.Errorf("read back as %+v, %v; want %+v", settings.Resolved.Placement, err, parted)
	}
	got.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{ID: "pg-2"}
	if settings, _ := Settings(subject(got)); settings.Resolved.Placement != nil {
		t.Errorf("SC-485: another group is selected, and %+v is still read", settings.Resolved.Placement)
	}
	got.Spec.PlacementGroupSelector = nil
	if err := r.Store.Update(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	got, _ = look(t, r)
	if _, marked := got.Annotations[api.AnnotationPlacementGroup]; marked || !condition.IsTrue(got, awsv1.ClassPlacementGroupReady) || !condition.IsTrue(got, awsv1.ClassReady) {
		t.Errorf("SC-485: annotations %v, conditions %+v with no group selected", got.Annotations, got.Status.Conditions)
	}
}

func TestAClassWithoutItsPlacementGroupIsNotReady(t *testing.T) {
	gone := &nodeclass.MissingError{Reason: nodeclass.PlacementGroupNotFound, Text: "there is no placement group web"}
	tests := map[string]struct {
		err    error
		status metav1.ConditionStatus
		reason string
	}{
		"since there is none":   {gone, metav1.ConditionFalse, awsv1.ReasonPlacementGroupNotFound},
		"since it is going":     {&nodeclass.MissingError{Reason: nodeclass.PlacementGroupResolutionFailed, Text: "deleting"}, metav1.ConditionFalse, awsv1.ReasonPlacementGroupResolutionFailed},
		"for want of a right":   {&cloud.RefusedError{Reason: "Unauthorized", Cause: "ec2:DescribePlacementGroups"}, metav1.ConditionUnknown, "Unauthorized"},
		"while nothing answers": {errors.New("connection reset"), metav1.ConditionUnknown, condition.ReasonAwaiting},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := &account{ungrouped: tt.err}
			got, _ := reconcile(t, a, class(inGroup(awsv1.PlacementGroupSelector{Name: "web"})))
			c := condition.Get(got, awsv1.ClassPlacementGroupReady)
			if c == nil || c.Status != tt.status || c.Reason != tt.reason || condition.IsTrue(got, awsv1.ClassReady) || a.verifies > 0 {
				t.Errorf("condition %+v, verified %d times; want %s %s and a class that is not ready", c, a.verifies, tt.status, tt.reason)
			}
		})
	}
}

func TestAPlacementGroupThatIsGoneIsForgotten(t *testing.T) {
	a := &account{group: &parted}
	r := reconciler(a, class(inGroup(awsv1.PlacementGroupSelector{Name: "web"})))
	look(t, r)
	a.group, a.ungrouped = nil, errors.New("connection reset")
	got, _ := look(t, r)
	if settings, _ := Settings(subject(got)); settings.Resolved.Placement == nil || !condition.IsTrue(got, awsv1.ClassReady) {
		t.Error("the group is forgotten because EC2 did not answer once")
	}
	a.ungrouped = &nodeclass.MissingError{Reason: nodeclass.PlacementGroupNotFound, Text: "gone"}
	r.Now = func() time.Time { return start.Add(RefreshEvery) }
	got, _ = look(t, r)
	if settings, _ := Settings(subject(got)); settings.Resolved.Placement != nil || condition.IsTrue(got, awsv1.ClassReady) {
		t.Error("the group is still known after EC2 said that there is none")
	}
}
