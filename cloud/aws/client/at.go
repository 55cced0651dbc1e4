package client

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Key is a pair that signs calls.
type Key struct{ ID, Secret string }

// At is the configuration of clients for whatever answers in AWS's place at a
// URL. Nothing else is read: no environment and no files.
func At(url, region string, k Key) aws.Config {
	return aws.Config{
		Region: region, BaseEndpoint: aws.String(url), Credentials: credentials.NewStaticCredentialsProvider(k.ID, k.Secret, ""),
		APIOptions: []func(*stack) error{PlainBody},
	}
}
