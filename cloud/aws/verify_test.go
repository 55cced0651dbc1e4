package aws

import (
	"errors"
	"testing"

	"github.com/daemok/daemok/cloud"
)

func TestVerify(t *testing.T) {
	t.Run("a class that machines can be launched from passes, and nothing is launched", func(t *testing.T) {
		a := openAccount(t)
		if err := a.provider.Verify(t.Context(), a.class); err != nil {
			t.Errorf("Verify = %v", err)
		}
		if n := len(a.server.Instances()); n != 0 {
			t.Errorf("the dry run launched %d instances", n)
		}
	})
	t.Run("a profile that EC2 does not know is told from other faults", func(t *testing.T) {
		a := openAccount(t)
		class := a.class
		class.Resolved.Profile = "made-a-moment-ago"
		if err := a.provider.Verify(t.Context(), class); !errors.Is(err, ErrProfileNotUsable) {
			t.Errorf("Verify = %v, want ErrProfileNotUsable", err)
		}
	})
	t.Run("a missing right is refused by its name", func(t *testing.T) {
		a := openAccount(t)
		a.server.Deny("RunInstances")
		var refused *cloud.RefusedError
		if err := a.provider.Verify(t.Context(), a.class); !errors.As(err, &refused) || refused.Reason != "RunInstancesAuthCheckFailed" {
			t.Errorf("Verify = %v, want RunInstancesAuthCheckFailed", err)
		}
	})
	t.Run("no image for any type that is offered is refused", func(t *testing.T) {
		a := openAccount(t)
		class := a.class
		class.Resolved.Images = nil
		var refused *cloud.RefusedError
		if err := a.provider.Verify(t.Context(), class); !errors.As(err, &refused) {
			t.Errorf("Verify = %v, want a refusal", err)
		}
	})
}
