// Command folders writes the list of folders into docs/architecture.md; `make generate` runs it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/daemok/daemok/internal/tidy"
)

func main() {
	if err := write(os.Args[1], "docs/architecture.md"); err != nil {
		fmt.Fprintln(os.Stderr, "folders:", err)
		os.Exit(1)
	}
}

// write brings the list in a document of the checkout in dir up to date.
func write(dir, document string) error {
	file := filepath.Join(dir, document)
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := tidy.WithFolders(os.DirFS(dir), string(content))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
