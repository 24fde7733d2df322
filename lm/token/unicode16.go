package token

import "unicode"

// Characters that are letters or numbers since Unicode 16, which Hugging Face's
// library follows (0.23; measured by testdata/golden.py over all code points), but
// not yet in the Unicode 15 tables of Go 1.26. A test pins the classes of all
// characters, so that a Go release with newer tables cannot change ids unseen.

var letters16 = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1c89, Hi: 0x1c8a, Stride: 1}, {Lo: 0xa7cb, Hi: 0xa7cd, Stride: 1}, {Lo: 0xa7da, Hi: 0xa7dc, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x105c0, Hi: 0x105f3, Stride: 1}, {Lo: 0x10d4a, Hi: 0x10d65, Stride: 1}, {Lo: 0x10d6f, Hi: 0x10d85, Stride: 1},
		{Lo: 0x10ec2, Hi: 0x10ec4, Stride: 1}, {Lo: 0x11380, Hi: 0x11389, Stride: 1}, {Lo: 0x1138b, Hi: 0x1138b, Stride: 1},
		{Lo: 0x1138e, Hi: 0x1138e, Stride: 1}, {Lo: 0x11390, Hi: 0x113b5, Stride: 1}, {Lo: 0x113b7, Hi: 0x113b7, Stride: 1},
		{Lo: 0x113d1, Hi: 0x113d1, Stride: 1}, {Lo: 0x113d3, Hi: 0x113d3, Stride: 1}, {Lo: 0x11bc0, Hi: 0x11be0, Stride: 1},
		{Lo: 0x13460, Hi: 0x143fa, Stride: 1}, {Lo: 0x16100, Hi: 0x1611d, Stride: 1}, {Lo: 0x16d40, Hi: 0x16d6c, Stride: 1},
		{Lo: 0x18cff, Hi: 0x18cff, Stride: 1}, {Lo: 0x1e5d0, Hi: 0x1e5ed, Stride: 1}, {Lo: 0x1e5f0, Hi: 0x1e5f0, Stride: 1},
		{Lo: 0x2ebf0, Hi: 0x2ee5d, Stride: 1},
	},
}

var numbers16 = &unicode.RangeTable{
	R32: []unicode.Range32{
		{Lo: 0x10d40, Hi: 0x10d49, Stride: 1}, {Lo: 0x116d0, Hi: 0x116e3, Stride: 1}, {Lo: 0x11bf0, Hi: 0x11bf9, Stride: 1},
		{Lo: 0x16130, Hi: 0x16139, Stride: 1}, {Lo: 0x16d70, Hi: 0x16d79, Stride: 1}, {Lo: 0x1ccf0, Hi: 0x1ccf9, Stride: 1},
		{Lo: 0x1e5f1, Hi: 0x1e5fa, Stride: 1},
	},
}

// youngMarks are the combining marks that Unicode got after version 9, whose tables Hugging
// Face's NFC still uses: there they are characters like others, which stay where they
// are (measured by testdata/golden.py over all code points).
var youngMarks = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x7fd, Hi: 0x7fd, Stride: 1}, {Lo: 0x898, Hi: 0x89f, Stride: 1}, {Lo: 0x8ca, Hi: 0x8d3, Stride: 1},
		{Lo: 0x9fe, Hi: 0x9fe, Stride: 1}, {Lo: 0xc3c, Hi: 0xc3c, Stride: 1}, {Lo: 0xd3b, Hi: 0xd3c, Stride: 1},
		{Lo: 0xeba, Hi: 0xeba, Stride: 1}, {Lo: 0x1715, Hi: 0x1715, Stride: 1}, {Lo: 0x1abf, Hi: 0x1ace, Stride: 1},
		{Lo: 0x1df6, Hi: 0x1dfa, Stride: 1}, {Lo: 0xa82c, Hi: 0xa82c, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x10d24, Hi: 0x10d27, Stride: 1}, {Lo: 0x10eab, Hi: 0x10eac, Stride: 1},
		{Lo: 0x10efd, Hi: 0x10eff, Stride: 1}, {Lo: 0x10f46, Hi: 0x10f50, Stride: 1},
		{Lo: 0x10f82, Hi: 0x10f85, Stride: 1}, {Lo: 0x11070, Hi: 0x11070, Stride: 1},
		{Lo: 0x1133b, Hi: 0x1133b, Stride: 1}, {Lo: 0x1145e, Hi: 0x1145e, Stride: 1},
		{Lo: 0x11839, Hi: 0x1183a, Stride: 1}, {Lo: 0x1193d, Hi: 0x1193e, Stride: 1},
		{Lo: 0x11943, Hi: 0x11943, Stride: 1}, {Lo: 0x119e0, Hi: 0x119e0, Stride: 1},
		{Lo: 0x11a34, Hi: 0x11a34, Stride: 1}, {Lo: 0x11a47, Hi: 0x11a47, Stride: 1},
		{Lo: 0x11a99, Hi: 0x11a99, Stride: 1}, {Lo: 0x11d42, Hi: 0x11d42, Stride: 1},
		{Lo: 0x11d44, Hi: 0x11d45, Stride: 1}, {Lo: 0x11d97, Hi: 0x11d97, Stride: 1},
		{Lo: 0x11f41, Hi: 0x11f42, Stride: 1}, {Lo: 0x16ff0, Hi: 0x16ff1, Stride: 1},
		{Lo: 0x1e08f, Hi: 0x1e08f, Stride: 1}, {Lo: 0x1e130, Hi: 0x1e136, Stride: 1},
		{Lo: 0x1e2ae, Hi: 0x1e2ae, Stride: 1}, {Lo: 0x1e2ec, Hi: 0x1e2ef, Stride: 1},
		{Lo: 0x1e4ec, Hi: 0x1e4ef, Stride: 1},
	},
}

// youngComposite is the one character with a canonical decomposition since Unicode 9.
const youngComposite = 0x11938
