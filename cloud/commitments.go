package cloud

import (
	"fmt"
	"slices"
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
	Unread                 []UnreadCommitments  // what could not be read the last time, in the order of reading
}

// UnreadCommitments is a part of what an account is committed to, or of what uses it, that could not be read.
type UnreadCommitments struct {
	What    string // such as Savings Plans
	Rights  string // that are missing, as IAM names actions; empty: there is another reason
	Lasting bool   // it is as it is until users change something
	Err     error
}

// ControllersRole is who lacks rights where the controller does.
const ControllersRole = "the controller's role"

// Text says what could not be read, why, and what is to be done about it. Who needs rights.
func (u *UnreadCommitments) Text(who string) string {
	text := fmt.Sprintf("%s: %v", u.What, u.Err)
	if u.Rights != "" {
		text += fmt.Sprintf("; let %s call %s", who, u.Rights)
	}
	return text
}

// MayBeReadSoon reports whether some of it could not be read, and may be soon.
func (a *AccountCommitments) MayBeReadSoon() bool {
	return slices.ContainsFunc(a.Unread, func(u UnreadCommitments) bool { return !u.Lasting })
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
