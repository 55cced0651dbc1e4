// Package place finds a node for each pending pod: existing nodes, instances being launched, new offerings.
//
// It promises that every placement passes core/feasibility, that no limit of a pool is
// exceeded even within one answer, and that equal snapshots give equal
// answers. New instances are chosen one after another (see pick) or, where a
// Packer is given, together (see launchTogether); either way each is filled here,
// by all rules. Which pod kube-scheduler binds where stays its own business.
//
// # How it goes, and the words for it
//
// An answer is found in rounds. In the first half of a round homes are sought:
//
//	waiter    a pod that needs a place
//	group     waiters of one shape
//	pod class       shapes under the same rules: they differ in amounts and priority alone
//	level     a pod class with some of its preferences given way
//	follower  a pod class whose pods must be near certain others, and so come after them
//	target      a node or an instance on order, with what is free there
//	guests    what the pods on one instance hold beside amounts: ports, volumes, each other
//	offering set    instances on sale in one domain of each key that rules look at; an offerings of a pool is
//	          one pool's part of it
//	site      the targets and the offering set in such a place
//
// In the second half instances are launched for the pods that found no target:
//
//	group       pods of one group that want one offering set: a group too, with its field of set
//	candidate     a pool while instances are launched from it; its weight is its tier
//	ask       how one group may use one pool; each way of it is one of the pod's alternatives
//	lot       a set of options that some ways allow; what can be said of it is found out once
//	region    options of a pool that are in the same domain of every key that matters
//	demand    what is still to be launched for
//	load      what one new instance is to hold, in parts, one for each group
//	errand    what the next instance is sought for: a pod, and its co-located set if it has one
//	component      groups that hang together, because pods of some must share a host with others
//	co-located set      the pods of a component that one instance is to have
//	exclusive set      groups of which no two can share an instance
//	side      groups whose worth is mostly in one resource; its queues are those of one exclusive set each
//	batch     groups and offerings that instances are chosen from together
//	listing   what an order leaves open, and how that is written down (choices)
//
// Then all pods are placed once more in their order, with every instance of the
// plan there (replay), and those whose place breaks a rule then wait for the
// next round. In the end the answer says which instances must open to pods
// together (opening), what instances must cost at least (prove, for a clientele:
// the pods on instances of one tier by what else they may be on), and what would
// have to be different for pods that are left (unplaced), which core/explanation
// puts into words.
package place
