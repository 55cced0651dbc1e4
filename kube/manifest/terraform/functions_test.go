package terraform_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/daemok/daemok/kube/manifest/terraform"
)

// Functions mean what they mean to Terraform; where they fail, the reason is reported.
func TestFunctions(t *testing.T) {
	for expression, want := range map[string]string{
		`lookup({a = "b"}, "a")`:                                "b",
		`lookup({a = "b"}, "c", "d")`:                           "d",
		`lookup({a = "b"}, "c")`:                                `the map has no key "c"`,
		`lookup("a", "c")`:                                      "the first argument is no map",
		`length("abc")`:                                         "3",
		`length([1, 2])`:                                        "2",
		`base64encode("x")`:                                     "eA==",
		`base64decode("eA==")`:                                  "x",
		`base64decode("?")`:                                     "illegal base64",
		`yamldecode("a: [1, {b: c}]").a[1].b`:                   "c",
		`yamldecode("a: [").a`:                                  "this is no YAML",
		`trimspace(yamlencode({a = [1]}))`:                      "a:\n- 1",
		`join(",", sort(toset(["b", "a"])))`:                    "a,b",
		`try(var.none.x, "otherwise")`:                          "otherwise",
		`[for k, v in {a = 1} : "${k}${v}"][0]`:                 "a1",
		`format("%s-%03d", "x", 7)`:                             "x-007",
		`replace("a.b", ".", "-")`:                              "a-b",
		`startswith("abc", "ab") && endswith("abc", "bc")`:      "true",
		`strcontains("abc", "d")`:                               "false",
		`filebase64("x")`:                                       "filebase64 is not carried out here: give what it makes of it, or the file that it reads, by -f",
		`templatefile("x", [1])`:                                "the second argument is no map",
		`timestamp()`:                                           "timestamp is not carried out here",
		`true ? "yes" : var.unknown`:                            "yes",
		`coalesce(null, "x")`:                                   "x",
		`jsondecode(jsonencode({a = "b"})).a`:                   "b",
		`can(regex("^a", "abc")) ? "begins" : "does not begin"`: "begins",
	} {
		t.Run(expression, func(t *testing.T) {
			file := fmt.Sprintf("variable \"unknown\" {}\nresource \"kubectl_manifest\" \"x\" {\n  yaml_body = \"${%s}\"\n}\n", expression)
			found, err := terraform.Read([]terraform.Source{{Name: "main.tf", Data: []byte(file)}}, false)
			if err != nil || len(found) != 1 {
				t.Fatalf("%v, %v", found, err)
			}
			if got := found[0].Text + found[0].Unread; got != want && !(found[0].Unread != "" && strings.Contains(got, want)) {
				t.Errorf("it is %q, want %q", got, want)
			}
		})
	}
}
