// Command generate writes dashboards and rules to a given folder.
package main

import (
	"fmt"
	"os"

	"github.com/daemok/daemok/deploy/monitoring"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "generate: want the folder to write to")
		os.Exit(2)
	}
	if err := monitoring.Write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
