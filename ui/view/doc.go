// Package view turns a snapshot, a plan and the record into the rows and cards that all screens show.
//
// It promises that the terminal viewer, the web map and the commands say the same of one moment, in the same words.
// Its functions are pure; they know no terminal, page or cluster.
package view
