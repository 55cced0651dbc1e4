package world

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
)

// answered is what a request with a client token was answered before.
type answered struct {
	Parameters string // hash of the normalised parameters
	Answer     json.RawMessage
	At         time.Time
}

// How long tokens are remembered, and how often those that are older are forgotten: picks of ours.
const (
	tokensFor   = 24 * time.Hour
	tokensSwept = time.Hour
)

// forgetTokens keeps an account that is used for days, and short of instances for hours, from growing with every
// answer.
func (s *World) forgetTokens(now time.Time) {
	if now.Sub(s.TokensAt) < tokensSwept {
		return
	}
	s.TokensAt = now
	maps.DeleteFunc(s.Tokens, func(_ string, a answered) bool { return now.Sub(a.At) > tokensFor })
}

// Once runs do for the first request with a client token, and repeats its
// answer for later ones with the same parameters. Other parameters under the
// same token are refused. Requests without a token, dry runs and failures are
// not remembered. T must survive JSON.
func Once[T any](c *Call, do func() (T, error)) (T, error) {
	token := c.Params.String("ClientToken")
	if token == "" || c.Params.Bool("DryRun") {
		return do()
	}
	var none T
	c.forgetTokens(c.At)
	sum := sha256.Sum256([]byte(c.Params.Canonical("ClientToken", "Action", "Version", "DryRun")))
	key, parameters := c.Action+"/"+token, hex.EncodeToString(sum[:])
	if before, known := c.Tokens[key]; known {
		if before.Parameters != parameters {
			return none, wire.Errorf("IdempotentParameterMismatch", "The client token '%s' was used before with other parameters.", token)
		}
		var answer T
		if err := json.Unmarshal(before.Answer, &answer); err != nil {
			return none, fmt.Errorf("read the answer to token %s: %w", token, err)
		}
		return answer, nil
	}
	answer, err := do()
	if err != nil {
		return none, err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return none, fmt.Errorf("remember the answer to token %s: %w", token, err)
	}
	c.Tokens[key] = answered{parameters, text, c.At}
	return answer, nil
}
