// Program stub has one module in it beside its own.
package main

import "golang.org/x/mod/semver"

func main() { println(semver.Canonical("v1")) }
