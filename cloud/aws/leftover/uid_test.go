package leftover

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
)

const pool = " karpenter.sh/nodepool=web"

// things finds what is left, or fails.
func (p *place) things(selected Selection) []Thing {
	p.t.Helper()
	p.Select(selected)
	found, err := p.Find(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

// Two clusters called old were made without EKS, and one of them lives: nothing goes before
// the UIDs of those that are gone are named.
func TestThingsOfSeveralClustersOfOneNameAreNotMixedUp(t *testing.T) {
	p := open(t, "old")
	const old = "kubernetes.io/cluster/old=owned" + pool
	p.instance(old + " daemok.sh/cluster-uid=uid-1")
	p.template("daemok.sh/a", old+" daemok.sh/cluster-uid=uid-1")
	p.instance(old + " daemok.sh/cluster-uid=uid-2")
	p.instance(old)
	p.wait()
	refused := func(selected Selection, words string) {
		t.Helper()
		things := p.things(selected)
		_, err := p.Remove(t.Context(), things, func(thing Thing, err error) { t.Errorf("touched %s: %v", thing, err) })
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("by %+v: %v; want an error with %q", selected, err, words)
		}
	}
	refused(Selection{}, "several clusters called old, by the tag daemok.sh/cluster-uid: uid-1 (2), uid-2 (1), none (1); one of them may live: name those that are gone: --uid UID")
	refused(Selection{UIDs: []string{"uid-2"}, Alive: Alive{"uid-2", "https://10.0.0.1"}}, "cluster UID uid-2 is that of the cluster at https://10.0.0.1, which answers")

	things := p.things(Selection{UIDs: []string{"uid-1", NoUID}, Alive: Alive{"uid-2", "https://10.0.0.1"}})
	if got := words(things); len(things) != 3 || !strings.Contains(got, "(m5.large, pool web, cluster UID uid-1)") || strings.Contains(got, "uid-2") {
		t.Errorf("selected are\n%s", got)
	}
	if failed, err := p.Remove(t.Context(), things, func(Thing, error) {}); failed > 0 || err != nil {
		t.Errorf("%d not removed: %v", failed, err)
	}
	p.wait()
	if got := p.things(Selection{}); len(got) != 1 || got[0].UID != "uid-2" {
		t.Errorf("left are\n%s", words(got))
	}
	refused(Selection{Alive: Alive{"uid-2", "https://10.0.0.1"}}, "which answers")
}

// A cluster was deleted and made again under its name: what the first one left is removed by
// its UID, beside the one that is there, whose own UID has to be known.
func TestLeftOversOfAClusterThatWasMadeAgain(t *testing.T) {
	p := open(t, "prod")
	const prod = "kubernetes.io/cluster/prod=owned" + pool
	p.instance(prod + " daemok.sh/cluster-uid=first")
	p.instance(prod + " daemok.sh/cluster-uid=second")
	p.instance(prod)
	p.wait()
	is, err := p.clients.EKS.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("prod")})
	if err != nil || aws.ToString(is.Cluster.Endpoint) == "" {
		t.Fatal(is, err)
	}
	alive := Alive{"second", aws.ToString(is.Cluster.Endpoint)}
	for words, selected := range map[string]Selection{
		"--uid UID":                          {Alive: alive},
		"have KUBECONFIG lead to it":         {UIDs: []string{"first"}},
		"KUBECONFIG lead to it, at https://": {UIDs: []string{"first"}, Alive: Alive{"third", "https://elsewhere"}},
		"--uid second is its own UID":        {UIDs: []string{"first", "second"}, Alive: alive},
		"what carries no UID may be its own": {UIDs: []string{"first", NoUID}, Alive: alive},
	} {
		p.Select(selected)
		if _, err := p.Find(t.Context()); err == nil || !strings.Contains(err.Error(), "cluster prod is still there") || !strings.Contains(err.Error(), words) {
			t.Errorf("by %+v: %v; want an error with %q", selected, err, words)
		}
	}
	things := p.things(Selection{UIDs: []string{"first"}, Alive: alive})
	if len(things) != 1 || things[0].UID != "first" {
		t.Fatalf("selected are\n%s", words(things))
	}
	if failed, err := p.Remove(t.Context(), things, func(Thing, error) {}); failed > 0 || err != nil {
		t.Errorf("%d not removed: %v", failed, err)
	}
}
