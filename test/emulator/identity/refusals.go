package identity

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// Lacks says that the controller has no right to an action.
func Lacks(who world.Account, service, action string) string {
	return fmt.Sprintf("User: arn:aws:sts::%s:assumed-role/%s-karpenter/session is not authorized to perform: %s:%s",
		who.ID, who.ClusterName, service, action)
}

// Unauthorized is EC2's refusal of an action on a resource, by its ARN. The part that only
// AWS can read is another one for every call.
func (s *Identity) Unauthorized(who world.Account, action, resource string) *wire.Error {
	sealed := sha256.Sum256(fmt.Appendf(nil, "%s %d", action, s.Requests.Load()))
	return wire.Errorf("UnauthorizedOperation",
		"You are not authorized to perform this operation. %s on resource: %s because no identity-based policy allows the ec2:%s action."+
			" Encoded authorization failure message: %x", Lacks(who, wire.EC2, action), resource, action, sealed).WithStatus(http.StatusForbidden)
}

// NoSuchEntity is IAM's refusal of what is not there.
func NoSuchEntity(kind, name string) error {
	return wire.Errorf("NoSuchEntity", "%s %s cannot be found.", kind, name).WithStatus(http.StatusNotFound)
}

// IAMTagError puts a tag error into IAM's own codes.
func IAMTagError(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return wire.Errorf("InvalidInput", "%s", e.Message)
	}
	return err
}
