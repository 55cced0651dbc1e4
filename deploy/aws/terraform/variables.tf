variable "create" {
  description = "Whether anything is made"
  type        = bool
  default     = true
}

variable "cluster_name" {
  description = "Name of the EKS cluster"
  type        = string

  validation {
    condition     = can(regex("^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$", var.cluster_name))
    error_message = "cluster_name must be the name of an EKS cluster."
  }
}

variable "cluster_ip_family" {
  description = "Addresses of pods and Services: ipv4 or ipv6, which takes the policy AmazonEKS_CNI_IPv6_Policy of the account"
  type        = string
  default     = "ipv4"

  validation {
    condition     = contains(["ipv4", "ipv6"], var.cluster_ip_family)
    error_message = "cluster_ip_family is ipv4 or ipv6."
  }
}

variable "tags" {
  description = "Tags of everything that takes tags"
  type        = map(string)
  default     = {}
}

# Controller

variable "create_iam_role" {
  description = "Whether the controller's role is made"
  type        = bool
  default     = true
}

variable "iam_role_name" {
  description = "Name of the controller's role; null: KarpenterController-<cluster>, cut at 64 characters"
  type        = string
  default     = null
}

variable "iam_role_use_name_prefix" {
  description = "Whether the name of the controller's role is a prefix, cut at 37 characters, to which AWS adds a suffix"
  type        = bool
  default     = false
}

variable "iam_role_path" {
  description = "Path of the controller's role"
  type        = string
  default     = "/"
}

variable "iam_role_description" {
  description = "Description of the controller's role"
  type        = string
  default     = "Rights of the node autoscaler's controller"
}

variable "iam_role_max_session_duration" {
  description = "Longest session of the controller's role in seconds; null: IAM's default"
  type        = number
  default     = null
}

variable "iam_role_permissions_boundary_arn" {
  description = "ARN of the policy that bounds the controller's role"
  type        = string
  default     = null
}

variable "iam_role_policies" {
  description = "ARNs of further policies of the controller's role, by any name"
  type        = map(string)
  default     = {}
}

variable "iam_role_tags" {
  description = "Further tags of the controller's role"
  type        = map(string)
  default     = {}
}

variable "iam_policy_path" {
  description = "Path of the controller's policies"
  type        = string
  default     = "/"
}

variable "enable_adoption" {
  description = "Whether the controller may tag instances that carry the cluster's tag and no NodePool's, for daemok adopt and migrations"
  type        = bool
  default     = false
}

variable "create_pod_identity_association" {
  description = "Whether the controller's role is joined with its service account by EKS Pod Identity"
  type        = bool
  default     = true
}

variable "namespace" {
  description = "Namespace of the controller"
  type        = string
  default     = "kube-system"
}

variable "service_account" {
  description = "Service account of the controller"
  type        = string
  default     = "karpenter"
}

variable "enable_irsa" {
  description = "Whether the controller's role trusts the cluster's OIDC provider (IAM roles for service accounts)"
  type        = bool
  default     = false
}

variable "irsa_oidc_provider_arn" {
  description = "ARN of the cluster's OIDC provider, for enable_irsa"
  type        = string
  default     = ""
}

variable "irsa_namespace_service_accounts" {
  description = "Service accounts that may take the controller's role by enable_irsa, as namespace:name; empty: namespace and service_account"
  type        = list(string)
  default     = []
}

# Interruption queue

variable "enable_spot_termination" {
  description = "Whether the interruption queue and the rules that fill it are made"
  type        = bool
  default     = true
}

variable "queue_name" {
  description = "Name of the interruption queue; null: the cluster's"
  type        = string
  default     = null
}

variable "queue_managed_sse_enabled" {
  description = "Whether SQS encrypts the queue with a key of its own; of no effect with queue_kms_master_key_id"
  type        = bool
  default     = true
}

variable "queue_kms_master_key_id" {
  description = "KMS key that encrypts the queue; its policy must let events.amazonaws.com and the controller's role use it"
  type        = string
  default     = null
}

variable "queue_kms_data_key_reuse_period_seconds" {
  description = "How long SQS uses one data key of queue_kms_master_key_id"
  type        = number
  default     = null
}

variable "rule_name_prefix" {
  description = "What the names of the rules begin with; the rule's own and a random end follow"
  type        = string
  default     = "Karpenter"
}

# Nodes

variable "create_node_iam_role" {
  description = "Whether the role of nodes is made"
  type        = bool
  default     = true
}

variable "node_iam_role_arn" {
  description = "ARN of the role that nodes have, where create_node_iam_role is false"
  type        = string
  default     = null
}

variable "node_iam_role_name" {
  description = "Name of the role of nodes; null: KarpenterNodeRole-<cluster>, cut at 64 characters"
  type        = string
  default     = null
}

variable "node_iam_role_use_name_prefix" {
  description = "Whether the name of the role of nodes is a prefix, cut at 37 characters, to which AWS adds a suffix"
  type        = bool
  default     = false
}

variable "node_iam_role_path" {
  description = "Path of the role of nodes"
  type        = string
  default     = "/"
}

variable "node_iam_role_description" {
  description = "Description of the role of nodes"
  type        = string
  default     = "Nodes that the node autoscaler launches"
}

variable "node_iam_role_max_session_duration" {
  description = "Longest session of the role of nodes in seconds; null: IAM's default"
  type        = number
  default     = null
}

variable "node_iam_role_permissions_boundary" {
  description = "ARN of the policy that bounds the role of nodes"
  type        = string
  default     = null
}

variable "node_iam_role_attach_cni_policy" {
  description = "Whether the role of nodes has AmazonEKS_CNI_Policy; false where the network plugin has a role of its own"
  type        = bool
  default     = true
}

variable "node_iam_role_additional_policies" {
  description = "ARNs of further policies of the role of nodes, by any name"
  type        = map(string)
  default     = {}
}

variable "node_iam_role_tags" {
  description = "Further tags of the role of nodes"
  type        = map(string)
  default     = {}
}

variable "create_instance_profile" {
  description = "Whether an instance profile is made for EC2NodeClasses that name it in spec.instanceProfile"
  type        = bool
  default     = false
}

variable "create_access_entry" {
  description = "Whether nodes join by an access entry of the cluster; false where aws-auth lets them in"
  type        = bool
  default     = true
}

variable "access_entry_type" {
  description = "Type of the access entry: EC2_LINUX or EC2_WINDOWS"
  type        = string
  default     = "EC2_LINUX"

  validation {
    condition     = contains(["EC2_LINUX", "EC2_WINDOWS"], var.access_entry_type)
    error_message = "access_entry_type must be EC2_LINUX or EC2_WINDOWS."
  }
}

variable "create_spot_service_linked_role" {
  description = "Whether the service-linked role for spot instances is made, which an account needs once; true fails where it is there"
  type        = bool
  default     = false
}
