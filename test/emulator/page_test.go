package emulator

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// rows are the lines of the page's tables, by cell.
func rows(t *testing.T) (all [][]string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/development/aws-emulator.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(strings.TrimSpace(line), "|"); len(cells) == 5 {
			all = append(all, cells[1:4])
		}
	}
	return all
}

var testName = regexp.MustCompile(`\bTest\w+`)

// Every promise of the page names tests, and they are there.
func TestEveryPromiseOfThePageHasATest(t *testing.T) {
	have := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	for _, folder := range []string{"..", "../../cloud"} {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			content, err := os.ReadFile(path)
			for _, m := range declared.FindAllStringSubmatch(string(content), -1) {
				have[m[1]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	items, named := map[string]bool{}, 0
	for _, row := range rows(t) {
		item := strings.TrimSpace(row[0])
		tests := testName.FindAllString(row[2], -1)
		items[item] = items[item] || len(tests) > 0
		for _, name := range tests {
			named++
			if !have[name] {
				t.Errorf("item %s: %s names %s, which no test below test or cloud is", item, strings.TrimSpace(row[1]), name)
			}
		}
	}
	for n := 1; n <= 14; n++ {
		if !items[fmt.Sprint(n)] {
			t.Errorf("the page says nothing of item %d", n)
		}
	}
	if named < 40 {
		t.Errorf("the page names %d tests: its tables were not read", named)
	}
}

// Every service that answers has a row.
func TestEveryServiceIsOnThePage(t *testing.T) {
	names := map[string]string{
		wire.EC2: "", wire.IAM: "IAM", wire.SSM: "SSM", wire.SQS: "SQS", wire.Events: "EventBridge", wire.EKS: "EKS", wire.EKSAuth: "EKS Auth", wire.Pricing: "Pricing",
		wire.Quotas: "Service Quotas", wire.FIS: "FIS", wire.STS: "STS", wire.ELB: "Load balancing", wire.ARC: "ARC",
		wire.Scaling: "Auto Scaling", wire.Savings: "Savings Plans",
	}
	said := map[string]bool{"": true} // EC2 is what the first table is about
	for _, row := range rows(t) {
		said[strings.TrimSpace(row[0])] = true
	}
	for service := range New(world.Options{}).tables {
		if name, known := names[service]; !known || !said[name] {
			t.Errorf("service %s (%q) has no row on docs/development/aws-emulator.md", service, name)
		}
	}
}
