package mark

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/daemok/daemok/kube/api"
)

// Roll is the preference to replace nodes of a pool now.
type Roll struct {
	Since  time.Time `json:"since"`            // when it was asked for
	All    bool      `json:"all,omitempty"`    // every node whose instance was launched by then, and not those alone that have drifted
	Paused bool      `json:"paused,omitempty"` // no node of the pool goes for having drifted, until it goes on
}

// ReadRoll reads the annotation; found is false where there is none.
func ReadRoll(annotations map[string]string) (roll Roll, found bool, err error) {
	text, found := annotations[api.AnnotationRoll]
	if !found {
		return Roll{}, false, nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err = d.Decode(&roll); err == nil && roll.Since.IsZero() {
		err = fmt.Errorf("want since, the moment it was asked for")
	}
	if err != nil {
		return Roll{}, true, &Error{api.AnnotationRoll, fmt.Errorf("%w; `daemok roll` writes it, and takes it away with --abort", err)}
	}
	return roll, true, nil
}

// String is the annotation's value.
func (r Roll) String() string {
	r.Since = r.Since.UTC().Truncate(time.Second)
	text, err := json.Marshal(r)
	if err != nil {
		panic("mark: a roll cannot be written: " + err.Error())
	}
	return string(text)
}
