package main

import (
	"slices"
	"testing"
)

func TestLeadingFolder(t *testing.T) {
	tests := map[string]struct {
		args   []string
		folder string
		rest   []string
		fails  bool
	}{
		"no folder is the usual one":           {[]string{"get", "pods"}, ".lab", []string{"get", "pods"}, false},
		"a folder in two words":                {[]string{"--dir", "/d", "get", "pods"}, "/d", []string{"get", "pods"}, false},
		"a folder in one word":                 {[]string{"--dir=/d", "get"}, "/d", []string{"get"}, false},
		"a later --dir is kubectl's affair":    {[]string{"get", "--dir", "/d"}, ".lab", []string{"get", "--dir", "/d"}, false},
		"a folder that is not named fails":     {[]string{"--dir"}, "", nil, true},
		"nothing at all is kubectl's own help": {nil, ".lab", nil, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			folder, rest, err := leadingFolder(tt.args)
			if folder != tt.folder || !slices.Equal(rest, tt.rest) || (err != nil) != tt.fails {
				t.Errorf("leadingFolder(%q) = %q, %q, %v; want %q, %q, fails %v", tt.args, folder, rest, err, tt.folder, tt.rest, tt.fails)
			}
		})
	}
}
