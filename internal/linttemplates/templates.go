// Package linttemplates holds tests of deploy/aws: its CloudFormation template and its Terraform
// module are read with parsers of those languages, and must say the same as its policies in JSON.
//
// It is a module of its own, since the parsers drag in a great deal. It has no code beside tests,
// and knows the main module by its files alone.
package linttemplates
