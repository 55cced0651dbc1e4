package files

import (
	"fmt"
	"io"

	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/kube/translate"
)

// Commitments reads the file of Reserved Instances and Savings Plans that the flag --commitments names; none where it
// names no file.
func Commitments(stdin io.Reader, file string) (out commitment.Commitments, err error) {
	if file == "" {
		return out, nil
	}
	text, name, err := Read(stdin, file)
	if err != nil {
		return out, fmt.Errorf("--commitments: %w", err)
	}
	list, err := translate.ParseCommitments([]byte(text), false)
	if err != nil {
		return out, fmt.Errorf("--commitments %s: %w", name, err)
	}
	return *list, nil
}
