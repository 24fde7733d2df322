package rows

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// valueOf gives how values of a type are written as JSON: numbers as numbers (decimals exactly; NaN and infinities as null), texts as
// strings, dates and times as in RFC 3339 without a zone unless they have one, and bytes that are no text in base64.
func valueOf(t parquet.Type) func(buf []byte, v parquet.Value) ([]byte, error) {
	logical := format.LogicalTypeValue(nil)
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	kind := t.Kind()
	unsigned := false
	if i, ok := logical.(*format.IntType); ok {
		unsigned = !i.IsSigned
	} else if c := t.ConvertedType(); c != nil {
		switch *c {
		case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
			unsigned = true
		}
	}
	return func(buf []byte, v parquet.Value) ([]byte, error) {
		if v.Kind() != kind {
			return nil, fmt.Errorf("got a value of type %v in a column of type %v", v.Kind(), kind)
		}
		switch kind {
		case parquet.Boolean:
			return strconv.AppendBool(buf, v.Boolean()), nil
		case parquet.Int32, parquet.Int64:
			return appendInt(buf, integerOf(kind, v), logical, unsigned), nil
		case parquet.Int96:
			return appendInt96(buf, v.Int96()), nil
		case parquet.Float:
			return appendFloat(buf, float64(v.Float()), 32), nil
		case parquet.Double:
			return appendFloat(buf, v.Double(), 64), nil
		}
		return appendBytes(buf, v.ByteArray(), logical)
	}
}

func integerOf(kind parquet.Kind, v parquet.Value) int64 {
	if kind == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func appendInt(buf []byte, n int64, logical format.LogicalTypeValue, unsigned bool) []byte {
	switch l := logical.(type) {
	case *format.DecimalType:
		return appendDecimal(buf, big.NewInt(n), l.Scale)
	case *format.DateType:
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(int32(n))).AppendFormat(buf, `"2006-01-02"`)
	case *format.TimestampType:
		layout := `"2006-01-02T15:04:05.999999999"`
		if l.IsAdjustedToUTC {
			layout = `"` + time.RFC3339Nano + `"`
		}
		var when time.Time
		switch l.Unit.Value.(type) {
		case *format.MilliSeconds:
			when = time.UnixMilli(n)
		case *format.MicroSeconds:
			when = time.UnixMicro(n)
		default:
			when = time.Unix(n/1e9, n%1e9)
		}
		return when.UTC().AppendFormat(buf, layout)
	}
	if unsigned {
		return strconv.AppendUint(buf, uint64(n), 10)
	}
	return strconv.AppendInt(buf, n, 10)
}

// appendInt96 writes a time as old files have it: nanoseconds of the day and the Julian day.
func appendInt96(buf []byte, v deprecated.Int96) []byte {
	const epoch = 2_440_588 // 1970-01-01
	nanoseconds := int64(uint64(v[1])<<32 | uint64(v[0]))
	when := time.Unix(0, 0).UTC().AddDate(0, 0, int(int64(v[2])-epoch)).Add(time.Duration(nanoseconds))
	return when.AppendFormat(buf, `"2006-01-02T15:04:05.999999999"`)
}

func appendFloat(buf []byte, v float64, bits int) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(buf, "null"...)
	}
	form := byte('f')
	if size := math.Abs(v); size != 0 && (size < 1e-6 || size >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(buf, v, form, -1, bits)
}

// maxScale is Parquet's own bound where a decimal has at most 38 digits.
const maxScale = 38

func appendDecimal(buf []byte, n *big.Int, scale int32) []byte {
	digits := new(big.Int).Abs(n).String()
	if n.Sign() < 0 {
		buf = append(buf, '-')
	}
	if scale <= 0 || scale > maxScale {
		return append(buf, digits...)
	}
	if short := int(scale) + 1 - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	point := len(digits) - int(scale)
	buf = append(buf, digits[:point]...)
	return append(append(buf, '.'), digits[point:]...)
}

func appendBytes(buf, b []byte, logical format.LogicalTypeValue) ([]byte, error) {
	text := false
	switch l := logical.(type) {
	case *format.DecimalType:
		if len(b) > 64 {
			return nil, errors.New("got a decimal number of more than 64 bytes")
		}
		n := new(big.Int).SetBytes(b) // big-endian two's complement
		if len(b) > 0 && b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return appendDecimal(buf, n, l.Scale), nil
	case *format.UUIDType:
		if len(b) == 16 {
			h := hex.EncodeToString(b)
			return append(buf, `"`+h[:8]+"-"+h[8:12]+"-"+h[12:16]+"-"+h[16:20]+"-"+h[20:]+`"`...), nil
		}
	case *format.StringType, *format.EnumType, *format.JsonType:
		text = true
	}
	if utf8.Valid(b) {
		return appendText(buf, b), nil
	}
	if text {
		return nil, errors.New("got a text that is not UTF-8")
	}
	buf = append(buf, '"')
	buf = base64.StdEncoding.AppendEncode(buf, b)
	return append(buf, '"'), nil
}
