// Package supply lists what each NodePool can launch now: offerings within limits and reservations,
// and what they cost. It also says what instances of each offering leave to pods, and what a launch
// leaves open to EC2.
//
//	candidate  a NodePool that instances may be launched from; its weight is its tier
//	option     one of its offerings with one instance type
//	ask        how some pods may use the pool; each way of it is one of the pod's alternatives
//	lot        a set of options that some ways allow; what can be said of it is found out once
//	region     options that are in the same domain of every key that matters
//	load       what one new instance is to hold, in parts, one for each group
//	choices    what a launch leaves open: instance types, zones, capacity types
//	frontier   the options to which none is preferable, see Frontier
//	common     what pools with the same options share within one decision
//	yield      worth of what an option holds, for its cost
package supply
