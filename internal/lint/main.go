// Command lint runs the linters of `make lint` as a vet tool. go vet calls it for one package at a
// time, and caches the answer until the package changes. It answers at once for the thousands of
// packages that are not checked, and leaves the others to the program analyze beside it, which holds
// the linters and takes longer to start than most packages are worth.
//
// It promises that each finding names file, line, linter and rule. It holds no rule of its own: rules
// that only this repository has are in internal/tidy.
package main

import (
	"crypto/sha256"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"syscall"

	"github.com/daemok/daemok/internal/lint/unit"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("lint: ")
	if len(os.Args) < 2 {
		log.Fatal("go vet runs this program: make lint")
	}
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	analyze := filepath.Join(filepath.Dir(self), "analyze")
	switch last := os.Args[len(os.Args)-1]; last {
	case "-V=full":
		err = version(self, analyze)
	case "-flags":
		_, err = fmt.Println("[]")
	default:
		err = answer(last, analyze)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// version prints what go vet distinguishes builds of this program by: what one has said is not asked of it
// again.
func version(programs ...string) error {
	hash := sha256.New()
	for _, program := range programs {
		text, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		hash.Write(text)
	}
	_, err := fmt.Printf("lint version devel buildID=%x\n", hash.Sum(nil))
	return err
}

// answer writes facts and findings of the unit in a file, or becomes the program that does.
func answer(file, analyze string) error {
	u, err := unit.Read(file)
	if err != nil {
		return err
	}
	wanted, err := u.Wanted()
	if err != nil {
		return err
	}
	if wanted == unit.Nothing {
		return os.WriteFile(u.VetxOutput, nil, 0o666)
	}
	return syscall.Exec(analyze, []string{analyze, file}, os.Environ())
}
