package cluster

import (
	"fmt"
	"time"
)

// ProvisioningRequest asks for capacity for all of its pods or for none of them, as batch systems do before they create
// the pods. Until these come, virtual pods stand for them, as they do for those of a Buffer.
type ProvisioningRequest struct {
	Namespace, Name string
	CreatedAt       time.Time // the earlier one comes first
	Launches        bool      // best-effort-atomic: what it lacks is launched; else check-capacity
	Sets            []PodSet
	Provisioned     bool      // it had capacity for all its pods once
	BookedUntil     time.Time // that capacity is kept for its pods until then; zero: it is not Provisioned
	RetryAt         time.Time // no plan seeks its capacity before; zero: the next one does
	NotReady        string    // why none does for longer; empty: they do
	Consumers       []string  // names of pods of its namespace that consume it and wait, sorted
	Claims          []string  // NodeClaims that were launched for it, sorted
}

// PodSet is pods of a ProvisioningRequest with one template.
type PodSet struct {
	Shape *Shape // as if they were real ones; nil: it is not known
	Pods  int64
	Come  int64 // of them that were created
}

// ProvisioningRequestPodsMax is for how many pods of ProvisioningRequests one plan seeks capacity at most, so that
// one of them occupies no planner for long. Requests for more are refused.
const ProvisioningRequestPodsMax = 5000

// String prints "ProvisioningRequest default/train".
func (r *ProvisioningRequest) String() string {
	return "ProvisioningRequest " + r.Namespace + "/" + r.Name
}

// Books reports whether capacity is kept for its pods now, which no other pod may count on.
func (r *ProvisioningRequest) Books(now time.Time) bool {
	return r.Provisioned && now.Before(r.BookedUntil)
}

// Seeks reports whether a plan made now seeks its capacity.
func (r *ProvisioningRequest) Seeks(now time.Time) bool {
	return !r.Provisioned && r.NotReady == "" && !r.RetryAt.After(now)
}

// Total is how many pods it asks capacity for.
func (r *ProvisioningRequest) Total() (n int64) {
	for i := range r.Sets {
		n += r.Sets[i].Pods
	}
	return n
}

// Virtual returns the pods that have not come, as pods that wait. They have shapes of their own, and names that no real
// pod can have. No node with such a pod is disrupted as long as users may keep nodes.
func (r *ProvisioningRequest) Virtual() []Pod {
	var out []Pod
	for i := range r.Sets {
		set := &r.Sets[i]
		if set.Shape == nil {
			continue
		}
		shape := *set.Shape
		shape.Virtual = true
		for at := set.Come; at < set.Pods; at++ {
			name := fmt.Sprintf("%s/%d-%d", r.Name, i, at)
			out = append(out, Pod{
				Namespace: r.Namespace, Name: name, UID: "ProvisioningRequest/" + r.Namespace + "/" + name,
				Shape: &shape, Returns: true, Protection: Protection{DoNotDisrupt: true},
			})
		}
	}
	return out
}
