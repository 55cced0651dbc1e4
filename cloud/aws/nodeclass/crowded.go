package nodeclass

// Crowded reports the types that a class's maxPods lets run more pods than their network
// interfaces have single addresses for. The zero value is for none.
type Crowded struct {
	Types     int    // how many
	Of        int    // how many the class can become
	First     string // the first of them by name
	Pods      int64  // that it may run
	Addresses int64  // that it has for them
}
