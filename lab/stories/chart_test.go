package stories_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// The guide to installation, and what it says of upgrades and of going away, run as they are
// written, from the repository's folder, in a cluster of the name that they use.
func TestTheGuideToInstallation(t *testing.T) {
	t.Parallel()
	s := begin(t, ownLab(t, "--install=none", "--cluster-name=my-cluster"))
	g := guideAt(t, "tasks/install.md")
	s.sh(g.under("The controller's role")[0])
	for _, block := range g.under("Install") {
		s.sh(block)
	}
	s.start(s.filled("getting-started"))
	s.await("the guide's pods to run", "v1/Pod", of("inflate", running(5)))
	before := s.lives()

	if said := s.helmFails("install", "again", "charts/daemok", "--namespace", s.namespace, "--skip-crds", "--set", "settings.clusterName=my-cluster"); !strings.Contains(said, "kube-system/karpenter") {
		t.Errorf("a second release in the cluster is refused with %q, want the name of the first", said)
	}
	for _, block := range g.under("Upgrade") {
		s.sh(block)
	}
	if now := s.lives(); now != before {
		t.Errorf("after the upgrade there are\n%s\nbefore there were\n%s", now, before)
	}

	for _, block := range g.under("Uninstall") {
		s.sh(block)
	}
	if left := poolInstances(s.T, s.dir, "default"); len(left) > 0 {
		t.Errorf("machines %s are left", describeInstances(left))
	}
	mustKubectl(t, s.dir, "get", "crd", "nodepools.karpenter.sh", "provisioners.karpenter.sh")
	if left := mustKubectl(t, s.dir, "get", "deployments,serviceaccounts,services,clusterroles", "-A", "-l", "app.kubernetes.io/instance=karpenter", "-o", "name"); left != "" {
		t.Errorf("after the release was uninstalled there are\n%s", left)
	}
}

// A role that trusts the chart's service account by IRSA, then one that trusts another, then the first again.
func TestTheChartByIRSA(t *testing.T) {
	t.Parallel()
	values := filepath.Join(t.TempDir(), "values.yaml")
	write(t, values, `
serviceAccount: {annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::123456789012:role/lab-karpenter"}}
admissionPolicy: {enabled: true}
logLevel: debug
`)
	s := begin(t, ownLab(t, "--install=chart", "--values="+values))
	const secret = "what-only-machines-may-read"
	s.class(s.namespace, `userData: "#!/bin/bash\necho `+secret+`\n"`)
	s.poolOf(s.namespace, s.namespace, "")
	s.workload("one", s.namespace, "1", 1)
	s.await("a pod to run", "v1/Pod", of("one", running(1)))

	s.tenantsKeepOffClaims()
	s.changesOnlyDeletionCosts()
	client := iam.NewFromConfig(s.owner())
	role, err := client.GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("lab-karpenter")})
	if err != nil {
		t.Fatal(err)
	}
	trust := func(document string) {
		t.Helper()
		if _, err := client.UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{RoleName: aws.String("lab-karpenter"), PolicyDocument: &document}); err != nil {
			t.Fatal(err)
		}
	}
	right, err := url.QueryUnescape(*role.Role.AssumeRolePolicyDocument)
	if err != nil {
		t.Fatal(err)
	}
	trust(strings.ReplaceAll(right, "system:serviceaccount:kube-system:karpenter", "system:serviceaccount:karpenter:karpenter"))
	mustKubectl(t, s.dir, "-n", "kube-system", "rollout", "restart", "deployment/karpenter")
	s.awaitLog("Not authorized to perform sts:AssumeRoleWithWebIdentity")
	trust(right)
	mustKubectl(t, s.dir, "-n", "kube-system", "rollout", "status", "deployment/karpenter", "--timeout=180s")
	s.workload("two", s.namespace, "1", 5)
	s.await("more pods to run", "v1/Pod", of("two", running(5)))
	for _, hidden := range []string{secret, "eyJ", "ASIA"} { // eyJ begins a token, ASIA a temporary key
		if bytes.Contains(s.podLogs(), []byte(hidden)) {
			t.Errorf("a log has %s", hidden)
		}
	}
}

// tenantsKeepOffClaims: with the chart's admission policy, a user who may write NodeClaims and not
// NodePools cannot change one, but delete it; nor can another service account of kube-system.
func (s *story) tenantsKeepOffClaims() {
	s.Helper()
	const addon = "system:serviceaccount:kube-system:addon"
	mustKubectl(s.T, s.dir, "create", "clusterrole", "claims-only", "--verb=get,list,update,patch,delete", "--resource=nodeclaims.karpenter.sh")
	mustKubectl(s.T, s.dir, "create", "clusterrolebinding", "claims-only", "--clusterrole=claims-only", "--user=tenant", "--serviceaccount=kube-system:addon")
	claim := inPool(s.list(claims), s.namespace)[0].GetName()
	const key = "karpenter.sh/do-not-disrupt=true"
	for _, user := range []string{"tenant", addon} {
		if got := mustLab(s.T, 1, s.dir, "kubectl", "--as="+user, "annotate", "nodeclaim", claim, key); !strings.Contains(got.stderr, "change the NodePool instead") {
			s.Errorf("%s, who changes a NodeClaim, is refused with %q", user, got.stderr)
		}
	}
	mustKubectl(s.T, s.dir, "annotate", "nodeclaim", claim, key)
	mustKubectl(s.T, s.dir, "annotate", "nodeclaim", claim, "karpenter.sh/do-not-disrupt-")
	mustKubectl(s.T, s.dir, "--as=tenant", "delete", "nodeclaim", claim)
	s.await("its pod to run", "v1/Pod", of("one", running(1)))
}

// Settings are changed and changed back while pods come and go, and then the leader is killed:
// every pod runs, nothing is launched twice, and the other replica plans in the dead one's place.
func TestTheChartRollsUnderLoad(t *testing.T) {
	t.Parallel()
	s := begin(t, ownLab(t, "--install=chart"))
	s.pool("")
	load := func(name string) {
		t.Helper()
		s.workload(name, s.namespace, "1", 8)
	}
	done := func(name string) {
		t.Helper()
		s.await("pods of "+name+" to run", "v1/Pod", of(name, running(8)))
	}
	chart := filepath.Join(s.dir, "charts", "daemok")
	upgrade := []string{"--namespace", "kube-system", "--skip-crds", "--reset-then-reuse-values", "--wait"}
	load("before")
	s.helm(append([]string{"upgrade", "karpenter", chart, "--set", "logLevel=debug"}, upgrade...)...)
	load("during")
	s.helm("rollback", "karpenter", "1", "--namespace", "kube-system", "--wait")
	load("after")
	for _, name := range []string{"before", "during", "after"} {
		done(name)
	}
	if got := mustKubectl(t, s.dir, "-n", "kube-system", "get", "pods", "-l", "app.kubernetes.io/instance=karpenter", "-o", "jsonpath={.items[*].spec.containers[*].env[?(@.name=='LOG_LEVEL')].value}"); got != "" {
		t.Errorf("after the rollback the pods have LOG_LEVEL=%s", got)
	}
	s.nothingTwice()

	leader, pid := s.leader()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	died := time.Now()
	load("orphaned")
	done("orphaned")
	t.Logf("8 pods that came after the leader %s was killed run %.1f s after its death", leader, time.Since(died).Seconds())
	s.nothingTwice()
	if restarts := mustKubectl(t, s.dir, "-n", "kube-system", "get", "pod", leader, "-o", "jsonpath={.status.containerStatuses[0].restartCount} {.status.containerStatuses[0].lastState.terminated.exitCode}"); restarts != "1 137" {
		t.Errorf("the killed pod tells of restarts and exit code %q, want 1 137", restarts)
	}
}

// Values written for Karpenter 0.27 and its Provisioners.
func TestTheChartTakesValuesOf027(t *testing.T) {
	t.Parallel()
	s := begin(t, ownLab(t, "--install=none"))
	values := filepath.Join(t.TempDir(), "values.yaml")
	write(t, values, `
replicas: 1
settings:
  aws: {clusterName: lab, clusterEndpoint: "`+environment(t, s.dir)["CLUSTER_ENDPOINT"]+`", defaultInstanceProfile: KarpenterNodeInstanceProfile-lab, interruptionQueueName: lab}
  featureGates: {driftEnabled: true}
`)
	s.associate("karpenter", "karpenter", *s.controllerRole().Arn)
	s.helm("install", "karpenter-crd", "charts/daemok-crd", "--namespace", "karpenter", "--create-namespace")
	said := s.helm("install", "karpenter", "charts/daemok", "--namespace", "karpenter", "--skip-crds", "--values", values, "--wait")
	if !strings.Contains(said, "settings.aws.interruptionQueueName: use settings.interruptionQueue") {
		t.Errorf("the notes do not say what to use instead of older values:\n%s", said)
	}
	s.apply(`
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: older}
spec:
  subnetSelector: {karpenter.sh/discovery: lab}
  securityGroupSelector: {karpenter.sh/discovery: lab}
---
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: older}
spec: {providerRef: {name: older}, ttlSecondsAfterEmpty: 30}
`)
	s.apply(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: older}
spec:
  replicas: 3
  selector: {matchLabels: {app: older}}
  template:
    metadata: {labels: {app: older}}
    spec:
      nodeSelector: {karpenter.sh/provisioner-name: older}
      containers: [{name: c, image: pause, resources: {requests: {cpu: "1"}}}]
`)
	s.await("pods of the older generation to run", "v1/Pod", running(3))
}

// What is wrong with an installation is reported where its user looks.
func TestTheChartInTrouble(t *testing.T) {
	t.Parallel()
	values := filepath.Join(t.TempDir(), "values.yaml")
	write(t, values, `{replicas: 1, settings: {interruptionQueue: in-another-region}}`)
	s := begin(t, ownLab(t, "--install=chart", "--values="+values))
	s.awaitLog("in-another-region")
	client := iam.NewFromConfig(s.owner())
	attached, err := client.ListAttachedRolePolicies(t.Context(), &iam.ListAttachedRolePoliciesInput{RoleName: aws.String("lab-karpenter")})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range attached.AttachedPolicies {
		if strings.Contains(*p.PolicyName, "NodeLifecycle") {
			if _, err := client.DetachRolePolicy(t.Context(), &iam.DetachRolePolicyInput{RoleName: aws.String("lab-karpenter"), PolicyArn: p.PolicyArn}); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.pool("")
	s.workload("one", s.namespace, "1", 1)
	s.awaitLog("ec2:CreateFleet")
	if said := s.helmFails("upgrade", "karpenter", "charts/daemok", "--namespace", "kube-system", "--skip-crds", "--reuse-values", "--set", "settings.interuptionQueue=lab"); !strings.Contains(said, "did you mean settings.interruptionQueue?") {
		t.Errorf("a value that does not exist is refused with %q", said)
	}
}

// write writes a file of a test.
func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// repository is the folder that guides are read in.
func repository() string {
	folder, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return folder
}

// helm runs Helm in the lab, from the repository's folder, and returns what it says.
func (s *story) helm(args ...string) string {
	s.Helper()
	said, err := s.runHelm(args)
	if err != nil {
		s.Fatalf("helm %s: %v\n%s\nlogs are in %s", strings.Join(args, " "), err, said, filepath.Join(s.dir, "logs"))
	}
	return said
}

// helmFails runs Helm where it must refuse, and returns what it says.
func (s *story) helmFails(args ...string) string {
	s.Helper()
	said, err := s.runHelm(args)
	if err == nil {
		s.Errorf("helm %s went well, want it refused:\n%s", strings.Join(args, " "), said)
	}
	return said
}

func (s *story) runHelm(args []string) (string, error) {
	ctx, cancel := context.WithTimeout(s.Context(), labWithin)
	defer cancel()
	command := labCommand(ctx, s.dir, "helm", args...)
	command.Dir = repository()
	said, err := command.CombinedOutput()
	return string(said), err
}

// leader returns the pod that leads, and its process.
func (s *story) leader() (pod string, pid int) {
	s.Helper()
	holder := mustKubectl(s.T, s.dir, "-n", "kube-system", "get", "lease", "karpenter-leader-election", "-o", "jsonpath={.spec.holderIdentity}")
	pod, _, _ = strings.Cut(holder, "_")
	for _, found := range componentLine.FindAllStringSubmatch(mustLab(s.T, 0, s.dir, "status").stdout, -1) {
		if found[1] == pod {
			pid, _ = strconv.Atoi(found[2])
			return pod, pid
		}
	}
	s.Fatalf("no process is that of the leader %s", holder)
	return "", 0
}

// awaitLog waits until a pod of the chart says the words.
func (s *story) awaitLog(words string) {
	s.Helper()
	if !poll(limit, farEvery, func() bool { return bytes.Contains(s.podLogs(), []byte(words)) }) {
		s.Fatalf("no pod says %q, but\n%s", words, s.podLogs())
	}
}

// podLogs is all that pods of the chart have printed.
func (s *story) podLogs() (all []byte) {
	files, _ := filepath.Glob(filepath.Join(s.dir, "logs", "pods", "*.log"))
	for _, f := range files {
		content, _ := os.ReadFile(f)
		all = append(all, content...)
	}
	return all
}

// owner asks the emulated account as its owner.
func (s *story) owner() aws.Config {
	s.Helper()
	c, _ := awsOf(s.T, s.dir)
	return c
}

// associate gives a service account a role by Pod Identity.
func (s *story) associate(namespace, account, roleARN string) {
	s.Helper()
	cluster := environment(s.T, s.dir)["CLUSTER_NAME"]
	_, err := eks.NewFromConfig(s.owner()).CreatePodIdentityAssociation(s.Context(), &eks.CreatePodIdentityAssociationInput{
		ClusterName: &cluster, Namespace: &namespace, ServiceAccount: &account, RoleArn: &roleARN,
	})
	if err != nil {
		s.Fatal(err)
	}
}

// controllerRole is the role that the lab's account has for the controller.
func (s *story) controllerRole() types.Role {
	s.Helper()
	name := environment(s.T, s.dir)["CLUSTER_NAME"] + "-karpenter"
	role, err := iam.NewFromConfig(s.owner()).GetRole(s.Context(), &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		s.Fatal(err)
	}
	return *role.Role
}

// roleLike creates a role that is called as a guide calls its own, in the lab's account, with the trust
// and the rights of the lab's own for the controller, and returns its ARN.
func (s *story) roleLike(guide string) string {
	s.Helper()
	_, name, found := strings.Cut(guide, ":role/")
	if !found {
		s.Fatalf("%q is not the ARN of a role", guide)
	}
	client, own := iam.NewFromConfig(s.owner()), s.controllerRole()
	trust, err := url.QueryUnescape(*own.AssumeRolePolicyDocument)
	if err != nil {
		s.Fatal(err)
	}
	created, err := client.CreateRole(s.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust})
	if err != nil {
		s.Fatal(err)
	}
	attached, err := client.ListAttachedRolePolicies(s.Context(), &iam.ListAttachedRolePoliciesInput{RoleName: own.RoleName})
	if err != nil {
		s.Fatal(err)
	}
	for _, p := range attached.AttachedPolicies {
		if _, err := client.AttachRolePolicy(s.Context(), &iam.AttachRolePolicyInput{RoleName: &name, PolicyArn: p.PolicyArn}); err != nil {
			s.Fatal(err)
		}
	}
	return *created.Role.Arn
}

// commands are those of a document.
type commands struct {
	t    *testing.T
	file string
	text string
}

func guideAt(t *testing.T, file string) commands {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository(), "docs", file))
	if err != nil {
		t.Fatal(err)
	}
	return commands{t, file, string(content)}
}

var fenced = regexp.MustCompile("(?ms)^```(?:sh|bash|console)?\n(.*?)^```$")

// under returns the blocks of commands under a heading, up to the next one.
func (g commands) under(heading string) (blocks []string) {
	g.t.Helper()
	_, rest, found := strings.Cut(g.text, "# "+heading+"\n")
	if !found {
		g.t.Fatalf("%s has no heading %q", g.file, heading)
	}
	if i := regexp.MustCompile(`(?m)^#+ `).FindStringIndex(rest); i != nil {
		rest = rest[:i[0]]
	}
	for _, b := range fenced.FindAllStringSubmatch(rest, -1) {
		blocks = append(blocks, b[1])
	}
	if len(blocks) == 0 {
		g.t.Fatalf("%s has no commands under %q", g.file, heading)
	}
	return blocks
}

// sh runs commands of a guide, by the lab's own kubectl and Helm.
func (s *story) sh(block string) {
	s.Helper()
	parsed, err := syntax.NewParser().Parse(strings.NewReader(block), "")
	if err != nil {
		s.Fatalf("read commands: %v\n%s", err, block)
	}
	var said bytes.Buffer
	shell, err := interp.New(interp.Params("-e"), interp.Dir(repository()), interp.StdIO(nil, &said, &said), interp.ExecHandlers(
		func(interp.ExecHandlerFunc) interp.ExecHandlerFunc {
			return func(ctx context.Context, args []string) error { return s.execute(ctx, args, &said) }
		}))
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.Context(), labWithin)
	defer cancel()
	if err := shell.Run(ctx, parsed); err != nil {
		s.Fatalf("%v:\n%s\n%s\nlogs are in %s", err, block, &said, filepath.Join(s.dir, "logs"))
	}
}

func (s *story) execute(ctx context.Context, args []string, said io.Writer) error {
	switch args[0] {
	case "helm", "kubectl":
		command := labCommand(ctx, s.dir, args[0], args[1:]...)
		command.Dir = repository()
		command.Stdout, command.Stderr = said, said
		if err := command.Run(); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
		}
		return nil
	case "aws":
		if len(args) > 2 && args[1] == "eks" && args[2] == "create-pod-identity-association" {
			s.associate(option(args, "--namespace"), option(args, "--service-account"), s.roleLike(option(args, "--role-arn")))
			return nil
		}
	}
	return fmt.Errorf("no story can run %s", strings.Join(args, " "))
}

// option is the value of a flag among arguments.
func option(args []string, flag string) string {
	for i, a := range args {
		if a == flag && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}
