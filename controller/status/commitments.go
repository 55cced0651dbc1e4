package status

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/observe"
)

const commitmentsEvery = time.Minute

// Commitments reports what of the account's commitments cannot be read until users change something, by events on the
// pod of the process.
type Commitments struct {
	Reporter
	Account func() cloud.AccountCommitments
	Pod     types.NamespacedName // that this process runs in; without a name: none
}

// Round reports once, and returns when to report again.
func (c *Commitments) Round(ctx context.Context) (time.Duration, error) {
	account := c.Account()
	for i := range account.Unread {
		if u := &account.Unread[i]; u.Lasting {
			c.warnOnPod(ctx, c.Pod, observe.Event{Reason: "CommitmentsUnreadable", DedupeFor: 24 * time.Hour,
				Message: "Plans go on with what was read before of " + u.Text(cloud.ControllersRole)})
		}
	}
	return commitmentsEvery, nil
}
