package autoscaler

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/cloud/nodegroup"
	"github.com/daemok/daemok/internal/story"
	"github.com/daemok/daemok/migrate/convert"
)

// Every file in testdata is one story: a sentence saying what must happen, the Deployment of
// a Cluster Autoscaler, groups as they were read from AWS, and what comes of them.
func TestStories(t *testing.T) {
	converter, err := convert.New()
	if err != nil {
		t.Fatal(err)
	}
	story.Each(t, "testdata", func(t *testing.T, files []txtar.File) {
		story.Expect(t, &files[2], report(t, converter, files[0].Data, files[1].Data))
	})
}

func report(t *testing.T, converter *convert.Converter, deployment, listed []byte) string {
	t.Helper()
	var d appsv1.Deployment
	if err := yaml.UnmarshalStrict(deployment, &d); err != nil {
		t.Fatal(err)
	}
	s, err := Read([]appsv1.Deployment{d})
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var all, groups []nodegroup.Group
	if err := yaml.UnmarshalStrict(listed, &all); err != nil {
		t.Fatal(err)
	}
	for _, g := range all {
		if s.Wants(g.Name, g.Tags) {
			groups = append(groups, g)
		}
	}
	r, err := Convert(s, groups, converter)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(r.YAML)
	for _, e := range r.Report {
		fmt.Fprintf(&b, "# %s -> %s\n", e.Object, strings.Join(e.Made, ", "))
		for _, f := range e.Findings {
			fmt.Fprintf(&b, "#   %s\n", f)
		}
	}
	return b.String() + "---plan\n" + r.Plan
}

// Which groups are scaled is said by name, or by tags that must all be there.
func TestWants(t *testing.T) {
	s := &Settings{Flags: map[string][]string{}}
	s.parse(strings.Fields("./cluster-autoscaler --nodes=1:5:mine -node-group-auto-discovery asg:tag=k8s.io/enabled,team=web --nodes=0:3:other"))
	for name, tt := range map[string]struct {
		tags map[string]string
		want bool
	}{
		"mine":       {nil, true},
		"other":      {nil, true},
		"tagged":     {map[string]string{"k8s.io/enabled": "", "team": "web"}, true},
		"half":       {map[string]string{"k8s.io/enabled": "yes"}, false},
		"other team": {map[string]string{"k8s.io/enabled": "yes", "team": "db"}, false},
	} {
		if got := s.Wants(name, tt.tags); got != tt.want {
			t.Errorf("Wants(%s, %v) = %t", name, tt.tags, got)
		}
	}
}

// EKS tags every managed node group for the Cluster Autoscaler, that of the controller too: one that is kept is neither
// converted nor emptied. Without one the report asks for it.
func TestAGroupThatIsKeptIsNotEmptied(t *testing.T) {
	converter, err := convert.New()
	if err != nil {
		t.Fatal(err)
	}
	groups := []nodegroup.Group{
		{Name: "eks-system-1", Managed: "system", Cluster: "c", Desired: 2, Types: []string{"m5.large"}, OnDemand: true, Images: "AL2023_x86_64_STANDARD", Role: "nodes", Subnets: []string{"subnet-1"}, SecurityGroups: []string{"sg-1"}},
	}
	for kept, want := range map[string]struct{ emptied, asks bool }{"": {true, true}, "system": {}, "eks-system-1": {}} {
		s := &Settings{Name: "ca", Flags: map[string][]string{}}
		if kept != "" {
			s.Kept = []string{kept}
		}
		r, err := Convert(s, groups, converter)
		if err != nil {
			t.Fatal(err)
		}
		asks := strings.Contains(fmt.Sprint(r.Report), "with --keep, for the controller")
		if emptied := strings.Contains(r.YAML+r.Plan, "system"); emptied != want.emptied || asks != want.asks {
			t.Errorf("with %q kept: emptied %v, asks %v; want %+v", kept, emptied, asks, want)
		}
	}
	if _, err := Convert(&Settings{Kept: []string{"platform"}}, groups, converter); err == nil || !strings.Contains(err.Error(), "--keep platform: the Cluster Autoscaler scales no group of that name; it scales system") {
		t.Errorf("with a group that is not there: %v", err)
	}
}
