package v1alpha1

import (
	"bytes"
	"encoding/json"
)

// Text is a text that manifests also write without quotes, as a number or as
// true or false. It is written again as it was read.
//
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:XIntOrString
type Text struct {
	// Value is the text, whether it had quotes or not.
	Value string `json:"-"`
	// Bare says that it had none.
	Bare bool `json:"-"`
}

// UnmarshalJSON reads any value; what is no text is taken as it is spelled.
func (t *Text) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		*t = Text{}
		return json.Unmarshal(data, &t.Value)
	}
	*t = Text{Value: string(data), Bare: true}
	return nil
}

// MarshalJSON writes the text as it was read.
func (t Text) MarshalJSON() ([]byte, error) {
	if t.Bare {
		return []byte(t.Value), nil
	}
	return json.Marshal(t.Value)
}

// Texts are texts by name, such as tags.
type Texts map[string]Text

// Plain returns the texts as strings; nil for none. The caller owns the map.
func (t Texts) Plain() map[string]string {
	if t == nil {
		return nil
	}
	out := make(map[string]string, len(t))
	for name, text := range t {
		out[name] = text.Value
	}
	return out
}
