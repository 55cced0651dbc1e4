data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  account_id = data.aws_caller_identity.current.account_id
  partition  = data.aws_partition.current.partition
  dns_suffix = data.aws_partition.current.dns_suffix
  region     = data.aws_region.current.id

  create_node_iam_role = var.create && var.create_node_iam_role
  create_iam_role      = var.create && var.create_iam_role
  create_queue         = var.create && var.enable_spot_termination

  node_iam_role_wanted = coalesce(var.node_iam_role_name, substr("KarpenterNodeRole-${var.cluster_name}", 0, 64))
  iam_role_wanted      = coalesce(var.iam_role_name, substr("KarpenterController-${var.cluster_name}", 0, 64))

  node_iam_role_arn  = local.create_node_iam_role ? aws_iam_role.node[0].arn : coalesce(var.node_iam_role_arn, "none")
  node_iam_role_name = local.create_node_iam_role ? aws_iam_role.node[0].name : element(split("/", local.node_iam_role_arn), -1)
  queue_arn          = local.create_queue ? aws_sqs_queue.this[0].arn : "none"

  # What is not in use is not allowed.
  policies_in_use = {
    for name, document in local.policy_documents : name => jsonencode(document)
    if var.create && (name != "interruption" || var.enable_spot_termination) && (name != "adoption" || var.enable_adoption)
  }

  irsa_subjects = [
    for account in coalescelist(var.irsa_namespace_service_accounts, ["${var.namespace}:${var.service_account}"]) : "system:serviceaccount:${account}"
  ]
  irsa_issuer = element(split("oidc-provider/", var.irsa_oidc_provider_arn), -1)
}

# Nodes

resource "aws_iam_role" "node" {
  count = local.create_node_iam_role ? 1 : 0

  name                  = var.node_iam_role_use_name_prefix ? null : local.node_iam_role_wanted
  name_prefix           = var.node_iam_role_use_name_prefix ? "${substr(local.node_iam_role_wanted, 0, 37)}-" : null
  path                  = var.node_iam_role_path
  description           = var.node_iam_role_description
  max_session_duration  = var.node_iam_role_max_session_duration
  permissions_boundary  = var.node_iam_role_permissions_boundary
  force_detach_policies = true

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Allow"
        Principal = { Service = "ec2.${local.dns_suffix}" }
        Action    = "sts:AssumeRole"
      },
    ]
  })

  tags = merge(var.tags, var.node_iam_role_tags)
}

resource "aws_iam_role_policy_attachment" "node" {
  for_each = local.create_node_iam_role ? toset(concat(
    ["AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore"],
    var.node_iam_role_attach_cni_policy && var.cluster_ip_family != "ipv6" ? ["AmazonEKS_CNI_Policy"] : [],
  )) : toset([])

  role       = aws_iam_role.node[0].name
  policy_arn = "arn:${local.partition}:iam::aws:policy/${each.value}"
}

# AWS has no policy of its own for IPv6: the guide of the network plugin has users make this one.
resource "aws_iam_role_policy_attachment" "node_cni_ipv6" {
  count = local.create_node_iam_role && var.node_iam_role_attach_cni_policy && var.cluster_ip_family == "ipv6" ? 1 : 0

  role       = aws_iam_role.node[0].name
  policy_arn = "arn:${local.partition}:iam::${local.account_id}:policy/AmazonEKS_CNI_IPv6_Policy"
}

resource "aws_iam_role_policy_attachment" "node_additional" {
  for_each = local.create_node_iam_role ? var.node_iam_role_additional_policies : {}

  role       = aws_iam_role.node[0].name
  policy_arn = each.value
}

resource "aws_iam_instance_profile" "this" {
  count = var.create && var.create_instance_profile ? 1 : 0

  name = "KarpenterNodeInstanceProfile-${var.cluster_name}"
  path = var.node_iam_role_path
  role = local.node_iam_role_name
  tags = merge(var.tags, var.node_iam_role_tags)
}

resource "aws_eks_access_entry" "node" {
  count = var.create && var.create_access_entry ? 1 : 0

  cluster_name  = var.cluster_name
  principal_arn = local.node_iam_role_arn
  type          = var.access_entry_type
  tags          = var.tags
}

resource "aws_iam_service_linked_role" "spot" {
  count = var.create && var.create_spot_service_linked_role ? 1 : 0

  aws_service_name = "spot.amazonaws.com"
}

# Controller

resource "aws_iam_policy" "controller" {
  for_each = local.policies_in_use

  name   = substr(local.policy_names[each.key], 0, 128)
  path   = var.iam_policy_path
  policy = each.value
  tags   = var.tags
}

resource "aws_iam_role" "controller" {
  count = local.create_iam_role ? 1 : 0

  name                  = var.iam_role_use_name_prefix ? null : local.iam_role_wanted
  name_prefix           = var.iam_role_use_name_prefix ? "${substr(local.iam_role_wanted, 0, 37)}-" : null
  path                  = var.iam_role_path
  description           = var.iam_role_description
  max_session_duration  = var.iam_role_max_session_duration
  permissions_boundary  = var.iam_role_permissions_boundary_arn
  force_detach_policies = true

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Sid       = "PodIdentity"
          Effect    = "Allow"
          Principal = { Service = "pods.eks.amazonaws.com" }
          Action    = ["sts:AssumeRole", "sts:TagSession"]
        },
      ],
      [
        for provider in compact([var.enable_irsa ? var.irsa_oidc_provider_arn : ""]) : {
          Sid       = "ServiceAccount"
          Effect    = "Allow"
          Principal = { Federated = provider }
          Action    = "sts:AssumeRoleWithWebIdentity"
          Condition = {
            StringEquals = {
              "${local.irsa_issuer}:sub" = local.irsa_subjects
              "${local.irsa_issuer}:aud" = "sts.amazonaws.com"
            }
          }
        }
      ],
    )
  })

  tags = merge(var.tags, var.iam_role_tags)
}

resource "aws_iam_role_policy_attachment" "controller" {
  for_each = { for name, document in local.policies_in_use : name => name if local.create_iam_role }

  role       = aws_iam_role.controller[0].name
  policy_arn = aws_iam_policy.controller[each.value].arn
}

resource "aws_iam_role_policy_attachment" "controller_additional" {
  for_each = local.create_iam_role ? var.iam_role_policies : {}

  role       = aws_iam_role.controller[0].name
  policy_arn = each.value
}

resource "aws_eks_pod_identity_association" "controller" {
  count = local.create_iam_role && var.create_pod_identity_association ? 1 : 0

  cluster_name    = var.cluster_name
  namespace       = var.namespace
  service_account = var.service_account
  role_arn        = aws_iam_role.controller[0].arn
  tags            = var.tags
}

# Interruption queue, and the rules that fill it

resource "aws_sqs_queue" "this" {
  count = local.create_queue ? 1 : 0

  name                              = coalesce(var.queue_name, var.cluster_name)
  message_retention_seconds         = 300
  sqs_managed_sse_enabled           = var.queue_kms_master_key_id == null ? var.queue_managed_sse_enabled : null
  kms_master_key_id                 = var.queue_kms_master_key_id
  kms_data_key_reuse_period_seconds = var.queue_kms_data_key_reuse_period_seconds
  tags                              = var.tags
}

resource "aws_sqs_queue_policy" "this" {
  count = local.create_queue ? 1 : 0

  queue_url = aws_sqs_queue.this[0].url

  policy = jsonencode({
    Id      = "InterruptionQueue"
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "TakeEvents"
        Effect    = "Allow"
        Principal = { Service = ["events.amazonaws.com", "sqs.amazonaws.com"] }
        Action    = "sqs:SendMessage"
        Resource  = local.queue_arn
      },
      {
        Sid       = "DemandTLS"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sqs:*"
        Resource  = local.queue_arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })
}

resource "aws_cloudwatch_event_rule" "this" {
  for_each = { for name, rule in local.rules : name => rule if local.create_queue }

  name_prefix = substr("${var.rule_name_prefix}${each.key}-", 0, 38)
  description = each.value.description

  event_pattern = jsonencode({
    source      = [each.value.source]
    detail-type = [each.value.detail_type]
  })

  tags = merge({ ClusterName = var.cluster_name }, var.tags)
}

resource "aws_cloudwatch_event_target" "this" {
  for_each = { for name, rule in local.rules : name => rule if local.create_queue }

  rule      = aws_cloudwatch_event_rule.this[each.key].name
  target_id = "KarpenterInterruptionQueueTarget"
  arn       = local.queue_arn
}
