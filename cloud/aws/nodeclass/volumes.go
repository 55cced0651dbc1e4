package nodeclass

import "github.com/aws/aws-sdk-go-v2/aws"

const gib = 1 << 30

// Volumes are the block devices that instances are launched with: the user's, else those of
// the family. None at all are those of the image.
func (s Spec) Volumes() []BlockDevice {
	if len(s.BlockDevices) > 0 {
		return s.BlockDevices
	}
	return standardDevices(s.EffectiveFamily())
}

// standardDevices are what each family gets where nothing is said.
func standardDevices(f Family) []BlockDevice {
	switch {
	case f == AL2 || f == AL2023:
		return []BlockDevice{standard("/dev/xvda", 20)}
	case f == Bottlerocket:
		return []BlockDevice{standard("/dev/xvda", 4), standard("/dev/xvdb", 20)}
	case f == Ubuntu:
		return []BlockDevice{standard("/dev/sda1", 20)}
	case f.Windows():
		return []BlockDevice{standard("/dev/sda1", 50)}
	}
	return nil
}

func standard(name string, sizeGiB int64) BlockDevice {
	return BlockDevice{DeviceName: name, EBS: &EBS{
		DeleteOnTermination: aws.Bool(true), Encrypted: aws.Bool(true), VolumeType: "gp3", VolumeBytes: sizeGiB * gib,
	}}
}
