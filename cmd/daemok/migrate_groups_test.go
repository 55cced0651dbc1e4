package main

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ask calls an action of an AWS service by its form.
func ask(t *testing.T, at, service string, form url.Values) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/"+service+"/aws4_request")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v\n%s", form.Get("Action"), err, text)
	}
	return string(text)
}

// The groups that the flags of the Cluster Autoscaler mean are read from AWS and printed,
// others are not; the plan goes to its file.
func TestMigrateFromClusterAutoscaler(t *testing.T) {
	at := prodAccount(t)
	first := func(pattern, in string) string { return regexp.MustCompile(pattern).FindString(in) }
	subnet := first("subnet-[0-9a-f]+", ask(t, at, "ec2", url.Values{"Action": {"DescribeSubnets"}, "Version": {"2016-11-15"}}))
	group := first("sg-[0-9a-f]+", ask(t, at, "ec2", url.Values{"Action": {"DescribeSecurityGroups"}, "Version": {"2016-11-15"}}))
	image := first("ami-[0-9a-f]+", ask(t, at, "ec2", url.Values{"Action": {"DescribeImages"}, "Version": {"2016-11-15"},
		"Filter.1.Name": {"name"}, "Filter.1.Value.1": {"amazon-eks-node-al2023-x86_64-standard-1.36-*"}}))
	ask(t, at, "ec2", url.Values{"Action": {"CreateLaunchTemplate"}, "Version": {"2016-11-15"}, "LaunchTemplateName": {"web"}, "LaunchTemplateData.ImageId": {image},
		"LaunchTemplateData.InstanceType": {"m5.large"}, "LaunchTemplateData.SecurityGroupId.1": {group}, "LaunchTemplateData.IamInstanceProfile.Name": {"nodes"}})
	for _, name := range []string{"web", "unwatched"} {
		ask(t, at, "autoscaling", url.Values{"Action": {"CreateAutoScalingGroup"}, "Version": {"2011-01-01"}, "AutoScalingGroupName": {name}, "MinSize": {"0"}, "MaxSize": {"4"},
			"VPCZoneIdentifier": {subnet}, "LaunchTemplate.LaunchTemplateName": {"web"}})
	}
	folder := t.TempDir()
	deployment, plan := filepath.Join(folder, "ca.yaml"), filepath.Join(folder, "empty.sh")
	write := func(flags string) {
		text := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ca, namespace: kube-system}\nspec: {template: {spec: {containers: [{name: ca, image: cluster-autoscaler:1, args: [" + flags + "]}]}}}\n"
		if err := os.WriteFile(deployment, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`"--nodes=0:3:web"`)
	printed, err := run(t, "migrate", "--from", "cluster-autoscaler", "-f", deployment, "--plan", plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kind: EC2NodeClass", "kind: NodePool", "name: web", "- id: " + subnet, "- id: " + group, "- id: " + image, `nodes: "3"`, "- m5.large"} {
		if !strings.Contains(printed, want) {
			t.Errorf("it does not print %q:\n%s", want, printed)
		}
	}
	if strings.Contains(printed, "unwatched") {
		t.Errorf("it prints a group that is not scaled:\n%s", printed)
	}
	if text, err := os.ReadFile(plan); err != nil || !strings.Contains(string(text), "kubectl -n kube-system scale deployment ca --replicas=0") {
		t.Errorf("the plan (%v) is\n%s", err, text)
	}
	write(`"--nodes=0:3:gone"`)
	if _, err := run(t, "migrate", "--from", "cluster-autoscaler", "-f", deployment); err == nil || !strings.Contains(err.Error(), "AWS has no Auto Scaling group that") {
		t.Errorf("with no group it says: %v", err)
	}
	if _, err := run(t, "migrate", "--from", "spot-ocean", "-f", deployment); err == nil || !strings.Contains(err.Error(), "the one that can be moved from is cluster-autoscaler") {
		t.Errorf("from another it says: %v", err)
	}
}
