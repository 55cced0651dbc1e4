package translate

import (
	"fmt"

	"github.com/daemok/daemok/cloud"
)

// LaunchClass is what instances are launched from: a NodeClass in the cloud's settings, and the
// annotations that tell later whether an instance was made from an older form of it.
type LaunchClass struct {
	Cloud       cloud.Class
	Annotations map[string]string
	InWords     func(string) string // a text about an EC2NodeClass in the names of the class's own fields
}

// NotReadyError says that a claim's class cannot be used now.
type NotReadyError struct {
	ClassID, Why string
	Passes       bool // it is not known yet whether the class is ready: the claim waits
}

func (e *NotReadyError) Error() string { return fmt.Sprintf("%s is not ready: %s", e.ClassID, e.Why) }
