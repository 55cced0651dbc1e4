package aws

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/daemok/daemok/cloud/aws/fault"
)

// TestAProfileMadeEarlierGoesWithItsClass: the class named a role once and a
// profile of the user's own since; both ends are known by its UID.
func TestAProfileMadeEarlierGoesWithItsClass(t *testing.T) {
	a := openAccount(t)
	made := a.class.Resolved.Profile
	changed := a.class
	changed.Spec.Role, changed.Spec.InstanceProfile = "", "the-users-own"
	if err := a.provider.Forget(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	_, err := a.admin.IAM.GetInstanceProfile(t.Context(), &iam.GetInstanceProfileInput{InstanceProfileName: sdk.String(made)})
	if !fault.NotFound(err) {
		t.Errorf("profile %s outlives its class (%v)", made, err)
	}
}
