package up

import (
	"strings"

	"github.com/daemok/daemok/lab/access"
	"github.com/daemok/daemok/lab/directory"
)

// The key of the account's owner, who may do everything.
const (
	ownerKey    = "LABLABLABLABLABLABLA"
	ownerSecret = "no-secret-the-lab-accepts-any-key"
)

// FolderVariable names the lab's folder to the verbs, where they are given none.
const FolderVariable = "LAB_DIR"

// variable is one line of lab.env.
type variable struct{ name, value string }

// environment is what points any program written for EKS at the lab.
func environment(d directory.Directory, i Identity, c access.Cluster) []variable {
	all := []variable{
		{"KUBECONFIG", d.Kubeconfig()},
		{"AWS_ENDPOINT_URL", loopback(i.Ports.AWS)},
		{"AWS_REGION", i.Region},
		{"AWS_DEFAULT_REGION", i.Region}, // where boto3 and the AWS CLI of version 1 read it
		{"AWS_ACCESS_KEY_ID", ownerKey},
		{"AWS_SECRET_ACCESS_KEY", ownerSecret},
		{"CLUSTER_NAME", i.ClusterName},
		{"CLUSTER_ENDPOINT", c.URL()},
		{"INTERRUPTION_QUEUE", i.ClusterName},
		{"LAB_AWS_CONTROL_URL", loopback(i.Ports.AWSControl)},
		{FolderVariable, d.Root()},
		{"CONTROLLER_AWS_ACCESS_KEY_ID", controllerKey},
	}
	if i.Install == AsProgram {
		all = append(all, variable{"CONTROLLER_KUBECONFIG", d.ControllerKubeconfig()})
	}
	return all
}

// shell writes the variables as a shell reads them.
func shell(variables []variable) []byte {
	var b strings.Builder
	for _, v := range variables {
		b.WriteString("export " + v.name + "='" + strings.ReplaceAll(v.value, "'", `'\''`) + "'\n")
	}
	return []byte(b.String())
}

// merged returns the environment base with the variables in place of its own.
// Of two variables of one name the later counts. Nothing else that speaks of
// AWS passes, so that no program in the lab ever meets a real account.
func merged(base []string, variables []variable) []string {
	set := map[string]int{}
	for i, v := range variables {
		set[v.name] = i
	}
	var all []string
	for _, line := range base {
		name, _, _ := strings.Cut(line, "=")
		if _, ours := set[name]; !ours && !strings.HasPrefix(name, "AWS_") {
			all = append(all, line)
		}
	}
	for i, v := range variables {
		if set[v.name] == i {
			all = append(all, v.name+"="+v.value)
		}
	}
	return all
}
