package changes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/ui/text"
)

// table is one with these titles. The cells of one that ends in > end in one line; those of one that ends in ~ go on
// below where there is no room.
func table(titles ...string) text.Table {
	out := text.Table{Indent: 2}
	for _, title := range titles {
		c := text.Column{Title: strings.TrimRight(title, ">~")}
		c.Right, c.Wraps = strings.HasSuffix(title, ">"), strings.HasSuffix(title, "~")
		out.Columns = append(out.Columns, c)
	}
	return out
}

func number(n int) text.Cell { return text.Say(text.Plain, "%d", n) }

// costs is a change of cost per hour.
func costs(p quantity.MicroUSDPerHour) text.Cell { return text.Cell{Text: change(p), Tone: toneOf(p)} }

// few names the first ones and counts the others.
func few(names []string, most int) string {
	if len(names) <= most+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func podName(p *cluster.Pod) string { return p.Namespace + "/" + p.Name }

// podNames are those of pods, in their order.
func podNames(pods []cluster.Pod) []string {
	out := make([]string, len(pods))
	for i := range pods {
		out[i] = podName(&pods[i])
	}
	return out
}

// group is things that are alike, in the order in which their first ones come.
type group[K comparable, T any] struct {
	key   K
	items []T
}

func grouped[K comparable, T any](items []T, key func(T) K) []group[K, T] {
	var out []group[K, T]
	at := map[K]int{}
	for _, x := range items {
		k := key(x)
		i, known := at[k]
		if !known {
			i = len(out)
			at[k] = i
			out = append(out, group[K, T]{key: k})
		}
		out[i].items = append(out[i].items, x)
	}
	return out
}

// byCount puts the largest groups first; others stay in their order.
func byCount[K comparable, T any](groups []group[K, T]) []group[K, T] {
	slices.SortStableFunc(groups, func(a, b group[K, T]) int { return cmp.Compare(len(b.items), len(a.items)) })
	return groups
}

// agreed is the word that agrees with a number.
func agreed(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}
