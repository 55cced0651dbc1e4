package notes

import (
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/daemok/daemok/internal/release/image"
	"github.com/daemok/daemok/internal/release/source"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// whole is a release that lacks nothing.
func whole() Release {
	return Release{
		Source: source.Source{Version: "v0.1.0", Commit: "ac35e98798aa5b088647464e54d44ac38c99c000", CommittedAt: time.Date(2026, 11, 27, 6, 41, 43, 0, time.UTC)},
		Go:     "v1.26.8", Kubernetes: "v1.36.3", Digest: digest,
		Images:   []image.Size{{Platform: "linux/arm64", Digest: v1.Hash{Algorithm: "sha256", Hex: "feed"}, Bytes: 31_250_000}},
		Charts:   []string{"daemok-0.1.0.tgz", "daemok-crd-0.1.0.tgz"},
		Deploy:   "daemok-deploy_0.1.0.tar.gz",
		Archives: []string{"daemok_0.1.0_linux_arm64.tar.gz"},
	}
}

func TestTheNotesSay(t *testing.T) {
	tests := map[string]struct {
		change        func(*Release)
		says, saysNot []string
	}{
		"what it is, of what and how to install it": {func(*Release) {}, []string{
			"# Daemok v0.1.0\n", "This is an alpha", "ac35e98798aa5b088647464e54d44ac38c99c000", "2026-11-27 06:41:43 UTC", "Go v1.26.8", "v1.36.3", digest,
			"linux/arm64: 31.2 MB compressed, `sha256:feed`", "`charts/daemok-crd-0.1.0.tgz`", "`daemok_0.1.0_linux_arm64.tar.gz`", "`daemok-deploy_0.1.0.tar.gz`: CloudFormation",
			"--install daemok-crd charts/daemok-crd-0.1.0.tgz --namespace kube-system\n", "--install karpenter charts/daemok-0.1.0.tgz --namespace kube-system --skip-crds --wait", "controller.image.digest=" + digest,
			"roles of the templates trust the service account `kube-system/karpenter`", "/tree/ac35e98798aa5b088647464e54d44ac38c99c000/docs/tasks/install.md", "./daemok demo", "Tests run on linux/amd64",
		}, []string{"changed checkout", "no lab", "no Helm charts", "no container image", "<no value>"}},
		"that there is no lab for a platform": {func(r *Release) { r.NoLab = []string{"darwin/amd64", "darwin/arm64"} }, []string{"no lab, and so no `daemok demo`, for darwin/amd64, darwin/arm64"}, nil},
		"how to go on without charts":         {func(r *Release) { r.Charts = nil }, []string{"no Helm charts", "kubectl apply --server-side -f crds.yaml"}, []string{"helm upgrade"}},
		"that there is no image":              {func(r *Release) { r.Digest, r.Images = "", nil }, []string{"no container image"}, []string{"image/", "sha256:"}},
		"that it is not to be published":      {func(r *Release) { r.Source.Changed = true }, []string{"do not publish it"}, nil},
		"no word of an alpha after it":        {func(r *Release) { r.Source.Version = "v1.0.0" }, []string{"# Daemok v1.0.0"}, []string{"alpha"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := whole()
			tt.change(&r)
			var out strings.Builder
			if err := Write(&out, r); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the notes do not say %q:\n%s", want, &out)
				}
			}
			for _, unwanted := range tt.saysNot {
				if strings.Contains(out.String(), unwanted) {
					t.Errorf("the notes say %q:\n%s", unwanted, &out)
				}
			}
		})
	}
}
