package main

import "slices"

// Rules is the table of what is switched off, in the order of the core's
// folders. A new rule of the core gets a line here, and a story that needs it.
func Rules() []Rule {
	return slices.Concat(fitRules(), aboutOtherPods(), placeRules(), packRules(), groundRules(), disruptionRules())
}
