// Program release assembles the files that users download. Its input is programs that are already
// built: `make release` builds them and then calls it.
//
//	release version                              prints the version that the checkout would be released as
//	release assemble -version V -kubernetes V    completes the folder dist
//
// It needs git and Go, no container engine and no network.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/daemok/daemok/internal/release/licence"
	"github.com/daemok/daemok/internal/release/source"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run carries out one verb.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("say what to do: version or assemble")
	}
	flags := flag.NewFlagSet("release "+args[0], flag.ContinueOnError)
	a := assembly{out: out}
	flags.StringVar(&a.checkout, "checkout", ".", "folder of the checkout")
	flags.StringVar(&a.dist, "dist", "dist", "folder with the programs in bin/OS_ARCH, which gets all else")
	flags.StringVar(&a.kubernetes, "kubernetes", "", "version of Kubernetes that the checkout is tested with")
	builtAs := flags.String("version", "", "version that the programs were built as")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	var err error
	if a.source, err = source.Read(ctx, a.checkout); err != nil {
		return err
	}
	switch args[0] {
	case "version":
		fmt.Fprintln(out, a.source.Version)
		return nil
	case "assemble":
		if a.kubernetes == "" {
			return errors.New("say by -kubernetes which version of Kubernetes was tested with")
		}
		if *builtAs != a.source.Version {
			return fmt.Errorf("the programs were built as %q (-version) and the checkout is %s: it changed in between, make the release again", *builtAs, a.source.Version)
		}
		if a.finder, err = readFinder(ctx, a.checkout); err != nil {
			return err
		}
		return a.assemble()
	default:
		return fmt.Errorf("%s is neither version nor assemble", args[0])
	}
}

// readFinder asks Go where the code of modules lies.
func readFinder(ctx context.Context, checkout string) (licence.Finder, error) {
	printed, err := exec.CommandContext(ctx, "go", "env", "-json", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		return licence.Finder{}, fmt.Errorf("ask go where modules lie: %w", err)
	}
	var folders struct{ GOMODCACHE, GOROOT string }
	if err := json.Unmarshal(printed, &folders); err != nil {
		return licence.Finder{}, fmt.Errorf("read what go env printed: %w", err)
	}
	return licence.Finder{Cache: folders.GOMODCACHE, GoRoot: folders.GOROOT, Checkout: checkout}, nil
}
