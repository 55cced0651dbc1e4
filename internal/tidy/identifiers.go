package tidy

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Refused is a word that identifiers should not contain.
type Refused struct {
	Forms []string // in lower case, as they stand between two capitals: "guard" is in newGuardOf
	Say   string
	Most  int // identifiers that may still contain it; to be lowered as they are renamed
}

// CheckIdentifiers reports words that more identifiers of Go files contain than their Most, which names one of them,
// and those that fewer do: their Most is to be lowered, so that none comes back. Each name counts once, wherever
// it stands.
func CheckIdentifiers(root fs.FS, words []Refused) (found []Violation, err error) {
	names, err := identifiers(root)
	if err != nil {
		return nil, err
	}
	for _, w := range words {
		has := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return !slices.ContainsFunc(segments(name), func(s string) bool { return slices.Contains(w.Forms, s) })
		})
		switch word := w.Forms[0]; {
		case len(has) > w.Most:
			found = append(found, Violation{"Go files", fmt.Sprintf("have %d identifiers with %q, and may have %d; among them %s", len(has), word, w.Most, has[len(has)-1]), "say instead: " + w.Say})
		case len(has) < w.Most:
			found = append(found, Violation{"internal/tidy", fmt.Sprintf("allows %d identifiers with %q", w.Most, word), fmt.Sprintf("there are %d left: lower it", len(has))})
		}
	}
	return found, nil
}

// identifiers lists the names in all Go files, each once, sorted.
func identifiers(root fs.FS) ([]string, error) {
	seen := map[string]bool{}
	err := walk(root, func(name string, content []byte) error {
		if path.Ext(name) != ".go" {
			return nil
		}
		var s scanner.Scanner
		files := token.NewFileSet()
		s.Init(files.AddFile(name, -1, len(content)), content, nil, 0)
		for {
			_, tok, text := s.Scan()
			if tok == token.EOF {
				return nil
			}
			if tok == token.IDENT {
				seen[text] = true
			}
		}
	})
	var out []string
	for name := range seen {
		out = append(out, name)
	}
	slices.Sort(out)
	return out, err
}

// segments are the words of a name, in lower case: of newPDBOf these are new, pdb and of.
func segments(name string) (out []string) {
	r := []rune(name)
	start := 0
	for i := 1; i <= len(r); i++ {
		begins := i == len(r) || r[i] == '_' || unicode.IsUpper(r[i]) && (!unicode.IsUpper(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1]))
		if begins {
			out = append(out, strings.ToLower(strings.Trim(string(r[start:i]), "_")))
			start = i
		}
	}
	return out
}
