package licence

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"),
to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense,
and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.
`

// cache lays out files as the module cache has them.
func cache(t *testing.T, files map[string]string) Finder {
	t.Helper()
	f := Finder{Cache: t.TempDir(), GoRoot: t.TempDir(), Checkout: t.TempDir()}
	for name, text := range files {
		name = strings.NewReplacer("GOROOT", f.GoRoot, "CHECKOUT", f.Checkout, "CACHE", f.Cache).Replace(name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestOf(t *testing.T) {
	tests := map[string]struct {
		path, version string
		file          string // the one in the cache
		text          string
		want          []string // name of the file, then licences; nil where nothing is found
	}{
		"a licence by its words":             {"example.com/a", "v1.0.0", "CACHE/example.com/a@v1.0.0/LICENSE", mit, []string{"LICENSE", "MIT"}},
		"capitals are escaped in the cache":  {"example.com/Big", "v1.0.0", "CACHE/example.com/!big@v1.0.0/LICENSE.md", mit, []string{"LICENSE.md", "MIT"}},
		"lines that end as on Windows":       {"example.com/a", "v1.0.0", "CACHE/example.com/a@v1.0.0/COPYING", strings.ReplaceAll(mit, "\n", "\r\n"), []string{"COPYING", "MIT"}},
		"a notice is kept and names none":    {"example.com/a", "v1.0.0", "CACHE/example.com/a@v1.0.0/NOTICE", "made by us", []string{"NOTICE"}},
		"a licence that nobody else has":     {"example.com/a", "v1.0.0", "CACHE/example.com/a@v1.0.0/LICENSE", "do what we say", []string{"LICENSE"}},
		"code is no licence":                 {"example.com/a", "v1.0.0", "CACHE/example.com/a@v1.0.0/license.go", mit, nil},
		"a licence that is a small part":     {"example.com/a", "v1.0.0", "CACHE/example.com/a@v1.0.0/LICENSE", mit + strings.Repeat("and other words ", 500), []string{"LICENSE"}},
		"another version is not looked at":   {"example.com/a", "v1.1.0", "CACHE/example.com/a@v1.0.0/LICENSE", mit, nil},
		"the standard library is Go's":       {Standard, "v1.26.8", "GOROOT/LICENSE", mit, []string{"LICENSE", "MIT"}},
		"the product's own":                  {Own, "v0.1.0", "CHECKOUT/LICENSE", mit, []string{"LICENSE", "MIT"}},
		"modules in the product's are its":   {Own + "/lab", "v0.1.0", "CHECKOUT/LICENSE", mit, []string{"LICENSE", "MIT"}},
		"a name that merely begins so isn't": {Own + "-else", "v0.1.0", "CHECKOUT/LICENSE", mit, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			files, err := cache(t, map[string]string{tt.file: tt.text}).Of(tt.path, tt.version)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range files {
				got = append(append(got, f.Name), f.IDs...)
				if strings.Contains(f.Text, "\r") {
					t.Errorf("%s ends lines as on Windows", f.Name)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("found %q; want %q", got, tt.want)
			}
		})
	}
}

func TestTheLicenceOfGoIsKnown(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := Finder{GoRoot: strings.TrimSpace(string(root))}.Of(Standard, "")
	if err != nil || len(files) == 0 {
		t.Skipf("this toolchain has no licence beside it: %v", err)
	}
	if !slices.Equal(files[0].IDs, []string{"BSD-3-Clause"}) {
		t.Errorf("Go is under %v; want BSD-3-Clause", files[0].IDs)
	}
}

func TestOfRefusesWhatIsNoModule(t *testing.T) {
	if _, err := (Finder{}).Of("../passwd", "v1.0.0"); err == nil {
		t.Error("a path that leads out of the cache is read")
	}
}

func TestTextsSaysEachOnce(t *testing.T) {
	shared := []File{{Name: "LICENSE", Text: "shared\n"}}
	got := Texts([]Module{
		{"example.com/b", "v1.0.0", shared}, {"example.com/none", "v3.0.0", nil}, {"example.com/a", "v2.0.0", []File{{Name: "LICENSE", Text: "own"}, {Name: "NOTICE", Text: "thanks"}}}, {"example.com/a/sub", "v2.0.0", shared},
	})
	rule := strings.Repeat("=", 80)
	want := "What is in these programs, and under which licences.\n" +
		"\n" + rule + "\nexample.com/a v2.0.0\n\nown\n" +
		"\n" + rule + "\nexample.com/a v2.0.0\n\nthanks\n" +
		"\n" + rule + "\nexample.com/a/sub v2.0.0\nexample.com/b v1.0.0\n\nshared\n" +
		"\n" + rule + "\nNo licence file was found for:\nexample.com/none v3.0.0\n"
	if got != want {
		t.Errorf("texts are\n%s\nwant\n%s", got, want)
	}
}
