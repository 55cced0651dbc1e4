package supply

import (
	"encoding/binary"
)

func AppendAmounts(text []byte, amounts []int64) []byte {
	for _, v := range amounts {
		text = binary.LittleEndian.AppendUint64(text, uint64(v))
	}
	return text
}
