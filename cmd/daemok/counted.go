package main

import (
	"fmt"
)

// counted prints a number of things: "1 error", "2 errors".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
