package userdata

import (
	"errors"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// Whatever a user writes is refused by Check, or is written into user data that
// is no larger than EC2 takes and that is the same every time.
func FuzzUserData(f *testing.F) {
	for _, text := range []string{"", userTOML, userMIME, "#!/bin/bash\necho hello\n", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n",
		"settings = 5", "#!/bin/bash\ncat <<END\n--//\n\n--//--\nEND\n", "settings.kubernetes.node-labels = 1", "Content-Type: multipart/mixed; boundary=\"//\"\r\n\r\n--//\r\n\r\nx\r\n--//--\r\n"} {
		f.Add(text)
	}
	families := []nodeclass.Family{nodeclass.AL2, nodeclass.AL2023, nodeclass.Bottlerocket, nodeclass.Windows2022}
	f.Fuzz(func(t *testing.T, text string) {
		for _, family := range families {
			if Check(family, text) != nil {
				continue
			}
			in := input(family, func(in *Input) { in.User = text })
			got, err := Render(in)
			if _, tooLarge := errors.AsType[*TooLargeError](err); tooLarge {
				continue
			}
			if err != nil {
				t.Fatalf("%s: Check takes %q, Render says %v", family, text, err)
			}
			if again, _ := Render(in); again != got {
				t.Fatalf("%s: two renderings of %q differ", family, text)
			}
			checkJoins(t, family, got)
		}
	})
}

// checkJoins checks whether an instance finds its cluster in the user data, after whatever
// the user wrote.
func checkJoins(t *testing.T, family nodeclass.Family, text string) {
	t.Helper()
	switch family {
	case nodeclass.Bottlerocket:
		var back struct {
			Settings struct{ Kubernetes map[string]any }
		}
		if err := toml.Unmarshal([]byte(text), &back); err != nil || back.Settings.Kubernetes["cluster-name"] != "prod" {
			t.Fatalf("%v; settings.kubernetes is %v in\n%s", err, back.Settings.Kubernetes, text)
		}
	case nodeclass.AL2, nodeclass.AL2023:
		parts, isMIME, err := splitMIME(text)
		last := map[nodeclass.Family]string{nodeclass.AL2: bootstrapScript(input(family, nil)), nodeclass.AL2023: "# Written by the autoscaler.\n"}[family]
		if err != nil || !isMIME || len(parts) == 0 || len(parts[len(parts)-1].body) < len(last) || string(parts[len(parts)-1].body[:len(last)]) != last {
			t.Fatalf("%v; %d parts, of which the last is not ours:\n%s", err, len(parts), text)
		}
	}
}
