package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

// The log of a controller that does not start has JSON lines.
func TestTheErrorThatEndsTheProcessIsAJSONLine(t *testing.T) {
	var out bytes.Buffer
	report(&out, encodingJSON, errors.New("no cluster \"elsewhere\"\nset CLUSTER_NAME"))
	var said struct{ Level, Message, Error, Time, Commit string }
	if err := json.Unmarshal(out.Bytes(), &said); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	if said.Level != "ERROR" || said.Error != "no cluster \"elsewhere\"\nset CLUSTER_NAME" || said.Message == "" || said.Time == "" || said.Commit == "" {
		t.Errorf("it says %s", out.String())
	}
}
