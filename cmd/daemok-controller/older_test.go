package main

import (
	"errors"
	"log/slog"
	"testing"
)

func TestTheControllerStartsAnewForKindsOfTheOlderGeneration(t *testing.T) {
	unreachable := errors.New("the API server does not answer")
	tests := map[string]struct {
		had, served bool
		err         error
		restart     int
	}{
		"they are there now":                  {false, true, nil, 1},
		"they are not":                        {false, false, nil, 0},
		"they are there still":                {true, true, nil, 0},
		"they are gone":                       {true, false, nil, 1},
		"nobody knows for a moment":           {false, false, unreachable, 0},
		"nobody knows whether they are there": {true, false, unreachable, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			restart := 0
			k := olderKinds{tt.had, func() (bool, error) { return tt.served, tt.err }, slog.New(slog.DiscardHandler), func() { restart++ }}
			if again, err := k.Round(t.Context()); again != olderEvery || !errors.Is(err, tt.err) || restart != tt.restart {
				t.Errorf("Round = %v, %v, started anew %d times; want %d", again, err, restart, tt.restart)
			}
		})
	}
}
