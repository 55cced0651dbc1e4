// Package place finds homes for waiting pods: on nodes that exist, on
// machines that are already ordered, and on new machines.
//
// It promises that every placement passes core/feasibility, that no limit of a pool is
// exceeded even within one answer, and that equal snapshots give equal
// answers. New machines are chosen one after another (see pick) or, where a
// Packer is given, together (see buyTogether); either way each is filled here,
// by all rules. Which pod kube-scheduler binds where stays its own business.
//
// # How it goes, and the words for it
//
// An answer is found in rounds. In the first half of a round homes are sought:
//
//	waiter    a pod that needs a place
//	group     waiters of one shape
//	kin       shapes under the same rules: they differ in amounts and priority alone
//	level     a kin with some of its preferences given way
//	follower  a kin whose pods must be near certain others, and so come after them
//	seat      a node or a machine on order, with what is free there
//	guests    what the pods on one machine hold beside amounts: ports, volumes, each other
//	market    machines on sale in one domain of each key that rules look at; a stall is
//	          one pool's part of it
//	site      the seats and the market in such a place
//
// In the second half machines are bought for the pods that found no seat:
//
//	row       pods of one group that want one market: a group too, with its field of set
//	buyer     a pool while machines are bought from it; its weight is its tier
//	ask       how one row may use one pool; each way of it is one of the pod's alternatives
//	lot       a set of options that some ways allow; what can be said of it is found out once
//	region    options of a pool that are in the same domain of every key that matters
//	demand    what is still to be bought for
//	load      what one new machine is to hold, in parts, one for each row
//	errand    what the next machine is sought for: a pod, and its crew if it has one
//	bond      rows that hang together, because pods of some must share a host with others
//	crew      the pods of a bond that one machine is to have
//	clan      rows of which no two can share a machine
//	side      rows whose worth is mostly in one resource; its lanes are those of one clan each
//	batch     rows and offers that machines are chosen from together
//	listing   what an order leaves open, and how that is written down (choices)
//
// Then all pods are placed once more in their order, with every machine of the
// plan there (replay), and those whose place breaks a rule then wait for the
// next round. In the end the answer says which machines must open to pods
// together (opening), what machines must cost at least (prove, for a clientele:
// the pods on machines of one tier by what else they may be on), and what would
// have to be different for pods that are left (unplaced), which core/explanation
// puts into words.
package place
