package plan

import "fmt"

// Requested is what becomes of a ProvisioningRequest: all of its pods have places or none has.
type Requested struct {
	Namespace, Name string
	Want            int64       // pods that it asks for and that have not come
	Booked          bool        // it has its capacity, which is kept; else it seeks it
	Places          []Placement // of its virtual pods
	Starting        int64       // of these, on instances whose launch is not known to have succeeded
	Missing         int64       // pods that no place was found for; the others have none either, unless it is Booked
	Reasons         []Reason    // why, as of pods without a place
	Waits           string      // why its capacity is neither kept nor sought; empty: it is
}

// String prints "ProvisioningRequest default/train: all 3 pods fit".
func (r *Requested) String() string {
	name, pods := fmt.Sprintf("%s %s/%s: ", KindRequest, r.Namespace, r.Name), counted(int(r.Want), "pod")
	switch {
	case r.Waits != "":
		return name + r.Waits
	case r.Booked && r.Want == 0:
		return name + "all its pods have come"
	case r.Booked && r.Missing > 0:
		return fmt.Sprintf("%scapacity for %d of %s is lost: %s", name, r.Missing, pods, r.Why())
	case r.Booked:
		return name + "capacity is kept for " + pods
	case r.Missing > 0:
		return fmt.Sprintf("%sno capacity for %d of %s, so none is taken: %s", name, r.Missing, pods, r.Why())
	case r.Starting > 0:
		return fmt.Sprintf("%scapacity for %s, %d of them on instances to be launched", name, pods, r.Starting)
	default:
		return name + "capacity for " + pods
	}
}

// Lacks says how much capacity there is not: "has no capacity for 2 of 3 pods".
func (r *Requested) Lacks() string {
	return fmt.Sprintf("has no capacity for %d of %s", r.Missing, counted(int(r.Want), "pod"))
}

// Why gives the reasons in one line of 1 KiB at most.
func (r *Requested) Why() string { return Unplaced{Reasons: r.Reasons}.Why() }

// Found reports whether the request, which sought capacity, has it for all its pods now, on nodes and on instances that
// were launched.
func (r *Requested) Found() bool {
	return r.Waits == "" && !r.Booked && r.Missing == 0 && r.Starting == 0
}
