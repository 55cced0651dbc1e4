package emulator

import "github.com/daemok/daemok/test/emulator/wire"

// tables lists every action that the account answers, by service.
func tables() map[string]map[string]action {
	return map[string]map[string]action{
		wire.EC2: ec2Actions(), wire.IAM: iamActions(), wire.STS: stsActions(), wire.SSM: ssmActions(),
		wire.SQS: sqsActions(), wire.EKS: eksActions(), wire.EKSAuth: eksAuthActions(), wire.Pricing: pricingActions(),
		wire.Quotas: quotaActions(), wire.Events: eventActions(), wire.FIS: fisActions(), wire.ELB: balancerActions(), wire.ARC: arcActions(),
		wire.Scaling: scalingActions(),
	}
}

func ec2Actions() map[string]action {
	return map[string]action{
		"CopyImage":                   {serve: copyImage, effects: true},
		"CreateFleet":                 {serve: createFleet, effects: true},
		"CreateLaunchTemplate":        {serve: createLaunchTemplate, effects: true},
		"CreateLaunchTemplateVersion": {serve: createLaunchTemplateVersion, effects: true},
		"CreatePlacementGroup":        {serve: createPlacementGroup, effects: true},
		"CreateSecurityGroup":         {serve: createSecurityGroup, effects: true},
		"CreateSubnet":                {serve: createSubnet, effects: true},
		"CreateTags":                  {serve: createTags, effects: true},
		"CreateVpc":                   {serve: createVPC, effects: true},
		"DeleteLaunchTemplate":        {serve: deleteLaunchTemplate, effects: true},
		"DeletePlacementGroup":        {serve: deletePlacementGroup, effects: true},
		"DeleteSecurityGroup":         {serve: deleteSecurityGroup, effects: true},
		"DeleteSubnet":                {serve: deleteSubnet, effects: true},
		"DeleteTags":                  {serve: deleteTags, effects: true},
		"DeleteVpc":                   {serve: deleteVPC, effects: true},
		"DeregisterImage":             {serve: deregisterImage, effects: true},
		"DisableImageDeprecation":     {serve: deprecateImage, effects: true},
		"EnableImageDeprecation":      {serve: deprecateImage, effects: true},
		"ModifyLaunchTemplate":        {serve: modifyLaunchTemplate, effects: true},
		"ModifySubnetAttribute":       {serve: modifySubnetAttribute, effects: true},
		"StartInstances":              {serve: startInstances, effects: true},
		"CancelCapacityReservation":   {serve: cancelCapacityReservation, effects: true},
		"CreateCapacityReservation":   {serve: createCapacityReservation, effects: true},
		"ModifyCapacityReservation":   {serve: modifyCapacityReservation, effects: true},

		"CreateInterruptibleCapacityReservationAllocation": {serve: createAllocation, effects: true},
		"UpdateInterruptibleCapacityReservationAllocation": {serve: updateAllocation, effects: true},

		"DescribeAvailabilityZones":      {serve: describeAvailabilityZones},
		"DescribeCapacityReservations":   {serve: describeCapacityReservations},
		"DescribeImages":                 {serve: describeImages},
		"DescribeInstanceAttribute":      {serve: describeInstanceAttribute},
		"DescribeInstances":              {serve: describeInstances},
		"DescribeInstanceStatus":         {serve: describeInstanceStatus},
		"DescribeInstanceTypeOfferings":  {serve: describeInstanceTypeOfferings},
		"DescribeInstanceTypes":          {serve: describeInstanceTypes},
		"DescribeLaunchTemplates":        {serve: describeLaunchTemplates},
		"DescribeLaunchTemplateVersions": {serve: describeLaunchTemplateVersions},
		"DescribeNetworkInterfaces":      {serve: describeNetworkInterfaces},
		"DescribePlacementGroups":        {serve: describePlacementGroups},
		"DescribeRegions":                {serve: describeRegions},
		"DescribeSecurityGroups":         {serve: describeSecurityGroups},
		"DescribeSpotInstanceRequests":   {serve: describeSpotInstanceRequests},
		"DescribeSpotPriceHistory":       {serve: describeSpotPriceHistory},
		"DescribeSubnets":                {serve: describeSubnets},
		"DescribeTags":                   {serve: describeTags},
		"CreateNetworkInterface":         {serve: createNetworkInterface, effects: true},
		"DeleteNetworkInterface":         {serve: deleteNetworkInterface, effects: true},
		"DeleteVolume":                   {serve: deleteVolume, effects: true},
		"DescribeVolumes":                {serve: describeVolumes},
		"DescribeVpcs":                   {serve: describeVPCs},
		"RunInstances":                   {serve: runInstances, effects: true},
		"StopInstances":                  {serve: stopInstances, effects: true},
		"TerminateInstances":             {serve: terminateInstances, effects: true},
	}
}

func iamActions() map[string]action {
	return map[string]action{
		"AddRoleToInstanceProfile":      {serve: addRoleToInstanceProfile, effects: true},
		"AttachRolePolicy":              {serve: changeAttachment, effects: true},
		"CreatePolicy":                  {serve: createPolicy, effects: true},
		"DeletePolicy":                  {serve: deletePolicy, effects: true},
		"DeleteRolePolicy":              {serve: inlinePolicy, effects: true},
		"DetachRolePolicy":              {serve: changeAttachment, effects: true},
		"GetPolicy":                     {serve: getPolicy},
		"GetPolicyVersion":              {serve: getPolicyVersion},
		"GetRolePolicy":                 {serve: inlinePolicy},
		"ListRolePolicies":              {serve: listRolePolicies},
		"PutRolePolicy":                 {serve: putRolePolicy, effects: true},
		"SimulatePrincipalPolicy":       {serve: simulatePrincipalPolicy},
		"CreateInstanceProfile":         {serve: createInstanceProfile, effects: true},
		"CreateRole":                    {serve: createRole, effects: true},
		"CreateServiceLinkedRole":       {serve: createServiceLinkedRole, effects: true},
		"DeleteServiceLinkedRole":       {serve: deleteServiceLinkedRole, effects: true},
		"DeleteInstanceProfile":         {serve: deleteInstanceProfile, effects: true},
		"DeleteRole":                    {serve: deleteRole, effects: true},
		"GetInstanceProfile":            {serve: getInstanceProfile},
		"GetRole":                       {serve: getRole},
		"ListAttachedRolePolicies":      {serve: listAttachedRolePolicies},
		"ListInstanceProfiles":          {serve: listInstanceProfiles},
		"ListInstanceProfileTags":       {serve: listInstanceProfileTags},
		"ListRoles":                     {serve: listRoles},
		"RemoveRoleFromInstanceProfile": {serve: removeRoleFromInstanceProfile, effects: true},
		"TagInstanceProfile":            {serve: tagInstanceProfile, effects: true},
		"ListEntitiesForPolicy":         {serve: listEntitiesForPolicy},
		"ListInstanceProfilesForRole":   {serve: listProfilesForRole},
		"ListPolicies":                  {serve: listPolicies},
		"ListPolicyVersions":            {serve: listPolicyVersions},
		"ListRoleTags":                  {serve: listRoleTags},
		"TagRole":                       {serve: tagRole, effects: true},
		"UntagInstanceProfile":          {serve: untagInstanceProfile, effects: true},
		"UntagRole":                     {serve: untagRole, effects: true},
		"UpdateAssumeRolePolicy":        {serve: updateAssumeRolePolicy, effects: true},
		"CreateOpenIDConnectProvider":   {serve: createOIDCProvider, effects: true},
		"DeleteOpenIDConnectProvider":   {serve: deleteOIDCProvider, effects: true},
		"GetOpenIDConnectProvider":      {serve: getOIDCProvider},
		"ListOpenIDConnectProviders":    {serve: listOIDCProviders},
		"TagOpenIDConnectProvider":      {serve: changeOIDCProvider, effects: true},
		"UntagOpenIDConnectProvider":    {serve: changeOIDCProvider, effects: true},

		"AddClientIDToOpenIDConnectProvider":      {serve: changeOIDCProvider, effects: true},
		"RemoveClientIDFromOpenIDConnectProvider": {serve: changeOIDCProvider, effects: true},
		"UpdateOpenIDConnectProviderThumbprint":   {serve: changeOIDCProvider, effects: true},
	}
}

func stsActions() map[string]action {
	return map[string]action{
		"AssumeRole":                {serve: assumeRole},
		"AssumeRoleWithWebIdentity": {serve: assumeRoleWithWebIdentity},
		"GetCallerIdentity":         {serve: getCallerIdentity},
	}
}

func ssmActions() map[string]action {
	return map[string]action{
		"GetParameter":        {serve: getParameter},
		"GetParameterHistory": {serve: getParameterHistory},
		"GetParameters":       {serve: getParameters},
		"GetParametersByPath": {serve: getParametersByPath},
		"PutParameter":        {serve: putParameter, effects: true},
		"DeleteParameter":     {serve: deleteParameter, effects: true},
		"DeleteParameters":    {serve: deleteParameters, effects: true},
	}
}

func sqsActions() map[string]action {
	return map[string]action{
		"ChangeMessageVisibility":      {serve: changeMessageVisibility, effects: true},
		"ChangeMessageVisibilityBatch": {serve: changeMessageVisibilityBatch, effects: true},
		"DeleteMessage":                {serve: deleteMessage, effects: true},
		"DeleteMessageBatch":           {serve: deleteMessageBatch, effects: true},
		"GetQueueAttributes":           {serve: getQueueAttributes},
		"GetQueueUrl":                  {serve: getQueueURL},
		"CreateQueue":                  {serve: createQueue, effects: true},
		"DeleteQueue":                  {serve: deleteQueue, effects: true},
		"ListQueueTags":                {serve: listQueueTags},
		"ListQueues":                   {serve: listQueues},
		"SetQueueAttributes":           {serve: setQueueAttributes, effects: true},
		"UntagQueue":                   {serve: untagQueue, effects: true},
		"TagQueue":                     {serve: tagQueue, effects: true},
		"PurgeQueue":                   {serve: purgeQueue, effects: true},
		"ReceiveMessage":               {serve: receiveMessage, effects: true, waits: true},
		"SendMessage":                  {serve: sendMessage, effects: true},
		"SendMessageBatch":             {serve: sendMessageBatch, effects: true},
	}
}

func eksActions() map[string]action {
	return map[string]action{
		"CreateAccessEntry":              {serve: createAccessEntry, effects: true},
		"CreateNodegroup":                {serve: createNodegroup, effects: true},
		"DescribeNodegroup":              {serve: describeNodegroup},
		"DeleteNodegroup":                {serve: deleteNodegroup, effects: true},
		"ListNodegroups":                 {serve: listNodegroups},
		"CreatePodIdentityAssociation":   {serve: createPodIdentity, effects: true},
		"DeletePodIdentityAssociation":   {serve: deletePodIdentity, effects: true},
		"DescribePodIdentityAssociation": {serve: describePodIdentity},
		"ListPodIdentityAssociations":    {serve: listPodIdentities},
		"UpdatePodIdentityAssociation":   {serve: updatePodIdentity, effects: true},
		"UpdateAccessEntry":              {serve: updateAccessEntry, effects: true},
		"DeleteAccessEntry":              {serve: deleteAccessEntry, effects: true},
		"DescribeAccessEntry":            {serve: describeAccessEntry},
		"DescribeCluster":                {serve: describeCluster},
		"DescribeUpdate":                 {serve: describeUpdate},
		"ListAccessEntries":              {serve: listAccessEntries},
		"ListClusters":                   {serve: listClusters},
		"ListUpdates":                    {serve: listUpdates},
		"UpdateClusterVersion":           {serve: updateClusterVersion, effects: true},
	}
}

func eksAuthActions() map[string]action {
	return map[string]action{"AssumeRoleForPodIdentity": {serve: assumeRoleForPodIdentity, effects: true}}
}

func scalingActions() map[string]action {
	return map[string]action{
		"CreateAutoScalingGroup":    {serve: createScalingGroup, effects: true},
		"DescribeAutoScalingGroups": {serve: describeScalingGroups},
	}
}

func eventActions() map[string]action {
	return map[string]action{
		"DeleteRule":            {serve: deleteRule, effects: true},
		"DescribeRule":          {serve: describeRule},
		"DisableRule":           {serve: switchRule, effects: true},
		"EnableRule":            {serve: switchRule, effects: true},
		"ListRuleNamesByTarget": {serve: listRuleNamesByTarget},
		"ListRules":             {serve: listRules},
		"ListTargetsByRule":     {serve: listTargetsByRule},
		"PutEvents":             {serve: putEvents, effects: true},
		"PutRule":               {serve: putRule, effects: true},
		"PutTargets":            {serve: putTargets, effects: true},
		"RemoveTargets":         {serve: removeTargets, effects: true},
		"TestEventPattern":      {serve: testEventPattern},
	}
}

func balancerActions() map[string]action {
	return map[string]action{
		"CreateTargetGroup":             {serve: createTargetGroup, effects: true},
		"DeleteTargetGroup":             {serve: deleteTargetGroup, effects: true},
		"DeregisterTargets":             {serve: changeTargets, effects: true},
		"DescribeTargetGroupAttributes": {serve: describeTargetGroupAttributes},
		"DescribeTargetGroups":          {serve: describeTargetGroups},
		"DescribeTargetHealth":          {serve: describeTargetHealth},
		"ModifyTargetGroupAttributes":   {serve: modifyTargetGroup, effects: true},
		"RegisterTargets":               {serve: changeTargets, effects: true},
	}
}

func fisActions() map[string]action {
	return map[string]action{
		"CreateExperimentTemplate":      {serve: createExperimentTemplate, effects: true},
		"DeleteExperimentTemplate":      {serve: getExperimentTemplate, effects: true},
		"GetExperiment":                 {serve: getExperiment},
		"GetExperimentTemplate":         {serve: getExperimentTemplate},
		"ListExperimentResolvedTargets": {serve: listResolvedTargets},
		"ListExperiments":               {serve: listExperiments},
		"ListExperimentTemplates":       {serve: listExperimentTemplates},
		"StartExperiment":               {serve: startExperiment, effects: true},
		"StopExperiment":                {serve: getExperiment, effects: true},
	}
}

func quotaActions() map[string]action {
	return map[string]action{
		"GetAWSDefaultServiceQuota":   {serve: getServiceQuota},
		"GetServiceQuota":             {serve: getServiceQuota},
		"ListAWSDefaultServiceQuotas": {serve: listServiceQuotas},
		"ListServiceQuotas":           {serve: listServiceQuotas},
	}
}

func arcActions() map[string]action {
	return map[string]action{
		"CancelZonalShift":   {serve: cancelZonalShift, effects: true},
		"GetManagedResource": {serve: getManagedResource},
		"StartZonalShift":    {serve: startZonalShift, effects: true},
	}
}

func pricingActions() map[string]action {
	return map[string]action{"GetProducts": {serve: getProducts}}
}
