package cloud

import (
	"time"

	"github.com/daemok/daemok/core/commitment"
)

// Commitments knows what the account has committed itself to pay: Reserved Instances and Savings Plans.
type Commitments interface {
	// Commitments returns what was read last; nothing where nothing is read. It answers from memory, and its answer
	// must not be written.
	Commitments() AccountCommitments
}

// AccountCommitments are what the cloud says that an account is committed to in the Region, and who else uses that.
type AccountCommitments struct {
	commitment.Commitments                      // all of the account, without Others
	EndsAt                 map[string]time.Time // of each, by ID, when it pays no more
	Running                []RunningInstance    // sorted by ProviderID; those of the cluster by their tags are left out
	Reading                int                  // of Running: how often it was read
	Unread                 bool                 // some of it could not be read, and may be soon
}

// RunningInstance is an instance of the account that commitments may pay for.
type RunningInstance struct {
	ProviderID string // as a node's spec.providerID would say
	commitment.Usage
}

// At are those that pay at the moment.
func (a *AccountCommitments) At(now time.Time) (out commitment.Commitments) {
	pays := func(id string) bool { ends, known := a.EndsAt[id]; return !known || now.Before(ends) }
	for _, r := range a.Reserved {
		if pays(r.ID) {
			out.Reserved = append(out.Reserved, r)
		}
	}
	for _, p := range a.Plans {
		if pays(p.ID) {
			out.Plans = append(out.Plans, p)
		}
	}
	return out
}
