// Package demand groups the pods that wait for a node, and says what each group may run on.
//
//	group         waiting pods of one shape; while instances are launched, those of them that want one offering set
//	pod class     shapes under the same rules: they differ only in amounts and priority (equivalence class)
//	level         a pod class with some of its preferences dropped
//	follower      a pod class whose pods must be near certain others, and so come after them
//	offering set  the instances that can be launched in one domain of each key that rules look at
//	guests        what the pods on one instance hold besides amounts: ports, volumes, each other
package demand
