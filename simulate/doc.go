// Package simulate runs a recorded workload in virtual time under several policies, and compares
// costs: `daemok simulate`.
//
// A workload is services whose replicas change and jobs, or single pods with fixed times, read from
// files of comma-separated values. An error in these names file, line and column, and then nothing is
// run. Every policy gets the same workload, the same instance types and the same random events; its
// cost is compared with a lower bound.
//
// It decides nothing and simulates nothing itself: package sim is the virtual world, and
// simulate/policy has the policies.
package simulate
