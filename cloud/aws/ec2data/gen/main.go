// Command gen makes the embedded table of package ec2data from its sources: a compilation of published
// facts about EC2 types, and a file of further types with the same keys. It completes the further
// types, estimates missing on-demand prices, and writes compact, reproducible gzip.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/daemok/daemok/cloud/aws/ec2data"
)

func main() {
	out := flag.String("out", "types.json.gz", "file to write")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen [-out FILE] CATALOGUE.json[.gz] EXTRA.json[.gz]")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Arg(1), *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(catalogue, extra, out string) error {
	data, err := read(catalogue)
	if err != nil {
		return err
	}
	more, err := read(extra)
	if err != nil {
		return err
	}
	merge(data, more)
	estimate(data)
	return write(out, data)
}

func read(path string) (*ec2data.Data, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read source: %w", err)
	}
	defer file.Close()
	var source io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if source, err = gzip.NewReader(file); err != nil {
			return nil, fmt.Errorf("unpack %s: %w", path, err)
		}
	}
	var data ec2data.Data
	if err := json.NewDecoder(source).Decode(&data); err != nil {
		return nil, fmt.Errorf("decode %s: %w", path, err)
	}
	return &data, nil
}

// merge adds the types of more that data lacks, marked as retired.
func merge(data, more *ec2data.Data) {
	for _, t := range more.Types {
		if slices.ContainsFunc(data.Types, func(x ec2data.Type) bool { return x.Name == t.Name }) {
			continue
		}
		data.Types = append(data.Types, complete(t, data.Regions))
	}
	slices.SortFunc(data.Types, func(a, b ec2data.Type) int { return cmp.Compare(a.Name, b.Name) })
}

// complete fills in what the short form of a retired type leaves out. All of
// them are of the generation that ran on Intel under Xen.
func complete(t ec2data.Type, regions map[string]ec2data.Region) ec2data.Type {
	t.Discontinued = true
	t.Cores = t.VCPUs / 2
	t.CPUMaker, t.ClockGHz = "Intel", 2.7
	t.Virtualization, t.RootDevices, t.BootModes = []string{"hvm"}, []string{"ebs"}, []string{"legacy-bios"}
	t.IPv6PerENI = t.IPv4PerENI
	t.ENASupport, t.EBSOptimized, t.EBSNVMe = "supported", "default", "unsupported"
	t.EBSAttachMax, t.EBSAttachKind = 39, "shared"
	t.PlacementGroups = []string{"cluster", "partition", "spread"}
	t.NetworkPeakMbps = max(t.NetworkBaseMbps, 10000)
	t.NetworkText = fmt.Sprintf("%d Gigabit", t.NetworkPeakMbps/1000)
	if t.NetworkBaseMbps < t.NetworkPeakMbps {
		t.NetworkText = "Up to " + t.NetworkText
	}
	t.NetworkCards = []ec2data.NetworkCard{{
		ENIsMax: t.ENIsMax, BaseGbps: float64(t.NetworkBaseMbps) / 1000, PeakGbps: float64(t.NetworkPeakMbps) / 1000,
	}}
	perCore := int64(t.VCPUs)
	t.EBS = &ec2data.EBS{BaseMbps: perCore * 875 / 4, MaxMbps: perCore * 875 / 4, BaseIOPS: perCore * 1250, MaxIOPS: perCore * 1250}
	t.Zones = map[string]string{}
	for region := range t.OnDemand {
		t.Zones[region] = strings.Join(regions[region].Letters, "")
	}
	return t
}

// write packs the table: empty values dropped, keys in a fixed order, no time
// stamp, so that equal sources give equal bytes.
func write(path string, data *ec2data.Data) error {
	text, err := compact(data)
	if err != nil {
		return fmt.Errorf("encode table: %w", err)
	}
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("pack table: %w", err)
	}
	if _, err := zip.Write(text); err != nil {
		return fmt.Errorf("pack table: %w", err)
	}
	if err := zip.Close(); err != nil {
		return fmt.Errorf("pack table: %w", err)
	}
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}
