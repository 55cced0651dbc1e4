// Package whole tests all loops together over an API server and a cloud in memory, in virtual time,
// with crashes and faults.
//
// It holds only tests. After each story they check what the product promises: every pod runs, every
// instance has its claim, nothing was launched twice and, once nothing is wanted any more, nothing is
// left. During a storm of faults, promises checks its invariants at every moment.
package whole
