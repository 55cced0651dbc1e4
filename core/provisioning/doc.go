// Package provisioning launches instances for demand: for groups of waiting pods that no node has room for.
//
// It takes demand (groups of core/demand, hardest first) and supply (candidate pools of core/supply, heaviest first),
// and fills one instance after another by all rules; a Packer may choose many of them at once before.
//
//	outstanding     what is still to be launched for
//	worths          what resources are worth: dual prices of the least that instances for all that is left can cost
//	queues          groups by the resource that most of their worth is in, in the order in which instances are filled
//	exclusive set   groups of which no two can share an instance
//	component       groups that depend on each other, because pods of some must share a host with others
//	co-located set  the pods of a component that one instance is to have
//	errand          what the next instance is for: a pod, and its co-located set if it has one
//	tournament      finds the best instance type for an errand
//	filler          fills one instance
//	part            groups and the pools that none but they can use
//	batch           a part with its offerings, from which a Packer chooses instances together
//	lister          what a launch leaves open, and how that is written down
//	reservations    what is left of capacity reservations and placement groups
package provisioning
