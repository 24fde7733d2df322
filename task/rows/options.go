package rows

import "fmt"

// Options bound what a file may cost. Zero values mean the defaults.
type Options struct {
	RowBytes  int     // of one row, as text or as JSON; 0 = 1 MiB
	PageBytes int     // of the pages of a Parquet file that are open at a time, decompressed; 0 = 256 MiB
	BadShare  float64 // the share of bad rows that a file may have, 0 to 1; 0 = 0.001. Negative = none
	Format    Format  // FormatAuto = by the file's name
}

// Format is how a file is written. Compression is always told by the name.
type Format string

// The formats.
const (
	FormatAuto    Format = ""
	FormatJSONL   Format = "jsonl"   // .jsonl, .ndjson; one JSON object a line
	FormatCSV     Format = "csv"     // .csv; RFC 4180 with a header line
	FormatParquet Format = "parquet" // .parquet
)

const (
	defaultRowBytes  = 1 << 20
	defaultPageBytes = 256 << 20
	defaultBadShare  = 0.001
	maxRowBytes      = 1 << 30
)

func (o Options) withDefaults() (Options, error) {
	if o.RowBytes == 0 {
		o.RowBytes = defaultRowBytes
	}
	if o.PageBytes == 0 {
		o.PageBytes = defaultPageBytes
	}
	if o.BadShare == 0 {
		o.BadShare = defaultBadShare
	}
	o.BadShare = max(o.BadShare, 0)
	switch {
	case o.RowBytes < 1 || o.RowBytes > maxRowBytes:
		return o, fmt.Errorf("rows: bytes of a row: got %d, want 1 to %d", o.RowBytes, maxRowBytes)
	case o.PageBytes < 1 || o.PageBytes > maxRowBytes:
		return o, fmt.Errorf("rows: bytes of pages: got %d, want 1 to %d", o.PageBytes, maxRowBytes)
	case !(o.BadShare <= 1):
		return o, fmt.Errorf("rows: share of bad rows: got %v, want at most 1", o.BadShare)
	}
	return o, nil
}
