package fence

import "time"

// How the lease is held, by the controller and by commands that keep controllers away meanwhile.
//
// A leader that dies is followed after LeaseFor, and what the other one needs to see the last renewal and
// then the end of the lease: at most 2.2 times RenewEvery for either, since an elector examines so
// irregular times. That comes to 18.3 s at most.
//
// The fence stays open for LeaseFor-CallFor after a renewal, which is eight renewals, or one that hangs for
// RenewalTimeout and is repeated.
const (
	LeaseFor       = 15 * time.Second
	RenewFor       = 12 * time.Second       // a leader that could not renew for so long gives up
	RenewEvery     = 750 * time.Millisecond // and how soon a standby checks again
	RenewalTimeout = 4 * time.Second        // of one request
	CallFor        = 9 * time.Second        // longest time a mutating call may take
)
