// Package scheduling places waiting pods on nodes and on instances that are being launched, by the
// rules of kube-scheduler. It leaves demand for the other pods: groups of pods with the offerings that
// they may be on.
//
//	target      a node or an instance that is being launched, with what is free there
//	site        the targets and the offering set in one domain of each key that rules look at
//	places      which pods have a place where, and what is free
//	claims      places on instances that an earlier plan launched for certain pods
//	asked       what a question about removal has besides a plan
package scheduling
