// Package whole tests all loops together over an API server and a cloud in memory, in virtual time, with
// deaths and faults.
//
// It holds tests only. What it promises of the product is what the tests ask
// after each story: every pod runs, every instance has its claim, nothing was
// launched twice and, once none wants anything, nothing is left; and what promises
// asks at every moment of a storm.
package whole
