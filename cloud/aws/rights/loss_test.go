package rights

import (
	"strings"
	"testing"
)

// Each text of a single action is of one that a statement has, and says something of its own.
func TestWhatASingleActionIsLackedFor(t *testing.T) {
	grants := map[string]Grant{}
	for _, p := range Parts(Scope{Partition: "aws", Account: "123456789012", Region: "us-east-1", Cluster: "prod", Queue: "arn:aws:sqs:us-east-1:123456789012:prod", Features: Features()}) {
		for _, g := range p.Grants {
			for _, action := range g.Actions {
				grants[g.Sid+" "+action] = g
			}
		}
	}
	for of, loss := range losses {
		if g, is := grants[of]; !is || loss.Without == "" || loss.Without == g.Without {
			t.Errorf("%s: a statement has it: %t; without it: %q", of, is, loss.Without)
		}
	}
	for of, want := range map[string]Loss{
		"EndOwned ec2:TerminateInstances":    {"nodes are drained, but their instances keep running and cost money; NodeClaims stay in deletion", false},
		"EndOwned ec2:DeleteLaunchTemplate":  {"launch templates that are not used any more stay, and EC2NodeClasses stay in deletion", true},
		"ReadEC2 ec2:DescribeInstanceStatus": {"instances with failed status checks are not replaced", true},
	} {
		_, action, _ := strings.Cut(of, " ")
		if got := grants[of].Lacking(action); got != want {
			t.Errorf("without %s: %+v, want %+v", of, got, want)
		}
	}
}
