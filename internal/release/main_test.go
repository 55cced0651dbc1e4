package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// deployable are files as the archive of what is deployed has them.
var deployable = []string{
	"LICENSE", "deploy/aws/README.md", "deploy/aws/cloudformation.yaml", "deploy/aws/policies/adoption.json", "deploy/aws/terraform/main.tf",
	"deploy/monitoring/alerts.yaml", "deploy/monitoring/dashboards/daemok-cost.json", "examples/v1/nodepool.yaml",
}

// product is a checkout of a very small product, committed and tagged.
func product(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	files := map[string]string{
		"go.mod":                        "module github.com/daemok/daemok\n\ngo 1.26.0\n",
		"LICENSE":                       "do what you like",
		"cmd/daemok/main.go":            "package main\n\nfunc main() {}\n",
		"cmd/daemok-controller/main.go": "package main\n\nfunc main() {}\n",
		"cmd/daemok-lab/main.go":        "package main\n\nfunc main() {}\n",
		"kube/api/crds/a.yaml":          "---\nkind: CustomResourceDefinition\n",
		"kube/api/crds/b.yaml":          "---\nkind: CustomResourceDefinition # second\n",
	}
	for _, name := range deployable {
		files[name] = "# " + name
	}
	for name, content := range files {
		name = filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	command := []string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-C", folder}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "all"}, {"tag", "v0.1.0"}} {
		if out, err := exec.Command("git", append(command, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return folder
}

// build leaves programs in a new dist, as `make release` does.
func build(t *testing.T, checkout, goos, goarch string, programs ...string) (dist string) {
	t.Helper()
	dist = filepath.Join(t.TempDir(), "dist")
	to := filepath.Join(dist, "bin", goos+"_"+goarch)
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", to + "/"}
	for _, name := range programs {
		args = append(args, "./cmd/"+name)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = checkout
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %v: %v\n%s", programs, err, out)
	}
	man := filepath.Join(dist, "man", "man1")
	if err := errors.Join(os.MkdirAll(man, 0o755), os.WriteFile(filepath.Join(man, "daemok-plan.1"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	charts := filepath.Join(dist, "charts")
	if err := os.MkdirAll(charts, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"daemok-0.1.0.tgz", "index.yaml"} {
		if err := os.WriteFile(filepath.Join(charts, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dist
}

func assemble(t *testing.T, checkout, dist string) string {
	t.Helper()
	var out strings.Builder
	if err := run(context.Background(), []string{"assemble", "-checkout", checkout, "-dist", dist, "-version", version(t, checkout), "-kubernetes", "v1.36.3"}, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func version(t *testing.T, checkout string) string {
	t.Helper()
	var out strings.Builder
	if err := run(context.Background(), []string{"version", "-checkout", checkout}, &out); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// files lists a folder, but for what lies in the image's store.
func files(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.Contains(path, "blobs") {
			names = append(names, strings.TrimPrefix(path, folder+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestAReleaseIsWholeAndItsSumsHold(t *testing.T) {
	checkout := product(t)
	dist := build(t, checkout, "linux", "arm64", command, controller, lab)
	said := assemble(t, checkout, dist)
	for _, want := range []string{"image for linux/arm64: ", "release: ok version=v0.1.0 files=", "image=sha256:"} {
		if !strings.Contains(said, want) {
			t.Errorf("it said\n%s\nwant %q in it", said, want)
		}
	}
	want := []string{
		"RELEASE_NOTES.md", "SHA256SUMS", "bin/linux_arm64/daemok", "bin/linux_arm64/daemok-controller", "bin/linux_arm64/daemok-lab",
		"charts/daemok-0.1.0.tgz", "charts/index.yaml", "crds.yaml", "daemok-deploy_0.1.0.tar.gz", "daemok-lab_0.1.0_linux_arm64.tar.gz",
		"daemok_0.1.0_linux_arm64.tar.gz",
		"image/index.json", "image/oci-layout", "krew/daemok.yaml", "man/man1/daemok-plan.1",
		"sbom/daemok-controller_linux_arm64.cdx.json", "sbom/daemok-lab_linux_arm64.cdx.json", "sbom/daemok_linux_arm64.cdx.json",
	}
	if got := files(t, dist); !slices.Equal(got, want) {
		t.Errorf("the release has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	assemble(t, checkout, dist) // once more, over what is there
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = dist
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	sums, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := os.ReadFile(filepath.Join(dist, "krew", "daemok.yaml"))
	_, sha, _ := strings.Cut(string(plugin), "sha256: ")
	sha, _, _ = strings.Cut(sha, "\n")
	if err != nil || !strings.Contains(string(sums), sha+"  daemok_0.1.0_linux_arm64.tar.gz\n") {
		t.Errorf("krew's manifest (%v) has not the sum of the archive:\n%s\n%s", err, plugin, sums)
	}
	crds, err := os.ReadFile(filepath.Join(dist, "crds.yaml"))
	if err != nil || strings.Count(string(crds), "kind: CustomResourceDefinition") != 2 {
		t.Errorf("the definitions are %q, %v; want both", crds, err)
	}
}

// Where one archive is unpacked the demo finds all that it starts, and the guides what they name.
func TestArchivesHaveWhatUsersNeed(t *testing.T) {
	checkout := product(t)
	dist := build(t, checkout, "linux", "amd64", command, controller, lab)
	assemble(t, checkout, dist)
	tests := map[string][]string{
		"daemok-lab_0.1.0_linux_amd64": {"", "LICENSE", "daemok", "daemok-controller", "daemok-lab", "licences.txt", "man/", "man/man1/", "man/man1/daemok-plan.1"},
		"daemok_0.1.0_linux_amd64":     {"", "LICENSE", "daemok", "licences.txt", "man/", "man/man1/", "man/man1/daemok-plan.1"},
		"daemok-deploy_0.1.0": {
			"", "LICENSE", "deploy/", "deploy/aws/", "deploy/aws/README.md", "deploy/aws/cloudformation.yaml", "deploy/aws/policies/", "deploy/aws/policies/adoption.json",
			"deploy/aws/terraform/", "deploy/aws/terraform/main.tf", "deploy/monitoring/", "deploy/monitoring/alerts.yaml", "deploy/monitoring/dashboards/",
			"deploy/monitoring/dashboards/daemok-cost.json", "examples/", "examples/v1/", "examples/v1/nodepool.yaml",
		},
	}
	for name, want := range tests {
		got := entries(t, filepath.Join(dist, name+".tar.gz"))
		for i, path := range want {
			want[i] = name + "/" + path
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q; want %q", name, got, want)
		}
	}
}

func TestAReleaseMadeTwiceIsTheSame(t *testing.T) {
	checkout := product(t)
	var before []byte
	for range 2 {
		dist := build(t, checkout, "linux", "amd64", command, controller)
		assemble(t, checkout, dist)
		sums, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && string(before) != string(sums) {
			t.Errorf("made twice:\n%s\nand\n%s", before, sums)
		}
		before = sums
	}
}

func TestAReleaseWithoutLinuxOrLab(t *testing.T) {
	checkout := product(t)
	dist := build(t, checkout, "darwin", "arm64", command, controller)
	if said := assemble(t, checkout, dist); !strings.Contains(said, "no image") {
		t.Errorf("it said %q; want that there is no image", said)
	}
	notes, err := os.ReadFile(filepath.Join(dist, "RELEASE_NOTES.md"))
	if err != nil || !strings.Contains(string(notes), "no lab, and so no `daemok demo`, for darwin/arm64") || !strings.Contains(string(notes), "no container image") {
		t.Errorf("the notes are %v\n%s", err, notes)
	}
}

func TestAChangedCheckoutIsSaid(t *testing.T) {
	checkout := product(t)
	dist := build(t, checkout, "linux", "amd64", command, controller)
	if err := os.WriteFile(filepath.Join(checkout, "new.go"), []byte("package daemok\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	charts := filepath.Join(dist, "charts")
	if err := os.Rename(filepath.Join(charts, "daemok-0.1.0.tgz"), filepath.Join(charts, "daemok-0.1.1-dirty.tgz")); err != nil {
		t.Fatal(err)
	}
	if said := assemble(t, checkout, dist); !strings.Contains(said, "the checkout is changed") || !strings.Contains(said, "version=v0.1.1-dirty") {
		t.Errorf("it said %q", said)
	}
}

func TestRunRefuses(t *testing.T) {
	checkout := product(t)
	wrong := build(t, checkout, "linux", "amd64", command, controller)
	if err := os.Rename(filepath.Join(wrong, "bin", "linux_amd64"), filepath.Join(wrong, "bin", "linux_arm64")); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args []string
		want string
	}{
		"no verb":                           {nil, "version or assemble"},
		"another verb":                      {[]string{"publish", "-checkout", checkout}, "publish is neither"},
		"no version of Kubernetes":          {[]string{"assemble", "-checkout", checkout}, "-kubernetes"},
		"a checkout that was changed since": {[]string{"assemble", "-checkout", checkout, "-kubernetes", "v1", "-version", "v0.0.9"}, "the checkout is v0.1.0"},
		"nothing built":                     {[]string{"assemble", "-checkout", checkout, "-version", "v0.1.0", "-kubernetes", "v1", "-dist", t.TempDir()}, "make release"},
		"a program in another's folder":     {[]string{"assemble", "-checkout", checkout, "-version", "v0.1.0", "-kubernetes", "v1", "-dist", wrong}, "is a program for linux/amd64"},
		"a platform without the controller": {[]string{"assemble", "-checkout", checkout, "-version", "v0.1.0", "-kubernetes", "v1", "-dist", build(t, checkout, "linux", "amd64", command)}, "daemok-controller"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := run(context.Background(), tt.args, io.Discard); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v; want one with %q", err, tt.want)
			}
		})
	}
}

func TestAReleaseWithoutDashboardsIsRefused(t *testing.T) {
	checkout := product(t)
	if err := os.RemoveAll(filepath.Join(checkout, "deploy", "monitoring", "dashboards")); err != nil {
		t.Fatal(err)
	}
	_, err := assembly{checkout: checkout, dist: t.TempDir()}.deploy()
	if err == nil || !strings.Contains(err.Error(), "no file in the checkout is deploy/monitoring/dashboards/*.json") {
		t.Errorf("error %v; want one that names the missing files", err)
	}
}

func TestVersionIsPrinted(t *testing.T) {
	if got := version(t, product(t)); got != "v0.1.0" {
		t.Errorf("printed %q; want v0.1.0", got)
	}
}

func entries(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for in := tar.NewReader(packed); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
}

func TestChartsOfAnotherVersionAreNotReleased(t *testing.T) {
	checkout := product(t)
	dist := build(t, checkout, "linux", "arm64", command, controller, lab)
	old := filepath.Join(dist, "charts", "daemok-0.0.9.tgz")
	if err := os.WriteFile(old, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := run(t.Context(), []string{"assemble", "-checkout", checkout, "-dist", dist, "-version", "v0.1.0", "-kubernetes", "v1.36.3"}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "daemok-0.0.9.tgz is of another version than 0.1.0") {
		t.Errorf("assemble says %v, want the name of the chart", err)
	}
}
