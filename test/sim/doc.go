// Package sim is a discrete-event simulation around the core: virtual clock, seeded randomness,
// faults, invariant checkers, cost meter. It has users who change what they want, a kube-scheduler, a
// cloud that has insufficient capacity, is slow or interrupts instances, and a controller that decides
// as the product does, carries moves out step by step, sees the world late, and crashes.
//
// Everything is drawn from one seed, and equal seeds give equal stories to the byte. After every event
// the simulation checks all invariants; the first violation ends the run, with the snapshot that led
// to it as a story.
//
// It uses the core alone. test/whole tests how the product uses an API server; the lab tests how a
// real kube-scheduler chooses.
package sim
