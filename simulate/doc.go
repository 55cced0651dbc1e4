// Package simulate runs a recorded workload in virtual time under several policies, and compares costs:
// `daemok simulate`.
//
// A workload is services whose replicas change and jobs, or single pods with fixed times, read
// from files of comma-separated values. An error in these names file, line and column, and
// then nothing is run. Every policy meets the same workload, the same
// instance types and the same chance; what it costs is compared with a lower bound.
//
// It decides nothing and simulates nothing itself: the virtual world is sim, the policies are
// simulate/policy.
package simulate
