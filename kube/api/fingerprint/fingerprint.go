// Package fingerprint condenses the parts of a NodePool and an EC2NodeClass, or of a Provisioner and
// an AWSNodeTemplate, that an instance is made from into short texts. If the claim of an instance
// carries another text than its pool or class, the instance has drifted; with the v1alpha5 API, it was
// made from an older spec.
//
// It promises that the same meaning gives the same fingerprint, whatever the order of lists and maps,
// the spelling of durations and quantities, and whether an empty field is written or left out; that
// fields added to the API later change nothing while they are unset; and that any change of the
// algorithm changes the constant Version. A fingerprint of another version says nothing about drift:
// it must be replaced.
//
// The algorithm is Daemok's own. It is SHA-256, cut to 16 hexadecimal digits, over JSON with sorted
// keys, without null, empty texts, empty lists and empty objects, and with lists sorted by the JSON of
// their items. False and zero are kept, since they are answers.
package fingerprint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Version names the algorithm and the choice of fields.
const Version = "daemok-v1"

const digits = 16

// of returns the fingerprint of a value that can be written as JSON.
func of(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("fingerprint: %T cannot be written as JSON: %v", value, err))
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		panic(fmt.Sprintf("fingerprint: %T does not read back: %v", value, err))
	}
	sum := sha256.Sum256(canonical(document))
	return hex.EncodeToString(sum[:])[:digits]
}

// canonical writes a document in the one form all equal documents have;
// nil stands for what is left out.
func canonical(document any) []byte {
	switch node := document.(type) {
	case nil:
		return nil
	case string:
		if node == "" {
			return nil
		}
		return encode(node)
	case []any:
		return list(node)
	case map[string]any:
		return object(node)
	}
	return encode(document) // numbers and booleans
}

func list(items []any) []byte {
	var parts [][]byte
	for _, item := range items {
		if part := canonical(item); part != nil {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	slices.SortFunc(parts, bytes.Compare)
	return wrap('[', parts, ']')
}

func object(fields map[string]any) []byte {
	var parts [][]byte
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if part := canonical(fields[name]); part != nil {
			parts = append(parts, slices.Concat(encode(name), []byte(":"), part))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return wrap('{', parts, '}')
}

func wrap(open byte, parts [][]byte, shut byte) []byte {
	return append(append([]byte{open}, bytes.Join(parts, []byte(","))...), shut)
}

func encode(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("fingerprint: %v cannot be written as JSON: %v", value, err))
	}
	return data
}
