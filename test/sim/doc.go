// Package sim is a discrete-event world round the core: virtual clock, seeded chance, faults, invariant
// checkers, cost meter. It has people who change what they want, a kube-scheduler, a cloud that is short of
// instances, slow or takes them back, and a controller that decides as the product does, carries moves out
// step by step, sees the world late, and dies.
//
// Everything is drawn from one seed, and equal seeds give equal stories to the
// byte. After every event it is asked what must never happen; the first answer
// that is wrong ends the run, with the snapshot that led to it as a story.
//
// It drives the core alone. How the product talks to an API server is for
// test/whole, how schedulers really choose for the lab.
package sim
