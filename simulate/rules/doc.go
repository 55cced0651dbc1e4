// Package rules holds the rules of Karpenter and Cluster Autoscaler as policies of simulations,
// written from their documentation alone.
//
// Each function returns a decider with a memory of its own, to be asked about snapshots of one cluster
// in the order of time. It carries nothing out: the simulated world carries out what it asks for, and
// re-checks every removal. core/feasibility and core/topology judge labels, taints, amounts, spreads
// and pod affinity, as for the product. Deciders take time to act as their documents say, as exactly
// as they are asked: a loop of 10 seconds runs when the snapshot that it is asked about is 10 seconds
// later than the last.
//
// These simplifications apply: PersistentVolumeClaims that several pods share count once for each pod,
// ReadWriteOncePod and the last ready pod of a Service do not count, and a pool's requirements on
// labels that no instance type has allow one value.
//
// A stricter rule of the simulated world takes precedence: pods that no controller would create again
// keep their node, and disruption budgets and freezes hold whichever autoscaler decides.
package rules
