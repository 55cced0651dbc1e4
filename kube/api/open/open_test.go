package open_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/daemok/daemok/kube/api/open"
)

type inner struct {
	Size int `json:"size,omitempty"`
}

type room struct {
	inner `json:",inline"`

	Name string `json:"name,omitempty"`
	Kept bool   `json:"-"`
}

func TestReadAndWrite(t *testing.T) {
	tests := map[string]struct {
		text    string
		further []string
	}{
		"nothing":                        {`{}`, nil},
		"named fields alone":             {`{"name":"hall","size":3}`, nil},
		"further fields":                 {`{"colour":"red","doors":{"n":2},"size":3}`, []string{"colour", "doors"}},
		"a further field that says null": {`{"colour":null}`, []string{"colour"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var r room
			further, err := open.Read([]byte(tt.text), &r)
			if err != nil {
				t.Fatal(err)
			}
			if got := open.NamesOf(further); !slices.Equal(got, tt.further) {
				t.Errorf("further fields of %s are %q, want %q", tt.text, got, tt.further)
			}
			written, err := open.Write(r, further)
			if err != nil {
				t.Fatal(err)
			}
			var got, want map[string]any
			if err := json.Unmarshal(written, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(tt.text), &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("wrote %s, want %s", written, tt.text)
			}
		})
	}
}

func TestReadRefusesWhatIsNoObject(t *testing.T) {
	for _, text := range []string{`[]`, `"hall"`, `{"size":"three"}`} {
		if _, err := open.Read([]byte(text), new(room)); err == nil {
			t.Errorf("%s was read as a room", text)
		}
	}
}

func TestNames(t *testing.T) {
	if got, want := open.Names(reflect.TypeFor[room]()), []string{"name", "size"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
