package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder is read with those in it where that is asked for; manifests go to standard
// output, the report elsewhere, and an error makes the command fail though the rest is
// printed.
func TestMigrate(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"pool.yaml":       "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: web}\n",
		"further/aws.yml": "apiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\nmetadata: {name: default}\nspec: {launchTemplate: mine, subnetSelector: {Name: x}}\n",
		"notes.txt":       "no manifest",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var report, out bytes.Buffer
	cmd := root()
	cmd.SetOut(&out)
	cmd.SetErr(&report)
	cmd.SetArgs([]string{"migrate", "-f", folder})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Errorf("the folder without the one in it: %v", err)
	}
	if !strings.Contains(out.String(), "kind: NodePool") || !strings.Contains(report.String(), "Provisioner web -> NodePool web\n") {
		t.Errorf("printed\n%s\nand reported\n%s", &out, &report)
	}

	file := filepath.Join(folder, "report.json")
	printed, err := run(t, "migrate", "-f", folder, "-R", "-o", "json", "--report", file)
	if err == nil || !strings.Contains(err.Error(), "1 error,") || !strings.Contains(printed, "name: web") || strings.Contains(printed, "EC2NodeClass\nmetadata") {
		t.Errorf("got %v, and\n%s", err, printed)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Objects []struct {
			Object   string
			Made     []string
			Findings []struct{ Weight, At, Field, Text string }
		}
	}
	if err := json.Unmarshal(text, &got); err != nil || len(got.Objects) != 2 {
		t.Fatalf("the report (%v) is\n%s", err, text)
	}
	aws := got.Objects[0]
	if aws.Object != "AWSNodeTemplate default" || len(aws.Made) != 0 || aws.Findings[0].Weight != "error" || !strings.HasSuffix(aws.Findings[0].At, "aws.yml:4") {
		t.Errorf("of the template the report says %+v", aws)
	}
}

// Without a folder for what was there before, nothing is even examined.
func TestMigrateCRDsWantsABackup(t *testing.T) {
	_, err := run(t, "migrate", "crds")
	if err == nil || !strings.Contains(err.Error(), "--backup FOLDER") {
		t.Errorf("without --backup: %v", err)
	}
}

// A version may be written as kubectl and EKS write it.
func TestMigrateReadsAVersionOfKubernetes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "class.yaml")
	text := "apiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\nmetadata: {name: default}\nspec: {amiFamily: Ubuntu, instanceProfile: nodes, subnetSelector: {Name: x}, securityGroupSelector: {Name: x}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]string{"1.27": "/1.27/", "v1.30.4-eks-a1b2": "/1.30/", "1.28+": "/1.28/"} {
		if printed, err := run(t, "migrate", "-f", file, "--kubernetes-version", version); err != nil || !strings.Contains(printed, want) {
			t.Errorf("with version %s it printed (%v)\n%s\nwant %s in it", version, err, printed, want)
		}
	}
	for _, version := range []string{"27", "latest", "1"} {
		if _, err := run(t, "migrate", "-f", file, "--kubernetes-version", version); err == nil || !strings.Contains(err.Error(), "write a version such as 1.27") {
			t.Errorf("with version %s: %v", version, err)
		}
	}
}
