package report

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// svg draws the figure as an SVG file.
func (f *figure) svg() (string, error) {
	body, err := f.svgBody()
	if err != nil {
		return "", err
	}
	w, h := f.size()
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0fpt\" height=\"%.0fpt\" viewBox=\"0 0 %.5g %.5g\">\n%s</svg>\n", w, h, w, h, body), nil
}

func (f *figure) writeSVG(w io.Writer) error {
	s, err := f.svg()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, s)
	return err
}

// inline draws the figure as an SVG element of a page, as wide as it may be there.
func (f *figure) inline() (string, error) {
	body, err := f.svgBody()
	if err != nil {
		return "", err
	}
	w, h := f.size()
	return fmt.Sprintf("<svg role=\"img\" aria-label=\"%s\" viewBox=\"0 0 %.5g %.5g\" style=\"max-width:%.0fpx;min-width:%.0fpx\">\n%s</svg>", html.EscapeString(printable(f.title)), w, h, w*4/3, min(w*4/3, leastWidth), body), nil
}

// svgBody is what the plot library draws, without the outer element.
func (f *figure) svgBody() (string, error) {
	w, h := f.size()
	canvas := vgsvg.New(w, h)
	f.draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("plot %s: %w", f.name, err)
	}
	s := b.String()
	from, to := strings.Index(s, "<svg"), strings.LastIndex(s, "</svg>")
	if from < 0 || to < 0 {
		return "", fmt.Errorf("plot %s: got no <svg> from the plot library", f.name)
	}
	inner := strings.Index(s[from:to], ">")
	if inner < 0 {
		return "", fmt.Errorf("plot %s: got half an <svg> from the plot library", f.name)
	}
	s = strings.TrimLeft(s[from+inner+1:to], "\n")
	return portable(s), nil
}

var svgText = regexp.MustCompile(`(?s)<text (x="[^"]*" y="[^"]*" transform="[^"]*"\s+style="font-family:)Liberation Sans;([^"]*font-size:([0-9.]+)px[^"]*")>([^<]*)</text>`)

// portable makes texts take the room that they were drawn with also where the font of the plots is missing: fonts of the same measures stand in,
// and each text says how long it is, so that no other font makes labels overlap.
func portable(svg string) string {
	sty := legendStyle()
	return svgText.ReplaceAllStringFunc(svg, func(element string) string {
		m := svgText.FindStringSubmatch(element)
		size, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return element
		}
		sty.Font = sans(vg.Length(size))
		return fmt.Sprintf(`<text textLength="%.5g" lengthAdjust="spacingAndGlyphs" %s'Liberation Sans',Arial,Helvetica,sans-serif;%s>%s</text>`,
			sty.Width(html.UnescapeString(m[4])).Points(), m[1], m[2], m[4])
	})
}
