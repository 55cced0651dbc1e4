# Written by make generate; the source is cloud/aws/rights.

locals {
  policy_documents = {
    node_lifecycle = {
      Version = "2012-10-17"
      Statement = [
        {
          Sid    = "LaunchInSharedResources"
          Effect = "Allow"
          Action = [
            "ec2:RunInstances",
            "ec2:CreateFleet",
          ]
          Resource = [
            "arn:${local.partition}:ec2:${local.region}::image/*",
            "arn:${local.partition}:ec2:${local.region}::snapshot/*",
            "arn:${local.partition}:ec2:${local.region}:*:security-group/*",
            "arn:${local.partition}:ec2:${local.region}:*:subnet/*",
            "arn:${local.partition}:ec2:${local.region}:*:capacity-reservation/*",
            "arn:${local.partition}:ec2:${local.region}:*:placement-group/*",
          ]
        },
        {
          Sid    = "LaunchFromOwnTemplates"
          Effect = "Allow"
          Action = [
            "ec2:RunInstances",
            "ec2:CreateFleet",
          ]
          Resource = "arn:${local.partition}:ec2:${local.region}:*:launch-template/*"
          Condition = {
            StringEquals = {
              "aws:ResourceTag/kubernetes.io/cluster/${var.cluster_name}" = "owned"
            }
            StringLike = {
              "aws:ResourceTag/karpenter.sh/nodepool" = "*"
            }
          }
        },
        {
          Sid    = "LaunchTagged"
          Effect = "Allow"
          Action = [
            "ec2:RunInstances",
            "ec2:CreateFleet",
            "ec2:CreateLaunchTemplate",
          ]
          Resource = [
            "arn:${local.partition}:ec2:${local.region}:*:fleet/*",
            "arn:${local.partition}:ec2:${local.region}:*:instance/*",
            "arn:${local.partition}:ec2:${local.region}:*:volume/*",
            "arn:${local.partition}:ec2:${local.region}:*:network-interface/*",
            "arn:${local.partition}:ec2:${local.region}:*:launch-template/*",
            "arn:${local.partition}:ec2:${local.region}:*:spot-instances-request/*",
          ]
          Condition = {
            StringEquals = {
              "aws:RequestTag/kubernetes.io/cluster/${var.cluster_name}" = "owned"
              "aws:RequestTag/eks:eks-cluster-name"                      = "${var.cluster_name}"
            }
            StringLike = {
              "aws:RequestTag/karpenter.sh/nodepool" = "*"
            }
          }
        },
        {
          Sid    = "TagAtLaunch"
          Effect = "Allow"
          Action = "ec2:CreateTags"
          Resource = [
            "arn:${local.partition}:ec2:${local.region}:*:fleet/*",
            "arn:${local.partition}:ec2:${local.region}:*:instance/*",
            "arn:${local.partition}:ec2:${local.region}:*:volume/*",
            "arn:${local.partition}:ec2:${local.region}:*:network-interface/*",
            "arn:${local.partition}:ec2:${local.region}:*:launch-template/*",
            "arn:${local.partition}:ec2:${local.region}:*:spot-instances-request/*",
          ]
          Condition = {
            StringEquals = {
              "aws:RequestTag/kubernetes.io/cluster/${var.cluster_name}" = "owned"
              "aws:RequestTag/eks:eks-cluster-name"                      = "${var.cluster_name}"
              "ec2:CreateAction" = [
                "RunInstances",
                "CreateFleet",
                "CreateLaunchTemplate",
              ]
            }
            StringLike = {
              "aws:RequestTag/karpenter.sh/nodepool" = "*"
            }
          }
        },
        {
          Sid      = "TagInstances"
          Effect   = "Allow"
          Action   = "ec2:CreateTags"
          Resource = "arn:${local.partition}:ec2:${local.region}:*:instance/*"
          Condition = {
            "ForAllValues:StringEquals" = {
              "aws:TagKeys" = [
                "eks:eks-cluster-name",
                "karpenter.sh/nodeclaim",
                "Name",
              ]
            }
            StringEquals = {
              "aws:ResourceTag/kubernetes.io/cluster/${var.cluster_name}" = "owned"
            }
            StringEqualsIfExists = {
              "aws:RequestTag/eks:eks-cluster-name" = "${var.cluster_name}"
            }
            StringLike = {
              "aws:ResourceTag/karpenter.sh/nodepool" = "*"
            }
          }
        },
        {
          Sid    = "EndOwned"
          Effect = "Allow"
          Action = [
            "ec2:TerminateInstances",
            "ec2:DeleteLaunchTemplate",
          ]
          Resource = [
            "arn:${local.partition}:ec2:${local.region}:*:instance/*",
            "arn:${local.partition}:ec2:${local.region}:*:launch-template/*",
          ]
          Condition = {
            StringEquals = {
              "aws:ResourceTag/kubernetes.io/cluster/${var.cluster_name}" = "owned"
            }
            StringLike = {
              "aws:ResourceTag/karpenter.sh/nodepool" = "*"
            }
          }
        },
      ]
    }
    iam_integration = {
      Version = "2012-10-17"
      Statement = [
        {
          Sid      = "PassNodeRole"
          Effect   = "Allow"
          Action   = "iam:PassRole"
          Resource = "${local.node_iam_role_arn}"
          Condition = {
            StringEquals = {
              "iam:PassedToService" = [
                "ec2.amazonaws.com",
                "ec2.amazonaws.com.cn",
              ]
            }
          }
        },
        {
          Sid      = "MakeInstanceProfiles"
          Effect   = "Allow"
          Action   = "iam:CreateInstanceProfile"
          Resource = "arn:${local.partition}:iam::${local.account_id}:instance-profile/*"
          Condition = {
            StringEquals = {
              "aws:RequestTag/kubernetes.io/cluster/${var.cluster_name}" = "owned"
              "aws:RequestTag/eks:eks-cluster-name"                      = "${var.cluster_name}"
              "aws:RequestTag/topology.kubernetes.io/region"             = "${local.region}"
            }
            StringLike = {
              "aws:RequestTag/karpenter.k8s.aws/ec2nodeclass" = "*"
            }
          }
        },
        {
          Sid      = "TagInstanceProfiles"
          Effect   = "Allow"
          Action   = "iam:TagInstanceProfile"
          Resource = "arn:${local.partition}:iam::${local.account_id}:instance-profile/*"
          Condition = {
            StringEquals = {
              "aws:ResourceTag/kubernetes.io/cluster/${var.cluster_name}" = "owned"
              "aws:ResourceTag/topology.kubernetes.io/region"             = "${local.region}"
              "aws:RequestTag/kubernetes.io/cluster/${var.cluster_name}"  = "owned"
              "aws:RequestTag/eks:eks-cluster-name"                       = "${var.cluster_name}"
              "aws:RequestTag/topology.kubernetes.io/region"              = "${local.region}"
            }
            StringLike = {
              "aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass" = "*"
              "aws:RequestTag/karpenter.k8s.aws/ec2nodeclass"  = "*"
            }
          }
        },
        {
          Sid    = "ChangeInstanceProfiles"
          Effect = "Allow"
          Action = [
            "iam:AddRoleToInstanceProfile",
            "iam:RemoveRoleFromInstanceProfile",
            "iam:DeleteInstanceProfile",
          ]
          Resource = "arn:${local.partition}:iam::${local.account_id}:instance-profile/*"
          Condition = {
            StringEquals = {
              "aws:ResourceTag/kubernetes.io/cluster/${var.cluster_name}" = "owned"
              "aws:ResourceTag/topology.kubernetes.io/region"             = "${local.region}"
            }
            StringLike = {
              "aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass" = "*"
            }
          }
        },
      ]
    }
    eks_integration = {
      Version = "2012-10-17"
      Statement = [
        {
          Sid      = "DescribeCluster"
          Effect   = "Allow"
          Action   = "eks:DescribeCluster"
          Resource = "arn:${local.partition}:eks:${local.region}:${local.account_id}:cluster/${var.cluster_name}"
        },
      ]
    }
    interruption = {
      Version = "2012-10-17"
      Statement = [
        {
          Sid    = "ReadInterruptionQueue"
          Effect = "Allow"
          Action = [
            "sqs:DeleteMessage",
            "sqs:GetQueueUrl",
            "sqs:ReceiveMessage",
          ]
          Resource = "${local.queue_arn}"
        },
        {
          Sid      = "ReadQueueTags"
          Effect   = "Allow"
          Action   = "sqs:ListQueueTags"
          Resource = "${local.queue_arn}"
        },
      ]
    }
    zonal_shift = {
      Version = "2012-10-17"
      Statement = [
        {
          Sid      = "ReadZonalShifts"
          Effect   = "Allow"
          Action   = "arc-zonal-shift:GetManagedResource"
          Resource = "*"
          Condition = {
            StringEquals = {
              "arc-zonal-shift:ResourceIdentifier" = "arn:${local.partition}:eks:${local.region}:${local.account_id}:cluster/${var.cluster_name}"
            }
          }
        },
      ]
    }
    commitments = {
      Version = "2012-10-17"
      Statement = [
        {
          Sid      = "ReadReservedInstances"
          Effect   = "Allow"
          Action   = "ec2:DescribeReservedInstances"
          Resource = "*"
          Condition = {
            StringEquals = {
              "aws:RequestedRegion" = "${local.region}"
            }
          }
        },
        {
          Sid    = "ReadSavingsPlans"
          Effect = "Allow"
          Action = [
            "savingsplans:DescribeSavingsPlanRates",
            "savingsplans:DescribeSavingsPlans",
          ]
          Resource = "*"
        },
      ]
    }
    resource_discovery = {
      Version = "2012-10-17"
      Statement = [
        {
          Sid    = "ReadEC2"
          Effect = "Allow"
          Action = [
            "ec2:DescribeCapacityReservations",
            "ec2:DescribeImages",
            "ec2:DescribeInstances",
            "ec2:DescribeInstanceStatus",
            "ec2:DescribeInstanceTypeOfferings",
            "ec2:DescribeInstanceTypes",
            "ec2:DescribeLaunchTemplates",
            "ec2:DescribePlacementGroups",
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeSpotPriceHistory",
            "ec2:DescribeSubnets",
          ]
          Resource = "*"
          Condition = {
            StringEquals = {
              "aws:RequestedRegion" = "${local.region}"
            }
          }
        },
        {
          Sid      = "ReadImageParameters"
          Effect   = "Allow"
          Action   = "ssm:GetParameter"
          Resource = "arn:${local.partition}:ssm:${local.region}::parameter/aws/service/*"
        },
        {
          Sid      = "ReadPrices"
          Effect   = "Allow"
          Action   = "pricing:GetProducts"
          Resource = "*"
        },
        {
          Sid      = "ListInstanceProfiles"
          Effect   = "Allow"
          Action   = "iam:ListInstanceProfiles"
          Resource = "*"
        },
        {
          Sid      = "ReadInstanceProfiles"
          Effect   = "Allow"
          Action   = "iam:GetInstanceProfile"
          Resource = "arn:${local.partition}:iam::${local.account_id}:instance-profile/*"
        },
        {
          Sid      = "ReadQuotas"
          Effect   = "Allow"
          Action   = "servicequotas:ListServiceQuotas"
          Resource = "*"
        },
      ]
    }
    adoption = {
      Version = "2012-10-17"
      Statement = [
        {
          Sid      = "TagAdoptedInstances"
          Effect   = "Allow"
          Action   = "ec2:CreateTags"
          Resource = "arn:${local.partition}:ec2:${local.region}:*:instance/*"
          Condition = {
            "ForAllValues:StringLike" = {
              "aws:TagKeys" = [
                "eks:eks-cluster-name",
                "kubernetes.io/cluster/${var.cluster_name}",
                "karpenter.sh/*",
                "karpenter.k8s.aws/ec2nodeclass",
                "daemok.sh/cluster-uid",
                "Name",
              ]
            }
            StringEquals = {
              "aws:ResourceTag/kubernetes.io/cluster/${var.cluster_name}" = "owned"
            }
            StringEqualsIfExists = {
              "aws:RequestTag/eks:eks-cluster-name" = "${var.cluster_name}"
            }
          }
        },
      ]
    }
  }

  policy_names = {
    node_lifecycle     = "KarpenterControllerNodeLifecyclePolicy-${var.cluster_name}"
    iam_integration    = "KarpenterControllerIAMIntegrationPolicy-${var.cluster_name}"
    eks_integration    = "KarpenterControllerEKSIntegrationPolicy-${var.cluster_name}"
    interruption       = "KarpenterControllerInterruptionPolicy-${var.cluster_name}"
    zonal_shift        = "KarpenterControllerZonalShiftPolicy-${var.cluster_name}"
    commitments        = "KarpenterControllerCommitmentsPolicy-${var.cluster_name}"
    resource_discovery = "KarpenterControllerResourceDiscoveryPolicy-${var.cluster_name}"
    adoption           = "KarpenterControllerAdoptionPolicy-${var.cluster_name}"
  }

  rules = {
    ScheduledChangeRule = {
      source      = "aws.health"
      detail_type = "AWS Health Event"
      description = "Maintenance of instances that AWS has scheduled"
    }
    SpotInterruptionRule = {
      source      = "aws.ec2"
      detail_type = "EC2 Spot Instance Interruption Warning"
      description = "Spot instances that end in two minutes"
    }
    RebalanceRule = {
      source      = "aws.ec2"
      detail_type = "EC2 Instance Rebalance Recommendation"
      description = "Spot instances at a higher risk of interruption"
    }
    InstanceStateChangeRule = {
      source      = "aws.ec2"
      detail_type = "EC2 Instance State-change Notification"
      description = "Instances that stop or end"
    }
    CapacityReservationInterruptionRule = {
      source      = "aws.ec2"
      detail_type = "EC2 Capacity Reservation Instance Interruption Warning"
      description = "Instances whose capacity reservation or block ends"
    }
  }
}
