// Package stories_test shows what users and operators see, in a lab: a real API server, scheduler and
// controller manager, an emulated AWS, and the real controller. Labs are at time scale 0. One lab
// serves most stories, side by side, each in a namespace of its own, where no story may affect
// another. Stories about the lab itself, and stories that disturb everything in it, start other labs.
//
// The programs come from the folder that DAEMOK_BIN names, or from the repository's bin; `make build`
// makes them.
package stories_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// The labs that stories share; they are started by the first story that asks.
var (
	shared = newLazyLab("--nodes=2")          // with the controller
	bare   = newLazyLab("--controller=false") // where nothing but Kubernetes acts
)

func TestMain(m *testing.M) {
	flag.Parse()
	if _, err := os.Stat(program("daemok-lab")); err != nil {
		fmt.Fprintf(os.Stderr, "the stories need the programs, run make build or set DAEMOK_BIN: %v\n", err)
		os.Exit(1)
	}
	code := m.Run()
	for _, l := range []*lazyLab{shared, bare} {
		if err := l.end(code == 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = cmp.Or(code, 1)
		}
	}
	os.Exit(code)
}

// program is the path of one of the repository's programs. It reads the sum of all of them, so that stories that have
// passed are remembered for no other programs: what is read before the tests begin counts for nothing.
func program(name string) string {
	os.Getenv("DAEMOK_SUM")
	folder, err := filepath.Abs(cmp.Or(os.Getenv("DAEMOK_BIN"), "../../bin"))
	if err != nil {
		panic(err)
	}
	return filepath.Join(folder, name)
}
