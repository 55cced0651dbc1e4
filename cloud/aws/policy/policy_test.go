package policy

import (
	"strings"
	"testing"
)

// of reads a policy with one statement that has these members beside its effect.
func of(t *testing.T, members string) Document {
	t.Helper()
	d, err := Read("mine.json", []byte(`{"Statement": {"Effect": "Allow", `+members+`}}`))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What IAM's reference says of elements and operators, one call each.
func TestDecide(t *testing.T) {
	const instance = "arn:aws:ec2:us-east-1:1:instance/i-1"
	context := Context{}
	context.Set("aws:RequestedRegion", "us-east-1")
	context.Set("aws:TagKeys", "Name", "team")
	context.Set("aws:PrincipalArn", "arn:aws:iam::1:role/nodes")
	context.Set("aws:SecureTransport", "true")
	context.Tags("aws:RequestTag", map[string]string{"Name": "web", "team": "Blue"})
	call := Call{"ec2:CreateTags", instance, context}
	where := func(operator, key, value string) string {
		return `"Action": "ec2:CreateTags", "Resource": "*", "Condition": {"` + operator + `": {"` + key + `": ` + value + `}}`
	}
	for name, tt := range map[string]struct {
		members string
		want    Decision
	}{
		"an action by name, whatever its case":          {`"Action": "EC2:createtags", "Resource": "*"`, Allowed},
		"actions with wildcards":                        {`"Action": ["s3:*", "ec2:Create????"], "Resource": "*"`, Allowed},
		"another action":                                {`"Action": "ec2:CreateFleet", "Resource": "*"`, ImplicitDeny},
		"all actions but others":                        {`"NotAction": "ec2:Delete*", "Resource": "*"`, Allowed},
		"all actions but this":                          {`"NotAction": "ec2:Create*", "Resource": "*"`, ImplicitDeny},
		"a resource with a wildcard in a part":          {`"Action": "*", "Resource": "arn:aws:ec2:us-east-1:*:instance/*"`, Allowed},
		"a wildcard ends with its part of the ARN":      {`"Action": "*", "Resource": "arn:aws:ec2:*:instance/*"`, ImplicitDeny},
		"resources are told apart by case":              {`"Action": "*", "Resource": "arn:aws:ec2:us-east-1:1:Instance/i-1"`, ImplicitDeny},
		"all resources but this":                        {`"Action": "*", "NotResource": "arn:aws:ec2:us-east-1:1:instance/*"`, ImplicitDeny},
		"a value that is equal":                         {where("StringEquals", "aws:RequestTag/team", `"Blue"`), Allowed},
		"values are told apart by case":                 {where("StringEquals", "aws:RequestTag/team", `"blue"`), ImplicitDeny},
		"keys are not":                                  {where("StringEquals", "AWS:requesttag/Team", `["Red", "Blue"]`), Allowed},
		"whatever the case":                             {where("StringEqualsIgnoreCase", "aws:RequestTag/team", `"blue"`), Allowed},
		"a key that is not there":                       {where("StringEquals", "aws:RequestTag/owner", `"Blue"`), ImplicitDeny},
		"a key that is not there, where it need not be": {where("StringEqualsIfExists", "aws:RequestTag/owner", `"Blue"`), Allowed},
		"a key that is there, where it need not be":     {where("StringEqualsIfExists", "aws:RequestTag/team", `"Red"`), ImplicitDeny},
		"a value unlike":                                {where("StringNotEquals", "aws:RequestTag/team", `["Red", "Green"]`), Allowed},
		"one of those that it must not be":              {where("StringNotEquals", "aws:RequestTag/team", `["Red", "Blue"]`), ImplicitDeny},
		"what is not there is unlike":                   {where("StringNotEquals", "aws:RequestTag/owner", `"Red"`), Allowed},
		"a pattern":                                     {where("StringLike", "aws:RequestTag/team", `"B*e"`), Allowed},
		"a pattern is no pattern to StringEquals":       {where("StringEquals", "aws:RequestTag/team", `"B*"`), ImplicitDeny},
		"any value":                                     {where("StringLike", "aws:RequestTag/owner", `"*"`), ImplicitDeny},
		"all keys among those named":                    {where("ForAllValues:StringEquals", "aws:TagKeys", `["Name", "team", "owner"]`), Allowed},
		"a key that is not among them":                  {where("ForAllValues:StringEquals", "aws:TagKeys", `["Name", "owner"]`), ImplicitDeny},
		"all of none":                                   {where("ForAllValues:StringEquals", "aws:None", `"Name"`), Allowed},
		"any key among those named":                     {where("ForAnyValue:StringEquals", "aws:TagKeys", `["Name", "owner"]`), Allowed},
		"any of none":                                   {where("ForAnyValue:StringEquals", "aws:None", `"Name"`), ImplicitDeny},
		"an ARN by its pattern":                         {where("ArnLike", "aws:PrincipalArn", `"arn:aws:iam::*:role/*"`), Allowed},
		"a boolean, as such":                            {where("Bool", "aws:SecureTransport", `true`), Allowed},
		"a boolean that is another":                     {where("Bool", "aws:SecureTransport", `"false"`), ImplicitDeny},
		"a key that must be there":                      {where("Null", "aws:RequestTag/team", `"false"`), Allowed},
		"a key that must not be there":                  {where("Null", "aws:RequestTag/team", `"true"`), ImplicitDeny},
		"all conditions must hold":                      {`"Action": "*", "Resource": "*", "Condition": {"StringEquals": {"aws:RequestTag/team": "Blue", "aws:RequestTag/Name": "db"}}`, ImplicitDeny},
		"a statement without resources allows nothing":  {`"Action": "*"`, ImplicitDeny},
	} {
		t.Run(name, func(t *testing.T) {
			if got, by, err := Decide([]Document{of(t, tt.members)}, call); got != tt.want || err != nil || (by != "") != (got == Allowed) {
				t.Errorf("%s: %q by %q, %v; want %q", tt.members, got, by, err, tt.want)
			}
		})
	}
}

// A Deny outweighs every Allow, wherever it stands, if it matches.
func TestDenyOutweighsAllow(t *testing.T) {
	read := func(text string) Document {
		d, err := Read("p.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	all := read(`{"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}`)
	elsewhere := read(`{"Statement": [{"Sid": "Stay", "Effect": "Deny", "NotAction": "iam:*", "Resource": "*", "Condition": {"StringNotEquals": {"aws:RequestedRegion": "us-east-1"}}}]}`)
	for region, want := range map[string]Decision{"us-east-1": Allowed, "eu-west-1": ExplicitDeny} {
		context := Context{}
		context.Set("aws:RequestedRegion", region)
		got, by, err := Decide([]Document{elsewhere, all, elsewhere}, Call{"ec2:CreateFleet", "*", context})
		if got != want || err != nil || got == ExplicitDeny && by != "p.json, statement Stay" {
			t.Errorf("in %s: %q by %q, %v; want %q", region, got, by, err, want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"Statement:":        "mine.json is no IAM policy in JSON",
		`{"Policy": {}}`:    "mine.json has no Statement",
		`{"Statement": []}`: "mine.json has no Statement",
		`{"Statement": {"Effect": "allow", "Action": "*"}}`:                                                            `statement number 1: Effect is "allow": want Allow or Deny`,
		`{"Statement": {"Sid": "One", "Effect": "Allow", "Resource": "*"}}`:                                            "statement One: it names no Action",
		`{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::${aws:username}"}}`:                "holds a policy variable",
		`{"Statement": {"Effect": "Deny", "Action": "*", "Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}}}`: "operator IpAddress of key aws:SourceIp is not known",
	} {
		if _, err := Read("mine.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%s) = %v, want %q", text, err, want)
		}
	}
}

// What is written is read as what it was, and written the same way again.
func TestDocumentsAreWrittenAndRead(t *testing.T) {
	const text = `{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Sid": "Take",
      "Effect": "Allow",
      "Principal": {
        "Service": "events.amazonaws.com"
      },
      "Action": "sqs:SendMessage",
      "Resource": [
        "arn:aws:sqs:<region>:1:b",
        "arn:aws:sqs:<region>:1:a"
      ],
      "Condition": {
        "Bool": {
          "aws:SecureTransport": "true"
        },
        "StringLike": {
          "aws:SourceArn": [
            "b",
            "a"
          ]
        }
      }
    }
  ]
}
`
	d, err := Read("queue.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := d.JSON(); got != text {
		t.Errorf("it is written as\n%s\nwant\n%s", got, text)
	}
	if got, want := d.Characters(), len(strings.Join(strings.Fields(text), "")); got != want {
		t.Errorf("it has %d characters without white space, want %d", got, want)
	}
}
