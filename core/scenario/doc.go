// Package scenario reads and prints snapshots as text: stories, bug reports, `daemok snapshot`.
//
// It promises that printing is complete and canonical: parsing what Print wrote gives an equal
// snapshot, and printing that gives the same bytes. Parse also reads shorter forms that people write.
// It decides nothing.
//
// A table of facts describes every line of the language once (see line and fact, and the files
// facts_*.go). Parse, Print and Redact are loops over these tables, and so is Lines, from which
// docs/reference/snapshot.md is made. A new fact of a pod is a field of cluster.Pod and a row of
// podFacts.
package scenario
