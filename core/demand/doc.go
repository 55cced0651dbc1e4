// Package demand has the pods that wait for a node, in groups, and what they may be on.
//
//	group         waiting pods of one shape; while instances are launched, those of them that want one offering set
//	pod class     shapes under the same rules: they differ in amounts and priority alone (equivalence class)
//	level         a pod class with some of its preferences given way
//	follower      a pod class whose pods must be near certain others, and so come after them
//	offering set  the instances that can be launched in one domain of each key that rules look at
//	guests        what the pods on one instance hold beside amounts: ports, volumes, each other
package demand
