package state

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A scrape in the text format has what is gathered otherwise, label by label, and each metric in one piece.
func TestTextIsWhatIsGathered(t *testing.T) {
	odd := pod("odd", "n1", "1", metav1.OwnerReference{APIVersion: "v1", Kind: "Odd", Name: `a "quoted\ name` + "\n"})
	c := collector(t)
	if err := c.Store.(client.Client).Create(t.Context(), odd); err != nil {
		t.Fatal(err)
	}
	families, err := c.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var gathered, written bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&gathered, f); err != nil {
			t.Fatal(err)
		}
	}
	write, err := c.Text()
	if err == nil {
		err = write(&written)
	}
	if err != nil {
		t.Fatal(err)
	}
	want, got := strings.Split(gathered.String(), "\n"), strings.Split(written.String(), "\n")
	slices.Sort(want)
	metric, ended := "", map[string]bool{}
	for _, line := range got {
		if name, _, _ := strings.Cut(line, "{"); line != "" && !strings.HasPrefix(line, "#") && name != metric {
			if ended[name] {
				t.Errorf("%s is written in two pieces", name)
			}
			ended[metric], metric = true, name
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
