package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of Terraform is read with what the others of its folder declare, and no manifest of
// those is.
func TestTerraformIsReadWithItsFolder(t *testing.T) {
	folder := t.TempDir()
	main := filepath.Join(folder, "main.tf")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("variables.tf", `variable "name" { default = "by-default" }
resource "kubectl_manifest" "y" {
  yaml_body = "{apiVersion: v1, kind: Namespace, metadata: {name: beside}}"
}
`)
	write("terraform.tfvars", "name = \"given\"\n")
	write("other.tfvars", "name = \"other\"\n")
	write("main.tf", `resource "kubectl_manifest" "pool" {
  yaml_body = <<-YAML
    apiVersion: karpenter.sh/v1alpha5
    kind: Provisioner
    metadata: {name: "${var.name}"}
  YAML
}
`)
	out, err := run(t, "migrate", "-f", main)
	if err != nil || !strings.Contains(out, "name: given") {
		t.Errorf("migrate (%v) printed\n%s", err, out)
	}
	write("main.tf", "resource \"kubernetes_manifest\" \"x\" {\n  manifest = { apiVersion = \"v1\", kind = \"Namespace\", metadata = { name = var.name } }\n}\n")
	out, err = run(t, "plan", "--snapshot", situationFile, "-f", main)
	if err != nil || !strings.Contains(out, "Namespace given: as the manifest says\n") || strings.Contains(out, "beside") {
		t.Errorf("plan (%v) printed\n%s", err, out)
	}
	out, err = run(t, "plan", "--snapshot", situationFile, "-f", folder)
	if err != nil || !strings.Contains(out, "Namespace beside: ") {
		t.Errorf("plan of the folder (%v) printed\n%s", err, out)
	}
	write("main.tf", "resource \"kubectl_manifest\" \"x\" {\n  yaml_body = <<-YAML\n    apiVersion: v1\n    kind: Namespace\n    metadata: {}\n  YAML\n}\n")
	if _, err := run(t, "plan", "--snapshot", situationFile, "-f", main); err == nil || !strings.Contains(err.Error(), "main.tf:3, kubectl_manifest.x, document 1, Namespace") {
		t.Errorf("plan of a namespace without a name gives %v", err)
	}
	write("main.tf", "resource \"kubectl_manifest\" \"x\" {\n  yaml_body = \"{apiVersion: v1, kind: Namespace, metadata: {name: ${var.nowhere}}}\"\n}\n")
	out, err = run(t, "plan", "--snapshot", situationFile, "-f", main)
	if err != nil || !strings.Contains(strings.Join(strings.Fields(out), " "), "note: kubectl_manifest.x is left out: "+main+":2: var.nowhere is declared in no file that is read") {
		t.Errorf("plan of what cannot be told (%v) printed\n%s", err, out)
	}
}
