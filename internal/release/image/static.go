package image

import (
	"debug/elf"
	"fmt"
	"os"
)

// static returns an error unless the program needs neither a loader nor a
// library: the image has none.
func static(program string) error {
	f, err := os.Open(program)
	if err != nil {
		return err
	}
	defer f.Close()
	read, err := elf.NewFile(f)
	if err != nil {
		return fmt.Errorf("read the program %s: %w", program, err)
	}
	for _, p := range read.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("the program %s is linked dynamically and the image has no libraries: build it with CGO_ENABLED=0", program)
		}
	}
	return nil
}
