package api

//go:generate go tool -modfile=../../internal/tools/go.mod controller-gen object crd paths=./karpenter/...;./aws/...;./autoscaling/...;./daemok/... output:crd:artifacts:config=crds
//go:generate go tool -modfile=../../internal/tools/go.mod controller-gen object paths=./verticalpodautoscaler/...
//go:generate go run ./crds/finish crds
//go:generate go run ./reference ../../docs/reference
