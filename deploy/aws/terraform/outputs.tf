output "iam_role_arn" {
  description = "ARN of the controller's role, for the service account's annotation with enable_irsa"
  value       = try(aws_iam_role.controller[0].arn, null)
}

output "iam_role_name" {
  description = "Name of the controller's role"
  value       = try(aws_iam_role.controller[0].name, null)
}

output "iam_policy_arns" {
  description = "ARNs of the controller's policies, by part"
  value       = { for name, policy in aws_iam_policy.controller : name => policy.arn }
}

output "node_iam_role_arn" {
  description = "ARN of the role of nodes"
  value       = var.create ? local.node_iam_role_arn : null
}

output "node_iam_role_name" {
  description = "Name of the role of nodes, for spec.role of EC2NodeClasses"
  value       = var.create ? local.node_iam_role_name : null
}

output "instance_profile_name" {
  description = "Name of the instance profile, for spec.instanceProfile of EC2NodeClasses"
  value       = try(aws_iam_instance_profile.this[0].name, null)
}

output "queue_arn" {
  description = "ARN of the interruption queue"
  value       = try(aws_sqs_queue.this[0].arn, null)
}

output "queue_name" {
  description = "Name of the interruption queue, for settings.interruptionQueue (INTERRUPTION_QUEUE)"
  value       = try(aws_sqs_queue.this[0].name, null)
}

output "queue_url" {
  description = "URL of the interruption queue"
  value       = try(aws_sqs_queue.this[0].url, null)
}

output "event_rules" {
  description = "ARNs of the rules that fill the queue, by name"
  value       = { for name, rule in aws_cloudwatch_event_rule.this : name => rule.arn }
}

output "namespace" {
  description = "Namespace of the controller"
  value       = var.namespace
}

output "service_account" {
  description = "Service account of the controller"
  value       = var.service_account
}
