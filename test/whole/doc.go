// Package whole tests the controller's loops together, over an API server and
// a cloud in memory, in virtual time: stories, a death of the controller at
// every single write, and seeds of random faults.
//
// It holds tests only. What it promises of the product is what the tests ask
// after each story: every pod runs, every instance has its claim, nothing was
// launched twice and, once none wants anything, nothing is left; and what promises
// asks at every moment of a storm.
package whole
