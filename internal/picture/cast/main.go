// Command cast turns what script(1) recorded into a recording of asciinema's format, on standard output.
//
//	cast -title TITLE OUTPUT TIMING > FILE.cast
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/daemok/daemok/internal/picture"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "cast:", err)
		os.Exit(1)
	}
}

func run() error {
	c := picture.Cast{}
	flag.StringVar(&c.Title, "title", "", "what the recording shows")
	flag.IntVar(&c.Width, "columns", 80, "columns of the terminal")
	flag.IntVar(&c.Height, "lines", 40, "lines of the terminal")
	flag.Parse()
	if flag.NArg() != 2 {
		return fmt.Errorf("got %d arguments, want the files of output and timing", flag.NArg())
	}
	output, err := os.ReadFile(flag.Arg(0))
	if err != nil {
		return err
	}
	timing, err := os.ReadFile(flag.Arg(1))
	if err != nil {
		return err
	}
	made, err := picture.Typescript(string(output), string(timing), c)
	if err != nil {
		return err
	}
	return made.Write(os.Stdout)
}
