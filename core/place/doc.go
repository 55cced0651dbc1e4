// Package place finds a node for each pod that waits: existing nodes, instances that are being launched, new instances.
//
// It promises that every placement passes core/feasibility, that no limit of a pool is exceeded even within one answer,
// and that equal snapshots give equal answers. Which pod kube-scheduler binds where stays its own business.
//
// An answer is found in rounds. core/scheduling finds places on what is there and leaves demand; core/provisioning
// launches instances for it. Then all pods are placed once more in their order, with every instance of the plan there
// (replay), and those whose place breaks a rule wait for the next round. In the end instances are given up whose pods
// have room elsewhere (fold), pods that are left get instances of their own (rescue), and spot instances are launched as
// different instance types (diversify).
//
// The answer says which instances must open to pods together (opening), what instances must cost at least (prove, for
// clienteles: the pods on instances of one tier by what else they may be on), and what would have to be different for
// pods that are left (unplaced), which core/explanation puts into words.
package place
