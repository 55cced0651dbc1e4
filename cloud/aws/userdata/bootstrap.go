package userdata

import (
	"fmt"
	"strconv"
	"strings"
)

// bootstrapMIME writes the user's parts and then a script that calls the
// bootstrap script of AL2.
func bootstrapMIME(in Input) (string, error) {
	parts, err := userParts(in.User, false)
	if err != nil {
		return "", err
	}
	return joinMIME(append(parts, newPart(typeShell, bootstrapScript(in))))
}

func bootstrapScript(in Input) string {
	words := []string{"/etc/eks/bootstrap.sh " + quote(in.Cluster.Name),
		"--apiserver-endpoint " + quote(in.Cluster.Endpoint), "--b64-cluster-ca " + quote(in.Cluster.CA)}
	if dns := clusterDNS(in); len(dns) > 0 {
		if strings.Contains(dns[0], ":") {
			words = append(words, "--ip-family ipv6")
		}
		words = append(words, "--dns-cluster-ip "+quote(dns[0]))
	}
	if in.MaxPods > 0 {
		words = append(words, "--use-max-pods false")
	}
	words = append(words, "--kubelet-extra-args "+quote(strings.Join(kubeletArgs(in), " ")))
	if in.RAID0 {
		words = append(words, "--local-disks raid0")
	}
	return "#!/bin/bash -xe\n" +
		"exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1\n" +
		strings.Join(words, " \\\n") + "\n"
}

// kubeletArgs are the typed settings as flags of the kubelet.
func kubeletArgs(in Input) []string {
	k := in.Kubelet
	args := []string{`--node-labels="` + pairs(nodeLabels(in.Labels), "=") + `"`}
	if len(in.Taints) > 0 {
		words := make([]string, len(in.Taints))
		for i, t := range in.Taints {
			words[i] = t.Key + "=" + t.Value + ":" + t.Effect
		}
		args = append(args, `--register-with-taints="`+strings.Join(words, ",")+`"`)
	}
	if in.MaxPods > 0 {
		args = append(args, "--max-pods="+strconv.FormatInt(in.MaxPods, 10))
	}
	args = appendNumber(args, "--pods-per-core", k.PodsPerCore)
	args = appendPairs(args, "--system-reserved", k.SystemReserved, "=")
	args = appendPairs(args, "--kube-reserved", k.KubeReserved, "=")
	args = appendPairs(args, "--eviction-hard", k.EvictionHard, "<")
	args = appendPairs(args, "--eviction-soft", k.EvictionSoft, "<")
	args = appendPairs(args, "--eviction-soft-grace-period", k.EvictionSoftGracePeriod, "=")
	args = appendNumber(args, "--eviction-max-pod-grace-period", k.EvictionMaxPodGrace)
	args = appendNumber(args, "--image-gc-high-threshold", k.ImageGCHighPercent)
	args = appendNumber(args, "--image-gc-low-threshold", k.ImageGCLowPercent)
	if k.CPUCFSQuota != nil {
		args = append(args, fmt.Sprintf("--cpu-cfs-quota=%t", *k.CPUCFSQuota))
	}
	return args
}

func appendNumber(args []string, flag string, n *int64) []string {
	if n == nil {
		return args
	}
	return append(args, flag+"="+strconv.FormatInt(*n, 10))
}

func appendPairs(args []string, flag string, m map[string]string, between string) []string {
	if len(m) == 0 {
		return args
	}
	return append(args, flag+`="`+pairs(m, between)+`"`)
}

// quote makes one word of a shell command of any text.
func quote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// powershell writes the user's text and then the bootstrap of Windows.
func powershell(in Input) string {
	var b strings.Builder
	b.WriteString("<powershell>\n")
	if user := strings.TrimSpace(in.User); user != "" {
		b.WriteString(user + "\n")
	}
	b.WriteString("[string]$EKSBootstrapScriptFile = \"$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1\"\n")
	fmt.Fprintf(&b, "& $EKSBootstrapScriptFile -EKSClusterName %s -APIServerEndpoint %s -Base64ClusterCA %s -KubeletExtraArgs %s",
		quotePS(in.Cluster.Name), quotePS(in.Cluster.Endpoint), quotePS(in.Cluster.CA), quotePS(strings.Join(kubeletArgs(in), " ")))
	if dns := clusterDNS(in); len(dns) > 0 {
		b.WriteString(" -DNSClusterIP " + quotePS(dns[0]))
	}
	b.WriteString("\n</powershell>\n")
	return b.String()
}

func quotePS(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
