// Package rules holds the policies of other autoscalers, as they are documented, for comparison in
// simulations. They are Karpenter's and Cluster Autoscaler's. Both are written from documentation alone.
//
// Each function returns a decider with a memory of its own, to be asked about
// snapshots of one cluster in the order of time. It carries nothing out: what it
// asks for is carried out by the world that asks it, which re-checks every removal.
// Labels, taints, amounts, spreads and pod affinity are judged by core/feasibility and
// core/topology, as for the product. Deciders take time to act as their documents
// say, as exactly as they are asked: a loop of 10 seconds runs when the snapshot
// asked about is 10 seconds younger.
//
// What is left out: PersistentVolumeClaims that several pods share count once for
// each pod, ReadWriteOncePod and the last ready pod of a Service do not count, and a pool's
// requirements on labels that no instance type has allow one value.
//
// Where a rule of the simulated world is stricter, it counts: pods that no
// controller would create again keep their node, and disruption budgets and freezes
// hold whichever autoscaler decides.
package rules
