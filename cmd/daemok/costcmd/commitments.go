package costcmd

import (
	"fmt"
	"io"
	"os"

	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/kube/translate"
)

// readCommitments reads the file that the flag names; nil where it names none.
func (f *flags) readCommitments(stdin io.Reader) (*commitment.Commitments, error) {
	if f.commitments == "" {
		return nil, nil //nolint:nilnil // none are given
	}
	var data []byte
	var err error
	if f.commitments == "-" {
		data, err = io.ReadAll(stdin)
	} else {
		data, err = os.ReadFile(f.commitments)
	}
	if err != nil {
		return nil, fmt.Errorf("--commitments: %w", err)
	}
	out, err := translate.ParseCommitments(data)
	if err != nil {
		return nil, fmt.Errorf("--commitments %s: %w", f.commitments, err)
	}
	return out, nil
}
