package stories_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// SC-638: The controller reads what the account is committed to. A pod gets the type that Reserved Instances pay for
// rather than a cheaper spot instance, which the next one gets; daemok cost says what commitments pay.
func TestCommitmentsOfTheAccount(t *testing.T) {
	t.Parallel()
	s := begin(t, ownLab(t, "--controller=false"))
	said := mustLab(t, 0, s.dir, "commit", "instances", "r5.large", "1").stdout
	id := strings.TrimSpace(said[strings.LastIndex(strings.TrimSpace(said), " ")+1:])
	s.run("reads-commitments", accountCommitments)
	s.pool("{disruption: {consolidateAfter: 5s, budgets: [{nodes: '100%'}]}, " + template(s.namespace,
		"{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, r5.large]}",
		"{key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}") + "}")
	s.workload("web", s.namespace, "1", 1)
	s.await("a pod to run", "v1/Pod", running(1))
	s.await("it to run on what is paid for", "v1/Node", s.ofType("r5.large"))
	if got := s.ofOption("on-demand"); len(got) != 1 {
		t.Errorf("on demand are %v, want the one node", got)
	}
	if got := s.costs(); !strings.Contains(got, "with commitments $0.288/h instead of $0.414/h") {
		t.Errorf("with Reserved Instances %s daemok cost says\n%s\nwant that they pay for one of four nodes", id, got)
	}
	s.workload("web", s.namespace, "1", 2)
	s.await("both pods to run", "v1/Pod", running(2))
	s.await("a node on demand and one on spot", "v1/Node", s.balanced(1, 1))
	s.nothingTwice()
}

// accountCommitments is the setting by which the account's commitments are read.
const accountCommitments = "ACCOUNT_COMMITMENTS=true"

// costs is what daemok cost says, with the setting and the lab's keys.
func (s *story) costs() string {
	s.Helper()
	command := controllerCommand(s.Context(), s.T, s.dir, accountCommitments)
	command.Path = program("daemok")
	command.Args = []string{"daemok", "cost", "--kubeconfig", filepath.Join(s.dir, "kubeconfig")}
	said, err := command.CombinedOutput()
	if err != nil {
		s.Fatalf("daemok cost: %v\n%s", err, said)
	}
	return string(said)
}
