package commitment

// Room is what of one commitment no instance uses, in units of the commitment: see Takes.
type Room struct {
	ID   string
	Left int64
	All  int64 // with what is used by the instances that are given

	reserved *ReservedInstances // nil: it is of a Savings Plan
	plan     *SavingsPlan
}

// Rooms lists what the instances leave of each commitment, in the order given, Reserved Instances first. Cost: that of
// Divide.
func Rooms(c *Commitments, running []Usage) []Room {
	d := divide(c, running)
	out := make([]Room, 0, len(d.reserved)+len(d.plans))
	for i, left := range d.reserved {
		r := &c.Reserved[i]
		out = append(out, Room{ID: r.ID, Left: left, All: r.units(), reserved: r})
	}
	for i, left := range d.plans {
		p := &c.Plans[i]
		out = append(out, Room{ID: p.ID, Left: int64(left), All: int64(p.dollars()), plan: p})
	}
	return out
}

// ForAll reports whether it is of a Compute Savings Plan, which pays for instances of all types.
func (r *Room) ForAll() bool { return r.plan != nil && r.plan.Family == "" }

// Takes is how many units of the commitment cover one more such instance: quarters of normalized units, or instances
// where the size has no such factor; of a Savings Plan millionths of a dollar an hour. ok is false where it does not
// cover the instance.
func (r *Room) Takes(u Usage) (units int64, ok bool) {
	if r.plan != nil {
		rate, ok := r.plan.rate(&u)
		return max(1, int64(rate)), ok
	}
	if !r.reserved.mayPay(&u) {
		return 0, false
	}
	return weight(u.InstanceType), true
}
