package tidy

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"testing/fstest"
)

func TestDocumentsSpeakTheWordsOfTheField(t *testing.T) {
	found, err := CheckWords(os.DirFS(root))
	none(t, found, err)
}

// The list of refused words itself is left out.
func TestTextsSpeakTheWordsOfTheField(t *testing.T) {
	found, err := CheckTexts(os.DirFS(root), "internal/tidy/words.go")
	none(t, found, err)
}

func TestReadmeIsShort(t *testing.T) {
	found, err := CheckLength(os.DirFS(root), "README.md", 120)
	none(t, found, err)
}

func TestCheckWordsFindsPlantedMistakes(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string // line and word
	}{
		"a refused word":                  {"Nodes are fine.\nA node is Retired.", []string{`a.md:2 says "retired"`}},
		"two words over two kinds":        {"It buys a machine.", []string{`a.md:1 says "buys"`, `a.md:1 says "machine"`}},
		"an article that was left behind": {"It launches a instance.", []string{`a.md:1 says "a instance"`}},
		"an API version without its name": {"Objects of the older kind.", []string{`a.md:1 says "older kind"`}},
		"a word in a heading":             {"# What nobody needs", []string{`a.md:1 says "nobody"`}},
		"the text of a link":              {"[Machines](instances.md)", []string{`a.md:1 says "machines"`}},
		"a longer word has no other":      {"A machinery of kindness, guarded at restart.", nil},
		"the target of a link":            {"[Instances](machine.md)", nil},
		"code cites":                      {"`daemok.sh/machine-cost` and ``a ` machine``", nil},
		"a fence cites":                   {"```\na machine\n```\nAn instance.", nil},
		"after a fence prose goes on":     {"```\nx\n```\nA machine.", []string{`a.md:4 says "machine"`}},
		"a quotation cites":               {`It says "machine".`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := CheckWords(fstest.MapFS{"a.md": {Data: []byte(tt.text)}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range found {
				got = append(got, fmt.Sprint(v.Where, " ", v.What))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCheckHelpTakesNamesOfFlagsForNoWords(t *testing.T) {
	found := CheckHelp("x --help", "--machine-cost: what\nzone and machine-cost\na machine")
	if len(found) != 1 || found[0].Where != "x --help:3" {
		t.Errorf("found %v, want one in line 3", found)
	}
}

func TestCheckTextsReadsSentencesAlone(t *testing.T) {
	const source = "package p\n\nvar a, b, c, d = \"machine\", \"machine-cost=1 is right\", \"the machine\", \"it has \" + \"no machine\"\n"
	found, err := CheckTexts(fstest.MapFS{"a.go": {Data: []byte(source)}, "a_test.go": {Data: []byte(source)}, "lab/a.go": {Data: []byte(source)}}, "lab")
	if err != nil || len(found) != 3 { // the last one as a sum, and its part
		t.Errorf("found %v, %v; want three in a.go", found, err)
	}
}

func TestALongDocumentIsReported(t *testing.T) {
	found, err := CheckLength(fstest.MapFS{"a.md": {Data: []byte("1\n2\n3\n")}}, "a.md", 2)
	if err != nil || len(found) != 1 {
		t.Errorf("found %v, %v; want one", found, err)
	}
}
