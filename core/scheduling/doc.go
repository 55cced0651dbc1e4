// Package scheduling finds places for waiting pods on nodes and on instances that are being launched, by the rules of
// kube-scheduler, and leaves demand for the others: groups of pods with the offerings that they may be on.
//
//	target  a node or an instance that is being launched, with what is free there
//	site    the targets and the offering set in one domain of each key that rules look at
//	places  who has a place where, and what is free
//	claims  places on instances that an earlier plan launched for certain pods
//	price book  what instances for all pods of a group would cost, by site
//	asked   what a question about removal has beside a plan
package scheduling
