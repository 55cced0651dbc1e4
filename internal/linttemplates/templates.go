// Package linttemplates tests that the templates of deploy/aws agree with its policies. It parses the
// CloudFormation template and the Terraform module, and compares both with the policies in JSON.
//
// It is a module of its own, because the parsers have many dependencies. It has no code besides tests,
// and knows the main module only by its files.
package linttemplates
