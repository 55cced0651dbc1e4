// Program pack packages the Helm charts for a release, and makes the index of a repository that any
// web server can serve: `make release` calls it.
//
// It promises that the same charts with the same version and time make the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run() error {
	from := flag.String("from", "../charts", "folder with a folder for each chart")
	to := flag.String("to", "../dist/charts", "new folder for the packages")
	version := flag.String("version", "", "version of the release, with or without v")
	at := flag.String("at", "", "time that files in packages have, as of RFC 3339")
	flag.Parse()
	when, err := time.Parse(time.RFC3339, *at)
	if err != nil {
		return fmt.Errorf("-at is %q: want a time such as 2026-11-27T06:41:43Z", *at)
	}
	if *version == "" {
		return fmt.Errorf("say by -version which release the charts are of")
	}
	_, err = release{version: strings.TrimPrefix(*version, "v"), at: when.UTC()}.write(*from, *to)
	return err
}
