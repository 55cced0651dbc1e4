// Command gen writes the files of deploy/aws that hold policies; run it there.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/daemok/daemok/deploy/aws"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write() error {
	files, err := aws.Files()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(files[name]), 0o644); err != nil { // files of the repository
			return err
		}
	}
	return writeTable()
}

// writeTable puts the table of statements into the guide.
func writeTable() error {
	guide, err := os.ReadFile(aws.Guide)
	if err != nil {
		return err
	}
	text, marked := aws.WithTable(string(guide))
	if !marked {
		return fmt.Errorf("%s lacks the lines that the table goes between", aws.Guide)
	}
	return os.WriteFile(aws.Guide, []byte(text), 0o644) // a file of the repository
}
