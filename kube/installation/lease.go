package installation

import (
	"cmp"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Lease is what controllers lead by, as a namespace and a name. The zero value is none: without leader
// election (DISABLE_LEADER_ELECTION) every replica leads.
type Lease client.ObjectKey

// Excludes reports whether of two controllers with these leases only one leads at a time.
func (l Lease) Excludes(other Lease) bool { return l == other && !l.IsNone() }

// IsNone reports whether there is no lease to lead by.
func (l Lease) IsNone() bool { return l == Lease{} }

// String is the lease as namespace/name, or that there is none, and why.
func (l Lease) String() string {
	if l.IsNone() {
		return "no lease (DISABLE_LEADER_ELECTION)"
	}
	return client.ObjectKey(l).String()
}

// LeaseOf is what a controller in a namespace leads by, by its settings.
func LeaseOf(namespace string, setting func(string) string) Lease {
	if disabled, err := strconv.ParseBool(setting("DISABLE_LEADER_ELECTION")); err == nil && disabled {
		return Lease{}
	}
	return Lease{Namespace: cmp.Or(setting("LEADER_ELECTION_NAMESPACE"), namespace), Name: cmp.Or(setting("LEADER_ELECTION_NAME"), UsualLease)}
}
