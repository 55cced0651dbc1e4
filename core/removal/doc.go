// Package removal answers the question of disruption: if these nodes were removed, where would their pods go, and what
// would have to be launched for them?
//
// It promises to answer as core/place does for a snapshot in which these nodes are deleted, whichever questions were
// asked before, and in a time that depends on the size of the answer. It decides nothing: core/disruption does.
//
//	Simulator  answers many questions about one snapshot; an answer may be made true, so that later ones build on it
//	evaluator  one run of core/place that is used again for each question; there is one for each goroutine that asks
//	wholesale  what instances for some pods cost at least, to end a search early
//	Rehome     the last check before nodes are removed: nothing is launched, and pods must find room on nodes
package removal
