package main

import (
	"fmt"
	"os"

	"github.com/daemok/daemok/lab/component"
)

func main() {
	code, err := component.Run(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}
