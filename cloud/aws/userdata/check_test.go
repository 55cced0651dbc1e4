package userdata

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

const mimeHead = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/x-shellscript\n\n#!/bin/sh\necho 1\n" +
	"--//\nContent-Type: application/node.eks.aws\n\n"

// inBase64 is a MIME document with a NodeConfig that is encoded so.
func inBase64(body string) string {
	return strings.TrimSuffix(mimeHead, "\n") + "Content-Transfer-Encoding: base64\n\n" + body + "\n\n--//--\n"
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		family nodeclass.Family
		text   string
		want   []string // words of the error; none: it is right
	}{
		"nothing is right":                    {nodeclass.Bottlerocket, " \n", nil},
		"settings of Bottlerocket are right":  {nodeclass.Bottlerocket, "[settings.kubernetes]\nmax-pods = 30\n", nil},
		"a script for Bottlerocket":           {nodeclass.Bottlerocket, "#!/bin/sh\necho 1\n", []string{"spec.userData: line 2, column 6", "TOML"}},
		"a table of Bottlerocket that is one": {nodeclass.Bottlerocket, "settings = 1\n", []string{"spec.userData", `"settings" must be a table`}},
		"a NodeConfig is right":               {nodeclass.AL2023, "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n", nil},
		"a script is right":                   {nodeclass.AL2023, "#!/bin/sh\necho spec: 1\n", nil},
		"a script without its first line too": {nodeclass.AL2023, "echo 1\n", nil},
		"a NodeConfig that is no YAML":        {nodeclass.AL2023, "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {\n", []string{"spec.userData: line 3:", "NodeConfig"}},
		"another kind":                        {nodeclass.AL2023, "apiVersion: v1\nkind: ConfigMap\n", []string{"spec.userData: line 1", `kind is "ConfigMap"`}},
		"a MIME document is right":            {nodeclass.AL2023, mimeHead + "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n\n--//--\n", nil},
		"a MIME document with broken YAML":    {nodeclass.AL2023, mimeHead + "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: a: b\n\n--//--\n", []string{"spec.userData: line 14:", "NodeConfig"}},
		"a NodeConfig in base64 is right":     {nodeclass.AL2023, inBase64("YXBpVmVyc2lvbjogbm9kZS5la3MuYXdzL3YxYWxwaGExCmtpbmQ6IE5v\nZGVDb25maWcK"), nil},
		"base64 of another kind":              {nodeclass.AL2023, inBase64("YXBpVmVyc2lvbjogdjEKa2luZDogQ29uZmlnTWFwCg=="), []string{"spec.userData: in the part at line 13, without its base64: line 1:", `kind is "ConfigMap"`}},
		"base64 that is none":                 {nodeclass.AL2023, inBase64("kind: NodeConfig"), []string{"spec.userData: line 13: the part says that it is in base64"}},
		"base64 of what is packed":            {nodeclass.AL2023, inBase64("H4sIAAAAAAAAAw=="), nil},
		"a MIME document without its end":     {nodeclass.AL2023, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/x-shellscript\n\n", []string{"MIME part 1 of spec.userData", `"//"`}},
		"the same of AL2":                     {nodeclass.AL2, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/x-shellscript\n\n", []string{"MIME part 1 of spec.userData"}},
		"commands of Windows are right":       {nodeclass.Windows2022, "Write-Host \"hello\"\n", nil},
		"commands of Windows in tags":         {nodeclass.Windows2025, "# first\n<PowerShell>\nWrite-Host 1\n</PowerShell>\n", []string{"spec.userData: line 2", "remove the tags"}},
		"what the user knows best":            {nodeclass.Custom, "\x00", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := Check(tt.family, tt.text)
			if (err != nil) != (len(tt.want) > 0) {
				t.Fatalf("Check(%s, %q) = %v; want %q", tt.family, tt.text, err, tt.want)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Check(%s, %q) = %v; want it to say %q", tt.family, tt.text, err, want)
				}
			}
		})
	}
}
