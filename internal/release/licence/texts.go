package licence

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Module is a module and what was found about its licence.
type Module struct {
	Path, Version string
	Files         []File
}

// Texts returns one document with the licences of all modules. A text that
// several modules have is there once, below all their names. Modules of which
// nothing was found are listed at its end.
func Texts(modules []Module) string {
	owners, unknown := map[string][]string{}, []string{}
	for _, m := range modules {
		name := strings.TrimSpace(m.Path + " " + m.Version)
		if len(m.Files) == 0 {
			unknown = append(unknown, name)
		}
		for _, f := range m.Files {
			text := strings.TrimSpace(f.Text)
			if !slices.Contains(owners[text], name) {
				owners[text] = append(owners[text], name)
			}
		}
	}
	for _, names := range owners {
		slices.Sort(names)
	}
	texts := slices.SortedFunc(maps.Keys(owners), func(a, b string) int {
		return cmp.Or(cmp.Compare(owners[a][0], owners[b][0]), cmp.Compare(a, b))
	})
	var out strings.Builder
	fmt.Fprintf(&out, "What is in these programs, and under which licences.\n")
	for _, text := range texts {
		fmt.Fprintf(&out, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(owners[text], "\n"), text)
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		unknown = slices.Compact(unknown)
		fmt.Fprintf(&out, "\n%s\nNo licence file was found for:\n%s\n", strings.Repeat("=", 80), strings.Join(unknown, "\n"))
	}
	return out.String()
}
