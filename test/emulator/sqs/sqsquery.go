package sqs

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/daemok/daemok/test/emulator/wire"
)

// SQS speaks an older protocol too, which SDKs and command-line tools of before the end of
// 2023 send: a form, with lists that are numbered and in the singular, answered in XML. It
// says the same as the JSON, which it is turned into and made from here.

// olderTexts, olderNumbers and olderLists are the parameters of the older protocol. A list
// has its name in the JSON.
var (
	olderTexts   = []string{"Id", "MessageBody", "NextToken", "QueueName", "QueueNamePrefix", "QueueUrl", "ReceiptHandle"}
	olderNumbers = []string{"DelaySeconds", "MaxNumberOfMessages", "MaxResults", "VisibilityTimeout", "WaitTimeSeconds"}
	olderLists   = map[string]string{
		"AttributeName": "AttributeNames", "MessageAttributeName": "MessageAttributeNames",
		"MessageSystemAttributeName": "MessageSystemAttributeNames", "TagKey": "TagKeys",
	}
)

// FromOlder is what a form of SQS's older protocol says, as JSON. The error is that of a
// number that is none.
func FromOlder(action string, form *wire.Node) ([]byte, error) {
	said, err := olderValues(form)
	if err != nil {
		return nil, err
	}
	for list, name := range olderLists {
		if all := form.Strings(list); all != nil {
			said[name] = all
		}
	}
	if all := pairs(form.List("Attribute"), "Name"); all != nil {
		said["Attributes"] = all
	}
	if all := pairs(form.List("Tag"), "Key"); all != nil {
		said["Tags"] = all // CreateQueue's are in lower case in the JSON, whose names are read in either
	}
	var entries []map[string]any
	for _, node := range form.List(action + "RequestEntry") {
		entry, err := olderValues(node)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	if entries != nil {
		said["Entries"] = entries
	}
	return json.Marshal(said)
}

func olderValues(form *wire.Node) (map[string]any, error) {
	said := map[string]any{}
	for _, name := range olderTexts {
		if form.Has(name) {
			said[name] = form.String(name)
		}
	}
	for _, name := range olderNumbers {
		if !form.Has(name) {
			continue
		}
		n, err := form.Int(name, 0)
		if err != nil {
			return nil, err
		}
		said[name] = n
	}
	return said, nil
}

// pairs reads a numbered list of names and values; nil where there is none.
func pairs(list []*wire.Node, name string) map[string]string {
	if len(list) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, n := range list {
		out[n.String(name)] = n.String("Value")
	}
	return out
}

// element is one element of an answer.
type element struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
	Parts   []element
}

func elementOf(name, text string, parts ...element) element {
	return element{xml.Name{Local: name}, text, parts}
}

// ToOlder is an answer in the older protocol: the same values, with lists and maps as
// elements that are repeated. It is nil where there is none.
func ToOlder(action string, answer any) (any, error) {
	if answer == nil {
		return nil, nil
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("encode answer %T: %w", answer, err)
	}
	var values map[string]any
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("answer %T: %w", answer, err)
	}
	return struct{ Parts []element }{olderParts(action, values)}, nil
}

func olderParts(action string, values map[string]any) (out []element) {
	repeated := map[string]string{
		"Messages": "Message", "QueueUrls": "QueueUrl", "Successful": action + "ResultEntry", "Failed": "BatchResultErrorEntry",
	}
	keyed := map[string][2]string{"Attributes": {"Attribute", "Name"}, "Tags": {"Tag", "Key"}}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch v := values[name].(type) {
		case string:
			out = append(out, elementOf(name, v))
		case bool:
			out = append(out, elementOf(name, strconv.FormatBool(v)))
		case []any:
			for _, item := range v {
				if fields, are := item.(map[string]any); are {
					out = append(out, elementOf(repeated[name], "", olderParts(action, fields)...))
				} else {
					out = append(out, elementOf(repeated[name], fmt.Sprint(item)))
				}
			}
		case map[string]any:
			of := keyed[name]
			for _, key := range slices.Sorted(maps.Keys(v)) {
				out = append(out, elementOf(of[0], "", elementOf(of[1], key), elementOf("Value", fmt.Sprint(v[key]))))
			}
		}
	}
	return out
}
