package simulate_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/daemok/daemok/simulate"
)

func htmlOf(t *testing.T, r simulate.Report) string {
	t.Helper()
	var out strings.Builder
	if err := r.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The page shows what the table shows, a chart of each sort with a text alternative, and loads nothing.
func TestPageStandsAlone(t *testing.T) {
	report, err := simulate.Run(simulate.Options{Budget: "10%", Capacity: "on-demand", Source: simulate.Source{Services: shop(t), To: 3600}, Policies: []string{"untouched", "plain"}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(htmlOf(t, report), "ruptions") {
		t.Error("a page of a run on demand has a column of interruptions")
	}
	report.Spot, report.Of.Services = "interrupted 2 times an hour", "<b>shop & co</b>"
	page := htmlOf(t, report)
	for _, want := range []string{"&lt;b&gt;shop &amp; co", "7 pods in 1 h", ">untouched<", ">plain<", "only empty nodes go", "Cost per hour", "Pending pods", "0 to 3600", "Inter-<br>ruptions", "interrupted 2 times an hour", "lower bound of the cost: $",
		`<path class="curve bound" d="M52.0 `, "plain: mean $", "bound: mean $", ">60 min<", "prefers-color-scheme: dark"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if n := strings.Count(page, `role="img" aria-labelledby=`); n != 4 {
		t.Errorf("it has %d charts with a description, want 4", n)
	}
	for _, refused := range []string{"://", "<script", "<link", " src=", "@import", "url(", "NaN", "Inf", "ZgotmplZ"} {
		if strings.Contains(page, refused) {
			t.Errorf("the page has %q", refused)
		}
	}
	for _, number := range regexp.MustCompile(`V(-?[0-9.]+)`).FindAllStringSubmatch(page, -1) {
		if strings.HasPrefix(number[1], "-") {
			t.Errorf("a curve leaves its chart at the top: %s", number[0])
		}
	}
}
