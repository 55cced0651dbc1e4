// Package viewer is the screen of `daemok view`: nodes with bars, pods that wait, what is wrong, and what was
// done, in a terminal that follows the cluster.
//
// It promises that only the rows that are seen are made, so that 5,000 nodes take no longer than 50; that no
// text of a cluster reaches the terminal as a control sequence; and that the terminal is as before once it
// ends, after a panic too. It reads no cluster: a view.Source shows it one.
package viewer
