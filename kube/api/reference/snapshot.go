package main

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/scenario"
)

const snapshotPage = `# Snapshot files

<!-- Written by ` + "`make generate`" + `: edit the tables of core/scenario instead. -->

` + "`daemok snapshot`" + ` writes a [snapshot](../concepts/snapshot.md) as text, and ` + "`daemok plan --snapshot FILE`" + ` reads it. The stories of tests are in the same language.

Each line is about one thing and begins with a noun. What belongs to it follows on separate lines, which are usually indented. ` + "`#`" + ` begins a comment: the first line
says which version wrote the file, and one at the end that it is whole. A newer version reads what older ones wrote. If a file has words that your version does not know, the error names both versions. Values with
spaces or any of ` + "`\" = : , #`" + ` are quoted as in Go. Times are as in ` + "`2026-01-31T12:00:00Z`" + `, lengths of time as in ` + "`1m30s`" + `, prices are dollars an hour, and amounts
are as Kubernetes writes them. What is left out is zero, empty or false, unless its row says something else.

` + "```" + `
%s` + "```" + `

These are all lines. A word in capitals without a name before it has a fixed place, before the others. You may leave out words in brackets, and repeat words with dots.
The last column is what ` + "`daemok snapshot --redact`" + ` does to it. Equal names are replaced by equal ones; labels and taints of Kubernetes, Karpenter and AWS stay.
`

// linesPage describes the language of snapshots.
func linesPage() page {
	var out strings.Builder
	fmt.Fprintf(&out, snapshotPage, scenario.Example)
	for _, l := range scenario.Lines() {
		fmt.Fprintf(&out, "\n## %s\n\n%s", code(l.Nouns), l.Means)
		if l.Was != "" {
			fmt.Fprintf(&out, " Earlier releases wrote `%s`, which is still read.", l.Was)
		}
		if len(l.Below) > 0 {
			fmt.Fprintf(&out, " Below %s.", code(l.Below))
		}
		out.WriteByte('\n')
		switch {
		case l.Like != "":
			fmt.Fprintf(&out, "\nThe words are those of `%s`.\n", l.Like)
		case len(l.Facts) > 0:
			out.WriteString("\n| Word | Means | Redacted |\n|---|---|---|\n")
			for _, f := range l.Facts {
				fmt.Fprintf(&out, "| %s | %s | %s |\n", written(f), cell(f.Means), f.Redacted)
			}
		}
	}
	return page{"snapshot.md", out.String()}
}

// written is how a fact stands in a line.
func written(f scenario.Fact) string {
	if f.Word == "" {
		return f.Value
	}
	return "`" + f.Word + "`" + f.Value
}

func code(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }
